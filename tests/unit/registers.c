/* SPDX-License-Identifier: MIT */
/*
 * registers.c: compares each bit of each register of each model with the field lists. A bit can
 * be written and read back, is refused if it is reserved, and is kept if it is read-only. The
 * values after RESET and INIT are compared, too (Vol. 3B 18.2, Vol. 3A table 9-1).
 * register_masks.c compares the lists with numbers.
 */
#include "src/pmu/msr.h"
#include "tests/unit/unit_host.h"

#define REGISTERS_MAX 200

/* Returns the general counter that a register or its bit belongs to, or -1. */
static int general_counter(const char *name)
{
	static const char *const registers[] = {"IA32_PMC", "IA32_A_PMC", "IA32_PERFEVTSEL"};
	const char *bit = strstr(name, "_PMC");

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (!strncmp(name, registers[i], strlen(registers[i])))
			return atoi(name + strlen(registers[i]));
	return bit && strncmp(name, "PEBS_EN", 7) && strncmp(name, "LL_EN", 5) ? atoi(bit + 4) : -1;
}

/* Returns true for counters that the other thread has now (18.2.1). */
static bool absent(const struct unit_host *host, const struct spmu_model_info *info,
		   const char *name)
{
	int general = host->threads == 2 ? info->counters_ht : info->counters_single;

	return name && general_counter(name) >= general;
}

static bool read_only(const struct spmu_register *reg)
{
	return reg->msr == STATUS || reg->msr == INUSE || reg->msr == CAPABILITIES ||
	       !strncmp(reg->name, "MSR_LER_", 8) || !strncmp(reg->name, "IA32_LER_", 9) ||
	       !strncmp(reg->name, "LastException", 13);
}

/*
 * Returns true for a sign bit. An address must be canonical, so no bit from 47 up can be set alone.
 */
static bool is_sign(const struct spmu_field *field, unsigned bit)
{
	return field->name && !strcmp(field->name, "ADDRESS") && field->width > 48 && bit >= 47;
}

static uint64_t width_mask(unsigned bits)
{
	return (UINT64_C(1) << bits) - 1;
}

/* Checks that the list covers 64 bits in order, without a gap. */
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

static void check_bit(struct unit_host *host, const struct spmu_model_info *info,
		      const struct spmu_register *reg, const struct spmu_field *field, unsigned bit)
{
	uint64_t before = RDMSR(host, reg->msr), after;
	bool depth = !strcmp(reg->name, "IA32_LBR_DEPTH");
	enum spmu_outcome outcome = spmu_write_msr(host->core, 0, reg->msr, UINT64_C(1) << bit);
	bool reserved = field->access == SPMU_RESERVED || read_only(reg) ||
			absent(host, info, field->name) || is_sign(field, bit) ||
			(depth && bit != 3 && bit != 4 && bit != 5); /* 8, 16 and 32 entries */
	bool good;

	good = CHECK_EQ(outcome, reserved ? SPMU_GP : SPMU_DONE);
	after = RDMSR(host, reg->msr);
	if (reserved)
		good &= CHECK_EQ(after, before);
	else if (reg->msr >= PMC0 && reg->msr < PMC0 + 10 && bit == 31) /* 18.2.5 */
		good &= CHECK_EQ(after, width_mask(info->counter_bits) & ~UINT64_C(0x7fffffff));
	else if (field->access == SPMU_RW || field->access == SPMU_IGNORED)
		good &= CHECK_EQ(after,
				 (UINT64_C(1) << bit) | (reg->msr == MISC_ENABLE ? reg->reset : 0));
	else if (field->access == SPMU_RO)
		good &= CHECK_EQ(after, reg->reset);
	else
		good &= CHECK_EQ(after, 0);
	if (depth) /* the entries that it takes away are to be checked, too */
		WRMSR(host, reg->msr, reg->reset);
	if (!good)
		printf("  %s %s bit %u\n", info->name, reg->name, bit);
}

static void check_register(struct unit_host *host, const struct spmu_model_info *info,
			   const struct spmu_register *reg)
{
	check_cover(reg);
	if (!strcmp(reg->name, "MSR_PERF_METRICS")) /* shares of 255 slots are exact */
		WRMSR(host, FIXED0 + 3, 255);
	if (absent(host, info, reg->name)) {
		uint64_t value = 7;

		CHECK_EQ(spmu_read_msr(host->core, 0, reg->msr, &value), SPMU_GP);
		CHECK_EQ(value, 7);
		CHECK_EQ(spmu_write_msr(host->core, 0, reg->msr, 0), SPMU_GP);
		return;
	}
	for (size_t i = 0; i < reg->field_count; i++)
		for (unsigned b = 0; b < reg->fields[i].width; b++)
			check_bit(host, info, reg, &reg->fields[i], reg->fields[i].low + b);
}

static void check_reset(struct unit_host *host, const struct spmu_model *model)
{
	struct spmu_model_info info = spmu_model_describe(model);
	struct spmu_register reg;
	unsigned general = host->threads == 2 ? info.counters_ht : info.counters_single;

	for (size_t i = 0; spmu_register_at(model, i, &reg); i++) {
		if (absent(host, &info, reg.name))
			continue;
		/* 18.2.2: general counters are enabled */
		if (!CHECK_EQ(RDMSR(host, reg.msr),
			      reg.msr == GLOBAL_CTRL ? width_mask(general) : reg.reset))
			printf("  %s %s\n", info.name, reg.name);
	}
	CHECK_EQ(spmu_read_lvt(host->core, 0), 0x10000);
}

