/* SPDX-License-Identifier: MIT */
/*
 * branches.c: hands the taken branches that bulk code logs to the unit (17.4.8, 17.4.9).
 *
 * Translated code stores {from, to} of each branch that the unit wants at current->log and
 * advances it.  The page after the log faults when the log is full, so no code checks for its
 * end.  There are two kinds of log:
 *	- the BTS buffer itself, when the unit lets the host store there.  Records are made in their
 *	  final place, and the unit is only told how many.  The third word, BTS's flags, is 0
 *	  from the start;
 *	- a log of the engine's own, with the kind of each branch.  The unit gets it when
 *	  it is full, and before the unit needs it.  While only the newest branches matter
 *	  (last branch records), a full log keeps only those.
 *
 * A unit whose records have addresses of 32 bits has its own BTS buffer below 4 GiB.  Its
 * records are widened into the buffer that the tool reads.
 *
 * If several units want branches (each samples other events), all get them from one log.  Only
 * the first unit has a branch trace store.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine/count/activity.h"
#include "engine/count/branch_clocks.h"
#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/count/units.h"
#include "engine/memory/places.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"

#define OWN_BYTES   49152u /* whole pages and whole records */
#define OWN_RECORDS (OWN_BYTES / LOG_RECORD_BYTES)
#define BATCH	    256u
#define KIND_MISSED (UINT64_C(1) << 63)
/* The driver leaves 64 records between the threshold and the end of the BTS buffer.  At the
 * threshold end the pages that the unit may write. */
#define BTS_BYTES    (LINK_TRACE_BYTES + 64 * LOG_RECORD_BYTES)
#define NARROW_BYTES 49152u /* of a buffer with 32-bit records */

_Static_assert(OWN_BYTES % PAGE == 0 && OWN_BYTES % LOG_RECORD_BYTES == 0, "fits both");
_Static_assert(LINK_TRACE_BYTES % PAGE == 0 && LINK_TRACE_BYTES % LOG_RECORD_BYTES == 0,
	       "a trace buffer ends with a record and with a page");

struct record {
	uint64_t from, to, kind;
};
_Static_assert(sizeof(struct record) == LOG_RECORD_BYTES, "as translated code stores it");

static uint64_t buffer[LINK_TRACE_BUFFERS];

#define NO_BUFFER LINK_TRACE_BUFFERS

/* The branch log of a thread. */
struct branches {
	/* The units that want branches.  The first one's tap is valid for all that are alike. */
	struct spmu_core *core[UNITS_MAX];
	const struct spmu_branch_tap *tap;
	unsigned cores;
	unsigned buffer;    /* the trace buffer that it fills; NO_BUFFER: none */
	uint32_t owner;	    /* the process that fills it; a vfork child in the context is another */
	uint64_t narrow;    /* address of the buffer with 32-bit records; 0: none */
	uint64_t own_log;   /* address of the own log; 0: none */
	uint64_t log_begin; /* of the current log */
	uint64_t log_guard; /* the page after it */
};

/* Returns memory followed by a page that may not be touched. */
static uint64_t guarded(uint64_t bytes)
{
	uint64_t at = (uint64_t)heap_allocate(bytes + PAGE);

	if (is_error(syscall3(__NR_mprotect, (long)(at + bytes), (long)PAGE, PROT_NONE)))
		engine_fail(126, "no memory for the log of branches");
	return at;
}

/* Returns whether the log is the BTS buffer: up to its threshold, where the faulting page
 * begins. */
static bool in_place(void)
{
	struct branches *b = current->branches;

	return b->tap->bts_next && !current->list->branch_kinds;
}

void branches_resume(void)
{
	struct branches *b = current->branches;
	uint64_t records = OWN_RECORDS;

	if (current->list->flow || !current->list->branch_signals)
		return;
	if (in_place()) {
		b->log_begin = b->tap->bts_next;
		b->log_guard = b->log_begin + b->tap->headroom * LOG_RECORD_BYTES;
	} else {
		if (!b->own_log)
			b->own_log = guarded(OWN_BYTES);
		if (!b->tap->keep_last && b->tap->headroom < records)
			records = b->tap->headroom;
		b->log_guard = b->own_log + OWN_BYTES;
		b->log_begin = b->log_guard - records * LOG_RECORD_BYTES;
	}
	current->log = b->log_begin;
}

/* Notes which of the newest records were mispredicted, as far as a model of the machine knows, in
 * the highest bit of their kinds. */
static void judge(struct record *record, uint64_t records)
{
	unsigned newest = 0;

	if (!activity_of_branches(current->list->branch_signals))
		return;
	activity_reach(current->pc);
	for (uint64_t i = records; i-- && records - i <= SPMU_LBR_DEPTH_MAX;)
		if (activity_missed(record[i].from, record[i].to, &newest))
			record[i].kind |= KIND_MISSED;
}

