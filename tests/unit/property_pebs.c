/* SPDX-License-Identifier: MIT */
/*
 * property_pebs.c: PEBS on random programs: which instruction makes a record,
 * each of its bytes, index, reload, threshold, full buffers.
 */
#include "tests/reference/property.h"
#include "tests/unit/check.h"

int main(int argc, char **argv)
{
	struct program_totals totals = {0};
	int one = property_one(argc, argv, STYLE_PEBS);

	if (one >= 0)
		return one;
	CHECK_EQ(property_run(STYLE_PEBS, property_batches(12), &totals), 0);
	property_report("PEBS", &totals);
	CHECK(totals.records > totals.programs / 2); /* many events are rare */
	CHECK(totals.pmis > 0);
	CHECK(totals.silent > 0);
	CHECK(totals.bulk_instructions > 0);
	return test_summary();
}
