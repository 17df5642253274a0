/* SPDX-License-Identifier: MIT */
/*
 * context.h: the program's thread as the engine holds it while engine code runs, and
 * the words that translated code reaches through GS.
 *
 * GS holds the address of the thread's context, so translated code is the same for
 * every thread.  The offsets are shared with enter.S and with emitted code;
 * context.c asserts them.
 */
#ifndef SOFTPMU_ENGINE_CONTEXT_H
#define SOFTPMU_ENGINE_CONTEXT_H

/* gpr[16] in encoding order stands at offset 0. */
#define CTX_RAX 0x00
#define CTX_RCX 0x08
#define CTX_RDX 0x10
#define CTX_RBX 0x18
#define CTX_RSP 0x20
#define CTX_RBP 0x28
#define CTX_RSI 0x30
#define CTX_RDI 0x38
#define CTX_R8 0x40
#define CTX_R15 0x78
#define CTX_RFLAGS 0x80
#define CTX_PC 0x88
#define CTX_RESUME 0x90      /* where enter() jumps */
#define CTX_ENGINE_RSP 0x98
#define CTX_SITE 0xa0        /* 32 bits: which exit or block left */
#define CTX_REASON 0xa4      /* 32 bits: enum exit_reason */
#define CTX_SPILL_RAX 0xa8   /* across an indirect branch */
#define CTX_SPILL_RCX 0xb0
#define CTX_SPILL_FLAGS 0xb8 /* RAX while flags are kept in AX */
#define CTX_METERS 0x100     /* struct spmu_meters[UNITS_MAX] */
#define CTX_TARGETS 0x2000   /* code addresses by the low 16 bits of a program address */

#define TARGETS 65536

/* Why translated code came back. */
#define EXIT_LINK 1       /* a direct branch whose target is not linked yet; site: exit slot */
#define EXIT_INDIRECT 2   /* no translation known for the program address in RCX */
#define EXIT_HEADROOM 3   /* a meter ran out; site: block number */
#define EXIT_SYSCALL 4    /* site: block number; pc is behind it */
#define EXIT_STEP_NEXT 5  /* single instruction done, continues behind it */
#define EXIT_STEP_TAKEN 6 /* single instruction done, its direct branch was taken */
#define EXIT_STEP_JUMP 7  /* single instruction done, PC holds where it went */
#define EXIT_HEADROOM_TAKEN 8  /* as HEADROOM, behind the block's branch, which was taken */
#define EXIT_HEADROOM_NTAKEN 9 /* likewise, not taken */

#define EXIT_STEP_ME 10 /* the block's only instruction has to be run as a single step; site: block */

#ifndef __ASSEMBLER__
#include <softpmu/unit.h>

#define UNITS_MAX 8

struct context {
	uint64_t gpr[16];
	uint64_t rflags;
	uint64_t pc;
	uint64_t resume;
	uint64_t engine_rsp;
	uint32_t site;
	uint32_t reason;
	uint64_t spill_rax, spill_rcx, spill_flags;
	uint64_t reserved[(CTX_METERS - 0xc0) / 8];
	struct spmu_meters meters[UNITS_MAX];
	uint8_t pad[CTX_TARGETS - CTX_METERS - UNITS_MAX * sizeof(struct spmu_meters)];
	uint64_t target[TARGETS];
};

/* Run translated code from ctx->resume until it leaves; ctx->reason says why. */
void enter(void);

/* Where translated code jumps to leave, one for each reason (enter.S). */
extern const char exit_link[], exit_indirect[], exit_headroom[], exit_syscall[], exit_step_next[],
	exit_step_taken[], exit_step_jump[], exit_headroom_taken[], exit_headroom_ntaken[], exit_step_me[];
#endif

#endif
