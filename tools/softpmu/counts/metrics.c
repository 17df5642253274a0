/* SPDX-License-Identifier: MIT */
/*
 * metrics.c: metrics of a run, with Linux's formulas: IPC, misses for each thousand instructions,
 * and top-down analysis (Yasin, ISPASS 2014) from Sandy Bridge on.
 *
 * An event has other names on other families, so each input has several.  Slots are four for each
 * clock before Ice Lake.  The model has no machine clears, so all bad speculation is mispredicted
 * branches.
 */
#include "tools/softpmu/counts/metrics.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/counts/stat_table.h"

#define NAMES	  3
#define SLOTS_OLD 4

/* Events of each input; the first one that the model has is counted. */
static const char *const inputs[METRIC_INPUTS][NAMES] = {
	[METRIC_CLOCKS] = {"cycles"},
	[METRIC_INSTRUCTIONS] = {"instructions"},
	[METRIC_SLOTS] = {"TOPDOWN.SLOTS_P"},
	[METRIC_RETIRED] = {"UOPS_RETIRED.RETIRE_SLOTS", "UOPS_RETIRED.SLOTS"},
	[METRIC_ISSUED] = {"UOPS_ISSUED.ANY"},
	[METRIC_RECOVERY] = {"INT_MISC.RECOVERY_CYCLES"},
	[METRIC_UNDELIVERED] = {"IDQ_UOPS_NOT_DELIVERED.CORE"},
	[METRIC_UNDELIVERED_ALL] = {"IDQ_UOPS_NOT_DELIVERED.CYCLES_0_UOPS_DELIV_CORE"},
	[METRIC_STALLS] = {"CYCLE_ACTIVITY.STALLS_TOTAL", "CYCLE_ACTIVITY.CYCLES_NO_EXECUTE",
			   "CYCLE_ACTIVITY.CYCLES_NO_DISPATCH"},
	[METRIC_STALLS_LOAD] = {"CYCLE_ACTIVITY.STALLS_MEM_ANY",
				"CYCLE_ACTIVITY.STALLS_LDM_PENDING"},
	[METRIC_STALLS_L1] = {"CYCLE_ACTIVITY.STALLS_L1D_MISS",
			      "CYCLE_ACTIVITY.STALLS_L1D_PENDING"},
	[METRIC_STALLS_L2] = {"CYCLE_ACTIVITY.STALLS_L2_MISS", "CYCLE_ACTIVITY.STALLS_L2_PENDING"},
	[METRIC_STALLS_L3] = {"CYCLE_ACTIVITY.STALLS_L3_MISS"},
	[METRIC_STALLS_STORES] = {"EXE_ACTIVITY.BOUND_ON_STORES", "RESOURCE_STALLS.SB"},
	[METRIC_EXECUTED] = {"UOPS_EXECUTED.THREAD", "UOPS_EXECUTED.CORE"},
	[METRIC_EXECUTING] = {"UOPS_EXECUTED.THREAD_CYCLES_GE_1",
			      "UOPS_EXECUTED.CYCLES_GE_1_UOP_EXEC", "UOPS_EXECUTED.CYCLES_GE_1"},
	[METRIC_EXECUTING_2] = {"UOPS_EXECUTED.THREAD_CYCLES_GE_2",
				"UOPS_EXECUTED.CYCLES_GE_2_UOPS_EXEC", "UOPS_EXECUTED.CYCLES_GE_2"},
	[METRIC_BRANCHES] = {"branches"},
	[METRIC_MISPREDICTED] = {"branch-misses"},
	[METRIC_RESTEER] = {"INT_MISC.CLEAR_RESTEER_CYCLES"},
	[METRIC_CODE_CACHE] = {"ICACHE_16B.IFDATA_STALL", "ICACHE.IFETCH_STALL",
			       "ICACHE.IFDATA_STALL"},
	[METRIC_CODE_WALK] = {"ICACHE_64B.IFTAG_STALL", "ITLB_MISSES.WALK_DURATION"},
	[METRIC_DIVIDER] = {"ARITH.DIVIDER_ACTIVE", "ARITH.FPU_DIV_ACTIVE"},
	[METRIC_LOAD_L1] = {"MEM_LOAD_RETIRED.L1_MISS", "MEM_LOAD_UOPS_RETIRED.L1_MISS",
			    "L2_RQSTS.ALL_DEMAND_DATA_RD"},
	[METRIC_LOAD_L2] = {"MEM_LOAD_RETIRED.L2_MISS", "MEM_LOAD_UOPS_RETIRED.L2_MISS",
			    "OFFCORE_REQUESTS.DEMAND_DATA_RD"},
	[METRIC_LOAD_L3] = {"MEM_LOAD_RETIRED.L3_MISS", "MEM_LOAD_UOPS_RETIRED.L3_MISS",
			    "MEM_LOAD_UOPS_RETIRED.LLC_MISS"},
};

