/* SPDX-License-Identifier: MIT */
/*
 * record_file.c: writes what the engine hands over to perf.data.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <hosts/user/data_source.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/run/record.h"

#define PROGRESS_NS UINT64_C(1000000000)

/* The registers of a link_sample in perf's numbers. */
static const uint8_t register_numbers[18] = {
	PERFDATA_FLAGS,	 PERFDATA_IP,	  PERFDATA_AX,	   PERFDATA_BX,	    PERFDATA_CX,
	PERFDATA_DX,	 PERFDATA_SI,	  PERFDATA_DI,	   PERFDATA_BP,	    PERFDATA_SP,
	PERFDATA_R8,	 PERFDATA_R8 + 1, PERFDATA_R8 + 2, PERFDATA_R8 + 3, PERFDATA_R8 + 4,
	PERFDATA_R8 + 5, PERFDATA_R8 + 6, PERFDATA_R8 + 7,
};

/* --- the file ------------------------------------------------------------------------ */

static struct perf_event_attr make_attr(const struct record *record, const struct event *event,
					bool first)
{
	struct perf_event_attr attr = {
		.type = event->perf_type,
		.config = event->perf_config,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.disabled = 1,
		.enable_on_exec = 1,
		.exclude_user = event->exclude_user,
		.exclude_kernel = event->exclude_kernel,
		.exclude_hv = 1,
		.exclude_guest = 1,
		.precise_ip = event->precise & 3,
		.sample_id_all = 1,
		.mmap = first,
		.mmap2 = first,
		.comm = first,
		.comm_exec = first,
		.task = first,
		.build_id = first,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.inherit = !(record->run.want & LINK_WANT_ONE),
		.freq = event->frequency != 0,
	};

	if (event->trace) {
		attr.freq = 0;
		attr.sample_period = 1;
		return attr;
	}
	if (event->frequency)
		attr.sample_freq = event->frequency;
	else
		attr.sample_period = event->period;
	if (record->addresses)
		attr.sample_type |= PERF_SAMPLE_ADDR;
	if (record_tells_source(record)) {
		attr.sample_type |= PERF_SAMPLE_DATA_SRC;
		attr.mmap_data = first;
	}
	if (record->weights)
		attr.sample_type |= PERF_SAMPLE_WEIGHT;
	attr.config1 = event->load_threshold | event->frontend | event->offcore; /* at most one */
	if (record->regs_mask) {
		attr.sample_type |= PERF_SAMPLE_REGS_INTR;
		attr.sample_regs_intr = record->regs_mask;
	}
	if (record->branches.type) {
		attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr.branch_sample_type = record->branches.type;
	}
	if (record->chains) {
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		attr.exclude_callchain_kernel = 1;
	}
	return attr;
}

/* Returns "GenuineIntel,6,94,3" from CPUID.01H:EAX (Vol. 2A, CPUID, figure 3-6). */
static char *cpu_id(uint32_t signature)
{
	unsigned family = signature >> 8 & 0xf, model = signature >> 4 & 0xf;

	if (family == 6 || family == 15)
		model |= (signature >> 16 & 0xf) << 4;
	if (family == 15)
		family += signature >> 20 & 0xff;
	return tool_print("GenuineIntel,%u,%u,%u", family, model, signature & 0xf);
}

