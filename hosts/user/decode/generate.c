/* SPDX-License-Identifier: MIT */
/*
 * generate.c: the build-time program that writes the opcode table.
 *
 * It generates the bytes of each encoding: opcode map, mandatory prefix, opcode, REX.W, vector
 * length, EVEX.b, ModRM.  It asks Zydis about them, and records the answer as a property set
 * (generate_prop.h).  Then it determines which of these fields an opcode depends on and keeps only
 * those.  It finds forbidden values of fields by trying them (generate_probe.h).
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "generate_heads.h"
#include "generate_probe.h"
#include "generate_accesses.h"

#define MOD_CLASSES 72u		   /* memory by reg, then register by reg and rm */
#define VARIANTS    (2u * 4u * 2u) /* W, L, b */
#define LEAVES_MAX  65536u
#define PROPS_MAX   4096u
#define HASH_SIZE   16384u

static struct decode_prop props[PROPS_MAX];
static unsigned prop_count;
static uint16_t prop_hash[HASH_SIZE];
static uint16_t leaves[LEAVES_MAX];
static unsigned leaf_count;
static struct decode_row rows[PAGES][256];

static uint16_t prop_number(const struct decode_prop *prop)
{
	const uint8_t *bytes = (const uint8_t *)prop;
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < sizeof *prop; i++)
		h = (h ^ bytes[i]) * 16777619u;
	for (h %= HASH_SIZE; prop_hash[h]; h = (h + 1) % HASH_SIZE)
		if (!memcmp(&props[prop_hash[h]], prop, sizeof *prop))
			return prop_hash[h];
	if (prop_count == PROPS_MAX)
		die("too many property sets");
	props[prop_count] = *prop;
	prop_hash[h] = (uint16_t)prop_count;
	return (uint16_t)prop_count++;
}

/* Returns the pattern of accesses of an opcode with this ModRM class. */
static uint8_t make_accesses(const struct place *p, const struct trial *t)
{
	struct decode_accesses pattern = {{{0}}, {0}};

	for (unsigned v = 0; v < ACCESS_VARIANTS; v++) {
		ZydisDecodedInstruction insn;
		ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
		struct trial one = *t;
		uint8_t bytes[32];

		one.w = v >> 3;
		one.l = v >> 1 & 3;
		one.b = v & 1;
		if (p->space == SPACE_LEGACY && (v & 7)) {
			memcpy(pattern.access[v], pattern.access[v & 8], sizeof pattern.access[v]);
			pattern.elements[v] = pattern.elements[v & 8];
			continue;
		}
		if (!make_valid(p, &one))
			continue;
		assemble(p, &one, bytes);
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, 15, &insn, operands)))
			continue;
		accesses_list(pattern.access[v], &insn, operands);
		pattern.elements[v] = accesses_elements(&insn, operands);
	}
	return pattern_number(&pattern);
}

static bool is_mpx(const struct place *p)
{
	return p->space == SPACE_LEGACY && p->map == 1 && (p->opcode | 1) == 0x1b;
}

/* Makes one leaf: 0 if undefined.  Sets *modrm if the encoding has a ModRM byte. */
static uint16_t make_leaf(const struct place *p, struct trial *t, bool *modrm)
{
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	struct decode_prop prop;
	struct place nop;
	uint8_t bytes[32];
	unsigned opcode_end;

	/* MPX is switched off everywhere, so these are NOPs (Vol.  1, 17.4). */
	if (is_mpx(p)) {
		nop = *p;
		nop.opcode = 0x1f;
		p = &nop;
	}
	/* 8FH with such a ModRM byte is the XOP prefix. */
	if (p->space == SPACE_LEGACY && p->map == 0 && p->opcode == 0x8f && (t->reg & 3))
		return 0;
	if (!make_valid(p, t))
		return 0;
	opcode_end = assemble(p, t, bytes);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, 15, &insn, operands)))
		die("an encoding is valid without its operands only");
	if (prop_is_foreign(&insn))
		return 0;
	*modrm = (insn.attributes & ZYDIS_ATTRIB_HAS_MODRM) != 0;
	prop_from_zydis(&prop, &insn, operands, opcode_end);
	if (p == &nop)
		prop.signals &= ~SPMU_SIGBIT(NOP);
	prop.deny = deny_bits(p, t, *modrm);
	prop.accesses = make_accesses(p, t);
	return prop_number(&prop);
}

