/* SPDX-License-Identifier: MIT */
/*
 * counting.c: the units of a thread and the operating system they see: each has a
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
#include <linux/mman.h>

#include <softpmu/softpmu.h>

#include "path.h"
#include "sys.h"
#include "threads.h"

#define CAREFUL_ROOM 128	 /* with less, careful code runs if there is some */
#define LANES_ROOM   128	 /* with less, nothing is learnt of the use of lanes */
#define WEIGHT_LEAST 8		 /* of a lane; the others have up to 2^13 */
#define DS_BYTES     (16u << 10) /* some 70 records: they stay in the first-level cache */
#define MSR_EFER     0xc0000080u /* the program runs in IA-32e mode */
#define EFER_LMA     0x500u
#define LVT_NMI	     0x400u /* delivery mode of the service routine, as kernels use */

struct unit {
	struct spmu_core *core;
	struct spmu_meters meters;
	struct spmu_driver driver;
	bool interrupt_due;
	/* Stays when the unit is made anew. */
	struct {
		void *core;
		struct spmu_meters *sibling;
		uint8_t *ds;
	} memory;
};

uint64_t meter_signals[LANED_METERS];
unsigned meters;
static bool wants_address;
static const struct spmu_model *model;

/* What a thread has of its own. */
struct counting {
	unsigned units;
	enum counting_mode mode;
	uint64_t now_next_ip; /* of the instruction that is being retired */
	uint64_t start_tsc, start_ns;
	/* In bulk mode a unit's headroom stands in the lanes. */
	struct {
		struct spmu_meter *unit;
		int64_t reserve; /* kept back in the present mode */
		int64_t granted[LANES];
		uint64_t used[LANES]; /* lately: how the next grant is shared out */
	} meter[LANED_METERS];
	struct unit unit[UNITS_MAX];
	struct {
		uint8_t unit;
		uint8_t slot;
		uint64_t last_tsc;
		uint64_t period;
		uint64_t seen;	    /* its count when counting_note() looked */
		uint64_t published; /* what of its count the tool has been told */
	} event[LINK_EVENTS_MAX];
};

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
	uint64_t ds = (uint64_t)u->memory.ds;

	return (linear >= ds && linear - ds <= DS_BYTES && bytes <= DS_BYTES - (linear - ds)) ||
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

/* A Pentium's counters have a pin each instead of an interrupt; here it is wired to one. */
static void host_pin(void *opaque, unsigned lp, unsigned number, uint64_t toggles)
{
	struct unit *u = opaque;

	(void)lp;
	(void)number;
	u->interrupt_due |= toggles != 0;
}

static uint64_t host_tsc(void *opaque, unsigned lp)
{
	(void)opaque;
	(void)lp;
	return read_tsc();
}

