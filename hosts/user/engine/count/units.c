/* SPDX-License-Identifier: MIT */
/*
 * units.c: the units of a thread and the operating system they see: each has a
 * driver that programs it through its MSRs and whose service routine takes the
 * interrupt; samples go to the ring.
 *
 * All units of a thread see the same instructions.  Which of them counts what is the event set's
 * (event_set.c).
 */
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/time.h>

#include <hosts/user/perf_event/perf_select.h>

#include "engine/count/activity.h"
#include "engine/count/count.h"
#include "engine/count/event_costs.h"
#include "engine/count/event_set.h"
#include "engine/count/client.h"
#include "engine/count/flow.h"
#include "engine/count/follow.h"
#include "engine/count/opened.h"
#include "engine/count/opened_samples.h"
#include "engine/count/samples.h"
#include "engine/count/tool_samples.h"
#include "engine/count/unit_host.h"
#include "engine/count/units.h"
#include "engine/memory/places.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define MSR_PEBS_FRONTEND 0x3f7u

static unsigned records_per_interrupt; /* of PEBS; 0: most of the buffer */
static const struct spmu_model *model;

static uint64_t now_ns(void)
{
	return sys_clock_ns(CLOCK_MONOTONIC);
}

/* The sink of the driver. */
static void take_sample(void *opaque, const struct spmu_sample *sample)
{
	(void)opaque;
	if (sample->tag & OPENED_TAG)
		opened_samples_take(sample);
	else
		tool_samples_take(sample);
}

bool units_want_address(uint64_t signals)
{
	return current->list->addresses && signals & (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES));
}

/* --- set-up --- */

static bool narrow_area(void)
{
	const struct spmu_ds_layout *layout = spmu_model_ds_layout(model, true);

	return layout && layout->field_bytes == 4;
}

