/* SPDX-License-Identifier: MIT */
/* profile_exact.c: visits the instructions and calls of an exact profile. */
#include <stdlib.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/profile/processes.h"
#include "tools/softpmu/profile/profile.h"

/* Returns the function at the address, as the profile names it, or NULL. */
static const struct symbol *find_name(const struct profile *profile, struct exact_place at)
{
	const struct exact_object *object = &profile->exact->objects[at.object];
	const struct symbol *symbols = profile->names[at.object];
	size_t low = 0, high = object->name_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].start <= at.address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at.address < symbols[low - 1].end ? &symbols[low - 1] : NULL;
}

void profile_exact_names(struct profile *profile)
{
	const struct exact *exact = profile->exact;

	profile->names = tool_alloc((exact->object_count + 1) * sizeof(struct symbol *));
	for (size_t i = 0; i < exact->object_count; i++) {
		const struct exact_object *object = &exact->objects[i];

		profile->names[i] = tool_alloc((object->name_count + 1) * sizeof(**profile->names));
		for (size_t n = 0; n < object->name_count; n++)
			profile->names[i][n] = (struct symbol){.name = object->names[n].name,
							       .start = object->names[n].start,
							       .end = object->names[n].end};
	}
}

void profile_exact_free_names(struct profile *profile)
{
	for (size_t i = 0; i < profile->exact->object_count; i++)
		free(profile->names[i]);
	free(profile->names);
}

/* Without the file of the run, the profile has the names. */
static struct profile_place place_of(const struct profile *profile,
				     const struct exact_thread *thread, struct exact_place at)
{
	const struct exact_object *object = &profile->exact->objects[at.object];

	struct profile_place place =
		processes_place_in(profile->processes, thread->pid, object->path, object->build_id,
				   object->build_id_bytes, at.address);

	if (!place.symbol)
		place.symbol = find_name(profile, at);
	return place;
}

static void visit_insn(const struct profile *profile, const struct exact_thread *thread,
		       const struct exact_insn *insn, profile_visitor *visit, void *opaque)
{
	struct profile_sample sample = {
		.count = insn->times,
		.pid = thread->pid,
		.tid = thread->tid,
		.comm = processes_intern(profile->processes, thread->comm),
		.at = place_of(profile, thread, insn->at),
	};

	for (size_t e = 0; e < profile->exact->event_count; e++) {
		if (!insn->cost[e])
			continue;
		sample.event = e;
		sample.period = insn->cost[e];
		visit(opaque, &sample);
	}
}

void profile_exact_insns(struct profile *profile, profile_visitor *visit, void *opaque)
{
	const struct exact *exact = profile->exact;

	for (size_t t = 0; t < exact->thread_count; t++) {
		for (size_t i = 0; i < exact->threads[t]->insn_count; i++)
			visit_insn(profile, exact->threads[t], &exact->threads[t]->insns[i], visit,
				   opaque);
	}
}

static struct profile_call call_in(const struct profile *profile, const struct exact_thread *thread)
{
	return (struct profile_call){
		.pid = thread->pid,
		.tid = thread->tid,
		.comm = processes_intern(profile->processes, thread->comm),
	};
}

static void visit_costs(const struct profile *profile, struct profile_call *call,
			const uint64_t *cost, profile_call_visitor *visit, void *opaque)
{
	for (size_t e = 0; e < profile->exact->event_count; e++) {
		call->event = e;
		call->cost = cost[e];
		visit(opaque, call);
	}
}

static void visit_thread(const struct profile *profile, const struct exact_thread *thread,
			 profile_call_visitor *visit, void *opaque)
{
	struct profile_call call = call_in(profile, thread);

	for (size_t i = 0; i < thread->function_count; i++) {
		call.to = place_of(profile, thread, thread->functions[i].at);
		call.times = thread->functions[i].times;
		visit_costs(profile, &call, thread->functions[i].cost, visit, opaque);
	}
	call.is_call = true;
	for (size_t i = 0; i < thread->call_count; i++) {
		call.from = place_of(profile, thread, thread->calls[i].at);
		call.to = place_of(profile, thread, thread->calls[i].callee);
		call.times = thread->calls[i].times;
		visit_costs(profile, &call, thread->calls[i].cost, visit, opaque);
	}
}

void profile_exact_calls(struct profile *profile, profile_call_visitor *visit, void *opaque)
{
	for (size_t t = 0; profile->exact && t < profile->exact->thread_count; t++)
		visit_thread(profile, profile->exact->threads[t], visit, opaque);
}
