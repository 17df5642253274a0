/* SPDX-License-Identifier: MIT */
/*
 * ring.c: writes records for the tool.  When the ring is full the program waits.  Nothing is
 * dropped while the tool reads.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/futex.h>

#include "engine/count/count.h"
#include "engine/rt/context.h"
#include "engine/rt/descriptor_table.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define MASK	   (LINK_RING_BYTES - 1)
#define TURN_WAITS 20000 /* of 0.1 ms */

/* Returns whether the tool still reads. */
static bool is_read(void)
{
	return !__atomic_load_n(&engine_link->tool_gone, __ATOMIC_ACQUIRE) &&
	       (descriptor_table_is_used(
			current->descriptors) || /* its number may have another meaning here */
		syscall2(__NR_kill, engine_link->tool_pid, 0) != -ESRCH);
}

/*
 * Processes take turns.  A turn is a copy of a few bytes and contains no wait.  A turn that
 * takes too long belongs to a process that was killed.
 */
static void take_turn(void)
{
	uint32_t *word = &engine_link->writer, owner = 0;
	long pause[2] = {0, 100000};
	unsigned waits = 0;

	while (!__atomic_compare_exchange_n(word, &owner, current->tid, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (waits++ < TURN_WAITS) {
			syscall4(__NR_futex, (long)word, FUTEX_WAIT, owner, (long)pause);
			owner = 0;
		}
	}
}

static void end_turn(void)
{
	__atomic_store_n(&engine_link->writer, 0, __ATOMIC_RELEASE);
}

void ring_end_turn_of(uint32_t tid)
{
	__atomic_compare_exchange_n(&engine_link->writer, &tid, 0, false, __ATOMIC_RELEASE,
				    __ATOMIC_RELAXED);
}

bool ring_wait(uint32_t *word, uint32_t value)
{
	long timeout[2] = {0, 100000000};

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) {
		if (!is_read())
			return false;
		engine_wake_tool();
		syscall4(__NR_futex, (long)word, FUTEX_WAIT, value, (long)timeout);
	}
	return true;
}

static bool has_room(uint64_t bytes)
{
	const struct link *l = engine_link;

	return __atomic_load_n(&l->head, __ATOMIC_ACQUIRE) + bytes -
		       __atomic_load_n(&l->tail, __ATOMIC_SEQ_CST) <=
	       LINK_RING_BYTES;
}

/* Sleeps until the tool reads more.  Returns false if it does not read. */
static bool wait_for_tail(bool (*is_enough)(uint64_t number), uint64_t number)
{
	struct link *l = engine_link;

	while (!is_enough(number)) {
		uint32_t seen = __atomic_load_n(&l->tail_futex, __ATOMIC_SEQ_CST);
		long timeout[2] = {0, 100000000};

		if (!is_read())
			return false;
		__atomic_store_n(&l->engine_waits, 1, __ATOMIC_SEQ_CST);
		engine_wake_tool();
		if (!is_enough(number))
			syscall4(__NR_futex, (long)&l->tail_futex, FUTEX_WAIT, seen, (long)timeout);
		__atomic_store_n(&l->engine_waits, 0, __ATOMIC_SEQ_CST);
	}
	return true;
}

static bool has_read(uint64_t head)
{
	return (int64_t)(__atomic_load_n(&engine_link->tail, __ATOMIC_SEQ_CST) - head) >= 0;
}

void ring_settle(void)
{
	wait_for_tail(has_read, __atomic_load_n(&engine_link->head, __ATOMIC_SEQ_CST));
}

bool ring_is_mute(void)
{
	return !current->observed || engine_link->want & LINK_WANT_NO_RECORDS;
}

void ring_write(const struct link_record *record)
{
	struct link *l = engine_link;
	uint32_t at, first;
	uint64_t used;

	if (ring_is_mute())
		return;
	take_turn();
	while (!has_room(record->bytes)) {
		end_turn();
		if (!wait_for_tail(has_room, record->bytes))
			return;
		take_turn();
	}
	at = (uint32_t)l->head & MASK;
	first = LINK_RING_BYTES - at < record->bytes ? LINK_RING_BYTES - at : record->bytes;
	used = l->head - __atomic_load_n(&l->tail, __ATOMIC_RELAXED);
	memcpy(l->ring + at, record, first);
	memcpy(l->ring, (const uint8_t *)record + first, record->bytes - first);
	__atomic_store_n(&l->head, l->head + record->bytes, __ATOMIC_RELEASE);
	end_turn();
	/* Wakes the tool when there is enough to read, not for each record. */
	if (used < LINK_RING_BYTES / 4 && used + record->bytes >= LINK_RING_BYTES / 4)
		engine_wake_tool();
}
