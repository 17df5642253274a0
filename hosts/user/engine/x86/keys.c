/* SPDX-License-Identifier: MIT */
/* keys.c: whether the program uses protection keys (keys.h). */
#include "engine/x86/keys.h"

bool keys_used;
