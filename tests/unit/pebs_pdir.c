/* SPDX-License-Identifier: MIT */
/*
 * pebs_pdir.c: precise distribution (Vol. 3B 18.9.4.4, 18.13.1; fixed counter 0 of the 10th
 * generation Core) and Goldmont's reduced skid (18.7.1.2). It checks which models have these, and
 * what a host that runs in bulk may do. tests/scenarios/pebs-pdir*.scenario show the contents of
 * a record.
 */
#include <softpmu/state.h>

#include "tests/unit/unit_host.h"

#define PREC_DIST 0x01c0u
#define FIXED_0	  (UINT64_C(1) << 32)

static const uint64_t minus_3[4] = {UINT64_MAX - 2, UINT64_MAX - 2, UINT64_MAX - 2, UINT64_MAX - 2};

/* Checks on each model which counters have it, with one event or a fixed counter. */
static void who_has_it(void)
{
	static const char *const general[] = {
		"sandybridge", "sandybridge-server", "ivybridge",  "ivybridge-server",
		"haswell",     "haswell-server",     "broadwell",  "broadwell-server",
		"skylake",     "kabylake",	     "coffeelake", "skylake-server",
		"cascadelake",
	};
	static const char *const fixed[] = {"icelake",	      "icelake-server", "tigerlake",
					    "sapphirerapids", "alderlake-e",	"alderlake",
					    "graniterapids",  "sierraforest",	"lunarlake"};
	unsigned generals = 0, fixeds = 0;

	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);
		const char *name = spmu_model_describe(model).name;
		bool on_general = false, on_fixed = false;
		bool skid = !strcmp(name, "goldmont") || !strcmp(name, "goldmont-plus") ||
			    !strcmp(name, "sapphirerapids") || !strncmp(name, "alderlake", 9) ||
			    !strcmp(name, "graniterapids") || !strcmp(name, "sierraforest") ||
			    !strcmp(name, "lunarlake");

		for (size_t i = 0; i < sizeof(general) / sizeof(general[0]); i++)
			on_general |= !strcmp(name, general[i]);
		for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
			on_fixed |= !strcmp(name, fixed[i]);
		generals += on_general;
		fixeds += on_fixed;
		for (unsigned n = 0; n < 70; n++) {
			CHECK_EQ(spmu_model_pdir(model, n, COUNT_ALL | PREC_DIST),
				 (n == 1 && on_general) || (n == 32 && on_fixed));
			CHECK_EQ(spmu_model_pdir(model, n, COUNT_ALL | 0xc0),
				 (n == 32 && on_fixed) || (n == 0 && skid) ||
					 (n == 1 && !strcmp(name, "lunarlake")));
		}
		/* Edge, AnyThread, inversion, a threshold. */
		for (unsigned bit = 18; bit < 32; bit++) {
			CHECK_EQ(spmu_model_pdir(model, 0, 0xc0 | UINT64_C(1) << bit),
				 skid && (bit == 19 || bit == 20 || bit == 22));
			CHECK_EQ(spmu_model_pdir(model, 1, PREC_DIST | UINT64_C(1) << bit),
				 on_general && (bit == 19 || bit == 20 || bit == 22));
		}
		/* Each precise event has reduced skid (18.7.1.2), and no other event has it. */
		CHECK_EQ(spmu_model_pdir(model, 0, 0xc4), skid);
		CHECK(!spmu_model_pdir(model, 0, 0x3c));
	}
	CHECK_EQ(generals, COUNT(general));
	CHECK_EQ(fixeds, COUNT(fixed));
}

/*
 * Checks headroom. The overflow itself makes a callback, so no occurrence after the headroom is
 * silent. The overflow of an ordinary counter only arms it, so that counter has one silent
 * occurrence.
 */
static void headroom(void)
{
	struct unit_host host;
	struct spmu_meter *meter;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	meter = host.meters[0].meter;
	host_ds(&host, 8, 8, minus_3);
	WRMSR(&host, PEBS_ENABLE, 3);
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0x4c4 | 1 << 19); /* a pin that overflows do not move */
	WRMSR(&host, PMC0, UINT32_MAX - 9);
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(meter[0].headroom, 9);
	CHECK_EQ(meter[0].silent, 1);
	WRMSR(&host, EVTSEL0, 0);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | PREC_DIST | 1 << 19);
	WRMSR(&host, PMC0 + 1, UINT32_MAX - 9);
	CHECK_EQ(host.meters[0].count, 1);
	CHECK_EQ(meter[0].headroom, 9);
	CHECK_EQ(meter[0].silent, 0);
	/* With a threshold it is an ordinary event, judged at each clock. */
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | PREC_DIST | 1 << 24);
	CHECK_EQ(meter[0].headroom, 0);
	host_destroy(&host);
}

