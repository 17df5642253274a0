/* SPDX-License-Identifier: MIT */
/* html_data.c: adds up the samples of a profile for a page, and limits how many sums there are. */
#define _GNU_SOURCE
#include "tools/softpmu/formats/html_data.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

#define SLICES_MOST  1024 /* powers of two */
#define SLICES_LEAST 64
#define ENTRIES_MAX  60000
#define FRAMES_MAX   60000
#define LINES_MAX    2000

/* --- adding up ----------------------------------------------------------------------------- */

static void find_times(void *opaque, const struct profile_sample *sample)
{
	struct html_data *data = opaque;

	if (!data->some || sample->time_ns < data->first_ns)
		data->first_ns = sample->time_ns;
	if (!data->some || sample->time_ns > data->last_ns)
		data->last_ns = sample->time_ns;
	data->some = true;
}

static bool same_thread(const void *threads, uint32_t number, const void *thing)
{
	const struct aggregation_thread *a = (const struct aggregation_thread *)threads + number;
	const struct aggregation_thread *b = thing;

	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid;
}

uint32_t html_data_thread(struct html_data *data, const struct aggregation_thread *thread)
{
	uint64_t hash = numbering_mix((uintptr_t)thread->comm, thread->tid);
	uint32_t number = numbering_find(&data->thread_numbers, numbering_mix(hash, thread->pid),
					 same_thread, data->threads, thread);

	if (number == data->thread_count) {
		data->threads = tool_room(data->threads, &data->thread_room, data->thread_count,
					  sizeof(*data->threads));
		data->threads[data->thread_count++] = *thread;
	}
	return number;
}

static bool same_entry(const void *entries, uint32_t number, const void *thing)
{
	const struct html_data_entry *a = (const struct html_data_entry *)entries + number;
	const struct html_data_entry *b = thing;

	return a->event == b->event && a->slice == b->slice && a->thread == b->thread &&
	       a->frame == b->frame;
}

static void add_entry(struct html_data *data, const struct html_data_entry *entry)
{
	uint64_t hash = numbering_mix((uint64_t)entry->frame << 32 | entry->thread,
				      (uint64_t)entry->slice << 32 | entry->event);
	uint32_t number = numbering_find(&data->entry_numbers, numbering_mix(0, hash), same_entry,
					 data->entries, entry);

	if (number == data->entry_count) {
		data->entries = tool_room(data->entries, &data->entry_room, data->entry_count,
					  sizeof(*data->entries));
		data->entries[data->entry_count++] = *entry;
		return;
	}
	data->entries[number].samples += entry->samples;
	data->entries[number].period += entry->period;
}

static bool same_line(const void *lines, uint32_t number, const void *thing)
{
	const struct html_data_line *a = (const struct html_data_line *)lines + number;
	const struct html_data_line *b = thing;

	return a->event == b->event && a->place == b->place && a->line == b->line &&
	       !strcmp(a->source, b->source);
}

static void add_line(struct html_data *data, const struct profile_sample *sample, uint32_t place)
{
	struct html_data_line line = {.event = (uint32_t)sample->event, .place = place};
	uint32_t number;

	if (!sample->at.file ||
	    !symbol_file_line(sample->at.file, sample->at.address, &line.source, &line.line))
		return;
	number = numbering_find(
		&data->line_numbers,
		numbering_mix(numbering_mix(place, (uint64_t)line.line), sample->event), same_line,
		data->lines, &line);
	if (number == data->line_count) {
		data->lines = tool_room(data->lines, &data->line_room, data->line_count,
					sizeof(*data->lines));
		data->lines[data->line_count++] = line;
	}
	data->lines[number].samples += sample->count;
	data->lines[number].period += sample->period;
}

static uint32_t slice_of(const struct html_data *data, uint64_t time_ns)
{
	uint64_t whole_ns = data->last_ns - data->first_ns + 1;

	return (uint32_t)((double)(time_ns - data->first_ns) / (double)whole_ns * data->slices);
}

