/* SPDX-License-Identifier: MIT */
/* client.h: the regions that the thread has started (client.c). */
#ifndef SOFTPMU_ENGINE_CLIENT_H
#define SOFTPMU_ENGINE_CLIENT_H

/* All in precise mode. */

/* Notes what the thread has counted before a request. */
void client_before(void);
/* Does the request of this operation (softpmu/client.h), which has retired.  Its arguments are in
 * the thread's registers. */
void client_request(unsigned operation);

/* Adds what open regions have counted to the shared memory. */
void client_publish(void);
/* The thread counts from 0. */
void client_begin_again(void);
/* A new thread has no regions. */
void client_begin_thread(void);

#endif
