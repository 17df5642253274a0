/* SPDX-License-Identifier: MIT */
/*
 * drain.c: passes the engine's records from the shared memory to the sink, until the program ends.
 *
 * A program that runs wild can write to this memory, so all of it is checked before use.  Records
 * are copied before they are checked.  BTS records are only numbers and are passed in place.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <hosts/user/drain.h>

#define TICK_NS	     UINT64_C(100000000) /* between calls of the sink with NULL */
#define WAIT_NS	     20000000
#define RECORD_MAX   (256u << 10) /* a sample with its stacks is shorter */
#define RELEASE_STEP (64u << 10)  /* after this many bytes the engine gets room back */

uint64_t drain_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Returns the closest of three pairs of a TSC value and the clock's time. */
struct moment drain_read_clocks(void)
{
	uint64_t best = UINT64_MAX;
	struct moment moment = {0};

	for (int i = 0; i < 3; i++) {
		uint64_t before = __rdtsc(), ns = drain_now_ns(), after = __rdtsc();

		if (after - before < best) {
			best = after - before;
			moment.tsc = before + best / 2;
			moment.ns = ns;
		}
	}
	return moment;
}

/*
 * Converts a TSC value to the clock's time.  Records that are drained now were written between the
 * last two readings of both.  A straight line between these is as exact as they are, and times
 * never decrease.
 */
static uint64_t time_of(const struct run *run, uint64_t tsc)
{
	const struct moment *a = &run->before, *b = &run->now;
	uint64_t ticks = b->tsc - a->tsc;

	if (tsc <= a->tsc || b->tsc <= a->tsc)
		return a->ns;
	if (tsc >= b->tsc)
		return b->ns;
	return a->ns + (uint64_t)((unsigned __int128)(tsc - a->tsc) * (b->ns - a->ns) / ticks);
}

/* --- futexes, shared between processes ------------------------------------- */

static void futex_wait(uint32_t *word, uint32_t expected)
{
	const struct timespec timeout = {.tv_nsec = WAIT_NS};

	syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* --- the ring --------------------------------------------------------------- */

static void copy_from_ring(const struct link *link, uint64_t at, void *to, size_t bytes)
{
	size_t offset = at & (LINK_RING_BYTES - 1);
	size_t first = LINK_RING_BYTES - offset;

	if (first > bytes)
		first = bytes;
	memcpy(to, link->ring + offset, first);
	memcpy((uint8_t *)to + first, link->ring, bytes - first);
}

static void release_room(struct run *run)
{
	struct link *link = run->link;

	__atomic_store_n(&link->tail, run->tail, __ATOMIC_RELEASE);
	__atomic_add_fetch(&link->tail_futex, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&link->engine_waits, __ATOMIC_SEQ_CST))
		futex_wake(&link->tail_futex);
}

/* Returns true if the buffer of the record exists and its records fit into it. */
static bool is_trace(const struct run *run, const struct link_trace *trace)
{
	return run->traces && trace->buffer < LINK_TRACE_BUFFERS &&
	       trace->count <= LINK_TRACE_BYTES / LINK_BTS_BYTES;
}

static bool is_sample(const struct link_sample *sample)
{
	size_t room = sample->header.bytes - sizeof(*sample);
	size_t stacks = sample->stack ? 8u * LINK_REGISTERS : 0;

	if (sample->stack > LINK_STACK_MAX || sample->interrupted_stack > LINK_STACK_MAX ||
	    (sample->interrupted_stack && !sample->stack) || sample->chain > LINK_CHAIN_MAX)
		return false;
	stacks += sample->stack + sample->interrupted_stack;
	return sample->event < LINK_EVENTS_MAX &&
	       (!sample->registers || sample->registers == LINK_REGISTERS) &&
	       8u * sample->registers + sizeof(struct link_branch) * sample->branches +
			       8u * sample->chain + stacks <=
		       room;
}

/* Checks the contents of a record that has been copied completely. */
static bool is_sound(const struct run *run, const struct link_record *record)
{
	switch (record->type) {
	case LINK_REC_SAMPLE:
		return is_sample((const struct link_sample *)record);
	case LINK_REC_TRACE:
		return is_trace(run, (const struct link_trace *)record);
	default:
		return true;
	}
}

/* Returns true if the record is long enough for its type. */
static bool is_whole(const struct link_record *record)
{
	size_t least = sizeof(*record);

	switch (record->type) {
	case LINK_REC_MMAP:
		least = sizeof(struct link_mmap) + 1;
		break;
	case LINK_REC_COMM:
		least = sizeof(struct link_comm);
		break;
	case LINK_REC_SAMPLE:
		least = sizeof(struct link_sample);
		break;
	case LINK_REC_TRACE:
		least = sizeof(struct link_trace);
		break;
	case LINK_REC_TASK:
	case LINK_REC_FORK:
		least = sizeof(struct link_task);
		break;
	case LINK_REC_COUNTS:
		least = sizeof(struct link_counts);
		break;
	case LINK_REC_COSTS:
		least = sizeof(struct link_costs);
		break;
	case LINK_REC_CALLS:
		least = sizeof(struct link_calls);
		break;
	case LINK_REC_DUMP:
		least = sizeof(struct link_dump);
		break;
	default:
		break;
	}
	return record->bytes >= least;
}

/* Ends the texts in a record, because the program may have overwritten them. */
static void end_text(struct link_record *record)
{
	if (record->type == LINK_REC_MMAP)
		((char *)record)[record->bytes - 1] = '\0';
	if (record->type == LINK_REC_COMM)
		((struct link_comm *)record)->comm[15] = '\0';
}

