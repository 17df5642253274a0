/* SPDX-License-Identifier: MIT */
/*
 * property_counting.c: counters as tools program them, on random programs. The unit in bulk, the
 * unit one by one and the reference agree, and the test makes sure that bulk is used.
 */
#include "tests/reference/property.h"
#include "tests/unit/check.h"

int main(int argc, char **argv)
{
	struct program_totals totals = {0};
	int one = property_one(argc, argv, STYLE_PLAIN);

	if (one >= 0)
		return one;
	CHECK_EQ(property_run(STYLE_PLAIN, property_batches(8), &totals), 0);
	property_report("plain", &totals);
	CHECK(totals.programs && totals.comparisons > totals.programs);
	CHECK(totals.bulk_instructions * 2 >= totals.instructions);
	/* Not all of it: overflows must have forced some instructions out of bulk. */
	CHECK(totals.bulk_instructions < totals.instructions);
	CHECK(totals.pmis > 0);
	return test_summary();
}