/* --- formulas ------------------------------------------------------------------------------- */

#define IN(name)  in[METRIC_##name]
#define BIT(name) (1u << METRIC_##name)

#define TOP_INPUTS (BIT(CLOCKS) | BIT(RETIRED) | BIT(ISSUED) | BIT(RECOVERY) | BIT(UNDELIVERED))

static double part(double of, double whole)
{
	return whole != 0 ? of / whole : 0;
}

static double slots_per_clock(const double *in)
{
	return part(IN(SLOTS), IN(CLOCKS));
}

static double front(const double *in)
{
	return part(IN(UNDELIVERED), IN(SLOTS));
}

static double bad(const double *in)
{
	return part(IN(ISSUED) - IN(RETIRED) + slots_per_clock(in) * IN(RECOVERY), IN(SLOTS));
}

static double retiring(const double *in)
{
	return part(IN(RETIRED), IN(SLOTS));
}

static double back(const double *in)
{
	double rest = 1 - front(in) - bad(in) - retiring(in);

	return rest > 0 ? rest : 0;
}

static double latency(const double *in)
{
	return part(slots_per_clock(in) * IN(UNDELIVERED_ALL), IN(SLOTS));
}

static double bandwidth(const double *in)
{
	return front(in) - latency(in);
}

/* The share of the back end's slots that memory takes: stalls with a load or a full store buffer,
 * of all clocks in which at most one micro-operation starts. */
static double memory(const double *in)
{
	double few = IN(STALLS) + IN(EXECUTING) - IN(EXECUTING_2) + IN(STALLS_STORES);
	double share = part(IN(STALLS_LOAD) + IN(STALLS_STORES), few);

	return (share < 1 ? share : 1) * back(in);
}

static double core(const double *in)
{
	return back(in) - memory(in);
}

static double ipc(const double *in)
{
	return part(IN(INSTRUCTIONS), IN(CLOCKS));
}

static double cpi(const double *in)
{
	return part(IN(CLOCKS), IN(INSTRUCTIONS));
}

static double uops_each(const double *in)
{
	return part(IN(RETIRED), IN(INSTRUCTIONS));
}

static double parallel(const double *in)
{
	return part(IN(EXECUTED), IN(EXECUTING));
}

static double clocks(const double *in)
{
	return IN(CLOCKS);
}

static double slots(const double *in)
{
	return IN(SLOTS);
}

static double branch_every(const double *in)
{
	return part(IN(INSTRUCTIONS), IN(BRANCHES));
}

static double mispredict_every(const double *in)
{
	return part(IN(INSTRUCTIONS), IN(MISPREDICTED));
}

static double l1_thousand(const double *in)
{
	return part(1000 * IN(LOAD_L1), IN(INSTRUCTIONS));
}

static double l2_thousand(const double *in)
{
	return part(1000 * IN(LOAD_L2), IN(INSTRUCTIONS));
}

static double l3_thousand(const double *in)
{
	return part(1000 * IN(LOAD_L3), IN(INSTRUCTIONS));
}

static double bound_l1(const double *in)
{
	return part(IN(STALLS_LOAD) - IN(STALLS_L1), IN(CLOCKS));
}

static double bound_l2(const double *in)
{
	return part(IN(STALLS_L1) - IN(STALLS_L2), IN(CLOCKS));
}

static double bound_l3(const double *in)
{
	return part(IN(STALLS_L2) - IN(STALLS_L3), IN(CLOCKS));
}

static double bound_memory(const double *in)
{
	return part(IN(STALLS_L3), IN(CLOCKS));
}

static double bound_stores(const double *in)
{
	return part(IN(STALLS_STORES), IN(CLOCKS));
}

static double resteers(const double *in)
{
	return part(IN(RESTEER), IN(CLOCKS));
}

static double code_cache(const double *in)
{
	return part(IN(CODE_CACHE), IN(CLOCKS));
}

static double code_walk(const double *in)
{
	return part(IN(CODE_WALK), IN(CLOCKS));
}

static double divider(const double *in)
{
	return part(IN(DIVIDER), IN(CLOCKS));
}

#define MEMORY_INPUTS                                                                              \
	(TOP_INPUTS | BIT(STALLS) | BIT(STALLS_LOAD) | BIT(STALLS_STORES) | BIT(EXECUTING) |       \
	 BIT(EXECUTING_2))

