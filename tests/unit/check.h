/* SPDX-License-Identifier: MIT */
/*
 * check.h: counts checks.  A test program includes it once, and its main ends in
 * `return test_summary();`, which prints "N passed, N failed".
 */
#ifndef SOFTPMU_TESTS_CHECK_H
#define SOFTPMU_TESTS_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define CHECK_SHOWN 50 /* failures that are printed; all are counted */

static unsigned long check_passed, check_failed;

static inline bool check_that(bool holds, const char *file, int line, const char *what)
{
	if (holds) {
		check_passed++;
		return true;
	}
	if (check_failed++ < CHECK_SHOWN)
		printf("%s:%d: %s\n", file, line, what);
	return false;
}

static inline bool check_equal(uint64_t is, uint64_t should, const char *file, int line,
			       const char *what)
{
	if (is == should) {
		check_passed++;
		return true;
	}
	if (check_failed++ < CHECK_SHOWN)
		printf("%s:%d: %s: is %" PRIu64 " (0x%" PRIx64 "), should be %" PRIu64
		       " (0x%" PRIx64 ")\n",
		       file, line, what, is, is, should, should);
	return false;
}

/* True when it holds, so that a test can stop where going on makes no sense. */
#define CHECK(holds)	     check_that((holds), __FILE__, __LINE__, #holds)
#define CHECK_EQ(is, should) check_equal((is), (should), __FILE__, __LINE__, #is)

/* The last line, and main's result. */
static inline int test_summary(void)
{
	printf("%lu passed, %lu failed\n", check_passed, check_failed);
	return check_failed || !check_passed;
}

#endif
