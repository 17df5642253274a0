/* SPDX-License-Identifier: MIT */
/*
 * client.h: requests of a program to softpmu, which runs it.  A program names regions of itself,
 * and softpmu stat prints what each of them counts.
 *
 * The header needs no library, and works in C, C++ and any language with inline assembly.  Without
 * softpmu a request is one NOP, which has its arguments in registers.  It changes no flag, no
 * memory and, except spmu_client_running(), no register.
 *
 * A region belongs to the thread that starts it.  Its counts are those of that thread from the
 * instruction after the request to start it to the instruction before the request to stop it.
 * Regions can be in others; each counts everything that runs in it.  A region that is still open
 * counts to the end of the thread.  A forked process continues the regions of its parent.
 *
 * Example: examples/client.c.
 */
#ifndef SOFTPMU_CLIENT_H
#define SOFTPMU_CLIENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The request is NOP with an operand of 8 bytes that it does not access: 0F 1F 84 00, then this
 * number with the operation in its lowest byte.  RDI and RSI have the arguments.
 */
#define SPMU_CLIENT_REQUEST 0x4d505300

#define SPMU_CLIENT_REQUEST_START      1 /* RDI: the name */
#define SPMU_CLIENT_REQUEST_STOP       2 /* RDI: the name, or 0 */
#define SPMU_CLIENT_REQUEST_MARK       3 /* RDI: the name */
#define SPMU_CLIENT_REQUEST_ITERATIONS 4 /* RSI: their number */
#define SPMU_CLIENT_REQUEST_RUNNING    5 /* becomes RAX */

/* Longer names are cut off. */
#define SPMU_CLIENT_NAME_MAX 63

#if defined(__x86_64__) && defined(__GNUC__)
#define SPMU_CLIENT_ASK(operation, name, number)                                                   \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c0"                               \
			 :                                                                         \
			 : "i"(SPMU_CLIENT_REQUEST | (operation)), "D"(name), "S"(number)          \
			 : "memory")
#else
#define SPMU_CLIENT_ASK(operation, name, number) ((void)(name), (void)(number))
#endif

/* Starts a region of this name in the running thread.  If that thread has started it already, the
 * region continues and needs one more spmu_client_stop(). */
static inline void spmu_client_start(const char *name)
{
	SPMU_CLIENT_ASK(SPMU_CLIENT_REQUEST_START, name, (uint64_t)0);
}

/* Stops the region of this name, and those that were started in it and not stopped.  NULL: stops
 * the newest.  Without such a region nothing happens. */
static inline void spmu_client_stop(const char *name)
{
	SPMU_CLIENT_ASK(SPMU_CLIENT_REQUEST_STOP, name, (uint64_t)0);
}

/* Begins a part of the newest region, which is shown as "region:name".  The part ends at the next
 * mark in that region, or with the region. */
static inline void spmu_client_mark(const char *name)
{
	SPMU_CLIENT_ASK(SPMU_CLIENT_REQUEST_MARK, name, (uint64_t)0);
}

/* Adds to the number of iterations of the newest region, by which softpmu stat divides. */
static inline void spmu_client_iterations(uint64_t number)
{
	SPMU_CLIENT_ASK(SPMU_CLIENT_REQUEST_ITERATIONS, (const char *)0, number);
}

/* Returns 1 if softpmu runs the program, otherwise 0. */
static inline int spmu_client_running(void)
{
	uint64_t running = 0;

#if defined(__x86_64__) && defined(__GNUC__)
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00\n\t.long %c1"
			 : "+a"(running)
			 : "i"(SPMU_CLIENT_REQUEST | SPMU_CLIENT_REQUEST_RUNNING));
#endif
	return (int)running;
}

#ifdef __cplusplus
}
#endif

#endif
