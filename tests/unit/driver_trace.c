/* SPDX-License-Identifier: MIT */
/*
 * driver_trace.c: branch trace store through the driver on every model that has it (Vol. 3B 17.4.5,
 * 17.4.9.3 to 17.4.9.5). Nothing is dropped, and the order is kept. Buffers are switched without a
 * copy. A circular buffer keeps the newest records. One service finds all causes.
 */
#include "driver_host.h"

#define TRACE_RECORDS  32
#define TRACE_BUFFERS  3
#define TRACE_AREA     (64 * 1024) /* where the buffers begin in the host's area */
#define TRACE_DISTANCE (8 * 1024)
#define TRACES_MAX     20000

static struct {
	struct spmu_bts_record record[TRACES_MAX];
	size_t records, calls, most;
	unsigned buffer; /* the buffer for the next records */
	bool rotates;
	uint64_t answer; /* replaces the sink's answer unless 0 */
	uint64_t tr;	 /* the TR flag in the register at 1D9H */
	struct host *host;
} trace;

static uint64_t buffer_linear(unsigned n)
{
	return HOST_AREA + TRACE_AREA + n * TRACE_DISTANCE;
}

static uint64_t take_trace(void *opaque, const void *records, size_t count, uint64_t linear)
{
	struct host *host = opaque;
	const struct spmu_ds_layout *layout = host->driver.layout;

	/* 17.4.9.5: nothing is traced while the service routine reads the buffer. */
	if (host->driver.in_service)
		CHECK_EQ(host_msr(host, 0x1d9) & trace.tr, 0);
	/* In place. */
	CHECK(records == host->area + (linear - HOST_AREA));
	trace.calls++;
	trace.most = count > trace.most ? count : trace.most;
	for (size_t i = 0; i < count && trace.records < TRACES_MAX; i++) {
		const uint8_t *at = (const uint8_t *)records + i * layout->bts_bytes;

		CHECK_EQ(spmu_bts_decode(layout, at, layout->bts_bytes,
					 &trace.record[trace.records++]),
			 SPMU_OK);
	}
	if (trace.answer)
		return trace.answer;
	if (!trace.rotates)
		return linear;
	CHECK_EQ(linear, buffer_linear(trace.buffer));
	trace.buffer = (trace.buffer + 1) % TRACE_BUFFERS;
	return buffer_linear(trace.buffer);
}

/* Returns how much lower NetBurst has TR to BTS_OFF_USR in its debug control (17.11.1). */
static unsigned shift(const struct spmu_model *model)
{
	return spmu_model_describe(model).programming == SPMU_PROGRAM_ESCR ? 4 : 0;
}

/*
 * Makes unit, driver and a DS save area with both buffers. Returns false if the model has no BTS.
 */
