/* SPDX-License-Identifier: MIT */
/*
 * base.c: checks that the linked library has the version that this program was compiled for, and
 * prints the text of an error.
 *
 * Prints:
 *	compiled for 0.1.0, linked with 0.1.0
 *	SPMU_E_SPACE: the memory given is too small
 */
#include <stdio.h>
#include <string.h>

#include <softpmu/base.h>

int main(void)
{
	printf("compiled for %s, linked with %s\n", SPMU_VERSION_STRING, spmu_version());
	printf("SPMU_E_SPACE: %s\n", spmu_status_text(SPMU_E_SPACE));
	return strcmp(SPMU_VERSION_STRING, spmu_version()) != 0;
}
