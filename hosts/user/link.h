/* SPDX-License-Identifier: MIT */
/*
 * link.h: the memory that the tool and the engine share.
 *
 * The tool fills in the request and starts the engine, which becomes the observed program.  The
 * engine appends records (link_records.h) to the ring and waits when it is full.  The tool drains
 * the ring.  Both sides are built together; the version only protects against a mismatch.
 *
 * The tool passes the memory as file descriptor LINK_FD_OFFSET above the one from which the
 * engine's image is executed.  The engine maps it and closes both before the program's first
 * instruction.
 */
#ifndef SOFTPMU_HOST_LINK_H
#define SOFTPMU_HOST_LINK_H

#include <hosts/user/link_open.h>
#include <hosts/user/link_records.h>
#include <softpmu/uarch.h>
#include <stdint.h>

#define LINK_MAGIC	    UINT64_C(0x6b6e696c756d7073) /* "spmulink" */
#define LINK_VERSION	    16u
#define LINK_FD_OFFSET	    1
#define LINK_PROGRAM_OFFSET 3 /* the program's file, if it has no name */
#define LINK_EXEC_OFFSET    2 /* struct link_exec, when a program of the run executes another */
#define LINK_ROOM_BYTES	    (UINT64_C(512) << 20) /* for the engine's mappings */
#define LINK_EVENT_TRACE    63			  /* in sets of events: the branch trace */
#define LINK_PATH_MAX	    4096
#define LINK_RING_BYTES	    (1u << 20) /* a power of two */
#define LINK_TRACE_BUFFERS  64	       /* each thread of the run fills one at a time */
#define LINK_TRACE_BYTES                                                                           \
	(384u                                                                                      \
	 << 10) /* of each buffer: whole BTS records and whole pages; it fits into an L2 cache */
#define LINK_BTS_BYTES 24 /* from, to, flags: bit 4 predicted (17.4.9.2) */

/* What the tool asks of each event.  select, code, tagger and fixed are as in struct
 * spmu_request. */
struct link_event {
	uint64_t select;
	uint64_t code;
	uint32_t tagger;
	uint32_t counters;
	int32_t fixed;
	uint64_t period;    /* 0: only count */
	uint64_t frequency; /* samples for each second; not 0: the engine adapts the period */
	uint32_t precise;   /* sample with PEBS */
	uint32_t jitter;    /* each period is a random one, at most a quarter away from `period` */
	/* Sampled by a cascade: the event whose occurrences the period counts.  No counters:
	 * none. */
	uint32_t after_counters;
	uint64_t after_code;
	uint32_t after_tagger;
	uint64_t after_select;
	uint64_t offcore; /* as in struct spmu_request */
};

/* What the tool asks in addition to events. */
#define LINK_WANT_LBR		1u  /* last branch records in samples, filtered by lbr_select */
#define LINK_WANT_BTS		2u  /* every taken branch, in the trace buffers */
#define LINK_WANT_REGS		4u  /* registers with each sample */
#define LINK_WANT_ONE		8u  /* do not count processes that the program starts */
#define LINK_WANT_DETERMINISTIC 16u /* remove what changes counts from run to run */

#define LINK_WANT_COLD	     32u  /* do not use the persistent code cache, and do not write it */
#define LINK_WANT_TIME	     64u  /* with LINK_WANT_DETERMINISTIC: clocks are the same, too */
#define LINK_WANT_NO_RECORDS 128u /* no records in the ring: the tool does not read them */
#define LINK_WANT_STRICT                                                                           \
	256u /* a program that cannot be observed ends the run; otherwise it runs natively */

#define LINK_WANT_CONTROL 512u /* the tool switches events while the program runs */

