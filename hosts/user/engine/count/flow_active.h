/* SPDX-License-Identifier: MIT */
/* flow_active.h: which functions are active in a thread (flow_active.c). */
#ifndef SOFTPMU_ENGINE_FLOW_ACTIVE_H
#define SOFTPMU_ENGINE_FLOW_ACTIVE_H

#include <stdint.h>

/* The function is active once more, or once less. */
void flow_active_add(uint64_t function);
void flow_active_subtract(uint64_t function);
/* The thread, or a handler of a signal, has begun at this address. */
void flow_active_begin(uint64_t pc);

/* The tool gets a call, with the stack pointer after it.  `active`: see struct flow_open. */
void flow_active_tell(uint64_t slot, int32_t active);
/* The tool gets the return of that call. */
void flow_active_tell_return(uint64_t slot);

/* The thread is a new one: no function is active. */
void flow_active_forget(void);

#endif
