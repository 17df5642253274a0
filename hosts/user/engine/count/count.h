/* SPDX-License-Identifier: MIT */
/* count.h: the thread's units, headroom as code uses it, the log of branches, records to the
 * tool. */
#ifndef SOFTPMU_ENGINE_COUNT_H
#define SOFTPMU_ENGINE_COUNT_H

#include <hosts/user/decode/decode.h>
#include <hosts/user/link.h>
#include <softpmu/unit.h>

#include "engine/count/meter_list.h"
#include "engine/rt/engine.h"

/* Limits of translated code, on which the reserves of headroom depend: the instructions before a
 * block charges its meters, and the size of the aligned range in which a forward-only block
 * continues. */
#define CHECK_INSNS_MAX 4
#define CHECK_PARTS_MAX 64 /* of static clocks, in these instructions */
#define FORWARD_SPAN	(1u << 20)
/* A step: its instructions, and the headroom of each meter for which it is made. */
#define STEP_INSNS_MAX	   8
#define STEP_HEADROOM_BITS 5 /* of each meter */
#define STEP_HEADROOM_MAX  ((1u << STEP_HEADROOM_BITS) - 1)
/* A step is one instruction if there are more meters, or if its headroom has STEP_ALONE. */
#define STEP_METERS_MAX 6
#define STEP_ALONE	(1u << STEP_HEADROOM_BITS * STEP_METERS_MAX)

#define COND_SIGNALS (SPMU_SIGBIT(COND_TAKEN) | SPMU_SIGBIT(COND_NTAKEN))

/*
 * Returns whether meter m is checked only by blocks that may not continue forward.  The others
 * charge it too; the next check finds what they use up.
 */
bool shards_is_unchecked(unsigned m);
/* Returns whether all of them are. */
bool shards_all_unchecked(void);

/* units.c, shards.c, counting.c */
/* The sampling quantum: the maximum headroom that bulk code gets at a time.  hot.c changes
 * it. */
#define SHARDS_QUANTUM_MIN (INT64_C(1) << 16)
#define SHARDS_QUANTUM_MAX (INT64_C(1) << 22)
extern int64_t shards_quantum;
static inline unsigned shard_of(uint32_t block)
{
	return block & (current->list->shards - 1);
}
/* Returns what these signals produce on meter m.  Few bits are ever set. */
static inline unsigned meter_occurrences(unsigned m, uint64_t signals)
{
	unsigned n = 0;

	for (uint64_t set = signals & current->list->signals[m]; set; set &= set - 1)
		n++;
	return n;
}
/* Returns whether a meter of these signals counts static clocks.  Code charges them in parts. */
static inline bool meter_is_of_clocks(uint64_t signals)
{
	return engine_link->static_clocks && signals && !(signals & ~SPMU_SIGSET_CLOCKS);
}
static inline bool meter_counts_clocks(unsigned m)
{
	return meter_is_of_clocks(current->list->signals[m]);
}
/* Gives the shard of meter m headroom for n occurrences, if all its shards together have as
 * much. */
bool shards_rebalance(unsigned m, unsigned shard, unsigned n);
/* Returns whether so little headroom is left on a meter that several shards do not pay. */
bool shards_low(void);
/* Returns whether a phase of windows is over (windows.c). */
bool shards_window_over(void);
/* Returns whether so little is left on meter m that two or three steps use it up. */
bool shards_few(unsigned m);
/* Returns whether bulk code has used up the sampling quantum (shards_quantum). */
bool shards_quantum_over(void);
enum counting_mode {
	COUNTING_BULK,	       /* in all shards; a reserve is kept back */
	COUNTING_LOW_HEADROOM, /* in the first shard; almost nothing is kept back */
	COUNTING_PRECISE,      /* in the units */
};
void units_start(void);
/* The thread begins to be asked, and counts the events that are opened on it. */
void units_follow(void);
/* Writes counts to the shared memory and records to the ring.  The units are stopped. */
void counting_finish(void);
/* Writes what has been counted so far to the shared memory. */
void counting_publish(void);
/* The same for counts alone, if the tool wants them at each of its changes. */
void counting_publish_interval(void);
/* Leaves out what has been counted since then: the tool is not told of it. */
void counting_skip(void);
/* Resets the units, which count from 0: in a new process, or when they were left in the middle
 * of a change. */
