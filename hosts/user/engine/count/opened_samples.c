/* SPDX-License-Identifier: MIT */
/*
 * opened_samples.c: samples of opened events, from the driver's service routine to the ring.
 *
 * The routine runs at a boundary between two instructions, directly after the one that made the
 * record.  So the stack and the call chain are those of the record.
 */
#include "engine/count/opened_samples.h"

#include <hosts/user/data_source.h>
#include <hosts/user/decode/decode.h>
#include <hosts/user/perf_event/perf_branches.h>
#include <hosts/user/perf_event/perf_read.h>
#include <linux/time.h>
#include <softpmu/softpmu.h>

#include "engine/count/event_set.h"
#include "engine/count/opened_ring.h"
#include "engine/count/opened_table.h"
#include "engine/count/opened_task.h"
#include "engine/count/opened_wake.h"
#include "engine/count/samples.h"
#include "engine/count/stack.h"
#include "engine/count/units.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define CODE_SEGMENT   0x33 /* selectors of 64-bit programs */
#define STACK_SEGMENT  0x2b
#define CLOCK_LEAST_NS 10000u
#define SECOND_NS      UINT64_C(1000000000)
#define READ_WORDS     (5 + 3 * (LINK_OPENED_MAX + 1))

/* Room for one sample of the running task. */
struct opened_room {
	uint64_t record[PERF_SAMPLE_MOST / sizeof(uint64_t)];
	uint64_t chain[PERF_MAX_STACK_DEPTH + 1];
	uint64_t read[READ_WORDS];
	uint64_t registers[PERF_SAMPLE_REGISTERS];
	struct perf_branch_entry branch[SPMU_LBR_DEPTH_MAX];
};

static const struct spmu_model *model_of_run(void)
{
	return current->counting->unit[0].model;
}

enum spmu_status opened_samples_add(struct opened_event *e, struct spmu_request *request,
				    unsigned *number)
{
	struct counting *c = current->counting;
	const struct perf_event_attr *attr = &opened_task_event(e)->attr;
	uint64_t select;

	if (!current->opened->room)
		current->opened->room = heap_allocate(sizeof(*current->opened->room));
	e->least = samples_least_period(model_of_run(), request->code);
	if (attr->freq && request->period < e->least)
		request->period = e->least;
	e->period = request->period;
	e->last_tsc = read_tsc();
	e->last_ns = opened_task_time();
	request->tag = OPENED_TAG | e->place;
	c->samples = true;
	c->addresses |= request->precise && samples_tell_address(model_of_run(), request->code);
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    !perf_branches_select(model_of_run(), attr, &select))
		return event_set_add_with_branches(&c->set, request, select, number);
	return event_set_add(&c->set, request, NULL, number);
}

/* --- the parts of a sample --- */

/* In the order of asm/perf_regs.h. */
static void take_registers(const struct spmu_registers *r, uint64_t ip, uint64_t *to)
{
	const uint64_t all[PERF_SAMPLE_REGISTERS] = {
		r->rax, r->rbx,	   r->rcx,	 r->rdx,	r->rsi, r->rdi, r->rbp, r->rsp,
		ip,	r->rflags, CODE_SEGMENT, STACK_SEGMENT, 0,	0,	0,	0,
		r->r8,	r->r9,	   r->r10,	 r->r11,	r->r12, r->r13, r->r14, r->r15,
	};

	memcpy(to, all, sizeof(all));
}

static size_t take_chain(uint64_t ip, uint64_t frame, const struct perf_event_attr *attr,
			 uint64_t *chain)
{
	unsigned most = attr->sample_max_stack < PERF_MAX_STACK_DEPTH ? attr->sample_max_stack
								      : PERF_MAX_STACK_DEPTH;

	chain[0] = PERF_CONTEXT_USER;
	return 1 + stack_walk(ip, frame, most ? most : 1, chain + 1);
}

/* Returns the kind of the branch at an address; 0: it is not known. */
static uint64_t kind_of(uint64_t from)
{
	struct insn insn;
	size_t bytes = INSN_BYTES_MAX;

	while (bytes && !access_readable(from, bytes))
		bytes--;
	if (!bytes || !insn_decode((const uint8_t *)from, bytes, from, &insn))
		return 0;
	if (insn.kind == INSN_JCC || insn.kind == INSN_JCXZ)
		return SPMU_SIGBIT(COND_TAKEN);
	return insn.signals & SPMU_SIGSET_BRANCHES;
}

static size_t take_branches(const struct perf_event_attr *attr, const struct spmu_sample *sample,
			    struct perf_branch_entry *to)
{
	bool look = perf_branches_need_kind(model_of_run(), attr);
	size_t n = 0;

	for (unsigned i = 0; i < sample->branch_count && n < SPMU_LBR_DEPTH_MAX; i++) {
		const struct spmu_branch *b = &sample->branches[i];

		n += perf_branches_take(attr, b->from, b->to,
					samples_branch_flags(model_of_run(), b),
					look ? kind_of(b->from) : 0, &to[n]);
	}
	return n;
}

/* What the task and others have counted of the event until now. */
static struct perf_value value_of(const struct opened_event *e, uint64_t now)
{
	const struct link_open *event = opened_task_event(e);

	return (struct perf_value){.count = event->count + event->ended +
					    opened_task_count(e, now) - e->published,
				   .id = e->serial,
				   .lost = event->lost};
}

