/* SPDX-License-Identifier: MIT */
/*
 * ds.c: the layouts of the DS management area and of PEBS records. The expected offsets are typed
 * here from the manual's figures and tables. Every format also makes a round trip (Vol. 3B 17.4.9,
 * 18.4.4, 18.8.1.1, 18.11.2, 18.13.1.1, 10th generation Core).
 */
#include <stdlib.h>
#include <string.h>

#include <softpmu/softpmu.h>

#include "data/ds/layout.h"
#include "tests/unit/check.h"

#define AT(member) offsetof(struct spmu_pebs_record, member)
#define REG(name)  AT(regs.name)

/* Fills a record so that each byte differs from its neighbours. */
static void colour(struct spmu_pebs_record *record)
{
	uint8_t *byte = (uint8_t *)record;

	for (size_t i = 0; i < sizeof(*record); i++)
		byte[i] = (uint8_t)(i * 7 + i / 256 + 1);
}

static uint64_t member(const struct spmu_pebs_record *record, size_t at)
{
	uint64_t value;

	memcpy(&value, (const uint8_t *)record + at, 8);
	return value;
}

static const size_t in_order[] = {
	REG(rflags),	 REG(rip),    REG(rax),	       REG(rbx),       REG(rcx),
	REG(rdx),	 REG(rsi),    REG(rdi),	       REG(rbp),       REG(rsp),
	REG(r8),	 REG(r9),     REG(r10),	       REG(r11),       REG(r12),
	REG(r13),	 REG(r14),    REG(r15),	       AT(applicable), AT(data_address),
	AT(data_source), AT(latency), AT(eventing_ip), AT(tx_abort),   AT(tsc),
};

/* Checks formats 0 to 3: the fields of the format before, then more. */
static void fixed_formats(void)
{
	static const struct {
		int line;
		const struct spmu_ds_layout *layout;
		unsigned fields, width;
	} rows[] = {
		{__LINE__, &ds_32, 10, 4},	   {__LINE__, &ds_64, 18, 8},
		{__LINE__, &ds_64_nehalem, 22, 8}, {__LINE__, &ds_64_haswell, 24, 8},
		{__LINE__, &ds_64_skylake, 25, 8}, {__LINE__, &ds_64_goldmont_plus, 25, 8},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spmu_pebs_record record, back;
		uint8_t bytes[256];
		size_t need = (size_t)rows[i].fields * rows[i].width, used = 0;

		colour(&record);
		memset(bytes, 0x5a, sizeof(bytes));
		CHECK_ROW_EQ(rows[i].line, spmu_pebs_record_bytes(rows[i].layout, ~0ull), need);
		CHECK_ROW_EQ(rows[i].line,
			     spmu_pebs_encode(rows[i].layout, ~0ull, &record, bytes, need - 1),
			     SPMU_E_SPACE);
		CHECK_ROW_EQ(rows[i].line, bytes[0], 0x5a);
		CHECK_ROW_EQ(rows[i].line,
			     spmu_pebs_encode(rows[i].layout, ~0ull, &record, bytes, need),
			     SPMU_OK);
		CHECK_ROW_EQ(rows[i].line, bytes[need], 0x5a);
		CHECK_ROW_EQ(rows[i].line,
			     spmu_pebs_decode(rows[i].layout, bytes, need - 1, &back, &used),
			     SPMU_E_SPACE);
		memset(&back, 0x33, sizeof(back));
		CHECK_ROW_EQ(rows[i].line,
			     spmu_pebs_decode(rows[i].layout, bytes, need, &back, &used), SPMU_OK);
		CHECK_ROW_EQ(rows[i].line, used, need);
		for (unsigned f = 0; f < sizeof(in_order) / sizeof(in_order[0]); f++) {
			uint64_t low = rows[i].width == 8 ? UINT64_MAX : UINT32_MAX;
			uint64_t value = member(&record, in_order[f]) & low, stored = 0;

			if (f < rows[i].fields)
				memcpy(&stored, bytes + f * rows[i].width, rows[i].width);
			CHECK_ROW_EQ(rows[i].line, stored, f < rows[i].fields ? value : 0);
			CHECK_ROW_EQ(rows[i].line, member(&back, in_order[f]), stored);
		}
		CHECK_ROW_EQ(rows[i].line, back.groups, 0);
		CHECK_ROW_EQ(rows[i].line, back.branch_count, 0);
		/* Fields that the format lacks take no bytes. */
		CHECK_ROW_EQ(rows[i].line, back.xmm[0][0], 0x33);
		CHECK_ROW_EQ(rows[i].line, back.branch[0].cpl, 0x33);
	}
}

