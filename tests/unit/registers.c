/* SPDX-License-Identifier: MIT */
/*
 * registers.c: each bit of each register against the field lists: written and read back,
 * refused when reserved, kept when read-only, and the values after RESET and INIT
 * (Vol. 3B 18.2, Vol. 3A table 9-1).
 */
#include "tests/unit/unit_host.h"

static bool counter_absent(const char *name, const struct unit_host *host)
{
	const char *digits = strpbrk(name, "01234567");

	/* PMC4 to PMC7 and what belongs to them are there with one thread only. */
	return host->threads == 2 && digits && digits[1] == 0 && digits[0] >= '4' &&
	       strstr(name, "FIXED") == NULL && strstr(name, "MSR_") == NULL;
}

static bool register_absent(const char *name, const struct unit_host *host)
{
	return (!strncmp(name, "IA32_PMC", 8) || !strncmp(name, "IA32_A_PMC", 10) ||
		!strncmp(name, "IA32_PERFEVTSEL", 15)) &&
	       name[strlen(name) - 1] >= '4' && host->threads == 2;
}

static bool read_only(uint32_t msr)
{
	return msr == STATUS || msr == INUSE || msr == CAPABILITIES || msr == LER_FROM ||
	       msr == LER_TO;
}

/* The whole register is a canonical address. */
static bool canonical(uint32_t msr)
{
	return msr == DS_AREA_MSR || (msr >= LBR_FROM && msr < LBR_FROM + 32) ||
	       (msr >= LBR_TO && msr < LBR_TO + 32);
}

/* The list covers 64 bits in order, without gap. */
static void check_cover(const struct spmu_register *reg)
{
	unsigned next = 0;

	for (size_t i = 0; i < reg->field_count; i++) {
		const struct spmu_field *field = &reg->fields[i];

		CHECK_EQ(field->low, next);
		CHECK(field->width > 0);
		CHECK((field->access == SPMU_RESERVED) == (field->name == NULL));
		CHECK(field->meaning && field->meaning[0]);
		CHECK(field->name == NULL || field->section != NULL);
		next = field->low + field->width;
	}
	CHECK_EQ(next, 64);
}

static void check_bit(struct unit_host *host, const struct spmu_register *reg,
		      const struct spmu_field *field, unsigned bit)
{
	uint64_t before = RDMSR(host, reg->msr), after;
	enum spmu_outcome outcome = spmu_write_msr(host->core, 0, reg->msr, UINT64_C(1) << bit);
	bool reserved = field->access == SPMU_RESERVED || read_only(reg->msr) ||
			(field->width == 1 && counter_absent(field->name, host));

	if (canonical(reg->msr)) { /* bits 47 up are one */
		CHECK_EQ(outcome, bit < 47 ? SPMU_DONE : SPMU_GP);
		return;
	}
	CHECK_EQ(outcome, reserved ? SPMU_GP : SPMU_DONE);
	after = RDMSR(host, reg->msr);
	if (reserved)
		CHECK_EQ(after, before);
	else if (field->access == SPMU_RW && reg->msr >= PMC0 && reg->msr < PMC0 + 8 && bit == 31)
		CHECK_EQ(after, MAX48 & ~UINT64_C(0x7fffffff)); /* 18.2.5 */
	else if (field->access == SPMU_RW || field->access == SPMU_IGNORED)
		CHECK_EQ(after,
			 (UINT64_C(1) << bit) | (reg->msr == MISC_ENABLE ? UINT64_C(0x80) : 0));
	else if (field->access == SPMU_RO)
		CHECK_EQ(after, reg->reset);
	else
		CHECK_EQ(after, 0);
}

static void check_register(struct unit_host *host, const struct spmu_register *reg)
{
	check_cover(reg);
	if (register_absent(reg->name, host)) {
		uint64_t value = 7;

		CHECK_EQ(spmu_read_msr(host->core, 0, reg->msr, &value), SPMU_GP);
		CHECK_EQ(value, 7);
		CHECK_EQ(spmu_write_msr(host->core, 0, reg->msr, 0), SPMU_GP);
		return;
	}
	for (size_t i = 0; i < reg->field_count; i++)
		for (unsigned b = 0; b < reg->fields[i].width; b++)
			check_bit(host, reg, &reg->fields[i], reg->fields[i].low + b);
}

