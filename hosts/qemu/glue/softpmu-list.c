/* SPDX-License-Identifier: MIT */
/*
 * softpmu-list.c: the list of memory accesses of the pending instruction, for PEBS records, and
 * how many of them cross a cache line.  Elements that a mask or indices select are accesses.
 */
#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "softpmu-unit.h"

uint16_t softpmu_accesses(const struct softpmu_env *pmu,
			  struct spmu_memory_access list[SOFTPMU_ACCESSES_MAX])
{
	const uint16_t both = SPMU_ACCESS_LOAD | SPMU_ACCESS_STORE;

	QEMU_BUILD_BUG_ON(sizeof(*list) != sizeof(pmu->access[0]));
	memcpy(list, pmu->access, pmu->access_count * sizeof(*list));
	for (unsigned i = 0; i < pmu->access_count; i++)
		if ((list[i].kind & both) == both &&
		    softpmu_field(pmu->pending_memory, SOFTPMU_LOCK_LOAD))
			list[i].kind |= SPMU_ACCESS_LOCKED;
	return pmu->access_count;
}

/* Returns how many elements of an access cross a cache line. */
static uint32_t splits(const struct spmu_memory_access *access)
{
	const uint64_t line = 64;
	uint64_t step = access->kind & SPMU_ACCESS_DOWN ? -(uint64_t)access->bytes : access->bytes;
	uint64_t at = access->linear;
	uint32_t count = 0;

	for (uint64_t n = 0; n <= access->repeats; n++, at += step)
		count += at % line + access->bytes > line;
	return count;
}

void softpmu_count_splits(const struct spmu_insn *insn, struct spmu_tally tallies[2])
{
	tallies[0] = (struct spmu_tally){.kind = SPMU_TALLY_LOAD_SPLITS};
	tallies[1] = (struct spmu_tally){.kind = SPMU_TALLY_STORE_SPLITS};
	for (unsigned i = 0; i < insn->access_count; i++) {
		const struct spmu_memory_access *access = &insn->accesses[i];
		uint32_t count = access->kind & SPMU_ACCESS_PREFETCH ? 0 : splits(access);

		tallies[0].count += access->kind & SPMU_ACCESS_LOAD ? count : 0;
		tallies[1].count += access->kind & SPMU_ACCESS_STORE ? count : 0;
	}
}

/* Returns whether an access is the next element after those of an entry, and adds it if so. */
static bool joins(struct spmu_memory_access *entry, const struct spmu_memory_access *next)
{
	uint64_t span = (uint64_t)entry->bytes * ((uint64_t)entry->repeats + 1);
	bool down = entry->kind & SPMU_ACCESS_DOWN;

	if (entry->bytes != next->bytes || !entry->bytes || entry->repeats == UINT32_MAX ||
	    (entry->kind & ~SPMU_ACCESS_DOWN) != next->kind)
		return false;
	if (next->linear == entry->linear - span && (down || !entry->repeats))
		entry->kind |= SPMU_ACCESS_DOWN;
	else if (next->linear != entry->linear + span || down)
		return false;
	entry->repeats++;
	return true;
}

/*
 * Lists an access of the pending instruction.  The elements of a REP string instruction are one
 * entry, or, if it reads and writes, two.  A store of what the instruction has just loaded is part
 * of that access.
 */
void helper_softpmu_access(CPUX86State *env, uint64_t linear, uint64_t what)
{
	struct softpmu_env *pmu = &env->softpmu;
	struct spmu_memory_access *list = (void *)pmu->access, *last = list + pmu->access_count - 1;
	const struct spmu_memory_access access = {
		.linear = linear, .bytes = (uint16_t)what, .kind = (uint16_t)(what >> 16)};
	unsigned before = MIN(pmu->access_count, 2);

	if (softpmu_modelled(pmu->flags))
		helper_softpmu_touch(env, linear, what);
	for (unsigned i = 0; i < before; i++)
		if (joins(last - i, &access))
			return;
	if (before && last->kind == SPMU_ACCESS_LOAD && access.kind == SPMU_ACCESS_STORE &&
	    last->linear == linear && last->bytes == access.bytes && !last->repeats)
		last->kind |= SPMU_ACCESS_STORE;
	else if (pmu->access_count < SOFTPMU_ACCESSES_MAX)
		list[pmu->access_count++] = access;
}

/* Returns whether element i of a mask is set: the highest bit of its `bytes` bytes. */
static bool is_selected(const void *mask, unsigned i, unsigned bytes, bool mmx)
{
	unsigned at = (i + 1) * bytes - 1;

	return (mmx ? ((const MMXReg *)mask)->MMX_B(at) : ((const ZMMReg *)mask)->ZMM_B(at)) & 0x80;
}

/* Returns the address of element i of an operand, or of a gather. */
static uint64_t element_address(uint64_t linear, const ZMMReg *indices, unsigned i, uint64_t what)
{
	unsigned wide = what >> 52 & 0xf, scale = what >> 56 & 0xf;

	if (!wide)
		return linear + (uint64_t)i * (uint16_t)what;
	linear += (wide == 8 ? indices->ZMM_Q(i) : (uint64_t)(int32_t)indices->ZMM_L(i)) << scale;
	return what >> 43 & 1 ? (uint32_t)linear : linear;
}

/*
 * Lists the elements of the pending instruction that a mask selects, or tells the model of them.
 * `what`: what an access has, SOFTPMU_ELEMENTS, and of a gather SOFTPMU_INDEXED.
 */
void helper_softpmu_elements(CPUX86State *env, void *mask, void *index, uint64_t linear,
			     uint64_t what)
{
	struct softpmu_env *pmu = &env->softpmu;
	struct spmu_memory_access *list = (void *)pmu->access;
	const uint64_t told = what & ~((uint64_t)SPMU_ACCESS_NONTEMPORAL << 16);
	unsigned bytes = (uint16_t)what, count = what >> 44 & 0x1f;
	bool mmx = what >> 42 & 1, listed = what >> 41 & 1;

	for (unsigned i = 0; i < count; i++) {
		uint64_t at = element_address(linear, index, i, what);

		if (!is_selected(mask, i, bytes, mmx))
			continue;
		if (!listed || softpmu_modelled(pmu->flags))
			helper_softpmu_touch(env, at, told);
		if (listed && pmu->access_count < SOFTPMU_ACCESSES_MAX)
			list[pmu->access_count++] = (struct spmu_memory_access){
				.linear = at, .bytes = bytes, .kind = (uint8_t)(what >> 16)};
	}
}
