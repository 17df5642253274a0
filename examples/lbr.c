/* SPDX-License-Identifier: MIT */
/*
 * lbr.c: last branch records.  A host reports some taken branches.  Software that reads the
 * registers finds the newest of them.  In call-stack mode it finds the calls that have not
 * returned.
 *
 * Prints:
 *	32 entries, format 5, TOS at 1C9H
 *	newest first: 401020->401100 401108->401020
 *	open calls, innermost first: 401110 401000
 */
#include <stdio.h>
#include <stdlib.h>

#include <softpmu/lbr.h>

#define DEBUGCTL     0x1d9
#define DEBUGCTL_LBR 1u

static struct spmu_meters meters;

static struct spmu_branch branch_of(enum spmu_signal kind, uint64_t from, uint64_t to)
{
	return (struct spmu_branch){
		.from = from, .to = to, .signal = (uint8_t)kind, .cpl = 3, .next_cpl = 3};
}

static uint64_t read_msr(struct spmu_core *core, uint32_t msr)
{
	uint64_t value = 0;

	if (spmu_read_msr(core, 0, msr, &value) != SPMU_DONE)
		exit(1);
	return value;
}

static void write_msr(struct spmu_core *core, uint32_t msr, uint64_t value)
{
	if (spmu_write_msr(core, 0, msr, value) != SPMU_DONE)
		exit(1);
}

/* Reads the entry that is `age` entries older than the newest. */
static struct spmu_branch read_entry(struct spmu_core *core, const struct spmu_lbr_layout *lbr,
				     unsigned age)
{
	uint32_t n = (uint32_t)(read_msr(core, lbr->tos) - age) % lbr->depth;
	struct spmu_lbr_entry entry = {.from = read_msr(core, lbr->from + n)};
	struct spmu_branch branch;

	if (lbr->to)
		entry.to = read_msr(core, lbr->to + n);
	if (lbr->info)
		entry.info = read_msr(core, lbr->info + n);
	spmu_lbr_decode(lbr, &entry, &branch);
	return branch;
}

int main(void)
{
	const struct spmu_branch jumps[] = {
		branch_of(SPMU_SIG_JMP_REL, 0x401108, 0x401020),
		branch_of(SPMU_SIG_COND_TAKEN, 0x401020, 0x401100),
	};
	const struct spmu_branch calls[] = {
		branch_of(SPMU_SIG_CALL_REL, 0x401000, 0x401100),
		branch_of(SPMU_SIG_CALL_IND, 0x401104, 0x401200),
		branch_of(SPMU_SIG_RET_NEAR, 0x401208, 0x401106),
		branch_of(SPMU_SIG_CALL_REL, 0x401110, 0x401300),
	};
	const struct spmu_model *model = spmu_model_find("skylake");
	const struct spmu_lbr_layout *lbr = spmu_model_lbr_layout(model);
	struct spmu_core_config config = {.size = sizeof(struct spmu_core_config),
					  .model = model,
					  .threads = 1,
					  .meters = {&meters}};
	struct spmu_host host = {.size = sizeof(struct spmu_host),
				 .supply = {.exact = SPMU_SIGSET_ARCHITECTURAL}};
	void *memory = aligned_alloc(64, spmu_core_bytes());
	struct spmu_core *core;
	struct spmu_branch entry;

	if (!memory ||
	    spmu_core_create(memory, spmu_core_bytes(), &config, &host, &core) != SPMU_OK || !lbr)
		return 1;
	printf("%u entries, format %u, TOS at %XH\n", lbr->depth, lbr->format, lbr->tos);

	write_msr(core, DEBUGCTL, DEBUGCTL_LBR);
	spmu_branches(core, 0, jumps, 2);
	printf("newest first:");
	for (unsigned age = 0; age < 2; age++) {
		entry = read_entry(core, lbr, age);
		printf(" %llx->%llx", (unsigned long long)entry.from, (unsigned long long)entry.to);
	}

	write_msr(core, lbr->select,
		  SPMU_LBR_CALL_STACK | SPMU_LBR_NO_JCC | SPMU_LBR_NO_JMP_IND |
			  SPMU_LBR_NO_JMP_REL | SPMU_LBR_NO_FAR);
	spmu_branches(core, 0, calls, 4);
	printf("\nopen calls, innermost first:");
	for (unsigned age = 0; age < 2; age++)
		printf(" %llx", (unsigned long long)read_entry(core, lbr, age).from);
	printf("\n");
	free(memory);
	return 0;
}
