/* SPDX-License-Identifier: MIT */
/*
 * softpmu-monitor.c: the monitor's command `info pmu`, and the list of absent events that software
 * has enabled.  Their counters show 0, which software takes for a measurement.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "cpu.h"
#include "monitor/hmp-target.h"
#include "monitor/monitor.h"
#include "softpmu-unit.h"

#define FIRST_FIXED 32 /* in spmu_absent_counters() */
#define PERFEVTSEL0 0x186

/* Returns a text such as "event r010e (UOPS_ISSUED.ANY)"; the caller frees it. */
static char *what_counts(const struct softpmu *unit, unsigned counter)
{
	const struct spmu_event *event;
	uint64_t select = 0;

	if (counter >= FIRST_FIXED)
		return g_strdup_printf("the event of fixed counter %u", counter - FIRST_FIXED);
	if (spmu_model_describe(unit->model).programming != SPMU_PROGRAM_PERFEVTSEL ||
	    spmu_read_msr(unit->core, unit->lp, PERFEVTSEL0 + counter, &select) != SPMU_DONE)
		return g_strdup_printf("the event of counter %u", counter);
	event = spmu_event_by_code(unit->model, (uint16_t)select);
	return g_strdup_printf("event r%04x%s%s%s", (uint16_t)select, event ? " (" : "",
			       event ? event->name : "", event ? ")" : "");
}

/* Returns the entry of an event.  When the list is full, other events share the last entry. */
static struct softpmu_absent *entry_of(struct softpmu *unit, const char *what)
{
	const unsigned last = ARRAY_SIZE(unit->absent_events) - 1;
	unsigned n = 0;

	while (n < last && unit->absent_events[n].what && strcmp(unit->absent_events[n].what, what))
		n++;
	if (n == last && !unit->absent_events[n].what)
		unit->absent_events[n].what = g_strdup("other events");
	return &unit->absent_events[n];
}

static void note(struct softpmu *unit, unsigned counter)
{
	g_autofree char *what = what_counts(unit, counter);
	struct softpmu_absent *entry = entry_of(unit, what);

	if (!entry->times++)
		qemu_log_mask(LOG_UNIMP, "pmu: CPU %d enables %s, which is absent: it counts 0\n",
			      CPU(unit->cpu)->cpu_index, what);
	if (!entry->what)
		entry->what = g_steal_pointer(&what);
}

void softpmu_note_absent(struct softpmu *unit)
{
	uint64_t absent = spmu_absent_counters(unit->core, unit->lp);
	uint64_t set = absent & ~unit->absent;

	unit->absent = absent;
	for (; set; set &= set - 1)
		note(unit, ctz64(set));
}

void hmp_info_pmu(Monitor *mon, const QDict *qdict)
{
	CPUState *cpu;

	CPU_FOREACH(cpu)
	{
		const struct softpmu *unit = X86_CPU(cpu)->env.softpmu.unit;

		if (!unit) {
			monitor_printf(mon, "CPU %d: no unit\n", cpu->cpu_index);
			continue;
		}
		monitor_printf(mon, "CPU %d: %s, %" PRIu64 " instructions retired one by one\n",
			       cpu->cpu_index, spmu_model_describe(unit->model).name, unit->single);
		if (softpmu_machine_name(unit))
			monitor_printf(mon, "  machine: %s\n", softpmu_machine_name(unit));
		for (unsigned n = 0; n < ARRAY_SIZE(unit->absent_events); n++)
			if (unit->absent_events[n].what)
				monitor_printf(mon, "  absent: %s, enabled %" PRIu64 " times\n",
					       unit->absent_events[n].what,
					       unit->absent_events[n].times);
	}
}