static uint64_t word_at(const uint8_t *bytes, size_t at)
{
	uint64_t value;

	memcpy(&value, bytes + at, 8);
	return value;
}

/* Checks adaptive PEBS, "PEBS record format": the groups in their order, with their sizes. */
static void adaptive_groups(void)
{
	static const size_t basic[] = {AT(eventing_ip), AT(applicable), AT(tsc)};
	static const size_t memory[] = {AT(data_address), AT(data_source), AT(latency),
					AT(tx_abort)};
	static const size_t gprs[] = {
		REG(rflags), REG(rip), REG(rax), REG(rcx), REG(rdx), REG(rbx),
		REG(rsp),    REG(rbp), REG(rsi), REG(rdi), REG(r8),  REG(r9),
		REG(r10),    REG(r11), REG(r12), REG(r13), REG(r14), REG(r15),
	};
	struct spmu_pebs_record record;

	colour(&record);
	record.branch_count = 3;
	for (unsigned i = 0; i < 3; i++) /* canonical, as the registers are */
		record.branch[i] =
			(struct spmu_branch){.from = 0x401000 + i, .to = ~UINT64_C(7) + i};
	for (unsigned groups = 0; groups < 16; groups++) {
		uint64_t cfg = groups | SPMU_PEBS_LBR_ENTRIES(5) | UINT64_C(0xfff0);
		size_t need = 32u + (groups & 1 ? 32u : 0) + (groups & 2 ? 144u : 0) +
			      (groups & 4 ? 256u : 0) + (groups & 8 ? 5 * 24u : 0);
		uint8_t bytes[1300];
		size_t at = 8;

		memset(bytes, 0x5a, sizeof(bytes));
		CHECK_EQ(spmu_pebs_record_bytes(&ds_64_icelake, cfg), need);
		CHECK_EQ(spmu_pebs_encode(&ds_64_icelake, cfg, &record, bytes, need - 1),
			 SPMU_E_SPACE);
		CHECK_EQ(spmu_pebs_encode(&ds_64_icelake, cfg, &record, bytes, need), SPMU_OK);
		CHECK_EQ(bytes[need], 0x5a);
		CHECK_EQ(word_at(bytes, 0),
			 groups | (groups & 8 ? UINT64_C(4) << 24 : 0) | (uint64_t)need << 48);
		for (unsigned i = 0; i < 3; i++, at += 8)
			CHECK_EQ(word_at(bytes, at), member(&record, basic[i]));
		for (unsigned i = 0; groups & 1 && i < 4; i++, at += 8)
			CHECK_EQ(word_at(bytes, at), member(&record, memory[i]));
		for (unsigned i = 0; groups & 2 && i < 18; i++, at += 8)
			CHECK_EQ(word_at(bytes, at), member(&record, gprs[i]));
		if (groups & 4) {
			CHECK(!memcmp(bytes + at, record.xmm, 256));
			at += 256;
		}
		for (unsigned i = 0; groups & 8 && i < 5; i++, at += 24) {
			CHECK_EQ(word_at(bytes, at), i < 3 ? record.branch[i].from : 0);
			CHECK_EQ(word_at(bytes, at + 8), i < 3 ? record.branch[i].to : 0);
		}
		CHECK_EQ(at, need);
	}
}

