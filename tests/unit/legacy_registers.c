/* SPDX-License-Identifier: MIT */
/*
 * legacy_registers.c: the registers of the families before architectural performance monitoring,
 * the bits that can be written as numbers, and RDPMC (Vol. 2B RDPMC; Vol. 3C 35.18 to 35.22; Vol.
 * 3B 18.15, 18.16, 18.20, 18.22, 18.23, 17.11 to 17.14). The numbers are typed from public register
 * lists (EDK2's headers, Linux's P4 and P6 drivers, FreeBSD's hwpmc), not taken from
 * data/registers.
 */
#include "tests/unit/unit_host.h"

#define IP	 UINT64_C(0x00007fffffffffff) /* a canonical address, bit by bit */
#define CESR	 UINT64_C(0x03ff03ff)
#define SELECT	 UINT64_C(0xffdfffff)
#define ESCR	 UINT64_C(0x7fffffff)
#define CCCR	 UINT64_C(0xcffff000)
#define CCCR_11	 UINT64_C(0xcffff800)
#define PEBS	 UINT64_C(0x07019fff)
#define BUS	 UINT64_C(0x0fffffffffffffff)
#define CONTROL	 UINT64_C(0x00ff000000ff0007)
#define FAMILIES 6

static const char *const families[FAMILIES] = {"pentium-mmx", "pentium-iii", "pentium-m",
					       "netburst",    "prescott",    "xeon-mp-8m-l3"};

