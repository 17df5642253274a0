/* SPDX-License-Identifier: MIT */
/*
 * context.h: the program's thread as the engine holds it while engine code runs, and
 * the words that translated code reaches.
 *
 * GS holds the address of the thread's context, so code that goes through it is the same for
 * every thread.  While there has been one thread, code names the words themselves (emit_words.c).
 * The offsets are shared with enter.S and with emitted code.
 */
#ifndef SOFTPMU_ENGINE_CONTEXT_H
#define SOFTPMU_ENGINE_CONTEXT_H

/* gpr[16] in encoding order stands at offset 0. */
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
#define CTX_PC		0x88 /* in translated code: where an indirect jump or call goes */
#define CTX_RESUME	0x90 /* where enter() jumps */
#define CTX_ENGINE_RSP	0x98
#define CTX_SITE	0xa0  /* 32 bits: which exit or block left */
#define CTX_REASON	0xa4  /* 32 bits: enum exit_reason */
#define CTX_SPILL_RCX	0xb0  /* across an indirect branch */
#define CTX_SPILL_FLAGS 0xb8  /* RAX while flags are kept in AX */
#define CTX_LOG		0xc8  /* where the next taken branch is logged */
#define CTX_SPILL_LOG	0xd0  /* RAX while it is */
#define CTX_PENDING	0xd8  /* 32 bits: a signal waits for the next instruction boundary */
#define CTX_SELF	0xe0  /* the context's address */
#define CTX_LANES	0x100 /* int64_t[LANED_METERS][LANES]: headroom of bulk code */

/* A meter's headroom is spread over several words and each block uses one of them, so that
 * the subtractions of successive blocks do not wait for each other.  Not always all (lanes.c). */
#define LANES	     4
#define LANED_METERS 192

/* Why translated code came back. */
#define EXIT_LINK	    1  /* a direct branch whose target is not linked yet; site: exit slot */
#define EXIT_INDIRECT	    2  /* no translation known for the program address in PC */
#define EXIT_HEADROOM	    3  /* a meter ran out; site: block number, number of its charge << 24 */
#define EXIT_SYSCALL	    4  /* site: block number; pc is behind it */
#define EXIT_STEP_NEXT	    5  /* single instruction done, continues behind it */
#define EXIT_STEP_TAKEN	    6  /* single instruction done, its direct branch was taken */
#define EXIT_STEP_JUMP	    7  /* single instruction done, PC holds where it went */
#define EXIT_HEADROOM_EDGE  8  /* as HEADROOM, behind a branch; site: exit slot with its target */
#define EXIT_STEP_ME	    9  /* the block has to be run as a single step; site: block */
#define EXIT_LOG_FULL	    10 /* the log of taken branches is full */
#define EXIT_RETURN	    11 /* as INDIRECT, of a RET */
#define EXIT_HEADROOM_FLAGS 12 /* HEADROOM, with the flags in AX: they are put back on the way */

#ifndef __ASSEMBLER__
#include <softpmu/unit.h>

#include "frames.h"

#define THREAD_BYTES (256u << 10) /* a thread's own memory, aligned to that */
#define UNITS_MAX    8
#define ARRIVALS_MAX 8
#define SIGNALS	     65
#define UNWATCH_MAX  4

/* What a process asked for; shared by its threads. */
struct dispositions {
	struct kernel_action action[SIGNALS];
	uint32_t users;		   /* contexts, while there are several processes in the memory */
	struct dispositions *next; /* of those that are not used */
	bool reads_faults;	   /* a signalfd(2) of it has some of FAULT_SIGNALS */
	uint32_t fault_waiters;	   /* threads in sigtimedwait(2) that block some */
};

