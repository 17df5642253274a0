/* SPDX-License-Identifier: MIT */
/*
 * perf_select.c: from type and config of an event to a request to the driver.
 *
 * The codes of hardware events are those of Linux's driver for the family.  They are, with one
 * exception, the architectural events (Vol. 3B 18.2.1.2).  Units before architectural performance
 * monitoring count them by the event of the model that has the same signals.
 */
#include <asm/errno.h>
#include <stddef.h>

#include "perf_attr.h"
#include "perf_branches.h"
#include "perf_caches.h"
#include "perf_select.h"

#define UNIT_MASK_2  UINT64_C(0xff0000000000) /* of version 6 */
#define SELECT_CODE  (UINT64_C(0xffff) | UNIT_MASK_2)
#define SELECT_USR   (UINT64_C(1) << 16)
#define SELECT_EDGE  (UINT64_C(1) << 18)
#define SELECT_ANY   (UINT64_C(1) << 21)
#define SELECT_INV   (UINT64_C(1) << 23)
#define SELECT_CMASK (UINT64_C(0xff) << 24)
/* What a program may choose.  The kernel ignores the other bits of config. */
#define SELECT_CHOSEN (SELECT_CODE | SELECT_EDGE | SELECT_ANY | SELECT_INV | SELECT_CMASK)

#define NO_CODE UINT32_MAX

/* MSR_PEBS_LD_LAT (18.8.1.2). */
#define THRESHOLD_LEAST 3u
#define THRESHOLD_MOST	UINT16_MAX

/* By PERF_COUNT_HW_. */
static const struct {
	uint32_t code;
	uint64_t signals; /* of the same event on older units */
	bool fixed_only;
} hardware[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = {0x003c, SPMU_SIGBIT(CYCLES), false},
	[PERF_COUNT_HW_INSTRUCTIONS] = {0x00c0, SPMU_SIGBIT(INSTRUCTIONS), false},
	[PERF_COUNT_HW_CACHE_REFERENCES] = {0x4f2e, SPMU_SIGBIT(LLC_REFERENCE), false},
	[PERF_COUNT_HW_CACHE_MISSES] = {0x412e, SPMU_SIGBIT(LLC_MISS), false},
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = {0x00c4, SPMU_SIGSET_BRANCHES, false},
	[PERF_COUNT_HW_BRANCH_MISSES] = {0x00c5, SPMU_SIGBIT(BRANCH_MISS), false},
	[PERF_COUNT_HW_BUS_CYCLES] = {0x013c, 0, false},
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = {NO_CODE, 0, false},
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = {NO_CODE, 0, false},
	[PERF_COUNT_HW_REF_CPU_CYCLES] = {0x0300, SPMU_SIGBIT(REF_CYCLES), true},
};

/* What a config names. */
struct named {
	const struct spmu_event *row;
	uint64_t code;
	uint64_t modifiers;
	uint64_t offcore; /* as in struct spmu_request */
	bool fixed_only, generic;
};

static bool is_architectural(const struct spmu_model *model)
{
	return spmu_model_describe(model).perfmon_version != 0;
}

/* Returns an event that counts these signals and nothing else, the most exact one. */
static const struct spmu_event *row_of_signals(const struct spmu_model *model, uint64_t signals)
{
	const struct spmu_event *found = NULL;

	for (size_t i = 0; signals && i < spmu_event_count(model); i++) {
		const struct spmu_event *row = spmu_event_at(model, i);

		if (row->signals == signals && !row->tally &&
		    (!found || row->fidelity > found->fidelity))
			found = row;
	}
	return found;
}

static long find_hardware(const struct spmu_model *model, uint64_t config, struct named *out)
{
	if (config >= PERF_COUNT_HW_MAX)
		return -EINVAL;
	if (hardware[config].code == NO_CODE)
		return -ENOENT;
	out->generic = true;
	out->code = hardware[config].code;
	out->fixed_only = hardware[config].fixed_only && is_architectural(model);
	if (out->fixed_only)
		out->row = spmu_event_fixed(model, 2);
	else if (is_architectural(model))
		out->row = spmu_event_by_code(model, out->code);
	else
		out->row = row_of_signals(model, hardware[config].signals);
	if (out->row && !is_architectural(model))
		out->code = out->row->code;
	return 0;
}

