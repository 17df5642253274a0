/* SPDX-License-Identifier: MIT */
/*
 * check.h: what every unit test needs. A failed check prints its place, and the test continues.
 * test_summary() prints the last line and returns the exit status of main().
 */
#ifndef SPMU_TESTS_CHECK_H
#define SPMU_TESTS_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned check_passed, check_failed;

static inline bool check_at(const char *file, int line, bool good, const char *text)
{
	if (good)
		check_passed++;
	else
		check_failed++;
	if (!good)
		printf("%s:%d: failed: %s\n", file, line, text);
	return good;
}

static inline bool check_equal_at(const char *file, int line, uint64_t a, uint64_t b,
				  const char *text_a, const char *text_b)
{
	if (a == b) {
		check_passed++;
		return true;
	}
	check_failed++;
	printf("%s:%d: failed: %s == %s: 0x%llx, not 0x%llx\n", file, line, text_a, text_b,
	       (unsigned long long)a, (unsigned long long)b);
	return false;
}

#define CHECK(condition) check_at(__FILE__, __LINE__, (condition), #condition)
#define CHECK_EQ(a, b)	 check_equal_at(__FILE__, __LINE__, (uint64_t)(a), (uint64_t)(b), #a, #b)

/* For rows of a table: `line` is the row's __LINE__. */
#define CHECK_ROW(line, condition) check_at(__FILE__, line, (condition), #condition)
#define CHECK_ROW_EQ(line, a, b)                                                                   \
	check_equal_at(__FILE__, line, (uint64_t)(a), (uint64_t)(b), #a, #b)

/* Prints the counts of one test case since its start. */
static inline void check_case(const char *name, unsigned passed, unsigned failed)
{
	printf("case %s: %u passed, %u failed\n", name, check_passed - passed,
	       check_failed - failed);
}

/*
 * Runs a test case.  Its counts are printed under the text of the call, so that
 * tests/conformance can tell which statements of the manual passed.
 */
#define RUN(call)                                                                                  \
	do {                                                                                       \
		unsigned run_passed = check_passed, run_failed = check_failed;                     \
                                                                                                   \
		call;                                                                              \
		check_case(#call, run_passed, run_failed);                                         \
	} while (0)

/*
 * Prints the summary and returns the exit status. A run without a single check is a failure, too.
 */
static inline int test_summary(void)
{
	printf("%u passed, %u failed\n", check_passed, check_failed);
	return check_failed == 0 && check_passed > 0 ? 0 : 1;
}

#endif
