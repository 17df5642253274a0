/* SPDX-License-Identifier: MIT */
/*
 * event_names.c: finds the code of an event name, and the name of a code.
 *
 * The model's own table comes first, because it knows fidelity and counters.  libpfm4 knows more
 * names of the same processor; its codes are looked up in the model's table.  The codes are those
 * of Vol. 3B 18.2.1.2 (table 18-1) for the architectural events, and of chapter 19 for a model's.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <hosts/user/launch.h>
#include <hosts/user/perf_event/perf_caches.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <perfmon/pfmlib.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/events/event_frontend.h"
#include "tools/softpmu/events/event_legacy.h"
#include "tools/softpmu/events/event_offcore.h"
#include "tools/softpmu/events/event_names.h"
#include "tools/softpmu/events/events.h"

#define FIXED_REF_CYCLES 2

/* perf's generic events.  ref-cycles has no architectural code, because only a fixed counter counts
 * it.  It has the code that Linux gives it. */
static const struct generic {
	const char *name;
	uint16_t code;
	uint64_t signals; /* find the event in units before the architectural one */
	uint16_t perf_config;
	int8_t fixed_only; /* the only counter that counts it, a fixed one; -1: any */
} generics[] = {
	{"instructions", 0x00c0, SPMU_SIGBIT(INSTRUCTIONS), PERF_COUNT_HW_INSTRUCTIONS, -1},
	{"cycles", 0x003c, SPMU_SIGBIT(CYCLES), PERF_COUNT_HW_CPU_CYCLES, -1},
	{"cpu-cycles", 0x003c, SPMU_SIGBIT(CYCLES), PERF_COUNT_HW_CPU_CYCLES, -1},
	{"branches", 0x00c4, SPMU_SIGSET_BRANCHES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, -1},
	{"branch-instructions", 0x00c4, SPMU_SIGSET_BRANCHES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	 -1},
	{"branch-misses", 0x00c5, SPMU_SIGBIT(BRANCH_MISS), PERF_COUNT_HW_BRANCH_MISSES, -1},
	{"cache-references", 0x4f2e, SPMU_SIGBIT(LLC_REFERENCE), PERF_COUNT_HW_CACHE_REFERENCES,
	 -1},
	{"cache-misses", 0x412e, SPMU_SIGBIT(LLC_MISS), PERF_COUNT_HW_CACHE_MISSES, -1},
	{"bus-cycles", 0x013c, 0, PERF_COUNT_HW_BUS_CYCLES, -1},
	{"ref-cycles", 0x0300, SPMU_SIGBIT(REF_CYCLES), PERF_COUNT_HW_REF_CPU_CYCLES,
	 FIXED_REF_CYCLES},
};

#define GENERICS (sizeof(generics) / sizeof(generics[0]))

/* Returns the row that counts exactly these signals and needs no tag, or NULL.  Prefers exact
 * rows. */
static const struct spmu_event *row_of_signals(const struct spmu_model *model, uint64_t signals)
{
	const struct spmu_event *found = NULL;

	for (size_t i = 0; signals && i < spmu_event_count(model); i++) {
		const struct spmu_event *row = spmu_event_at(model, i);
		const struct event_code code = {.code = row->code};

		if (row->signals == signals && !row->tally &&
		    !event_legacy_wants_tag(model, &code) &&
		    (!found || row->fidelity > found->fidelity))
			found = row;
	}
	return found;
}

/* Finds a generic event of a unit that has no architectural codes: the event that counts the
 * same. */
static bool find_generic_legacy(const struct spmu_model *model, const struct generic *generic,
				struct event_code *code)
{
	const struct spmu_event *row = row_of_signals(model, generic->signals);

	if (spmu_model_describe(model).perfmon_version)
		return false;
	event_names_raw(model, row ? row->code : 0, code);
	code->row = row;
	code->perf_type = PERF_TYPE_HARDWARE;
	code->perf_config = generic->perf_config;
	return true;
}

const char *event_names_generic(const struct spmu_model *model, size_t index,
				const struct spmu_event **row, uint64_t *code)
{
	if (index >= GENERICS)
		return NULL;
	if (spmu_model_describe(model).perfmon_version) {
		*code = generics[index].code;
		*row = spmu_event_by_code(model, *code);
	} else {
		*row = row_of_signals(model, generics[index].signals);
		*code = *row ? (*row)->code : 0;
	}
	return generics[index].name;
}

void event_names_raw(const struct spmu_model *model, uint64_t select, struct event_code *code)
{
	memset(code, 0, sizeof(*code));
	code->code = select;
	code->perf_config = select;
	if (spmu_model_describe(model).programming == SPMU_PROGRAM_PERFEVTSEL) {
		code->code &= SELECT_CODE;
		code->perf_config = code->select = select & SELECT_CHOSEN;
	}
	code->row = event_legacy_row(model, code->code);
	code->fixed = code->row ? code->row->fixed : -1;
	code->perf_type = PERF_TYPE_RAW;
}