/* The thread's signals (signals.c, actions.c, frames.c). */
struct signals {
	struct dispositions *process;
	uint64_t blocked_faults;	      /* FAULT_SIGNALS that the program blocks */
	uint64_t mask;			      /* the program's, while the kernel's is another */
	struct arrival arrived[ARRIVALS_MAX]; /* in the order in which they are delivered */
	unsigned arrivals;
	bool checking; /* arrivals are being looked through */
	/* Progress of the program among signals that come faster than they are delivered. */
	uint64_t recent; /* those whose handlers were entered, or left, one right after the other */
	unsigned in_a_row;	    /* how often that was */
	unsigned holds;		    /* how often the kernel has kept its signals back for that */
	unsigned steps_held;	    /* instructions until it hands them out; 0: it does */
	bool sent;		    /* the thread itself has sent signals meanwhile */
	bool waiting, came_waiting; /* a system call waits with wait_mask; a signal ended it */
	uint64_t wait_mask;
	uint64_t held_set;
	siginfo_t held[SIGNALS]; /* of fault signals that were sent while blocked */
	stack_t altstack;	 /* the program's */
	stack_t own_stack;
	uint32_t handlers_rights; /* PKRU as the kernel has it when a handler begins (keys.h) */
	bool bad_jump;		  /* the program's own, which faults as it would */
	bool forcing;		  /* the engine sends the program a fault */
	bool refused;		  /* the kernel has refused its signal frame */
	/* Pages of code that the thread wanted to write to: to be opened, translations forgotten.
	 */
	uint64_t unwatch[UNWATCH_MAX];
	unsigned unwatches; /* more than UNWATCH_MAX: all pages */
};

/* Why an instruction runs with RFLAGS.TF (one.c). */
enum one_purpose { ONE_OFF = 0, ONE_OF_PROGRAM, ONE_UNKNOWN, ONE_RAISES };

/* System calls that raise SIGSYS, all but those from here (dispatch.c). */
struct dispatch_range {
	uint32_t of; /* the kernel's number of the thread that asked for it; 0: none */
	uint64_t start, bytes;
	uint64_t selector; /* address of the byte that says so; 0: they do */
};

/* The dispatcher's (run.c). */
struct dispatch {
	unsigned steps_due; /* single steps that have to be done whatever the meters say: the rest
			       of a block whose charge did not fit, or an instruction that needs the
			       engine */
	uint64_t resume_at; /* where bulk code goes on when that is not the beginning of a block; 0:
			       it is */
	uint64_t log_store; /* the store into the full log that faulted */
	/* Little headroom is left: run careful code (the next block whether that pays or not). */
	bool careful, careful_for_once;
	bool step_left; /* a step was left by a fault before its instruction retired; pc says where
			   to go on */
	bool recording; /* what runs one by one is kept for a trace (hot.c) */
	bool unwatched; /* the next step may write to its own page (faults.c) */
	bool trap_flag; /* the program's RFLAGS.TF, which rflags does not hold */
	bool traps;	/* the step's instruction has run, and traps by that flag */
	bool again;	/* it is repeated and has done a turn: it has not retired */
	bool fetch_failed;    /* of an unknown instruction (unknown.c) */
	enum one_purpose one; /* the instruction that runs with TF now */
	uint64_t one_bytes;   /* length of an unknown or far one that has run; 0: it faulted */
	uint64_t retired_at, retired_rsp; /* a SYSCALL: a signal came between that and the call */
};

struct counting;
struct branches;
struct steps;
struct loan;

/*
 * A thread.  Its first words are what translated code and enter.S use.  It stands at the
 * beginning of the thread's own memory (threads.c), so that it is found from a stack pointer.
 */
struct context {
	uint64_t gpr[16];
	uint64_t rflags;
	uint64_t pc;
	uint64_t resume;
	uint64_t engine_rsp;
	uint32_t site;
	uint32_t reason;
	uint64_t reserved_a8, spill_rcx, spill_flags;
	uint64_t reserved_c0;
	uint64_t log;
	uint64_t spill_log;
	uint32_t pending;
	uint32_t reserved;
	struct context *self;
	uint8_t pad[CTX_LANES - CTX_SELF - 8];
	int64_t lane[LANED_METERS][LANES];

	/* threads.c */
	uint32_t stop;	  /* the thread is to stand still */
	uint32_t outside; /* it does, or is in a system call of the program */
	uint32_t askers;  /* who may be about to send it a signal so that it does */
	uint32_t in_use;  /* this memory */
	uint32_t tracer;  /* the task that holds the thread (tracing.c) */
	bool counts;	  /* it has units */
	struct context *next;
	/* Of a thread that begins (children.c). */
	uint32_t starter_pid, starter;
	uint64_t first_mask;
	bool shares; /* it is a process of its own (CLONE_VM without CLONE_THREAD) */
	bool clears_handlers;
	struct loan *loan; /* of a child that borrows the context */