/* Bits that do not give #GP, by family. */
static const struct {
	int line;
	uint32_t msr;
	uint64_t bits[FAMILIES];
} masks[] = {
	{__LINE__, 0x011, {CESR, NO, NO, NO, NO, NO}}, /* 18.23.1 */
	{__LINE__, 0x012, {ALL, NO, NO, NO, NO, NO}},  /* 18.23 */
	{__LINE__, 0x013, {ALL, NO, NO, NO, NO, NO}},
	{__LINE__, 0x014, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x040, {NO, NO, ALL, NO, NO, NO}}, /* 17.13 */
	{__LINE__, 0x047, {NO, NO, ALL, NO, NO, NO}},
	{__LINE__, 0x060, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x0c1, {NO, ALL, ALL, NO, NO, NO}}, /* 18.22.2 */
	{__LINE__, 0x0c2, {NO, ALL, ALL, NO, NO, NO}},
	{__LINE__, 0x0c3, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x186, {NO, SELECT, SELECT, NO, NO, NO}}, /* 18.22.1 */
	{__LINE__, 0x187, {NO, SELECT, SELECT, NO, NO, NO}},
	{__LINE__, 0x188, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x1a0, {NO, NO, ALL, ALL, ALL, ALL}}, /* table 35-44 */
	{__LINE__, 0x1c8, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x1c9, {NO, NO, 7, NO, NO, NO}},		/* 17.13 */
	{__LINE__, 0x1d7, {NO, NO, NO, RO, RO, RO}},		/* 17.11.3 */
	{__LINE__, 0x1d8, {NO, NO, NO, RO, RO, RO}},		/* 17.11.3 */
	{__LINE__, 0x1d9, {NO, 0x7f, 0x1ff, 0x1f, 0x7f, 0x7f}}, /* 17.11.1, 17.13, 17.14.1 */
	{__LINE__, 0x1da, {NO, NO, NO, 3, 0xf, 0xf}},		/* 17.11.2 */
	{__LINE__, 0x1db, {NO, IP, NO, ALL, NO, NO}},		/* 17.14.2, 17.11.2 */
	{__LINE__, 0x1dc, {NO, IP, NO, ALL, NO, NO}},
	{__LINE__, 0x1dd, {NO, RO, RO, ALL, NO, NO}},
	{__LINE__, 0x1de, {NO, RO, RO, ALL, NO, NO}},
	{__LINE__, 0x300, {NO, NO, NO, ALL, ALL, ALL}}, /* 18.15.2 */
	{__LINE__, 0x309, {NO, NO, NO, ALL, ALL, ALL}},
	{__LINE__, 0x311, {NO, NO, NO, ALL, ALL, ALL}},
	{__LINE__, 0x312, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x345, {NO, NO, NO, NO, NO, NO}},	   /* no PDCM flag */
	{__LINE__, 0x360, {NO, NO, NO, CCCR, CCCR, CCCR}}, /* 18.15.3, 18.16.2 */
	{__LINE__, 0x36b, {NO, NO, NO, CCCR, CCCR, CCCR}},
	{__LINE__, 0x36c, {NO, NO, NO, CCCR_11, CCCR_11, CCCR_11}}, /* table 18-65 */
	{__LINE__, 0x36d, {NO, NO, NO, CCCR, CCCR, CCCR}},
	{__LINE__, 0x36e, {NO, NO, NO, CCCR, CCCR, CCCR}},
	{__LINE__, 0x36f, {NO, NO, NO, CCCR_11, CCCR_11, CCCR_11}},
	{__LINE__, 0x370, {NO, NO, NO, CCCR_11, CCCR_11, CCCR_11}},
	{__LINE__, 0x371, {NO, NO, NO, CCCR_11, CCCR_11, CCCR_11}},
	{__LINE__, 0x372, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x38e, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x3a0, {NO, NO, NO, ESCR, ESCR, ESCR}}, /* 18.15.1, 18.16.1 */
	{__LINE__, 0x3b9, {NO, NO, NO, ESCR, ESCR, ESCR}},
	{__LINE__, 0x3ba, {NO, NO, NO, ESCR, NO, NO}}, /* IQ_ESCR0 and 1: models 0 to 2 */
	{__LINE__, 0x3bb, {NO, NO, NO, ESCR, NO, NO}},
	{__LINE__, 0x3bc, {NO, NO, NO, ESCR, ESCR, ESCR}},
	{__LINE__, 0x3be, {NO, NO, NO, ESCR, ESCR, ESCR}},
	{__LINE__, 0x3bf, {NO, NO, NO, NO, NO, NO}}, /* there is no SSU_ESCR1 */
	{__LINE__, 0x3c5, {NO, NO, NO, ESCR, ESCR, ESCR}},
	{__LINE__, 0x3c6, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x3c7, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x3cd, {NO, NO, NO, ESCR, ESCR, ESCR}},
	{__LINE__, 0x3ce, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x3e0, {NO, NO, NO, ESCR, ESCR, ESCR}},
	{__LINE__, 0x3e1, {NO, NO, NO, ESCR, ESCR, ESCR}},
	{__LINE__, 0x3e2, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x3f1, {NO, NO, NO, PEBS, PEBS, PEBS}}, /* 18.16.3, table 19-33 */
	{__LINE__, 0x3f0, {NO, NO, NO, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
	{__LINE__, 0x3f2, {NO, NO, NO, 0x13, 0x13, 0x13}},
	{__LINE__, 0x4c1, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x600, {NO, NO, IP, IP, IP, IP}}, /* 17.4.9 */
	{__LINE__, 0x67f, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x680, {NO, NO, NO, NO, IP, IP}}, /* 17.11.2 */
	{__LINE__, 0x68f, {NO, NO, NO, NO, IP, IP}},
	{__LINE__, 0x690, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x6c0, {NO, NO, NO, NO, IP, IP}},
	{__LINE__, 0x6cf, {NO, NO, NO, NO, IP, IP}},
	{__LINE__, 0x107cb, {NO, NO, NO, NO, NO, NO}},
	{__LINE__, 0x107cc, {NO, NO, NO, NO, NO, BUS}}, /* 18.20 */
	{__LINE__, 0x107d1, {NO, NO, NO, NO, NO, BUS}},
	{__LINE__, 0x107d2, {NO, NO, NO, NO, NO, UINT64_C(1) << 26}},
	{__LINE__, 0x107d3, {NO, NO, NO, NO, NO, ALL}},
	{__LINE__, 0x107d4, {NO, NO, NO, NO, NO, NO}},
};

/*
 * Checks 18.21: the registers of the L3 and caching bus controller. Only the Xeon 7400 series has
 * MSR_EMON_L3_GL_CTL.
 */
static void check_l3(void)
{
	static const char *const models[] = {"xeon-7100", "xeon-7400"};

	for (size_t i = 0; i < COUNT(models); i++) {
		struct unit_host host;

		host_create(&host, models[i], 1, SUPPLY_EXECUTION);
		for (uint32_t msr = 0x107cb; msr < 0x107da; msr++)
			CHECK_EQ(host_writable(&host, msr), msr >= 0x107cc && msr <= 0x107d3 ? BUS
							    : msr == 0x107d8 && i ? CONTROL
										  : NO);
		host_destroy(&host);
	}
}

static void check_masks(void)
{
	for (unsigned f = 0; f < FAMILIES; f++) {
		struct unit_host host;

		host_create(&host, families[f], 1, SUPPLY_EXECUTION);
		for (size_t i = 0; i < COUNT(masks); i++)
			if (!CHECK_ROW_EQ(masks[i].line, host_writable(&host, masks[i].msr),
					  masks[i].bits[f]))
				printf("  %s, MSR %x\n", families[f], masks[i].msr);
		host_destroy(&host);
	}
}

/*
 * Checks that the registers of a machine check (Vol. 3C 35.18) are not the unit's. The rest of the
 * range gives #GP.
 */
static void check_foreign(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t msr;
		enum spmu_outcome outcome;
	} rows[] = {
		{__LINE__, "netburst", 0x186, SPMU_NOT_OURS},
		{__LINE__, "cedar-mill", 0x18a, SPMU_NOT_OURS},
		{__LINE__, "prescott", 0x18b, SPMU_GP},
		{__LINE__, "netburst", 0x0c1, SPMU_GP},
		{__LINE__, "pentium", 0x186, SPMU_GP},
		{__LINE__, "pentium-iii", 0x188, SPMU_GP},
		{__LINE__, "pentium-iii", 0x300, SPMU_NOT_OURS},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;
		uint64_t value;

		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		CHECK_ROW_EQ(rows[i].line, spmu_read_msr(host.core, 0, rows[i].msr, &value),
			     rows[i].outcome);
		CHECK_ROW_EQ(rows[i].line, spmu_write_msr(host.core, 0, rows[i].msr, 0),
			     rows[i].outcome);
		host_destroy(&host);
	}
}

/* Returns how many registers of a model have the text in their name. */
static unsigned named(const struct spmu_model *model, const char *text)
{
	struct spmu_register reg;
	unsigned count = 0;

	for (size_t i = 0; spmu_register_at(model, i, &reg); i++)
		count += strstr(reg.name, text) != NULL;
	return count;
}

/* Checks 18.15: 18 counters, 18 CCCRs, 43 to 45 ESCRs, depending on the model. */
static void check_numbers(void)
{
	static const struct {
		int line;
		const char *model;
		unsigned counters, cccrs, escrs, branches;
	} rows[] = {
		{__LINE__, "netburst", 18, 18, 45, 4},
		{__LINE__, "prescott", 18, 18, 43, 32},
		{__LINE__, "prescott-2m", 18, 18, 43, 32},
		{__LINE__, "cedar-mill", 18, 18, 43, 32},
		{__LINE__, "xeon-7100", 18, 18, 43, 32},
		{__LINE__, "xeon-mp-8m-l3", 18, 18, 43, 32},
		{__LINE__, "pentium-m", 0, 0, 0, 8},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct spmu_model *model = spmu_model_find(rows[i].model);

		if (!CHECK_ROW(rows[i].line, model != NULL))
			continue;
		CHECK_ROW_EQ(rows[i].line, named(model, "_COUNTER"), rows[i].counters);
		CHECK_ROW_EQ(rows[i].line, named(model, "_CCCR"), rows[i].cccrs);
		CHECK_ROW_EQ(rows[i].line, named(model, "_ESCR"), rows[i].escrs);
		CHECK_ROW_EQ(rows[i].line, named(model, "MSR_LASTBRANCH_") - 1, rows[i].branches);
	}
}

/* Checks the ESCRs by name and address (table 18-63). */
static void check_escrs(void)
{
	static const struct {
		int line;
		uint32_t msr;
		const char *name;
	} rows[] = {
		{__LINE__, 0x3a0, "MSR_BSU_ESCR0"},   {__LINE__, 0x3a3, "MSR_FSB_ESCR1"},
		{__LINE__, 0x3a4, "MSR_FIRM_ESCR0"},  {__LINE__, 0x3a7, "MSR_FLAME_ESCR1"},
		{__LINE__, 0x3a8, "MSR_DAC_ESCR0"},   {__LINE__, 0x3ab, "MSR_MOB_ESCR1"},
		{__LINE__, 0x3ac, "MSR_PMH_ESCR0"},   {__LINE__, 0x3af, "MSR_SAAT_ESCR1"},
		{__LINE__, 0x3b0, "MSR_U2L_ESCR0"},   {__LINE__, 0x3b3, "MSR_BPU_ESCR1"},
		{__LINE__, 0x3b4, "MSR_IS_ESCR0"},    {__LINE__, 0x3b7, "MSR_ITLB_ESCR1"},
		{__LINE__, 0x3b8, "MSR_CRU_ESCR0"},   {__LINE__, 0x3ba, "MSR_IQ_ESCR0"},
		{__LINE__, 0x3bd, "MSR_RAT_ESCR1"},   {__LINE__, 0x3be, "MSR_SSU_ESCR0"},
		{__LINE__, 0x3c0, "MSR_MS_ESCR0"},    {__LINE__, 0x3c3, "MSR_TBPU_ESCR1"},
		{__LINE__, 0x3c4, "MSR_TC_ESCR0"},    {__LINE__, 0x3c9, "MSR_IX_ESCR1"},
		{__LINE__, 0x3ca, "MSR_ALF_ESCR0"},   {__LINE__, 0x3cc, "MSR_CRU_ESCR2"},
		{__LINE__, 0x3e1, "MSR_CRU_ESCR5"},   {__LINE__, 0x30c, "MSR_IQ_COUNTER0"},
		{__LINE__, 0x310, "MSR_IQ_COUNTER4"}, {__LINE__, 0x36b, "MSR_FLAME_CCCR3"},
	};
	const struct spmu_model *model = spmu_model_find("netburst");
	struct spmu_register reg;

	for (size_t r = 0; r < COUNT(rows); r++) {
		const char *name = "";

		for (size_t i = 0; spmu_register_at(model, i, &reg); i++)
			if (reg.msr == rows[r].msr)
				name = reg.name;
		if (!CHECK_ROW(rows[r].line, !strcmp(name, rows[r].name)))
			printf("  %x: %s\n", rows[r].msr, name);
	}
}

/* Checks what a guest finds after RESET (17.4.9, Vol. 3C 35.22). */
static void check_resets(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t msr;
		uint64_t value;
	} rows[] = {
		{__LINE__, "pentium-m", 0x1a0, 0x1080}, /* no PEBS */
		{__LINE__, "netburst", 0x1a0, 0x80},	{__LINE__, "prescott", 0x1a0, 0x80},
		{__LINE__, "netburst", 0x360, 0},	{__LINE__, "cedar-mill", 0x345, 0xc1},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, rows[i].msr), rows[i].value);
		host_destroy(&host);
	}
}