static bool ready(struct host *host, const struct spmu_model *model, bool circular, bool rotates,
		  unsigned records_per_interrupt)
{
	struct spmu_driver_memory memory = {
		.size = sizeof(struct spmu_driver_memory),
		.linear = HOST_AREA,
		.bytes = 16 * 1024,
		.records_per_interrupt = records_per_interrupt,
		.bts_circular = circular,
	};

	host_make_model(host, model, 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
	host->list_branches = true;
	memset(&trace, 0, sizeof(trace));
	trace.rotates = rotates;
	trace.host = host;
	trace.tr = 0x40u >> shift(model);
	spmu_driver_set_bts_sink(&host->driver, take_trace, host);
	memory.memory = host->area;
	memory.bts_bytes =
		TRACE_RECORDS * (host->driver.layout ? host->driver.layout->bts_bytes : 24);
	if (rotates) {
		memory.bts_linear = buffer_linear(0);
		memory.bts_memory = host->area + TRACE_AREA;
	}
	if (!host->driver.facilities.bts) {
		CHECK_EQ(spmu_driver_setup_ds(&host->driver, &memory), SPMU_E_UNAVAILABLE);
		CHECK_EQ(spmu_driver_start_bts(&host->driver, true, true), SPMU_E_UNAVAILABLE);
		host_free(host);
		return false;
	}
	CHECK_EQ(spmu_driver_setup_ds(&host->driver, &memory), SPMU_OK);
	return true;
}

/* Checks that the trace equals the program's branches from `first` on, in these rings. */
static void check_trace(const struct host *host, uint64_t first, uint64_t end, bool user,
			bool kernel)
{
	size_t n = 0;

	for (uint64_t i = first; i < end; i++) {
		const struct went *w = &host->went[i];

		if (!(w->cpl ? user : kernel))
			continue;
		if (!CHECK(n < trace.records))
			return;
		CHECK_EQ(trace.record[n].from, w->from);
		CHECK_EQ(trace.record[n].to, w->to);
		n++;
	}
	CHECK_EQ(n, trace.records);
}

static void traces(const struct spmu_model *model, bool user, bool kernel, bool rotates)
{
	struct host host;
	uint64_t first, end;

	if (!ready(&host, model, false, rotates, 1))
		return;
	if (!(user && kernel) && !host.driver.facilities.ds_cpl) {
		CHECK_EQ(spmu_driver_start_bts(&host.driver, user, kernel), SPMU_E_UNAVAILABLE);
		CHECK_EQ(host_msr(&host, 0x1d9), 0);
		host_free(&host);
		return;
	}
	host_run(&host, 50);
	first = host.wents;
	CHECK_EQ(spmu_driver_start_bts(&host.driver, user, kernel), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x1d9),
		 (0x1c0u | (kernel ? 0 : 1u << 9) | (user ? 0 : 1u << 10)) >> shift(model));
	for (unsigned n = 0; n < 40; n++) {
		host_run(&host, 300);
		/* In the middle of a buffer, running or stopped. */
		if (n % 10 == 9)
			spmu_driver_drain(&host.driver);
		if (n == 20) {
			CHECK_EQ(spmu_driver_stop_bts(&host.driver), SPMU_OK);
			CHECK_EQ(spmu_driver_start_bts(&host.driver, user, kernel), SPMU_OK);
		}
	}
	CHECK_EQ(spmu_driver_stop_bts(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x1d9), 0);
	end = host.wents;
	host_run(&host, 300);
	spmu_driver_drain(&host.driver);
	check_trace(&host, first, end, user, kernel);
	CHECK_EQ(host.driver.bts_records, trace.records);
	CHECK_EQ(host.driver.bts_full, 0);
	CHECK(host.driver.interrupts > 1);
	CHECK(trace.most < TRACE_RECORDS && trace.most > TRACE_RECORDS / 2);
	host_free(&host);
}

/* Checks a circular buffer: the newest records stay, oldest first, for different fill levels. */
static void goes_round(const struct spmu_model *model)
{
	for (unsigned branches = 0; branches < 4 * TRACE_RECORDS + 2; branches++) {
		struct host host;
		uint64_t first;

		if (!ready(&host, model, true, false, 1))
			return;
		CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_OK);
		while (host.wents < branches)
			host_run(&host, 1);
		spmu_driver_drain(&host.driver);
		first = branches > TRACE_RECORDS ? branches - TRACE_RECORDS : 0;
		check_trace(&host, first, host.wents, true, true);
		/* And once more from the beginning. */
		trace.records = 0;
		first = host.wents;
		while (host.wents < first + branches / 2)
			host_run(&host, 1);
		CHECK_EQ(spmu_driver_stop_bts(&host.driver), SPMU_OK);
		spmu_driver_drain(&host.driver);
		if (branches / 2 > TRACE_RECORDS)
			first = host.wents - TRACE_RECORDS;
		check_trace(&host, first, host.wents, true, true);
		CHECK_EQ(host.driver.interrupts, 0);
		host_free(&host);
	}
}

/*
 * Adds a precise event of the model in user mode, with its own watch. Returns false if it has none.
 */
static bool add_precise(struct host *host, uint64_t period)
{
	for (size_t i = 0; host->driver.facilities.pebs && i < spmu_event_count(host->model); i++) {
		const struct spmu_event *event = spmu_event_at(host->model, i);
		struct spmu_request request;

		if (!event->pebs_counters || event->fidelity != SPMU_EXACT ||
		    !host_can_list(event) || !(event->signals & HOST_BRANCHES))
			continue;
		request = host_watch(host, event->code, USR, period, true);
		host_add(host, &request);
		return true;
	}
	return false;
}

/*
 * Checks that one call serves all causes (17.4.9.5). An interrupt that was held back finds both
 * buffers at their thresholds and a counter that has overflowed.
 */