static bool find_generic(const struct spmu_model *model, const char *name, struct event_code *code)
{
	for (size_t i = 0; i < GENERICS; i++) {
		const struct generic *generic = &generics[i];

		if (strcasecmp(generic->name, name))
			continue;
		if (find_generic_legacy(model, generic, code))
			return true;
		event_names_raw(model, generic->code, code);
		code->perf_type = PERF_TYPE_HARDWARE;
		code->perf_config = generic->perf_config;
		if (generic->fixed_only >= 0) {
			code->row = spmu_event_fixed(model, (unsigned)generic->fixed_only);
			code->fixed = code->row ? generic->fixed_only : -1;
			code->fixed_only = true;
		}
		return true;
	}
	return false;
}

static bool find_raw(const struct spmu_model *model, const char *name, struct event_code *code)
{
	uint64_t select;
	char *end;

	if (tolower((unsigned char)name[0]) != 'r' || !isxdigit((unsigned char)name[1]) ||
	    strlen(name) > 13)
		return false;
	select = strtoull(name + 1, &end, 16);
	if (*end || (select & ~(SELECT_CHOSEN | UINT32_MAX)))
		return false;
	event_names_raw(model, select, code);
	return true;
}

/* Returns true if the names differ only in case, and in '.' against ':'. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++) {
		int from = tolower((unsigned char)*a), to = tolower((unsigned char)*b);

		if ((from == ':' ? '.' : from) != (to == ':' ? '.' : to))
			return false;
	}
	return !*a && !*b;
}

static bool find_in_model(const struct spmu_model *model, const char *name, struct event_code *code)
{
	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *row = spmu_event_at(model, i);

		if (same_name(row->name, name)) {
			event_names_raw(model, row->code, code);
			code->row = row;
			code->fixed = row->fixed;
			code->fixed_only = !row->counters && row->fixed >= 0;
			return true;
		}
	}
	return false;
}

/* Takes the row that counts these signals or this tally alone and has data addresses. */
static bool find_addressed(const struct spmu_model *model, uint64_t signals, uint16_t tally,
			   struct event_code *code)
{
	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *row = spmu_event_at(model, i);

		if (row->signals != signals || row->tally != tally || !row->data_address)
			continue;
		event_names_raw(model, row->code, code);
		code->row = row;
		return true;
	}
	return false;
}

/* Finds the events by which perf mem samples loads and stores, and Intel's names of load latency
 * with a threshold. */
static bool find_memory(const struct spmu_model *model, const char *name, struct event_code *code)
{
	static const char latency[] = "mem_trans_retired.load_latency_gt_";
	uint64_t threshold = 0;

	if (!strcasecmp(name, "mem-stores"))
		return find_addressed(model, SPMU_SIGBIT(STORES), 0, code);
	if (strcasecmp(name, "mem-loads") &&
	    (strncasecmp(name, latency, sizeof(latency) - 1) ||
	     !tool_number(name + sizeof(latency) - 1, &threshold) || threshold > UINT16_MAX))
		return false;
	if (!find_addressed(model, 0, SPMU_TALLY_LOAD_LATENCY, code))
		return false;
	code->load_threshold = threshold;
	return true;
}

/* --- perf's events of caches ---------------------------------------------- */

static const struct {
	const char *name;
	uint32_t config;
} caches[] = {
	{"L1-dcache-loads", PERF_CACHES(L1D, READ, ACCESS)},
	{"L1-dcache-load-misses", PERF_CACHES(L1D, READ, MISS)},
	{"L1-dcache-stores", PERF_CACHES(L1D, WRITE, ACCESS)},
	{"L1-icache-load-misses", PERF_CACHES(L1I, READ, MISS)},
	{"LLC-loads", PERF_CACHES(LL, READ, ACCESS)},
	{"LLC-load-misses", PERF_CACHES(LL, READ, MISS)},
	{"LLC-stores", PERF_CACHES(LL, WRITE, ACCESS)},
	{"LLC-store-misses", PERF_CACHES(LL, WRITE, MISS)},
	{"dTLB-loads", PERF_CACHES(DTLB, READ, ACCESS)},
	{"dTLB-load-misses", PERF_CACHES(DTLB, READ, MISS)},
	{"dTLB-stores", PERF_CACHES(DTLB, WRITE, ACCESS)},
	{"dTLB-store-misses", PERF_CACHES(DTLB, WRITE, MISS)},
	{"iTLB-loads", PERF_CACHES(ITLB, READ, ACCESS)},
	{"iTLB-load-misses", PERF_CACHES(ITLB, READ, MISS)},
	{"branch-loads", PERF_CACHES(BPU, READ, ACCESS)},
	{"branch-load-misses", PERF_CACHES(BPU, READ, MISS)},
};
#define CACHES (sizeof(caches) / sizeof(caches[0]))

