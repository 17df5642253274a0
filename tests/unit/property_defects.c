/* SPDX-License-Identifier: MIT */
/*
 * property_defects.c: shows that the comparison can fail. For each defect that the reference has
 * (reference.h), some random program must give another result than the unit. A defect that no
 * program finds is a gap in the property tests.
 */
#include "tests/reference/property.h"
#include "tests/unit/check.h"

#define PROGRAMS_MAX 20000u

/* Returns how many programs it takes until the defect shows. 0: it never does. */
static unsigned programs_until(enum reference_defect defect, enum program_style *style)
{
	static struct program program;
	struct program_failure failure;

	for (unsigned seed = 0; seed < PROGRAMS_MAX; seed++) {
		for (*style = STYLE_PLAIN; *style < STYLES; (*style)++) {
			program_generate(&program, *style, seed);
			if (!program_run(&program, defect, NULL, &failure))
				return seed + 1;
		}
	}
	return 0;
}

int main(void)
{
	static struct program program;
	struct program_failure failure;

	for (int d = REFERENCE_SOUND + 1; d < REFERENCE_DEFECT_END; d++) {
		enum reference_defect defect = (enum reference_defect)d;
		enum program_style style;
		unsigned programs = programs_until(defect, &style);

		printf("%-22s found after %u seeds\n", reference_defect_name(defect), programs);
		if (!CHECK(programs > 0))
			continue;
		/*
		 * With a correct reference the same program must pass, so the defect is the cause.
		 */
		program_generate(&program, style, programs - 1);
		CHECK(program_run(&program, REFERENCE_SOUND, NULL, &failure));
	}
	return test_summary();
}
