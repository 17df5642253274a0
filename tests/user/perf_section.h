/* SPDX-License-Identifier: MIT */
/* perf_section.h: a piece of code whose occurrences are known, for programs that open events. */
#ifndef SOFTPMU_TESTS_PERF_SECTION_H
#define SOFTPMU_TESTS_PERF_SECTION_H

#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define TURNS 1000u

/*
 * Switches the event on, makes so many turns and switches it off.  The event sees 2 * turns + 4
 * instructions and turns + 1 branches: MOV, the loop, MOV, MOV, SYSCALL.
 */
static inline void section(int fd, unsigned turns, unsigned long flags)
{
	long result;

	__asm__ volatile("syscall\n\t"
			 "movl %[turns], %%ecx\n"
			 "1:\tdecl %%ecx\n\t"
			 "jnz 1b\n\t"
			 "movl %[ioctl], %%eax\n\t"
			 "movl %[disable], %%esi\n\t"
			 "syscall"
			 : "=a"(result)
			 : "a"(SYS_ioctl), "D"((long)fd), "S"((long)PERF_EVENT_IOC_ENABLE),
			   "d"(flags), [turns] "r"(turns), [ioctl] "i"(SYS_ioctl),
			   [disable] "i"(PERF_EVENT_IOC_DISABLE)
			 : "rcx", "r11", "memory", "cc");
	if (result)
		printf("switched off: %ld\n", result);
}

#endif