/*
 * Checks Vol. 2B RDPMC: Pentiums without MMX have no RDPMC; the numbers of the counters; ECX[31]
 * reads the low half of a NetBurst counter. The bus counters of the 64-bit Xeon MP come after the
 * others.
 */
static void check_rdpmc(void)
{
	static const struct {
		int line;
		const char *model;
		unsigned counters, fast;
	} rows[] = {
		{__LINE__, "pentium-mmx", 2, 0},     {__LINE__, "pentium-pro", 2, 0},
		{__LINE__, "pentium-iii", 2, 0},     {__LINE__, "pentium-m", 2, 0},
		{__LINE__, "netburst", 18, 18},	     {__LINE__, "cedar-mill", 18, 18},
		{__LINE__, "xeon-mp-8m-l3", 26, 26}, {__LINE__, "xeon-7100", 26, 26},
	};
	struct unit_host host;
	uint64_t value;

	for (size_t i = 0; i < COUNT(rows); i++) {
		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		for (uint32_t n = 0; n < 32; n++) {
			CHECK_ROW_EQ(rows[i].line,
				     spmu_rdpmc(host.core, 0, n, 0, false, true, &value),
				     n < rows[i].counters ? SPMU_DONE : SPMU_GP);
			CHECK_ROW_EQ(rows[i].line,
				     spmu_rdpmc(host.core, 0, 1u << 31 | n, 0, false, true, &value),
				     n < rows[i].fast ? SPMU_DONE : SPMU_GP);
			CHECK_ROW_EQ(rows[i].line,
				     spmu_rdpmc(host.core, 0, 1u << 30 | n, 0, false, true, &value),
				     SPMU_GP);
		}
		/* CR4.PCE, CPL, CR0.PE */
		CHECK_ROW_EQ(rows[i].line, spmu_rdpmc(host.core, 0, 0, 3, false, true, &value),
			     SPMU_GP);
		CHECK_ROW_EQ(rows[i].line, spmu_rdpmc(host.core, 0, 0, 3, true, true, &value),
			     SPMU_DONE);
		CHECK_ROW_EQ(rows[i].line, spmu_rdpmc(host.core, 0, 0, 3, false, false, &value),
			     SPMU_DONE);
		host_destroy(&host);
	}
	host_create(&host, "pentium", 1, SUPPLY_EXECUTION);
	CHECK_EQ(spmu_rdpmc(host.core, 0, 0, 0, false, true, &value), SPMU_UD);
	CHECK_EQ(spmu_rdpmc(host.core, 0, 0, 3, true, true, &value), SPMU_UD);
	host_destroy(&host);
}

