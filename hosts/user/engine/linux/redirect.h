/* SPDX-License-Identifier: MIT */
/* redirect.h: files by which programs look at the unit (redirect.c). */
#ifndef SOFTPMU_ENGINE_REDIRECT_H
#define SOFTPMU_ENGINE_REDIRECT_H

#include "engine/rt/call.h"

/* Makes a call whose argument `at` is the path of a file. */
long redirect_call(struct syscall_arguments *c, unsigned at);

#endif
