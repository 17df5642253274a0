/* SPDX-License-Identifier: MIT */
/*
 * event_legacy.c: events of the units before architectural performance monitoring (Vol. 3B 18.15,
 * 18.22, 18.23; tables 19-28 to 19-38).
 *
 * A NetBurst event is a class and a mask.  The model's table has a row for each bit of the mask,
 * and for some combinations.  If the host does not supply one bit of a mask, the whole event is
 * absent: the count of the other bits would be too small.
 *
 * front_end_event, execution_event and replay_event count micro-operations with a tag.  "tag="
 * names the event that sets the tag.  The manual's metrics are names for pairs of such events.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/events/event_legacy.h"

#define CODE_CLASS	UINT32_C(0x373f) /* select, ESCR select, block of counters */
#define CODE_MASK(code) ((code) >> 16)
#define CODE_FRONT_END	UINT32_C(0x3508)
#define CODE_REPLAY	UINT32_C(0x3509)
#define CODE_EXECUTION	UINT32_C(0x350c)
#define CODE_UOP_TYPE	UINT32_C(0x3202)
#define TAG_LOADS	2u /* a bit of uop_type's mask */
#define TAG_STORES	4u

#define MATRIX(bits) (UINT32_C(bits) << 24)
#define TAGGED(name_, event_, tagger_, description_)                                               \
	{                                                                                          \
		.name = (name_), .event = (event_), .tagger = (tagger_),                           \
		.description = (description_)                                                      \
	}
#define REPLAY(name_, replay_, description_, ...)                                                  \
	{                                                                                          \
		.name = (name_), .event = "replay_event.NBOGUS", .replay = (replay_),              \
		.description = (description_), __VA_ARGS__                                         \
	}

/* In the order of the tables.  A replay value holds bits of IA32_PEBS_ENABLE and of
 * MSR_PEBS_MATRIX_VERT. */
static const struct event_legacy_metric metrics[] = {
	TAGGED("memory_loads", "front_end_event.NBOGUS", "uop_type.TAGLOADS", "loads retired"),
	TAGGED("memory_stores", "front_end_event.NBOGUS", "uop_type.TAGSTORES", "stores retired"),
	TAGGED("packed_SP_retired", "execution_event.NBOGUS0", "packed_SP_uop.ALL",
	       "packed single-precision computations retired"),
	TAGGED("packed_DP_retired", "execution_event.NBOGUS0", "packed_DP_uop.ALL",
	       "packed double-precision computations retired"),
	TAGGED("scalar_SP_retired", "execution_event.NBOGUS0", "scalar_SP_uop.ALL",
	       "scalar single-precision computations retired"),
	TAGGED("scalar_DP_retired", "execution_event.NBOGUS0", "scalar_DP_uop.ALL",
	       "scalar double-precision computations retired"),
	TAGGED("128_bit_MMX_retired", "execution_event.NBOGUS0", "128bit_MMX_uop.ALL",
	       "128-bit integer SIMD instructions retired"),
	TAGGED("64_bit_MMX_retired", "execution_event.NBOGUS0", "64bit_MMX_uop.ALL",
	       "64-bit integer SIMD instructions retired"),
	TAGGED("X87_FP_retired", "execution_event.NBOGUS0", "x87_FP_uop.ALL",
	       "x87 computations retired"),
	TAGGED("X87_SIMD_memory_moves_retired", "execution_event.NBOGUS0",
	       "x87_SIMD_moves_uop.ALLP0.ALLP2", "x87 and SIMD moves retired"),
	REPLAY("1stL_cache_load_miss_retired", 0x0001 | MATRIX(1),
	       "loads retired that missed the first-level cache",
	       .tally = SPMU_TALLY_LOAD_L1_MISSES),
	REPLAY("2ndL_cache_load_miss_retired", 0x0002 | MATRIX(1),
	       "loads retired that missed the second-level cache",
	       .tally = SPMU_TALLY_LOAD_L2_MISSES),
	REPLAY("DTLB_load_miss_retired", 0x0004 | MATRIX(1),
	       "loads retired that missed the data TLB", .tally = SPMU_TALLY_LOAD_STLB_MISSES),
	REPLAY("DTLB_store_miss_retired", 0x0004 | MATRIX(2),
	       "stores retired that missed the data TLB", .tally = SPMU_TALLY_STORE_STLB_MISSES),
	REPLAY("DTLB_all_miss_retired", 0x0004 | MATRIX(3),
	       "loads and stores retired that missed the data TLB", .tally = SPMU_TALLY_NONE),
	REPLAY("Tagged_mispred_branch", 0x18000 | MATRIX(0x10), "mispredicted branches retired",
	       .signals = SPMU_SIGBIT(BRANCH_MISS)),
	REPLAY("MOB_load_replay_retired", 0x0200 | MATRIX(1),
	       "loads retired that were replayed for the order of memory",
	       .tally = SPMU_TALLY_NONE),
	REPLAY("split_load_retired", 0x0400 | MATRIX(1), "loads retired that crossed a line",
	       .tally = SPMU_TALLY_NONE),
	REPLAY("split_store_retired", 0x0400 | MATRIX(2), "stores retired that crossed a line",
	       .tally = SPMU_TALLY_NONE),
};
#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

