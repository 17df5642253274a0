/* SPDX-License-Identifier: MIT */
/*
 * driver_lbr.c: last branch records with samples, on every model that has them (Vol. 3B 17.4.7,
 * 17.4.8, 17.7.2, 17.9). Each sample has the branches that led to it, newest first. The driver
 * reads them in the service routine or takes them from the adaptive record.
 */
#include "driver_host.h"

static uint64_t selected; /* value of MSR_LBR_SELECT */
static uint64_t stacks;	  /* how many have been compared */

/* Returns true unless a bit of MSR_LBR_SELECT leaves out this kind of branch (17.7.2). */
static bool is_selected(const struct went *w)
{
	if (selected & (w->cpl ? SPMU_LBR_NO_CPLX : SPMU_LBR_NO_CPL0))
		return false;
	switch (w->signal) {
	case SPMU_SIGBIT(COND_TAKEN):
		return !(selected & SPMU_LBR_NO_JCC);
	case SPMU_SIGBIT(CALL_REL):
		return !(selected & SPMU_LBR_NO_CALL_REL);
	case SPMU_SIGBIT(RET_NEAR):
		return !(selected & SPMU_LBR_NO_RET);
	default:
		return CHECK(false);
	}
}

/* Compares the newest branches of the list. The sink is called right after the instruction. */
static void compare(struct host *host, const struct spmu_sample *sample)
{
	unsigned depth = host->driver.lbr_layout->depth, n = 0;

	for (uint64_t i = host->wents; i-- > 0 && n < depth;) {
		const struct went *w = &host->went[i];

		if (!is_selected(w))
			continue;
		if (!CHECK(n < sample->branch_count))
			return;
		CHECK_EQ(sample->branches[n].from, w->from);
		CHECK_EQ(sample->branches[n].to, w->to);
		n++;
	}
	CHECK_EQ(sample->branch_count, n);
	stacks++;
}

/* Compares the call stack: near calls push and near returns pop (17.9). */
static void compare_call_stack(struct host *host, const struct spmu_sample *sample)
{
	static struct went stack[1000];
	unsigned depth = host->driver.lbr_layout->depth, top = 0;

	for (uint64_t i = 0; i < host->wents; i++) {
		const struct went *w = &host->went[i];

		if (w->signal == SPMU_SIGBIT(RET_NEAR))
			top -= top > 0;
		if (w->signal != SPMU_SIGBIT(CALL_REL))
			continue;
		if (top == depth)
			memmove(stack, stack + 1, --top * sizeof(stack[0]));
		stack[top++] = *w;
	}
	CHECK_EQ(sample->branch_count, top);
	for (unsigned n = 0; n < top && n < sample->branch_count; n++)
		CHECK_EQ(sample->branches[n].from, stack[top - 1 - n].from);
	stacks++;
}

/* Makes unit and driver. Returns false if the model has no last branch records. */
static bool ready(struct host *host, const struct spmu_model *model, unsigned threshold)
{
	host_make_model(host, model, 1);
	CHECK_EQ(host_detect(host), SPMU_OK);
	selected = 0;
	host->list_branches = true;
	host->in_sink = compare;
	if (!host->driver.facilities.lbr) {
		CHECK_EQ(spmu_driver_enable_lbr(&host->driver, 0), SPMU_E_UNAVAILABLE);
		host_free(host);
		return false;
	}
	if (host->driver.facilities.pebs)
		CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA, 32 * 1024, threshold),
			 SPMU_OK);
	return true;
}

/* Adds a precise event of branches in user mode. Returns false if there is none. */
static bool add_precise(struct host *host, uint64_t period)
{
	for (size_t i = 0; host->driver.facilities.pebs && i < spmu_event_count(host->model); i++) {
		const struct spmu_event *event = spmu_event_at(host->model, i);
		struct spmu_request request;

		if (!event->pebs_counters || event->fidelity != SPMU_EXACT ||
		    !host_can_list(event) || !(event->signals & HOST_BRANCHES))
			continue;
		request = host_watch(host, event->code, USR, period, true);
		host_add(host, &request);
		return true;
	}
	return false;
}

static void start(struct host *host)
{
	CHECK_EQ(spmu_driver_start(&host->driver), SPMU_OK);
}

