/* SPDX-License-Identifier: MIT */
/*
 * perf_event.c: events that programs open, as far as the processor that runs them does not matter:
 * the checks of perf_event_open(2), the counters of each model, groups, times and layouts.
 *
 * The expected errors are those of the manual page and of Linux 6.1 (kernel/events/core.c,
 * arch/x86/events/core.c), read there, not computed here.
 */
#include "driver_host.h"

#include <errno.h>
#include <hosts/user/perf_event/perf_attr.h>
#include <hosts/user/perf_event/perf_branches.h>
#include <hosts/user/perf_event/perf_read.h>
#include <hosts/user/perf_event/perf_select.h>
#include <hosts/user/perf_event/perf_state.h>

#define GROUP_MAX 40

static struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.type = type,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/* --- the size of the structure --- */

static void sizes(void)
{
	uint8_t bytes[sizeof(struct perf_event_attr) + 8] = {0};
	struct perf_event_attr in = attr_of(PERF_TYPE_RAW, 0xc0), out;

	CHECK_EQ(perf_attr_bytes(0), PERF_ATTR_SIZE_VER0);
	CHECK_EQ(perf_attr_bytes(PERF_ATTR_SIZE_VER0 - 1), -E2BIG);
	CHECK_EQ(perf_attr_bytes(PERF_ATTR_SIZE_VER1), PERF_ATTR_SIZE_VER1);
	CHECK_EQ(perf_attr_bytes(4096), 4096);
	CHECK_EQ(perf_attr_bytes(4097), -E2BIG);
	in.config2 = 7;
	memcpy(bytes, &in, sizeof(in));
	CHECK_EQ(perf_attr_take(&out, bytes, sizeof(bytes)), 0);
	CHECK_EQ(out.config2, 7);
	CHECK_EQ(perf_attr_take(&out, bytes, PERF_ATTR_SIZE_VER0), 0);
	CHECK_EQ(out.config2, 0);
	CHECK_EQ(out.config, 0xc0);
	bytes[sizeof(bytes) - 1] = 1;
	CHECK_EQ(perf_attr_take(&out, bytes, sizeof(bytes)), -E2BIG);
}

/* --- arguments --- */

/* Each row changes one event that is right.  `value` is added to a field by its offset, or a bit of
 * the flags is changed. */
struct wrong {
	int line;
	size_t offset;
	uint64_t value;
	unsigned bytes;
	long result;
};
#define FIELD(name, value, result)                                                                 \
	{                                                                                          \
		__LINE__, offsetof(struct perf_event_attr, name), value,                           \
			sizeof(((struct perf_event_attr *)0)->name), result                        \
	}
#define FLAG(bit, result)                                                                          \
	{                                                                                          \
		__LINE__, offsetof(struct perf_event_attr, read_format) + 8, UINT64_C(1) << (bit), \
			8, result                                                                  \
	}

