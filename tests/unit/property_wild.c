/* SPDX-License-Identifier: MIT */
/*
 * property_wild.c: what a hostile or mistaken guest does: reserved bits,
 * absent registers, save areas that overlap, wrap or are not there, RESET and
 * INIT at any moment.
 */
#include "tests/reference/property.h"
#include "tests/unit/check.h"

int main(int argc, char **argv)
{
	struct program_totals totals = {0};
	int one = property_one(argc, argv, STYLE_WILD);

	if (one >= 0)
		return one;
	CHECK_EQ(property_run(STYLE_WILD, property_batches(12), &totals), 0);
	property_report("wild", &totals);
	CHECK(totals.faults > 0);
	CHECK(totals.records > 0);
	CHECK(totals.reloads > 0);
	CHECK(totals.accesses > 0);
	return test_summary();
}
