/* SPDX-License-Identifier: MIT */
/*
 * accesses.c: lists every memory access of an instruction that is reported to the units by itself
 * (softpmu/accesses.h), from the registers before it runs.
 *
 * The decoder lists operands.  Here masks and vectors of indices select elements, ENTER copies
 * frame pointers, and a repeated string instruction has done a number of elements.
 *
 * Simplified: XSAVE and its kind have one access, of the legacy region and the header.
 */
#include "engine/count/accesses.h"

#include "engine/rt/context.h"
#include "engine/rt/segments.h"
#include "engine/rt/sys.h"
#include "engine/x86/recognise.h"
#include "engine/x86/vectors.h"

#define REPEATS_MOST (UINT64_C(1) << 32) /* elements of one entry */

void accesses_add(struct accesses *list, uint64_t linear, unsigned bytes, unsigned kind)
{
	if (list->n < ACCESSES_LISTED_MAX)
		list->at[list->n++] = (struct spmu_memory_access){
			.linear = linear, .bytes = (uint16_t)bytes, .kind = (uint16_t)kind};
}

static uint64_t address_of(const struct insn_access *access)
{
	return insn_access_address(access, current->gpr, read_fs_base(), current->program_gs);
}

/* Returns the selectors as a set: the highest bits of the elements of a vector. */
static uint64_t highest_bits(const uint8_t *vector, const struct insn_elements *e)
{
	uint64_t set = 0;

	for (unsigned i = 0; i < e->selectors; i++)
		set |= (uint64_t)(vector[(i + 1) * e->bytes - 1] >> 7) << i;
	return set;
}

static uint64_t selectors_of(const struct insn_elements *e)
{
	uint8_t vector[VECTOR_BYTES_MAX];
	uint64_t set = 0;

	switch (e->in) {
	case INSN_SELECTORS_MASK:
		vectors_read_mask(e->mask, &set);
		return e->selectors < 64 ? set & ((UINT64_C(1) << e->selectors) - 1) : set;
	case INSN_SELECTORS_VECTOR:
		vectors_read(e->mask, vector);
		return highest_bits(vector, e);
	default:
		vectors_read_mmx(e->mask, vector);
		return highest_bits(vector, e);
	}
}

/* Lists element i of a gather or scatter. */
static void add_indexed(struct accesses *list, const struct insn_access *access,
			const struct insn_elements *e, const uint8_t *indices, unsigned i)
{
	struct insn_access one = *access;
	int64_t index = 0;

	if (e->index_bytes == 8) {
		memcpy(&index, indices + (size_t)i * 8, 8);
	} else {
		int32_t narrow;

		memcpy(&narrow, indices + (size_t)i * 4, 4);
		index = narrow;
	}
	one.displacement += (uint64_t)index << access->scale_shift;
	accesses_add(list, address_of(&one), e->bytes, access->kind);
}

/* Lists the elements that a mask, or a vector of indices with a mask, selects. */
static void add_elements(struct accesses *list, const struct insn_access *access,
			 const struct insn_elements *e)
{
	uint64_t set = selectors_of(e), at = address_of(access), folded = 0;
	uint8_t indices[VECTOR_BYTES_MAX];

	if (e->how == INSN_ELEMENTS_GATHERED)
		vectors_read(e->index, indices);
	if (e->how == INSN_ELEMENTS_PACKED)
		for (; set; set &= set - 1)
			folded = folded << 1 | 1;
	for (unsigned i = 0; i < e->selectors; i++)
		folded |= (set >> i & 1) << i % e->count;
	for (unsigned i = 0; i < e->count; i++) {
		if (!(folded >> i & 1))
			continue;
		if (e->how == INSN_ELEMENTS_GATHERED)
			add_indexed(list, access, e, indices, i);
		else
			accesses_add(list, at + (uint64_t)i * e->bytes, e->bytes, access->kind);
	}
}

/* Lists what ENTER accesses beside the push of RBP: with a nesting level it copies that many frame
 * pointers less one, and pushes the new one (Vol. 2). */
static void add_frames(struct accesses *list, unsigned bytes, unsigned level)
{
	uint64_t rsp = list->at[0].linear, rbp = current->gpr[5];

	for (unsigned i = 1; i < level; i++) {
		accesses_add(list, rbp - (uint64_t)i * bytes, bytes, SPMU_ACCESS_LOAD);
		accesses_add(list, rsp - (uint64_t)i * bytes, bytes, SPMU_ACCESS_STORE);
	}
	if (level)
		accesses_add(list, rsp - (uint64_t)level * bytes, bytes, SPMU_ACCESS_STORE);
}

void accesses_list(struct accesses *list, const struct insn *insn, const uint8_t *code, uint64_t pc)
{
	struct insn_access access[INSN_ACCESSES_MAX];
	struct insn_elements elements;
	unsigned n = insn_accesses(insn, code, pc, access), level;

	list->n = 0;
	if (n == 1 && insn_elements(insn, code, &elements)) {
		add_elements(list, &access[0], &elements);
		return;
	}
	for (unsigned i = 0; i < n; i++)
		accesses_add(list, address_of(&access[i]), access[i].bytes, access[i].kind);
	if (n && recognise_enter(code, insn->prefix_bytes, insn->length, &level))
		add_frames(list, access[0].bytes, level);
}

void accesses_repeat(struct accesses *list, uint64_t n, bool down)
{
	struct spmu_memory_access element[INSN_ACCESSES_MAX];
	unsigned operands = list->n;

	memcpy(element, list->at, operands * sizeof(element[0]));
	list->n = 0;
	while (n && list->n + operands <= ACCESSES_LISTED_MAX && operands) {
		uint64_t some = n < REPEATS_MOST ? n : REPEATS_MOST;

		for (unsigned i = 0; i < operands; i++) {
			struct spmu_memory_access *at = &list->at[list->n++];
			uint64_t distance = some * element[i].bytes;

			*at = element[i];
			at->repeats = (uint32_t)(some - 1);
			at->kind |= down && at->repeats ? SPMU_ACCESS_DOWN : 0;
			element[i].linear += down ? 0 - distance : distance;
		}
		n -= some;
	}
}