static void add(void *opaque, const struct profile_sample *sample)
{
	struct html_data *data = opaque;
	struct aggregation_thread thread = {
		.comm = sample->comm, .pid = sample->pid, .tid = sample->tid};
	struct html_data_entry entry = {
		.event = (uint32_t)sample->event,
		.slice = slice_of(data, sample->time_ns),
		.thread = html_data_thread(data, &thread),
		.frame = aggregation_frame(data->aggregation, sample),
		.samples = sample->count,
		.period = sample->period,
	};

	add_entry(data, &entry);
	add_line(data, sample, data->aggregation->frames[entry.frame].place);
}

/* --- limits -------------------------------------------------------------------------------- */

/* Forgets the entries and adds them up again. */
static void add_again(struct html_data *data)
{
	struct html_data_entry *old = data->entries;
	size_t count = data->entry_count;

	numbering_free(&data->entry_numbers);
	memset(&data->entry_numbers, 0, sizeof(data->entry_numbers));
	data->entries = NULL;
	data->entry_count = data->entry_room = 0;
	for (size_t i = 0; i < count; i++)
		add_entry(data, &old[i]);
	free(old);
}

static void make_slices_longer(struct html_data *data)
{
	data->slices /= 2;
	for (size_t i = 0; i < data->entry_count; i++)
		data->entries[i].slice /= 2;
	add_again(data);
}

/* Entries of different events are compared by their shares. */
static int larger_entry(const void *one, const void *other, void *opaque)
{
	const struct html_data_entry *a = one, *b = other;
	const struct aggregation *aggregation = opaque;
	double first = (double)a->period / (double)(aggregation->events[a->event].period + 1);
	double second = (double)b->period / (double)(aggregation->events[b->event].period + 1);

	return first > second ? -1 : first < second;
}

/* Takes the call chain from the smallest entries. */
static void drop_chains(struct html_data *data)
{
	const struct aggregation *aggregation = data->aggregation;
	bool *used = tool_alloc(aggregation->frame_count * sizeof(*used) + 1);
	size_t frames = 0;

	if (data->entry_count)
		qsort_r(data->entries, data->entry_count, sizeof(*data->entries), larger_entry,
			data->aggregation);
	for (size_t i = 0; i < data->entry_count; i++) {
		uint32_t frame = data->entries[i].frame;

		if (i >= ENTRIES_MAX || frames >= FRAMES_MAX) {
			data->entries[i].frame = HTML_DATA_SMALL;
			continue;
		}
		for (; frame != AGGREGATION_NONE && !used[frame];
		     frame = aggregation->frames[frame].caller) {
			used[frame] = true;
			frames++;
		}
	}
	free(used);
	add_again(data);
}

static int larger_line(const void *one, const void *other, void *opaque)
{
	const struct html_data_line *a = one, *b = other;
	const struct aggregation *aggregation = opaque;
	double first = (double)a->period / (double)(aggregation->events[a->event].period + 1);
	double second = (double)b->period / (double)(aggregation->events[b->event].period + 1);

	if (first != second)
		return first > second ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

static void choose_lines(struct html_data *data)
{
	if (data->line_count)
		qsort_r(data->lines, data->line_count, sizeof(*data->lines), larger_line,
			data->aggregation);
	if (data->line_count > LINES_MAX)
		data->line_count = LINES_MAX;
}

void html_data_read(struct html_data *data, struct profile *profile)
{
	*data = (struct html_data){.profile = profile, .slices = SLICES_MOST};
	data->aggregation = aggregation_new(profile, AGGREGATION_SAMPLES | AGGREGATION_CALLERS |
							     AGGREGATION_THREADS);
	profile_each(profile, 0, find_times, data);
	if (data->last_ns == data->first_ns)
		data->slices = 1;
	profile_each(profile, PROFILE_CALLERS, add, data);
	while (data->entry_count > ENTRIES_MAX && data->slices > SLICES_LEAST)
		make_slices_longer(data);
	drop_chains(data);
	choose_lines(data);
}

void html_data_free(struct html_data *data)
{
	aggregation_free(data->aggregation);
	free(data->threads);
	free(data->entries);
	free(data->lines);
	numbering_free(&data->thread_numbers);
	numbering_free(&data->entry_numbers);
	numbering_free(&data->line_numbers);
}
