/* SPDX-License-Identifier: MIT */
/*
 * format.c: an entry of the last branch record stack in each of its formats: the unit encodes it,
 * software decodes it (17.4.8.1, tables 17-7 to 17-9, 17.10.1; the chapter on last branch records
 * of later editions).
 *
 * Addresses are linear ones, even if the format stores offsets in the code segment (formats 2 to
 * 5). Hosts report linear addresses, and in a flat code segment the two are equal.
 */
#include "data/model.h"

#define CYCLES_MAX 0xffffu

/* What a format has besides the addresses. */
struct shape {
	uint8_t from_flags; /* how many of FROM's highest bits are flags */
	bool to_cycles;	    /* TO[63:48] are clocks */
	uint64_t info;	    /* flags of the third register */
	bool info_cycles;
	bool info_type; /* the kind of the branch, and whether the clocks are valid */
};

#define FLAGS_TSX (FIELD(LBR_INFO, MISPRED) | FIELD(LBR_INFO, IN_TX) | FIELD(LBR_INFO, TSX_ABORT))

static const struct shape shapes[] = {
	[SPMU_LBR_32] = {0},
	[SPMU_LBR_LIP] = {0},
	[SPMU_LBR_EIP] = {0},
	[SPMU_LBR_FLAGS] = {.from_flags = 1},
	[SPMU_LBR_TSX] = {.from_flags = 3},
	[SPMU_LBR_INFO] = {.info = FLAGS_TSX, .info_cycles = true},
	[SPMU_LBR_TIME] = {.from_flags = 1, .to_cycles = true},
	[SPMU_LBR_INFO2] = {.info = FIELD(LBR_INFO, MISPRED), .info_cycles = true},
};

static const struct shape architectural = {
	.info = FLAGS_TSX, .info_cycles = true, .info_type = true};

static const struct shape *shape_of(const struct spmu_lbr_layout *layout)
{
	if (layout->format == SPMU_LBR_ARCHITECTURAL)
		return &architectural;
	return &shapes[layout->format % (sizeof(shapes) / sizeof(*shapes))];
}

/* LBR_INFO.BR_TYPE.  From 8 on it is any other branch.  6 and 7 are reserved: also another one. */
static const uint8_t kinds[] = {SPMU_SIG_COND_TAKEN, SPMU_SIG_JMP_IND,	SPMU_SIG_JMP_REL,
				SPMU_SIG_CALL_IND,   SPMU_SIG_CALL_REL, SPMU_SIG_RET_NEAR};
#define TYPE_OTHER 8u

static uint64_t type_of(const struct spmu_branch *branch)
{
	for (unsigned type = 0; type < sizeof(kinds); type++)
		if (kinds[type] == branch->signal)
			return type;
	return TYPE_OTHER;
}

static uint8_t kind_of(unsigned type)
{
	return type < sizeof(kinds) ? kinds[type] : SPMU_SIG_FAR;
}

const struct spmu_lbr_layout *spmu_model_lbr_layout(const struct spmu_model *model)
{
	return model ? model->lbr : NULL;
}

static uint64_t canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 16) >> 16);
}

/* The highest `bits` bits. */
static uint64_t high(unsigned bits)
{
	return bits ? BITS(64 - bits, bits) : 0;
}

/* Bits 63 to 61 hold flags in FROM and in the third register. */
static uint64_t flag_bits(const struct spmu_branch *branch)
{
	return (branch->flags & SPMU_BRANCH_MISPREDICTED ? FIELD(LBR_INFO, MISPRED) : 0) |
	       (branch->flags & SPMU_BRANCH_IN_TX ? FIELD(LBR_INFO, IN_TX) : 0) |
	       (branch->flags & SPMU_BRANCH_ABORT ? FIELD(LBR_INFO, TSX_ABORT) : 0);
}

void spmu_lbr_encode(const struct spmu_lbr_layout *layout, const struct spmu_branch *branch,
		     struct spmu_lbr_entry *entry)
{
	const struct shape *shape = shape_of(layout);
	uint64_t flags = flag_bits(branch);
	uint64_t mask = high(shape->from_flags);
	uint64_t cycles = branch->cycles < CYCLES_MAX ? branch->cycles : CYCLES_MAX;

	entry->from = (canonical(branch->from) & ~mask) | (flags & mask);
	entry->to = canonical(branch->to);
	entry->info = (flags & shape->info) | (shape->info_cycles ? cycles : 0);
	if (shape->info_type)
		entry->info |= type_of(branch) << FIELD_LOW(LBR_INFO_ARCH, BR_TYPE);
	if (shape->info_type && (cycles || (branch->flags & SPMU_BRANCH_CYCLES)))
		entry->info |= FIELD(LBR_INFO_ARCH, CYC_CNT_VALID);
	if (shape->to_cycles)
		entry->to = (entry->to & BITS(0, 48)) | cycles << 48;
	if (layout->format != SPMU_LBR_32)
		return;
	entry->from = branch->from & UINT32_MAX;
	entry->to = branch->to & UINT32_MAX;
	if (!layout->to) {
		entry->from |= entry->to << 32;
		entry->to = 0;
	}
}

void spmu_lbr_decode(const struct spmu_lbr_layout *layout, const struct spmu_lbr_entry *entry,
		     struct spmu_branch *branch)
{
	const struct shape *shape = shape_of(layout);
	uint64_t flags = (entry->from & high(shape->from_flags)) | (entry->info & shape->info);

	*branch = (struct spmu_branch){
		.from = canonical(entry->from),
		.to = canonical(entry->to),
	};
	if (flags & FIELD(LBR_INFO, MISPRED))
		branch->flags |= SPMU_BRANCH_MISPREDICTED;
	if (flags & FIELD(LBR_INFO, IN_TX))
		branch->flags |= SPMU_BRANCH_IN_TX;
	if (flags & FIELD(LBR_INFO, TSX_ABORT))
		branch->flags |= SPMU_BRANCH_ABORT;
	if (shape->info_cycles)
		branch->cycles = (uint32_t)(entry->info & CYCLES_MAX);
	if (shape->to_cycles)
		branch->cycles = (uint32_t)(entry->to >> 48);
	if (shape->info_type) {
		branch->signal = kind_of(entry->info >> FIELD_LOW(LBR_INFO_ARCH, BR_TYPE) & 0xf);
		if (entry->info & FIELD(LBR_INFO_ARCH, CYC_CNT_VALID))
			branch->flags |= SPMU_BRANCH_CYCLES;
		else
			branch->cycles = 0;
	}
	if (layout->format == SPMU_LBR_32) {
		branch->from = entry->from & UINT32_MAX;
		branch->to = layout->to ? entry->to : entry->from >> 32;
	}
}
