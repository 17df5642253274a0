/* SPDX-License-Identifier: MIT */
/*
 * cpuid.c: leaves 01H and 0AH as real parts report them (public InstLatx64 dumps), and the
 * RDPMC instruction (Vol. 2B).
 */
#include "tests/unit/unit_host.h"

/*
 * Differences from the dumps that are intended:
 *  - Earlier steppings of Core 2 (6F2H to 6F8H) leave EDX of leaf 0AH 0 although they have the
 * fixed counters. with_errata[] has them.
 *  - Bits of EBX that an erratum sets are always there.
 *  - The first Bonnells (106C2H) report one fixed counter and a bit 13 without meaning, and
 * Lynnfield (106E5H) also lacks reference cycles (bit 2 of EBX). The models are the parts listed
 * here.
 *  - Parts before the architectural unit have no leaf 0AH. The unit's leaf is empty (version 0).
 *  - No dump of model 3 of family 15 has the flags.
 */
#define OURS_ECX 0x8014u /* DTES64, DS-CPL, PDCM */
#define OURS_EDX 0x200000u

static const struct {
	int line;
	const char *part;
	const char *model;
	unsigned threads;
	uint32_t leaf_0a[4];
	uint32_t leaf_1_ecx, leaf_1_edx;
} parts[] = {
	{__LINE__, "52C P54C", "pentium", 1, {0, 0, 0, 0}, 0x00000000, 0x000001bf},
	{__LINE__, "543 P55C", "pentium-mmx", 1, {0, 0, 0, 0}, 0x00000000, 0x008003bf},
	{__LINE__, "619 P6", "pentium-pro", 1, {0, 0, 0, 0}, 0x00000000, 0x0000fbff},
	{__LINE__, "653 P2 Deschutes", "pentium-ii", 1, {0, 0, 0, 0}, 0x00000000, 0x0183fbff},
	{__LINE__, "683 P3 Coppermine", "pentium-iii", 1, {0, 0, 0, 0}, 0x00000000, 0x0387fbff},
	{__LINE__, "695 PM Banias", "pentium-m", 1, {0, 0, 0, 0}, 0x00000000, 0xa7e9fbbf},
	{__LINE__, "6D8 PM Dothan", "pentium-m", 1, {0, 0, 0, 0}, 0x00000180, 0xafe9fbff},
	{__LINE__, "F0A P4 Willamette", "netburst", 1, {0, 0, 0, 0}, 0x00000000, 0x3febfbff},
	{__LINE__, "F29 P4 Northwood", "netburst", 2, {0, 0, 0, 0}, 0x00004400, 0xbfebfbff},
	{__LINE__, "F43 P4 Prescott", "prescott-2m", 2, {0, 0, 0, 0}, 0x0000649d, 0xbfebfbff},
	{__LINE__, "F44 P4 Smithfield", "prescott-2m", 2, {0, 0, 0, 0}, 0x0000641d, 0xbfebfbff},
	{__LINE__, "F62 P4 Presler", "cedar-mill", 2, {0, 0, 0, 0}, 0x0000e43d, 0xbfebfbff},
	{__LINE__, "F68 P4 Tulsa", "xeon-7100", 2, {0, 0, 0, 0}, 0x0000e5bd, 0xbfebfbff},
	{__LINE__, "F41 P4 Cranford", "xeon-mp-8m-l3", 2, {0, 0, 0, 0}, 0x0000649d, 0xbfebfbff},
	{__LINE__,
	 "506E3 Skylake, two threads",
	 "skylake",
	 2,
	 {0x07300404, 0, 0, 0x603},
	 0x7ffafbbf,
	 0xbfebfbff},
	{__LINE__,
	 "506E3 Skylake, one thread",
	 "skl",
	 1,
	 {0x07300804, 0, 0, 0x603},
	 0x7ffafbff,
	 0xbfebfbff},
	{__LINE__,
	 "906E9 Kaby Lake",
	 "kabylake",
	 2,
	 {0x07300404, 0, 0, 0x603},
	 0x7ffafbbf,
	 0xbfebfbff},
	{__LINE__,
	 "906EA Coffee Lake",
	 "coffeelake",
	 2,
	 {0x07300404, 0, 0, 0x603},
	 0x7ffafbff,
	 0xbfebfbff},
	{__LINE__,
	 "906EB Coffee Lake, one thread",
	 "coffeelake",
	 1,
	 {0x07300804, 0, 0, 0x603},
	 0x7ffafbbf,
	 0xbfebfbff},
	{__LINE__,
	 "50654 Skylake-X",
	 "skylake-server",
	 2,
	 {0x07300404, 0, 0, 0x603},
	 0x7ffefbff,
	 0xbfebfbff},
	{__LINE__,
	 "50657 Cascade Lake",
	 "cascadelake",
	 2,
	 {0x07300404, 0, 0, 0x603},
	 0x7ffefbff,
	 0xbfebfbff},
	{__LINE__, "6E8 PM Yonah", "core", 1, {0x07280201, 0x0, 0x0, 0x0}, 0x0000c109, 0xafe9fbff},
	{__LINE__, "6E4 PM Yonah", "core", 1, {0x07280201, 0x0, 0x0, 0x0}, 0x0000c1a9, 0xbfe9fbff},
	{__LINE__, "6FB Conroe", "core2", 1, {0x07280202, 0x0, 0x0, 0x503}, 0x0000e3fd, 0xbfebfbff},
	{__LINE__, "6F2 Conroe", "core2", 1, {0x07280202, 0x0, 0x0, 0x0}, 0x0000e3bd, 0xbfebfbff},
	{__LINE__,
	 "6F7 Clovertown",
	 "core2",
	 1,
	 {0x07280202, 0x0, 0x0, 0x0},
	 0x0004e33d,
	 0xbfebfbff},
	{__LINE__,
	 "6F9 Tigerton",
	 "core2",
	 1,
	 {0x07280202, 0x0, 0x0, 0x503},
	 0x0004e3bd,
	 0xbfebfbff},
	{__LINE__,
	 "1067A Penryn",
	 "core2-45nm",
	 1,
	 {0x07280202, 0x0, 0x0, 0x503},
	 0x0400e39d,
	 0xbfebfbff},
	{__LINE__,
	 "10676 Harpertown",
	 "core2-45nm",
	 1,
	 {0x07280202, 0x0, 0x0, 0x503},
	 0x000ce3bd,
	 0xbfebfbff},
	{__LINE__,
	 "106D1 Dunnington",
	 "xeon-7400",
	 1,
	 {0x07280202, 0x0, 0x0, 0x503},
	 0x000ce3bd,
	 0xbfebfbff},
	{__LINE__,
	 "106CA PineviewD",
	 "bonnell",
	 2,
	 {0x07280203, 0x0, 0x0, 0x503},
	 0x0040e31d,
	 0xbfebfbff},
	{__LINE__,
	 "30661 Cedarview",
	 "bonnell",
	 2,
	 {0x07280203, 0x0, 0x0, 0x503},
	 0x0040e31d,
	 0xbfebfbff},
	{__LINE__,
	 "30678 Silvermont",
	 "silvermont",
	 1,
	 {0x07280203, 0x0, 0x0, 0x4503},
	 0x43d8e3bf,
	 0xbfebfbff},
	{__LINE__,
	 "406D8 Avoton",
	 "silvermont",
	 1,
	 {0x07280203, 0x0, 0x0, 0x4503},
	 0x43d8e3bf,
	 0xbfebfbff},
	{__LINE__,
	 "406C3 Braswell",
	 "airmont",
	 1,
	 {0x07280203, 0x0, 0x0, 0x503},
	 0x43d8e3bf,
	 0xbfebfbff},
	{__LINE__,
	 "50671 Knights Landing",
	 "knightslanding",
	 2,
	 {0x07280203, 0x0, 0x0, 0x503},
	 0x7ff8f39f,
	 0xbfebfbff},
	{__LINE__,
	 "506C9 Goldmont",
	 "goldmont",
	 1,
	 {0x07300404, 0x0, 0x0, 0x603},
	 0x4ff8ebbf,
	 0xbfebfbff},
	{__LINE__,
	 "506F1 Denverton",
	 "goldmont",
	 1,
	 {0x07300404, 0x0, 0x0, 0x603},
	 0x4ff8ebbf,
	 0xbfebfbff},
	{__LINE__,
	 "706A8 GoldmontPlus",
	 "goldmont-plus",
	 1,
	 {0x07300404, 0x0, 0x0, 0x8603},
	 0x4ff8ebbf,
	 0xbfebfbff},
	{__LINE__,
	 "106A4 Bloomfield",
	 "nehalem",
	 2,
	 {0x07300403, 0x40, 0x0, 0x603},
	 0x0098e3bd,
	 0xbfebfbff},
	{__LINE__,
	 "206E5 Beckton",
	 "nehalem-ex",
	 2,
	 {0x07300403, 0x44, 0x0, 0x603},
	 0x00bce3bd,
	 0xbfebfbff},
	{__LINE__,
	 "20652 Clarkdale",
	 "westmere",
	 2,
	 {0x07300403, 0x4, 0x0, 0x603},
	 0x0298e3ff,
	 0xbfebfbff},
	{__LINE__,
	 "206C2 Gulftown",
	 "westmere-ep",
	 2,
	 {0x07300403, 0x4, 0x0, 0x603},
	 0x029ae3bf,
	 0xbfebfbff},
	{__LINE__,
	 "206A7 SandyBridge2",
	 "sandybridge",
	 2,
	 {0x07300403, 0x0, 0x0, 0x603},
	 0x1fbae3ff,
	 0xbfebfbff},
	{__LINE__,
	 "206A7 SandyBridge",
	 "sandybridge",
	 1,
	 {0x07300803, 0x0, 0x0, 0x603},
	 0x1fbae3ff,
	 0xbfebfbff},
	{__LINE__,
	 "206D7 SandyBridgeE 00",
	 "sandybridge-server",
	 2,
	 {0x07300403, 0x0, 0x0, 0x603},
	 0x1fbee3bf,
	 0xbfebfbff},
	{__LINE__,
	 "306A9 IvyBridge",
	 "ivybridge",
	 2,
	 {0x07300403, 0x0, 0x0, 0x603},
	 0x7f9ae3bf,
	 0xbfebfbff},
	{__LINE__,
	 "306E4 IvyBridgeE",
	 "ivybridge-server",
	 2,
	 {0x07300403, 0x0, 0x0, 0x603},
	 0x7fbee3bf,
	 0xbfebfbff},
	{__LINE__,
	 "306C3 Haswell",
	 "haswell",
	 2,
	 {0x07300403, 0x0, 0x0, 0x603},
	 0x7ffafbff,
	 0xbfebfbff},
	{__LINE__,
	 "306F2 HaswellEP 01",
	 "haswell-server",
	 2,
	 {0x07300403, 0x0, 0x0, 0x603},
	 0x7ffefbff,
	 0xbfebfbff},
	{__LINE__,
	 "306D4 Broadwell",
	 "broadwell",
	 2,
	 {0x07300403, 0x0, 0x0, 0x603},
	 0x7ffafbff,
	 0xbfebfbff},
	{__LINE__,
	 "406F1 BroadwellE",
	 "broadwell-server",
	 2,
	 {0x07300403, 0x0, 0x0, 0x603},
	 0x7ffefbbf,
	 0xbfebfbff},
	{__LINE__,
	 "706E5 IceLakeY",
	 "icelake",
	 2,
	 {0x08300805, 0x0, 0xf, 0x8604},
	 0x7ffafbbf,
	 0xbfebfbff},
	{__LINE__,
	 "606A6 ICX 04",
	 "icelake-server",
	 2,
	 {0x08300805, 0x0, 0xf, 0x8604},
	 0x7ffefbff,
	 0xbfebfbff},
	{__LINE__,
	 "806C1 TigerLake 01",
	 "tigerlake",
	 2,
	 {0x08300805, 0x0, 0xf, 0x8604},
	 0x7ffafbbf,
	 0xbfebfbff},
	{__LINE__,
	 "B06E0 AlderLakeN 02",
	 "alderlake-e",
	 1,
	 {0x07300605, 0x0, 0x7, 0x8603},
	 0x7ffafbbf,
	 0xbfebfbff},
	{__LINE__,
	 "90672 AlderLake 02",
	 "alderlake",
	 2,
	 {0x08300805, 0x0, 0xf, 0x8604},
	 0x7ffafbbf,
	 0xbfebfbff},
	{__LINE__,
	 "806F8 SapphireRapids 05",
	 "sapphirerapids",
	 2,
	 {0x08300805, 0x0, 0xf, 0x8604},
	 0x7ffefbff,
	 0xbfebfbff},
	{__LINE__,
	 "A06D1 GraniteRapids 03",
	 "graniterapids",
	 2,
	 {0x08300805, 0x0, 0xf, 0x8604},
	 0x7ffefbff,
	 0xbfebfbff},
	{__LINE__,
	 "B06D1 LunarLake 04",
	 "lunarlake",
	 1,
	 {0x0d300806, 0x280, 0x7, 0x8603},
	 0x7ffafbff,
	 0xbfebfbff},
	/* The part has both kinds of cores, and reports what they have in common. */
	{__LINE__,
	 "A06A4 MeteorLake 07",
	 "sierraforest",
	 1,
	 {0x07300805, 0x0, 0x7, 0x8603},
	 0x7ffafbff,
	 0xbfebfbff},
};

