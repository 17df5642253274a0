/* SPDX-License-Identifier: MIT */
/* watch.h: notices writes to translated code (watch.c). */
#ifndef SOFTPMU_ENGINE_WATCH_H
#define SOFTPMU_ENGINE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* Watches the page, whose code is about to be translated.  True: it was not watched until now,
 * so what has been read of it may have changed. */
bool watch_page(uint64_t pc);
/* Returns whether the code at pc cannot be written to as it is mapped. */
bool watch_is_constant(uint64_t pc);
/* Returns whether a write fault at this address is the engine's. */
bool watch_has_page(uint64_t address);
/* Returns whether pages there are watched. */
bool watch_any(uint64_t start, uint64_t bytes);
/* Opens the page for a write of the engine that cannot wait.  watch_end() follows soon. */
void watch_open(uint64_t address);
/* Ends watching, because the program or the kernel is about to write there.  The translations
 * are dropped. */
void watch_end(uint64_t start, uint64_t bytes);
/* Gives the page up: it is a stack, whose code is not worth watching. */
void watch_give_up(uint64_t address);
/* Makes writable code there volatile from now on. */
void watch_pin(uint64_t start, uint64_t bytes);
/* Notes that the program is about to write there, whatever it is.  The lock is held. */
void watch_code_changes(uint64_t start, uint64_t bytes);

#endif