#define LINK_WANT_PER_THREAD 1024u   /* LINK_REC_COUNTS records */
#define LINK_WANT_DATA_MAPS  2048u   /* LINK_REC_MMAP records of mappings without code, too */
#define LINK_WANT_FLOW	     4096u   /* the control flow, instead of a branch trace */
#define LINK_WANT_OPEN	     8192u   /* programs can open events (perf_event_open(2)) */
#define LINK_WANT_IDENTITY   16384u  /* CPUID tells the model's vendor, family and model */
#define LINK_WANT_POINTS     32768u  /* functions are regions: the engine waits for the addresses */
#define LINK_WANT_VALGRIND   65536u  /* programs make valgrind's client requests */
#define LINK_WANT_COSTS	     131072u /* what each instruction and call costs on the machine */
#define LINK_WANT_CHANGES_WRITE                                                                    \
	262144u /* with LINK_WANT_COSTS: what reads and writes the same place is a write */
#define LINK_WANT_INTERVALS                                                                        \
	524288u /* `count` is complete whenever all threads have seen `changes` */
#define LINK_WANT_SUMS                                                                             \
	1048576u /* with LINK_WANT_FLOW: only how often each branch was taken, in any order */
#define LINK_WANT_CHAINS 2097152u /* call chains with each sample, by frame pointers */
#define LINK_WANT_STACKS 4194304u /* a copy of the stack with each sample */
#define LINK_WANT_EVENT_COSTS                                                                      \
	8388608u /* with LINK_WANT_COSTS: of the events, as the thread's model counts them */
#define LINK_WANT_TRACES (LINK_WANT_BTS | LINK_WANT_FLOW)

/*
 * With LINK_WANT_FLOW a record of a trace buffer has more words: from, to, the stack pointer, and
 * what is left of the headroom of each meter that translated code charges.  Headroom shrinks as
 * events occur, so the difference of two records is what occurred between them.
 *
 * Taken branches whose order does not matter have no records of their own: they are counted.
 * LINK_FLOW_COUNTED in `from` says so; the third word is how often the branch was taken.  With
 * LINK_WANT_SUMS no order matters, and a return that is counted has 0 for its target.
 *
 * LINK_FLOW_BREAK in `from` says that the program stopped before the address in `from`, and
 * continued at `to` without a branch.  0 is no address: the task begins, or it ends.  Such a record
 * may also say that a handler of a signal begins at `to`, or that one returns.  If it continued
 * where it stopped, everything before is complete: all branches that were counted are in the log.
 *
 * LINK_FLOW_IDLE says that the instruction at `from` repeated 0 times, so it accessed no memory.
 *
 * LINK_FLOW_CALLED in `from` says that a call, or a jump to another function, was made so often as
 * the third word says, while the function was not active.  It has returned each time.  The words
 * that follow are what these calls have cost.  The return is not counted by it.
 *
 * LINK_FLOW_METER describes a meter, whose number is `from`: `to` are its signals, and the fourth
 * word is to be added to what later records say of its headroom.  If the number is
 * LINK_FLOW_METERS_MAX, the record says nothing.
 */
#define LINK_FLOW_BREAK	  (UINT64_C(1) << 63)
#define LINK_FLOW_IDLE	  (UINT64_C(1) << 62)
#define LINK_FLOW_HANDLER (UINT64_C(1) << 61)
#define LINK_FLOW_LEAVES  (UINT64_C(1) << 60)
#define LINK_FLOW_COUNTED (UINT64_C(1) << 59)
#define LINK_FLOW_METER	  (UINT64_C(1) << 58)
#define LINK_FLOW_CALLED  (UINT64_C(1) << 57)
#define LINK_FLOW_FLAGS	  (UINT64_C(127) << 57)

/* Returns the bytes of a record, so that whole ones fill a buffer. */
#define LINK_FLOW_METERS_MAX 13
static inline unsigned link_flow_bytes(unsigned events)
{
	return events <= 1 ? 32 : events <= 5 ? 64 : 128;
}

/*
 * What the tool tells the engine of places in files with code.  It is a set of bits, and each mark
 * of a place is LINK_MARK_TIMES of them.  A place may seem to have a mark by chance.
 */