static const struct metric {
	const char *name, *other; /* Linux's, and Intel's */
	const char *group, *unit, *description;
	unsigned needs;
	double (*compute)(const double *in);
} metrics[] = {
	{"tma_frontend_bound", "Frontend_Bound", "TopdownL1", "%",
	 "slots for which the front end has no micro-operation", TOP_INPUTS, front},
	{"tma_bad_speculation", "Bad_Speculation", "TopdownL1", "%",
	 "slots that mispredictions take", TOP_INPUTS, bad},
	{"tma_backend_bound", "Backend_Bound", "TopdownL1", "%",
	 "slots that no resource of the back end is free for", TOP_INPUTS, back},
	{"tma_retiring", "Retiring", "TopdownL1", "%", "slots of micro-operations that retire",
	 TOP_INPUTS, retiring},
	{"tma_fetch_latency", "Fetch_Latency", "TopdownL2", "%",
	 "slots of clocks in which the front end delivers nothing",
	 TOP_INPUTS | BIT(UNDELIVERED_ALL), latency},
	{"tma_fetch_bandwidth", "Fetch_Bandwidth", "TopdownL2", "%",
	 "slots of clocks in which the front end delivers too little",
	 TOP_INPUTS | BIT(UNDELIVERED_ALL), bandwidth},
	{"tma_branch_mispredicts", "Branch_Mispredicts", "TopdownL2", "%",
	 "slots that mispredicted branches take: all bad speculation of the model", TOP_INPUTS,
	 bad},
	{"tma_memory_bound", "Memory_Bound", "TopdownL2", "%",
	 "slots of the back end that wait for loads and stores", MEMORY_INPUTS, memory},
	{"tma_core_bound", "Core_Bound", "TopdownL2", "%",
	 "slots of the back end that wait for something else", MEMORY_INPUTS, core},
	{"tma_branch_resteers", "Branch_Resteers", "TopdownL3", "%",
	 "clocks in which the front end fetches after a misprediction", BIT(CLOCKS) | BIT(RESTEER),
	 resteers},
	{"tma_icache_misses", "ICache_Misses", "TopdownL3", "%",
	 "clocks that wait for instruction cache misses", BIT(CLOCKS) | BIT(CODE_CACHE),
	 code_cache},
	{"tma_itlb_misses", "ITLB_Misses", "TopdownL3", "%",
	 "clocks that wait for page walks of fetches", BIT(CLOCKS) | BIT(CODE_WALK), code_walk},
	{"tma_l1_bound", "L1_Bound", "TopdownL3", "%",
	 "clocks in which nothing executes and loads wait for the first level",
	 BIT(CLOCKS) | BIT(STALLS_LOAD) | BIT(STALLS_L1), bound_l1},
	{"tma_l2_bound", "L2_Bound", "TopdownL3", "%", "the same for the second level",
	 BIT(CLOCKS) | BIT(STALLS_L1) | BIT(STALLS_L2), bound_l2},
	{"tma_l3_bound", "L3_Bound", "TopdownL3", "%", "the same for the last level",
	 BIT(CLOCKS) | BIT(STALLS_L2) | BIT(STALLS_L3), bound_l3},
	{"tma_dram_bound", "DRAM_Bound", "TopdownL3", "%", "the same for memory",
	 BIT(CLOCKS) | BIT(STALLS_L3), bound_memory},
	{"tma_store_bound", "Store_Bound", "TopdownL3", "%",
	 "clocks in which the store buffer is full", BIT(CLOCKS) | BIT(STALLS_STORES),
	 bound_stores},
	{"tma_divider", "Divider", "TopdownL3", "%", "clocks in which the divider is busy",
	 BIT(CLOCKS) | BIT(DIVIDER), divider},
	{"tma_info_thread_ipc", "IPC", "Summary", "", "instructions for each clock",
	 BIT(CLOCKS) | BIT(INSTRUCTIONS), ipc},
	{"tma_info_thread_cpi", "CPI", "Summary", "", "clocks for each instruction",
	 BIT(CLOCKS) | BIT(INSTRUCTIONS), cpi},
	{"tma_info_thread_uoppi", "UPI", "Summary", "", "micro-operations for each instruction",
	 BIT(RETIRED) | BIT(INSTRUCTIONS), uops_each},
	{"tma_info_core_ilp", "ILP", "Summary", "",
	 "micro-operations in each clock in which one executes", BIT(EXECUTED) | BIT(EXECUTING),
	 parallel},
	{"tma_info_thread_clks", "CLKS", "Summary", "", "clocks", BIT(CLOCKS), clocks},
	{"tma_info_thread_slots", "SLOTS", "Summary", "", "issue slots", BIT(CLOCKS), slots},
	{"tma_info_inst_mix_ipbranch", "IpBranch", "Branches", "", "instructions for each branch",
	 BIT(BRANCHES) | BIT(INSTRUCTIONS), branch_every},
	{"tma_info_bad_spec_ipmispredict", "IpMispredict", "Branches", "",
	 "instructions for each misprediction", BIT(MISPREDICTED) | BIT(INSTRUCTIONS),
	 mispredict_every},
	{"tma_info_memory_l1mpki", "L1MPKI", "Memory", "",
	 "loads that miss the first level, for each thousand instructions",
	 BIT(LOAD_L1) | BIT(INSTRUCTIONS), l1_thousand},
	{"tma_info_memory_l2mpki", "L2MPKI", "Memory", "", "the same for the second level",
	 BIT(LOAD_L2) | BIT(INSTRUCTIONS), l2_thousand},
	{"tma_info_memory_l3mpki", "L3MPKI", "Memory", "", "the same for the last level",
	 BIT(LOAD_L3) | BIT(INSTRUCTIONS), l3_thousand},
};