static void serves_all_causes(const struct spmu_model *model, bool together)
{
	struct spmu_request request;
	bool precise, all = false;
	struct host host;

	if (!ready(&host, model, false, true, 2))
		return;
	request = host_watch(&host, host_instructions(&host), USR, 1000, false);
	host_add(&host, &request);
	precise = add_precise(&host, 6);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_OK);
	for (unsigned n = 0; n < 600; n++) {
		uint64_t interrupts = host.driver.interrupts, samples[2] = {0, 0}, i = host.takens;
		size_t calls = trace.calls;
		uint64_t before = host.watch[0].count / 1000;

		/* Until the threshold of BTS and the end of the period, but not to the buffers'
		 * end. */
		host.hold_pmi = together;
		while (together && (spmu_driver_read(&host.driver, 0) / 1000 == before) &&
		       host.driver.bts_base) {
			struct spmu_ds_area area = {0};

			host_run(&host, 1);
			CHECK_EQ(spmu_ds_decode(host.driver.layout, host.area, HOST_AREA_BYTES,
						&area),
				 SPMU_OK);
			if (area.bts_index == area.bts_maximum - host.driver.layout->bts_bytes)
				break;
		}
		host.hold_pmi = false;
		host_deliver(&host);
		host_run(&host, together ? 0 : 7);
		for (; i < host.takens; i++)
			samples[host.taken[i].precise]++;
		all |= host.driver.interrupts == interrupts + 1 && trace.calls == calls + 1 &&
		       samples[0] == 1 && (samples[1] >= 2 || !precise);
		host_check_totals(&host);
	}
	CHECK(!together || all);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(spmu_driver_stop_bts(&host.driver), SPMU_OK);
	spmu_driver_drain(&host.driver);
	host_check_totals(&host);
	check_trace(&host, 0, host.wents, true, true);
	CHECK_EQ(host.driver.bts_full, 0);
	CHECK_EQ(host.driver.bts_records, trace.records);
	if (!together)
		host_check_samples(&host, 0, false, 1000);
	if (precise && !together)
		host_check_samples(&host, 1, true, 6);
	host_free(&host);
}

/*
 * Checks that the driver reports a buffer that filled to its end, and that the trace continues in
 * order.
 */
static void tells_full(const struct spmu_model *model)
{
	struct host host;

	if (!ready(&host, model, false, false, 1))
		return;
	CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_OK);
	host.hold_pmi = true;
	while (host.wents < 2 * TRACE_RECORDS)
		host_run(&host, 1);
	host.hold_pmi = false;
	host_deliver(&host);
	CHECK_EQ(host.driver.bts_full, 1);
	CHECK_EQ(trace.records, TRACE_RECORDS);
	check_trace(&host, 0, TRACE_RECORDS, true, true);
	trace.records = 0;
	host_run(&host, 30);
	spmu_driver_drain(&host.driver);
	check_trace(&host, 2 * TRACE_RECORDS, host.wents, true, true);
	host_free(&host);
}

/* Checks that after impossible addresses from the sink the trace continues in its buffer. */
static void survives_answers(const struct spmu_model *model)
{
	const uint64_t answers[] = {HOST_AREA + 2, UINT64_MAX - 3, UINT64_MAX, 1};

	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		struct host host;

		if (!ready(&host, model, false, false, 1))
			return;
		trace.answer = answers[i];
		CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_OK);
		host_run(&host, 1000);
		spmu_driver_drain(&host.driver);
		check_trace(&host, 0, host.wents, true, true);
		host_free(&host);
	}
}

/* Checks that the driver stays in its buffers when the program writes to the management area. */
static void survives_scribbles(const struct spmu_model *model)
{
	struct host host;

	if (!ready(&host, model, false, true, 3))
		return;
	add_precise(&host, 9);
	CHECK_EQ(spmu_driver_start(&host.driver), SPMU_OK);
	CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_OK);
	for (unsigned n = 0; n < 300; n++) {
		size_t before = trace.calls;

		host_run(&host, 30);
		for (unsigned i = 0; i < host.driver.layout->bytes; i += 4) {
			uint64_t value = host_random(&host);

			if (value & 1)
				value = HOST_AREA + (value >> 40) % HOST_AREA_BYTES;
			memcpy(host.area + i, &value, 4);
		}
		trace.most = 0;
		spmu_driver_interrupt(&host.driver);
		spmu_driver_drain(&host.driver);
		CHECK(trace.most <= TRACE_RECORDS);
		CHECK(trace.calls <= before + 2 + 30);
	}
	host_free(&host);
}

