/* SPDX-License-Identifier: MIT */
/*
 * bts.c: the unit stores branch records into the BTS buffer of the DS save area (17.4.5, 17.4.6,
 * 17.4.9).
 *
 * While TR and BTS are 1, each taken branch becomes a record at the index. BTS_OFF_OS and
 * BTS_OFF_USR leave out branches that begin in the ring they name. (So with BTS_OFF_OS a system
 * call is stored, but its return is not.) TR alone sends messages on a bus, which no host has.
 *
 * With BTINT 0 the buffer is circular: when no whole record fits below the absolute maximum, the
 * index returns to the base. With BTINT 1 nothing more is stored then. Reaching the threshold
 * interrupts. It does so in a circular buffer, too, so software has to put the threshold above the
 * maximum there (note in 17.4.9.3). The interrupt sets no bit of IA32_PERF_GLOBAL_STATUS: software
 * finds the cause by comparing index and threshold (17.4.9.5).
 *
 * The memory is the guest's. If the index is not in the buffer, or memory refuses an access, the
 * record is lost. Nothing else changes, except bytes after the index.
 */
#include <string.h>

#include "src/pmu/core.h"
#include "src/pmu/counters.h"
#include "src/pmu/records.h"

#define RUN_MAX	   64 /* records in one write */
#define RECORD_MAX 24
#define RECORD_MIN 12

/* The first four addresses of the management area. */
struct bounds {
	uint64_t base, index, maximum, threshold;
};

/* Encoded records that go to memory in one write. */
struct run {
	union {
		uint64_t words[RUN_MAX * RECORD_MAX / 8];
		uint8_t bytes[RUN_MAX * RECORD_MAX];
	};
	size_t records;
};

void bts_update(const struct spmu_core *core, struct thread *thread)
{
	const struct spmu_ds_layout *layout = thread_ds(core, thread);
	uint64_t debugctl = thread->state.reg[SLOT_DEBUGCTL];

	thread->bts = (struct bts_recording){0};
	if (thread->state.smm || !layout || !layout->bts_bytes ||
	    !(debugctl & FIELD(DEBUGCTL, TR)) || !(debugctl & FIELD(DEBUGCTL, BTS)) ||
	    !core->host.read || !core->host.write)
		return;
	thread->bts.rings = (debugctl & FIELD(DEBUGCTL, BTS_OFF_OS) ? 0 : SPMU_RING0) |
			    (debugctl & FIELD(DEBUGCTL, BTS_OFF_USR) ? 0 : SPMU_RING_USER);
	thread->bts.predicted =
		core->model->bts_predicted && signals_supplied(core, SPMU_SIGBIT(BRANCH_MISS));
}

static uint64_t address_at(const uint8_t *area, enum ds_area_number n, unsigned bytes)
{
	uint64_t address = 0;

	memcpy(&address, area + n * bytes, bytes);
	return address;
}

/* Returns true if there is a buffer of any size with the index in it. */
static bool read_bounds(struct spmu_core *core, unsigned lp, const struct spmu_ds_layout *layout,
			struct bounds *bounds)
{
	uint8_t area[4 * 8];
	const unsigned bytes = layout->field_bytes;

	if (!core->host.read(core->host.opaque, lp, core->thread[lp].state.reg[SLOT_DS_AREA], area,
			     4u * bytes))
		return false;
	*bounds = (struct bounds){
		.base = address_at(area, DS_AREA_bts_base, bytes),
		.index = address_at(area, DS_AREA_bts_index, bytes),
		.maximum = address_at(area, DS_AREA_bts_maximum, bytes),
		.threshold = address_at(area, DS_AREA_bts_threshold, bytes),
	};
	return bounds->index >= bounds->base && bounds->index <= bounds->maximum;
}

static bool write_index(struct spmu_core *core, unsigned lp, const struct spmu_ds_layout *layout,
			const struct bounds *bounds)
{
	return core->host.write(core->host.opaque, lp,
				core->thread[lp].state.reg[SLOT_DS_AREA] +
					DS_AREA_bts_index * layout->field_bytes,
				&bounds->index, layout->field_bytes);
}

/*
 * Returns how many whole records are in `bytes` bytes. A division by a constant becomes a
 * multiplication.
 */
static inline uint64_t records_in(uint64_t bytes, unsigned record)
{
	return record == RECORD_MAX ? bytes / RECORD_MAX : bytes / RECORD_MIN;
}

static bool circular(const struct thread *thread)
{
	return !(thread->state.reg[SLOT_DEBUGCTL] & FIELD(DEBUGCTL, BTINT));
}

/* Returns to the base if no record fits. Returns how many records fit from the index on. */
static uint64_t wrap(const struct thread *thread, struct bounds *bounds, unsigned record)
{
	if (circular(thread) && bounds->maximum - bounds->index < record)
		bounds->index = bounds->base;
	return records_in(bounds->maximum - bounds->index, record);
}

/* Returns how many records reach the threshold, at least 1. */
static uint64_t until_threshold(const struct bounds *bounds, unsigned record)
{
	if (bounds->threshold <= bounds->index)
		return 1;
	return records_in(bounds->threshold - bounds->index - 1, record) + 1;
}

/* Tells the host how many records it may store itself. */
static void publish(struct thread *thread, struct bounds *bounds, unsigned record)
{
	struct spmu_branch_tap *tap = &thread->published->tap;
	uint64_t fits = wrap(thread, bounds, record);
	uint64_t until = until_threshold(bounds, record);

	thread->bts.next = 0;
	tap->headroom = UINT64_MAX;
	if (fits) {
		tap->headroom = fits < until ? fits : until;
		if (record == RECORD_MAX && thread->bts.rings == tap->rings &&
		    !thread->lbr.filtered && !thread->bts.predicted)
			thread->bts.next = bounds->index;
	}
	tap->bts_next = thread->bts.next;
}