static enum spmu_programming programming(const struct spmu_model *model)
{
	return spmu_model_describe(model).programming;
}

const struct event_legacy_metric *event_legacy_metric(const struct spmu_model *model, size_t index)
{
	return programming(model) == SPMU_PROGRAM_ESCR && index < METRICS ? &metrics[index] : NULL;
}

/* --- rows that the table does not have --------------------------------------------- */

/* The rows made so far.  They are never freed. */
static struct made {
	struct made *next;
	const struct spmu_model *model;
	uint32_t tagger;
	struct spmu_event row;
} * made;

static const struct spmu_event *keep(const struct spmu_model *model, const struct spmu_event *row,
				     uint32_t tagger, const char *name)
{
	struct made *new = tool_alloc(sizeof(*new));

	*new = (struct made){.next = made, .model = model, .tagger = tagger, .row = *row};
	new->row.name = name;
	made = new;
	return &new->row;
}

static const struct spmu_event *kept(const struct spmu_model *model, uint32_t code, uint32_t tagger)
{
	for (const struct made *m = made; m; m = m->next)
		if (m->model == model && m->row.code == code && m->tagger == tagger)
			return &m->row;
	return NULL;
}

static size_t class_length(const char *name)
{
	return strcspn(name, ".");
}

/* Returns one row for all bits in the mask of the code. */
static const struct spmu_event *sum_of_rows(const struct spmu_model *model, uint32_t code)
{
	struct spmu_event sum = {.code = code, .fidelity = SPMU_EXACT, .fixed = -1};
	uint32_t covered = 0;
	char *name = NULL, *longer;

	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *row = spmu_event_at(model, i);
		uint32_t mask = CODE_MASK(row->code);

		if ((row->code & CODE_CLASS) != (code & CODE_CLASS) || (mask & ~CODE_MASK(code)))
			continue;
		if (!(mask & (mask - 1))) {
			longer =
				name ? tool_print("%s%s", name, row->name + class_length(row->name))
				     : tool_copy(row->name);
			free(name);
			name = longer;
			sum.section = row->section;
			sum.description = "several bits of the event mask";
			sum.counters = row->counters;
			sum.pebs_counters |= row->pebs_counters;
		}
		if (!row->signals && !row->tally)
			continue;
		covered |= mask;
		sum.signals |= row->signals;
		sum.tally = row->tally ? row->tally : sum.tally; /* a host supplies all or none */
		sum.fidelity = row->fidelity < sum.fidelity ? row->fidelity : sum.fidelity;
	}
	if (!name)
		return NULL;
	if (covered != CODE_MASK(code)) {
		sum.signals = sum.tally = 0;
		sum.fidelity = SPMU_ABSENT;
	}
	return keep(model, &sum, 0, name);
}

