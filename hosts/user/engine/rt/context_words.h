/* SPDX-License-Identifier: MIT */
/*
 * context_words.h: the words of a context that translated code and enter.S use by their offsets,
 * and the numbers that are in them.
 *
 */
#ifndef SOFTPMU_ENGINE_CONTEXT_WORDS_H
#define SOFTPMU_ENGINE_CONTEXT_WORDS_H

/* gpr[16], in encoding order, is at offset 0. */
#define CTX_RAX		0x00
#define CTX_RCX		0x08
#define CTX_RDX		0x10
#define CTX_RBX		0x18
#define CTX_RSP		0x20
#define CTX_RBP		0x28
#define CTX_RSI		0x30
#define CTX_RDI		0x38
#define CTX_R8		0x40
#define CTX_R15		0x78
#define CTX_RFLAGS	0x80
#define CTX_PC		0x88 /* in translated code: the target of an indirect jump or call */
#define CTX_RESUME	0x90 /* where enter() jumps to */
#define CTX_ENGINE_RSP	0x98
#define CTX_SITE	0xa0	/* 32 bits: the exit or block that was left */
#define CTX_REASON	0xa4	/* 32 bits: enum exit_reason */
#define CTX_SEQUENCE	0xa8	/* address of rseq_cs in the area of restartable sequences */
#define CTX_SPILL_RCX	0xb0	/* RCX during an indirect branch */
#define CTX_SPILL_FLAGS 0xb8	/* RAX while AX holds flags */
#define CTX_ACTIVITY	0xc0	/* where the next block logs its activity */
#define CTX_LOG		0xc8	/* where the next taken branch is logged */
#define CTX_SPILL_LOG	0xd0	/* RAX meanwhile */
#define CTX_PENDING	0xd8	/* 32 bits: a signal waits for the next instruction boundary */
#define CTX_CALL	0xdc	/* 32 bits: enum call_outcome */
#define CTX_SELF	0xe0	/* the context's address */
#define CTX_SPILL_HIGH	0xe8	/* three registers, spilled to log a block's activity or a branch */
#define CTX_EDGES	0x40000 /* uint64_t[]: how often branches were taken (flow_edges.c) */
#define CTX_SHARDS	0x3400	/* int64_t[SHARDED_METERS][SHARDS]: headroom of bulk code */

/* The headroom of a meter is spread over several words, and each block uses one of them.  So the
 * subtractions of successive blocks do not wait for each other.  Not all of the words are always
 * in use (shards.c). */
#define SHARDS	       4
#define SHARDED_METERS 192

/* The reason why translated code returned. */
#define EXIT_LINK	   1  /* a direct branch whose target is not linked yet; site: exit stub */
#define EXIT_INDIRECT	   2  /* no translation is known for the program address in PC */
#define EXIT_HEADROOM	   3  /* a meter ran out; site: block number, index of its charge << 24 */
#define EXIT_SYSCALL	   4  /* site: block number; pc is after the instruction */
#define EXIT_STEP_NEXT	   5  /* a single instruction has run; execution continues after it */
#define EXIT_STEP_TAKEN	   6  /* a single instruction has run; its direct branch was taken */
#define EXIT_STEP_JUMP	   7  /* a single instruction has run; PC holds its target */
#define EXIT_HEADROOM_EDGE 8  /* like HEADROOM, after a branch; site: exit stub with its target */
#define EXIT_STEP_ME	   9  /* the block must run as a precise step; site: block */
#define EXIT_LOG_FULL	   10 /* the log of taken branches is full */
#define EXIT_RETURN	   11 /* like INDIRECT, of a RET */
#define EXIT_HEADROOM_FLAGS                                                                        \
	12		     /* like HEADROOM, with the flags in AX; they are restored on the way */
#define EXIT_STEP_ABORTED 13 /* single instruction not done: its restartable sequence aborts */

/* What became of the program's last system call (context.call). */
#define CALL_MADE      0 /* it has a result */
#define CALL_AGAIN     1 /* the kernel restarts it, after a handler */
#define CALL_NOT_BEGUN 2 /* a signal came first; it is made after the handler */
#define CALL_TRAPPED   3 /* a filter raised SIGSYS in its place; RAX stays as it was */
/* The result of a call that was not made. */
#define CALL_NO_RESULT (-512)

/* In a signal frame: its registers (asm/sigcontext.h). */
#define FRAME_RSP 0xa8
#define FRAME_RIP 0xb0

#endif