void units_begin_again(void);
/* Prepares the units of a child before a fork (the lock is held), and resets them after it: they
 * count from 0. */
void units_expect_child(void);
void units_begin_child(void);
/* Returns what the thread has counted of the first event. */
uint64_t counting_first(void);
enum counting_mode counting_mode_now(void);
/* Moves the records that are still in a DS buffer to the ring, so that later records come after
 * them. */
void counting_drain(void);
/* Runs the service routines of units that have interrupted. */
void interrupts_service(void);
/* Moves the headroom to where this mode uses it.  It may be less than the reserve:
 * shards_bulk_possible() says so. */
void shards_set_mode(enum counting_mode to);
/* In precise mode: gives the thread the list of its units' meters, if that has changed. */
void shards_follow_units(void);
bool shards_bulk_possible(void);
bool units_want_address(uint64_t signals);
/* Returns how many occurrences each meter allows until the engine must call the unit (precise
 * mode), in STEP_HEADROOM_BITS each; or STEP_ALONE. */
uint32_t shards_step_headroom(void);
/* Retires an instruction that has nothing but its signals (precise mode only). */
void counting_retire_plain(uint64_t ip, uint64_t next_ip, uint64_t signals);
/* Retires one instruction (precise mode only).  `list`: its memory accesses; NULL: it has none, or
 * they are not wanted. */
struct accesses;
void counting_retire(uint64_t ip, uint64_t next_ip, uint64_t signals, const struct accesses *list);

/* branches.c: the log of taken branches, which bulk code writes while a unit wants them */
/* Sets what the thread's units want of the log now: fields of struct meter_list. */
void branches_wanted(uint64_t *signals, bool *kinds);
void branches_begin_again(void); /* the units have been reset */
/* Maps the trace buffers that the tool shares, each followed by a page that faults. */
void branches_map(int fd);
/* Returns the buffer that the thread fills.  For records of 32 bits it is one whose records are
 * widened into the shared one.  0: the tool asks for no trace. */
uint64_t branches_buffer(bool below_4g, size_t *bytes);
/* Waits until the tool has read all buffers of the process. */
void branches_wait(void);
/* Gives the buffer up. */
void branches_end(void);
/* Returns whether the unit may store there. */
bool branches_in_buffer(uint64_t linear, size_t bytes);
/* Hands a full buffer (or one that must be emptied) to the tool.  Returns the next buffer. */
uint64_t branches_to_tool(void *opaque, const void *records, size_t count, uint64_t linear);
/* Hands the log to the unit, which may interrupt, and empties it. */
void branches_take(void);
/* Ends precise steps: the log begins where the unit says. */
void branches_resume(void);
/* Returns whether translated code faulted at this address because the log is full. */
bool branches_full_at(uint64_t address);
/* Empties a full log.  Returns where logging continues. */
uint64_t branches_make_room(void);

/* ring.c */
void ring_write(const struct link_record *record);
/* Returns true if the records of this process are discarded. */
bool ring_is_mute(void);
void record_mmap(uint64_t start, uint64_t bytes, uint64_t page_offset, int protection, int flags,
		 int fd, const char *name);
void record_comm(const char *name, bool exec);
/* Notes the begin of the running process or thread by its parent, and its end.  `fork` is the
 * number of the fork that made it, 0: it was none. */
void record_begin(uint32_t ppid, uint32_t ptid, uint32_t fork);
void record_end(void);
/* Notes that this thread is about to fork.  Returns the number of the fork. */
uint32_t record_fork(void);
/* Notes that it has failed. */
void record_no_fork(uint32_t number);
/* Ends the turn of a task that was killed. */
void ring_end_turn_of(uint32_t tid);
/* Sleeps until *word differs from `value`, as long as the tool reads.  Returns false if it does
 * not. */
bool ring_wait(uint32_t *word, uint32_t value);
/* Waits until the tool has read everything that has been written. */
void ring_settle(void);

#endif
