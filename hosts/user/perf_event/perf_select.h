/* SPDX-License-Identifier: MIT */
/*
 * perf_select.h: how a counter of a model is programmed for an event that a program asks for
 * (perf_select.c). Also tells whether the events of a group fit together.
 */
#ifndef SOFTPMU_PERF_SELECT_H
#define SOFTPMU_PERF_SELECT_H

#include <linux/perf_event.h>

#include <softpmu/driver.h>
#include <softpmu/model.h>
#include <stdbool.h>

/* The type of the PMU `cpu`, as Linux has it in /sys/bus/event_source/devices/cpu/type. */
#define PERF_SELECT_CPU PERF_TYPE_RAW

/* What the unit can count for programs, and whether it can sample clocks. */
struct perf_supply {
	struct spmu_supply unit;
	bool samples_clocks;
};

/*
 * Fills in *request.  The checks of perf_attr_check() have been made.
 *
 * -ENOENT: the type is not the processor's, or nothing supplies what the event counts.
 * -EINVAL: there is no such event, or no counter can count it.
 * -EACCES: it counts the other thread of the core, too.
 * -EOPNOTSUPP: samples, or what only samples have.
 */
long perf_select(const struct spmu_model *model, const struct perf_supply *supply,
		 const struct perf_event_attr *attr, struct spmu_request *request);

/* Returns the threshold of an event of load latency, in core clocks; 0: it is another event. */
uint32_t perf_select_load_threshold(const struct spmu_model *model,
				    const struct perf_event_attr *attr);

/* Returns whether it is cpu-clock or task-clock. */
bool perf_select_is_clock(const struct perf_event_attr *attr);

/*
 * The same for a software event (PERF_COUNT_SW_) that is served in place of the kernel: what a task
 * can know of itself.  Only a clock that samples needs the unit.  Errors as above.
 */
long perf_select_software(const struct spmu_model *model, const struct perf_supply *supply,
			  const struct perf_event_attr *attr, struct spmu_request *request);

/* Adds a request to a unit that is otherwise empty.  Returns false if no counter is left. */
typedef bool perf_select_add(void *opaque, const struct spmu_request *request);

/* Returns whether one unit can count all of them at a time.  The order of the array may change. */
bool perf_select_fits(struct spmu_request *request, unsigned requests, perf_select_add *add,
		      void *opaque);

#endif
