/* SPDX-License-Identifier: MIT */
/* call.h: a system call of the program. */
#ifndef SOFTPMU_ENGINE_CALL_H
#define SOFTPMU_ENGINE_CALL_H

#include <stdint.h>

struct syscall_arguments {
	long nr;
	uint64_t a[6];
};

#endif
