/* SPDX-License-Identifier: MIT */
/*
 * layout.h: perf.data as it lies on disk.
 *
 *	header | ids of all events | an attr and where its ids are, for each event |
 *	records | a section descriptor for each feature bit, ascending | their bodies
 *
 * Everything is little-endian.  Records are perf_event_open(2)'s.  A body is
 * described once, by a function over a cursor that either reads or writes.
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

/* Feature bits that are written or read. */
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
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_CLOCKID = 23,
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

/* Records of perf's own that have no place in the kernel's list. */
#define RECORD_AUXTRACE	  71 /* followed by as many bytes as its first word says */
#define RECORD_COMPRESSED 81

#define RECORD_BYTES_MAX 65528 /* the size field has 16 bits; records are multiples of 8 */

/* --- the cursor -------------------------------------------------------------- */

/* Where a body is read or written.  Past its end nothing is touched and `bad` is set. */
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
/* A NUL-terminated text, padded to 8 bytes when written; read to the end of the cursor. */
void cursor_text(struct cursor *cursor, const char **text);

/* --- bodies: after struct perf_event_header ------------------------------------ */

/* `id` is the event's; on reading 0 when the sample has none. */
void body_sample(struct cursor *cursor, const struct perf_event_attr *attr,
		 struct perfdata_sample *sample, uint64_t *id);
void body_mmap(struct cursor *cursor, struct perfdata_mmap *map);
void body_mmap2(struct cursor *cursor, struct perfdata_mmap *map, bool with_build_id);
void body_comm(struct cursor *cursor, struct perfdata_comm *comm);
void body_task(struct cursor *cursor, struct perfdata_task *task);

/* What sample_id_all puts behind other records than samples. */
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
	uint64_t first_ns, last_ns;
};

/*
 * All feature sections, descriptors first, for a file where they begin at
 * `offset`; *bytes long, to free().  Sets the bits in header->features.  NULL: no memory.
 */
uint8_t *features_build(const struct feature_source *source, uint64_t offset,
			struct perfdata_header *header, size_t *bytes);

#endif