/* Gives a buffer back to the engine.  A buffer has many records, so waking it each time costs
 * little. */
static void release_trace(struct run *run, unsigned buffer)
{
	uint32_t *state = &run->link->trace_state[buffer];

	__atomic_store_n(state, LINK_TRACE_FREE, __ATOMIC_SEQ_CST);
	futex_wake(state);
}

/* Gives up a damaged ring.  The program continues, and the engine no longer waits for the tool. */
static void give_up_ring(struct run *run)
{
	run->damaged = true;
	__atomic_store_n(&run->link->tool_gone, 1, __ATOMIC_SEQ_CST);
	release_room(run);
	for (unsigned i = 0; i < LINK_TRACE_BUFFERS; i++)
		release_trace(run, i);
}

static uint64_t tsc_of(const struct link_record *record)
{
	switch (record->type) {
	case LINK_REC_MMAP:
		return ((const struct link_mmap *)record)->tsc;
	case LINK_REC_COMM:
		return ((const struct link_comm *)record)->tsc;
	case LINK_REC_SAMPLE:
		return ((const struct link_sample *)record)->tsc;
	case LINK_REC_TRACE:
		return ((const struct link_trace *)record)->tsc;
	case LINK_REC_TASK:
	case LINK_REC_FORK:
		return ((const struct link_task *)record)->tsc;
	case LINK_REC_COUNTS:
		return ((const struct link_counts *)record)->tsc;
	default:
		return 0;
	}
}

/* Finds the functions in a new mapping, before the engine goes on. */
static void find_points(struct run *run, const struct link_mmap *mmap)
{
	struct link *link = run->link;
	uint32_t n = link->points < LINK_POINTS_MAX ? link->points : LINK_POINTS_MAX;

	if (run->request->points)
		n += (uint32_t)run->request->points(run->request->points_opaque, mmap, link->region,
						    link->point + n, LINK_POINTS_MAX - n);
	__atomic_store_n(&link->points, n, __ATOMIC_RELEASE);
}

static void hand_over(struct run *run, struct link_record *record)
{
	const struct link_trace *trace = (const struct link_trace *)record;
	bool traced = record->type == LINK_REC_TRACE;
	const void *records = NULL;

	end_text(record);
	if (traced)
		records = run->traces + (size_t)trace->buffer * LINK_TRACE_BYTES;
	if (record->type == LINK_REC_MMAP)
		find_points(run, (const struct link_mmap *)record);
	if (run->request->sink)
		run->request->sink(run->request->opaque, record, time_of(run, tsc_of(record)),
				   records);
	if (traced)
		release_trace(run, trace->buffer);
}

/* Passes all records to the sink.  Returns false if there were none. */
static bool drain(struct run *run)
{
	static _Alignas(8) uint8_t buffer[RECORD_MAX];
	struct link_record *record = (struct link_record *)buffer;
	struct link *link = run->link;
	uint64_t head = __atomic_load_n(&link->head, __ATOMIC_ACQUIRE);
	uint64_t released = run->tail;

	if (run->damaged || head == run->tail)
		return false;
	if (head - run->tail > LINK_RING_BYTES) {
		give_up_ring(run);
		return false;
	}
	run->before = run->now;
	run->now = drain_read_clocks();
	while (head != run->tail) {
		uint64_t left = head - run->tail;

		if (left >= sizeof(*record))
			copy_from_ring(link, run->tail, record, sizeof(*record));
		if (left < sizeof(*record) || record->bytes % 8 || record->bytes > left ||
		    record->bytes > RECORD_MAX || !is_whole(record)) {
			give_up_ring(run);
			return true;
		}
		copy_from_ring(link, run->tail + sizeof(*record), record + 1,
			       record->bytes - sizeof(*record));
		if (!is_sound(run, record)) {
			give_up_ring(run);
			return true;
		}
		hand_over(run, record);
		run->tail += record->bytes;
		if (run->tail - released >= RELEASE_STEP) {
			release_room(run);
			released = run->tail;
		}
	}
	if (run->tail != released)
		release_room(run);
	return true;
}

/* Sleeps until the engine writes a record or the program ends. */
static void wait_for_records(struct run *run, uint32_t seen)
{
	struct link *link = run->link;

	__atomic_store_n(&link->tool_waits, 1, __ATOMIC_SEQ_CST);
	if (run->damaged || __atomic_load_n(&link->head, __ATOMIC_SEQ_CST) == run->tail)
		futex_wait(&link->head_futex, seen);
	__atomic_store_n(&link->tool_waits, 0, __ATOMIC_SEQ_CST);
}

int drain_serve(struct run *run, struct rusage *usage)
{
	const struct launch_request *request = run->request;
	uint64_t tick = drain_now_ns();
	int status = 0;

	for (;;) {
		uint32_t seen = __atomic_load_n(&run->link->head_futex, __ATOMIC_SEQ_CST);
		bool some = drain(run);
		uint64_t now;

		if (wait4(run->pid, &status, WNOHANG, usage) == run->pid) {
			/* The last records may have come after drain() looked. */
			drain(run);
			return status;
		}
		now = drain_now_ns();
		if (now - tick >= TICK_NS) {
			tick = now;
			if (request->sink)
				request->sink(request->opaque, NULL, now, NULL);
		}
		if (!some)
			wait_for_records(run, seen);
	}
}