enum link_mark {
	LINK_MARK_START,    /* a function begins there, or it is a part of a linkage table */
	LINK_MARK_STUB,	    /* it is a part of a linkage table */
	LINK_MARK_RESOLVER, /* the dynamic linker's code that finds a function and jumps to it */
	LINK_MARK_READABLE, /* of the first place of a mapping: the tool can read the file */
};
#define LINK_MARK_BITS	23
#define LINK_MARK_TIMES 3

/* The signal by which the tool asks a thread to look at `changes`: its number is SIGTRAP, its code
 * SI_QUEUE, its value this. */
#define LINK_ASK UINT64_C(0x6b7361756d707366)

/*
 * A thread that looks at `changes`, with LINK_WANT_CONTROL or LINK_WANT_OPEN.  There may be more:
 * those are not asked, and look when they come to the engine.
 *
 * The tool can change events in this thread alone.  `own` are those events, bit e is event[e].
 * `own_on` are those of them that count, since the change with the number `own_change`.  A later
 * change for all threads (`changed`) replaces that.
 */
#define LINK_FOLLOWERS_MAX    1024
#define LINK_FOLLOWER_CLAIMED UINT32_MAX
struct link_follower {
	uint32_t tid; /* 0: free; LINK_FOLLOWER_CLAIMED: the rest is not written yet */
	uint32_t pid;
	uint32_t seen;	  /* the thread does what `changes` was then */
	uint32_t outside; /* it looks before it runs more of the program: it need not be asked */
	uint32_t askers;  /* tool: may be about to send the signal, or to change the events */
	uint32_t own_change;
	uint64_t own, own_on;
	uint64_t word, value; /* the address of a word in the process, and what is there */
};

/*
 * Windows of the run that the machine's model sees: the instructions of each, and those before that
 * warm the model up and that it skips.  The engine adds the number of windows.  Of each event it
 * adds the sum of its rates in them, in 2^-20 for each instruction, and the sum of their squares.
 * Those of exact events mean nothing.  The first window of each thread, which stands for itself, is
 * not among them.
 */
struct link_windows {
	uint32_t count; /* 0: the model sees all */
	uint32_t warm, skip, reserved;
	uint64_t counted, sum[LINK_EVENTS_MAX], squares[LINK_EVENTS_MAX];
};

/*
 * A region of the program (softpmu/client.h): how often it was entered, its iterations and what it
 * has counted.  Threads and processes add to the same region.
 */
#define LINK_REGIONS_MAX 256
#define LINK_REGION_NAME 128
enum link_region_state { LINK_REGION_FREE = 0, LINK_REGION_CLAIMED, LINK_REGION_NAMED };
struct link_region {
	uint32_t state;	  /* enum link_region_state */
	uint32_t toggles; /* events count in it only (--toggle) */
	char name[LINK_REGION_NAME];
	uint64_t entries, iterations;
	uint64_t count[LINK_EVENTS_MAX];
};

/* A function of process `pid` that is a region: its first instruction. */
#define LINK_POINTS_MAX 16384
struct link_point {
	uint64_t address;
	uint32_t pid, region;
};