/* Makes all leaves of an opcode for one W, L, b.  Returns whether there is a ModRM byte. */
static bool make_variant(const struct place *p, unsigned w, unsigned l, unsigned b,
			 uint16_t leaf[MOD_CLASSES])
{
	/* The rm field selects instructions only in the legacy and VEX maps. */
	bool by_rm = p->space == SPACE_LEGACY || p->space == SPACE_VEX;
	bool has_modrm = false;

	for (unsigned c = 0; c < MOD_CLASSES; c++) {
		struct trial t = {.w = w, .l = l, .b = b};
		bool modrm = false;

		if (c < 8) {
			t.mod = 1;
			t.reg = c;
		} else {
			t.mod = 3;
			t.reg = (c - 8) / 8;
			t.rm = by_rm ? (c - 8) % 8 : other(t.reg, 4, 4);
			if (!by_rm && (c - 8) % 8) {
				leaf[c] = leaf[c - 1];
				continue;
			}
		}
		leaf[c] = make_leaf(p, &t, &modrm);
		has_modrm |= modrm;
		if (leaf[c] && !modrm) {
			for (unsigned i = 0; i < MOD_CLASSES; i++)
				leaf[i] = leaf[c];
			return false;
		}
	}
	return has_modrm;
}

/* Returns the class that represents a ModRM class when only part of ModRM matters. */
static unsigned representative(enum row_modrm how, unsigned c)
{
	unsigned reg = c < 8 ? c : (c - 8) / 8;

	switch (how) {
	case ROW_MODRM_ANY:
		return 0;
	case ROW_MODRM_MOD:
		return c < 8 ? 0 : 8;
	case ROW_MODRM_REG:
		return reg;
	case ROW_MODRM_MOD_REG:
		return c < 8 ? c : 8 + reg * 8;
	case ROW_MODRM_FULL:
		break;
	}
	return c;
}

static bool modrm_suffices(uint16_t leaf[VARIANTS][MOD_CLASSES], enum row_modrm how)
{
	for (unsigned v = 0; v < VARIANTS; v++)
		for (unsigned c = 0; c < MOD_CLASSES; c++)
			if (leaf[v][c] != leaf[v][representative(how, c)])
				return false;
	return true;
}

/* Variant numbers are W * 8 + L * 2 + b. */
static bool matters(uint16_t leaf[VARIANTS][MOD_CLASSES], unsigned bits)
{
	for (unsigned v = 0; v < VARIANTS; v++)
		if (memcmp(leaf[v], leaf[v & ~bits], sizeof leaf[v]))
			return true;
	return false;
}

/* Stores a block of leaves, or finds an equal one that is stored. */
static uint16_t keep_block(const uint16_t *block, unsigned count)
{
	for (unsigned i = 0; i + count <= leaf_count; i++)
		if (!memcmp(leaves + i, block, count * sizeof *block))
			return (uint16_t)i;
	if (leaf_count + count > LEAVES_MAX)
		die("too many leaves");
	memcpy(leaves + leaf_count, block, count * sizeof *block);
	leaf_count += count;
	return (uint16_t)(leaf_count - count);
}

static struct decode_row make_row(uint16_t leaf[VARIANTS][MOD_CLASSES], bool has_modrm)
{
	static uint16_t block[VARIANTS * MOD_CLASSES];
	struct decode_row row = {0};
	enum row_modrm how = ROW_MODRM_ANY;
	unsigned fixed = 0; /* bits of the variant number that do not matter */
	unsigned n = 0;

	while (!modrm_suffices(leaf, how))
		how++;
	for (unsigned c = 0; c < MOD_CLASSES; c++)
		row.stride += representative(how, c) == c;
	row.shape = (uint8_t)(how | (has_modrm ? ROW_HAS_MODRM : 0));
	if (matters(leaf, 8))
		row.shape |= ROW_BY_W;
	else
		fixed |= 8;
	if (matters(leaf, 6))
		row.shape |= ROW_BY_L;
	else
		fixed |= 6;
	if (matters(leaf, 1))
		row.shape |= ROW_BY_B;
	else
		fixed |= 1;
	for (unsigned v = 0; v < VARIANTS; v++) {
		if (v & fixed)
			continue;
		for (unsigned c = 0; c < MOD_CLASSES; c++)
			if (representative(how, c) == c)
				block[n++] = leaf[v][c];
	}
	row.leaf = keep_block(block, n);
	return row;
}