static void arguments(void)
{
	static const struct wrong rows[] = {
		FIELD(config, 0, 0),
		FIELD(sample_type, PERF_SAMPLE_MAX, -EINVAL),
		FIELD(sample_type, PERF_SAMPLE_IP, 0),
		FIELD(sample_type, PERF_SAMPLE_READ, 0),
		FIELD(read_format, PERF_FORMAT_MAX, -EINVAL),
		FIELD(read_format, PERF_FORMAT_GROUP, 0),
		FIELD(sample_period, UINT64_C(1) << 63, -EINVAL),
		FIELD(sample_period, (UINT64_C(1) << 63) - 1, 0),
		FIELD(sample_type, PERF_SAMPLE_PHYS_ADDR, -EACCES),
		FIELD(sample_type, PERF_SAMPLE_REGS_USER, -EINVAL), /* of no registers */
		FIELD(sample_type, PERF_SAMPLE_REGS_INTR, -EINVAL),
		FIELD(sample_type, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, -EINVAL),
		FIELD(sample_type, PERF_SAMPLE_BRANCH_STACK, -EINVAL), /* of no kind */
		FIELD(__reserved_2, 1, -EINVAL),
		FIELD(__reserved_3, 1, -EINVAL),
		FLAG(0, 0),	   /* disabled */
		FLAG(1, 0),	   /* inherit */
		FLAG(5, -EACCES),  /* not exclude_kernel */
		FLAG(27, 0),	   /* write_backward */
		FLAG(28, -EACCES), /* namespaces */
		FLAG(29, 0),	   /* ksymbol */
		FLAG(35, -EINVAL), /* inherit_thread without inherit */
		FLAG(36, 0),	   /* remove_on_exec */
		FLAG(37, -EINVAL), /* sigtrap without it */
		FLAG(38, -EINVAL), /* the first that means nothing */
		FLAG(63, -EINVAL),
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct wrong *row = &rows[i];
		struct perf_event_attr attr = attr_of(PERF_TYPE_HARDWARE, 1);
		uint64_t field = 0;

		memcpy(&field, (uint8_t *)&attr + row->offset, row->bytes);
		field ^= row->value;
		memcpy((uint8_t *)&attr + row->offset, &field, row->bytes);
		CHECK_ROW_EQ(row->line, perf_attr_check(&attr), row->result);
	}
}

/* What several fields say together. */
static void combinations(void)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_HARDWARE, 1);

	attr.freq = 1;
	attr.sample_freq = PERF_ATTR_MAX_RATE + 1;
	CHECK_EQ(perf_attr_check(&attr), -EINVAL);
	attr.sample_freq = PERF_ATTR_MAX_RATE;
	CHECK_EQ(perf_attr_check(&attr), 0);
	CHECK_EQ(attr.sample_max_stack, PERF_ATTR_MAX_STACK);

	attr = attr_of(PERF_TYPE_HARDWARE, 1);
	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_READ;
	CHECK_EQ(perf_attr_check(&attr), -EINVAL);
	attr.read_format = PERF_FORMAT_GROUP;
	attr.sample_type = 0;
	CHECK_EQ(perf_attr_check(&attr), 0);

	attr.remove_on_exec = attr.enable_on_exec = 1;
	CHECK_EQ(perf_attr_check(&attr), -EINVAL);
	attr.enable_on_exec = 0;
	CHECK_EQ(perf_attr_check(&attr), 0);
	attr.inherit_thread = attr.sigtrap = 1;
	CHECK_EQ(perf_attr_check(&attr), 0);
	attr.remove_on_exec = 0;
	CHECK_EQ(perf_attr_check(&attr), -EINVAL);

	attr = attr_of(PERF_TYPE_HARDWARE, 1);
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	CHECK_EQ(perf_attr_check(&attr), 0);
	CHECK_EQ(attr.branch_sample_type, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER);
	attr.branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
	CHECK_EQ(perf_attr_check(&attr), -EACCES);
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_MAX;
	CHECK_EQ(perf_attr_check(&attr), -EINVAL);

	attr = attr_of(PERF_TYPE_HARDWARE, 1);
	attr.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 0xff0fff;
	attr.sample_stack_user = 65528;
	CHECK_EQ(perf_attr_check(&attr), 0);
	attr.sample_stack_user = 65532;
	CHECK_EQ(perf_attr_check(&attr), -EINVAL);
	attr.sample_stack_user = 8;
	attr.sample_regs_user = 1 << 12; /* DS */
	CHECK_EQ(perf_attr_check(&attr), -EINVAL);
	/* A wrong structure comes before a lack of rights. */
	attr.exclude_kernel = 0;
	CHECK_EQ(perf_attr_check(&attr), -EINVAL);
}

