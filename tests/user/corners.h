/* SPDX-License-Identifier: MIT */
/* corners.h: shared by corners.c, filters.c, jits.c, lists.c, rings.c and aliases.c: programs whose
 * arguments name the subjects. */
#ifndef SOFTPMU_TESTS_CORNERS_H
#define SOFTPMU_TESTS_CORNERS_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct subject {
	const char *name;
	void (*run)(void);
};

/* Ends the program unless `ok`. */
static inline void need(int ok, const char *what)
{
	if (ok)
		return;
	printf("%s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(99);
}

/* The main() of such a program.  The list ends with an empty row. */
static inline int run_subject(const struct subject *subject, int argc, char **argv)
{
	for (; argc == 2 && subject->name; subject++)
		if (!strcmp(subject->name, argv[1])) {
			subject->run();
			return 0;
		}
	return 2;
}

#endif
