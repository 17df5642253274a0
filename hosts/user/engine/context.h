/* SPDX-License-Identifier: MIT */
/*
 * context.h: the program's thread as the engine holds it while engine code runs, and
 * the words that translated code reaches through GS.
 *
 * GS holds the address of the thread's context, so translated code is the same for
 * every thread.  The offsets are shared with enter.S and with emitted code.
 */
#ifndef SOFTPMU_ENGINE_CONTEXT_H
#define SOFTPMU_ENGINE_CONTEXT_H

/* gpr[16] in encoding order stands at offset 0. */
#define CTX_RAX		    0x00
#define CTX_RCX		    0x08
#define CTX_RDX		    0x10
#define CTX_RBX		    0x18
#define CTX_RSP		    0x20
#define CTX_RBP		    0x28
#define CTX_RSI		    0x30
#define CTX_RDI		    0x38
#define CTX_R8		    0x40
#define CTX_R15		    0x78
#define CTX_RFLAGS	    0x80
#define CTX_PC		    0x88
#define CTX_RESUME	    0x90 /* where enter() jumps */
#define CTX_ENGINE_RSP	    0x98
#define CTX_SITE	    0xa0 /* 32 bits: which exit or block left */
#define CTX_REASON	    0xa4 /* 32 bits: enum exit_reason */
#define CTX_SPILL_RAX	    0xa8 /* across an indirect branch */
#define CTX_SPILL_RCX	    0xb0
#define CTX_SPILL_FLAGS	    0xb8    /* RAX while flags are kept in AX */
#define CTX_WANTED	    0xc0    /* 32 bits: occurrences that a meter had no room for */
#define CTX_CHECK_AT	    0xc4    /* 32 bits: address of the check that failed */
#define CTX_LOG		    0xc8    /* where the next taken branch is logged */
#define CTX_SPILL_LOG	    0xd0    /* RAX while it is */
#define CTX_PENDING	    0xd8    /* 32 bits: a signal waits for the next instruction boundary */
#define CTX_LANES	    0x100   /* int64_t[LANED_METERS][LANES]: headroom of bulk code */
#define CTX_TARGETS	    0x4000  /* code addresses by the low 16 bits of a program address */
#define CTX_CAREFUL_TARGETS 0x84000 /* the same for careful code */

/* A meter's headroom is spread over several words and each block uses one of them, so that
 * the subtractions of successive blocks do not wait for each other. */
#define LANES	     2
#define LANED_METERS 192

#define TARGETS 65536

/* Why translated code came back. */
#define EXIT_LINK	   1  /* a direct branch whose target is not linked yet; site: exit slot */
#define EXIT_INDIRECT	   2  /* no translation known for the program address in RCX */
#define EXIT_HEADROOM	   3  /* a meter ran out; site: block number */
#define EXIT_SYSCALL	   4  /* site: block number; pc is behind it */
#define EXIT_STEP_NEXT	   5  /* single instruction done, continues behind it */
#define EXIT_STEP_TAKEN	   6  /* single instruction done, its direct branch was taken */
#define EXIT_STEP_JUMP	   7  /* single instruction done, PC holds where it went */
#define EXIT_HEADROOM_EDGE 8  /* as HEADROOM, behind a branch; site: exit slot with its target */
#define EXIT_STEP_ME	   9  /* the block has to be run as a single step; site: block */
#define EXIT_LOG_FULL	   10 /* the log of taken branches is full */

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
	uint32_t wanted;
	uint32_t check;
	uint64_t log;
	uint64_t spill_log;
	uint32_t pending;
	uint8_t reserved[CTX_LANES - CTX_PENDING - 4];
	int64_t lane[LANED_METERS][LANES];
	uint8_t pad[CTX_TARGETS - CTX_LANES - LANED_METERS * LANES * 8];
	uint64_t target[TARGETS];
	uint64_t careful_target[TARGETS];
};

#define CTX_CHECK(field, offset)                                                                   \
	_Static_assert(__builtin_offsetof(struct context, field) == (offset), #field)
CTX_CHECK(rflags, CTX_RFLAGS);
CTX_CHECK(pc, CTX_PC);
CTX_CHECK(resume, CTX_RESUME);
CTX_CHECK(engine_rsp, CTX_ENGINE_RSP);
CTX_CHECK(site, CTX_SITE);
CTX_CHECK(reason, CTX_REASON);
CTX_CHECK(spill_rax, CTX_SPILL_RAX);
CTX_CHECK(spill_rcx, CTX_SPILL_RCX);
CTX_CHECK(spill_flags, CTX_SPILL_FLAGS);
CTX_CHECK(wanted, CTX_WANTED);
CTX_CHECK(check, CTX_CHECK_AT);
CTX_CHECK(log, CTX_LOG);
CTX_CHECK(spill_log, CTX_SPILL_LOG);
CTX_CHECK(pending, CTX_PENDING);
CTX_CHECK(lane, CTX_LANES);
CTX_CHECK(target, CTX_TARGETS);
CTX_CHECK(careful_target, CTX_CAREFUL_TARGETS);

/* Run translated code from ctx->resume until it leaves; ctx->reason says why. */
void enter(void);

/* A signal between these two: enter() would not see any more that it came. */
extern const char enter_check[], enter_end[];

/*
 * A system call of the program, or why it is to be made behind a handler: a signal came before
 * it began, or the kernel restarts it.  The engine's handler sends it from [check, at] to
 * `interrupted` or `again`.
 */
#define SYSCALL_AGAIN	  (-512L)
#define SYSCALL_NOT_BEGUN (-513L)
long syscall_program(long nr, const uint64_t a[6]);
extern const char syscall_check[], syscall_at[], syscall_after[], syscall_again[],
	syscall_interrupted[];

/* rt_sigreturn(2) with a frame of the engine's, which comes back here (frames.c). */
void frame_resume(void *frame);
extern const char frame_resume_after[];

/* Can the byte be read, and the same value stored?  The only places where the engine may fault. */
bool probe_read(uint64_t address);
bool probe_write(uint64_t address);
extern const char probe_read_at[], probe_write_at[], probe_failed[];

/* Where translated code jumps to leave, one for each reason (enter.S). */
extern const char exit_link[], exit_indirect[], exit_headroom[], exit_syscall[], exit_step_next[],
	exit_step_taken[], exit_step_jump[], exit_headroom_edge[], exit_step_me[], exit_log_full[];
#endif

#endif
