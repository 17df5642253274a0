/* SPDX-License-Identifier: MIT */
/*
 * interrupt.c: the PMI through the local vector table (Vol. 3A 10.5.1), and what it freezes under
 * version 4 of architectural performance monitoring (Vol. 3B 17.4.7, 18.2.4.1).
 */
#include "tests/unit/unit_host.h"

static void start(struct unit_host *host, uint32_t lvt)
{
	host_create(host, "skylake", 1, SUPPLY_EXECUTION);
	spmu_write_lvt(host->core, 0, lvt);
	WRMSR(host, EVTSEL0, COUNT_ALL | SELECT_INT | 0xc0);
	WRMSR(host, A_PMC0, MAX48);
}

static void delivery(void)
{
	static const struct {
		int line;
		uint32_t lvt;
		bool delivered;
		enum spmu_delivery mode;
		unsigned vector;
	} rows[] = {
		{__LINE__, 0x000ef, true, SPMU_DELIVER_FIXED, 0xef},
		{__LINE__, 0x004ff, true, SPMU_DELIVER_NMI, 0},
		{__LINE__, 0x00200, true, SPMU_DELIVER_SMI, 0},
		{__LINE__, 0x100ef, false, 0, 0}, /* masked */
		{__LINE__, 0x10400, false, 0, 0},
		{__LINE__, 0x001ef, false, 0, 0}, /* reserved modes */
		{__LINE__, 0x003ef, false, 0, 0},
		{__LINE__, 0x005ef, false, 0, 0},
		{__LINE__, 0x006ef, false, 0, 0},
		{__LINE__, 0x007ef, false, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		start(&host, rows[i].lvt);
		CHECK_ROW_EQ(rows[i].line, retire(&host, 1, 0),
			     rows[i].delivered ? SPMU_EV_PMI : 0);
		CHECK_ROW_EQ(rows[i].line, host.pmis, rows[i].delivered);
		CHECK_ROW_EQ(rows[i].line, CAUSES(&host), 1);
		CHECK_ROW_EQ(rows[i].line, spmu_read_lvt(host.core, 0),
			     rows[i].lvt | (rows[i].delivered ? LVT_MASKED : 0));
		if (rows[i].delivered) {
			CHECK_ROW_EQ(rows[i].line, host.pmi.delivery, rows[i].mode);
			CHECK_ROW_EQ(rows[i].line, host.pmi.vector, rows[i].vector);
		}
		host_destroy(&host);
	}
}

/* Checks that delivery masks the entry, and that nothing more comes until software unmasks it. */
static void masks_itself(void)
{
	struct unit_host host;

	start(&host, LVT_NMI);
	retire(&host, 1, 0);
	WRMSR(&host, A_PMC0, MAX48);
	CHECK_EQ(retire(&host, 2, 0), 0);
	CHECK_EQ(host.pmis, 1);
	spmu_write_lvt(host.core, 0, LVT_NMI);
	WRMSR(&host, A_PMC0, MAX48);
	CHECK_EQ(retire(&host, 3, 0), SPMU_EV_PMI);
	CHECK_EQ(host.pmis, 2);
	host_destroy(&host);
}

static void lvt_bits(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 2, SUPPLY_EXECUTION);
	CHECK_EQ(spmu_read_lvt(host.core, 0), LVT_MASKED);
	spmu_write_lvt(host.core, 0, 0xffffffff);
	CHECK_EQ(spmu_read_lvt(host.core, 0), 0x107ff);
	CHECK_EQ(spmu_read_lvt(host.core, 1), LVT_MASKED); /* each thread has its own */
	host_destroy(&host);
}

/* Checks that two counters that wrap at one instruction interrupt once. */
static void one_for_all(void)
{
	struct unit_host host;

	start(&host, LVT_NMI);
	WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | SELECT_INT | 0xc4);
	WRMSR(&host, A_PMC0 + 1, MAX48);
	retire(&host, 1, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(CAUSES(&host), 3);
	CHECK_EQ(host.pmis, 1);
	host_destroy(&host);
}

