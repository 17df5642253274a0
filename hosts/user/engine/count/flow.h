/* SPDX-License-Identifier: MIT */
/* flow.h: the log of control flow, for exact profiles. */
#ifndef SOFTPMU_ENGINE_FLOW_H
#define SOFTPMU_ENGINE_FLOW_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the tool asks for the log.  If not, the functions below do nothing, unless they
 * say otherwise. */
bool flow_is_wanted(void);
/* The thread has no buffer, and its task has not begun. */
void flow_begin_again(void);
/* The task begins, or continues after flow_end(), while translated code may write to the log. */
void flow_begin(void);
/* Precise steps end: translated code may write to the log. */
void flow_resume(void);
/* An instruction is about to retire, and has retired, in a precise step.  Only if the log is
 * wanted. */
void flow_begin_step(uint64_t ip);
void flow_retire(uint64_t ip, uint64_t next_ip, uint64_t signals);
/* The log needs the instruction that has retired, although it did not branch.  `flag`:
 * LINK_FLOW_IDLE or 0. */
void flow_note(uint64_t ip, uint64_t next_ip, uint64_t flag);
/* The program is about to continue at `to` instead of current->pc, without a branch.  `flag`:
 * LINK_FLOW_HANDLER, LINK_FLOW_LEAVES or 0. */
void flow_break(uint64_t to, uint64_t flag);
/* The task ends at current->pc, or executes another program.  If it continues, it begins again. */
void flow_end(void);
/* The events of the thread are switched off: what it runs from here is not logged. */
void flow_pause(void);
/* Now and then makes the log complete up to current->pc.  The mode is precise. */
void flow_complete(void);
/* The headroom has been divided in another way. */
void flow_share(void);
/* A vfork child is about to use the context, or has used it. */
void flow_lend(bool to_child);
/* Gives the tool what has been logged. */
void flow_drain(void);

#endif
