/* SPDX-License-Identifier: MIT */
/*
 * threads.h: the parts of the program threads: what threads do with each other (threads.c), and
 * with the system: signals, processes, ends, code that changes (threads-system.c).
 */
#ifndef SOFTPMU_TESTS_THREADS_H
#define SOFTPMU_TESTS_THREADS_H

#include <pthread.h>

/* Ends the program unless `ok`. */
void need(int ok, const char *what);
pthread_t begin(void *(*run)(void *), void *argument);
void *end(pthread_t thread);
void pause_ms(long ms);
void *wait_until_cancelled(void *argument);
extern pthread_barrier_t barrier; /* each subject that uses it initializes it */

/* Subjects of threads-system.c. */
void thread_signals(void);
void thread_timers(void);
void thread_processes(void);
void thread_exec(void);
void thread_leave_all(void);
void thread_last(void);
void thread_die(void);
void thread_identities(void);
void thread_changes(void);
void thread_waits(void);

#endif