static void check_reset(struct unit_host *host)
{
	struct spmu_register reg;
	uint64_t general = host->threads == 2 ? 0x0f : 0xff;

	for (size_t i = 0; spmu_register_at(spmu_model_find("skylake"), i, &reg); i++) {
		if (register_absent(reg.name, host))
			continue;
		CHECK_EQ(RDMSR(host, reg.msr),
			 reg.msr == GLOBAL_CTRL ? reg.reset & general : reg.reset);
	}
	CHECK_EQ(RDMSR(host, GLOBAL_CTRL), general); /* 18.2.2: general counters enabled */
	CHECK_EQ(RDMSR(host, CAPABILITIES), 0x33c5);
	CHECK_EQ(spmu_read_lvt(host->core, 0), 0x10000);
}

static void check_init(struct unit_host *host)
{
	WRMSR(host, EVTSEL0, 0x5300c0);
	WRMSR(host, A_PMC0, 0x123456789abc);
	WRMSR(host, STATUS_SET, 5);
	spmu_write_lvt(host->core, 0, LVT_NMI);
	spmu_init(host->core, 0);
	CHECK_EQ(RDMSR(host, EVTSEL0), 0x5300c0);
	CHECK_EQ(RDMSR(host, PMC0), 0x123456789abc);
	CHECK_EQ(RDMSR(host, STATUS), 5);
	CHECK_EQ(spmu_read_lvt(host->core, 0), 0x10000);
	spmu_reset(host->core, 0);
	check_reset(host);
}

/* 18.2.4.2 and 18.2.4.3: the registers that act on others. */
static void check_computed(struct unit_host *host)
{
	WRMSR(host, STATUS_SET, UINT64_C(0x7c80000700000003));
	CHECK_EQ(RDMSR(host, STATUS), UINT64_C(0x7c80000700000003));
	WRMSR(host, STATUS_RESET, UINT64_C(0x0480000200000001));
	CHECK_EQ(RDMSR(host, STATUS), UINT64_C(0x7800000500000002));
	CHECK_EQ(spmu_write_msr(host->core, 0, STATUS_SET, UINT64_C(1) << 63), SPMU_GP);
	WRMSR(host, STATUS_RESET, UINT64_C(0xfc80000700000003));
	CHECK_EQ(RDMSR(host, STATUS), 0);

	CHECK_EQ(RDMSR(host, INUSE), 0);
	WRMSR(host, EVTSEL0 + 1, 0xc4);
	CHECK_EQ(RDMSR(host, INUSE), 2);
	WRMSR(host, EVTSEL0 + 1, 0xff00); /* bits 7:0 decide */
	CHECK_EQ(RDMSR(host, INUSE), 0);
	WRMSR(host, EVTSEL0 + 1, SELECT_INT);
	CHECK_EQ(RDMSR(host, INUSE), UINT64_C(1) << 63);
	WRMSR(host, EVTSEL0 + 1, 0);
	WRMSR(host, FIXED_CTRL, 0x020);
	CHECK_EQ(RDMSR(host, INUSE), UINT64_C(2) << 32);
	WRMSR(host, FIXED_CTRL, 0x800);
	CHECK_EQ(RDMSR(host, INUSE), UINT64_C(1) << 63);
	WRMSR(host, FIXED_CTRL, 0);
	WRMSR(host, PEBS_ENABLE, 8);
	CHECK_EQ(RDMSR(host, INUSE), UINT64_C(1) << 63);
	WRMSR(host, PEBS_ENABLE, UINT64_C(0xf00000000)); /* load latency alone is no PMI */
	CHECK_EQ(RDMSR(host, INUSE), 0);
	WRMSR(host, PEBS_ENABLE, 0);
}