static void without_int(void)
{
	struct unit_host host;

	start(&host, LVT_NMI);
	WRMSR(&host, DEBUGCTL, 3u << 11);
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0xc0);
	CHECK_EQ(retire(&host, 1, 0), 0);
	CHECK_EQ(CAUSES(&host), 1); /* no PMI, no freeze */
	CHECK_EQ(host.pmis, 0);
	host_destroy(&host);
}

/* Checks 18.2.4.1: counting needs EN & GLOBAL_CTRL & !CTR_Frz. */
static void freezes(void)
{
	for (unsigned masked = 0; masked <= 1; masked++) {
		struct unit_host host;

		start(&host, masked ? LVT_NMI | LVT_MASKED : LVT_NMI);
		WRMSR(&host, EVTSEL0 + 1, COUNT_ALL | 0xc0);
		WRMSR(&host, DEBUGCTL, 1u << 12);
		CHECK_EQ(retire(&host, 1, 0), (masked ? 0 : SPMU_EV_PMI) | SPMU_EV_METERS);
		CHECK_EQ(CAUSES(&host), CTR_FRZ | 1);
		CHECK_EQ(RDMSR(&host, GLOBAL_CTRL), 0xff); /* not cleared in version 4 */
		CHECK_EQ(host.meters[0].count, 0);
		retire(&host, 2, 0);
		CHECK_EQ(RDMSR(&host, PMC0), 0);
		CHECK_EQ(RDMSR(&host, PMC0 + 1), 1);
		WRMSR(&host, STATUS_RESET, 1);
		retire(&host, 3, 0);
		CHECK_EQ(RDMSR(&host, PMC0), 0);
		WRMSR(&host, STATUS_RESET, CTR_FRZ);
		retire(&host, 4, 0);
		CHECK_EQ(RDMSR(&host, PMC0), 1);
		CHECK_EQ(RDMSR(&host, PMC0 + 1), 2);
		/* Software can freeze by setting the status. */
		WRMSR(&host, STATUS_SET, CTR_FRZ);
		retire(&host, 5, 0);
		CHECK_EQ(RDMSR(&host, PMC0), 1);
		host_destroy(&host);
	}
}

/* Checks 17.4.7: the LBR freeze is separate from that of the counters. */
static void freezes_lbr(void)
{
	struct unit_host host;

	start(&host, LVT_NMI);
	WRMSR(&host, DEBUGCTL, 1u << 11);
	CHECK_EQ(retire(&host, 1, 0), SPMU_EV_PMI);
	CHECK_EQ(CAUSES(&host), LBR_FRZ | 1);
	retire(&host, 2, 0);
	CHECK_EQ(RDMSR(&host, PMC0), 1); /* counters continue */
	WRMSR(&host, STATUS_RESET, LBR_FRZ | 1);
	CHECK_EQ(CAUSES(&host), 0);
	host_destroy(&host);
}

/* Checks 17.4.7: reaching the PEBS threshold freezes as well. */
static void freezes_at_threshold(void)
{
	struct unit_host host;

	host_create(&host, "skylake", 1, SUPPLY_EXECUTION);
	host_ds(&host, 4, 1, NULL);
	WRMSR(&host, DEBUGCTL, 3u << 11);
	WRMSR(&host, EVTSEL0, COUNT_ALL | 0x20c4);
	WRMSR(&host, A_PMC0, MAX48);
	WRMSR(&host, PEBS_ENABLE, 1);
	retire(&host, 1, SPMU_SIGBIT(JMP_REL));
	CHECK_EQ(retire(&host, 2, SPMU_SIGBIT(JMP_REL)), SPMU_EV_RECORD | SPMU_EV_METERS);
	CHECK_EQ(CAUSES(&host), OVFBUF | CTR_FRZ | LBR_FRZ);
	host_destroy(&host);
}

int main(void)
{
	RUN(delivery());
	RUN(masks_itself());
	RUN(lvt_bits());
	RUN(one_for_all());
	RUN(without_int());
	RUN(freezes());
	RUN(freezes_lbr());
	RUN(freezes_at_threshold());
	return test_summary();
}
