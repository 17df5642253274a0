/* SPDX-License-Identifier: MIT */
/*
 * counting.c: the units of the thread and the operating system they see: each has a
 * driver that programs it through its MSRs and whose service routine takes the
 * interrupt; samples go to the ring.
 *
 * Events that do not fit the counters of one unit go to another one that sees the same
 * instructions, so nothing is multiplexed and every count is exact.
 *
 * Bulk code charges the meters a few instructions late, so while it runs a reserve of
 * each headroom is kept back.  Careful code charges them first: there a reserve is needed only for
 * what the outcome of a branch adds.
 */
#include <asm/unistd.h>

#include <softpmu/softpmu.h>

#include "path.h"
#include "sys.h"

#define CAREFUL_ROOM 128	 /* with less, careful code runs if there is some */
#define LANES_ROOM   128	 /* with less, nothing is learnt of the use of lanes */
#define WEIGHT_LEAST 8		 /* of a lane; the others have up to 2^13 */
#define DS_BYTES     (16u << 10) /* some 70 records: they stay in the first-level cache */
/* The driver leaves 64 records between the threshold and the end of the BTS buffer: the
 * threshold is where the pages end that the unit may write. */
#define BTS_BYTES (LINK_TRACE_BYTES + 64 * LOG_RECORD_BYTES)
#define LVT_NMI	  0x400u /* delivery mode of the service routine, as kernels use */

struct unit {
	struct spmu_core *core;
	struct spmu_meters meters;
	struct spmu_driver driver;
	uint64_t ds_linear;
	bool interrupt_due;
};

unsigned units;
uint64_t meter_signals[LANED_METERS];
unsigned meters;

/* In bulk mode a unit's headroom stands in the lanes. */
static struct {
	struct spmu_meter *unit;
	int64_t reserve; /* kept back in the present mode */
	int64_t granted[LANES];
	uint64_t used[LANES]; /* lately: how the next grant is shared out */
} meter[LANED_METERS];

static struct unit unit[UNITS_MAX];
static struct {
	uint8_t unit;
	uint8_t slot;
	uint64_t last_tsc;
	uint64_t period;
	uint64_t seen;	    /* its count when counting_note() looked */
	uint64_t published; /* what of its count the tool has been told */
} event[LINK_EVENTS_MAX];
static enum counting_mode mode;
static bool wants_address;
static uint64_t now_next_ip; /* of the instruction that is being retired */
static uint64_t start_tsc, start_ns;
static const struct spmu_model *model;

static uint64_t now_ns(void)
{
	struct {
		int64_t s, ns;
	} t = {0, 0};

	syscall2(__NR_clock_gettime, 1 /* CLOCK_MONOTONIC */, (long)&t);
	return (uint64_t)t.s * 1000000000u + (uint64_t)t.ns;
}

/* --- what the unit asks of its host --- */

static bool in_ds(const struct unit *u, uint64_t linear, size_t bytes)
{
	return (linear >= u->ds_linear && linear - u->ds_linear <= DS_BYTES &&
		bytes <= DS_BYTES - (linear - u->ds_linear)) ||
	       branches_in_buffer(linear, bytes);
}

static bool host_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	(void)lp;
	if (!in_ds(opaque, linear, bytes))
		return false;
	memcpy(to, (const void *)linear, bytes);
	return true;
}

static bool host_write(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	(void)lp;
	if (!in_ds(opaque, linear, bytes))
		return false;
	memcpy((void *)linear, from, bytes);
	return true;
}

static void host_pmi(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct unit *u = opaque;

	(void)lp;
	(void)pmi;
	u->interrupt_due = true;
}

static uint64_t host_tsc(void *opaque, unsigned lp)
{
	(void)opaque;
	(void)lp;
	return read_tsc();
}

static void host_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	const uint64_t *g = context->gpr;

	(void)opaque;
	(void)lp;
	*out = (struct spmu_registers){
		.rflags = context->rflags,
		.rip = now_next_ip,
		.rax = g[0],
		.rcx = g[1],
		.rdx = g[2],
		.rbx = g[3],
		.rsp = g[4],
		.rbp = g[5],
		.rsi = g[6],
		.rdi = g[7],
		.r8 = g[8],
		.r9 = g[9],
		.r10 = g[10],
		.r11 = g[11],
		.r12 = g[12],
		.r13 = g[13],
		.r14 = g[14],
		.r15 = g[15],
	};
}

/* --- the port through which the driver sees the unit --- */

static bool port_rdmsr(void *opaque, uint32_t msr, uint64_t *value)
{
	struct unit *u = opaque;

	return spmu_read_msr(u->core, 0, msr, value) == SPMU_DONE;
}