/* Checks 17.9.1: the third word of an entry has the fields of MSR_LBR_INFO_x. */
static void adaptive_branches(void)
{
	struct spmu_pebs_record record = {.branch_count = 3}, back;
	uint8_t bytes[32 + 3 * 24];
	const uint64_t cfg = SPMU_PEBS_LBR | SPMU_PEBS_LBR_ENTRIES(3);

	record.branch[0] = (struct spmu_branch){.from = 1, .to = 2, .cycles = 0x123};
	record.branch[1] = (struct spmu_branch){
		.from = 3, .to = 4, .cycles = 0x12345, .flags = SPMU_BRANCH_MISPREDICTED};
	record.branch[2] = (struct spmu_branch){.flags = SPMU_BRANCH_IN_TX | SPMU_BRANCH_ABORT};
	CHECK_EQ(spmu_pebs_encode(&ds_64_icelake, cfg, &record, bytes, sizeof(bytes)), SPMU_OK);
	CHECK_EQ(word_at(bytes, 48), 0x123);
	CHECK_EQ(word_at(bytes, 72), UINT64_C(0x800000000000ffff));
	CHECK_EQ(word_at(bytes, 96), UINT64_C(0x6000000000000000));
	CHECK_EQ(spmu_pebs_decode(&ds_64_icelake, bytes, sizeof(bytes), &back, NULL), SPMU_OK);
	CHECK_EQ(back.branch_count, 3);
	CHECK_EQ(back.groups, SPMU_PEBS_LBR);
	CHECK_EQ(back.branch[0].cycles, 0x123);
	CHECK_EQ(back.branch[1].from, 3);
	CHECK_EQ(back.branch[1].cycles, 0xffff);
	CHECK_EQ(back.branch[1].flags, SPMU_BRANCH_MISPREDICTED);
	CHECK_EQ(back.branch[2].flags, SPMU_BRANCH_IN_TX | SPMU_BRANCH_ABORT);
}

/* Checks that a record gives its own length, and that one that contradicts itself is refused. */
static void adaptive_decode(void)
{
	const uint64_t all = SPMU_PEBS_MEMORY | SPMU_PEBS_GPRS | SPMU_PEBS_XMM | SPMU_PEBS_LBR;
	struct spmu_pebs_record record, back;
	uint8_t bytes[32 + 32 + 144 + 256 + 32 * 24];
	size_t used = 0, need = sizeof(bytes);

	colour(&record);
	record.branch_count = 32;
	record.branch[31] = (struct spmu_branch){.from = 0x401000, .to = 0x402000};
	/* For more entries than there are registers, the record has one for each register. */
	CHECK_EQ(spmu_pebs_record_bytes(&ds_64_icelake, all | SPMU_PEBS_LBR_ENTRIES(256)), need);
	CHECK_EQ(spmu_pebs_encode(&ds_64_icelake, all | SPMU_PEBS_LBR_ENTRIES(256), &record, bytes,
				  need),
		 SPMU_OK);
	CHECK_EQ(word_at(bytes, 0), UINT64_C(0x1f00000f) | (uint64_t)need << 48);
	CHECK_EQ(spmu_pebs_decode(&ds_64_icelake, bytes, need, &back, &used), SPMU_OK);
	CHECK_EQ(used, need);
	CHECK_EQ(back.groups, all);
	CHECK_EQ(back.branch_count, 32);
	for (size_t i = 0; i < sizeof(in_order) / sizeof(in_order[0]); i++)
		CHECK_EQ(member(&back, in_order[i]), member(&record, in_order[i]));
	CHECK(!memcmp(back.xmm, record.xmm, sizeof(back.xmm)));
	CHECK_EQ(back.branch[31].to, record.branch[31].to);

	CHECK_EQ(spmu_pebs_decode(&ds_64_icelake, bytes, need - 1, &back, &used), SPMU_E_SPACE);
	CHECK_EQ(spmu_pebs_decode(&ds_64_icelake, bytes, 7, &back, &used), SPMU_E_SPACE);
	bytes[6]++; /* length */
	CHECK_EQ(spmu_pebs_decode(&ds_64_icelake, bytes, need, &back, &used), SPMU_E_FORMAT);
	bytes[6]--;
	bytes[0] &= ~8; /* no branches, but entries */
	CHECK_EQ(spmu_pebs_decode(&ds_64_icelake, bytes, need, &back, &used), SPMU_E_FORMAT);
	bytes[0] |= 8;
	bytes[0] |= 0x10; /* a group that is not defined */
	CHECK_EQ(spmu_pebs_decode(&ds_64_icelake, bytes, need, &back, &used), SPMU_E_FORMAT);
}

