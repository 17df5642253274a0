/* SPDX-License-Identifier: MIT */
/*
 * context.h: the state of a thread of the program while engine code runs, and the words that
 * translated code uses.  GS holds the address of the thread's context, so code that uses GS is
 * the same for every thread.  While there has been one thread, code names the words directly
 * (emit_words.c).
 *
 * enter.S and emitted code use the same offsets.
 */
#ifndef SOFTPMU_ENGINE_CONTEXT_H
#define SOFTPMU_ENGINE_CONTEXT_H

#include <hosts/user/link.h>
#include <linux/seccomp.h>

#include "engine/rt/context_words.h"
#include "engine/rt/flow_words.h"
#include "engine/rt/rseq_state.h"
#include "engine/rt/run_state.h"
#include "engine/rt/signal_state.h"

#define THREAD_BYTES (256u << 10) /* size of a thread's own memory, and its alignment */
#define EDGES_MAX    (1u << 20)	  /* counters of taken branches */
#define EDGES_BYTES  (EDGES_MAX * 8u)
#define UNITS_MAX    8

struct filter;
struct descriptor_table;
struct counting;
struct meter_list;
struct link_follower;
struct branches;
struct flow_pairs;
struct activity;
struct steps;
struct vfork_child;
struct opened;
struct client;

/* The thread's log of control flow (flow.c). */
struct flow {
	uint64_t log; /* the trace buffer that it fills; 0: none */
	bool begun;   /* the log has the begin of the task */
	/* What the log says of the meters: see LINK_FLOW_METER. */
	unsigned meters;
	uint64_t signals[LINK_FLOW_METERS_MAX];
	int64_t held[LINK_FLOW_METERS_MAX];
	uint64_t complete_at, complete_after; /* clocks: when the log was complete, and the pause */
	bool is_active;		  /* the function in which the thread began is marked as active */
	struct flow_told *told;	  /* NULL: the tool has got no call */
	struct flow_pairs *pairs; /* NULL: no indirect branch is known */
};

/*
 * A thread.  Translated code and enter.S use its first words.  It is at the beginning of the
 * thread's own memory (threads.c), so that it can be found from a stack pointer.
 */
struct context {
	uint64_t gpr[16];
	uint64_t rflags;
	uint64_t pc;
	uint64_t resume;
	uint64_t engine_rsp;
	uint32_t site;
	uint32_t reason;
	uint64_t *sequence; /* NULL: the kernel knows no area of the thread (rseq.c) */
	uint64_t spill_rcx, spill_flags;
	uint64_t activity;
	uint64_t log;
	uint64_t spill_log;
	uint32_t pending;
	uint32_t call; /* what became of the program's last system call: CALL_MADE, ... */
	struct context *self;
	uint64_t spill_high[3];
	/* threads.c */
	uint32_t stop;	  /* the thread must stop */
	uint32_t outside; /* it is stopped, or in a system call of the program */
	uint32_t askers;  /* threads that may be about to send it the signal to stop */
	uint32_t in_use;  /* this memory is in use */
	uint32_t tracer;  /* the task that stopped the thread by ptrace (tracing.c) */
	bool stands_in;	  /* GS has another thread's context (threads.c) */
	bool counts;	  /* it has units */
	struct context *next;
	/* Of a new thread (children.c). */
	uint32_t starter_pid, starter;
	uint64_t first_mask;
	uint64_t stack_top; /* the thread's stack ends there */
	bool shares;	    /* it is a process of its own (CLONE_VM without CLONE_THREAD) */
	bool clears_handlers;
	struct vfork_child *vfork_child; /* of a vfork child that runs in this context */

	uint32_t pid,
		tid; /* of the task that runs in the context: a vfork child runs in its parent's */
	uint32_t
		/* The process that the thread belongs to, also while a vfork child runs in it. */
		process;
	bool is_vfork_child; /* a vfork child runs in it */
	bool left;	     /* it has ended, or executed another program, by itself */
	bool observed;	     /* its counts and records are wanted */
	struct restartable restartable;
	uint32_t calls; /* system calls that the engine has made in this thread */
	bool strict;	/* seccomp's strict mode (filters.c) */
	/* The newest filter of system calls of the thread, and of its vfork child
	 * (filters.c). */
	struct filter *filters, *vfork_filters;
	struct descriptor_table *descriptors;
	struct seccomp_data trapped; /* the last call that a filter has trapped */
	uint64_t program_gs;	     /* the program's GS base; the register holds the engine's */
	struct dispatch_range user_dispatch;
	struct dispatch run;
	struct counting *counting;
	struct link_follower
		*follower;	 /* how the tool sees the thread (follow.c); NULL: it does not */
	uint64_t events_on;	 /* which events of the tool count (as in link.events_on) ... */
	uint32_t followed;	 /* ... after which of its changes (changes.c) */
	struct opened *opened;	 /* events that programs have opened; NULL: the run serves none */
	bool stopped, collects;	 /* why its events count or not (client_counts()) */
	struct client *client;	 /* its regions (client.c); NULL: it has had none */
	struct meter_list *list; /* what the code that it runs charges */
	struct branches *branches;
	struct flow flow;
	struct activity *activities; /* NULL: no list of the thread has wanted any */
	struct steps *steps;
	struct signals signals;

	/* In a page of its own with what else is used all the time at the beginning of the
	 * context: each page that a forked child changes is copied. */
	int64_t shard[SHARDED_METERS][SHARDS] __attribute__((aligned(1024)));
};

/* Returns the context of the running thread. */
static inline struct context *get_current(void)
{
	struct context *c;

	/* The same within one function: the compiler may keep it. */
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
CTX_CHECK(sequence, CTX_SEQUENCE);
CTX_CHECK(spill_rcx, CTX_SPILL_RCX);
CTX_CHECK(spill_flags, CTX_SPILL_FLAGS);
CTX_CHECK(activity, CTX_ACTIVITY);
CTX_CHECK(log, CTX_LOG);
CTX_CHECK(spill_log, CTX_SPILL_LOG);
CTX_CHECK(pending, CTX_PENDING);
CTX_CHECK(call, CTX_CALL);
CTX_CHECK(self, CTX_SELF);
CTX_CHECK(spill_high, CTX_SPILL_HIGH);
CTX_CHECK(shard, CTX_SHARDS);
_Static_assert(THREAD_BYTES == CTX_EDGES, "the counters follow");
_Static_assert(CTX_ACTIVE == CTX_EDGES + EDGES_BYTES, "what is known of calls follows");
_Static_assert(CTX_TOLD == CTX_ACTIVE + (8u << ACTIVE_BITS) + 8, "in this order");
_Static_assert(CTX_CALLS == CTX_PAIRS + (sizeof(struct flow_pair) << (PAIR_BITS + 1)), "the same");

/* Returns the counters of taken branches, which are mapped if the control flow is wanted. */
static inline uint64_t *context_edges(struct context *c)
{
	return (uint64_t *)((uint64_t)c + CTX_EDGES);
}

/* The program's call is not made now.  Returns CALL_NO_RESULT. */
static inline long call_not_begun(void)
{
	current->call = CALL_NOT_BEGUN;
	return CALL_NO_RESULT;
}

#endif