static bool port_wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	struct unit *u = opaque;

	return spmu_write_msr(u->core, 0, msr, value) == SPMU_DONE;
}

static void port_cpuid(void *opaque, uint32_t leaf, uint32_t subleaf, struct spmu_cpuid *regs)
{
	struct unit *u = opaque;

	*regs = (struct spmu_cpuid){0};
	if (leaf == 0)
		regs->eax = 0x16;
	spmu_cpuid(u->core, leaf, subleaf, regs);
}

static uint32_t port_map_interrupt(void *opaque)
{
	(void)opaque;
	return LVT_NMI;
}

static void port_write_lvt(void *opaque, uint32_t value)
{
	struct unit *u = opaque;

	spmu_write_lvt(u->core, 0, value);
}

static void port_interrupted(void *opaque, struct spmu_registers *regs, uint64_t *tsc)
{
	host_registers(opaque, 0, regs);
	*tsc = read_tsc();
}

/* --- samples --- */

/* Samples a second: aim the next period at the time between samples, no more than a factor of
 * eight at once, as the first periods are guesses. */
static void adapt_period(unsigned e, uint64_t tsc)
{
	uint64_t elapsed = tsc - event[e].last_tsc, ticks = tsc - start_tsc;
	uint64_t ns = now_ns() - start_ns, period = event[e].period, wanted, next;

	event[e].last_tsc = tsc;
	if (!elapsed || ns < 1000)
		return;
	wanted = (uint64_t)((unsigned __int128)ticks * 1000000000u / ns /
			    engine_link->event[e].frequency);
	next = (uint64_t)((unsigned __int128)period * wanted / elapsed);
	if (next > period * 8)
		next = period * 8;
	if (next < period / 8)
		next = period / 8;
	next = (period + next) / 2;
	if (next < 16)
		next = 16;
	if (next > UINT64_C(1) << 40)
		next = UINT64_C(1) << 40;
	if (spmu_driver_set_period(&unit[event[e].unit].driver, event[e].slot, next) == SPMU_OK)
		event[e].period = next;
}

/* Whether a branch was predicted nobody knows here: neither flag is set. */
static uint64_t branch_flags(const struct spmu_branch *branch)
{
	return (branch->flags & SPMU_BRANCH_MISPREDICTED ? 1u : 0) |
	       (branch->flags & SPMU_BRANCH_IN_TX ? 1u << 2 : 0) |
	       (branch->flags & SPMU_BRANCH_ABORT ? 1u << 3 : 0) | (branch->cycles & 0xffffu) << 4;
}

static void take_sample(void *opaque, const struct spmu_sample *sample)
{
	const struct spmu_pebs_record *r = sample->record;
	struct {
		struct link_sample s;
		uint64_t rest[LINK_REGISTERS + 3 * SPMU_LBR_DEPTH_MAX];
	} out;
	uint64_t *at = out.rest;

	out.s = (struct link_sample){
		.header.type = LINK_REC_SAMPLE,
		.branches = (uint16_t)sample->branch_count,
		.pid = engine_pid,
		.tid = engine_pid,
		.event = sample->tag,
		/* Formats before 2 know only where execution went on. */
		.precise = sample->precise && r->eventing_ip,
		.tsc = sample->tsc,
		.ip = sample->ip,
		.period = sample->period,
		.data_address = r->data_address,
	};
	if (engine_link->want & LINK_WANT_REGS) {
		_Static_assert(sizeof(r->regs) == 8 * LINK_REGISTERS, "in the same order");
		memcpy(at, &r->regs, sizeof(r->regs));
		at += LINK_REGISTERS;
		out.s.registers = LINK_REGISTERS;
	}
	for (unsigned i = 0; i < sample->branch_count; i++) {
		*at++ = sample->branches[i].from;
		*at++ = sample->branches[i].to;
		*at++ = branch_flags(&sample->branches[i]);
	}
	out.s.header.bytes = (uint32_t)((uint64_t)at - (uint64_t)&out);
	(void)opaque;
	ring_write(&out.s.header);
	if (engine_link->event[sample->tag].frequency)
		adapt_period(sample->tag, sample->tsc);
}

/* --- the list of meters --- */

/* Take over the units' lists; true when they are not those that code was translated for. */
static bool refresh_meters(void)
{
	unsigned n = 0;
	bool same = true;

	for (unsigned u = 0; u < units; u++)
		for (unsigned i = 0; i < unit[u].meters.count; i++) {
			struct spmu_meter *m = &unit[u].meters.meter[i];

			if (!(m->rings & SPMU_RINGX))
				continue;
			same = same && n < meters && meter_signals[n] == m->signals;
			meter_signals[n] = m->signals;
			meter[n++].unit = m;
		}
	same = same && n == meters;
	meters = n;
	return !same;
}

