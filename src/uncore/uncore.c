/* SPDX-License-Identifier: MIT */
/* uncore.c: makes uncore units, and gives access to their registers (18.8.2.1 to 18.8.2.3). */
#include "src/uncore/uncore.h"

#include "data/model.h"
#include "src/abi.h"

#define MSR_GLOBAL_CTRL	    0x391u
#define MSR_GLOBAL_STATUS   0x392u
#define MSR_GLOBAL_OVF_CTRL 0x393u
#define MSR_FIXED_CTR0	    0x394u
#define MSR_FIXED_CTR_CTRL  0x395u
#define MSR_MATCH	    0x396u
#define MSR_PMC0	    0x3b0u
#define MSR_PERFEVTSEL0	    0x3c0u

size_t spmu_uncore_bytes(void)
{
	return sizeof(struct spmu_uncore);
}

static bool uncore_accepts(const struct spmu_uncore_config *config)
{
	if (!config->model || !config->cores || config->cores > SPMU_UNCORE_CORES_MAX)
		return false;
	for (unsigned i = config->cores; i < SPMU_UNCORE_CORES_MAX; i++)
		if (config->core[i])
			return false;
	return true;
}

enum spmu_status spmu_uncore_create(void *memory, size_t bytes,
				    const struct spmu_uncore_config *given,
				    struct spmu_uncore **uncore)
{
	struct spmu_uncore_config config;

	if (!memory || !given || !uncore || (uintptr_t)memory % _Alignof(struct spmu_uncore) ||
	    !abi_take(&config, sizeof(config), given) || !uncore_accepts(&config))
		return SPMU_E_ARGUMENT;
	if (!config.model->uncore)
		return SPMU_E_MODEL;
	if (bytes < sizeof(struct spmu_uncore))
		return SPMU_E_SPACE;
	*uncore = (struct spmu_uncore *)memory;
	**uncore = (struct spmu_uncore){.config = config};
	return SPMU_OK;
}

void spmu_uncore_reset(struct spmu_uncore *uncore)
{
	*uncore = (struct spmu_uncore){.config = uncore->config};
}

/* --- registers --- */

static enum spmu_outcome uncore_give(uint64_t *value, uint64_t is)
{
	*value = is;
	return SPMU_DONE;
}

enum spmu_outcome spmu_uncore_read_msr(const struct spmu_uncore *uncore, uint32_t msr,
				       uint64_t *value)
{
	if (msr >= MSR_PMC0 && msr < MSR_PMC0 + UNCORE_GENERAL)
		return uncore_give(value, uncore->counter[msr - MSR_PMC0]);
	if (msr >= MSR_PERFEVTSEL0 && msr < MSR_PERFEVTSEL0 + UNCORE_GENERAL)
		return uncore_give(value, uncore->select[msr - MSR_PERFEVTSEL0]);
	switch (msr) {
	case MSR_GLOBAL_CTRL:
		return uncore_give(value, uncore->control);
	case MSR_GLOBAL_STATUS:
		return uncore_give(value, uncore->status);
	case MSR_GLOBAL_OVF_CTRL:
		return uncore_give(value, 0); /* write-only */
	case MSR_FIXED_CTR0:
		return uncore_give(value, uncore->counter[UNCORE_FIXED]);
	case MSR_FIXED_CTR_CTRL:
		return uncore_give(value, uncore->fixed_control);
	case MSR_MATCH:
		return uncore_give(value, uncore->match);
	default:
		return SPMU_NOT_OURS;
	}
}

static enum spmu_outcome uncore_store(uint64_t *reg, uint64_t value, uint64_t writable)
{
	if (value & ~writable)
		return SPMU_GP;
	*reg = value;
	return SPMU_DONE;
}

/* OCC_CTR_RST reads as 0, and clears a queue's occupancy, which is the host's. */
static enum spmu_outcome uncore_select(struct spmu_uncore *uncore, unsigned n, uint64_t value)
{
	enum spmu_outcome outcome =
		uncore_store(&uncore->select[n], value & ~SELECT_OCC_CTR_RST, SELECT_WRITABLE);

	if (outcome == SPMU_DONE)
		uncore->asserted[n] = false;
	return outcome;
}

/* 18.8.2.3: MatchSel has five encodings. */
static enum spmu_outcome uncore_set_match(struct spmu_uncore *uncore, uint64_t value)
{
	const unsigned reserved = 1u << 3 | 1u << 5 | 1u << 7; /* 011B, 101B and 111B */

	if (reserved >> MATCH_SELECT(value) & 1)
		return SPMU_GP;
	return uncore_store(&uncore->match, value,
			    MATCH_ADDRESS | MATCH_OPCODE_BITS | UINT64_C(7) << 61);
}

enum spmu_outcome spmu_uncore_write_msr(struct spmu_uncore *uncore, uint32_t msr, uint64_t value)
{
	uint64_t cores = (BIT(uncore->config.cores) - 1) << CTRL_PMI_CORE0;
	uint64_t status = UNCORE_ALL | STATUS_OVF_PMI | STATUS_CHG;

	if (msr >= MSR_PMC0 && msr < MSR_PMC0 + UNCORE_GENERAL)
		return uncore_store(&uncore->counter[msr - MSR_PMC0], value, UNCORE_MAX);
	if (msr >= MSR_PERFEVTSEL0 && msr < MSR_PERFEVTSEL0 + UNCORE_GENERAL)
		return uncore_select(uncore, msr - MSR_PERFEVTSEL0, value);
	switch (msr) {
	case MSR_GLOBAL_CTRL:
		return uncore_store(&uncore->control, value, UNCORE_ALL | cores | CTRL_PMI_FRZ);
	case MSR_GLOBAL_STATUS:
		return SPMU_GP; /* read-only */
	case MSR_GLOBAL_OVF_CTRL:
		if (value & ~status)
			return SPMU_GP;
		uncore->status &= ~value;
		return SPMU_DONE;
	case MSR_FIXED_CTR0:
		return uncore_store(&uncore->counter[UNCORE_FIXED], value, UNCORE_MAX);
	case MSR_FIXED_CTR_CTRL:
		return uncore_store(&uncore->fixed_control, value, FIXED_EN | FIXED_PMI);
	case MSR_MATCH:
		return uncore_set_match(uncore, value);
	default:
		return SPMU_NOT_OURS;
	}
}

bool spmu_uncore_matches(const struct spmu_uncore *uncore, uint64_t address, uint8_t opcode)
{
	bool same_address = !((address ^ uncore->match) & MATCH_ADDRESS);
	bool same_opcode = opcode == MATCH_OPCODE(uncore->match);

	switch (MATCH_SELECT(uncore->match)) {
	case 1:
		return same_address && same_opcode;
	case 2:
		return same_opcode;
	case 4:
		return same_address;
	case 6:
		return same_address || same_opcode;
	default:
		return false;
	}
}