static long find_cache(const struct spmu_model *model, const struct spmu_supply *supply,
		       uint64_t config, struct named *out)
{
	struct perf_cache cache;

	if ((config & 0xff) >= PERF_COUNT_HW_CACHE_MAX ||
	    (config >> 8 & 0xff) >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    (config >> 16 & 0xff) >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;
	if (!perf_caches_find(model, supply, config & 0xffffff, &cache))
		return -ENOENT;
	out->row = cache.row;
	out->code = cache.row->code;
	out->offcore = cache.offcore;
	return 0;
}

static bool has_threshold(const struct spmu_event *row)
{
	return row && row->tally == SPMU_TALLY_LOAD_LATENCY;
}

/* Only event selects have a format of config that is theirs. */
static long find_raw(const struct spmu_model *model, const struct perf_event_attr *attr,
		     struct named *out)
{
	uint64_t config = attr->config;

	if (spmu_model_describe(model).programming != SPMU_PROGRAM_PERFEVTSEL)
		return -ENOENT;
	if (spmu_model_describe(model).perfmon_version < 6)
		config &= ~UNIT_MASK_2;
	if (config & SELECT_ANY)
		return is_architectural(model) ? -EACCES : -EINVAL;
	out->modifiers = config & SELECT_CHOSEN & ~SELECT_CODE;
	out->code = config & SELECT_CODE;
	out->row = spmu_event_by_code(model, out->code);
	if (out->row && out->row->tally == SPMU_TALLY_OFFCORE)
		out->offcore = attr->config1;
	return has_threshold(out->row) && attr->config1 > THRESHOLD_MOST ? -EINVAL : 0;
}

static long find(const struct spmu_model *model, const struct spmu_supply *supply,
		 const struct perf_event_attr *attr, struct named *out)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return find_hardware(model, attr->config, out);
	case PERF_TYPE_HW_CACHE:
		return find_cache(model, supply, attr->config, out);
	case PERF_TYPE_RAW:
		return find_raw(model, attr, out);
	default:
		return -ENOENT;
	}
}

/* Returns whether the row counts branches by their kind and by their prediction, which no model
 * supplies together. */
static bool is_judged(const struct spmu_event *row)
{
	return row->signals & SPMU_SIGBIT(BRANCH_PREDICTED) ||
	       (row->signals & SPMU_SIGBIT(BRANCH_MISS) && row->signals & SPMU_SIGSET_BRANCHES);
}

/* What nothing supplies is absent: it is refused, and never counted as 0. */
static bool is_supplied(const struct spmu_model *model, const struct named *named,
			const struct perf_supply *supply)
{
	if (!named->row || is_judged(named->row) ||
	    !perf_caches_supplied(model, &supply->unit, named->row, named->offcore))
		return false;
	/* A threshold of clocks needs each clock. */
	return !(named->row->signals & SPMU_SIGSET_CLOCKS && named->modifiers);
}

uint32_t perf_select_load_threshold(const struct spmu_model *model,
				    const struct perf_event_attr *attr)
{
	struct named named = {0};

	if (attr->type != PERF_TYPE_RAW || find_raw(model, attr, &named) ||
	    !has_threshold(named.row))
		return 0;
	return attr->config1 < THRESHOLD_LEAST ? THRESHOLD_LEAST : (uint32_t)attr->config1;
}

/* --- samples --- */

/* Records that nothing here can make. */
static bool wants_unknown(const struct perf_event_attr *attr)
{
	return attr->context_switch || attr->cgroup || attr->text_poke || attr->aux_output ||
	       attr->sigtrap ||
	       attr->sample_type & (PERF_SAMPLE_AUX | PERF_SAMPLE_CGROUP |
				    PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
}

#define FIRST_FIXED 32u
#define PREC_DIST   0x01c0u /* INST_RETIRED.PREC_DIST */

static bool has_precise_distribution(const struct spmu_model *model)
{
	for (unsigned n = 0; n < FIRST_FIXED; n++)
		if (spmu_model_pdir(model, n, PREC_DIST))
			return true;
	return spmu_model_pdir(model, FIRST_FIXED, 0);
}

/* Linux: PEBS; and the record has the address of the instruction; and precise distribution. */
static unsigned most_precise(const struct spmu_model *model)
{
	struct spmu_model_info info = spmu_model_describe(model);

	if (info.pebs_format < 0)
		return 0;
	return 1u + (info.pebs_format >= 2 || spmu_model_lbr_layout(model)) +
	       has_precise_distribution(model);
}

static long check_samples(const struct spmu_model *model, const struct perf_event_attr *attr)
{
	uint64_t branches;

	if (wants_unknown(attr))
		return -EOPNOTSUPP;
	if (attr->precise_ip > most_precise(model))
		return -EOPNOTSUPP;
	if (attr->precise_ip && !perf_attr_samples(attr))
		return -EINVAL;
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return perf_branches_select(model, attr, &branches);
	return 0;
}

/* Returns an event that counts the same and can be precise. */
static const struct spmu_event *precise_twin(const struct spmu_model *model,
					     const struct spmu_event *row)
{
	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *twin = spmu_event_at(model, i);

		if (twin->signals == row->signals && twin->tally == row->tally &&
		    (twin->signals || twin->tally) && twin->fidelity == row->fidelity &&
		    twin->pebs_counters)
			return twin;
	}
	return row;
}

/* Returns the counters on which records are made by the very instruction that overflows; all, if
 * none does so. */
static uint32_t distributed(const struct spmu_model *model, const struct spmu_request *request)
{
	uint32_t set = 0;

	for (unsigned n = 0; n < FIRST_FIXED; n++)
		if (request->counters >> n & 1 && spmu_model_pdir(model, n, request->select))
			set |= UINT32_C(1) << n;
	return set ? set : request->counters;
}