#define METRICS (sizeof(metrics) / sizeof(metrics[0]))

/* --- names ---------------------------------------------------------------------------------- */

/* Marks the metrics that a name of `length` bytes means.  Returns whether there are some. */
static bool mark(const char *name, size_t length, bool *wanted)
{
	bool any = false;

	for (size_t i = 0; i < METRICS; i++) {
		const char *const names[] = {metrics[i].name, metrics[i].other, metrics[i].group};

		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			if (strlen(names[n]) == length && !strncasecmp(names[n], name, length)) {
				any = true;
				if (wanted)
					wanted[i] = true;
			}
	}
	return any;
}

bool metrics_knows(const char *names)
{
	return mark(names, strcspn(names, ","), NULL);
}

bool metrics_want(struct metrics *of, const char *names, char **error)
{
	if (!of->wanted)
		of->wanted = tool_alloc(METRICS * sizeof(*of->wanted));
	for (const char *at = names;;) {
		size_t length = strcspn(at, ",");

		if (!mark(at, length, of->wanted)) {
			*error = tool_print("'%.*s' is neither a metric nor a group of metrics; "
					    "softpmu list metrics shows them",
					    (int)length, at);
			return false;
		}
		if (!at[length])
			return true;
		at += length + 1;
	}
}

bool metrics_describe(size_t index, const char *text[4])
{
	if (index >= METRICS)
		return false;
	text[0] = metrics[index].name;
	text[1] = metrics[index].other;
	text[2] = metrics[index].group;
	text[3] = metrics[index].description;
	return true;
}

void metrics_free(struct metrics *of)
{
	free(of->wanted);
}

/* --- events --------------------------------------------------------------------------------- */

/* Adds the first of an input's events that the model has.  Returns its number, or -1. */
static int add_input(enum metric_input input, const struct spmu_model *model,
		     struct event_list *events)
{
	for (unsigned n = 0; n < NAMES && inputs[input][n]; n++) {
		char *error = NULL, *name = tool_print("%s:u", inputs[input][n]);
		bool good = true;

		for (size_t i = 0; i < events->count; i++)
			if (!strcasecmp(events->event[i].name, name)) {
				free(name);
				return (int)i;
			}
		good = events_parse(events, model, name, &error);
		free(name);
		if (good)
			return (int)events->count - 1;
		free(error);
	}
	return -1;
}

void metrics_add_events(struct metrics *of, const struct spmu_model *model,
			struct event_list *events)
{
	unsigned needs = 0;

	for (size_t i = 0; of->wanted && i < METRICS; i++)
		needs |= of->wanted[i] ? metrics[i].needs : 0;
	needs |= needs & BIT(CLOCKS) ? BIT(SLOTS) : 0;
	for (unsigned input = 0; input < METRIC_INPUTS; input++)
		of->event[input] = needs >> input & 1 ? add_input(input, model, events) : -1;
}

bool metrics_value(const struct metrics *of, const struct stat_table *table, size_t index,
		   struct metric_value *value)
{
	const struct metric *m = &metrics[index];
	double in[METRIC_INPUTS] = {0};

	if (!of->wanted || index >= METRICS)
		return false;
	*value = (struct metric_value){.unit = m->unit, .description = m->description};
	if (!of->wanted[index])
		return true;
	value->name = m->name;
	value->known = true;
	for (unsigned input = 0; input < METRIC_INPUTS; input++) {
		int event = of->event[input];
		bool counted = event >= 0 && !stat_table_no_number(table, (size_t)event);

		in[input] = counted ? stat_table_value(table, (size_t)event) : 0;
		if ((m->needs >> input & 1) && !counted)
			value->known = false;
	}
	if (of->event[METRIC_SLOTS] < 0)
		IN(SLOTS) = SLOTS_OLD * IN(CLOCKS);
	value->value = m->compute(in) * (*m->unit ? 100 : 1);
	return true;
}
