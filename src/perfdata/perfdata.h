/* SPDX-License-Identifier: MIT */
/*
 * perfdata.h: writes and reads perf.data, the file of Linux' perf tools.
 *
 * The writer adds records and makes the file readable at each perfdata_sync(). The reader takes any
 * file or pipe in the PERFILE2 form, compressed or not, and checks each length. Both use the layout
 * in layout.h.
 */
#ifndef SOFTPMU_PERFDATA_H
#define SOFTPMU_PERFDATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERFDATA_BUILD_ID_MAX 20
#define PERFDATA_REGS	      24 /* perf's numbers of x86-64 registers: AX 0 ... R15 23 */

/* perf's register numbers (asm/perf_regs.h). DS, ES, FS and GS, 12 to 15, are never recorded. */
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

/*
 * perf_event_attr.type of intel_bts events. Kernels choose this number at run time; this one is
 * above theirs. The file names it in AUXTRACE_INFO and PMU_MAPPINGS.
 */
#define PERFDATA_TYPE_INTEL_BTS 1000

/* perf's own records, which the kernel does not have. */
#define PERFDATA_RECORD_AUXTRACE_INFO 70
#define PERFDATA_RECORD_AUXTRACE      71

/* perf's kinds of traces that are known here. */
#define PERFDATA_TRACE_INTEL_BTS 2

/* A recorded event. */
struct perfdata_event {
	const char *name; /* "instructions:upp"; never NULL from the reader */
	struct perf_event_attr attr;
	uint64_t id; /* the id in its samples (the first of several) */
};

/* These structures have no alignment, because nothing in a file is aligned. */
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
	uint64_t weight;      /* core clocks of a load; 0: not known */
	uint64_t data_source; /* union perf_mem_data_src */
	uint64_t regs_mask;   /* the registers that regs[] has */
	uint64_t regs[PERFDATA_REGS];
	const struct perfdata_address *chain;	/* the callers, innermost first */
	const struct perfdata_branch *branches; /* newest first */
	uint64_t chain_count, branch_count;
};

/* A stretch of a branch trace. */
struct perfdata_trace {
	size_t event;			    /* index of the trace's event; set by the reader */
	uint32_t pid, tid;		    /* pid: 0 when read */
	uint64_t time_ns;		    /* the time of the last record */
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

/* Facts for the header. NULL or 0 leaves a section out. */
struct perfdata_about {
	const char *version;  /* of the tool */
	const char *cpu_name; /* of the unit's model */
	const char *cpu_id;   /* as perf: "GenuineIntel,6,94,3" */
	char *const *command; /* the tool's own command line, NULL-terminated */
	int compression;      /* zstd's level for the records; 0: they are not compressed */
	int pipe_fd;	      /* where the pipe form is written, in order; 0: to the file */
};

/*
 * Begins a file. A file with the same name becomes NAME.old; a device is written directly. NULL:
 * *error is a line that the caller must free(). The events and the data that `about` points to are
 * copied. attr is used as given. All events must have the same sample format. This function assigns
 * the ids.
 */
struct perfdata_writer *perfdata_create(const char *path, const struct perfdata_event *events,
					size_t count, const struct perfdata_about *about,
					char **error);

/*
 * Add a record. They return false once the file cannot grow (perfdata_write_error() says why). That
 * record and later ones are lost; all earlier records are kept.
 */
bool perfdata_add_sample(struct perfdata_writer *writer, const struct perfdata_sample *sample);
bool perfdata_add_mmap(struct perfdata_writer *writer, const struct perfdata_mmap *map);
bool perfdata_add_comm(struct perfdata_writer *writer, const struct perfdata_comm *comm);
bool perfdata_add_fork(struct perfdata_writer *writer, const struct perfdata_task *task);
bool perfdata_add_exit(struct perfdata_writer *writer, const struct perfdata_task *task);

/* Says before the first trace that there are BTS traces, of which thread, and from what time on. */
bool perfdata_begin_trace(struct perfdata_writer *writer, uint32_t pid, uint32_t tid,
			  uint64_t time_ns);
bool perfdata_add_trace(struct perfdata_writer *writer, const struct perfdata_trace *trace);
int perfdata_write_error(const struct perfdata_writer *writer); /* an errno, 0 for none */

/* Samples, traced branches and bytes that have been kept so far. */
uint64_t perfdata_samples(const struct perfdata_writer *writer);
uint64_t perfdata_traced(const struct perfdata_writer *writer);
uint64_t perfdata_bytes(const struct perfdata_writer *writer);

/*
 * Writes everything to the file and updates its header. If the tool is killed now, the file can be
 * read up to here.
 */
void perfdata_sync(struct perfdata_writer *writer);

/*
 * Writes what follows the records, and the header. *bytes is the size of the file. False: *error is
 * a line that the caller must free(). Frees the writer in both cases.
 */
bool perfdata_finish(struct perfdata_writer *writer, uint64_t *bytes, char **error);

/*
 * Removes the file, gives the previous file its name back, and frees the writer. NULL is allowed.
 */
void perfdata_abandon(struct perfdata_writer *writer);

/*
 * Reads the build-id from the notes of an ELF file, or of this machine's vDSO ("[vdso]"). Returns
 * its bytes, 0 if there is none.
 */
size_t perfdata_read_build_id(const char *path, uint8_t id[PERFDATA_BUILD_ID_MAX]);

/* --- reading ---------------------------------------------------------- */

struct perfdata_reader;

/* Opens a file; "-" is standard input.  NULL: *error is a line that the caller must free(). */
struct perfdata_reader *perfdata_open(const char *path, char **error);
void perfdata_close(struct perfdata_reader *reader);

size_t perfdata_event_count(const struct perfdata_reader *reader);
const struct perfdata_event *perfdata_event_at(const struct perfdata_reader *reader, size_t index);

/*
 * Returns the text of a header feature ("hostname", "os release", "version", "arch", "cpu", "cpu
 * id", "command line"), NULL if it is absent.
 */
const char *perfdata_about_text(const struct perfdata_reader *reader, const char *what);

/* Returns the build-id of a file from the header's table: its bytes, 0 if there is none. */
size_t perfdata_build_id(const struct perfdata_reader *reader, const char *path,
			 uint8_t id[PERFDATA_BUILD_ID_MAX]);

/* A record. Pointers are valid until the reader is closed. */
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
 * Reads the next record in file order. Returns 1, 0 at the end, or -1 if the rest cannot be read
 * (*error is then a line that the caller must free()).
 */
int perfdata_next(struct perfdata_reader *reader, struct perfdata_record *record, char **error);
void perfdata_rewind(struct perfdata_reader *reader);

/* Returns where the next record is, in bytes from the beginning of the file.  The second function
 * goes to a place that was returned before. */
uint64_t perfdata_offset(const struct perfdata_reader *reader);
void perfdata_seek(struct perfdata_reader *reader, uint64_t offset);

#endif
