/* SPDX-License-Identifier: MIT */
/*
 * link_records.h: the records in the ring of the memory that tool and engine share (link.h).
 *
 * A record is a header, then the body; sizes are multiples of 8 and include the header.  A record
 * may wrap around the end of the ring.
 */
#ifndef SOFTPMU_HOST_LINK_RECORDS_H
#define SOFTPMU_HOST_LINK_RECORDS_H

#include <stdint.h>

#define LINK_EVENTS_MAX 63 /* of a run */

enum link_record_type {
	LINK_REC_MMAP = 1, /* struct link_mmap: an executable mapping */
	LINK_REC_COMM,	   /* struct link_comm */
	LINK_REC_SAMPLE,   /* struct link_sample */
	LINK_REC_TRACE,	   /* struct link_trace */
	LINK_REC_TASK,	   /* struct link_task: a process began or ended */
	LINK_REC_FORK,	   /* struct link_task: a thread is about to fork, with LINK_WANT_FLOW;
			    * ended: it could not */
	LINK_REC_COUNTS,   /* struct link_counts */
	LINK_REC_COSTS,	   /* struct link_costs */
	LINK_REC_CALLS,	   /* struct link_calls */
	LINK_REC_DUMP,	   /* struct link_dump */
};

struct link_record {
	uint32_t type;
	uint32_t bytes;
};

struct link_mmap {
	struct link_record header;
	uint32_t pid, tid;
	uint64_t tsc;
	uint64_t start, length, page_offset; /* bytes */
	uint32_t device_major, device_minor;
	uint64_t inode;
	uint32_t protection, flags; /* as in mmap(2) */
	char path[];		    /* NUL-terminated, padded; "[vdso]", "//anon" */
};

struct link_comm {
	struct link_record header;
	uint32_t pid, tid;
	uint64_t tsc;
	char comm[16];
	uint32_t exec; /* 1: execve gave the name */
	uint32_t reserved;
};

struct link_task {
	struct link_record header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t tsc;
	uint32_t ended; /* 0: it began */
	uint32_t fork;	/* the number of the fork in the parent; 0: it was none */
};

/* What a thread has counted of each event of the request since its last such record. */
struct link_counts {
	struct link_record header;
	uint32_t pid, tid;
	uint64_t tsc;
	uint64_t count[LINK_EVENTS_MAX];
};

/*
 * With LINK_WANT_COSTS: what instructions of a process have cost since their last such record, as
 * valgrind's tools count it.  With LINK_WANT_EVENT_COSTS: what the request's events have counted.
 */
enum link_cost {
	LINK_COST_IR,	/* instructions */
	LINK_COST_DR,	/* data reads */
	LINK_COST_DW,	/* data writes */
	LINK_COST_I1MR, /* misses of the first level: fetches, reads, writes */
	LINK_COST_D1MR,
	LINK_COST_D1MW,
	LINK_COST_ILMR, /* of the last level */
	LINK_COST_DLMR,
	LINK_COST_DLMW,
	LINK_COST_BC,  /* conditional branches */
	LINK_COST_BCM, /* those that are mispredicted */
	LINK_COST_BI,  /* indirect jumps and calls */
	LINK_COST_BIM,
	LINK_COSTS
};

/* `cost` has the place of a cost, or with LINK_WANT_EVENT_COSTS that of an event. */
struct link_insn_cost {
	uint64_t pc, times; /* times: that it ran */
	uint64_t cost[LINK_COSTS];
};

struct link_costs {
	struct link_record header;
	uint32_t pid, tid;
	uint64_t tsc;
	struct link_insn_cost insn[];
};

/* Calls, returns and jumps to functions of a thread, its end, and what it had cost before each.
 * `pointer` is the stack pointer after it; 0: not known. */
enum link_call_kind { LINK_CALL, LINK_CALL_RETURN, LINK_CALL_JUMP, LINK_CALL_END };
struct link_call {
	uint64_t kind, from, to, pointer;
	uint64_t cost[LINK_COSTS];
};

struct link_calls {
	struct link_record header;
	uint32_t pid, tid;
	uint64_t tsc;
	struct link_call call[];
};

/* What the process has cost up to here is for a file of its own, or for none. */
struct link_dump {
	struct link_record header;
	uint32_t pid, tid;
	uint64_t tsc;
	uint32_t zero; /* for none */
	uint32_t reserved;
};

struct link_sample {
	struct link_record header;
	uint32_t pid, tid;
	uint32_t event; /* index into link.event */
	uint32_t cpu;
	uint32_t precise;   /* ip is the eventing IP of a PEBS record */
	uint16_t registers; /* LINK_REGISTERS, or 0: none follow */
	uint16_t branches;  /* struct link_branch after them, newest first */
	uint64_t tsc;
	uint64_t ip;
	uint64_t period;
	uint64_t data_address;
	/* Of a PEBS record: core clocks of the load, and where its data came from. */
	uint32_t latency, data_source;
	uint32_t chain; /* addresses of the call chain, the innermost first */
	uint32_t stack; /* bytes of the stack, a multiple of 8, from LINK_STACK_BELOW before RSP; 0:
			 * no LINK_REGISTERS before them either */
	/* If a handler of a signal runs on a stack of its own: the stack pointer before, and the
	 * bytes from LINK_STACK_BELOW before it. */
	uint32_t interrupted_stack, reserved;
	uint64_t interrupted_rsp;
	/* Then, as requested: rflags, rip, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8..r15 with
	 * the values after the instruction; branches; call chain; the same registers as the thread
	 * has them, which a record of 32 bits has not, and the stack; the interrupted stack. */
};
#define LINK_REGISTERS 18
#define LINK_CHAIN_MAX 127
#define LINK_STACK_MAX 65528u
/* The red zone (System V ABI for AMD64, 3.2.2).  At the end of a function, unwind tables find there
 * what it has popped. */
#define LINK_STACK_BELOW 128u

/* A last branch record.  The flags are those of perf's struct perf_branch_entry: bit 0
 * mispredicted, 1 predicted, 2 in a transaction, 3 abort, 19:4 cycles, 23:20 type. */
struct link_branch {
	uint64_t from, to, flags;
};

/* `count` BTS records in trace buffer `buffer`, oldest first. */
struct link_trace {
	struct link_record header;
	uint32_t pid, tid;
	uint64_t tsc; /* when the last of them was stored */
	uint32_t buffer, count;
};

#endif
