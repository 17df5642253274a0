/* SPDX-License-Identifier: MIT */
/*
 * event_set.c: events that are added to and removed from an event set of the translator, on every
 * model. Each counts what happened while it was there and enabled, whatever the others do. Events
 * that do not fit one unit get another.
 */
#include "driver_host.h"

#include <hosts/user/engine/count/event_set.h>

#define EVENTS 24
#define ROUNDS 300

/* The units of a set, which all see the same instructions. */
struct units {
	const struct spmu_model *model;
	struct host host[SET_UNITS_MAX];
	unsigned made, most;
};

static struct spmu_driver *more(void *opaque, unsigned number)
{
	struct units *units = opaque;
	struct host *host = &units->host[number];

	CHECK_EQ(number, units->made);
	if (units->made == units->most)
		return NULL;
	host_make_model(host, units->model, 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
	if (host->driver.facilities.pebs)
		CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA,
				       host_area_bytes(host, 32), 0),
			 SPMU_OK);
	units->made++;
	return &host->driver;
}

static void units_free(struct units *units)
{
	for (unsigned u = 0; u < units->made; u++)
		host_free(&units->host[u]);
}

static struct spmu_request request_of(const struct units *units, uint64_t signals)
{
	bool other = spmu_model_describe(units->model).programming != SPMU_PROGRAM_PERFEVTSEL;
	uint32_t code = host_event(&units->host[0], signals);
	const struct spmu_event *event = spmu_event_by_code(units->model, code);

	return (struct spmu_request){
		.size = sizeof(struct spmu_request),
		.select = USR | (other ? 0 : code),
		.code = other ? code : 0,
		.counters = event ? event->counters : 0,
		.fixed = event ? event->fixed : -1,
	};
}

/* An event of the test and its expected count. */
struct expected {
	bool used, enabled;
	unsigned number;
	uint64_t signals, count;
};

static void retire(struct units *units, struct expected *expected, unsigned n)
{
	while (n--) {
		struct spmu_insn insn = host_next(&units->host[0]);

		for (unsigned u = 0; u < units->made; u++) {
			spmu_retire(units->host[u].core, 0, &insn);
			host_deliver(&units->host[u]);
		}
		for (unsigned e = 0; e < EVENTS; e++)
			expected[e].count += expected[e].used && expected[e].enabled &&
					     insn.cpl == 3 && insn.signals & expected[e].signals;
	}
}

static void change(struct event_set *set, struct units *units, struct expected *e, uint64_t signals,
		   bool remove)
{
	struct spmu_request request;

	if (!e->used) {
		request = request_of(units, signals);
		if (event_set_add(set, &request, NULL, &e->number) != SPMU_OK)
			return;
		*e = (struct expected){true, true, e->number, signals, 0};
	} else if (remove) {
		event_set_remove(set, e->number);
		e->used = false;
	} else {
		e->enabled = !e->enabled;
		event_set_enable(set, e->number, e->enabled);
	}
}

static void check_counts(struct event_set *set, const struct expected *expected)
{
	for (unsigned e = 0; e < EVENTS; e++)
		if (expected[e].used)
			CHECK_EQ(event_set_read(set, expected[e].number), expected[e].count);
}

static void come_and_go(const struct spmu_model *model)
{
	static const uint64_t signals[] = {SPMU_SIGBIT(INSTRUCTIONS), SPMU_SIGSET_BRANCHES};
	static struct units units;
	struct expected expected[EVENTS] = {0};
	struct event_set set;
	unsigned used = 0;

	units = (struct units){.model = model, .most = SET_UNITS_MAX};
	CHECK_EQ(event_set_create(&set, more, &units), SPMU_OK);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint64_t r = host_random(&units.host[0]);

		CHECK_EQ(event_set_start(&set), SPMU_OK);
		retire(&units, expected, r % 32);
		check_counts(&set, expected);
		CHECK_EQ(event_set_stop(&set), SPMU_OK);
		retire(&units, (struct expected[EVENTS]){0}, r >> 8 & 7); /* no event counts */
		check_counts(&set, expected);
		change(&set, &units, &expected[(r >> 16) % EVENTS], signals[r >> 32 & 1],
		       r >> 40 & 1);
	}
	for (unsigned e = 0; e < EVENTS; e++)
		used += expected[e].used;
	CHECK(used > 2 && units.made > 1);
	units_free(&units);
}

static void uses_up(void)
{
	static struct units units;
	struct spmu_request request, impossible;
	struct event_set set;
	unsigned number = 0, count = 0;
	enum spmu_status status;

	units = (struct units){.model = spmu_model_find("skylake"), .most = 2};
	CHECK_EQ(event_set_create(&set, more, &units), SPMU_OK);
	request = request_of(&units, SPMU_SIGSET_BRANCHES);
	while ((status = event_set_add(&set, &request, NULL, &number)) == SPMU_OK)
		count++;
	CHECK_EQ(status, SPMU_E_SPACE);
	CHECK_EQ(count, 2 * units.host[0].driver.facilities.counters);
	event_set_remove(&set, 3);
	CHECK_EQ(event_set_add(&set, &request, NULL, &number), SPMU_OK);
	CHECK_EQ(number, 3);
	units_free(&units);

	units = (struct units){.model = spmu_model_find("skylake"), .most = 2};
	CHECK_EQ(event_set_create(&set, more, &units), SPMU_OK);
	impossible = request;
	impossible.counters = 0;
	impossible.fixed = -1;
	CHECK_EQ(event_set_add(&set, &impossible, NULL, &number), SPMU_E_COUNTER);
	units_free(&units);

	units = (struct units){.most = 0};
	CHECK_EQ(event_set_create(&set, more, &units), SPMU_E_SPACE);
}

/* Checks that a unit without an enabled event is not started, and asks its host for nothing. */
static void asks_for_nothing(void)
{
	static struct units units;
	struct spmu_request request;
	struct event_set set;
	unsigned number = 0;

	units = (struct units){.model = spmu_model_find("skylake"), .most = 1};
	CHECK_EQ(event_set_create(&set, more, &units), SPMU_OK);
	request = request_of(&units, SPMU_SIGBIT(INSTRUCTIONS));
	CHECK_EQ(event_set_add(&set, &request, NULL, &number), SPMU_OK);
	CHECK_EQ(event_set_start(&set), SPMU_OK);
	CHECK_EQ(units.host[0].meters.count, 1);
	CHECK_EQ(event_set_stop(&set), SPMU_OK);
	event_set_enable(&set, number, false);
	CHECK_EQ(event_set_start(&set), SPMU_OK);
	CHECK_EQ(units.host[0].meters.count, 0);
	CHECK_EQ(event_set_stop(&set), SPMU_OK);
	event_set_enable(&set, number, true);
	CHECK_EQ(event_set_start(&set), SPMU_OK);
	CHECK_EQ(units.host[0].meters.count, 1);
	CHECK_EQ(event_set_stop(&set), SPMU_OK);
	units_free(&units);
}

int main(void)
{
	for (size_t i = 0; i < spmu_model_count(); i++) {
		unsigned before = check_failed;

		RUN(come_and_go(spmu_model_at(i)));
		if (check_failed != before)
			printf("%s: %u failed\n", spmu_model_describe(spmu_model_at(i)).name,
			       check_failed - before);
	}
	RUN(uses_up());
	RUN(asks_for_nothing());
	return test_summary();
}
