/* SPDX-License-Identifier: MIT */
/*
 * features.c: writes the header features after the records: what was recorded, where, and of which
 * files.
 *
 * The layouts are those of perf.data-file-format.txt in Linux' tools/perf. A feature whose fact is
 * unknown is left out.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <src/perfdata/layout.h>

/* A body that grows. `bad` is set if there was no memory. */
struct body {
	uint8_t *bytes;
	size_t length, capacity;
	bool bad;
};

static void put(struct body *body, const void *bytes, size_t count)
{
	if (body->bad || !count)
		return;
	if (body->length + count > body->capacity) {
		size_t capacity = (body->length + count) * 2;
		uint8_t *grown = realloc(body->bytes, capacity);

		if (!grown) {
			body->bad = true;
			return;
		}
		body->bytes = grown;
		body->capacity = capacity;
	}
	if (bytes)
		memcpy(body->bytes + body->length, bytes, count);
	else
		memset(body->bytes + body->length, 0, count);
	body->length += count;
}

static void put_u32(struct body *body, uint32_t value)
{
	put(body, &value, sizeof(value));
}

static void put_u64(struct body *body, uint64_t value)
{
	put(body, &value, sizeof(value));
}

static void put_text(struct body *body, const char *text)
{
	size_t length = strlen(text) + 1;
	size_t padded = (length + FEATURE_TEXT_ALIGN - 1) / FEATURE_TEXT_ALIGN * FEATURE_TEXT_ALIGN;

	put_u32(body, (uint32_t)padded);
	put(body, text, length);
	put(body, NULL, padded - length);
}

/* --- one function for each feature; it returns false to leave the feature out ------- */

typedef bool feature_writer(struct body *body, const struct feature_source *source);

static bool put_build_ids(struct body *body, const struct feature_source *source)
{
	bool some = false;

	for (size_t i = 0; i < source->file_count; i++) {
		const struct known_file *file = &source->files[i];
		size_t path_bytes = (strlen(file->path) + 1 + 63) & ~(size_t)63;
		uint8_t entry[BUILD_ID_ENTRY_PATH] = {0};
		struct perf_event_header header = {
			.misc = PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE,
		};
		int32_t pid = -1;

		if (!file->build_id_bytes || path_bytes > RECORD_BYTES_MAX - sizeof(entry))
			continue;
		header.size = (uint16_t)(sizeof(entry) + path_bytes);
		memcpy(entry, &header, sizeof(header));
		memcpy(entry + BUILD_ID_ENTRY_PID, &pid, sizeof(pid));
		memcpy(entry + BUILD_ID_ENTRY_ID, file->build_id, PERFDATA_BUILD_ID_MAX);
		entry[BUILD_ID_ENTRY_BYTES] = file->build_id_bytes;
		put(body, entry, sizeof(entry));
		put(body, file->path, strlen(file->path));
		put(body, NULL, path_bytes - strlen(file->path));
		some = true;
	}
	return some;
}

static bool put_hostname(struct body *body, const struct feature_source *source)
{
	struct utsname name;

	(void)source;
	if (uname(&name))
		return false;
	put_text(body, name.nodename);
	return true;
}

static bool put_osrelease(struct body *body, const struct feature_source *source)
{
	struct utsname name;

	(void)source;
	if (uname(&name))
		return false;
	put_text(body, name.release);
	return true;
}

static bool put_arch(struct body *body, const struct feature_source *source)
{
	struct utsname name;

	(void)source;
	if (uname(&name))
		return false;
	put_text(body, name.machine);
	return true;
}

static bool put_version(struct body *body, const struct feature_source *source)
{
	if (source->version)
		put_text(body, source->version);
	return source->version;
}

static bool put_cpu_name(struct body *body, const struct feature_source *source)
{
	if (source->cpu_name)
		put_text(body, source->cpu_name);
	return source->cpu_name;
}

static bool put_cpu_id(struct body *body, const struct feature_source *source)
{
	if (source->cpu_id)
		put_text(body, source->cpu_id);
	return source->cpu_id;
}

static bool put_cpus(struct body *body, const struct feature_source *source)
{
	(void)source;
	put_u32(body, (uint32_t)get_nprocs_conf());
	put_u32(body, (uint32_t)get_nprocs());
	return true;
}

/* All memory is in one node, as in a model of a machine. `perf c2c` reads no file without nodes. */
static bool put_nodes(struct body *body, const struct feature_source *source)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct sysinfo info;
	char list[32];

	(void)source;
	if (cpus < 1 || sysinfo(&info))
		return false;
	snprintf(list, sizeof(list), "0-%ld", cpus - 1);
	put_u32(body, 1);
	put_u32(body, 0);
	put_u64(body, (uint64_t)info.totalram * info.mem_unit / 1024);
	put_u64(body, (uint64_t)info.freeram * info.mem_unit / 1024);
	put_text(body, list);
	return true;
}

static bool put_memory(struct body *body, const struct feature_source *source)
{
	struct sysinfo info;

	(void)source;
	if (sysinfo(&info))
		return false;
	put_u64(body, (uint64_t)info.totalram * info.mem_unit / 1024);
	return true;
}