static void calls(void)
{
	CHECK_EQ(perf_attr_check_call(0, -1, 0), 0);
	CHECK_EQ(perf_attr_check_call(0, -1, PERF_FLAG_FD_CLOEXEC), 0);
	CHECK_EQ(perf_attr_check_call(0, -1, 1 << 4), -EINVAL);
	CHECK_EQ(perf_attr_check_call(-1, 0, PERF_FLAG_PID_CGROUP), -EINVAL);
	CHECK_EQ(perf_attr_check_call(3, -1, PERF_FLAG_PID_CGROUP), -EINVAL);
	CHECK_EQ(perf_attr_check_call(3, 0, PERF_FLAG_PID_CGROUP), 0);
}

/* --- what a counter is programmed with --- */

static const struct perf_supply exact = {.unit.exact = SPMU_SIGSET_ARCHITECTURAL};

static long select_on(const char *name, uint32_t type, uint64_t config,
		      struct spmu_request *request)
{
	struct perf_event_attr attr = attr_of(type, config);

	return perf_select(spmu_model_find(name), &exact, &attr, request);
}

static void selection(void)
{
	static const struct {
		int line;
		const char *model;
		uint32_t type;
		uint64_t config;
		long result;
		uint64_t select; /* if it can be counted */
	} rows[] = {
		{__LINE__, "skylake", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0x100c0},
		{__LINE__, "skylake", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0,
		 0x100c4},
		{__LINE__, "skylake", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -ENOENT, 0},
		{__LINE__, "skylake", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, -ENOENT, 0},
		{__LINE__, "skylake", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
		 -ENOENT, 0},
		{__LINE__, "skylake", PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX, -EINVAL, 0},
		{__LINE__, "skylake", PERF_TYPE_RAW, 0x82d0, 0, 0x182d0},
		{__LINE__, "skylake", PERF_TYPE_RAW, 0x10000c0, 0, 0x10100c0},	 /* CMASK 1 */
		{__LINE__, "skylake", PERF_TYPE_RAW, 0xff5300c0, 0, 0xff0100c0}, /* EN, INT, OS */
		{__LINE__, "skylake", PERF_TYPE_RAW, 0x2000c0, -EACCES, 0},	 /* ANY */
		{__LINE__, "skylake", PERF_TYPE_RAW, 0xfffe, -ENOENT, 0},
		{__LINE__, "skylake", PERF_TYPE_HW_CACHE, 0, 0, 0x181d0}, /* L1D, read, access */
		{__LINE__, "skylake", PERF_TYPE_HW_CACHE, 0x100, 0, 0x182d0},
		{__LINE__, "skylake", PERF_TYPE_HW_CACHE, 0x10000, -ENOENT, 0}, /* misses */
		{__LINE__, "skylake", PERF_TYPE_HW_CACHE, 0x7, -EINVAL, 0},
		{__LINE__, "skylake", PERF_TYPE_HW_CACHE, 0x300, -EINVAL, 0},
		{__LINE__, "skylake", PERF_TYPE_HW_CACHE, 0x20000, -EINVAL, 0},
		{__LINE__, "skylake", PERF_TYPE_SOFTWARE, 0, -ENOENT, 0},
		{__LINE__, "nehalem", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0x100c0},
		{__LINE__, "p6", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0x100c0},
		{__LINE__, "p6", PERF_TYPE_RAW, 0x2000c0, -EINVAL, 0},
		{__LINE__, "pentium", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0x10000},
		{__LINE__, "pentium", PERF_TYPE_RAW, 0x16, -ENOENT, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct spmu_request request = {0};

		CHECK_ROW_EQ(rows[i].line,
			     select_on(rows[i].model, rows[i].type, rows[i].config, &request),
			     rows[i].result);
		if (!rows[i].result)
			CHECK_ROW_EQ(rows[i].line, request.select, rows[i].select);
	}
}

/* --- samples --- */

static long precise(const char *model, unsigned level, struct spmu_request *request)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	attr.precise_ip = level & 3;
	attr.sample_period = 1000;
	return perf_select(spmu_model_find(model), &exact, &attr, request);
}

static long branches(const char *model, uint64_t filter)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct spmu_request request;

	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = filter;
	return perf_select(spmu_model_find(model), &exact, &attr, &request);
}

