/* SPDX-License-Identifier: MIT */
/* valgrind.h: client requests of valgrind (valgrind.c). */
#ifndef SOFTPMU_ENGINE_VALGRIND_H
#define SOFTPMU_ENGINE_VALGRIND_H

/* Precise mode: does the request that has retired.  RAX has the address of its words. */
void valgrind_request(void);

#endif