bool record_file_to_pipe(struct record *record)
{
	if (isatty(STDOUT_FILENO)) {
		tool_error("-o - writes samples to standard output, which is a terminal: connect "
			   "it to a pipe or a file");
		return false;
	}
	record->pipe_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (record->pipe_fd >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		return true;
	tool_error("cannot write to standard output: %s", strerror(errno));
	return false;
}

bool record_file_create(struct record *record)
{
	struct spmu_model_info info = spmu_model_describe(record->model);
	size_t count = record->events.count;
	struct perfdata_event *events = tool_alloc(count * sizeof(*events));
	char **command = tool_alloc(((size_t)record->argc + 2) * sizeof(*command));
	char *id = cpu_id(info.signature);
	char *version = tool_print("softpmu %s", SPMU_VERSION_STRING);
	char *cpu_name = tool_print("%s, softpmu's %s", info.title, info.name);
	struct perfdata_about about = {.version = version,
				       .cpu_name = cpu_name,
				       .cpu_id = id,
				       .command = command,
				       .compression = record->compression,
				       .pipe_fd = record->pipe_fd};
	static char tool[] = "softpmu";
	char *error = NULL;

	command[0] = tool;
	memcpy(command + 1, record->argv, (size_t)record->argc * sizeof(*record->argv));
	for (size_t i = 0; i < count; i++) {
		events[i].name = record->events.event[i].name;
		events[i].attr = make_attr(record, &record->events.event[i], i == 0);
	}
	record->writer = perfdata_create(record->output, events, count, &about, &error);
	if (!record->writer)
		tool_error("%s", error ? error : "out of memory");
	free(error);
	free(cpu_name);
	free(version);
	free(id);
	free(command);
	free(events);
	return record->writer;
}

bool record_file_finish(struct record *record, uint64_t *bytes)
{
	struct record_switch *s = &record->switching;
	struct perfdata_writer *writer = record->writer;
	uint64_t samples = perfdata_samples(writer), traced = perfdata_traced(writer);
	const char *name;
	char *error;

	record->writer = NULL;
	if (!perfdata_finish(writer, bytes, &error)) {
		tool_error("%s", error ? error : "out of memory");
		free(error);
		return false;
	}
	s->samples += samples;
	s->traced += traced;
	s->written += *bytes;
	if (!s->on)
		return true;
	name = record_switch_name(s, record->output);
	if (name && !record->quiet)
		fprintf(stderr, "%s[ softpmu record: Dump %s ]\n",
			record->progress_shown ? "\r\033[K" : "", name);
	record->progress_shown = false;
	return name;
}

/* --- records --------------------------------------------------------------------------- */

static const struct mapped_file *find_file(struct record *record, const char *path)
{
	struct mapped_file *file;

	for (size_t i = 0; i < record->file_count; i++) {
		if (!strcmp(record->files[i].path, path))
			return &record->files[i];
	}
	record->files = tool_grow(record->files, (record->file_count + 1) * sizeof(*record->files));
	file = &record->files[record->file_count++];
	file->path = tool_copy(path);
	file->build_id_bytes = (uint8_t)perfdata_read_build_id(path, file->build_id);
	return file;
}

static void add_mmap(struct record *record, const struct link_mmap *link, uint64_t time_ns)
{
	const struct mapped_file *file = find_file(record, link->path);
	struct perfdata_mmap map = {
		.pid = link->pid,
		.tid = link->tid,
		.time_ns = time_ns,
		.start = link->start,
		.length = link->length,
		.page_offset = link->page_offset,
		.major = link->device_major,
		.minor = link->device_minor,
		.inode = link->inode,
		.protection = link->protection,
		.flags = link->flags,
		.path = link->path,
		.build_id_bytes = file->build_id_bytes,
	};

	memcpy(map.build_id, file->build_id, sizeof(map.build_id));
	perfdata_add_mmap(record->writer, &map);
}

static void add_comm(struct record *record, const struct link_comm *link, uint64_t time_ns)
{
	struct perfdata_comm comm = {
		.pid = link->pid,
		.tid = link->tid,
		.time_ns = time_ns,
		.comm = link->comm,
		.exec = link->exec,
	};

	perfdata_add_comm(record->writer, &comm);
}

static void add_task(struct record *record, const struct link_task *link, uint64_t time_ns)
{
	struct perfdata_task task = {
		.pid = link->pid,
		.tid = link->tid,
		.ppid = link->ppid,
		.ptid = link->ptid,
		.time_ns = time_ns,
	};

	if (link->ended)
		perfdata_add_exit(record->writer, &task);
	else
		perfdata_add_fork(record->writer, &task);
}

/* Adds a mapping, a name, or the beginning or end of a task. */
static void add_note(struct record *record, const struct link_record *link, uint64_t time_ns)
{
	if (link->type == LINK_REC_MMAP)
		add_mmap(record, (const struct link_mmap *)link, time_ns);
	else if (link->type == LINK_REC_COMM)
		add_comm(record, (const struct link_comm *)link, time_ns);
	else
		add_task(record, (const struct link_task *)link, time_ns);
}

/* Tells the code of the processes what they map and execute.  The mappings of a process that ended
 * stay: its other threads may still have samples. */
static void follow_code(struct code *code, const struct link_record *link)
{
	const struct link_mmap *map = (const struct link_mmap *)link;
	const struct link_comm *comm = (const struct link_comm *)link;
	const struct link_task *task = (const struct link_task *)link;

	if (link->type == LINK_REC_MMAP && map->protection & PROT_EXEC)
		code_map(code, map);
	if (link->type == LINK_REC_COMM && comm->exec)
		code_exec(code, comm->pid);
	if (link->type == LINK_REC_TASK && task->pid != task->ppid && !task->ended)
		code_fork(code, task->pid, task->ppid);
}

static void add_sample(struct record *record, const struct link_sample *link, uint64_t time_ns)
{
	const uint64_t *registers = (const uint64_t *)(link + 1);
	const struct link_branch *branches =
		(const struct link_branch *)(registers + link->registers);
	struct perfdata_branch kept[BRANCHES_MAX];
	struct perfdata_address chain[RECORD_CHAIN_MAX];
	struct perfdata_sample sample = {
		.misc = PERF_RECORD_MISC_USER,
		.pid = link->pid,
		.tid = link->tid,
		.cpu = link->cpu,
		.time_ns = time_ns,
		.ip = link->ip,
		.address = link->data_address,
		.period = link->period,
		.weight = link->latency,
		.branches = kept,
		.chain = chain,
	};

	if (link->event >= record->counted)
		return;
	sample.event = record->event_of[link->event];
	sample.data_source =
		data_source_of(record->events.event[sample.event].row, link->data_source);
	if (record->code)
		code_enter(record->code, link->pid);
	if (record->chains)
		sample.chain_count = record_chain(record, link, chain);
	if (record->branches.type)
		sample.branch_count = branches_sort_out(&record->branches, record->code, branches,
							link->branches, kept);
	if (link->precise)
		sample.misc |= PERF_RECORD_MISC_EXACT_IP;
	for (size_t i = 0; i < link->registers; i++)
		sample.regs[register_numbers[i]] = registers[i];
	perfdata_add_sample(record->writer, &sample);
}

static void add_trace(struct record *record, const struct link_trace *link, uint64_t time_ns,
		      const void *records)
{
	struct perfdata_trace trace = {.pid = link->pid,
				       .tid = link->tid,
				       .time_ns = time_ns,
				       .records = records,
				       .count = link->count};

	if (!record->trace_begun)
		perfdata_begin_trace(record->writer, link->pid, link->tid, time_ns);
	record->trace_begun = true;
	perfdata_add_trace(record->writer, &trace);
}

/* Completes the file, and begins the next one with the notes of all before. */
static void switch_file(struct record *record)
{
	struct record_switch *s = &record->switching;
	uint64_t bytes;

	record->trace_begun = false;
	if (!record_file_finish(record, &bytes) || !record_file_create(record)) {
		s->failed = true;
		return;
	}
	for (size_t i = 0; i < s->note_count; i++)
		add_note(record, s->notes[i].link, s->notes[i].time_ns);
	s->begun = perfdata_bytes(record->writer);
}

/* Shows the progress on a terminal, once a second.  A run of less than a second shows nothing. */
static void show_progress(struct record *record, uint64_t now_ns)
{
	/* If the tool is killed, the file has the records up to here. */
	perfdata_sync(record->writer);
	if (record->next_progress_ns && now_ns < record->next_progress_ns)
		return;
	if (record->next_progress_ns && !record->quiet && isatty(STDERR_FILENO)) {
		fprintf(stderr, "\r[ softpmu record: %llu samples, %.3f MB ]\033[K",
			(unsigned long long)perfdata_samples(record->writer),
			(double)perfdata_bytes(record->writer) / 1e6);
		fflush(stderr);
		record->progress_shown = true;
	}
	record->next_progress_ns = now_ns + PROGRESS_NS;
}

void record_file_take(void *opaque, const struct link_record *link, uint64_t time_ns,
		      const void *trace)
{
	struct record *record = opaque;
	struct record_switch *s = &record->switching;

	if (!record->writer)
		return;
	if (!link) {
		show_progress(record, time_ns);
		if (s->on && record_switch_is_time(s, time_ns))
			switch_file(record);
		return;
	}
	if (record_switch_is_full(s, perfdata_bytes(record->writer)))
		switch_file(record);
	if (!record->writer)
		return;
	switch (link->type) {
	case LINK_REC_MMAP:
	case LINK_REC_COMM:
	case LINK_REC_TASK:
		add_note(record, link, time_ns);
		record_switch_keep(s, link, time_ns);
		if (record->code)
			follow_code(record->code, link);
		break;
	case LINK_REC_SAMPLE:
		add_sample(record, (const struct link_sample *)link, time_ns);
		break;
	case LINK_REC_TRACE:
		add_trace(record, (const struct link_trace *)link, time_ns, trace);
		break;
	default:
		break;
	}
}