/* Parts that have an erratum that must be switched on. */
static const struct {
	const char *part, *erratum;
} with_errata[] = {
	{"6F2 Conroe", "cpuid-fixed"},
	{"6F7 Clovertown", "cpuid-fixed"},
};

static uint64_t errata_of(size_t row)
{
	uint64_t errata = 0;

	for (size_t i = 0; i < sizeof(with_errata) / sizeof(with_errata[0]); i++)
		if (!strcmp(with_errata[i].part, parts[row].part)) {
			errata = erratum_bit(parts[row].model, with_errata[i].erratum);
			CHECK_ROW(parts[row].line, errata != 0);
		}
	return errata;
}

static void check_parts(void)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct unit_host host;
		struct spmu_cpuid_regs regs = {1, 2, 3, 4};

		host_create_with(&host, parts[i].model, parts[i].threads, SUPPLY_EXECUTION,
				 errata_of(i));
		CHECK_ROW(parts[i].line, spmu_cpuid(host.core, 0x0a, 0, &regs));
		CHECK_ROW_EQ(parts[i].line, regs.eax, parts[i].leaf_0a[0]);
		CHECK_ROW_EQ(parts[i].line, regs.ebx, parts[i].leaf_0a[1]);
		CHECK_ROW_EQ(parts[i].line, regs.ecx, parts[i].leaf_0a[2]);
		CHECK_ROW_EQ(parts[i].line, regs.edx, parts[i].leaf_0a[3]);
		/* A host that knows nothing of the unit gets the part's own flags. */
		regs = (struct spmu_cpuid_regs){0x506e3, 0x800, parts[i].leaf_1_ecx & ~OURS_ECX,
						parts[i].leaf_1_edx & ~OURS_EDX};
		CHECK_ROW(parts[i].line, spmu_cpuid(host.core, 1, 0, &regs));
		CHECK_ROW_EQ(parts[i].line, regs.eax, 0x506e3);
		CHECK_ROW_EQ(parts[i].line, regs.ebx, 0x800);
		CHECK_ROW_EQ(parts[i].line, regs.ecx, parts[i].leaf_1_ecx);
		CHECK_ROW_EQ(parts[i].line, regs.edx, parts[i].leaf_1_edx);
		host_destroy(&host);
	}
}