static void finish(struct host *host)
{
	CHECK_EQ(spmu_driver_stop(&host->driver), SPMU_OK);
	CHECK_EQ(host_msr(host, 0x1d9), 0);
	host_check_totals(host);
	spmu_driver_drain(&host->driver);
	host_check_totals(host);
}

/* Checks samples without PEBS. */
static void samples(const struct spmu_model *model, uint64_t select)
{
	struct spmu_request request;
	struct host host;

	if (!ready(&host, model, 1))
		return;
	if (select && !host.driver.lbr_layout->select && !host.driver.lbr_layout->ctl) {
		CHECK_EQ(spmu_driver_enable_lbr(&host.driver, select), SPMU_E_UNAVAILABLE);
		host_free(&host);
		return;
	}
	selected = select;
	CHECK_EQ(spmu_driver_enable_lbr(&host.driver, select), SPMU_OK);
	request = host_watch(&host, host_instructions(&host), USR, 23, false);
	host_add(&host, &request);
	/* The first samples come before the stack is full. */
	start(&host);
	CHECK_EQ(spmu_driver_enable_lbr(&host.driver, select), SPMU_E_ARGUMENT);
	host_run(&host, 4000);
	finish(&host);
	host_check_samples(&host, 0, false, 23);
	CHECK(host.takens > 100);
	host_free(&host);
}

/* Checks samples with PEBS, for any threshold that is asked for. */
static void samples_precisely(const struct spmu_model *model, unsigned threshold)
{
	struct host host;
	bool late;

	if (!ready(&host, model, threshold))
		return;
	/* Adaptive records come at the threshold. They are compared if they come alone. */
	late = host.driver.facilities.pebs_baseline && threshold != 1;
	CHECK_EQ(spmu_driver_enable_lbr(&host.driver, 0), SPMU_OK);
	if (late)
		host.in_sink = NULL;
	if (!add_precise(&host, 11)) {
		host_free(&host);
		return;
	}
	start(&host);
	host_run(&host, 3000);
	finish(&host);
	host_check_samples(&host, 0, true, 11);
	CHECK(host.takens > 30);
	if (!late)
		CHECK_EQ(host.driver.interrupts, host.takens);
	CHECK_EQ(spmu_driver_disable_lbr(&host.driver), SPMU_OK);
	host.in_sink = NULL;
	start(&host);
	host_run(&host, 3000);
	finish(&host);
	host_check_samples(&host, 0, true, 11);
	host_free(&host);
}

/* Checks both kinds in one run, with others' bits in IA32_DEBUGCTL. */
static void samples_together(const struct spmu_model *model)
{
	struct spmu_request request;
	uint64_t others;
	struct host host;

	if (!ready(&host, model, 1))
		return;
	others = spmu_model_describe(model).perfmon_version >= 2 ? 1u << 12 : 0;
	CHECK_EQ(spmu_write_msr(host.core, 0, 0x1d9, others), SPMU_DONE);
	CHECK_EQ(spmu_driver_enable_lbr(&host.driver, 0), SPMU_OK);
	request = host_watch(&host, host_instructions(&host), USR, 17, false);
	host_add(&host, &request);
	if (!add_precise(&host, 5)) {
		request = host_watch(&host, host_branches(&host), USR, 0, false);
		host_add(&host, &request);
	}
	start(&host);
	CHECK_EQ(host_msr(&host, 0x1d9),
		 others | (others ? 0x800 : 0) | (host.driver.lbr_layout->ctl ? 0 : 1));
	if (host.driver.lbr_layout->ctl)
		CHECK_EQ(host_msr(&host, 0x14ce), 0x7f0007);
	host_run(&host, 3000);
	host_check_totals(&host);
	CHECK_EQ(spmu_driver_stop(&host.driver), SPMU_OK);
	CHECK_EQ(host_msr(&host, 0x1d9), others);
	host_check_samples(&host, 0, false, 17);
	host_free(&host);
}