const char *event_names_cache(size_t index)
{
	return index < CACHES ? caches[index].name : NULL;
}

static bool find_cache(const struct spmu_model *model, const char *name, struct event_code *code)
{
	struct perf_cache cache;

	for (size_t i = 0; i < CACHES; i++) {
		if (strcasecmp(caches[i].name, name) ||
		    !perf_caches_find(model, &launch_supply, caches[i].config, &cache))
			continue;
		event_names_raw(model, cache.row->code, code);
		code->row = cache.row;
		code->fixed = cache.row->fixed;
		code->offcore = cache.offcore;
		code->perf_type = PERF_TYPE_HW_CACHE;
		code->perf_config = caches[i].config;
		return true;
	}
	return false;
}

/* --- libpfm4 -------------------------------------------------------------- */

/* Makes libpfm4 encode for other processors than the machine's own.  It asks the environment for
 * that, and the program must get the environment unchanged. */
static bool start_libpfm(void)
{
	static const char variable[] = "LIBPFM_ENCODE_INACTIVE";
	static enum { UNKNOWN, GOOD, BAD } state;
	bool given = getenv(variable);

	if (state == UNKNOWN) {
		if (!given)
			setenv(variable, "1", 1);
		state = pfm_initialize() == PFM_SUCCESS ? GOOD : BAD;
		if (!given)
			unsetenv(variable);
	}
	return state == GOOD;
}

/* Takes the value of a further MSR, if the unit has it. */
static void take_extra(struct event_code *code, uint64_t value)
{
	unsigned tally = code->row ? code->row->tally : 0;

	code->extra = tally != SPMU_TALLY_FRONTEND && tally != SPMU_TALLY_OFFCORE;
	if (tally == SPMU_TALLY_FRONTEND)
		code->frontend = value;
	if (tally == SPMU_TALLY_OFFCORE)
		code->offcore = value;
}

static bool find_in_libpfm(const struct spmu_model *model, const char *name,
			   struct event_code *code)
{
	const char *prefix = spmu_model_describe(model).pfm;
	pfm_pmu_encode_arg_t encoded = {.size = sizeof(encoded)};
	char *full = NULL;
	bool found = false;

	if (!prefix || !start_libpfm())
		return false;
	full = tool_print("%s::%s", prefix, name);
	if (pfm_get_os_event_encoding(full, PFM_PLM3, PFM_OS_NONE, &encoded) == PFM_SUCCESS &&
	    encoded.count >= 1) {
		bool escr = spmu_model_describe(model).programming == SPMU_PROGRAM_ESCR;

		if (escr && encoded.count > 1)
			encoded.codes[0] = event_legacy_of_escr(model, name, encoded.codes[0],
								encoded.codes[1]);
		event_names_raw(model, encoded.codes[0], code);
		code->extra = encoded.count > (escr ? 2 : 1);
		if (code->extra && !escr)
			take_extra(code, encoded.codes[1]);
		found = true;
	}
	free(encoded.codes);
	free(full);
	return found;
}

/* Finds Intel's names of off-core responses after Cascade Lake, "OCR.DEMAND_RFO.L3_MISS".  libpfm4
 * has an underscore for the second point, and on some models another beginning. */
static bool find_ocr(const struct spmu_model *model, const char *name, struct event_code *code)
{
	static const char intel[] = "ocr.";
	static const char *const beginnings[] = {"OCR", "OFFCORE_RESPONSE_0"};
	bool found = false;

	if (strncasecmp(name, intel, sizeof(intel) - 1))
		return false;
	for (size_t i = 0; !found && i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		char *other = tool_print("%s:%s", beginnings[i], name + sizeof(intel) - 1);

		for (char *p = strchr(other, '.'); p; p = strchr(p, '.'))
			*p = '_';
		found = find_in_libpfm(model, other, code);
		free(other);
	}
	return found;
}

bool event_names_find(const struct spmu_model *model, const char *name, struct event_code *code)
{
	const char *prefix = spmu_model_describe(model).pfm;
	size_t length = prefix ? strlen(prefix) : 0;

	/* libpfm4's full names begin with the processor: "skl::INST_RETIRED". */
	if (prefix && !strncasecmp(name, prefix, length) && !strncmp(name + length, "::", 2))
		name += length + 2;
	else if (strstr(name, "::"))
		return false;
	return find_generic(model, name, code) || find_raw(model, name, code) ||
	       find_in_model(model, name, code) || find_memory(model, name, code) ||
	       find_cache(model, name, code) || event_legacy_find(model, name, code) ||
	       find_in_libpfm(model, name, code) || find_ocr(model, name, code) ||
	       event_offcore_find(model, name, code) || event_frontend_find(model, name, code);
}