/* Checks that the unit leaves other leaves to the host. */
static void check_others(void)
{
	struct unit_host host;
	struct spmu_cpuid_regs regs = {1, 2, 3, 4};

	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	CHECK(!spmu_cpuid(host.core, 0, 0, &regs));
	CHECK(!spmu_cpuid(host.core, 7, 0, &regs));
	CHECK(!spmu_cpuid(host.core, 0x80000001, 0, &regs));
	CHECK(regs.eax == 1 && regs.ebx == 2 && regs.ecx == 3 && regs.edx == 4);
	host_destroy(&host);
}

/*
 * Checks leaf 23H as a Granite Rapids (A06D1) and a performance core of a Lunar Lake (B06D1) report
 * it, and its flag in leaf 07H.
 */
static void check_extended(void)
{
	static const struct {
		const char *model;
		uint32_t eax[5], ebx[5];
	} rows[] = {
		{"graniterapids", {0x0b, 0xff, 0, 0x0dff, 0}, {0, 0x0f, 0, 0, 0}},
		{"lunarlake", {0x0b, 0x3ff, 0, 0x1dff, 0}, {3, 0x0f, 0, 0, 0}},
	};
	struct spmu_cpuid_regs regs;
	struct unit_host host;

	for (size_t i = 0; i < COUNT(rows); i++) {
		regs = (struct spmu_cpuid_regs){1, 2, 3, 4};
		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		CHECK(spmu_cpuid(host.core, 7, 1, &regs));
		CHECK_EQ(regs.eax, 1 | 1u << 8);
		CHECK(regs.ebx == 2 && regs.ecx == 3 && regs.edx == 4);
		for (uint32_t subleaf = 0; subleaf < 5; subleaf++) {
			CHECK(spmu_cpuid(host.core, 0x23, subleaf, &regs));
			CHECK_EQ(regs.eax, rows[i].eax[subleaf]);
			CHECK_EQ(regs.ebx, rows[i].ebx[subleaf]);
			CHECK(!regs.ecx && !regs.edx);
		}
		CHECK_EQ(spmu_model_describe(host.model).cpuid_leaf, 0x23);
		host_destroy(&host);
	}
	/* A Lunar Lake has two kinds of cores. */
	host_create(&host, "lunarlake", 1, SUPPLY_EXECUTION);
	CHECK(spmu_cpuid(host.core, 0x1a, 0, &regs));
	CHECK_EQ(regs.eax, 0x40000003);
	CHECK(!regs.ebx && !regs.ecx && !regs.edx);
	CHECK(spmu_cpuid(host.core, 0x07, 0, &regs));
	CHECK_EQ(regs.edx, 1u << 15 | 1u << 19);
	host_destroy(&host);
	host_create(&host, "sapphirerapids", 2, SUPPLY_EXECUTION);
	CHECK(!spmu_cpuid(host.core, 0x1a, 0, &regs));
	CHECK(!spmu_cpuid(host.core, 0x23, 0, &regs));
	CHECK(!spmu_cpuid(host.core, 7, 1, &regs));
	CHECK_EQ(spmu_model_describe(host.model).cpuid_leaf, 0x1c);
	host_destroy(&host);
}

