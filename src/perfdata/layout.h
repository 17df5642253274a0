/* SPDX-License-Identifier: MIT */
/*
 * layout.h: perf.data on disk.
 *
 * 	header | ids of all events | an attr and where its ids are, for each event |
 * 	records | a section descriptor for each feature bit, ascending | their bodies
 *
 * Everything is little-endian. Records are those of perf_event_open(2). Each body is described
 * once, by a function over a cursor that either reads or writes.
 */
#ifndef SOFTPMU_PERFDATA_LAYOUT_H
#define SOFTPMU_PERFDATA_LAYOUT_H

#include <src/perfdata/perfdata.h>

#define PERFDATA_MAGIC "PERFILE2"

struct perfdata_section {
	uint64_t offset, bytes;
};

struct perfdata_header {
	char magic[8];
	uint64_t header_bytes;
	uint64_t attr_bytes; /* of an attr with its section */
	struct perfdata_section attrs, data, event_types;
	uint64_t features[4]; /* a bit each */
};
_Static_assert(sizeof(struct perfdata_header) == 104, "the file's header");

/* Feature bits that the writer writes or the reader reads. */
enum perfdata_feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_NUMA_TOPOLOGY = 14,
	FEATURE_BRANCH_STACK = 15, /* it has no body: samples have branches to show */
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_AUXTRACE = 18,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_CLOCKID = 23,
	FEATURE_COMPRESSED = 27,
	FEATURES_MAX = 256,
};

/* Texts in features are counted and padded to this. */
#define FEATURE_TEXT_ALIGN 64

/* A record of the BUILD_ID feature after its header: pid, id, its bytes, padding, the path. */
#define BUILD_ID_ENTRY_PID   8
#define BUILD_ID_ENTRY_ID    12
#define BUILD_ID_ENTRY_BYTES 32
#define BUILD_ID_ENTRY_PATH  36
#define MISC_BUILD_ID_SIZE   (1u << 15) /* the byte after the id is its length */

/*
 * The pipe form: the magic number and the header's size, 16. Then there are only records. These
 * take the place of the file's header: HEADER_ATTR has an attr and its ids, HEADER_FEATURE the
 * number of a feature and its body. Further data follows HEADER_TRACING_DATA and AUXTRACE.
 */
#define PIPE_HEADER_BYTES	   16
#define RECORD_HEADER_ATTR	   64
#define RECORD_HEADER_TRACING_DATA 66
#define RECORD_HEADER_FEATURE	   80
#define RECORD_COMPRESSED	   81

#define RECORD_BYTES_MAX 65528 /* the size field has 16 bits; records are multiples of 8 */

/* --- the cursor -------------------------------------------------------------- */

/*
 * The place where a body is read or written. Past its end nothing is read or written, and `bad` is
 * set.
 */
struct cursor {
	uint8_t *at;
	const uint8_t *end;
	bool writing;
	bool bad;
};

void cursor_u64(struct cursor *cursor, uint64_t *value);
void cursor_u32(struct cursor *cursor, uint32_t *value);
void cursor_bytes(struct cursor *cursor, void *bytes, size_t count);
void cursor_skip(struct cursor *cursor, uint64_t count); /* writes zeros */
/* A NUL-terminated text. Writing pads it to 8 bytes; reading goes to the end of the cursor. */
void cursor_text(struct cursor *cursor, const char **text);

/* --- bodies: after struct perf_event_header ------------------------------------ */

/* `id` is the event's. When reading, it is 0 if the sample has none. */
void body_sample(struct cursor *cursor, const struct perf_event_attr *attr,
		 struct perfdata_sample *sample, uint64_t *id);
/* Returns the size that the sample will have. */
size_t body_sample_bytes(const struct perf_event_attr *attr, const struct perfdata_sample *sample);
void body_mmap(struct cursor *cursor, struct perfdata_mmap *map);
void body_mmap2(struct cursor *cursor, struct perfdata_mmap *map, bool with_build_id);
void body_comm(struct cursor *cursor, struct perfdata_comm *comm);
void body_task(struct cursor *cursor, struct perfdata_task *task);

/*
 * AUXTRACE_INFO of an Intel BTS trace: how the references of its stretches become times. time =
 * zero + (reference * mult >> shift)
 */
struct trace_info {
	uint32_t type;	 /* PERFDATA_TRACE_; the other fields are read for Intel BTS only */
	uint64_t events; /* perf_event_attr.type of its events */
	uint64_t shift, mult, zero;
};
#define TRACE_INFO_BYTES (8 + 6 * 8)
void body_trace_info(struct cursor *cursor, struct trace_info *info);

/* AUXTRACE; `bytes` bytes of trace data follow the record. */
struct trace_header {
	uint64_t bytes;
	uint64_t offset; /* in the whole trace */
	uint64_t reference;
	uint32_t index; /* of the thread, from 0: perf makes a queue for each */
	uint32_t tid;
};
#define TRACE_HEADER_BYTES (3 * 8 + 4 * 4)
void body_trace_header(struct cursor *cursor, struct trace_header *header);

/*
 * perf 6.1 does not decode the last BTS record of a stretch. So each stretch ends with a record of
 * zeros, which all versions skip.
 */
#define TRACE_PADDING sizeof(struct perfdata_bts)

/* The fields that sample_id_all adds to records other than samples. */
struct sample_id {
	uint32_t pid, tid, cpu;
	uint64_t time_ns, id;
};
size_t sample_id_bytes(const struct perf_event_attr *attr);
void body_sample_id(struct cursor *cursor, const struct perf_event_attr *attr,
		    struct sample_id *sample_id);

/* --- features (features.c) ------------------------------------------------------ */

struct known_file {
	char *path;
	uint8_t build_id[PERFDATA_BUILD_ID_MAX];
	uint8_t build_id_bytes;
};

/* What goes into the features. */
struct feature_source {
	char *version, *cpu_name, *cpu_id;
	char **command;
	struct perfdata_event *events;
	size_t event_count;
	struct known_file *files;
	size_t file_count;
	struct trace_place {
		uint64_t offset; /* of the AUXTRACE record in the file */
		uint64_t bytes;	 /* of the record without its data */
	} * traces;
	size_t trace_count;
	uint64_t first_ns, last_ns;
	int compression;		 /* zstd's level; 0: none */
	uint64_t packed_from, packed_to; /* bytes of records and of compressed ones */
};

/* Feature COMPRESSED: the version, zstd's number, its level, how much shorter the records are, and
 * how many bytes a compressed record can have in the end. */
#define COMPRESSED_VERSION  1
#define COMPRESSED_ZSTD	    1
#define COMPRESSED_EXPANDED (256u << 10)

/*
 * Makes all feature sections, descriptors first, for a file in which they begin at `offset`.
 * Returns memory of *bytes bytes that the caller must free(); NULL if there is no memory. Sets the
 * bits in header->features.
 */
uint8_t *features_build(const struct feature_source *source, uint64_t offset,
			struct perfdata_header *header, size_t *bytes);

#endif