/*
 * Share `room` among the lanes by what they used lately, in fractions of 2^16: one short division,
 * as a long one for each lane would cost more than the rest of the exit.
 */
static void share_out(unsigned m, int64_t room)
{
	int64_t *lane = context->lane[m], left = room;
	uint32_t sum = 0, weight[LANES], inverse;
	uint64_t most = 0;
	unsigned shift;

	for (unsigned i = 0; i < LANES; i++)
		most |= meter[m].used[i];
	shift = most >> 12 ? 52 - (unsigned)__builtin_clzll(most) : 0;
	for (unsigned i = 0; i < LANES; i++)
		sum += weight[i] = (uint32_t)(meter[m].used[i] >> shift) + WEIGHT_LEAST;
	inverse = (1u << 31) / sum;
	for (unsigned i = 0; i < LANES; i++) {
		lane[i] =
			room * (int64_t)(weight[i] * inverse >> 15) >> 16; /* room is below 2^47 */
		left -= lane[i];
	}
	lane[0] += left;
	memcpy(meter[m].granted, lane, sizeof(meter[m].granted));
}

/* Little room: n for one lane and as much as the others get. */
static void share_evenly(unsigned m, unsigned lane, unsigned n, int64_t room)
{
	int64_t each = (room - n) / LANES;

	for (unsigned i = 0; i < LANES; i++)
		context->lane[m][i] = each;
	context->lane[m][lane] = room - each * (LANES - 1);
	memcpy(meter[m].granted, context->lane[m], sizeof(meter[m].granted));
}

static void grant_first(unsigned m, int64_t room)
{
	memset(context->lane[m], 0, sizeof(context->lane[m]));
	context->lane[m][0] = room;
}

/* What may happen without being charged, at the most: the instructions before a block's check; in
 * careful code the outcome of a branch. */
static int64_t reserve_of(uint64_t signals, enum counting_mode in)
{
	unsigned each = 0;

	if (in == COUNTING_PRECISE)
		return 0;
	if (in == COUNTING_CAREFUL)
		return (signals & COND_SIGNALS) && (signals & COND_SIGNALS) != COND_SIGNALS;
	if (!(signals & ~SPMU_SIGSET_BRANCHES))
		return CHECK_INSNS_MAX; /* one kind of branch an instruction */
	for (; signals; signals &= signals - 1)
		each++;
	return (int64_t)each * CHECK_INSNS_MAX;
}

static int64_t room_of(unsigned m)
{
	int64_t room = 0;

	for (unsigned i = 0; i < LANES; i++)
		room += context->lane[m][i];
	return room;
}

/* Notes what each lane has used. */
static void learn(unsigned m)
{
	for (unsigned i = 0; i < LANES; i++) {
		int64_t used = meter[m].granted[i] - context->lane[m][i];

		meter[m].used[i] = meter[m].used[i] / 8 + (used > 0 ? (uint64_t)used : 0);
	}
}

bool counting_rebalance(unsigned m, unsigned lane, unsigned n)
{
	int64_t room = room_of(m);

	if (room < (int64_t)n)
		return false;
	if (room >= LANES_ROOM) {
		learn(m);
		share_out(m, room);
	}
	if (context->lane[m][lane] < n)
		share_evenly(m, lane, n, room);
	return true;
}

bool counting_low(void)
{
	for (unsigned m = 0; m < meters; m++)
		if (room_of(m) < CAREFUL_ROOM)
			return true;
	return false;
}

void counting_mode(enum counting_mode to)
{
	if (to == mode)
		return;
	if (to == COUNTING_PRECISE)
		branches_take();
	else if (mode == COUNTING_PRECISE)
		branches_resume();
	if (mode == COUNTING_PRECISE && refresh_meters())
		blocks_flush();
	for (unsigned m = 0; m < meters; m++) {
		int64_t room = meter[m].reserve;

		room += mode == COUNTING_PRECISE ? meter[m].unit->headroom : room_of(m);
		if (mode == COUNTING_BULK && room >= LANES_ROOM)
			learn(m);
		meter[m].reserve = reserve_of(meter_signals[m], to);
		room -= meter[m].reserve;
		if (to == COUNTING_PRECISE)
			meter[m].unit->headroom = room;
		else if (to == COUNTING_CAREFUL)
			grant_first(m, room);
		else if (room >= LANES_ROOM)
			share_out(m, room);
		else
			share_evenly(m, 0, 0, room);
	}
	mode = to;
}

