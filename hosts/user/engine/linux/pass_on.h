/* SPDX-License-Identifier: MIT */
/* pass_on.h: system calls of the program that the kernel makes (pass_on.c). */
#ifndef SOFTPMU_ENGINE_PASS_ON_H
#define SOFTPMU_ENGINE_PASS_ON_H

#include "engine/rt/call.h"

#include <stdint.h>

/* Makes the kernel execute the call, and repeats it if translated code prevented it. */
long pass_on(const struct syscall_arguments *c);
/* Makes the kernel execute it once.  The lock may be held. */
long pass_on_once(const struct syscall_arguments *c);
/* The same for a call that writes to this memory of the program. */
long pass_on_writing(const struct syscall_arguments *c, uint64_t start, uint64_t bytes);

#endif