static bool put_command(struct body *body, const struct feature_source *source)
{
	uint32_t count = 0;

	if (!source->command)
		return false;
	while (source->command[count])
		count++;
	put_u32(body, count);
	for (uint32_t i = 0; i < count; i++)
		put_text(body, source->command[i]);
	return true;
}

static bool put_events(struct body *body, const struct feature_source *source)
{
	put_u32(body, (uint32_t)source->event_count);
	put_u32(body, sizeof(struct perf_event_attr));
	for (size_t i = 0; i < source->event_count; i++) {
		const struct perfdata_event *event = &source->events[i];

		put(body, &event->attr, sizeof(event->attr));
		put_u32(body, 1);
		put_text(body, event->name);
		put_u64(body, event->id);
	}
	return true;
}

/* Samples of a call-stack mode are for call graphs. They are not branches to show. */
static bool put_branch_stack(struct body *body, const struct feature_source *source)
{
	(void)body;
	for (size_t i = 0; i < source->event_count; i++) {
		const struct perf_event_attr *attr = &source->events[i].attr;

		if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
			return true;
	}
	return false;
}

static bool put_pmus(struct body *body, const struct feature_source *source)
{
	for (size_t i = 0; i < source->event_count; i++) {
		if (source->events[i].attr.type != PERFDATA_TYPE_INTEL_BTS)
			continue;
		put_u32(body, 1);
		put_u32(body, PERFDATA_TYPE_INTEL_BTS);
		put_text(body, "intel_bts");
		return true;
	}
	return false;
}

/* The places of the stretches of traces. */
static bool put_traces(struct body *body, const struct feature_source *source)
{
	if (!source->trace_count)
		return false;
	put_u64(body, source->trace_count);
	for (size_t i = 0; i < source->trace_count; i++) {
		put_u64(body, source->traces[i].offset);
		put_u64(body, source->traces[i].bytes);
	}
	return true;
}

static bool put_times(struct body *body, const struct feature_source *source)
{
	if (!source->last_ns)
		return false;
	put_u64(body, source->first_ns);
	put_u64(body, source->last_ns);
	return true;
}

static bool put_clock(struct body *body, const struct feature_source *source)
{
	if (!source->event_count || !source->events[0].attr.use_clockid)
		return false;
	put_u64(body, 1); /* nanoseconds of resolution */
	return true;
}

static bool put_compression(struct body *body, const struct feature_source *source)
{
	if (!source->compression)
		return false;
	put_u32(body, COMPRESSED_VERSION);
	put_u32(body, COMPRESSED_ZSTD);
	put_u32(body, (uint32_t)source->compression);
	put_u32(body, source->packed_to ? (uint32_t)(source->packed_from / source->packed_to) : 1);
	put_u32(body, COMPRESSED_EXPANDED);
	return true;
}

/* In the order of their bits, as the descriptors. */
static const struct {
	enum perfdata_feature bit;
	feature_writer *write;
} features[] = {
	{FEATURE_BUILD_ID, put_build_ids},
	{FEATURE_HOSTNAME, put_hostname},
	{FEATURE_OSRELEASE, put_osrelease},
	{FEATURE_VERSION, put_version},
	{FEATURE_ARCH, put_arch},
	{FEATURE_NRCPUS, put_cpus},
	{FEATURE_CPUDESC, put_cpu_name},
	{FEATURE_CPUID, put_cpu_id},
	{FEATURE_TOTAL_MEM, put_memory},
	{FEATURE_CMDLINE, put_command},
	{FEATURE_EVENT_DESC, put_events},
	{FEATURE_NUMA_TOPOLOGY, put_nodes},
	{FEATURE_BRANCH_STACK, put_branch_stack},
	{FEATURE_PMU_MAPPINGS, put_pmus},
	{FEATURE_AUXTRACE, put_traces},
	{FEATURE_SAMPLE_TIME, put_times},
	{FEATURE_CLOCKID, put_clock},
	{FEATURE_COMPRESSED, put_compression},
};

#define FEATURES (sizeof(features) / sizeof(features[0]))

uint8_t *features_build(const struct feature_source *source, uint64_t offset,
			struct perfdata_header *header, size_t *bytes)
{
	struct perfdata_section sections[FEATURES];
	struct body bodies = {0};
	size_t count = 0, descriptors;

	memset(header->features, 0, sizeof(header->features));
	for (size_t i = 0; i < FEATURES; i++) {
		size_t start = bodies.length;

		if (!features[i].write(&bodies, source))
			continue;
		sections[count].offset = start;
		sections[count++].bytes = bodies.length - start;
		header->features[features[i].bit / 64] |= UINT64_C(1) << features[i].bit % 64;
	}
	descriptors = count * sizeof(*sections);
	put(&bodies, NULL, descriptors);
	if (bodies.bad) {
		free(bodies.bytes);
		return NULL;
	}
	memmove(bodies.bytes + descriptors, bodies.bytes, bodies.length - descriptors);
	for (size_t i = 0; i < count; i++)
		sections[i].offset += offset + descriptors;
	memcpy(bodies.bytes, sections, descriptors);
	*bytes = bodies.length;
	return bodies.bytes;
}
