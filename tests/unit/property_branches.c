/* SPDX-License-Identifier: MIT */
/*
 * property_branches.c: last branch records and branch trace store on random
 * programs (Vol. 3B 17.4 to 17.10): which branches, each register and each byte
 * of the buffer, wrap, threshold and freeze; one by one and through the tap.
 */
#include "tests/reference/property.h"
#include "tests/unit/check.h"

int main(int argc, char **argv)
{
	struct program_totals totals = {0};
	int one = property_one(argc, argv, STYLE_BRANCHES);

	if (one >= 0)
		return one;
	CHECK_EQ(property_run(STYLE_BRANCHES, property_batches(4), &totals), 0);
	property_report("branches", &totals);
	CHECK(totals.bulk_branches > totals.programs);
	CHECK(totals.stored_branches > 0);
	CHECK(totals.pmis > 0);
	return test_summary();
}