bool counting_bulk_possible(void)
{
	if (mode != COUNTING_PRECISE) {
		for (unsigned m = 0; m < meters; m++)
			if (room_of(m) < 0)
				return false;
		return true;
	}
	/* The service routine may have changed the lists. */
	for (unsigned u = 0; u < units; u++)
		for (unsigned i = 0; i < unit[u].meters.count; i++) {
			const struct spmu_meter *m = &unit[u].meters.meter[i];

			if (m->rings & SPMU_RINGX &&
			    m->headroom < reserve_of(m->signals, COUNTING_BULK))
				return false;
		}
	return true;
}

bool counting_wants_address(uint64_t signals)
{
	return wants_address && signals & (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
}

void counting_interrupts(void)
{
	for (unsigned u = 0; u < units; u++)
		while (unit[u].interrupt_due) {
			unit[u].interrupt_due = false;
			spmu_driver_interrupt(&unit[u].driver);
		}
}

void counting_retire(uint64_t ip, uint64_t next_ip, uint64_t signals, uint64_t data_address)
{
	struct spmu_insn insn = {
		.ip = ip,
		.next_ip = signals & SPMU_SIGBIT(FAR) ? 0 : next_ip,
		.signals = signals,
		.data_address = data_address,
		.cycles = 1,
		.cpl = 3,
	};

	now_next_ip = next_ip;
	for (unsigned u = 0; u < units; u++)
		spmu_retire(unit[u].core, 0, &insn);
	counting_interrupts();
}

void counting_drain(void)
{
	enum counting_mode before = mode;

	counting_mode(COUNTING_PRECISE);
	for (unsigned u = 0; u < units; u++) {
		if (!unit[u].driver.running)
			continue;
		if (spmu_driver_stop(&unit[u].driver) != SPMU_OK)
			continue;
		spmu_driver_drain(&unit[u].driver);
		if (spmu_driver_start(&unit[u].driver) != SPMU_OK)
			engine_unsupported("the unit did not start again");
	}
	counting_mode(before);
}

/* Several processes may do so at a time. */
static void publish(void)
{
	for (unsigned e = 0; e < engine_link->events && children_observed; e++) {
		uint64_t n = spmu_driver_read(&unit[event[e].unit].driver, event[e].slot);

		__atomic_add_fetch(&engine_link->count[e], n - event[e].published,
				   __ATOMIC_RELAXED);
		event[e].published = n;
	}
}

void counting_publish(void)
{
	enum counting_mode before = mode;

	counting_drain();
	counting_mode(COUNTING_PRECISE);
	publish();
	counting_mode(before);
}

void counting_skip(void)
{
	enum counting_mode before = mode;

	counting_mode(COUNTING_PRECISE);
	for (unsigned e = 0; e < engine_link->events; e++)
		event[e].published += spmu_driver_read(&unit[event[e].unit].driver, event[e].slot) -
				      event[e].seen;
	counting_mode(before);
}

void counting_note(void)
{
	enum counting_mode before = mode;

	counting_mode(COUNTING_PRECISE);
	for (unsigned e = 0; e < engine_link->events; e++)
		event[e].seen = spmu_driver_read(&unit[event[e].unit].driver, event[e].slot);
	counting_mode(before);
}

enum counting_mode counting_mode_now(void)
{
	return mode;
}

void counting_begin_again(void)
{
	enum counting_mode before = mode;

	memset(unit, 0, sizeof(unit));
	for (unsigned m = 0; m < meters; m++)
		meter[m].reserve = 0;
	memset(event, 0, sizeof(event));
	units = 0;
	branches_begin_again();
	counting_start();
	counting_mode(before);
}

void counting_finish(void)
{
	counting_mode(COUNTING_PRECISE);
	if (children_is_first())
		engine_link->tsc_end = read_tsc();
	for (unsigned u = 0; u < units; u++) {
		if (unit[u].driver.running && spmu_driver_stop(&unit[u].driver) == SPMU_OK)
			spmu_driver_drain(&unit[u].driver);
		__atomic_add_fetch(&engine_link->interrupts, unit[u].driver.interrupts,
				   __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->records, unit[u].driver.records, __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->buffer_full, unit[u].driver.buffer_full,
				   __ATOMIC_RELAXED);
	}
	publish();
	engine_link->units = units;
}

/* --- set-up --- */

static void unit_new(unsigned records_per_interrupt)
{
	struct unit *u = &unit[units];
	struct spmu_core_config config = {
		.model = model,
		.threads = engine_link->threads,
		.meters = {&u->meters, engine_memory(sizeof(struct spmu_meters))},
	};
	struct spmu_host host = {
		.opaque = u,
		.read = host_read,
		.write = host_write,
		.pmi = host_pmi,
		.tsc = host_tsc,
		.registers = host_registers,
		.supply = {SPMU_SIGSET_ARCHITECTURAL, 0},
	};
	struct spmu_port port = {u,
				 port_rdmsr,
				 port_wrmsr,
				 port_cpuid,
				 port_map_interrupt,
				 port_write_lvt,
				 port_interrupted};
	struct spmu_driver_memory area = {
		.bytes = DS_BYTES,
		.records_per_interrupt = records_per_interrupt,
	};
	void *memory = engine_memory(spmu_core_bytes());

	if (units == UNITS_MAX)
		engine_fail(125, "too many events for the units that one run can have");
	if (spmu_core_create(memory, spmu_core_bytes(), &config, &host, &u->core) != SPMU_OK ||
	    spmu_driver_detect(&u->driver, &port, model) != SPMU_OK)
		engine_fail(125, "the unit cannot be created");
	spmu_set_ia32e(u->core, 0, true);
	if (units == 0 && branches_buffer()) {
		area.bts_linear = branches_buffer();
		area.bts_memory = (void *)area.bts_linear;
		area.bts_bytes = BTS_BYTES;
	}
	area.memory = engine_memory(DS_BYTES);
	u->ds_linear = area.linear = (uint64_t)area.memory;
	if ((u->driver.facilities.pebs || area.bts_bytes) &&
	    spmu_driver_setup_ds(&u->driver, &area) != SPMU_OK)
		engine_fail(125, "the DS save area cannot be set up");
	spmu_driver_set_sink(&u->driver, take_sample, u);
	spmu_driver_set_bts_sink(&u->driver, branches_to_tool, u);
	if (engine_link->want & LINK_WANT_LBR &&
	    spmu_driver_enable_lbr(&u->driver, engine_link->lbr_select) != SPMU_OK)
		engine_fail(125, "the model cannot record last branches in this way");
	units++;
}

static bool place_event(unsigned e, unsigned u)
{
	const struct link_event *asked = &engine_link->event[e];
	struct spmu_request request = {
		.select = asked->select,
		.counters = asked->counters,
		.fixed = (int8_t)asked->fixed,
		.period = asked->frequency ? 20000 : asked->period,
		.precise = asked->precise != 0,
		.tag = e,
	};
	enum spmu_status status;
	unsigned slot;

	status = spmu_driver_add(&unit[u].driver, &request, &slot);
	if (status == SPMU_E_COUNTER)
		return false;
	if (status != SPMU_OK)
		engine_fail(125, spmu_status_text(status));
	event[e].unit = (uint8_t)u;
	event[e].slot = (uint8_t)slot;
	event[e].period = request.period;
	return true;
}

void counting_start(void)
{
	unsigned records = 0;

	model = spmu_model_find(engine_link->model);
	if (!model)
		engine_fail(125, "no such model");
	for (unsigned e = 0; e < engine_link->events; e++) {
		if (engine_link->event[e].frequency)
			records = 1; /* the period follows each sample */
		if (engine_link->event[e].period || engine_link->event[e].frequency)
			wants_address = true;
	}
	mode = COUNTING_PRECISE;
	unit_new(records);
	for (unsigned e = 0; e < engine_link->events; e++) {
		unsigned u = 0;

		while (u < units && !place_event(e, u))
			u++;
		if (u == units) {
			unit_new(records);
			if (!place_event(e, u))
				engine_fail(125, "no counter of the model can count the event");
		}
	}
	for (unsigned u = 0; u < units; u++)
		if (spmu_driver_start(&unit[u].driver) != SPMU_OK)
			engine_fail(125, "the unit does not start");
	if (branches_buffer() && spmu_driver_start_bts(&unit[0].driver, true, false) != SPMU_OK)
		engine_fail(125, "the model cannot store a branch trace of the program alone");
	for (unsigned u = 0; u < units; u++)
		branches_add(unit[u].core, &unit[u].meters.tap);
	branches_start();
	start_tsc = read_tsc();
	start_ns = now_ns();
	for (unsigned e = 0; e < engine_link->events; e++)
		event[e].last_tsc = start_tsc;
	if (!engine_link->tsc_start)
		engine_link->tsc_start = start_tsc;
	counting_mode(COUNTING_BULK);
}