static void sampling(void)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	const struct spmu_model *model = spmu_model_find("skylake");
	struct spmu_request request;

	attr.precise_ip = 2;
	CHECK_EQ(perf_select(model, &exact, &attr, &request), -EINVAL);
	attr.sample_period = 1000;
	CHECK_EQ(perf_select(model, &exact, &attr, &request), 0);
	CHECK_EQ(request.period, 1000);
	CHECK(request.precise);
	CHECK_EQ(request.fixed, -1); /* has no PEBS */
	attr.context_switch = 1;
	CHECK_EQ(perf_select(model, &exact, &attr, &request), -EOPNOTSUPP);
	attr.type = PERF_TYPE_SOFTWARE;
	CHECK_EQ(perf_select(model, &exact, &attr, &request), -ENOENT);
	/* PEBS, records with the instruction's address, precise distribution (18.9.4.4). */
	CHECK_EQ(precise("skylake", 3, &request), 0);
	CHECK_EQ(precise("nehalem", 2, &request), 0);
	CHECK_EQ(precise("nehalem", 3, &request), -EOPNOTSUPP);
	CHECK_EQ(precise("p6", 1, &request), -EOPNOTSUPP);
	CHECK_EQ(precise("tigerlake", 3, &request), 0);
	CHECK_EQ(request.fixed, 0);
	CHECK_EQ(request.counters, 0);
}

#define USER PERF_SAMPLE_BRANCH_USER

static void branch_filters(void)
{
	struct perf_event_attr attr = {.branch_sample_type = USER | PERF_SAMPLE_BRANCH_COND};
	const struct spmu_model *model = spmu_model_find("skylake");
	struct perf_branch_entry entry;
	uint64_t select;

	CHECK_EQ(perf_branches_select(model, &attr, &select), 0);
	CHECK_EQ(select, 0x1f9); /* CPL 0, and all but JCC (17.7.2) */
	CHECK(!perf_branches_need_kind(model, &attr));
	CHECK_EQ(branches("skylake", USER | PERF_SAMPLE_BRANCH_ANY), 0);
	CHECK_EQ(branches("skylake", USER | PERF_SAMPLE_BRANCH_CALL_STACK), 0);
	CHECK_EQ(branches("nehalem", USER | PERF_SAMPLE_BRANCH_CALL_STACK), -EOPNOTSUPP);
	CHECK_EQ(branches("skylake", USER | PERF_SAMPLE_BRANCH_IN_TX), -EOPNOTSUPP);
	CHECK_EQ(branches("pentium", USER | PERF_SAMPLE_BRANCH_ANY), -EOPNOTSUPP);
	/* Far branches are admitted by the unit and dropped by software. */
	attr.branch_sample_type =
		USER | PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_TYPE_SAVE;
	CHECK(perf_branches_need_kind(model, &attr));
	CHECK(!perf_branches_take(&attr, 1, 2, 0, SPMU_SIGBIT(FAR), &entry));
	CHECK(perf_branches_take(&attr, 1, 2, 1, SPMU_SIGBIT(RET_NEAR), &entry));
	CHECK_EQ(entry.from, 1);
	CHECK_EQ(entry.to, 2);
	CHECK_EQ(entry.mispred, 1);
	CHECK_EQ(entry.type, PERF_BR_RET);
}

/* --- groups --- */

static bool add(void *opaque, const struct spmu_request *request)
{
	struct host *host = opaque;
	unsigned slot;

	return spmu_driver_add(&host->driver, request, &slot) == SPMU_OK;
}

/* Returns how many events of a kind fit together, up to GROUP_MAX. */
static unsigned most(const char *model, uint32_t type, uint64_t config)
{
	unsigned n = 0;
	bool fits = true;

	while (fits && n < GROUP_MAX) {
		struct spmu_request group[GROUP_MAX];
		struct host host;

		host_make_model(&host, spmu_model_find(model), 1);
		CHECK_EQ(host_detect(&host), SPMU_OK);
		for (unsigned i = 0; i <= n; i++)
			CHECK_EQ(select_on(model, type, config, &group[i]), 0);
		fits = perf_select_fits(group, n + 1, add, &host);
		n += fits;
		host_free(&host);
	}
	return n;
}