static void hand_over(struct record *record, uint64_t records)
{
	struct branches *b = current->branches;
	struct spmu_branch branch[BATCH];
	bool clocks = engine_link->branch_clocks;

	judge(record, records);
	while (records) {
		unsigned n = records < BATCH ? (unsigned)records : BATCH;

		for (unsigned i = 0; i < n; i++)
			branch[i] = (struct spmu_branch){
				.from = record[i].from,
				.to = record[i].to,
				.signal = (uint8_t)record[i].kind,
				.cycles =
					clocks ? branch_clocks_to(record[i].from, record[i].to) : 0,
				.cpl = 3,
				.next_cpl = 3,
				.flags =
					record[i].kind & KIND_MISSED ? SPMU_BRANCH_MISPREDICTED : 0,
			};
		for (unsigned c = 0; c < b->cores; c++)
			spmu_branches(b->core[c], 0, branch, n);
		record += n;
		records -= n;
	}
}

/* Tells the units which clocks have passed since the last branch. */
static void hand_over_clocks(void)
{
	struct branches *b = current->branches;
	const struct spmu_branch none = {
		.signal = SPMU_SIG_INSTRUCTIONS,
		.cycles = branch_clocks_rest(current->pc),
		.cpl = 3,
		.next_cpl = 3,
	};

	for (unsigned c = 0; c < b->cores; c++)
		spmu_branches(b->core[c], 0, &none, 1);
}

/* Hands over the own log, or what the unit keeps of it. */
static void take_own(struct record *record, uint64_t records, bool leaves_bulk)
{
	struct branches *b = current->branches;
	uint64_t first = 0;

	if (b->tap->keep_last && records > b->tap->keep_last)
		first = records - b->tap->keep_last;
	if (first && engine_link->branch_clocks)
		branch_clocks_begin(record[first - 1].to);
	if (records)
		hand_over(record + first, records - first);
	if (leaves_bulk && engine_link->branch_clocks)
		hand_over_clocks();
}

/* `leaves_bulk`: the thread is at current->pc, and steps from now on. */
static void take(bool leaves_bulk)
{
	struct branches *b = current->branches;
	uint64_t records = (current->log - b->log_begin) / LOG_RECORD_BYTES;

	if (!current->list->branch_signals || current->list->flow ||
	    (!records && (!engine_link->branch_clocks || in_place())))
		return;
	if (in_place())
		spmu_branches_stored(b->core[0], 0, records);
	else
		take_own((struct record *)b->log_begin, records, leaves_bulk);
	current->log = b->log_begin; /* no record is taken twice */
	interrupts_service();
}

void branches_take(void)
{
	take(true);
}

bool branches_full_at(uint64_t address)
{
	struct branches *b = current->branches;

	return current->list->branch_signals && !current->list->flow && address == b->log_guard &&
	       current->log == b->log_guard;
}

uint64_t branches_make_room(void)
{
	struct branches *b = current->branches;
	/* One more: the clocks of the oldest one begin there. */
	uint64_t keep = b->tap->keep_last ? (b->tap->keep_last + 1) * LOG_RECORD_BYTES : 0;

	if (!in_place() && keep && keep < (b->log_guard - b->log_begin) / 2) {
		memcpy((void *)b->log_begin, (const void *)(b->log_guard - keep), keep);
		current->log = b->log_begin + keep;
		return current->log;
	}
	take(false);
	branches_resume();
	return current->log;
}

/* --- the buffers that the tool reads --- */

