/* SPDX-License-Identifier: MIT */
/* decode_operands.c: the addresses of memory operands (decode.h). */
#include "hosts/user/decode/decode.h"
#include "hosts/user/decode/decode_table.h"

uint64_t insn_data_address(const struct insn *insn, uint64_t address, const uint64_t gpr[16],
			   uint64_t fs_base, uint64_t gs_base)
{
	uint64_t at = (uint64_t)insn->displacement;
	bool segmented = true;

	switch (insn->memory_kind) {
	case INSN_MEM_MODRM:
		if (insn->base == 16)
			at += address + insn->length;
		else if (insn->base != INSN_NO_REG)
			at += gpr[insn->base];
		if (insn->index != INSN_NO_REG)
			at += gpr[insn->index] << insn->scale_shift;
		break;
	case INSN_MEM_STACK:
	case INSN_MEM_STACK_TOP:
		return gpr[insn->base] + at; /* 67H has no effect */
	case INSN_MEM_RDI:
		segmented = false; /* always in ES */
		at = gpr[7];
		break;
	case INSN_MEM_RSI:
		at = gpr[6];
		break;
	case INSN_MEM_MOFFS:
		break;
	case INSN_MEM_XLAT:
		at = gpr[3] + (gpr[0] & 0xff);
		break;
	default:
		return 0;
	}
	if (insn->address32)
		at &= UINT32_MAX;
	if (segmented && insn->segment == 0x64)
		at += fs_base;
	if (segmented && insn->segment == 0x65)
		at += gs_base;
	return at;
}

/* Returns the SPMU_ACCESS_ bits of an access of the table. */
static uint8_t kind_of(const struct insn *insn, unsigned access)
{
	unsigned kind = access & ACCESS_KIND_MASK & ~ACCESS_NONTEMPORAL;

	if (access & ACCESS_NONTEMPORAL)
		kind |= SPMU_ACCESS_NONTEMPORAL;
	if (insn->signals & SPMU_SIGBIT(LOCK_LOADS) && kind == SPMU_ACCESS_DATA)
		kind |= SPMU_ACCESS_LOCKED;
	return (uint8_t)kind;
}

/* Returns the register of ModRM.reg of an instruction that is not VEX or EVEX. */
static uint8_t register_of(const struct insn *insn, const uint8_t *code)
{
	unsigned rex = code[insn->prefix_bytes];

	return (uint8_t)((code[insn->modrm_offset] >> 3 & 7) | ((rex & 0xf4) == 0x44 ? 8 : 0));
}

/* Describes an access of the table. */
static struct insn_access describe(const struct insn *insn, const uint8_t *code, uint64_t address,
				   unsigned access)
{
	unsigned at = access >> ACCESS_AT_BIT & ACCESS_AT_MASK;
	unsigned bytes = access >> ACCESS_BYTES_BIT & ACCESS_BYTES_MASK;
	struct insn_access a = {
		.kind = kind_of(insn, access),
		.base = INSN_NO_REG,
		.index = INSN_NO_REG,
		.address32 = insn->address32,
		.in_fs = insn->segment == 0x64,
		.in_gs = insn->segment == 0x65,
		.bytes = (uint16_t)(insn->near_16	    ? 2
				    : access & ACCESS_LINES ? bytes * 64
							    : bytes),
	};

	switch (at) {
	case INSN_MEM_MODRM:
		a.base = insn->base == 16 ? INSN_NO_REG : insn->base;
		a.index = insn->index;
		a.scale_shift = insn->scale_shift;
		a.displacement = (uint64_t)insn->displacement;
		if (insn->base == 16)
			a.displacement += address + insn->length;
		return a;
	case INSN_MEM_STACK:
	case INSN_MEM_STACK_TOP:
	case ACCESS_AT_RBP:
		a.base = at == ACCESS_AT_RBP ? 5 : 4;
		a.displacement = at == INSN_MEM_STACK ? 0 - (uint64_t)a.bytes : 0;
		a.address32 = a.in_fs = a.in_gs = false; /* 67H has no effect */
		return a;
	case INSN_MEM_RSI:
		a.base = 6;
		return a;
	case INSN_MEM_RDI:
		a.base = 7;
		a.in_fs = a.in_gs = false; /* always in ES */
		return a;
	case ACCESS_AT_REG:
		a.base = register_of(insn, code);
		a.in_fs = a.in_gs = false; /* the same */
		return a;
	case INSN_MEM_XLAT:
		a.base = 3;
		a.index = 0;
		a.in_al = true;
		return a;
	case ACCESS_AT_RDI:
		a.base = 7;
		return a;
	case ACCESS_AT_RAX:
		a.base = 0;
		return a;
	default: /* INSN_MEM_MOFFS */
		a.displacement = (uint64_t)insn->displacement;
		return a;
	}
}

