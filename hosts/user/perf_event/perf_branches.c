/* SPDX-License-Identifier: MIT */
/*
 * perf_branches.c: branch_sample_type: what the unit selects (MSR_LBR_SELECT, Vol. 3B 17.7.2), and
 * what software drops where the unit is too coarse.
 */
#include "perf_branches.h"

#include <asm/errno.h>
#include <stddef.h>
#include <string.h>

/* The bits of MSR_LBR_SELECT that suppress kinds. */
#define SELECT_KINDS                                                                               \
	(SPMU_LBR_NO_JCC | SPMU_LBR_NO_CALL_REL | SPMU_LBR_NO_CALL_IND | SPMU_LBR_NO_RET |         \
	 SPMU_LBR_NO_JMP_IND | SPMU_LBR_NO_JMP_REL | SPMU_LBR_NO_FAR)
#define CALL_STACK                                                                                 \
	((SELECT_KINDS & ~(SPMU_LBR_NO_CALL_REL | SPMU_LBR_NO_CALL_IND | SPMU_LBR_NO_RET)) |       \
	 SPMU_LBR_CALL_STACK)

/* No transaction runs here. */
#define REFUSED (PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX)

#define FLAGS_RESULT UINT64_C(0xf) /* mispredicted, predicted, in a transaction, abort */
#define FLAGS_CYCLES (UINT64_C(0xffff) << 4)
#define TYPE_SHIFT   20
#define PRIV_SHIFT   30

/* What each filter admits: bits that it clears, and kinds. */
static const struct {
	uint64_t filter, passes, kinds;
} filters[] = {
	{PERF_SAMPLE_BRANCH_ANY, SELECT_KINDS, SPMU_SIGSET_BRANCHES},
	{PERF_SAMPLE_BRANCH_ANY_CALL, SPMU_LBR_NO_CALL_REL | SPMU_LBR_NO_CALL_IND | SPMU_LBR_NO_FAR,
	 SPMU_SIGBIT(CALL_REL) | SPMU_SIGBIT(CALL_IND) | SPMU_SIGBIT(FAR)},
	{PERF_SAMPLE_BRANCH_ANY_RETURN, SPMU_LBR_NO_RET | SPMU_LBR_NO_FAR, SPMU_SIGBIT(RET_NEAR)},
	{PERF_SAMPLE_BRANCH_IND_CALL, SPMU_LBR_NO_CALL_IND, SPMU_SIGBIT(CALL_IND)},
	{PERF_SAMPLE_BRANCH_IND_JUMP, SPMU_LBR_NO_JMP_IND, SPMU_SIGBIT(JMP_IND)},
	{PERF_SAMPLE_BRANCH_COND, SPMU_LBR_NO_JCC, SPMU_SIGBIT(COND_TAKEN)},
	{PERF_SAMPLE_BRANCH_CALL, SPMU_LBR_NO_CALL_REL, SPMU_SIGBIT(CALL_REL)},
};

/* What the event's filters admit together. */
static void admitted(uint64_t mask, uint64_t *passes, uint64_t *kinds)
{
	*passes = *kinds = 0;
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		if (mask & filters[i].filter) {
			*passes |= filters[i].passes;
			*kinds |= filters[i].kinds;
		}
}

long perf_branches_select(const struct spmu_model *model, const struct perf_event_attr *attr,
			  uint64_t *select)
{
	const struct spmu_lbr_layout *layout = spmu_model_lbr_layout(model);
	uint64_t mask = attr->branch_sample_type, passes, kinds;

	admitted(mask, &passes, &kinds);
	if (!layout || mask & REFUSED)
		return -EOPNOTSUPP;
	if (!(mask & PERF_SAMPLE_BRANCH_USER))
		return -EOPNOTSUPP; /* no code of the kernel runs here */
	*select = SPMU_LBR_NO_CPL0 | (SELECT_KINDS & ~passes);
	if (mask & PERF_SAMPLE_BRANCH_CALL_STACK) {
		if (!layout->call_stack)
			return -EOPNOTSUPP;
		if (passes)
			return -EINVAL;
		*select = SPMU_LBR_NO_CPL0 | CALL_STACK;
	}
	if (!layout->select)
		*select = 0;
	return 0;
}

bool perf_branches_need_kind(const struct spmu_model *model, const struct perf_event_attr *attr)
{
	const struct spmu_lbr_layout *layout = spmu_model_lbr_layout(model);
	uint64_t mask = attr->branch_sample_type;

	if (mask & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		return true;
	if (mask & (PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_CALL_STACK))
		return false;
	return !layout->select || mask & PERF_SAMPLE_BRANCH_ANY_RETURN;
}

static uint64_t type_of(uint64_t kind)
{
	static const struct {
		uint64_t kind, type;
	} types[] = {
		{SPMU_SIGBIT(COND_TAKEN), PERF_BR_COND},   {SPMU_SIGBIT(JMP_REL), PERF_BR_UNCOND},
		{SPMU_SIGBIT(JMP_IND), PERF_BR_IND},	   {SPMU_SIGBIT(CALL_REL), PERF_BR_CALL},
		{SPMU_SIGBIT(CALL_IND), PERF_BR_IND_CALL}, {SPMU_SIGBIT(RET_NEAR), PERF_BR_RET},
		{SPMU_SIGBIT(FAR), PERF_BR_SYSCALL},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (kind & types[i].kind)
			return types[i].type;
	return PERF_BR_UNKNOWN;
}

bool perf_branches_take(const struct perf_event_attr *attr, uint64_t from, uint64_t to,
			uint64_t flags, uint64_t kind, struct perf_branch_entry *entry)
{
	uint64_t mask = attr->branch_sample_type, passes, kinds;
	uint64_t words[3] = {from, to, flags};

	admitted(mask, &passes, &kinds);
	if (kind && passes && !(kind & kinds))
		return false;
	if (mask & PERF_SAMPLE_BRANCH_NO_FLAGS)
		words[2] &= ~FLAGS_RESULT;
	if (mask & PERF_SAMPLE_BRANCH_NO_CYCLES)
		words[2] &= ~FLAGS_CYCLES;
	if (mask & PERF_SAMPLE_BRANCH_TYPE_SAVE)
		words[2] |= type_of(kind) << TYPE_SHIFT;
	if (mask & PERF_SAMPLE_BRANCH_PRIV_SAVE)
		words[2] |= (uint64_t)PERF_BR_PRIV_USER << PRIV_SHIFT;
	memcpy(entry, words, sizeof(words));
	return true;
}