enum link_state {
	LINK_STARTING = 0,
	LINK_RUNNING,
	LINK_EXITED,	  /* counts are final; the process continues to the program's end */
	LINK_UNSUPPORTED, /* message says what the program did that cannot be followed; exit 125 */
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
	struct spmu_machine machine; /* that counts modelled events, without names; size 0: none */
	char core[32];		     /* that gives the machine clocks; empty: none */
	bool static_clocks;	     /* by instruction (uarch_time.h), not by a timeline */
	bool branch_clocks;	     /* last branch records have static clocks */
	bool judges_branches; /* last branch records say which were mispredicted, by the machine */
	char file[LINK_PATH_MAX];    /* the file that is executed, found in PATH */
	char program[LINK_PATH_MAX]; /* the ELF file to run: that file, or a script's interpreter */
	uint32_t events;
	uint32_t threads; /* of the core: 1 or 2 (counter numbers) */
	struct link_event event[LINK_EVENTS_MAX];
	uint64_t lbr_select;	 /* MSR_LBR_SELECT */
	uint64_t load_threshold; /* MSR_PEBS_LD_LAT, for events of load latency */
	uint64_t frontend;	 /* MSR_PEBS_FRONTEND, for FRONTEND_RETIRED */
	struct link_windows windows;
	uint32_t stack_bytes;	  /* of a copy, with LINK_WANT_STACKS: at most LINK_STACK_MAX */
	uint32_t want;		  /* LINK_WANT_ */
	char tree[LINK_PATH_MAX]; /* what programs see in /sys and /proc; empty: nothing */
	/* The folders of persistent code caches: the user's, and the system's, which is only read.
	 * Empty: none. */
	char cache_folder[LINK_PATH_MAX];
	char cache_system[LINK_PATH_MAX];
	uint64_t image_sum; /* of the engine's image that wrote them */
	/* Which events count now in all threads (bit e is event[e], bit LINK_EVENT_TRACE the
	 * trace).  The tool numbers its changes: `changes` is the last, and changed[e] the last one
	 * of that bit in all threads. */
	uint64_t events_on;
	/* With LINK_WANT_POINTS and LINK_WANT_VALGRIND: how a thread begins.  Its events count
	 * while it is not stopped and collects.  A function of --toggle reverses the latter. */
	uint32_t begins_stopped, begins_collecting;
	uint32_t changed[LINK_EVENTS_MAX + 1];
	uint32_t changes;
	/* A process that executes a program finds this memory as /proc/tool_pid/fd/link_fd. */
	int32_t tool_pid, link_fd;
	/* The kernel's limits of the address space (RLIMIT_AS) in the run are larger by
	 * LINK_ROOM_BYTES than the limits that programs see. */
	uint32_t address_room, reserved;

	/* engine to tool */
	uint32_t state;	     /* enum link_state; stored last, with release order */
	int32_t exit_status; /* LINK_FAILED: the exit status */
	char message[256];
	uint32_t first_pid; /* the process that the tool started, whose end ends the run */
	uint32_t natives;   /* executed programs that are not observed */
	char native[256];   /* the first of them, and the reason */
	uint32_t processes; /* other processes that have not ended, or were killed */
	uint64_t count[LINK_EVENTS_MAX]; /* sums of the processes that have ended */
	uint64_t tsc_start, tsc_end;	 /* around the program's own run */
	uint64_t interrupts, records, buffer_full;
	uint64_t blocks;	/* translated */
	uint64_t cached_blocks; /* taken from the persistent code cache, of modules of this run */
	uint32_t cache_written; /* a file was written to the folder */
	uint64_t cache_bytes;	/* used bytes of the code cache */
	uint64_t units;		/* how many units the events needed */
	struct link_region region[LINK_REGIONS_MAX];
	uint32_t refused;      /* requests of valgrind to zero or to dump counts */
	uint32_t regions_lost; /* regions that had no place were entered so often */
	uint32_t points;       /* tool: how many of `point` are there */
	struct link_point point[LINK_POINTS_MAX];