/* The event, or its group, as read(2) gives it.  Returns the number of words. */
static size_t take_read(const struct opened_event *e, uint64_t *to)
{
	uint64_t format = opened_task_event(e)->attr.read_format, now = opened_task_time();
	struct perf_value value[LINK_OPENED_MAX + 1];
	const struct link_open *event = opened_task_event(e);
	struct perf_times times = e->times;
	unsigned n = 0;

	perf_state_advance(&times, now);
	if (!(format & PERF_FORMAT_GROUP))
		value[n++] = value_of(e, now);
	for (unsigned i = 0; format & PERF_FORMAT_GROUP && i < current->opened->count; i++) {
		const struct opened_event *other = &current->opened->event[i];

		if (opened_task_event(other)->leader == event->leader && !other->gone)
			value[n++] = value_of(other, now);
	}
	perf_read_write(to, format, event->enabled_ns + times.enabled_ns,
			event->running_ns + times.running_ns, value, n);
	return perf_read_bytes(format, n - 1) / sizeof(uint64_t);
}

static uint64_t weight_of(const struct perf_event_attr *attr, const struct spmu_pebs_record *r)
{
	if (attr->sample_type & PERF_SAMPLE_WEIGHT_STRUCT)
		return r->latency & UINT32_MAX; /* var1_dw */
	return r->latency;
}

static void fill(const struct opened_event *e, const struct spmu_sample *sample,
		 struct opened_room *room, struct perf_sample *out)
{
	const struct link_open *event = opened_task_event(e);
	const struct perf_event_attr *attr = &event->attr;
	const struct spmu_pebs_record *r = sample->record;
	const struct spmu_event *row = spmu_event_by_code(model_of_run(), event->request.code);
	bool told = sample->precise && r->eventing_ip && attr->precise_ip > 1;

	*out = (struct perf_sample){
		.of = opened_ring_id(e),
		.ip = told || !sample->precise ? sample->ip : r->regs.rip,
		.exact = told,
		.address = r->data_address,
		.period = sample->period,
		.weight = weight_of(attr, r),
		.read = room->read,
		.chain = room->chain,
		.branch = room->branch,
		.registers = room->registers,
		.copy = stack_copy,
	};
	out->data_source = data_source_of(sample->precise ? row : NULL, (uint32_t)r->data_source);
	take_registers(&r->regs, out->ip, room->registers);
	if (attr->sample_type & PERF_SAMPLE_READ)
		out->read_words = take_read(e, room->read);
	if (attr->sample_type & PERF_SAMPLE_CALLCHAIN && !attr->exclude_callchain_user)
		out->chain_words = take_chain(out->ip, r->regs.rbp, attr, room->chain);
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		out->branches = take_branches(attr, sample, room->branch);
}

/* --- a sample --- */

static void adapt_period(struct opened_event *e, uint64_t tsc, uint64_t passed)
{
	struct counting *c = current->counting;
	struct samples_rate rate = {
		.frequency = opened_task_event(e)->attr.sample_freq,
		.period = e->period,
		.least = e->least,
		.passed = passed,
		.elapsed = tsc - e->last_tsc,
		.ticks = tsc - c->start_tsc,
		.ns = sys_clock_ns(CLOCK_MONOTONIC) - c->start_ns,
	};

	e->last_tsc = tsc;
	e->period = samples_next_period(&rate);
	(void)event_set_period(&c->set, e->number, e->period);
}

/* The kernel's clocks have a shortest period, too. */
static uint64_t clock_period(const struct perf_event_attr *attr)
{
	return attr->sample_period > CLOCK_LEAST_NS ? attr->sample_period : CLOCK_LEAST_NS;
}

/* Adapts the number of instructions between two samples of a clock.  Returns the time since the
 * last one. */
static uint64_t adapt_clock(struct opened_event *e, uint64_t instructions)
{
	const struct perf_event_attr *attr = &opened_task_event(e)->attr;
	uint64_t now = opened_task_time(), passed = now - e->last_ns;
	struct samples_rate rate = {
		.frequency = attr->freq ? attr->sample_freq : 1,
		.period = e->period,
		.least = e->least,
		.passed = instructions,
		.elapsed = passed,
		.ticks = attr->freq ? SECOND_NS : clock_period(attr),
		.ns = SECOND_NS,
	};

	e->last_ns = now;
	e->period = samples_next_period(&rate);
	(void)event_set_period(&current->counting->set, e->number, e->period);
	return passed;
}

/* The event is switched off after so many overflows (PERF_EVENT_IOC_REFRESH).  The task does that
 * before its next instruction. */
static void count_down(unsigned place)
{
	struct link_open *event = &engine_link->open[place];

	if (!event->limit)
		return;
	opened_lock();
	if (event->limit && !--event->limit) {
		event->hangs = 1;
		opened_switch(place, false);
		__atomic_add_fetch(&engine_link->changes, 1, __ATOMIC_SEQ_CST);
	}
	opened_unlock();
}

static struct opened_event *find(uint32_t place)
{
	for (unsigned i = 0; i < current->opened->count; i++)
		if (current->opened->event[i].place == place && current->opened->event[i].added)
			return &current->opened->event[i];
	return NULL;
}

void opened_samples_take(const struct spmu_sample *unit)
{
	struct opened_event *e = find(unit->tag & ~OPENED_TAG);
	struct spmu_sample taken = *unit, *sample = &taken;
	struct perf_sample out;

	if (!e || opened_task_event(e)->serial != e->serial)
		return;
	if (opened_task_event(e)->request.software)
		taken.period = adapt_clock(e, unit->period);
	if (opened_ring_has(e)) {
		struct opened_room *room = current->opened->room;

		fill(e, sample, room, &out);
		opened_ring_write(
			e, &out.of, room->record,
			perf_sample_write(room->record, &opened_task_event(e)->attr, &out));
	}
	count_down(e->place);
	if (opened_task_event(e)->signals)
		opened_wake(e->place);
	if (opened_task_event(e)->attr.freq && !opened_task_event(e)->request.software)
		adapt_period(e, sample->tsc, sample->period);
}