static void host_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	struct counting *c = current->counting;
	const uint64_t *g = current->gpr;

	(void)opaque;
	(void)lp;
	*out = (struct spmu_registers){
		.rflags = current->rflags,
		.rip = c->now_next_ip,
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

	if (msr == MSR_EFER) {
		*value = EFER_LMA;
		return true;
	}
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
		regs->eax = spmu_model_info(model).perfmon_version ? 0x16 : 2;
	if (leaf == 1)
		regs->eax = spmu_model_info(model).signature;
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
	struct counting *c = current->counting;
	uint64_t elapsed = tsc - c->event[e].last_tsc, ticks = tsc - c->start_tsc;
	uint64_t ns = now_ns() - c->start_ns, period = c->event[e].period, wanted, next;

	c->event[e].last_tsc = tsc;
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
	if (spmu_driver_set_period(&c->unit[c->event[e].unit].driver, c->event[e].slot, next) ==
	    SPMU_OK)
		c->event[e].period = next;
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
		.pid = current->pid,
		.tid = current->tid,
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
	struct counting *c = current->counting;
	unsigned n = 0;
	bool same = true;

	for (unsigned u = 0; u < c->units; u++)
		for (unsigned i = 0; i < c->unit[u].meters.count; i++) {
			struct spmu_meter *m = &c->unit[u].meters.meter[i];

			if (!(m->rings & SPMU_RINGX))
				continue;
			same = same && n < meters && meter_signals[n] == m->signals;
			meter_signals[n] = m->signals;
			c->meter[n++].unit = m;
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
	struct counting *c = current->counting;
	int64_t *lane = current->lane[m], left = room;
	uint32_t sum = 0, weight[LANES], inverse;
	uint64_t most = 0;
	unsigned shift;

	for (unsigned i = 0; i < LANES; i++)
		most |= c->meter[m].used[i];
	shift = most >> 12 ? 52 - (unsigned)__builtin_clzll(most) : 0;
	for (unsigned i = 0; i < LANES; i++)
		sum += weight[i] = (uint32_t)(c->meter[m].used[i] >> shift) + WEIGHT_LEAST;
	inverse = (1u << 31) / sum;
	for (unsigned i = 0; i < LANES; i++) {
		lane[i] =
			room * (int64_t)(weight[i] * inverse >> 15) >> 16; /* room is below 2^47 */
		left -= lane[i];
	}
	lane[0] += left;
	memcpy(c->meter[m].granted, lane, sizeof(c->meter[m].granted));
}

/* Little room: n for one lane and as much as the others get. */
static void share_evenly(unsigned m, unsigned lane, unsigned n, int64_t room)
{
	struct counting *c = current->counting;
	int64_t each = (room - n) / LANES;

	for (unsigned i = 0; i < LANES; i++)
		current->lane[m][i] = each;
	current->lane[m][lane] = room - each * (LANES - 1);
	memcpy(c->meter[m].granted, current->lane[m], sizeof(c->meter[m].granted));
}

static void grant_first(unsigned m, int64_t room)
{
	memset(current->lane[m], 0, sizeof(current->lane[m]));
	current->lane[m][0] = room;
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
		room += current->lane[m][i];
	return room;
}

/* Notes what each lane has used. */
static void learn(unsigned m)
{
	struct counting *c = current->counting;

	for (unsigned i = 0; i < LANES; i++) {
		int64_t used = c->meter[m].granted[i] - current->lane[m][i];

		c->meter[m].used[i] = c->meter[m].used[i] / 8 + (used > 0 ? (uint64_t)used : 0);
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
	if (current->lane[m][lane] < n)
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
	struct counting *c = current->counting;

	if (to == c->mode)
		return;
	if (to == COUNTING_PRECISE)
		branches_take();
	else if (c->mode == COUNTING_PRECISE)
		branches_resume();
	if (c->mode == COUNTING_PRECISE && refresh_meters()) {
		if (!threads_alone())
			engine_unsupported("internal error: units of two threads differ");
		blocks_flush();
	}
	for (unsigned m = 0; m < meters; m++) {
		int64_t room = c->meter[m].reserve;

		room += c->mode == COUNTING_PRECISE ? c->meter[m].unit->headroom : room_of(m);
		if (c->mode == COUNTING_BULK && room >= LANES_ROOM)
			learn(m);
		c->meter[m].reserve = reserve_of(meter_signals[m], to);
		room -= c->meter[m].reserve;
		if (to == COUNTING_PRECISE)
			c->meter[m].unit->headroom = room;
		else if (to == COUNTING_CAREFUL)
			grant_first(m, room);
		else if (room >= LANES_ROOM)
			share_out(m, room);
		else
			share_evenly(m, 0, 0, room);
	}
	c->mode = to;
}

bool counting_bulk_possible(void)
{
	struct counting *c = current->counting;

	if (c->mode != COUNTING_PRECISE) {
		for (unsigned m = 0; m < meters; m++)
			if (room_of(m) < 0)
				return false;
		return true;
	}
	/* The service routine may have changed the lists. */
	for (unsigned u = 0; u < c->units; u++)
		for (unsigned i = 0; i < c->unit[u].meters.count; i++) {
			const struct spmu_meter *m = &c->unit[u].meters.meter[i];

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
	struct counting *c = current->counting;

	for (unsigned u = 0; u < c->units; u++)
		while (c->unit[u].interrupt_due) {
			c->unit[u].interrupt_due = false;
			spmu_driver_interrupt(&c->unit[u].driver);
		}
}

void counting_retire(uint64_t ip, uint64_t next_ip, uint64_t signals, uint64_t data_address)
{
	struct counting *c = current->counting;
	struct spmu_insn insn = {
		.ip = ip,
		.next_ip = signals & SPMU_SIGBIT(FAR) ? 0 : next_ip,
		.signals = signals,
		.data_address = data_address,
		.cycles = 1,
		.cpl = 3,
	};

	c->now_next_ip = next_ip;
	for (unsigned u = 0; u < c->units; u++)
		spmu_retire(c->unit[u].core, 0, &insn);
	counting_interrupts();
}

void counting_drain(void)
{
	struct counting *c = current->counting;
	enum counting_mode before;

	if (!current->counts)
		return; /* not yet */
	before = c->mode;
	counting_mode(COUNTING_PRECISE);
	for (unsigned u = 0; u < c->units; u++) {
		if (!c->unit[u].driver.running)
			continue;
		if (spmu_driver_stop(&c->unit[u].driver) != SPMU_OK)
			continue;
		spmu_driver_drain(&c->unit[u].driver);
		if (spmu_driver_start(&c->unit[u].driver) != SPMU_OK)
			engine_unsupported("the unit did not start again");
	}
	counting_mode(before);
}

/* Several processes may do so at a time. */
static void publish(void)
{
	struct counting *c = current->counting;

	for (unsigned e = 0; e < engine_link->events && current->observed; e++) {
		uint64_t n = spmu_driver_read(&c->unit[c->event[e].unit].driver, c->event[e].slot);

		__atomic_add_fetch(&engine_link->count[e], n - c->event[e].published,
				   __ATOMIC_RELAXED);
		c->event[e].published = n;
	}
}

void counting_publish(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	counting_drain();
	counting_mode(COUNTING_PRECISE);
	publish();
	counting_mode(before);
}

void counting_skip(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	counting_mode(COUNTING_PRECISE);
	for (unsigned e = 0; e < engine_link->events; e++)
		c->event[e].published +=
			spmu_driver_read(&c->unit[c->event[e].unit].driver, c->event[e].slot) -
			c->event[e].seen;
	counting_mode(before);
}

void counting_note(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	counting_mode(COUNTING_PRECISE);
	for (unsigned e = 0; e < engine_link->events; e++)
		c->event[e].seen =
			spmu_driver_read(&c->unit[c->event[e].unit].driver, c->event[e].slot);
	counting_mode(before);
}

enum counting_mode counting_mode_now(void)
{
	struct counting *c = current->counting;

	return c->mode;
}

void counting_begin_again(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	counting_start();
	counting_mode(before);
}

void counting_finish(void)
{
	struct counting *c = current->counting;

	counting_mode(COUNTING_PRECISE);
	if (children_is_first())
		engine_link->tsc_end = read_tsc();
	for (unsigned u = 0; u < c->units; u++) {
		if (c->unit[u].driver.running && spmu_driver_stop(&c->unit[u].driver) == SPMU_OK)
			spmu_driver_drain(&c->unit[u].driver);
		__atomic_add_fetch(&engine_link->interrupts, c->unit[u].driver.interrupts,
				   __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->records, c->unit[u].driver.records,
				   __ATOMIC_RELAXED);
		__atomic_add_fetch(&engine_link->buffer_full, c->unit[u].driver.buffer_full,
				   __ATOMIC_RELAXED);
	}
	publish();
	branches_end();
	engine_link->units = c->units;
}

/* --- set-up --- */

static bool narrow_area(void)
{
	const struct spmu_ds_layout *layout = spmu_ds_layout(model, true);

	return layout && layout->field_bytes == 4;
}

/* Memory for the DS save area: where its addresses have 32 bits, below 4 GiB. */
static void *area_memory(void)
{
	long at;

	if (!narrow_area())
		return engine_memory(DS_BYTES);
	at = map_memory(0, DS_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (is_error(at))
		engine_fail(126, "no memory below 4 GiB for the DS save area");
	return (void *)at;
}

/* The next unit, as it was before it was used; its memory stays. */
static struct unit *unit_take(struct counting *c)
{
	struct unit *u = &c->unit[c->units];

	if (c->units == UNITS_MAX)
		engine_fail(125, "too many events for the units that one run can have");
	if (!u->memory.core) {
		u->memory.core = engine_memory(spmu_core_bytes());
		u->memory.sibling = engine_memory(sizeof(*u->memory.sibling));
		u->memory.ds = area_memory();
	}
	memset(u, 0, __builtin_offsetof(struct unit, memory));
	return u;
}

static void unit_new(unsigned records_per_interrupt)
{
	struct counting *c = current->counting;
	struct unit *u = unit_take(c);
	struct spmu_core_config config = {
		.model = model,
		.threads = engine_link->threads,
		.meters = {&u->meters, u->memory.sibling},
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
		.linear = (uint64_t)u->memory.ds,
		.memory = u->memory.ds,
		.bytes = DS_BYTES,
		.records_per_interrupt = records_per_interrupt,
	};

	if (spmu_model_info(model).programming == SPMU_PROGRAM_CESR)
		host.pin = host_pin;
	if (spmu_core_create(u->memory.core, spmu_core_bytes(), &config, &host, &u->core) !=
		    SPMU_OK ||
	    spmu_driver_detect(&u->driver, &port, model) != SPMU_OK)
		engine_fail(125, "the unit cannot be created");
	spmu_set_ia32e(u->core, 0, true);
	if (c->units == 0 && engine_link->want & LINK_WANT_BTS) {
		area.bts_linear = branches_buffer(narrow_area(), &area.bts_bytes);
		area.bts_memory = (void *)area.bts_linear;
	}
	if ((u->driver.facilities.pebs || area.bts_bytes) &&
	    spmu_driver_setup_ds(&u->driver, &area) != SPMU_OK)
		engine_fail(125, "the DS save area cannot be set up");
	spmu_driver_set_sink(&u->driver, take_sample, u);
	spmu_driver_set_bts_sink(&u->driver, branches_to_tool, u);
	if (engine_link->want & LINK_WANT_LBR &&
	    spmu_driver_enable_lbr(&u->driver, engine_link->lbr_select) != SPMU_OK)
		engine_fail(125, "the model cannot record last branches in this way");
	c->units++;
}

static bool place_event(unsigned e, unsigned u)
{
	struct counting *c = current->counting;
	const struct link_event *asked = &engine_link->event[e];
	struct spmu_request request = {
		.select = asked->select,
		.code = asked->code,
		.tagger = asked->tagger,
		.counters = asked->counters,
		.fixed = (int8_t)asked->fixed,
		.period = asked->frequency ? 20000 : asked->period,
		.precise = asked->precise != 0,
		.tag = e,
	};
	enum spmu_status status;
	unsigned slot;

	status = spmu_driver_add(&c->unit[u].driver, &request, &slot);
	if (status == SPMU_E_COUNTER)
		return false;
	if (status != SPMU_OK)
		engine_fail(125, spmu_status_text(status));
	c->event[e].unit = (uint8_t)u;
	c->event[e].slot = (uint8_t)slot;
	c->event[e].period = request.period;
	return true;
}

void counting_start(void)
{
	struct counting *c = current->counting;
	unsigned records = 0;

	if (!c)
		c = current->counting = engine_memory(sizeof(*c));
	memset(c->event, 0, sizeof(c->event));
	memset(c->meter, 0, sizeof(c->meter));
	c->units = 0;
	branches_begin_again();
	model = spmu_model_find(engine_link->model);
	if (!model)
		engine_fail(125, "no such model");
	for (unsigned e = 0; e < engine_link->events; e++) {
		if (engine_link->event[e].frequency)
			records = 1; /* the period follows each sample */
		if (engine_link->event[e].period || engine_link->event[e].frequency)
			wants_address = true;
	}
	c->mode = COUNTING_PRECISE;
	unit_new(records);
	for (unsigned e = 0; e < engine_link->events; e++) {
		unsigned u = 0;

		while (u < c->units && !place_event(e, u))
			u++;
		if (u == c->units) {
			unit_new(records);
			if (!place_event(e, u))
				engine_fail(125, "no counter of the model can count the event");
		}
	}
	for (unsigned u = 0; u < c->units; u++)
		if (spmu_driver_start(&c->unit[u].driver) != SPMU_OK)
			engine_fail(125, "the unit does not start");
	/* Only the program runs here: where the two cannot be told apart it is both. */
	if (engine_link->want & LINK_WANT_BTS &&
	    spmu_driver_start_bts(&c->unit[0].driver, true, !c->unit[0].driver.facilities.ds_cpl) !=
		    SPMU_OK)
		engine_fail(125, "the model cannot store a branch trace");
	for (unsigned u = 0; u < c->units; u++)
		branches_add(c->unit[u].core, &c->unit[u].meters.tap);
	branches_start();
	c->start_tsc = read_tsc();
	c->start_ns = now_ns();
	for (unsigned e = 0; e < engine_link->events; e++)
		c->event[e].last_tsc = c->start_tsc;
	if (!engine_link->tsc_start)
		engine_link->tsc_start = c->start_tsc;
	counting_mode(COUNTING_BULK);
	current->counts = true;
}
