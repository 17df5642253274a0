/* SPDX-License-Identifier: MIT */
/* client.h: the regions that the thread has started (client.c). */
#ifndef SOFTPMU_ENGINE_CLIENT_H
#define SOFTPMU_ENGINE_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

/* All in precise mode. */

/* Notes what the thread has counted before a request. */
void client_before(void);
/* Does the request of this operation (softpmu/client.h), which has retired.  Its arguments are in
 * the thread's registers. */
void client_request(unsigned operation);

/* The function of this region begins, and its return address is at `slot`.  Returns false if it was
 * open. */
bool client_enter(uint32_t region, uint64_t slot);
/* Closes the functions that have returned: their return address was below this stack pointer. */
void client_leave(uint64_t rsp);
/* Returns whether the thread's events count: it is not stopped, and collects, or does not but is in
 * a function of --toggle. */
bool client_counts(void);

/* Adds what open regions have counted to the shared memory. */
void client_publish(void);
/* The thread counts from 0. */
void client_begin_again(void);
/* A new thread has no regions. */
void client_begin_thread(void);

#endif