/* Returns the lowest bit that software can set, or 0. */
static uint64_t lowest_bit(const struct spmu_register *reg)
{
	if (!strcmp(reg->name, "IA32_LBR_DEPTH"))
		return reg->reset;
	for (size_t i = 0; i < reg->field_count; i++)
		if (reg->fields[i].access == SPMU_RW)
			return UINT64_C(1) << reg->fields[i].low;
	return 0;
}

/*
 * Checks INIT and RESET. INIT keeps all registers except those that record into the DS save area
 * (17.4.9). RESET keeps none.
 */
static void check_init(struct unit_host *host, const struct spmu_model *model)
{
	struct spmu_model_info info = spmu_model_describe(model);
	uint64_t before[REGISTERS_MAX] = {0};
	struct spmu_register reg;
	unsigned changed = 0;

	for (size_t i = 0; spmu_register_at(model, i, &reg); i++)
		if (!absent(host, &info, reg.name) && !read_only(&reg))
			WRMSR(host, reg.msr, lowest_bit(&reg));
	for (size_t i = 0; spmu_register_at(model, i, &reg) && CHECK(i < REGISTERS_MAX); i++) {
		before[i] = absent(host, &info, reg.name) ? 0 : RDMSR(host, reg.msr);
		changed += before[i] != reg.reset;
	}
	CHECK(changed >= 3);
	spmu_write_lvt(host->core, 0, LVT_NMI);
	spmu_init(host->core, 0);
	for (size_t i = 0; spmu_register_at(model, i, &reg); i++) {
		if (reg.msr == PEBS_ENABLE && !info.shared)
			before[i] = 0;
		if (!strcmp(reg.name, "IA32_LBR_CTL"))
			before[i] = 0; /* LBREn */
		if (strcmp(reg.name, "IA32_PERF_GLOBAL_INUSE") == 0)
			before[i] &= ~(UINT64_C(1) << 63); /* PMI_InUse was PEBS's (18.2.4.3) */
		if (!absent(host, &info, reg.name) && !CHECK_EQ(RDMSR(host, reg.msr), before[i]))
			printf("  %s %s\n", info.name, reg.name);
	}
	CHECK_EQ(spmu_read_lvt(host->core, 0), 0x10000);
	spmu_reset(host->core, 0);
	check_reset(host, model);
}

/* Checks the registers that act on others (18.2.4.2 and 18.2.4.3). */
static void check_computed(struct unit_host *host)
{
	WRMSR(host, STATUS_SET, UINT64_C(0x7c80000700000003));
	CHECK_EQ(RDMSR(host, STATUS), UINT64_C(0x7c80000700000003));
	WRMSR(host, STATUS_RESET, UINT64_C(0x0480000200000001));
	CHECK_EQ(RDMSR(host, STATUS), UINT64_C(0x7800000500000002));
	WRMSR(host, STATUS_SET, CHANGED);
	CHECK_EQ(RDMSR(host, STATUS), UINT64_C(0xf800000500000002));
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
	WRMSR(host, PEBS_ENABLE, 1);
	CHECK_EQ(RDMSR(host, INUSE), UINT64_C(1) << 63);
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
		{__LINE__, UINT64_C(0xdeadbeef00000001), 1}, /* EDX is ignored */
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
}

/*
 * Checks that each register has its own slot. A role without a row would share that of counter 0.
 * From 1900H on there are further addresses of the same registers.
 */
static void check_slots(const struct spmu_model *model)
{
	bool used[SLOT_COUNT] = {false};

	for (size_t i = 0; i < model->msrs->count; i++) {
		enum slot slot = msr_slot(&model->msrs->msr[i]);

		if (slot == SLOT_NONE || model->msrs->msr[i].address >= 0x1900)
			continue;
		if (!CHECK(!used[slot]))
			printf("  %s\n", model->msrs->msr[i].name);
		used[slot] = true;
	}
}

static void check_model(const struct spmu_model *model, unsigned threads)
{
	struct spmu_model_info info = spmu_model_describe(model);
	struct spmu_register reg;
	struct unit_host host;
	uint32_t last = 0;
	size_t count = 0;

	host_create(&host, info.name, threads, SUPPLY_EXECUTION);
	check_slots(model);
	check_reset(&host, model);
	for (; spmu_register_at(model, count, &reg); count++) {
		CHECK(count == 0 || reg.msr > last); /* in order of address */
		last = reg.msr;
		check_register(&host, &info, &reg);
		spmu_reset(host.core, 0);
	}
	CHECK(count >= 3);
	if (info.perfmon_version >= 4) {
		check_computed(&host);
		check_counter_writes(&host);
		spmu_reset(host.core, 0);
	}
	check_init(&host, model);
	host_destroy(&host);
}

int main(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++)
		for (unsigned threads = 1; threads <= 2; threads++)
			RUN(check_model(spmu_model_at(m), threads));
	return test_summary();
}