/* Checks 17.4.9: the places of the eight addresses and the resets. No other byte is changed. */
static void areas(void)
{
	static const struct {
		int line;
		const struct spmu_ds_layout *layout;
		unsigned width, bytes, resets, at, fixed, fixed_at, bts;
	} rows[] = {
		{__LINE__, &ds_32_bts, 4, 0x20, 0, 0, 0, 0, 12},
		{__LINE__, &ds_32, 4, 0x28, 1, 0x20, 0, 0, 12},
		{__LINE__, &ds_64, 8, 0x48, 1, 0x40, 0, 0, 24},
		{__LINE__, &ds_64_nehalem, 8, 0x60, 4, 0x40, 0, 0, 24},
		{__LINE__, &ds_64_haswell, 8, 0x60, 4, 0x40, 0, 0, 24},
		{__LINE__, &ds_64_skylake, 8, 0x60, 4, 0x40, 0, 0, 24},
		{__LINE__, &ds_64_goldmont_plus, 8, 0x98, 8, 0x40, 3, 0x80, 24},
		{__LINE__, &ds_64_icelake, 8, 0xa0, 8, 0x40, 4, 0x80, 24},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct spmu_ds_layout *layout = rows[i].layout;
		uint64_t low = rows[i].width == 8 ? UINT64_MAX : UINT32_MAX;
		struct spmu_ds_area area, back;
		uint64_t address[8];
		uint8_t bytes[0x100];

		for (size_t b = 0; b < sizeof(area); b++)
			((uint8_t *)&area)[b] = (uint8_t)(b * 5 + 1);
		memcpy(address, &area, sizeof(address));
		memset(bytes, 0x5a, sizeof(bytes));
		CHECK_ROW_EQ(rows[i].line, layout->bytes, rows[i].bytes);
		CHECK_ROW_EQ(rows[i].line, layout->bts_bytes, rows[i].bts);
		CHECK_ROW_EQ(rows[i].line, spmu_ds_encode(layout, &area, bytes, rows[i].bytes - 1),
			     SPMU_E_SPACE);
		CHECK_ROW_EQ(rows[i].line, spmu_ds_encode(layout, &area, bytes, rows[i].bytes),
			     SPMU_OK);
		CHECK_ROW_EQ(rows[i].line, bytes[rows[i].bytes], 0x5a);
		CHECK_ROW_EQ(rows[i].line, spmu_ds_decode(layout, bytes, rows[i].bytes - 1, &back),
			     SPMU_E_SPACE);
		CHECK_ROW_EQ(rows[i].line, spmu_ds_decode(layout, bytes, rows[i].bytes, &back),
			     SPMU_OK);
		for (unsigned n = 0; n < 8; n++) {
			uint64_t stored = 0;

			memcpy(&stored, bytes + n * rows[i].width, rows[i].width);
			CHECK_ROW_EQ(rows[i].line, stored, address[n] & low);
			address[n] = stored;
		}
		CHECK_ROW(rows[i].line, !memcmp(&back, address, sizeof(address)));
		for (unsigned n = 0; n < 8; n++) {
			bool has = n < rows[i].resets;

			if (has)
				CHECK_ROW_EQ(rows[i].line, word_at(bytes, rows[i].at + 8 * n),
					     area.reset[n]);
			CHECK_ROW_EQ(rows[i].line, back.reset[n], has ? area.reset[n] : 0);
		}
		for (unsigned n = 0; n < 4; n++) {
			bool has = n < rows[i].fixed;

			if (has)
				CHECK_ROW_EQ(rows[i].line, word_at(bytes, rows[i].fixed_at + 8 * n),
					     area.fixed_reset[n]);
			CHECK_ROW_EQ(rows[i].line, back.fixed_reset[n],
				     has ? area.fixed_reset[n] : 0);
		}
	}
}

/* Checks impossible arguments, and a DS area without records. */
static void arguments(void)
{
	struct spmu_pebs_record record = {0};
	struct spmu_ds_area area = {0};
	uint8_t bytes[256];

	CHECK_EQ(spmu_ds_encode(NULL, &area, bytes, 256), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_ds_decode(NULL, bytes, 256, &area), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_pebs_encode(NULL, 0, &record, bytes, 256), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_pebs_decode(NULL, bytes, 256, &record, NULL), SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_pebs_record_bytes(NULL, 0), 0);
	CHECK_EQ(spmu_pebs_record_bytes(&ds_32_bts, 0), 0);
	CHECK_EQ(spmu_pebs_encode(&ds_32_bts, 0, &record, bytes, 256), SPMU_E_UNAVAILABLE);
	CHECK_EQ(spmu_pebs_decode(&ds_32_bts, bytes, 256, &record, NULL), SPMU_E_UNAVAILABLE);
}

int main(void)
{
	RUN(fixed_formats());
	RUN(adaptive_groups());
	RUN(adaptive_branches());
	RUN(adaptive_decode());
	RUN(areas());
	RUN(arguments());
	return test_summary();
}
