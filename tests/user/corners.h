/* SPDX-License-Identifier: MIT */
/* corners.h: the parts of the program corners. */
#ifndef SOFTPMU_TESTS_CORNERS_H
#define SOFTPMU_TESTS_CORNERS_H

/* Ends the program unless `ok`. */
void need(int ok, const char *what);

#endif