static void groups(void)
{
	struct spmu_request group[5];
	struct host host;

	/* Eight general counters, and a fixed one for instructions. */
	CHECK_EQ(most("skylake", PERF_TYPE_RAW, 0x00c4), 8);
	CHECK_EQ(most("skylake", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS), 9);
	CHECK_EQ(most("nehalem", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS), 5);
	CHECK_EQ(most("p6", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS), 2);
	/* Whoever can use one counter only gets it, however late it comes. */
	host_make_model(&host, spmu_model_find("nehalem"), 1);
	CHECK_EQ(host_detect(&host), SPMU_OK);
	for (unsigned i = 0; i < 4; i++)
		CHECK_EQ(select_on("nehalem", PERF_TYPE_RAW, 0x00c4, &group[i]), 0);
	group[3].counters = 8;
	CHECK(perf_select_fits(group, 4, add, &host));
	host_free(&host);
}

/* --- times and layouts --- */

static void times(void)
{
	struct perf_times t = {.since = 100};

	perf_state_set(&t, perf_state_of(true, true, true), 200);
	CHECK_EQ(t.enabled_ns, 0);
	perf_state_advance(&t, 250);
	CHECK_EQ(t.enabled_ns, 50);
	CHECK_EQ(t.running_ns, 50);
	perf_state_set(&t, perf_state_of(true, true, false), 300);
	perf_state_set(&t, perf_state_of(false, true, true), 1000);
	CHECK_EQ(t.enabled_ns, 800);
	CHECK_EQ(t.running_ns, 100);
	perf_state_advance(&t, 5000);
	perf_state_set(&t, perf_state_of(true, false, true), 6000);
	CHECK_EQ(t.enabled_ns, 800);
	perf_state_advance(&t, 5000); /* a clock that goes back */
	perf_state_set(&t, PERF_STATE_ACTIVE, 7000);
	perf_state_advance(&t, 6000);
	CHECK_EQ(t.enabled_ns, 800);
	CHECK_EQ(t.running_ns, 100);
}

static void layouts(void)
{
	static const struct perf_value value[3] = {{10, 11, 12}, {20, 21, 22}, {30, 31, 32}};
	static const struct {
		int line;
		uint64_t format;
		unsigned values;
		uint64_t word[12];
		unsigned words;
	} rows[] = {
		{__LINE__, 0, 1, {10}, 1},
		{__LINE__, PERF_FORMAT_ID, 1, {10, 11}, 2},
		{__LINE__, PERF_FORMAT_LOST, 1, {10, 12}, 2},
		{__LINE__,
		 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID,
		 1,
		 {10, 7, 8, 11},
		 4},
		{__LINE__, PERF_FORMAT_TOTAL_TIME_RUNNING, 1, {10, 8}, 2},
		{__LINE__, PERF_FORMAT_GROUP, 3, {3, 10, 20, 30}, 4},
		{__LINE__,
		 PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID |
			 PERF_FORMAT_LOST,
		 3,
		 {3, 7, 10, 11, 12, 20, 21, 22, 30, 31, 32},
		 11},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t got[12] = {0};

		CHECK_ROW_EQ(rows[i].line, perf_read_bytes(rows[i].format, rows[i].values - 1),
			     8 * rows[i].words);
		perf_read_write(got, rows[i].format, 7, 8, value, rows[i].values);
		CHECK_ROW(rows[i].line, !memcmp(got, rows[i].word, sizeof(got)));
	}
}

int main(void)
{
	RUN(sizes());
	RUN(arguments());
	RUN(combinations());
	RUN(calls());
	RUN(selection());
	RUN(sampling());
	RUN(branch_filters());
	RUN(groups());
	RUN(times());
	RUN(layouts());
	return test_summary();
}