/* Holds an interrupt back. It then finds more records than stacks, and only the first has one. */
static void tells_missing(const struct spmu_model *model)
{
	uint64_t with = 0, without = 0;
	struct host host;

	if (!ready(&host, model, 1))
		return;
	CHECK_EQ(spmu_driver_enable_lbr(&host.driver, 0), SPMU_OK);
	host.in_sink = NULL;
	if (host.driver.facilities.pebs_baseline || !add_precise(&host, 3)) {
		host_free(&host);
		return;
	}
	start(&host);
	for (unsigned n = 0; n < 50; n++) {
		host.hold_pmi = true;
		host_run(&host, 60);
		host.hold_pmi = false;
		host_deliver(&host);
	}
	finish(&host);
	for (uint64_t i = 0; i < host.takens; i++) {
		with += host.taken[i].branches > 0;
		without += host.taken[i].branches == 0;
	}
	CHECK(with > 0 && with <= 50);
	CHECK(without > with);
	host_check_samples(&host, 0, true, 3);
	host_free(&host);
}

static void follows_calls(const struct spmu_model *model)
{
	const uint64_t select = SPMU_LBR_NO_JCC | SPMU_LBR_NO_JMP_IND | SPMU_LBR_NO_JMP_REL |
				SPMU_LBR_NO_FAR | SPMU_LBR_CALL_STACK;
	struct spmu_request request;
	struct host host;

	if (!ready(&host, model, 1))
		return;
	if (!host.driver.lbr_layout->call_stack) {
		CHECK_EQ(spmu_driver_enable_lbr(&host.driver, select), SPMU_E_UNAVAILABLE);
		host_free(&host);
		return;
	}
	CHECK_EQ(spmu_driver_enable_lbr(&host.driver, select), SPMU_OK);
	host.in_sink = compare_call_stack;
	request = host_watch(&host, host_instructions(&host), USR, 37, false);
	host_add(&host, &request);
	start(&host);
	host_run(&host, 3000);
	finish(&host);
	CHECK(host.takens > 30);
	host_free(&host);
}

/* Checks adaptive records with other groups. The branches come with each. */
static void chooses_groups(const struct spmu_model *model)
{
	for (uint32_t groups = 0; groups < 8; groups++) {
		uint64_t distance;
		struct host host;

		if (!ready(&host, model, 1))
			return;
		if (!host.driver.facilities.pebs_baseline) {
			CHECK_EQ(spmu_driver_set_groups(&host.driver, groups), SPMU_E_UNAVAILABLE);
			host_free(&host);
			return;
		}
		CHECK_EQ(spmu_driver_set_groups(&host.driver, groups), SPMU_OK);
		CHECK_EQ(spmu_driver_set_groups(&host.driver, 8), SPMU_E_ARGUMENT);
		CHECK_EQ(spmu_driver_enable_lbr(&host.driver, 0), SPMU_OK);
		CHECK(add_precise(&host, 4));
		CHECK_EQ(host_msr(&host, 0x3f2),
			 groups | 8 | (uint64_t)(host.driver.lbr_layout->depth - 1) << 24);
		start(&host);
		CHECK_EQ(spmu_driver_set_groups(&host.driver, groups), SPMU_E_ARGUMENT);
		host_run(&host, 1000);
		finish(&host);
		distance = host_distance(&host, 0, true, 4);
		for (uint64_t i = 0; i < host.takens; i++) {
			uint64_t ip = host.watch[0].ip[(i + 1) * distance - 1];

			CHECK_EQ(host.taken[i].ip, ip);
			CHECK_EQ(host.taken[i].rip, groups & SPMU_PEBS_GPRS ? ip + 4 : 0);
		}
		CHECK_EQ(host.takens, host.watch[0].count / distance);
		host_free(&host);
	}
}

int main(void)
{
	static const uint64_t selects[] = {0,
					   SPMU_LBR_NO_CPL0,
					   SPMU_LBR_NO_CPLX,
					   SPMU_LBR_NO_JCC,
					   SPMU_LBR_NO_CALL_REL | SPMU_LBR_NO_CPL0,
					   SPMU_LBR_NO_RET | SPMU_LBR_NO_JCC};

	for (size_t i = 0; i < spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i);
		unsigned before = check_failed;

		for (unsigned k = 0; k < sizeof(selects) / sizeof(selects[0]); k++)
			RUN(samples(model, selects[k]));
		for (unsigned threshold = 0; threshold < 4; threshold++)
			RUN(samples_precisely(model, threshold));
		RUN(samples_together(model));
		RUN(tells_missing(model));
		RUN(follows_calls(model));
		RUN(chooses_groups(model));
		if (check_failed != before)
			printf("%s: %u failed\n", spmu_model_describe(model).name,
			       check_failed - before);
	}
	CHECK(stacks > 1000);
	return test_summary();
}