/* Returns memory for the DS save area, below 4 GiB if its addresses have 32 bits. */
static void *area_memory(void)
{
	long at;

	if (!narrow_area())
		return heap_allocate(UNIT_DS_BYTES);
	at = sys_map(0, UNIT_DS_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (is_error(at))
		engine_fail(126, "no memory below 4 GiB for the DS save area");
	places_keep((uint64_t)at, UNIT_DS_BYTES);
	return (void *)at;
}

/* Returns the next unit, reset.  Its memory is used again. */
static struct unit *unit_take(struct unit *u)
{
	if (!u->memory.core) {
		u->memory.core = heap_allocate(spmu_core_bytes());
		u->memory.ds = area_memory();
	}
	heap_populate(u->memory.core, spmu_core_bytes());
	memset(u, 0, __builtin_offsetof(struct unit, memory));
	return u;
}

static struct spmu_driver *unit_new(void *counting, unsigned number)
{
	struct counting *c = counting;
	struct unit *u = unit_take(&c->unit[number]);
	struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = model,
		.threads = engine_link->threads,
		.meters = {&u->meters, &u->siblings},
	};
	struct spmu_host host;
	struct spmu_port port;
	struct spmu_driver_memory area = {
		.size = sizeof(struct spmu_driver_memory),
		.linear = (uint64_t)u->memory.ds,
		.memory = u->memory.ds,
		.bytes = UNIT_DS_BYTES,
		.records_per_interrupt = records_per_interrupt,
	};

	u->model = model;
	host = unit_host(u);
	port = unit_host_port(u);
	if (spmu_core_create(u->memory.core, spmu_core_bytes(), &config, &host, &u->core) !=
		    SPMU_OK ||
	    spmu_driver_detect(&u->driver, sizeof(u->driver), &port, model) != SPMU_OK)
		engine_fail(125, "the unit cannot be created");
	spmu_set_ia32e(u->core, 0, true);
	if (engine_link->load_threshold &&
	    spmu_write_msr(u->core, 0, MSR_PEBS_LD_LAT, engine_link->load_threshold) != SPMU_DONE)
		engine_fail(125, "the model has no threshold for the latency of loads");
	if (engine_link->frontend &&
	    spmu_write_msr(u->core, 0, MSR_PEBS_FRONTEND, engine_link->frontend) != SPMU_DONE)
		engine_fail(125, "the model has no condition of the front end");
	if (number == 0 && engine_link->want & LINK_WANT_BTS) {
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
	return &u->driver;
}

static const char *why_not(const struct link_event *asked, enum spmu_status status)
{
	if (status == SPMU_E_SPACE)
		return "too many events for the units that one run can have";
	if (status == SPMU_E_UNAVAILABLE && asked->offcore)
		return "offcore_rsp has bits that are reserved on this model";
	if (status != SPMU_E_COUNTER)
		return spmu_status_text(status);
	return asked->after_counters ? "no counter that can count the one event starts one that "
				       "can count the other"
				     : "no counter of the model can count the event";
}

static void add_event(struct counting *c, unsigned e)
{
	const struct link_event *asked = &engine_link->event[e];
	struct spmu_request request = {
		.size = sizeof(struct spmu_request),
		.select = asked->select,
		.code = asked->code,
		.tagger = asked->tagger,
		.counters = asked->counters,
		.fixed = (int8_t)asked->fixed,
		.period = asked->frequency ? 20000 : asked->period,
		.precise = asked->precise != 0,
		.tag = e,
		.offcore = asked->offcore,
	};
	struct spmu_request starter = {
		.size = sizeof(struct spmu_request),
		.select = asked->after_select,
		.code = asked->after_code,
		.tagger = asked->after_tagger,
		.counters = asked->after_counters,
		.fixed = -1,
		.period = request.period,
		.tag = e,
	};
	bool cascade = starter.counters != 0;
	enum spmu_status status;
	unsigned number = 0;

	c->event[e].least = samples_least_period(model, asked->code);
	if (asked->frequency && c->event[e].least > samples_least_period(NULL, 0))
		request.period = c->event[e].least;
	c->event[e].period = request.period;
	if (tool_samples_vary(e))
		request.period = tool_samples_period(e);
	starter.period = request.period;
	request.period = cascade ? 0 : request.period;
	status = event_set_add(&c->set, &request, cascade ? &starter : NULL, &number);
	if (status != SPMU_OK)
		engine_fail(125, why_not(asked, status));
	c->event[e].number = (uint8_t)number;
	c->event[e].added = true;
	event_set_enable(&c->set, number, c->on >> e & 1);
}

/* Tells event_costs.c what each event counts: the meters of the set while it alone is enabled. */
static void find_costs(struct counting *c)
{
	for (unsigned e = 0; e < engine_link->events; e++) {
		const struct unit *u = &c->unit[c->set.event[c->event[e].number].unit];

		for (unsigned other = 0; other < engine_link->events; other++)
			event_set_enable(&c->set, c->event[other].number, other == e);
		if (event_set_start(&c->set) != SPMU_OK)
			engine_fail(125, "the unit does not start");
		for (uint32_t m = 0; m < u->meters.count; m++)
			event_costs_add(e, &u->meters.meter[m]);
		(void)!event_set_stop(&c->set); /* it has counted nothing */
	}
	for (unsigned e = 0; e < engine_link->events; e++)
		event_set_enable(&c->set, c->event[e].number, c->on >> e & 1);
}

/* Processes whose counts nobody wants have no events, unless their clocks go by one. */
static bool is_counted(void)
{
	return current->observed || engine_link->want & LINK_WANT_TIME;
}

static bool is_traced(uint64_t on)
{
	return engine_link->want & LINK_WANT_BTS && on >> LINK_EVENT_TRACE & 1;
}

/* Makes the units of current->counting, and starts them with counts of 0. */
static void make_units(void)
{
	struct counting *c = current->counting;

	heap_populate(c, __builtin_offsetof(struct counting, unit[1]));
	memset(c->event, 0, sizeof(c->event));
	memset(c->meter, 0, sizeof(c->meter));
	if (!model)
		model = spmu_model_find(engine_link->model);
	if (!model)
		engine_fail(125, "no such model");
	for (unsigned e = 0; e < engine_link->events; e++) {
		if (tool_samples_vary(e))
			records_per_interrupt = 1;
		c->addresses |= engine_link->event[e].precise &&
				samples_tell_address(model, engine_link->event[e].code);
		c->samples |= engine_link->event[e].period || engine_link->event[e].frequency;
	}
	if (c->samples)
		tool_samples_prepare(c);
	/* The record belongs to what the program does at that moment. */
	if (opened_wanted() || engine_link->want & (LINK_WANT_CHAINS | LINK_WANT_STACKS))
		records_per_interrupt = 1;
	windows_begin(c);
	c->mode = COUNTING_PRECISE;
	(void)event_set_create(&c->set, unit_new, c); /* unit_new() ends the run if it fails */
	c->on = current->events_on;
	c->set.traces = is_traced(c->on);
	for (unsigned e = 0; e < engine_link->events && is_counted(); e++)
		add_event(c, e);
	if (event_costs_wanted() && is_counted())
		find_costs(c);
	if (event_set_start(&c->set) != SPMU_OK)
		engine_fail(125, "the unit does not start");
}

/* Only the program runs here.  If the rings cannot be told apart, it is both. */
static void start_trace(struct counting *c)
{
	if (spmu_driver_start_bts(&c->unit[0].driver, true, !c->unit[0].driver.facilities.ds_cpl) !=
	    SPMU_OK)
		engine_fail(125, "the model cannot store a branch trace");
}

void units_switch(uint64_t on)
{
	struct counting *c = current->counting;
	bool traced = c->set.traces;

	if (event_set_stop(&c->set) != SPMU_OK)
		engine_unsupported("the unit does not stop");
	for (unsigned e = 0; e < engine_link->events; e++) {
		if (!c->event[e].added)
			continue;
		event_set_enable(&c->set, c->event[e].number, on >> e & 1);
		c->event[e].last_tsc = read_tsc();
	}
	c->on = on;
	c->set.traces = is_traced(on);
	if (traced && !c->set.traces && spmu_driver_stop_bts(&c->unit[0].driver) != SPMU_OK)
		engine_unsupported("the branch trace does not stop");
	if (!traced && c->set.traces)
		start_trace(c);
	if (event_set_start(&c->set) != SPMU_OK)
		engine_unsupported("the unit does not start again");
}

void units_follow(void)
{
	follow_begin();
	if (opened_wanted() && current->follower)
		opened_follow(&engine_link->opened[current->follower - engine_link->follower]);
}

/* Uses the units, which have been made and count from now on. */
static void use_units(void)
{
	struct counting *c = current->counting;

	if (c->set.traces)
		start_trace(c);
	c->start_tsc = read_tsc();
	c->start_ns = now_ns();
	for (unsigned e = 0; e < engine_link->events; e++)
		c->event[e].last_tsc = c->start_tsc;
	if (!engine_link->tsc_start)
		engine_link->tsc_start = c->start_tsc;
	opened_begin_units();
	units_follow();
	shards_set_mode(COUNTING_BULK);
	current->counts = true;
}

void units_start(void)
{
	if (!current->counting)
		current->counting = heap_allocate(sizeof(*current->counting));
	branches_begin_again();
	flow_begin_again();
	activity_begin_again();
	make_units();
	use_units();
}

/* --- of a child that is forked --- */

/* Units that have not been used.  A child finds them ready, and the kernel does not copy the
 * pages that the child does not change. */
static struct counting *spare;
static bool spare_is_made;

/* A trace has a buffer, which its process takes.  A child that is not counted has other units. */
static bool may_be_spare(void)
{
	return !(engine_link->want & (LINK_WANT_TRACES | LINK_WANT_ONE));
}

void units_expect_child(void)
{
	struct counting *mine = current->counting;

	if (spare_is_made || !may_be_spare())
		return;
	if (!spare)
		spare = heap_allocate(sizeof(*spare));
	current->counting = spare;
	make_units();
	current->counting = mine;
	spare_is_made = true;
}

void units_begin_child(void)
{
	struct counting *parents = current->counting;
	enum counting_mode before = parents->mode;

	if (!spare_is_made) {
		units_begin_again();
		return;
	}
	current->counting = spare;
	spare = parents;
	spare_is_made = false;
	client_begin_again();
	branches_begin_again();
	flow_begin_again();
	activity_begin_again();
	if (current->counting->on != current->events_on)
		units_switch(current->events_on);
	use_units();
	shards_set_mode(before);
}

/* --- groups --- */

static struct spmu_driver *unit_or_none(void *counting, unsigned number)
{
	struct counting *c = counting;

	if (number)
		return NULL;
	return c->unit[0].memory.core ? &c->unit[0].driver : unit_new(c, 0);
}

static bool add_to_set(void *set, const struct spmu_request *request)
{
	unsigned number;

	return event_set_add(set, request, NULL, &number) == SPMU_OK;
}

bool units_fit(struct spmu_request *request, unsigned requests)
{
	static struct counting *scratch; /* the engine's lock guards it */
	bool fit;

	if (!scratch)
		scratch = heap_allocate(sizeof(*scratch));
	(void)event_set_create(&scratch->set, unit_or_none, scratch);
	fit = perf_select_fits(request, requests, add_to_set, &scratch->set);
	(void)!spmu_driver_release(&scratch->unit[0].driver);
	return fit;
}

void units_begin_again(void)
{
	struct counting *c = current->counting;
	enum counting_mode before = c->mode;

	client_begin_again();
	units_start();
	shards_set_mode(before);
}