/* --- similar names --------------------------------------------------------- */

#define SIMILAR 3

struct similar {
	const char *name[SIMILAR];
	unsigned distance[SIMILAR];
};

static void consider(struct similar *best, const char *wanted, const char *name)
{
	unsigned limit = (unsigned)strlen(wanted) / 4 + 1;
	unsigned distance = tool_distance(wanted, name);
	int at = SIMILAR;

	/* A part of a name ("near_taken") counts like a typing error. */
	if (strlen(wanted) >= 4 && strcasestr(name, wanted) && distance > limit)
		distance = limit;
	if (distance > limit)
		return;
	while (at > 0 && (!best->name[at - 1] || distance < best->distance[at - 1])) {
		at--;
		if (at + 1 < SIMILAR) {
			best->name[at + 1] = best->name[at];
			best->distance[at + 1] = best->distance[at];
		}
	}
	if (at < SIMILAR) {
		best->name[at] = name;
		best->distance[at] = distance;
	}
}

char *event_names_similar(const struct spmu_model *model, const char *wanted)
{
	struct similar best = {.name = {NULL}};
	const struct event_legacy_metric *metric;
	const char *name, *meaning;

	for (size_t i = 0; i < GENERICS; i++)
		consider(&best, wanted, generics[i].name);
	for (size_t i = 0; i < spmu_event_count(model); i++)
		consider(&best, wanted, spmu_event_at(model, i)->name);
	for (size_t i = 0; (metric = event_legacy_metric(model, i)); i++)
		consider(&best, wanted, metric->name);
	for (size_t i = 0; (name = event_frontend_name(model, i, &meaning)); i++)
		consider(&best, wanted, name);
	if (!best.name[0])
		return NULL;
	if (!best.name[1])
		return tool_copy(best.name[0]);
	if (!best.name[2])
		return tool_print("%s or %s", best.name[0], best.name[1]);
	return tool_print("%s, %s or %s", best.name[0], best.name[1], best.name[2]);
}

/* --- from a code to its name ------------------------------------------------ */

/* Finds the name by trying each unit mask of each event, as libpfm4 has no search by code. */
static char *libpfm_name_of_code(const struct spmu_model *model, uint64_t code)
{
	const char *prefix = spmu_model_describe(model).pfm;
	pfm_pmu_info_t pmu = {.size = sizeof(pmu)};
	pfm_pmu_t which;

	if (!prefix || !start_libpfm())
		return NULL;
	pfm_for_all_pmus(which)
	{
		if (pfm_get_pmu_info(which, &pmu) == PFM_SUCCESS && !strcmp(pmu.name, prefix))
			break;
	}
	if (which >= PFM_PMU_MAX)
		return NULL;
	for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i)) {
		pfm_event_info_t event = {.size = sizeof(event)};

		if (pfm_get_event_info(i, PFM_OS_NONE, &event) != PFM_SUCCESS ||
		    (event.code & 0xff) != (code & 0xff))
			continue;
		for (int j = 0; j < event.nattrs; j++) {
			pfm_event_attr_info_t mask = {.size = sizeof(mask)};

			if (pfm_get_event_attr_info(i, j, PFM_OS_NONE, &mask) == PFM_SUCCESS &&
			    mask.type == PFM_ATTR_UMASK && mask.code == code >> 8)
				return tool_print("%s.%s", event.name, mask.name);
		}
		if (!(code >> 8))
			return tool_copy(event.name);
	}
	return NULL;
}

char *event_names_of_select(const struct spmu_model *model, uint64_t select)
{
	uint64_t code = select & SELECT_CODE;
	const struct spmu_event *own =
		select & SELECT_CONDITION
			? spmu_event_by_code(model, select & (SELECT_CODE | SELECT_CONDITION))
			: NULL;
	const struct spmu_event *row = own ? own : spmu_event_by_code(model, code);
	unsigned cmask = (unsigned)((select & SELECT_CMASK) >> SELECT_CMASK_AT);
	char *name = row ? tool_copy(row->name) : libpfm_name_of_code(model, code);
	char threshold[16] = "";
	char *full;

	if (!name)
		name = tool_print("r%04" PRIx64, code);
	if (own)
		select &= ~SELECT_CONDITION;
	if (cmask && !own)
		snprintf(threshold, sizeof(threshold), ":c=%u", cmask);
	full = tool_print("%s%s%s%s%s", name, threshold, select & SELECT_INV ? ":i" : "",
			  select & SELECT_EDGE ? ":e" : "", select & SELECT_ANY ? ":t" : "");
	free(name);
	return full;
}
