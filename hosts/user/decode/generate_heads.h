/* SPDX-License-Identifier: MIT */
/*
 * generate_heads.h: which opcodes the cache of decoded instructions can keep, and which bits of
 * their bytes make no difference (decode_cache.c).  Part of generate.c.
 */
#ifndef SOFTPMU_GENERATE_HEADS_H
#define SOFTPMU_GENERATE_HEADS_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts/user/decode/decode_table.h"
#include "hosts/user/decode/decode.h"

/* What the property sets of an opcode have in common. */
struct head_props {
	uint32_t deny, attr;
	bool defined; /* at least one of them */
	unsigned immediate_bytes;
};

static struct head_props head_props(const struct decode_row *row, const uint16_t *leaves,
				    const struct decode_prop *props)
{
	unsigned count = row->stride * (row->shape & ROW_BY_W ? 2u : 1u);
	struct head_props all = {0};

	for (unsigned i = 0; i < count; i++) {
		const struct decode_prop *prop = &props[leaves[row->leaf + i]];

		all.deny |= prop->deny;
		all.attr |= prop->attr;
		all.defined |= prop->kind != INSN_UNDEFINED;
		if (i < row->stride && prop->immediate_bytes > all.immediate_bytes)
			all.immediate_bytes = prop->immediate_bytes;
	}
	return all;
}

/* Returns the fields of ModRM whose register, as extended by REX, makes no difference. */
static unsigned head_any_registers(const struct decode_row *row, const struct head_props *all)
{
	unsigned how = row->shape & ROW_MODRM_MASK;
	bool any_reg = how == ROW_MODRM_ANY || how == ROW_MODRM_MOD;

	if (!(row->shape & ROW_HAS_MODRM) || all->deny & ~DENY_LOCK || how == ROW_MODRM_FULL)
		return 0;
	return 1u << HEAD_ANY_RM_BIT | (unsigned)any_reg << HEAD_ANY_REG_BIT;
}

/* Returns the entry of decode_heads.  An opcode is known if only an address depends on the bytes
 * after ModRM and SIB, and ModRM has its usual meaning. */
static unsigned head_class(const struct decode_row *row, const uint16_t *leaves,
			   const struct decode_prop *props)
{
	struct head_props all = head_props(row, leaves, props);
	unsigned modrm = (row->shape & ROW_HAS_MODRM) != 0;

	if (!all.defined || all.attr & (ATTR_NO_MEMORY | (ATTR_BY_IMMEDIATE & ~ATTR_RELATIVE)))
		return 0;
	return HEAD_KNOWN | modrm << HEAD_MODRM_BIT | head_any_registers(row, &all) |
	       all.immediate_bytes << HEAD_IMMEDIATE_BIT;
}

#endif