const struct spmu_event *event_legacy_row(const struct spmu_model *model, uint64_t code)
{
	const struct spmu_event *row = spmu_event_by_code(model, code);

	if (row || programming(model) != SPMU_PROGRAM_ESCR || !CODE_MASK(code))
		return row;
	row = kept(model, code, 0);
	return row ? row : sum_of_rows(model, code);
}

uint32_t event_legacy_counters(const struct spmu_model *model, uint32_t code)
{
	static const uint32_t block[] = {0x0000f, 0x000f0, 0x00f00, 0x3f000};

	if (programming(model) == SPMU_PROGRAM_ESCR)
		return block[code >> 12 & 3];
	return (1u << spmu_model_describe(model).counters_single) - 1;
}

/* --- names ------------------------------------------------------------------------- */

static bool same(const char *a, size_t length, const char *b)
{
	return strlen(b) == length && !strncasecmp(a, b, length);
}

/* Finds a bit of a class's mask by its name. */
static const struct spmu_event *find_bit(const struct spmu_model *model, const char *class,
					 size_t class_bytes, const char *bit, size_t bit_bytes)
{
	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *row = spmu_event_at(model, i);
		size_t length = class_length(row->name);

		if (row->name[length] && class_bytes == length &&
		    !strncasecmp(class, row->name, length) &&
		    same(bit, bit_bytes, row->name + length + 1))
			return row;
	}
	return NULL;
}

/* Reads "class:bit:bit" or "class.bit.bit". */
static bool find_bits(const struct spmu_model *model, const char *name, uint32_t *code)
{
	size_t class = strcspn(name, ".:");
	const char *at = name + class;

	*code = 0;
	while (*at) {
		size_t bytes = strcspn(++at, ".:");
		const struct spmu_event *row = find_bit(model, name, class, at, bytes);

		if (!row)
			return false;
		*code |= row->code;
		at += bytes;
	}
	return *code != 0;
}

static const struct event_legacy_metric *find_metric(const char *name)
{
	for (size_t i = 0; i < METRICS; i++)
		if (!strcasecmp(metrics[i].name, name))
			return &metrics[i];
	return NULL;
}

/* --- tags -------------------------------------------------------------------------- */

static const struct event_legacy_metric *find_replay(uint32_t tagger)
{
	for (size_t i = 0; i < METRICS; i++)
		if (!metrics[i].tagger && metrics[i].replay == tagger)
			return &metrics[i];
	return NULL;
}

/* Writes into a row what gets the tag of this tagger, and the fidelity of the count. */
static void describe_tagged(const struct spmu_model *model, uint32_t tagger, struct spmu_event *row)
{
	uint32_t class = row->code & CODE_CLASS;

	row->fidelity = SPMU_MODELLED;
	row->signals = row->tally = 0;
	if (class == CODE_FRONT_END) {
		row->signals |= CODE_MASK(tagger) & TAG_LOADS ? SPMU_SIGBIT(LOADS) : 0;
		row->signals |= CODE_MASK(tagger) & TAG_STORES ? SPMU_SIGBIT(STORES) : 0;
	} else if (class == CODE_EXECUTION) {
		const struct spmu_event *by = event_legacy_row(model, tagger);

		row->signals = by ? by->signals : 0;
		row->fidelity = by && by->fidelity < row->fidelity ? by->fidelity : row->fidelity;
	} else if (class == CODE_REPLAY) {
		const struct event_legacy_metric *metric = find_replay(tagger);

		row->signals = metric ? metric->signals : 0;
		row->tally = metric ? metric->tally : 0;
	}
	if (!row->signals && !row->tally)
		row->fidelity = SPMU_ABSENT;
}

static void set_tagger(const struct spmu_model *model, struct event_code *code, uint32_t tagger,
		       const char *name, const char *description)
{
	const struct spmu_event *row = kept(model, code->code, tagger);
	struct spmu_event tagged;

	code->tagger = tagger;
	if (!row && code->row) {
		tagged = *code->row;
		tagged.description = description;
		describe_tagged(model, tagger, &tagged);
		row = keep(model, &tagged, tagger, tool_copy(name));
	}
	code->row = row;
}