static void check_counter_writes(struct unit_host *host)
{
	static const struct {
		int line;
		uint64_t written, read;
	} rows[] = {
		{__LINE__, 0, 0},
		{__LINE__, 0x7fffffff, 0x7fffffff},
		{__LINE__, 0x80000000, 0xffff80000000},
		{__LINE__, 0xffffffff, MAX48},
		{__LINE__, UINT64_C(0xdeadbeef00000001), 1}, /* EDX is not looked at */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		WRMSR(host, PMC0 + 2, rows[i].written);
		CHECK_ROW_EQ(rows[i].line, RDMSR(host, PMC0 + 2), rows[i].read);
		CHECK_ROW_EQ(rows[i].line, RDMSR(host, A_PMC0 + 2), rows[i].read);
	}
	WRMSR(host, A_PMC0 + 2, MAX48);
	CHECK_EQ(spmu_write_msr(host->core, 0, A_PMC0 + 2, MAX48 + 1), SPMU_GP);
	CHECK_EQ(spmu_write_msr(host->core, 0, FIXED0, MAX48 + 1), SPMU_GP);
	CHECK_EQ(RDMSR(host, PMC0 + 2), MAX48);
	WRMSR(host, DS_AREA_MSR, UINT64_C(0xffff800000000000));
	CHECK_EQ(spmu_write_msr(host->core, 0, DS_AREA_MSR, UINT64_C(0x800000000000)), SPMU_GP);
	CHECK_EQ(spmu_write_msr(host->core, 0, DS_AREA_MSR, UINT64_C(0xffff7fffffffffff)), SPMU_GP);
	/* IN_TXCP is for IA32_PERFEVTSEL2 alone (18.11.5). */
	WRMSR(host, EVTSEL0 + 2, UINT64_C(1) << 33);
	CHECK_EQ(spmu_write_msr(host->core, 0, EVTSEL0 + 1, UINT64_C(1) << 33), SPMU_GP);
}

/* #GP for what could be the unit's but is not there; the rest is another's. */
static void check_outside(struct unit_host *host)
{
	static const struct {
		int line;
		uint32_t msr;
		enum spmu_outcome outcome;
	} rows[] = {
		{__LINE__, 0x30c, SPMU_GP},	  {__LINE__, 0x3f2, SPMU_GP},
		{__LINE__, 0x329, SPMU_GP},	  {__LINE__, 0x10, SPMU_NOT_OURS},
		{__LINE__, 0xc0, SPMU_NOT_OURS},  {__LINE__, 0xc9, SPMU_NOT_OURS},
		{__LINE__, 0x185, SPMU_NOT_OURS}, {__LINE__, 0x18e, SPMU_NOT_OURS},
		{__LINE__, 0x1c7, SPMU_NOT_OURS}, {__LINE__, 0x1ca, SPMU_NOT_OURS},
		{__LINE__, 0x67f, SPMU_NOT_OURS}, {__LINE__, 0x6a0, SPMU_NOT_OURS},
		{__LINE__, 0x6e0, SPMU_NOT_OURS}, {__LINE__, 0xdbf, SPMU_NOT_OURS},
		{__LINE__, 0xde0, SPMU_NOT_OURS}, {__LINE__, 0x040, SPMU_GP},
		{__LINE__, 0x060, SPMU_GP},	  {__LINE__, 0x393, SPMU_NOT_OURS},
		{__LINE__, 0x3f8, SPMU_NOT_OURS}, {__LINE__, 0xffffffff, SPMU_NOT_OURS},
		{__LINE__, 0x601, SPMU_NOT_OURS},
	};
	uint64_t value;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_ROW_EQ(rows[i].line, spmu_read_msr(host->core, 0, rows[i].msr, &value),
			     rows[i].outcome);
		CHECK_ROW_EQ(rows[i].line, spmu_write_msr(host->core, 0, rows[i].msr, 0),
			     rows[i].outcome);
	}
}

int main(void)
{
	for (unsigned threads = 1; threads <= 2; threads++) {
		struct unit_host host;
		struct spmu_register reg;
		uint32_t last = 0;
		size_t count = 0;

		host_create(&host, "skylake", threads, SUPPLY_EXECUTION);
		check_reset(&host);
		for (; spmu_register_at(spmu_model_find("skylake"), count, &reg); count++) {
			CHECK(reg.msr > last); /* in order of address */
			last = reg.msr;
			check_register(&host, &reg);
			spmu_reset(host.core, 0);
		}
		CHECK(count > 30);
		check_computed(&host);
		check_counter_writes(&host);
		check_outside(&host);
		spmu_reset(host.core, 0);
		check_init(&host);
		host_destroy(&host);
	}
	return test_summary();
}
