/* SPDX-License-Identifier: MIT */
/*
 * branches.c: filters of branch stacks, as in perf record's -j.
 *
 * The hardware filters by the kind of a branch.  It cannot tell system calls from other far
 * transfers, and models before Nehalem do not filter at all.  So branches are filtered once more by
 * their instructions, as Linux does.  A branch whose instruction cannot be read is left out then.
 */
#define _GNU_SOURCE
#include "tools/softpmu/run/branches.h"

#include <softpmu/lbr.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

#define KIND(name) (1u << BRANCH_##name)

#define SELECT_KINDS                                                                               \
	(SPMU_LBR_NO_JCC | SPMU_LBR_NO_CALL_REL | SPMU_LBR_NO_CALL_IND | SPMU_LBR_NO_RET |         \
	 SPMU_LBR_NO_JMP_IND | SPMU_LBR_NO_JMP_REL | SPMU_LBR_NO_FAR)

#define PLM (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)

/* perf's struct perf_branch_entry */
#define FLAGS_RESULT	 0xfu /* mispredicted, predicted, in a transaction, abort */
#define FLAG_IN_TX	 0x4u
#define FLAGS_CYCLES	 (UINT64_C(0xffff) << 4)
#define FLAGS_TYPE_SHIFT 20
#define FLAGS_TYPE	 (UINT64_C(0xf) << FLAGS_TYPE_SHIFT)
#define FLAGS_USER	 ((uint64_t)PERF_BR_PRIV_USER << 30)

const char branches_names[] =
	"any, any_call, any_ret, ind_call, ind_jmp, cond, call, stack, no_tx, "
	"u, k, hv, save_type, priv, no_flags, no_cycles, cycles";

/* What each filter admits: the bits of MSR_LBR_SELECT that it clears, and the kinds. */
static const struct filter {
	const char *name;
	uint64_t bit;
	uint32_t passes, kinds;
} filters[] = {
	{"any", PERF_SAMPLE_BRANCH_ANY, SELECT_KINDS, 0},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL,
	 SPMU_LBR_NO_CALL_REL | SPMU_LBR_NO_CALL_IND | SPMU_LBR_NO_FAR,
	 KIND(CALL) | KIND(CALL_INDIRECT) | KIND(SYSCALL) | KIND(FAR)},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN, SPMU_LBR_NO_RET | SPMU_LBR_NO_FAR,
	 KIND(RETURN) | KIND(SYSTEM_RETURN)},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL, SPMU_LBR_NO_CALL_IND, KIND(CALL_INDIRECT)},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP, SPMU_LBR_NO_JMP_IND, KIND(JUMP_INDIRECT)},
	{"cond", PERF_SAMPLE_BRANCH_COND, SPMU_LBR_NO_JCC, KIND(COND)},
	{"call", PERF_SAMPLE_BRANCH_CALL, SPMU_LBR_NO_CALL_REL, KIND(CALL)},
};

#define FILTERS (sizeof(filters) / sizeof(filters[0]))

static const struct {
	const char *name;
	uint64_t bit;
} others[] = {
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"call_stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
};

/* Filters of perf that would show nothing here. */
static const struct {
	const char *name, *why;
} refused[] = {
	{"in_tx", "no transaction runs here"},
	{"abort_tx", "no transaction runs here"},
	{"hw_index", "the index of the newest record is not kept"},
};

/* --- the user's list ------------------------------------------------------------------- */

static uint64_t bit_of(const char *word)
{
	for (size_t i = 0; i < FILTERS; i++) {
		if (!strcasecmp(filters[i].name, word))
			return filters[i].bit;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		if (!strcasecmp(others[i].name, word))
			return others[i].bit;
	}
	return 0;
}

bool branches_parse(struct branches *branches, const char *list, char **error)
{
	char *copy = tool_copy(list), *rest = copy, *word;

	*error = NULL;
	while (!*error && (word = strsep(&rest, ","))) {
		uint64_t bit = bit_of(word);
		bool clocks = !strcasecmp(word, "cycles");

		branches->type |= clocks ? PERF_SAMPLE_BRANCH_USER : bit;
		branches->clocks |= clocks;
		for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
			if (!strcasecmp(refused[i].name, word))
				*error = tool_print("branch filter '%s': %s", word, refused[i].why);
		}
		if (!bit && !clocks && !*error)
			*error = tool_print("unknown branch filter '%s'; the filters are %s", word,
					    branches_names);
	}
	free(copy);
	return !*error;
}

void branches_call_graph(struct branches *branches)
{
	branches->type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
			 PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
}

/* --- what the model can do --------------------------------------------------------------- */

static bool has_filter(uint64_t type)
{
	for (size_t i = 0; i < FILTERS; i++) {
		if (type & filters[i].bit)
			return true;
	}
	return false;
}

/* Sets MSR_LBR_SELECT to suppress all that no filter admits.  Where the hardware is too coarse,
 * sets `kinds` as well. */
