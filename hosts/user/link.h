/* SPDX-License-Identifier: MIT */
/*
 * link.h: the memory that the tool and the engine share.
 *
 * The tool fills in the request and starts the engine, which becomes the observed
 * program.  The engine appends records to the ring and waits when it is
 * full; the tool drains it.  Both sides are built together; the version guards against
 * a stray pairing only.
 *
 * The tool hands over the memory as file descriptor LINK_FD_OFFSET above the one that
 * the engine's own image was executed from; the engine maps it and closes both
 * before the program's first instruction.
 */
#ifndef SOFTPMU_HOST_LINK_H
#define SOFTPMU_HOST_LINK_H

#include <stdint.h>

#define LINK_MAGIC	    UINT64_C(0x6b6e696c756d7073) /* "spmulink" */
#define LINK_VERSION	    6u
#define LINK_FD_OFFSET	    1
#define LINK_PROGRAM_OFFSET 3 /* the program's file, if it has no name */
#define LINK_EXEC_OFFSET    2 /* struct link_exec, when a program of the run executes another */
#define LINK_ROOM_BYTES	    (UINT64_C(512) << 20) /* of the engine's mappings */
#define LINK_EVENTS_MAX	    64
#define LINK_PATH_MAX	    4096
#define LINK_RING_BYTES	    (1u << 20) /* a power of two */
#define LINK_TRACE_BUFFERS  64	       /* each thread of the run fills one at a time */
#define LINK_TRACE_BYTES                                                                           \
	(384u << 10)	  /* of each buffer: whole BTS records and whole pages; the                \
			    second-level cache holds one */
#define LINK_BTS_BYTES 24 /* from, to, flags: bit 4 predicted (17.4.9.2) */

/* What the tool asks of each event.  select, code, tagger and fixed are as in struct spmu_request.
 */
struct link_event {
	uint64_t select;
	uint32_t code, tagger;
	uint32_t counters;
	int32_t fixed;
	uint64_t period;    /* 0: only count */
	uint64_t frequency; /* samples a second; not 0: the engine adapts the period */
	uint32_t precise;   /* sample with PEBS */
	/* Sampled by a cascade: the event whose occurrences the period counts; no counters: none.
	 */
	uint32_t after_counters;
	uint32_t after_code, after_tagger;
	uint64_t after_select;
};

/* What the tool asks besides events. */
#define LINK_WANT_LBR	1u  /* last branch records with each sample, filtered by lbr_select */
#define LINK_WANT_BTS	2u  /* every taken branch, in the trace buffers */
#define LINK_WANT_REGS	4u  /* registers with each sample */
#define LINK_WANT_ONE	8u  /* processes that the program starts are not counted */
#define LINK_WANT_FIXED 16u /* what moves counts from run to run is made the same */

#define LINK_WANT_COLD 32u  /* no translations of earlier runs, and none kept for later ones */
#define LINK_WANT_TIME 64u  /* with LINK_WANT_FIXED: clocks are the same, too */
#define LINK_WANT_MUTE 128u /* no records in the ring: nobody takes them */
#define LINK_WANT_STRICT                                                                           \
	256u /* a program that cannot be observed ends the run; else it runs natively */

enum link_state {
	LINK_STARTING = 0,
	LINK_RUNNING,
	LINK_EXITED,	  /* counts are final; the process goes on to end as the program would */
	LINK_UNSUPPORTED, /* message says what the program did that cannot be run yet; exit 125 */
	LINK_FAILED, /* message says what is wrong with the program or the request; exit 126 or 127
		      */
};

enum link_trace_state { LINK_TRACE_FREE = 0, LINK_TRACE_FULL, LINK_TRACE_TAKEN };

struct link {
	uint64_t magic;
	uint32_t version;
	uint32_t bytes; /* of the whole shared memory */

	/* tool to engine */
	char model[32];
	char file[LINK_PATH_MAX];    /* what is executed, found in PATH already */
	char program[LINK_PATH_MAX]; /* the ELF file to run: that, or a script's interpreter */
	uint32_t events;
	uint32_t threads; /* of the core: 1 or 2 (counter numbers) */
	struct link_event event[LINK_EVENTS_MAX];
	uint64_t lbr_select;	  /* MSR_LBR_SELECT */
	uint32_t want;		  /* LINK_WANT_ */
	char kept[LINK_PATH_MAX]; /* the folder in which translations are kept; empty: they are not
				   */
	uint64_t image_sum;	  /* of the engine's image, whose they are */
	/* Where a process that executes a program finds this memory again:
	 * /proc/tool_pid/fd/link_fd. */
	int32_t tool_pid, link_fd;
	/* Limits of the address space (RLIMIT_AS) of processes of the run are larger by
	 * LINK_ROOM_BYTES than their programs asked for. */
	uint32_t address_room, reserved;