/* Stops the trace in the sink. The sink may also read totals. */
static uint64_t stop_in_sink(void *opaque, const void *records, size_t count, uint64_t linear)
{
	struct host *host = opaque;

	CHECK(records && count);
	trace.calls++;
	CHECK_EQ(spmu_driver_stop_bts(&host->driver), SPMU_OK);
	spmu_driver_drain(&host->driver);
	return linear;
}

static void stops_in_sink(const struct spmu_model *model)
{
	struct host host;

	if (!ready(&host, model, false, false, 1))
		return;
	spmu_driver_set_bts_sink(&host.driver, stop_in_sink, &host);
	CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_OK);
	host_run(&host, 1000);
	CHECK_EQ(trace.calls, 1);
	CHECK_EQ(host_msr(&host, 0x1d9) & (0xc0 >> shift(model)), 0);
	host_free(&host);
}

static void refuses(const struct spmu_model *model)
{
	struct spmu_driver_memory memory = {
		.size = sizeof(struct spmu_driver_memory), .linear = HOST_AREA, .bytes = 8192};
	struct host host;
	size_t record;

	host_make_model(&host, model, 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	if (!host.driver.facilities.bts) {
		host_free(&host);
		return;
	}
	record = host.driver.layout->bts_bytes;
	memory.memory = host.area;
	spmu_driver_set_bts_sink(&host.driver, take_trace, &host);
	CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_E_UNAVAILABLE);
	CHECK_EQ(spmu_driver_setup_ds(&host.driver, NULL), SPMU_E_ARGUMENT);
	memory.bts_bytes = 2 * record - 1;
	CHECK_EQ(spmu_driver_setup_ds(&host.driver, &memory), SPMU_E_SPACE);
	memory.bts_bytes = 8192;
	CHECK_EQ(spmu_driver_setup_ds(&host.driver, &memory), SPMU_E_SPACE);
	memory.bts_memory = host.area + TRACE_AREA;
	memory.bts_linear = 0;
	CHECK_EQ(spmu_driver_setup_ds(&host.driver, &memory), SPMU_E_ARGUMENT);
	memory.bts_linear = HOST_AREA + TRACE_AREA + 1;
	CHECK_EQ(spmu_driver_setup_ds(&host.driver, &memory), SPMU_E_ARGUMENT);
	CHECK_EQ(host_msr(&host, 0x600), 0);
	memory.bts_memory = NULL;
	/* With all memory for BTS there is no PEBS. */
	memory.bts_bytes = 8192 - ((host.driver.layout->bytes + 127u) & ~127u);
	CHECK_EQ(spmu_driver_setup_ds(&host.driver, &memory), SPMU_OK);
	CHECK_EQ(host.driver.pebs_base, 0);
	CHECK_EQ(spmu_driver_start_bts(&host.driver, false, false), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_OK);
	CHECK_EQ(spmu_driver_setup_ds(&host.driver, &memory), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_driver_stop_bts(&host.driver), SPMU_OK);
	spmu_driver_set_bts_sink(&host.driver, NULL, NULL);
	CHECK_EQ(spmu_driver_start_bts(&host.driver, true, true), SPMU_E_ARGUMENT);
	host_free(&host);
}

int main(void)
{
	for (size_t i = 0; i < spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i);
		unsigned before = check_failed;

		for (unsigned rotates = 0; rotates < 2; rotates++) {
			RUN(traces(model, true, true, rotates));
			RUN(traces(model, true, false, rotates));
			RUN(traces(model, false, true, rotates));
			RUN(serves_all_causes(model, rotates));
		}
		RUN(goes_round(model));
		RUN(tells_full(model));
		RUN(survives_answers(model));
		RUN(survives_scribbles(model));
		RUN(stops_in_sink(model));
		RUN(refuses(model));
		if (check_failed != before)
			printf("%s: %u failed\n", spmu_model_describe(model).name,
			       check_failed - before);
	}
	return test_summary();
}