static void publish_none(struct thread *thread)
{
	thread->published->tap.headroom = UINT64_MAX;
	thread->published->tap.bts_next = thread->bts.next = 0;
}

void bts_headroom(struct spmu_core *core, unsigned lp)
{
	struct thread *thread = &core->thread[lp];
	const struct spmu_ds_layout *layout = thread_ds(core, thread);
	struct bounds bounds;

	if (read_bounds(core, lp, layout, &bounds))
		publish(thread, &bounds, layout->bts_bytes);
	else
		publish_none(thread);
}

/*
 * Writes several records at the index. Returns how many were written. If memory refuses them
 * together, they are tried one by one; a record that is refused does not move the index.
 */
static size_t write_run(struct spmu_core *core, unsigned lp, const struct bounds *bounds,
			const struct run *run, unsigned record)
{
	size_t written = 0;

	if (!run->records || core->host.write(core->host.opaque, lp, bounds->index, run->bytes,
					      run->records * record))
		return run->records;
	for (size_t i = 0; i < run->records && run->records > 1; i++)
		if (core->host.write(core->host.opaque, lp, bounds->index + written * record,
				     run->bytes + i * record, record))
			written++;
	return written;
}

static inline bool stored(const struct thread *thread, const struct spmu_branch *branch)
{
	return (branch->signal < SPMU_SIGNALS) & (SPMU_SIGSET_TAKEN >> (branch->signal & 63) & 1) &
	       ((thread->bts.rings & ring_of(branch->cpl)) != 0);
}

/*
 * If the host reports mispredictions, the record says whether the branch was predicted (17.4.9,
 * figure 17-6).
 */
static inline bool predicted(const struct spmu_branch *branch)
{
	return !(branch->flags & (SPMU_BRANCH_MISPREDICTED | SPMU_BRANCH_EVENT));
}

/*
 * Encodes at most `most` branches that are to be stored, and skips the others. Returns how many
 * branches it has looked at. Wide records, which are very frequent, are written in place without
 * the checks of spmu_bts_encode().
 */
static size_t encode_run(const struct spmu_ds_layout *layout, const struct thread *thread,
			 const struct spmu_branch *branches, size_t count, size_t most,
			 struct run *run)
{
	const bool wide = layout->bts_bytes == RECORD_MAX;
	const bool tells = thread->bts.predicted;
	size_t seen = 0, made = 0;

	for (; seen < count && made < most; seen++) {
		const struct spmu_branch *branch = &branches[seen];

		if (wide) {
			run->words[3 * made] = branch->from;
			run->words[3 * made + 1] = branch->to;
			run->words[3 * made + 2] = tells ? (uint64_t)predicted(branch) << 4 : 0;
		} else {
			const struct spmu_bts_record record = {branch->from, branch->to,
							       tells && predicted(branch)};

			(void)!spmu_bts_encode(layout, &record, run->bytes + made * RECORD_MIN,
					       RECORD_MIN);
		}
		made += stored(thread, branch);
	}
	run->records = made;
	return seen;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Stores branches up to the one that reaches the threshold; *pmi is set then. Returns how many
 * branches are done, at least one.
 */
size_t bts_store(struct spmu_core *core, unsigned lp, const struct spmu_branch *branches,
		 size_t count, bool *pmi)
{
	struct thread *thread = &core->thread[lp];
	const struct spmu_ds_layout *layout = thread_ds(core, thread);
	struct bounds bounds;
	struct run run;
	size_t seen = 0;
	bool moved = false;

	*pmi = false;
	if (!read_bounds(core, lp, layout, &bounds)) {
		publish_none(thread);
		return count;
	}
	while (seen < count && !*pmi) {
		unsigned record = layout->bts_bytes;
		uint64_t most = least(wrap(thread, &bounds, record),
				      least(until_threshold(&bounds, record), RUN_MAX));
		size_t written;

		if (!most) { /* full */
			seen = count;
			break;
		}
		seen += encode_run(layout, thread, branches + seen, count - seen, most, &run);
		written = write_run(core, lp, &bounds, &run, record);
		bounds.index += written * record;
		moved = moved || written;
		*pmi = written && bounds.index >= bounds.threshold;
	}
	wrap(thread, &bounds, layout->bts_bytes);
	if (moved && !write_index(core, lp, layout, &bounds)) {
		*pmi = false;
		bts_headroom(core, lp);
	} else {
		publish(thread, &bounds, layout->bts_bytes);
	}
	return seen;
}

/*
 * Moves the index past the records that the host has stored from bts.next on. Does nothing if the
 * index is no longer there.
 */
void bts_stored(struct spmu_core *core, unsigned lp, size_t records, bool *pmi)
{
	struct thread *thread = &core->thread[lp];
	const struct spmu_ds_layout *layout = thread_ds(core, thread);
	struct bounds bounds;

	*pmi = false;
	if (!read_bounds(core, lp, layout, &bounds) || !thread->bts.next || !records) {
		bts_headroom(core, lp);
		return;
	}
	/* If software left the index where no record fits, the host began at the base. */
	wrap(thread, &bounds, layout->bts_bytes);
	if (bounds.index != thread->bts.next) {
		bts_headroom(core, lp);
		return;
	}
	bounds.index += layout->bts_bytes * least(records, records_in(bounds.maximum - bounds.index,
								      layout->bts_bytes));
	*pmi = bounds.index >= bounds.threshold;
	wrap(thread, &bounds, layout->bts_bytes);
	if (write_index(core, lp, layout, &bounds)) {
		publish(thread, &bounds, layout->bts_bytes);
		return;
	}
	*pmi = false;
	bts_headroom(core, lp);
}