unsigned insn_accesses(const struct insn *insn, const uint8_t *code, uint64_t address,
		       struct insn_access list[INSN_ACCESSES_MAX])
{
	const struct decode_fields fields = decode_again(code, insn);
	const uint16_t *access;
	unsigned n = 0;

	if (insn->kind == INSN_TRAP || !fields.accesses)
		return 0;
	access = fields.accesses->access[fields.variant];
	for (unsigned i = 0; i < INSN_ACCESSES_MAX && access[i]; i++)
		list[n++] = describe(insn, code, address, access[i]);
	return n;
}

uint64_t insn_access_address(const struct insn_access *access, const uint64_t gpr[16],
			     uint64_t fs_base, uint64_t gs_base)
{
	uint64_t at = access->displacement;

	if (access->base != INSN_NO_REG)
		at += gpr[access->base];
	if (access->index != INSN_NO_REG)
		at += (access->in_al ? gpr[access->index] & 0xff : gpr[access->index])
		      << access->scale_shift;
	if (access->address32)
		at &= UINT32_MAX;
	return at + (access->in_fs ? fs_base : access->in_gs ? gs_base : 0);
}

/* Sets where the selectors are.  MASKMOVQ and MASKMOVDQU have no ModRM operand in memory, and their
 * mask is the second operand. */
static void find_selectors(const struct decode_fields *f, struct insn_elements *elements)
{
	elements->in = f->evex ? INSN_SELECTORS_MASK : INSN_SELECTORS_VECTOR;
	elements->mask = f->evex ? f->mask : f->registers_only ? f->rm : f->v;
	if (!f->vex && !f->has_66) {
		elements->in = INSN_SELECTORS_MMX;
		elements->mask &= 7;
	}
}

bool insn_elements(const struct insn *insn, const uint8_t *code, struct insn_elements *elements)
{
	const struct decode_fields f = decode_again(code, insn);
	unsigned what = f.accesses ? f.accesses->elements[f.variant] : 0, access, bytes;

	if (!(what & ELEMENTS_HOW_MASK) || (f.evex && !f.mask))
		return false;
	access = f.accesses->access[f.variant][0];
	bytes = (access >> ACCESS_BYTES_BIT & ACCESS_BYTES_MASK) << (access & ACCESS_LINES ? 6 : 0);
	*elements = (struct insn_elements){
		.how = what & ELEMENTS_HOW_MASK,
		.bytes = (uint8_t)(1u << (what >> ELEMENTS_BYTES_BIT & ELEMENTS_BYTES_MASK)),
		.selectors =
			(uint8_t)(1u << (what >> ELEMENTS_SELECTORS_BIT & ELEMENTS_SELECTORS_MASK)),
		.index_bytes = what & ELEMENTS_WIDE_INDEX ? 8 : 4,
	};
	find_selectors(&f, elements);
	elements->count = (uint8_t)(bytes / elements->bytes);
	if (elements->how == INSN_ELEMENTS_GATHERED) {
		elements->index = (uint8_t)(f.index | (f.evex ? f.v & 16 : 0));
		elements->count = elements->selectors;
	}
	return true;
}