/* Programs the event with PEBS, as Linux's driver for the family does. */
static long make_precise(const struct spmu_model *model, const struct perf_event_attr *attr,
			 const struct named *named, struct spmu_request *request)
{
	int8_t fixed = named->modifiers ? -1 : named->row->fixed;
	bool most = attr->precise_ip == 3;

	request->precise = true;
	request->counters = named->fixed_only ? 0 : named->row->pebs_counters;
	request->fixed = -1;
	if (most)
		request->counters = distributed(model, request);
	if (most && fixed >= 0 && spmu_model_pdir(model, FIRST_FIXED + (unsigned)fixed, 0))
		request->counters = 0;
	if (!request->counters && fixed >= 0 && spmu_model_describe(model).pebs_fixed >> fixed & 1)
		request->fixed = fixed;
	return request->counters || request->fixed >= 0 ? 0 : -EINVAL;
}

/* The first period of a rate.  The first samples adapt it. */
#define PERIOD_FIRST 20000

static void set_period(const struct perf_event_attr *attr, struct spmu_request *request)
{
	request->period = attr->freq ? PERIOD_FIRST : attr->sample_period;
}

long perf_select(const struct spmu_model *model, const struct perf_supply *supply,
		 const struct perf_event_attr *attr, struct spmu_request *request)
{
	struct named named = {0};
	long result = find(model, &supply->unit, attr, &named);

	if (!result)
		result = check_samples(model, attr);
	if (result)
		return result;
	if (attr->exclude_user || !is_supplied(model, &named, supply))
		return -ENOENT;
	/* A timeline has sums: it does not know at which instruction a clock is the n-th. */
	if (perf_attr_samples(attr) && named.row->signals & SPMU_SIGSET_CLOCKS &&
	    !supply->samples_clocks)
		return -ENOENT;
	if (attr->precise_ip && named.generic && !named.row->pebs_counters) {
		named.row = precise_twin(model, named.row);
		named.code = named.row->code;
	}
	*request = (struct spmu_request){
		.size = sizeof(*request),
		.select = named.modifiers | SELECT_USR,
		.code = named.code,
		.counters = named.fixed_only ? 0 : named.row->counters,
		.fixed = named.modifiers ? -1 : named.row->fixed,
		.offcore = named.offcore,
	};
	if (spmu_model_describe(model).programming == SPMU_PROGRAM_PERFEVTSEL)
		request->select |= named.code;
	if (perf_attr_samples(attr))
		set_period(attr, request);
	return attr->precise_ip ? make_precise(model, attr, &named, request) : 0;
}

/* A clock samples each so many instructions, and tells with each sample how much time has passed.
 * The first samples adapt the number to the period or the rate. */
static long select_clock(const struct spmu_model *model, const struct perf_supply *supply,
			 const struct perf_event_attr *attr, struct spmu_request *request)
{
	const struct perf_event_attr instructions = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.freq = 1,
		.sample_freq = 1,
	};

	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return -EOPNOTSUPP;
	return perf_select(model, supply, &instructions, request);
}

bool perf_select_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

long perf_select_software(const struct spmu_model *model, const struct perf_supply *supply,
			  const struct perf_event_attr *attr, struct spmu_request *request)
{
	*request = (struct spmu_request){.size = sizeof(*request), .fixed = -1};
	if (attr->type != PERF_TYPE_SOFTWARE)
		return -ENOENT;
	if (wants_unknown(attr))
		return -EOPNOTSUPP;
	switch (attr->config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK:
		return perf_attr_samples(attr) ? select_clock(model, supply, attr, request) : 0;
	case PERF_COUNT_SW_PAGE_FAULTS:
	case PERF_COUNT_SW_PAGE_FAULTS_MIN:
	case PERF_COUNT_SW_PAGE_FAULTS_MAJ:
	case PERF_COUNT_SW_CONTEXT_SWITCHES:
		return perf_attr_samples(attr) ? -EOPNOTSUPP : 0;
	case PERF_COUNT_SW_DUMMY:
		return 0;
	default:
		return -ENOENT;
	}
}

/* In how many ways the request can be counted. */
static unsigned ways(const struct spmu_request *request)
{
	unsigned n = request->fixed >= 0;

	for (uint32_t left = request->counters; left; left &= left - 1)
		n++;
	return n;
}

/* Those with the fewest counters choose first. */
bool perf_select_fits(struct spmu_request *request, unsigned requests, perf_select_add *add,
		      void *opaque)
{
	for (unsigned i = 0; i < requests; i++) {
		unsigned least = i;
		struct spmu_request first;

		for (unsigned k = i + 1; k < requests; k++)
			if (ways(&request[k]) < ways(&request[least]))
				least = k;
		first = request[least];
		request[least] = request[i];
		request[i] = first;
		if (!add(opaque, &request[i]))
			return false;
	}
	return true;
}