static void make_page(struct place p, struct decode_row page[256])
{
	static uint16_t leaf[VARIANTS][MOD_CLASSES];
	unsigned lengths = p.space == SPACE_EVEX ? 4 : p.space == SPACE_LEGACY ? 1 : 2;
	unsigned bs = p.space == SPACE_EVEX ? 2 : 1;

	for (unsigned opcode = 0; opcode < 256; opcode++) {
		bool has_modrm = false;

		p.opcode = (uint8_t)opcode;
		for (unsigned v = 0; v < VARIANTS; v++) {
			unsigned w = v >> 3;
			unsigned l = v >> 1 & 3;
			unsigned b = v & 1;

			if (l < lengths && b < bs)
				has_modrm |= make_variant(&p, w, l, b, leaf[v]);
			else
				memcpy(leaf[v],
				       leaf[w << 3 | (l & (lengths - 1)) << 1 | (b & (bs - 1))],
				       sizeof leaf[v]);
		}
		page[opcode] = make_row(leaf, has_modrm);
	}
}

static void make_pages(void)
{
	for (unsigned map = 0; map < LEGACY_MAPS; map++)
		for (unsigned prefix = 0; prefix < LEGACY_PREFIXES; prefix++)
			make_page((struct place){SPACE_LEGACY, map, prefix, 0},
				  rows[PAGE_LEGACY + map * LEGACY_PREFIXES + prefix]);
	for (unsigned pp = 0; pp < 4; pp++) {
		for (unsigned map = 0; map < VEX_MAPS; map++)
			make_page((struct place){SPACE_VEX, map + 1, pp, 0},
				  rows[PAGE_VEX + map * 4 + pp]);
		for (unsigned map = 0; map < EVEX_MAPS; map++)
			make_page((struct place){SPACE_EVEX, map + 1, pp, 0},
				  rows[PAGE_EVEX + map * 4 + pp]);
		for (unsigned map = 0; map < XOP_MAPS; map++)
			make_page((struct place){SPACE_XOP, map + 8, pp, 0},
				  rows[PAGE_XOP + map * 4 + pp]);
	}
}

/* Removes bytes that cannot start an opcode: decode.c handles prefixes and escapes. */
static void blank_prefixes(void)
{
	static const uint8_t taken[] = {0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65,
					0x66, 0x67, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3};
	uint16_t none = 0;
	uint16_t block = keep_block(&none, 1);

	for (unsigned prefix = 0; prefix < LEGACY_PREFIXES; prefix++) {
		struct decode_row *page = rows[PAGE_LEGACY + prefix];

		for (size_t i = 0; i < sizeof taken; i++)
			page[taken[i]] = (struct decode_row){block, 0, 0};
		for (unsigned i = 0x40; i < 0x50; i++)
			page[i] = (struct decode_row){block, 0, 0};
		for (unsigned map = 1; map < 2; map++)
			for (unsigned i = 0x38; i < 0x3c; i += 2)
				rows[PAGE_LEGACY + map * LEGACY_PREFIXES + prefix][i] =
					(struct decode_row){block, 0, 0};
	}
}

static void print_pages(void)
{
	unsigned number[PAGES] = {0};
	unsigned count = 0;

	printf("static const struct decode_row decode_rows[][256] = {\n");
	for (unsigned i = 0; i < PAGES; i++) {
		unsigned same = 0;

		while (same < i && memcmp(rows[same], rows[i], sizeof rows[i]))
			same++;
		number[i] = same < i ? number[same] : count++;
		if (same < i)
			continue;
		printf("{");
		for (unsigned j = 0; j < 256; j++)
			printf("{%u,%u,%u},%s", rows[i][j].leaf, rows[i][j].shape,
			       rows[i][j].stride, j % 8 == 7 ? "\n" : "");
		printf("},\n");
	}
	printf("};\nstatic const uint8_t decode_pages[%u] = {", PAGES);
	for (unsigned i = 0; i < PAGES; i++)
		printf("%u,", number[i]);
	printf("};\n");
	fprintf(stderr,
		"decode table: %u property sets, %u leaves, %u pages, %u patterns of accesses, "
		"%zu bytes\n",
		prop_count, leaf_count, count, pattern_count,
		prop_count * sizeof *props + leaf_count * sizeof *leaves + count * sizeof rows[0] +
			PAGES + 5 * 256 + 32);
}