/* Checks 18.2.1.2: EBX can say which architectural events are absent. */
static void check_hidden(void)
{
	static struct spmu_meters meters;
	static const struct {
		int line;
		struct spmu_supply supply;
		uint32_t ebx;
	} rows[] = {
		{__LINE__, {.exact = SPMU_SIGSET_ARCHITECTURAL, .modelled = 0}, 0x5d},
		{__LINE__,
		 {.exact = SPMU_SIGSET_ARCHITECTURAL, .modelled = SPMU_SIGBIT(CYCLES)},
		 0x5c},
		{__LINE__,
		 {.exact = SPMU_SIGSET_ARCHITECTURAL, .modelled = SPMU_SIGBIT(BRANCH_MISS)},
		 0x1d},
		{__LINE__,
		 {.exact = SPMU_SIGSET_ARCHITECTURAL & ~SPMU_SIGBIT(FAR), .modelled = 0},
		 0x7d},
		{__LINE__, {.exact = 0, .modelled = 0}, 0x7f},
		{__LINE__, {.exact = UINT64_MAX, .modelled = 0}, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spmu_host host = {.size = sizeof(struct spmu_host),
					 .supply = rows[i].supply};
		struct spmu_core_config config = {
			.size = sizeof(struct spmu_core_config),
			.model = spmu_model_find("skylake"),
			.threads = 1,
			.hide_absent = true,
			.meters = {&meters},
		};
		void *memory = aligned_alloc(64, spmu_core_bytes());
		struct spmu_cpuid_regs regs = {0, 0, 0, 0};
		struct spmu_core *core;

		CHECK_ROW_EQ(rows[i].line,
			     spmu_core_create(memory, spmu_core_bytes(), &config, &host, &core),
			     SPMU_OK);
		CHECK_ROW(rows[i].line, spmu_cpuid(core, 0x0a, 0, &regs));
		CHECK_ROW_EQ(rows[i].line, regs.ebx, rows[i].ebx);
		/* Leaf 23H has a bit for what is there. Slots come from a model of the machine, but
		 * without one each instruction retires one (bit 11). */
		config.model = spmu_model_find("graniterapids");
		CHECK_ROW_EQ(rows[i].line,
			     spmu_core_create(memory, spmu_core_bytes(), &config, &host, &core),
			     SPMU_OK);
		CHECK_ROW(rows[i].line, spmu_cpuid(core, 0x23, 3, &regs));
		CHECK_ROW_EQ(rows[i].line, regs.eax,
			     (0x7f & ~rows[i].ebx) | (rows[i].ebx & 2 ? 0 : 0x800));
		free(memory);
	}
}

static void check_rdpmc(unsigned threads)
{
	struct unit_host host;
	unsigned general = threads == 2 ? 4 : 8;
	uint64_t value = 0;

	host_create(&host, "skylake", threads, SUPPLY_EXECUTION);
	for (unsigned n = 0; n < general; n++)
		WRMSR(&host, A_PMC0 + n, UINT64_C(0xabc000000000) + n);
	for (unsigned n = 0; n < 3; n++)
		WRMSR(&host, FIXED0 + n, UINT64_C(0xdef000000000) + n);
	for (uint32_t n = 0; n < 12; n++) {
		CHECK_EQ(spmu_rdpmc(host.core, 0, n, 0, false, true, &value),
			 n < general ? SPMU_DONE : SPMU_GP);
		CHECK(n >= general || value == UINT64_C(0xabc000000000) + n);
		CHECK_EQ(spmu_rdpmc(host.core, 0, 0x40000000 | n, 0, false, true, &value),
			 n < 3 ? SPMU_DONE : SPMU_GP);
		CHECK(n >= 3 || value == UINT64_C(0xdef000000000) + n);
	}
	/* Other bits of ECX. Bit 31 selects fast reads on NetBurst only. */
	for (unsigned bit = 4; bit < 32; bit++)
		CHECK_EQ(spmu_rdpmc(host.core, 0, 1u << bit, 0, true, true, &value),
			 bit == 30 ? SPMU_DONE : SPMU_GP);
	/* (CR4.PCE = 1) or (CPL = 0) or (CR0.PE = 0) */
	for (unsigned cpl = 0; cpl < 4; cpl++)
		for (unsigned bits = 0; bits < 4; bits++)
			CHECK_EQ(spmu_rdpmc(host.core, 0, 0, cpl, bits & 1, bits & 2, &value),
				 cpl == 0 || (bits & 1) || !(bits & 2) ? SPMU_DONE : SPMU_GP);
	host_destroy(&host);
}

int main(void)
{
	RUN(check_parts());
	RUN(check_others());
	RUN(check_hidden());
	RUN(check_extended());
	RUN(check_rdpmc(1));
	RUN(check_rdpmc(2));
	return test_summary();
}
