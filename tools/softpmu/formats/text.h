/* SPDX-License-Identifier: MIT */
/* text.h: the output format of `perf report --stdio`. */
#ifndef SOFTPMU_TOOL_TEXT_H
#define SOFTPMU_TOOL_TEXT_H

#include "tools/softpmu/formats/format.h"

extern const struct format text_format;

#endif
