/* SPDX-License-Identifier: MIT */
/* data_source_text.h: where an access found its data, in perf's words (data_source_text.c). */
#ifndef SOFTPMU_TOOL_DATA_SOURCE_TEXT_H
#define SOFTPMU_TOOL_DATA_SOURCE_TEXT_H

#include <stdint.h>
#include <stdio.h>

/* Prints a union perf_mem_data_src as `perf script -F data_src` does: "|OP LOAD|LVL L1 hit...". */
void data_source_text_print(FILE *to, uint64_t data_source);

#endif
