/* SPDX-License-Identifier: MIT */
/*
 * realtime.S: makes the process that runs it a real-time process (SCHED_FIFO, of the lowest
 * priority), and so all that this process executes. Other processes cannot take the processor
 * from them.
 */
#ifdef __x86_64__
	.macro system number		# of what is in rdi, rsi and rdx
	mov $\number, %eax
	syscall
	.endm
#define GETPPID		   110
#define SCHED_SETSCHEDULER 144
#define EXIT		   60
#define FIRST		   %edi
#define SECOND		   %esi
#define THIRD		   %rdx
#define PUT_PRIORITY	   lea priority(%rip), THIRD
#else
	.macro system number		# of what is in ebx, ecx and edx
	mov $\number, %eax
	int $0x80
	.endm
#define GETPPID		   64
#define SCHED_SETSCHEDULER 156
#define EXIT		   1
#define FIRST		   %ebx
#define SECOND		   %ecx
#define THIRD		   %edx
#define PUT_PRIORITY	   lea priority, THIRD
#endif

	.globl _start
	.text
_start:
	system GETPPID
	mov %eax, FIRST
	mov $1, SECOND			# SCHED_FIFO
	PUT_PRIORITY
	system SCHED_SETSCHEDULER
	mov %eax, FIRST			# 0, or the error, which is a status other than 0
	neg FIRST
	system EXIT

	.data
	.balign 4
priority: .long 1