/* Checks bulk up to the headroom, then one by one: each third instruction, and no other. */
static void in_bulk(void)
{
	struct unit_host host;
	struct spmu_meter *meter;
	uint32_t epoch;
	unsigned records = 0;

	host_create(&host, "haswell", 1, SUPPLY_ALL);
	meter = host.meters[0].meter;
	host_ds(&host, 60, 60, minus_3);
	WRMSR(&host, PEBS_ENABLE, 2);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | PREC_DIST);
	WRMSR(&host, PMC0 + 1, UINT32_MAX - 2);
	epoch = host.meters[0].epoch;
	for (unsigned k = 1; k <= 90; k++) {
		if (meter[0].headroom) {
			meter[0].headroom--;
			continue;
		}
		CHECK_EQ(k % 3, 0);
		CHECK_EQ(retire(&host, k, 0), SPMU_EV_RECORD);
		CHECK_EQ(host_record(&host, records++).eventing_ip, k);
	}
	CHECK_EQ(records, 30);
	CHECK_EQ(host.meters[0].epoch, epoch);
	host_destroy(&host);
}

/*
 * Checks a fixed counter in the same way. If a record is skipped, the armed counter is part of the
 * state.
 */
static void fixed_counter(void)
{
	struct unit_host host;
	struct spmu_ds_area area;
	uint8_t block[8192], again[8192];

	host_create(&host, "icelake", 1, SUPPLY_ALL);
	host_ds(&host, 1, 2, minus_3);
	area = host_area(&host);
	area.fixed_reset[0] = UINT64_MAX - 4;
	CHECK_EQ(spmu_ds_encode(host_layout(&host), &area, host.memory, MEMORY_BYTES), SPMU_OK);
	WRMSR(&host, GLOBAL_CTRL, FIXED_0);
	WRMSR(&host, FIXED_CTRL, 3);
	WRMSR(&host, FIXED0, MAX48 - 3);
	WRMSR(&host, PEBS_ENABLE, FIXED_0);
	CHECK_EQ(host.meters[0].meter[0].headroom, 3);
	CHECK_EQ(host.meters[0].meter[0].silent, 0);
	for (unsigned k = 1; k <= 3; k++)
		CHECK_EQ(retire(&host, k, 0), 0);
	CHECK_EQ(retire(&host, 4, 0), SPMU_EV_RECORD);
	CHECK_EQ(host_record(&host, 0).eventing_ip, 4);
	CHECK_EQ(host_record(&host, 0).applicable, FIXED_0);
	CHECK_EQ(RDMSR(&host, FIXED0), MAX48 - 4);
	CHECK_EQ(CAUSES(&host), 0);
	/* The buffer is full. */
	for (unsigned k = 5; k <= 9; k++)
		CHECK_EQ(retire(&host, k, 0), 0);
	CHECK_EQ(RDMSR(&host, FIXED0), 0);
	CHECK_EQ(CAUSES(&host), UINT64_C(1) << 62 | FIXED_0);
	CHECK_EQ(spmu_save(host.core, block, sizeof(block)), SPMU_OK);
	spmu_reset(host.core, 0);
	CHECK_EQ(spmu_load(host.core, block, spmu_state_bytes(host.core)), SPMU_OK);
	CHECK_EQ(spmu_save(host.core, again, sizeof(again)), SPMU_OK);
	CHECK(!memcmp(block, again, spmu_state_bytes(host.core)));
	area.pebs_index = area.pebs_base;
	CHECK_EQ(spmu_ds_encode(host_layout(&host), &area, host.memory, MEMORY_BYTES), SPMU_OK);
	CHECK_EQ(retire(&host, 10, 0), SPMU_EV_RECORD);
	CHECK_EQ(host_record(&host, 0).eventing_ip, 10);
	CHECK_EQ(RDMSR(&host, FIXED0), MAX48 - 4);
	host_destroy(&host);
}

/* Checks 17.4.9: in system-management mode the overflow makes no record and arms nothing. */
static void not_in_smm(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_ALL);
	host_ds(&host, 8, 8, minus_3);
	WRMSR(&host, PEBS_ENABLE, 2);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | PREC_DIST);
	WRMSR(&host, PMC0 + 1, UINT32_MAX);
	spmu_smm(host.core, 0, true);
	CHECK_EQ(retire(&host, 1, 0), 0);
	spmu_smm(host.core, 0, false);
	CHECK_EQ(retire(&host, 2, 0), 0);
	CHECK_EQ(host_records(&host), 0);
	CHECK_EQ(CAUSES(&host), 2);
	host_destroy(&host);
}

int main(void)
{
	RUN(who_has_it());
	RUN(headroom());
	RUN(in_bulk());
	RUN(fixed_counter());
	RUN(not_in_smm());
	return test_summary();
}