	/* the ring: byte positions that only grow; data at position modulo LINK_RING_BYTES */
	uint64_t head __attribute__((aligned(64))); /* engine: written up to here */
	uint32_t head_futex;			    /* engine: changes with head, wakes the tool */
	uint32_t tool_waits;
	uint64_t tail __attribute__((aligned(64))); /* tool: read up to here */
	uint32_t tail_futex;
	uint32_t engine_waits;
	uint32_t tool_gone; /* tool: it no longer drains the ring */
	uint32_t writer;    /* process that is copying its record into the ring; 0: none */
	/* The trace buffers: BTS records as the unit stored them.  A thread takes a free one,
	 * fills it, marks it as full and sends LINK_REC_TRACE, which wakes the tool.  The tool
	 * frees it after reading it, and wakes the threads that wait on that word. */
	uint32_t trace_state[LINK_TRACE_BUFFERS]; /* enum link_trace_state */
	uint32_t trace_owner[LINK_TRACE_BUFFERS]; /* process that fills it */
	struct link_follower follower[LINK_FOLLOWERS_MAX];
	uint32_t followers; /* entries that have been in use */
	/* With LINK_WANT_OPEN (link_open.h). */
	uint32_t open_lock;   /* the task that changes what follows; 0: none */
	uint32_t open_used;   /* places of `open` that have been in use */
	uint32_t open_events; /* that are open now */
	uint64_t open_serial; /* the last */
	int32_t open_cpu;     /* the processor on which the run is, for events of one processor */
	uint32_t open_named;  /* FIFOs that have been made */
	uint32_t rings;	      /* places of `open_ring` that have been in use */
	uint64_t rings_begin, rings_end; /* the rings in the file: what has been used */
	struct link_open open[LINK_OPEN_MAX];
	struct link_ring open_ring[LINK_RINGS_MAX];
	struct link_opened opened[LINK_FOLLOWERS_MAX];
	/* With LINK_WANT_FLOW and LINK_WANT_COSTS: see enum link_mark.  The tool adds those of a
	 * mapping before it releases its LINK_REC_MMAP record, and the engine waits for that. */
	uint8_t marks[1u << (LINK_MARK_BITS - 3)];
	uint8_t ring[LINK_RING_BYTES] __attribute__((aligned(4096)));
	/* LINK_TRACE_BUFFERS of LINK_TRACE_BYTES follow when LINK_WANT_TRACES is set. */
};

/* The marks of a mapping's places (enum link_mark): what they have in common, and an offset in the
 * file. */
static inline uint64_t link_mark_file(const struct link_mmap *map)
{
	uint64_t device = (uint64_t)map->device_major << 32 | map->device_minor;

	return (map->inode ^ device << 20) * UINT64_C(0xd6e8feb86659fd93);
}

static inline uint32_t link_mark_bit(enum link_mark mark, uint64_t file, uint64_t offset,
				     unsigned i)
{
	uint64_t mixed = (file + offset) * UINT64_C(0x9e3779b97f4a7c15);

	mixed ^= mixed >> 32;
	mixed *= UINT64_C(0xd6e8feb86659fd93) +
		 UINT64_C(0x5851f42d4c957f2e) * (mark * LINK_MARK_TIMES + i);
	return (uint32_t)(mixed >> (64 - LINK_MARK_BITS));
}

static inline void link_mark(struct link *link, enum link_mark mark, uint64_t file, uint64_t offset)
{
	for (unsigned i = 0; i < LINK_MARK_TIMES; i++) {
		uint32_t bit = link_mark_bit(mark, file, offset, i);

		link->marks[bit / 8] |= (uint8_t)(1u << bit % 8);
	}
}

static inline int link_is_marked(const struct link *link, enum link_mark mark, uint64_t file,
				 uint64_t offset)
{
	for (unsigned i = 0; i < LINK_MARK_TIMES; i++) {
		uint32_t bit = link_mark_bit(mark, file, offset, i);

		if (!(link->marks[bit / 8] & 1u << bit % 8))
			return 0;
	}
	return 1;
}

/* Returns whether code there is always that of the file.  Only branches of such code are counted,
 * and only if the tool can read the file. */
static inline int link_flow_is_file(const struct link_mmap *map)
{
	return map->path[0] == '/' && map->path[1] != '/' && !(map->protection & 2) &&
	       !(map->flags & 1); /* PROT_WRITE, MAP_SHARED */
}

/* What the next image of a process must run, in a pipe. */
#define LINK_EXEC_MAGIC UINT64_C(0x636578656b6e696c) /* "linkexec" */
struct link_exec {
	uint64_t magic;
	int64_t program_fd; /* if the program has no lasting name; -1: it has */
	int64_t keep; /* this image keeps its descriptors, because others may be out of its reach */
	/* Which events count in the thread, and the last change that it has seen. */
	uint64_t events_on;
	uint64_t followed;
	int64_t follower; /* the thread's entry in link.follower; -1: it has none */
	/* The size of the process's filters of system calls (filter_chain.c), which are between
	 * this structure and the names. */
	uint64_t filter_bytes;
	char names[]; /* file and program, as in struct link, each with a NUL */
};

#endif