static void choose(struct branches *branches, const struct spmu_lbr_layout *layout)
{
	uint64_t passes = 0, call_stack = SPMU_LBR_NO_CALL_REL | SPMU_LBR_NO_CALL_IND |
					  SPMU_LBR_NO_RET | SPMU_LBR_CALL_STACK;
	bool coarse = !layout->select;

	for (size_t i = 0; i < FILTERS; i++) {
		if (!(branches->type & filters[i].bit))
			continue;
		passes |= filters[i].passes;
		branches->kinds |= filters[i].kinds;
		coarse |= filters[i].passes & SPMU_LBR_NO_FAR && filters[i].kinds;
	}
	branches->select = SELECT_KINDS & ~passes;
	if (branches->type & PERF_SAMPLE_BRANCH_CALL_STACK)
		branches->select = (SELECT_KINDS & ~call_stack) | SPMU_LBR_CALL_STACK;
	if (!(branches->type & PERF_SAMPLE_BRANCH_KERNEL))
		branches->select |= SPMU_LBR_NO_CPL0;
	if (!layout->select)
		branches->select = 0;
	if (!coarse || branches->type & PERF_SAMPLE_BRANCH_ANY)
		branches->kinds = 0;
}

bool branches_complete(struct branches *branches, const struct spmu_model *model, char **error)
{
	const struct spmu_lbr_layout *layout = spmu_model_lbr_layout(model);
	const char *name = spmu_model_describe(model).name;
	bool call_stack = branches->type & PERF_SAMPLE_BRANCH_CALL_STACK;

	*error = NULL;
	if (!branches->type)
		return true;
	if (!(branches->type & PLM))
		branches->type |= PERF_SAMPLE_BRANCH_USER;
	if (!has_filter(branches->type) && !call_stack)
		branches->type |= PERF_SAMPLE_BRANCH_ANY;
	if (!layout)
		*error = tool_print("branches cannot be recorded: %s has no last branch records",
				    name);
	else if (call_stack && !layout->call_stack)
		*error = tool_print("the last branch records of %s have no call-stack mode; "
				    "Haswell's and later ones do",
				    name);
	else if (!(branches->type & PERF_SAMPLE_BRANCH_USER))
		*error = tool_print(
			"cannot record the kernel's branches alone: no kernel code runs here");
	else if (call_stack &&
		 (has_filter(branches->type) || branches->type & PERF_SAMPLE_BRANCH_KERNEL))
		*error = tool_print("the call-stack mode records user code only, and cannot be "
				    "combined with another filter");
	else
		choose(branches, layout);
	return !*error;
}

/* --- the branches of a sample -------------------------------------------------------------- */

static uint64_t perf_type(enum code_branch kind)
{
	static const uint8_t types[BRANCHES] = {
		[BRANCH_COND] = PERF_BR_COND,
		[BRANCH_JUMP] = PERF_BR_UNCOND,
		[BRANCH_JUMP_INDIRECT] = PERF_BR_IND,
		[BRANCH_CALL] = PERF_BR_CALL,
		[BRANCH_CALL_INDIRECT] = PERF_BR_IND_CALL,
		[BRANCH_RETURN] = PERF_BR_RET,
		[BRANCH_SYSCALL] = PERF_BR_SYSCALL,
		[BRANCH_SYSTEM_RETURN] = PERF_BR_SYSRET,
	};

	return (uint64_t)types[kind] << FLAGS_TYPE_SHIFT;
}

static uint64_t flags_of(const struct branches *branches, uint64_t flags, enum code_branch kind)
{
	flags &= FLAGS_RESULT | FLAGS_CYCLES | FLAGS_TYPE;
	if (branches->type & PERF_SAMPLE_BRANCH_NO_FLAGS)
		flags &= ~(uint64_t)FLAGS_RESULT;
	if (!branches->clocks || branches->type & PERF_SAMPLE_BRANCH_NO_CYCLES)
		flags &= ~FLAGS_CYCLES;
	if (!(branches->type & PERF_SAMPLE_BRANCH_TYPE_SAVE))
		flags &= ~FLAGS_TYPE;
	else if (!(flags & FLAGS_TYPE))
		flags |= perf_type(kind);
	if (branches->type & PERF_SAMPLE_BRANCH_PRIV_SAVE)
		flags |= FLAGS_USER;
	return flags;
}

size_t branches_sort_out(const struct branches *branches, struct code *code,
			 const struct link_branch *from, size_t count, struct perfdata_branch *to)
{
	bool look = branches->kinds || branches->type & PERF_SAMPLE_BRANCH_TYPE_SAVE;
	size_t kept = 0;

	for (size_t i = 0; i < count && kept < BRANCHES_MAX; i++) {
		enum code_branch kind = BRANCH_UNKNOWN;
		unsigned length;

		if (look)
			kind = code_branch_at(code, from[i].from, &length);
		if (branches->kinds && !(branches->kinds >> kind & 1))
			continue;
		if (branches->type & PERF_SAMPLE_BRANCH_NO_TX && from[i].flags & FLAG_IN_TX)
			continue;
		to[kept++] = (struct perfdata_branch){from[i].from, from[i].to,
						      flags_of(branches, from[i].flags, kind)};
	}
	return kept;
}
