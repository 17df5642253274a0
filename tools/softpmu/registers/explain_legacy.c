/* SPDX-License-Identifier: MIT */
/*
 * explain_legacy.c: the registers that select events before architectural performance monitoring:
 * Pentium's CESR (Vol. 3B 18.23.1) and NetBurst's ESCRs and CCCRs (18.15.1, 18.15.3).
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hosts/user/launch.h"
#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/events/catalog.h"
#include "tools/softpmu/events/event_legacy.h"
#include "tools/softpmu/registers/explain.h"

#define FIRST_CCCR 0x360u

static const char *rings(bool os, bool usr, const char *os_text)
{
	if (os && usr)
		return "at every CPL";
	if (os)
		return os_text;
	return usr ? NULL : "nowhere";
}

static void say_event(const struct spmu_event *row, const char *code)
{
	enum spmu_fidelity fidelity = spmu_event_fidelity(row, &launch_supply);

	printf("Event %s is %s: %s (%s%s).\nIts count in a program run by softpmu is %s.\n", code,
	       row->name, row->description, output_volume(row->section), row->section,
	       catalog_fidelity_text(fidelity));
}

/* --- Pentium --- */

/* Returns the event that has this code on this counter, or NULL. */
static const struct spmu_event *row_on(const struct spmu_model *model, uint32_t code,
				       unsigned counter)
{
	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *row = spmu_event_at(model, i);

		if (row->code == code && (row->counters >> counter & 1))
			return row;
	}
	return NULL;
}

void explain_legacy_cesr(const struct explain *explain, uint64_t value)
{
	for (unsigned n = 0; n < 2; n++) {
		unsigned half = (unsigned)(value >> (16 * n)) & 0x3ff;
		const struct spmu_event *row = row_on(explain->model, half & 0x3f, n);
		const char *where = rings(half & 0x40, half & 0x80, "at CPL 0, 1 and 2");
		char code[8];

		snprintf(code, sizeof(code), "r%04x", half & 0x3f);
		printf("Counter %u %s.\n", n, half & 0xc0 ? "counts" : "is off");
		if (!(half & 0xc0))
			continue;
		if (row)
			say_event(row, code);
		else
			printf("Event %s: the model's table has none of this code.\n", code);
		printf("It counts %s%s; the pin is %s.\n",
		       half & 0x100 ? "clocks in which it happens, " : "",
		       where ? where : "at CPL 3",
		       half & 0x200 ? "asserted at an overflow" : "asserted at each count");
	}
}

/* --- NetBurst --- */

/* The block of counters and the CCCR.ESCR_SELECT of each ESCR (table 18-63). */
static const struct place {
	const char *unit;
	uint8_t block, select;
} places[] = {
	{"BPU", 0, 0},	{"IS", 0, 1},	 {"MOB", 0, 2},	 {"ITLB", 0, 3}, {"PMH", 0, 4},
	{"IX", 0, 5},	{"FSB", 0, 6},	 {"BSU", 0, 7},	 {"MS", 1, 0},	 {"TC", 1, 1},
	{"TBPU", 1, 2}, {"FLAME", 2, 0}, {"FIRM", 2, 1}, {"SAAT", 2, 2}, {"U2L", 2, 3},
	{"DAC", 2, 5},	{"IQ", 3, 0},	 {"ALF", 3, 1},	 {"RAT", 3, 2},	 {"SSU", 3, 3},
};

/* Finds the place of an ESCR by its name.  CRU has three pairs: 0 and 1, 2 and 3, 4 and 5. */
static bool place_of(const char *name, unsigned *block, unsigned *select)
{
	const char *unit = name + strlen("MSR_");
	size_t length = strcspn(unit, "_");

	if (!strncmp(unit, "CRU_", 4)) {
		*block = 3;
		*select = 4 + (unsigned)(name[strlen(name) - 1] - '0') / 2;
		return true;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (strlen(places[i].unit) != length || strncmp(places[i].unit, unit, length))
			continue;
		*block = places[i].block;
		*select = places[i].select;
		return true;
	}
	return false;
}

static void say_threads(uint64_t value)
{
	static const char *const flags[] = {"thread 1 at CPL 1, 2 and 3", "thread 1 at CPL 0",
					    "thread 0 at CPL 1, 2 and 3", "thread 0 at CPL 0"};
	const char *before = "It selects ";

	for (unsigned bit = 4; bit-- > 0;) {
		if (!(value >> bit & 1))
			continue;
		printf("%s%s", before, flags[bit]);
		before = ", ";
	}
	puts(value & 0xf ? "." : "It selects no thread and ring, so nothing.");
}

void explain_legacy_escr(const struct explain *explain, const char *name, uint64_t value)
{
	unsigned block, select, mask = (unsigned)(value >> 9) & 0xffff;
	const struct spmu_event *row;
	uint32_t code;
	char text[12];

	if (!place_of(name, &block, &select))
		return;
	code = (uint32_t)mask << 16 | block << 12 | select << 8 | ((uint32_t)(value >> 25) & 0x3f);
	row = event_legacy_row(explain->model, code);
	snprintf(text, sizeof(text), "r%08x", code);
	if (row)
		say_event(row, text);
	else
		printf("Event %s: the model's table has none of this code.\n", text);
	say_threads(value);
	if (value & 0x10)
		printf("It tags with value %u what it selects.\n", (unsigned)(value >> 5) & 0xf);
}

/* Finds the ESCR that a counter's CCCR selects.  ESCRs of even and of odd number have different
 * counters. */
static bool escr_of(const struct explain *explain, unsigned counter, unsigned wanted, char name[32])
{
	static const uint32_t odd = 0x2cccc;
	unsigned number = odd >> counter & 1, block, select;
	struct spmu_register reg;

	for (size_t i = 0; spmu_register_at(explain->model, i, &reg); i++) {
		unsigned last = (unsigned)(reg.name[strlen(reg.name) - 1] - '0');

		if (!strstr(reg.name, "_ESCR") || !place_of(reg.name, &block, &select))
			continue;
		if (block == (counter / 4 < 3 ? counter / 4 : 3) && select == wanted &&
		    last % 2 == number) {
			snprintf(name, 32, "%s", reg.name);
			return true;
		}
	}
	return false;
}

static void say_comparison(uint64_t value)
{
	unsigned threshold = (unsigned)(value >> 20) & 0xf;

	if (!(value & 1u << 18))
		return;
	printf("It counts %sclocks with %s %u occurrence%s.\n",
	       value & 1u << 24 ? "rising edges of " : "",
	       value & 1u << 19 ? "at most" : "more than", threshold, threshold == 1 ? "" : "s");
}

void explain_legacy_cccr(const struct explain *explain, uint32_t msr, uint64_t value)
{
	static const char *const interrupts[] = {"nobody", "thread 0", "thread 1", "both threads"};
	unsigned counter = msr - FIRST_CCCR;
	char escr[32];

	printf("Counter %u is %s, and connected with %s.\n", counter,
	       value & 1u << 12 ? "enabled" : "not enabled",
	       escr_of(explain, counter, (unsigned)(value >> 13) & 7, escr) ? escr : "no ESCR");
	say_comparison(value);
	printf("An overflow interrupts %s%s%s.\n", interrupts[value >> 26 & 3],
	       value & 1u << 25 ? "; each count is one" : "",
	       value & 1u << 31 ? "; there was one" : "");
	if (value & 1u << 30)
		puts("It starts when the counter before it in the cascade overflows.");
}
