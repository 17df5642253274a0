/* SPDX-License-Identifier: MIT */
/*
 * units.c: the units of a thread and the operating system they see: each has a
 * driver that programs it through its MSRs and whose service routine takes the
 * interrupt; samples go to the ring.
 *
 * Events that do not fit the counters of one unit go to another one that sees the same
 * instructions, so nothing is multiplexed and every count is exact.  So do events with PEBS where
 * one record can be for several (18.8.1.1), as long as there are units.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "places.h"
#include "sys.h"
#include "units.h"

#define DS_BYTES (16u << 10) /* some 70 records: they stay in the first-level cache */
#define MSR_EFER 0xc0000080u /* the program runs in IA-32e mode */
#define EFER_LMA 0x500u
#define LVT_NMI	 0x400u /* delivery mode of the service routine, as kernels use */

static bool wants_address;
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
bool counting_wants_address(uint64_t signals)
{
	return wants_address && signals & (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
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
	places_keep((uint64_t)at, DS_BYTES);
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
	engine_populate(u->memory.core, spmu_core_bytes());
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

static enum spmu_status add_event(struct spmu_driver *driver, const struct link_event *asked,
				  struct spmu_request *request, unsigned *slot)
{
	struct spmu_request starter = {
		.select = asked->after_select,
		.code = asked->after_code,
		.tagger = asked->after_tagger,
		.counters = asked->after_counters,
		.fixed = -1,
		.period = request->period,
		.tag = request->tag,
	};
	unsigned slots[2] = {0, 0};
	enum spmu_status status;

	if (!starter.counters)
		return spmu_driver_add(driver, request, slot);
	request->period = 0;
	status = spmu_driver_add_cascade(driver, &starter, request, slots);
	*slot = slots[1];
	return status;
}

/* Returns true if a record of the event could also be one of another event of that unit. */
static bool would_collide(const struct link_event *asked, const struct spmu_driver *driver)
{
	return asked->precise && driver->pebs_bits && driver->facilities.pebs_format < 3;
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
	unsigned slot = 0;

	if (c->units < UNITS_MAX && would_collide(asked, &c->unit[u].driver))
		return false;
	status = add_event(&c->unit[u].driver, asked, &request, &slot);
	if (status == SPMU_E_COUNTER)
		return false;
	if (status != SPMU_OK)
		engine_fail(125, spmu_status_text(status));
	c->event[e].unit = (uint8_t)u;
	c->event[e].slot = (uint8_t)slot;
	c->event[e].period = request.period;
	return true;
}

static const char *no_counter(const struct link_event *asked)
{
	return asked->after_counters ? "no counter that can count the one event starts one that "
				       "can count the other"
				     : "no counter of the model can count the event";
}

/* May its records hold the address of data? */
static bool tells_address(const struct link_event *asked)
{
	bool known = false;

	for (size_t i = 0; asked->precise && i < spmu_event_count(model); i++) {
		const struct spmu_event *event = spmu_event_at(model, i);

		if (event->code == asked->code && event->data_address)
			return true;
		known |= event->code == asked->code;
	}
	return asked->precise && !known;
}

void counting_start(void)
{
	struct counting *c = current->counting;
	unsigned records = 0;

	if (!c)
		c = current->counting = engine_memory(sizeof(*c));
	engine_populate(c, __builtin_offsetof(struct counting, unit[1]));
	memset(c->event, 0, sizeof(c->event));
	memset(c->meter, 0, sizeof(c->meter));
	c->units = 0;
	branches_begin_again();
	if (!model)
		model = spmu_model_find(engine_link->model);
	if (!model)
		engine_fail(125, "no such model");
	for (unsigned e = 0; e < engine_link->events; e++) {
		if (engine_link->event[e].frequency)
			records = 1; /* the period follows each sample */
		wants_address |= tells_address(&engine_link->event[e]);
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
				engine_fail(125, no_counter(&engine_link->event[e]));
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
