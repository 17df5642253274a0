/* SPDX-License-Identifier: MIT */
/*
 * perfdata.h: write and read perf.data, the file of Linux' perf tools.
 *
 * The writer appends records and keeps the file readable at each perfdata_sync(); the reader
 * takes any file in the PERFILE2 form and checks every length.  Both go by the layout in
 * layout.h.
 */
#ifndef SOFTPMU_PERFDATA_H
#define SOFTPMU_PERFDATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERFDATA_BUILD_ID_MAX 20
#define PERFDATA_REGS	      24 /* perf's numbers of x86-64 registers: AX 0 ... R15 23 */

/* perf's register numbers (asm/perf_regs.h); DS, ES, FS and GS, 12 to 15, are never recorded. */
enum perfdata_reg {
	PERFDATA_AX,
	PERFDATA_BX,
	PERFDATA_CX,
	PERFDATA_DX,
	PERFDATA_SI,
	PERFDATA_DI,
	PERFDATA_BP,
	PERFDATA_SP,
	PERFDATA_IP,
	PERFDATA_FLAGS,
	PERFDATA_CS,
	PERFDATA_SS,
	PERFDATA_R8 = 16,
};

/* perf_event_attr.type of intel_bts events: a number that kernels give out at run time.  This one
 * is beyond theirs; the file names it in AUXTRACE_INFO and PMU_MAPPINGS. */
#define PERFDATA_TYPE_INTEL_BTS 1000

/* Records of perf's own that have no place in the kernel's list. */
#define PERFDATA_RECORD_AUXTRACE_INFO 70
#define PERFDATA_RECORD_AUXTRACE      71

/* perf's kinds of traces that are known here. */
#define PERFDATA_TRACE_INTEL_BTS 2

/* An event that was recorded. */
struct perfdata_event {
	const char *name; /* "instructions:upp"; never NULL from the reader */
	struct perf_event_attr attr;
	uint64_t id; /* what its samples carry (the first of several) */
};

/* In files nothing is sure to be aligned, so these may stand anywhere. */
struct perfdata_branch { /* flags as in struct perf_branch_entry */
	uint64_t from, to, flags;
} __attribute__((packed));

struct perfdata_bts { /* a BTS record (Vol. 3B 17.4.9.2); bit 4 of misc: predicted */
	uint64_t from, to, misc;
} __attribute__((packed));

struct perfdata_address {
	uint64_t ip; /* or one of PERF_CONTEXT_ */
} __attribute__((packed));

struct perfdata_sample {
	size_t event; /* index of the event */
	uint16_t misc;
	uint32_t pid, tid, cpu;
	uint64_t time_ns;
	uint64_t ip, address, period;
	uint64_t regs_mask; /* which of regs are there */
	uint64_t regs[PERFDATA_REGS];
	const struct perfdata_address *chain;	/* of callers, innermost first */
	const struct perfdata_branch *branches; /* newest first */
	uint64_t chain_count, branch_count;
};

/* A stretch of a branch trace. */
struct perfdata_trace {
	size_t event;			    /* index of the trace's event; set by the reader */
	uint32_t pid, tid;		    /* pid: 0 when read */
	uint64_t time_ns;		    /* when the last of them was stored */
	const struct perfdata_bts *records; /* oldest first; NULL: not an Intel BTS trace */
	uint64_t count;
};

struct perfdata_mmap {
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t start, length, page_offset; /* bytes */
	uint32_t major, minor;
	uint64_t inode;
	uint32_t protection, flags; /* as in mmap(2) */
	uint8_t build_id[PERFDATA_BUILD_ID_MAX];
	uint8_t build_id_bytes; /* 0: unknown */
	const char *path;
};

struct perfdata_comm {
	uint32_t pid, tid;
	uint64_t time_ns;
	bool exec;
	const char *comm;
};