	/* engine to tool */
	uint32_t state;	     /* enum link_state; stored last, with release order */
	int32_t exit_status; /* LINK_FAILED: what to exit with */
	char message[256];
	uint32_t first_pid; /* the process that the tool started: its end is the end of the run */
	uint32_t natives;   /* programs that were executed and are not observed */
	char native[256];   /* the first of them, and why */
	uint32_t processes; /* others that have not ended yet, or were killed */
	uint64_t count[LINK_EVENTS_MAX]; /* sums of the processes that have ended */
	uint64_t tsc_start, tsc_end;	 /* around the program's own run */
	uint64_t interrupts, records, buffer_full;
	uint64_t blocks;       /* translated */
	uint64_t kept_blocks;  /* that had been kept, of modules of this run */
	uint32_t kept_written; /* a file was written to the folder */
	uint64_t cache_bytes;  /* of code cache used */
	uint64_t units;	       /* how many units the events needed */

	/* the ring: byte positions that only grow; data at position modulo LINK_RING_BYTES */
	uint64_t head __attribute__((aligned(64))); /* engine: written up to here */
	uint32_t head_futex;			    /* engine: bumped with head, wakes the tool */
	uint32_t tool_waits;
	uint64_t tail __attribute__((aligned(64))); /* tool: read up to here */
	uint32_t tail_futex;
	uint32_t engine_waits;
	uint32_t tool_gone; /* tool: nobody drains any more */
	uint32_t writer;    /* process whose record is being copied into the ring, 0: none */
	/* The trace buffers: BTS records as the unit stored them.  A thread takes a free one, fills
	 * it, says that it is full and sends LINK_REC_TRACE, waking the tool; the tool frees it
	 * when it has read it, and wakes whoever waits on that word. */
	uint32_t trace_state[LINK_TRACE_BUFFERS]; /* enum link_trace_state */
	uint32_t trace_owner[LINK_TRACE_BUFFERS]; /* process that fills it */
	uint8_t ring[LINK_RING_BYTES] __attribute__((aligned(4096)));
	/* LINK_TRACE_BUFFERS of LINK_TRACE_BYTES follow when LINK_WANT_BTS is set. */
};

/* Records in the ring: a header, then the body; sizes are multiples of 8 and include
 * the header.  A record may wrap around the end of the ring. */
enum link_record_type {
	LINK_REC_MMAP = 1, /* struct link_mmap: a mapping that code can run from */
	LINK_REC_COMM,	   /* struct link_comm */
	LINK_REC_SAMPLE,   /* struct link_sample */
	LINK_REC_TRACE,	   /* struct link_trace */
	LINK_REC_TASK,	   /* struct link_task: a process began or ended */
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
	uint32_t exec; /* 1: the name given by execve */
	uint32_t reserved;
};

struct link_task {
	struct link_record header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t tsc;
	uint32_t ended; /* 0: it began */
	uint32_t reserved;
};

/* What the next image of a process is to run, in a pipe. */
#define LINK_EXEC_MAGIC UINT64_C(0x636578656b6e696c) /* "linkexec" */
struct link_exec {
	uint64_t magic;
	int64_t program_fd; /* when the program has no name that lasts; -1: it has */
	int64_t keep;	    /* this image keeps its descriptors: others may be out of its reach */
	int64_t filtered;   /* the process has installed filters of system calls */
	char names[];	    /* file and program, as in struct link, each with its NUL */
};

struct link_sample {
	struct link_record header;
	uint32_t pid, tid;
	uint32_t event; /* index into link.event */
	uint32_t cpu;
	uint32_t precise;   /* ip is the eventing IP of a PEBS record */
	uint16_t registers; /* LINK_REGISTERS, or 0: none follow */
	uint16_t branches;  /* struct link_branch that follow them, newest first */
	uint64_t tsc;
	uint64_t ip;
	uint64_t period;
	uint64_t data_address;
	/* Then, as far as they were asked for, rflags, rip, rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp,
	 * r8..r15 as they are after the instruction; and branches. */
};
#define LINK_REGISTERS 18

/* A last branch record; flags as in perf's struct perf_branch_entry: bit 0 mispredicted, 1
 * predicted, 2 in a transaction, 3 abort, 19:4 cycles, 23:20 type. */
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