	uint32_t pid, tid; /* of who runs in it: a child of vfork borrows its parent's */
	uint32_t process;  /* that the thread belongs to, whoever borrows its context */
	bool borrowed;	   /* by such a child */
	int own_kept;	   /* descriptors of its process, unless that is the memory's first
			      (descriptors.c) */
	bool left;	   /* it has come to its end, or to another program, by itself */
	bool observed;	   /* its counts and records are wanted */
	/* In the C library's area for restartable sequences: the last one, until the kernel clears
	 * it; NULL: there is no area. */
	const uint64_t *sequence;
	uint32_t sequence_bytes, sequence_signature;
	bool strict;	     /* seccomp's strict mode (filters.c) */
	uint64_t program_gs; /* the program's GS base; the register holds the engine's */
	struct dispatch_range user_dispatch;
	struct dispatch run;
	struct signals signals;
	struct counting *counting;
	struct branches *branches;
	struct steps *steps;
};

/* Of the running thread. */
static inline struct context *get_current(void)
{
	struct context *c;

	/* The same for as long as a function runs: the compiler may keep it. */
	__asm__("movq %%gs:%c1, %0" : "=r"(c) : "i"(CTX_SELF));
	return c;
}
#define current get_current()

#define CTX_CHECK(field, offset)                                                                   \
	_Static_assert(__builtin_offsetof(struct context, field) == (offset), #field)
CTX_CHECK(rflags, CTX_RFLAGS);
CTX_CHECK(pc, CTX_PC);
CTX_CHECK(resume, CTX_RESUME);
CTX_CHECK(engine_rsp, CTX_ENGINE_RSP);
CTX_CHECK(site, CTX_SITE);
CTX_CHECK(reason, CTX_REASON);
CTX_CHECK(spill_rcx, CTX_SPILL_RCX);
CTX_CHECK(spill_flags, CTX_SPILL_FLAGS);
CTX_CHECK(log, CTX_LOG);
CTX_CHECK(spill_log, CTX_SPILL_LOG);
CTX_CHECK(pending, CTX_PENDING);
CTX_CHECK(self, CTX_SELF);
CTX_CHECK(lane, CTX_LANES);

/* Run translated code from ctx->resume until it leaves; ctx->reason says why. */
void enter(void);

/* The same for one instruction, after which SIGTRAP comes (one.c). */
void enter_one(void);

/* A signal between the first and the last: enter() would not see any more that it came.  One that
 * came before raises a trap at enter_trap. */
extern const char enter_check[], enter_trap[], enter_end[];

/*
 * A system call of the program, or why it is to be made behind a handler: a signal came before
 * it began, or the kernel restarts it.  The engine's handler sends it from [check, at] to
 * `interrupted` or `again`.
 */
#define SYSCALL_AGAIN	  (-512L)
#define SYSCALL_NOT_BEGUN (-513L)
long syscall_program(long nr, const uint64_t a[6]);
/* A filter's trap in its place, or in that of clone_process(): RAX stays as it was. */
#define SYSCALL_TRAPPED (-514L)
extern const char clone_after[]; /* the instruction behind it */
extern const char syscall_check[], syscall_at[], syscall_after[], syscall_again[],
	syscall_interrupted[];

/* rt_sigreturn(2) with a frame of the engine's, which comes back here (frames.c).  The kernel
 * faults at frame_back when it refuses what the program's frame says. */
void frame_resume(void *frame);
extern const char frame_resume_after[], frame_back[];

/* Can the byte be read, and the same value stored?  The only places where the engine may fault. */
bool probe_read(uint64_t address);
bool probe_write(uint64_t address);
extern const char probe_read_at[], probe_write_at[], probe_failed[];

/* Where translated code jumps to leave, one for each reason (enter.S). */
extern const char exit_link[], exit_indirect[], exit_headroom[], exit_syscall[], exit_step_next[],
	exit_step_taken[], exit_step_jump[], exit_headroom_edge[], exit_step_me[], exit_log_full[],
	exit_return[], exit_headroom_flags[];
#endif

#endif