static void print_table(void)
{
	printf("/* Made by hosts/user/decode/generate.c from Zydis; do not edit. */\n"
	       "static const struct decode_prop decode_props[%u] = {\n",
	       prop_count);
	for (unsigned i = 0; i < prop_count; i++) {
		const struct decode_prop *p = &props[i];

		printf("{0x%x,0x%x,0x%x,%u,%u,%u,%u,%u,%u,%d,%u,%u,%u},\n", p->signals, p->deny,
		       p->attr, p->kind, p->flags_read, p->flags_written, p->immediate_bytes,
		       p->memory_kind, p->base, p->displacement, p->disp8_shift, p->pop_bytes,
		       p->accesses);
	}
	printf("};\nstatic const uint16_t decode_leaves[%u] = {", leaf_count);
	for (unsigned i = 0; i < leaf_count; i++)
		printf("%u,%s", leaves[i], i % 16 == 15 ? "\n" : "");
	printf("};\n");
	print_pages();
}

static void print_accesses(void)
{
	printf("static const struct decode_accesses decode_accesses[%u] = {\n", pattern_count);
	for (unsigned i = 0; i < pattern_count; i++) {
		printf("{{");
		for (unsigned v = 0; v < ACCESS_VARIANTS; v++) {
			const uint16_t *access = patterns[i].access[v];

			printf("{%u,%u,%u},", access[0], access[1], access[2]);
		}
		printf("},{");
		for (unsigned v = 0; v < ACCESS_VARIANTS; v++)
			printf("%u,", patterns[i].elements[v]);
		printf("}},\n");
	}
	printf("};\n");
}

/* For each way of selection by ModRM: the leaf of the row for each ModRM byte. */
static void print_modrm(void)
{
	printf("static const uint8_t decode_modrm[5][256] = {\n");
	for (enum row_modrm how = ROW_MODRM_ANY; how <= ROW_MODRM_FULL; how++) {
		printf("{");
		for (unsigned modrm = 0; modrm < 256; modrm++) {
			unsigned class = modrm < 0xc0 ? modrm >> 3 & 7 : 8 + (modrm & 63);
			unsigned number = 0;

			for (unsigned c = 0; c < representative(how, class); c++)
				number += representative(how, c) == c;
			printf("%u,%s", number, modrm % 32 == 31 ? "\n" : "");
		}
		printf("},\n");
	}
	printf("};\n");
}

static void print_heads(void)
{
	printf("const uint8_t decode_heads[2][256] = {\n");
	for (unsigned map = 0; map < 2; map++) {
		printf("{");
		for (unsigned i = 0; i < 256; i++) {
			unsigned class = head_class(&rows[PAGE_LEGACY + map * LEGACY_PREFIXES][i],
						    leaves, props);

			printf("%u,%s", class, i % 32 == 31 ? "\n" : "");
		}
		printf("},\n");
	}
	printf("};\n");
}

/* Prints which bytes are opcodes after 0F 0F. */
static void print_3dnow(void)
{
	uint8_t set[32] = {0};

	for (unsigned suffix = 0; suffix < 256; suffix++) {
		uint8_t bytes[15] = {0x0f, 0x0f, 0xc0, (uint8_t)suffix};
		ZydisDecodedInstruction insn;
		ZydisDecoderContext context;

		if (ZYAN_SUCCESS(
			    ZydisDecoderDecodeInstruction(&decoder, &context, bytes, 15, &insn)))
			set[suffix / 8] |= (uint8_t)(1u << suffix % 8);
	}
	printf("static const uint8_t decode_3dnow[32] = {");
	for (unsigned i = 0; i < 32; i++)
		printf("%u,", set[i]);
	printf("};\n");
}

int main(void)
{
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		die("Zydis does not start");
	/* Set 0: undefined.  The hash has set numbers; 0 is a free entry. */
	memset(&props[0], 0, sizeof props[0]);
	props[0].kind = INSN_UNDEFINED;
	prop_count = 1;
	pattern_count = 1; /* pattern 0: no access */
	make_pages();
	blank_prefixes();
	print_table();
	print_accesses();
	print_modrm();
	print_heads();
	print_3dnow();
	if (fflush(stdout) || ferror(stdout))
		die("cannot write");
	return 0;
}