/* Checks the fast form (18.15.2), and that it reads a bus counter's low half (18.20). */
static void check_fast(void)
{
	struct unit_host host;
	uint64_t value = 0;

	host_create(&host, "xeon-mp-8m-l3", 1, SUPPLY_EXECUTION);
	WRMSR(&host, 0x310, UINT64_C(0x1289abcdef));
	CHECK_EQ(spmu_rdpmc(host.core, 0, 16, 3, true, true, &value), SPMU_DONE);
	CHECK_EQ(value, UINT64_C(0x1289abcdef));
	CHECK_EQ(spmu_rdpmc(host.core, 0, 1u << 31 | 16, 3, true, true, &value), SPMU_DONE);
	CHECK_EQ(value, 0x89abcdef);
	WRMSR(&host, 0x107cd, UINT64_C(0x0123456789abcdef));
	CHECK_EQ(spmu_rdpmc(host.core, 0, 19, 3, true, true, &value), SPMU_DONE);
	CHECK_EQ(value, 0x89abcdef);
	host_destroy(&host);
}

/* Checks 18.22.2: P6's counters are written as 32 bits with their sign, the others as they are. */
static void check_counter_writes(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t msr;
		uint64_t read;
	} rows[] = {
		{__LINE__, "pentium", 0x12, UINT64_C(0x3489abcdef)},
		{__LINE__, "pentium-iii", 0xc2, UINT64_C(0xff89abcdef)},
		{__LINE__, "pentium-m", 0xc1, UINT64_C(0xff89abcdef)},
		{__LINE__, "netburst", 0x30c, UINT64_C(0x3489abcdef)},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 1, SUPPLY_EXECUTION);
		WRMSR(&host, rows[i].msr, UINT64_C(0xffffff3489abcdef));
		CHECK_ROW_EQ(rows[i].line, RDMSR(&host, rows[i].msr), rows[i].read);
		host_destroy(&host);
	}
}

/* Checks Vol. 3C 35.1: what IA32_MISC_ENABLE tells of the unit cannot be written. */
static void check_misc_enable(void)
{
	static const char *const models[] = {"pentium-m", "netburst", "prescott", "cedar-mill"};

	for (size_t i = 0; i < COUNT(models); i++) {
		struct unit_host host;

		host_create(&host, models[i], 1, SUPPLY_EXECUTION);
		for (unsigned pass = 0; pass < 2; pass++) {
			CHECK_EQ(RDMSR(&host, MISC_ENABLE) & 0x1880, i ? 0x80 : 0x1080);
			WRMSR(&host, MISC_ENABLE, pass ? 0 : 0x1880);
		}
		host_destroy(&host);
	}
}

int main(void)
{
	RUN(check_masks());
	RUN(check_l3());
	RUN(check_foreign());
	RUN(check_numbers());
	RUN(check_escrs());
	RUN(check_resets());
	RUN(check_rdpmc());
	RUN(check_fast());
	RUN(check_counter_writes());
	RUN(check_misc_enable());
	return test_summary();
}