struct perfdata_task { /* FORK and EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
};

/* --- writing ---------------------------------------------------------- */

struct perfdata_writer;

/*
 * Facts for the header.  A NULL or 0 leaves the section out.
 */
struct perfdata_about {
	const char *version;  /* of the tool */
	const char *cpu_name; /* of the unit's model */
	const char *cpu_id;   /* as perf: "GenuineIntel,6,94,3" */
	char *const *command; /* the tool's own command line, NULL-terminated */
};

/*
 * Begin a file; what had its name becomes NAME.old.  A device is written to as it is.  NULL:
 * *error is a line to free().  The events and what `about` points to are copied; attr is used
 * as given and must be the same in what it says of samples; the id is given out here.
 */
struct perfdata_writer *perfdata_create(const char *path, const struct perfdata_event *events,
					size_t count, const struct perfdata_about *about,
					char **error);

/*
 * Append a record.  False once the file cannot grow (perfdata_write_error()
 * tells why): that record and later ones are not kept, all before it are.
 */
bool perfdata_add_sample(struct perfdata_writer *writer, const struct perfdata_sample *sample);
bool perfdata_add_mmap(struct perfdata_writer *writer, const struct perfdata_mmap *map);
bool perfdata_add_comm(struct perfdata_writer *writer, const struct perfdata_comm *comm);
bool perfdata_add_fork(struct perfdata_writer *writer, const struct perfdata_task *task);
bool perfdata_add_exit(struct perfdata_writer *writer, const struct perfdata_task *task);

/* Before the first trace: that there are BTS traces, and of which thread from when on. */
bool perfdata_begin_trace(struct perfdata_writer *writer, uint32_t pid, uint32_t tid,
			  uint64_t time_ns);
bool perfdata_add_trace(struct perfdata_writer *writer, const struct perfdata_trace *trace);
int perfdata_write_error(const struct perfdata_writer *writer); /* an errno, 0 for none */

/* Samples, traced branches and bytes that are kept so far. */
uint64_t perfdata_samples(const struct perfdata_writer *writer);
uint64_t perfdata_traced(const struct perfdata_writer *writer);
uint64_t perfdata_bytes(const struct perfdata_writer *writer);

/* Bring what there is to the file and its header up to date: were the tool to be killed now, the
 * file could be read that far. */
void perfdata_sync(struct perfdata_writer *writer);

/*
 * Write what follows the records, and the header; *bytes is how long the file is.
 * False: *error is a line to free().  Frees the writer either way.
 */
bool perfdata_finish(struct perfdata_writer *writer, uint64_t *bytes, char **error);

/* Remove what was written, give what had its name the name back, and free the writer; NULL is
 * fine. */
void perfdata_abandon(struct perfdata_writer *writer);

/* The build-id in the notes of an ELF file, "[vdso]" for this machine's; bytes, 0 for none. */
size_t perfdata_read_build_id(const char *path, uint8_t id[PERFDATA_BUILD_ID_MAX]);

/* --- reading ---------------------------------------------------------- */

struct perfdata_reader;

/* NULL: *error is a line to free(). */
struct perfdata_reader *perfdata_open(const char *path, char **error);
void perfdata_close(struct perfdata_reader *reader);

size_t perfdata_event_count(const struct perfdata_reader *reader);
const struct perfdata_event *perfdata_event_at(const struct perfdata_reader *reader, size_t index);

/* Text of a header feature ("hostname", "os release", "version", "arch", "cpu", "cpu id", "command
 * line"), NULL when absent. */
const char *perfdata_about_text(const struct perfdata_reader *reader, const char *what);

/* The build-id of a file from the header's table; bytes, 0 for none. */
size_t perfdata_build_id(const struct perfdata_reader *reader, const char *path,
			 uint8_t id[PERFDATA_BUILD_ID_MAX]);

/* One record; pointers stay valid until the reader is closed. */
struct perfdata_record {
	uint32_t type; /* PERF_RECORD_SAMPLE, _MMAP (given as mmap), _MMAP2, _COMM, _FORK, _EXIT,
			  PERFDATA_RECORD_AUXTRACE; other types have no body here */
	union {
		struct perfdata_sample sample;
		struct perfdata_mmap mmap;
		struct perfdata_comm comm;
		struct perfdata_task task;
		struct perfdata_trace trace;
	};
};

/*
 * The next record in file order: 1, 0 at the end, -1 when the rest cannot be read (*error is then a
 * line to free()).
 */
int perfdata_next(struct perfdata_reader *reader, struct perfdata_record *record, char **error);
void perfdata_rewind(struct perfdata_reader *reader);

#endif
