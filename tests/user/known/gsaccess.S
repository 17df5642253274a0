/* SPDX-License-Identifier: MIT */
/*
 * Memory through GS.  arch_prctl and WRGSBASE set its base (Vol. 2, WRGSBASE).  One access faults,
 * and its handler moves the saved RIP to the next instruction.
 *   arch_prctl: mov*3, syscall                                        4      far 1
 *   mov, mov to gs, add to gs (load, store)                           3      2 stores, 1 load
 *   push gs (load, store), pop gs (load, store)                       2      2 loads, 2 stores
 *   movups from gs, movups to gs                                      2      1 load, 1 store
 *   lock cmpxchg (load, store, lock)                                  2      1 load, 1 store
 *   rep movsb from gs: mov, lea, lea, rep                             4      1 load, 1 store
 *   SAME of gs:8, of the copy                                         4      2 loads, 2 cond
 *   wrgsbase, rdgsbase and SAME: lea, wrgsbase, rdgsbase, 2           5      1 cond
 *   mov from gs with the new base, SAME                               3      1 load, 1 cond
 *   rt_sigaction: lea, mov, mov, lea, xor, mov, mov, syscall          8      1 store, far 1
 *   xor, wrgsbase, mov from gs that faults (does not retire)          2
 *   handler: addq (load, store), ret (load); restorer: mov, syscall   4      2 loads, 1 store, 1 ret, far 1
 *   EXIT                                                              3      far 1
 *
 * needs: fsgsbase
 * expect: instructions=46 cond=4 not_taken=4 ret=1 far=4 branches=9 loads=11 stores=9 locks=1
 */
#include "known.h"
	.globl _start
_start:
	mov $158, %eax
	mov $0x1001, %edi
	mov $area, %esi
	syscall
	mov $0x77, %ebx
	mov %rbx, %gs:0
	add %rbx, %gs:0
	push %gs:0
	pop %gs:8
	movups %gs:0, %xmm0
	movups %xmm0, %gs:16
	mov $0xee, %eax
	lock cmpxchg %rbx, %gs:(0)
	mov $8, %ecx
	lea 8, %rsi
	lea copy(%rip), %rdi
	rep movsb %gs:(%rsi), %es:(%rdi)
	SAME %rax, %gs:8
	SAME %rax, copy(%rip)
	lea area+8(%rip), %r9
	wrgsbase %r9
	rdgsbase %r10
	SAME %r9, %r10
	mov %gs:0, %r11
	SAME %rax, %r11
	lea handler(%rip), %rax
	mov %rax, action(%rip)
	mov $11, %edi
	lea action(%rip), %rsi
	xor %edx, %edx
	mov $8, %r10d
	mov $13, %eax
	syscall
	xor %eax, %eax
	wrgsbase %rax
	mov %gs:64, %rax
	EXIT
	FAIL
handler:
	addq $9, 168(%rdx) /* uc_mcontext.rip: the length of the load */
	ret
restorer:
	mov $15, %eax
	syscall
	.data
area:	.quad 0, 0, 0, 0, 0
copy:	.quad 0
action:	.quad 0, 0x04000004, restorer, 0 /* SA_RESTORER, SA_SIGINFO */
