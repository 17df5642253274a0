/* SPDX-License-Identifier: MIT */
/* lessons.h: code that forked children come to, translated by their parent (lessons.c). */
#ifndef SOFTPMU_ENGINE_LESSONS_H
#define SOFTPMU_ENGINE_LESSONS_H

#include <stdbool.h>
#include <stdint.h>

/* Before a fork, with the lock held: translates and links what children have come to since the
 * last one. */
void lessons_learn(void);
/* The process is a new one, which has been forked: it notes what it comes to from now on. */
void lessons_begin_process(void);
/* The thread came to code of this key that was not there: by the direct jump of an exit stub, by an
 * indirect branch or a return, or in another way. */
void lessons_note_jump(uint32_t stub, uint64_t key);
void lessons_note_target(uint64_t key, bool of_return);
void lessons_note_code(uint64_t key);
/* The direct jump of the stub leads to a linkage table's entry that waits for its symbol. */
void lessons_note_wait(uint32_t stub, uint64_t key);

#endif