bool event_legacy_tag(const struct spmu_model *model, struct event_code *code, const char *tagger,
		      const char **why)
{
	uint32_t class = code->code & CODE_CLASS;
	struct event_code by;

	*why = "only front_end_event and execution_event of NetBurst take tag=";
	if (programming(model) != SPMU_PROGRAM_ESCR ||
	    (class != CODE_FRONT_END && class != CODE_EXECUTION))
		return false;
	*why = "tag= names no event of the model";
	if (!event_names_find(model, tagger, &by) || !by.code)
		return false;
	*why = "only uop_type can set tags for front_end_event";
	if (class == CODE_FRONT_END && (by.code & CODE_CLASS) != CODE_UOP_TYPE)
		return false;
	*why = "uop_type can set tags for front_end_event only";
	if (class == CODE_EXECUTION && (by.code & CODE_CLASS) == CODE_UOP_TYPE)
		return false;
	set_tagger(model, code, by.code, code->row ? code->row->name : "",
		   "micro-operations retired that an event has tagged");
	return true;
}

bool event_legacy_wants_tag(const struct spmu_model *model, const struct event_code *code)
{
	uint32_t class = code->code & CODE_CLASS;

	return programming(model) == SPMU_PROGRAM_ESCR && !code->tagger &&
	       (class == CODE_FRONT_END || class == CODE_EXECUTION || class == CODE_REPLAY);
}

bool event_legacy_find(const struct spmu_model *model, const char *name, struct event_code *code)
{
	const struct event_legacy_metric *metric;
	struct event_code tagger = {0};
	uint32_t bits;

	if (programming(model) != SPMU_PROGRAM_ESCR)
		return false;
	metric = find_metric(name);
	if (metric && event_names_find(model, metric->event, code) &&
	    (!metric->tagger || event_names_find(model, metric->tagger, &tagger))) {
		set_tagger(model, code, metric->tagger ? tagger.code : metric->replay, metric->name,
			   metric->description);
		return true;
	}
	if (!find_bits(model, name, &bits))
		return false;
	event_names_raw(model, bits, code);
	return true;
}

uint32_t event_legacy_of_escr(const struct spmu_model *model, const char *name, uint64_t escr,
			      uint64_t cccr)
{
	uint32_t class = (uint32_t)(escr >> 25 & 0x3f) | (uint32_t)(cccr >> 13 & 7) << 8;
	uint32_t mask = (uint32_t)(escr >> 9 & 0xffff) << 16;
	size_t length = strcspn(name, ".:");
	uint32_t found = class;

	/* Two blocks of counters can use the same code: the event's name says which one is
	 * meant. */
	for (size_t i = spmu_event_count(model); i-- > 0;) {
		const struct spmu_event *row = spmu_event_at(model, i);

		if ((row->code & 0x073f) != class)
			continue;
		if (class_length(row->name) == length && !strncasecmp(row->name, name, length))
			return (row->code & CODE_CLASS) | mask;
		found = row->code & CODE_CLASS;
	}
	return found | mask;
}

const char *event_legacy_cannot(const struct spmu_model *model, uint64_t select)
{
	uint64_t threshold = (select & SELECT_CMASK) >> SELECT_CMASK_AT;

	switch (programming(model)) {
	case SPMU_PROGRAM_CESR:
		if ((select & (SELECT_EDGE | SELECT_ANY | SELECT_INV)) || threshold > 1)
			return "the family's counters have no threshold but c=1, and no other "
			       "modifier";
		break;
	case SPMU_PROGRAM_ESCR:
		if (threshold > 16)
			return "the family's largest threshold is 16";
		break;
	case SPMU_PROGRAM_PERFEVTSEL:
		if (!spmu_model_describe(model).perfmon_version && (select & SELECT_ANY))
			return "the family's counters cannot count another thread";
		break;
	}
	return NULL;
}