static bool change_state(unsigned i, uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&engine_link->trace_state[i], &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* Returns the lowest free buffer, which is still in the caches if there is one thread; otherwise
 * the first that the tool has read. */
static unsigned take_buffer(void)
{
	for (;;) {
		unsigned full = NO_BUFFER;

		for (unsigned i = 0; i < LINK_TRACE_BUFFERS; i++) {
			if (change_state(i, LINK_TRACE_FREE, LINK_TRACE_TAKEN)) {
				engine_link->trace_owner[i] = current->branches->owner;
				return i;
			}
			if (__atomic_load_n(&engine_link->trace_state[i], __ATOMIC_RELAXED) ==
			    LINK_TRACE_FULL)
				full = i;
		}
		if (full == NO_BUFFER)
			engine_unsupported("more threads and processes at a time than a branch "
					   "trace has buffers");
		/* If the tool no longer reads, the records are dropped. */
		if (!ring_wait(&engine_link->trace_state[full], LINK_TRACE_FULL))
			change_state(full, LINK_TRACE_FULL, LINK_TRACE_FREE);
	}
}

static uint64_t narrow_buffer(void)
{
	long at = sys_map(0, NARROW_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (is_error(at))
		engine_fail(126, "no memory below 4 GiB for the branch trace");
	places_keep((uint64_t)at, NARROW_BYTES);
	return (uint64_t)at;
}

uint64_t branches_buffer(bool below_4g, size_t *bytes)
{
	struct branches *b = current->branches;

	if (!(engine_link->want & LINK_WANT_TRACES))
		return 0;
	if (b->buffer == NO_BUFFER)
		b->buffer = take_buffer();
	*bytes = BTS_BYTES;
	if (!below_4g)
		return buffer[b->buffer];
	if (!b->narrow)
		b->narrow = narrow_buffer();
	*bytes = NARROW_BYTES;
	return b->narrow;
}

void branches_wait(void)
{
	for (unsigned i = 0; i < LINK_TRACE_BUFFERS; i++) {
		if (engine_link->trace_owner[i] == current->branches->owner)
			ring_wait(&engine_link->trace_state[i], LINK_TRACE_FULL);
	}
}

void branches_end(void)
{
	struct branches *b = current->branches;

	if (b->buffer != NO_BUFFER)
		change_state(b->buffer, LINK_TRACE_TAKEN, LINK_TRACE_FREE);
	b->buffer = NO_BUFFER;
}

bool branches_in_buffer(uint64_t linear, size_t bytes)
{
	const struct branches *b = current->branches;

	if (b->narrow && linear >= b->narrow && linear - b->narrow <= NARROW_BYTES)
		return bytes <= NARROW_BYTES - (linear - b->narrow);
	for (unsigned i = 0; i < LINK_TRACE_BUFFERS; i++)
		if (buffer[i] && linear >= buffer[i] && linear - buffer[i] <= LINK_TRACE_BYTES)
			return bytes <= LINK_TRACE_BYTES - (linear - buffer[i]);
	return false;
}

static void widen(uint64_t to, const void *records, size_t count)
{
	struct {
		uint64_t from, to, flags;
	} *out = (void *)to;
	const struct {
		uint32_t from, to, flags;
	} *in = records;

	_Static_assert(sizeof(*in) == 12 && sizeof(*out) == LINK_BTS_BYTES, "17.4.9");
	_Static_assert(NARROW_BYTES / 12 <= LINK_TRACE_BYTES / LINK_BTS_BYTES, "all fit");
	for (size_t i = 0; i < count; i++) {
		out[i].from = in[i].from;
		out[i].to = in[i].to;
		out[i].flags = in[i].flags;
	}
}

/* Leaves the buffer to the tool, which reads it in place, and fills another one. */
uint64_t branches_to_tool(void *opaque, const void *records, size_t count, uint64_t linear)
{
	struct link_trace out = {
		.header = {LINK_REC_TRACE, sizeof(out)},
		.pid = current->pid,
		.tid = current->tid,
		.tsc = read_tsc(),
		.count = (uint32_t)count,
	};
	struct branches *b = current->branches;

	(void)opaque;
	if (!count || !current->observed)
		return linear;
	if (b->narrow)
		widen(buffer[b->buffer], records, count);
	out.buffer = b->buffer;
	__atomic_store_n(&engine_link->trace_state[out.buffer], LINK_TRACE_FULL, __ATOMIC_RELEASE);
	ring_write(&out.header);
	engine_wake_tool();
	b->buffer = take_buffer();
	return b->narrow ? b->narrow : buffer[b->buffer];
}

/* --- set-up --- */

void branches_map(int fd)
{
	uint32_t own = (uint32_t)syscall1(__NR_getpid, 0);
	long offset = sizeof(struct link);

	if (!(engine_link->want & LINK_WANT_TRACES))
		return;
	for (unsigned i = 0; i < LINK_TRACE_BUFFERS; i++, offset += LINK_TRACE_BYTES) {
		buffer[i] = guarded(LINK_TRACE_BYTES);
		if (is_error(sys_map(buffer[i], LINK_TRACE_BYTES, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_FIXED, fd, offset)))
			engine_fail(126, "no memory for the branch trace");
		/* Buffers that the process filled before it executed this image. */
		if (engine_link->trace_owner[i] == own)
			change_state(i, LINK_TRACE_TAKEN, LINK_TRACE_FREE);
	}
}

void branches_wanted(uint64_t *signals, bool *kinds)
{
	struct counting *c = current->counting;
	struct branches *b = current->branches;

	b->cores = 0;
	*signals = 0;
	for (unsigned u = 0; u < c->set.units; u++) {
		const struct spmu_branch_tap *tap = &c->unit[u].meters.tap;

		if (!(tap->rings & SPMU_RING_USER) || !tap->signals)
			continue;
		if (!b->cores)
			b->tap = tap;
		b->core[b->cores++] = c->unit[u].core;
		*signals |= tap->signals;
	}
	*kinds = b->cores && (b->cores > 1 || !b->tap->bts_next || b->narrow);
}

void branches_begin_again(void)
{
	struct branches *b = current->branches;

	if (!b)
		b = current->branches = heap_allocate(sizeof(*b));
	b->cores = 0;
	/* A child's buffer differs from its parent's. */
	b->buffer = NO_BUFFER;
	b->owner = current->pid;
}
