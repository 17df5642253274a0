/* SPDX-License-Identifier: MIT */
/*
 * property_clocks.c: CMASK, E and INV over clocks (Vol. 3B 18.2.1.1), with and without PEBS, on
 * random programs.
 */
#include "tests/reference/property.h"
#include "tests/unit/check.h"

int main(int argc, char **argv)
{
	struct program_totals totals = {0};
	int one = property_one(argc, argv, STYLE_CLOCKS);

	if (one >= 0)
		return one;
	CHECK_EQ(property_run(STYLE_CLOCKS, property_batches(8), &totals), 0);
	property_report("clocks", &totals);
	CHECK(totals.pmis > 0);
	CHECK(totals.records > 0);
	return test_summary();
}
