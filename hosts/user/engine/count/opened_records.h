/* SPDX-License-Identifier: MIT */
/* opened_records.h: what happens in a task, for the rings of its opened events
 * (opened_records.c). */
#ifndef SOFTPMU_ENGINE_OPENED_RECORDS_H
#define SOFTPMU_ENGINE_OPENED_RECORDS_H

#include <hosts/user/perf_event/perf_record.h>

#include "engine/count/opened.h"

/* Returns true if an event of the running task wants records of mappings without code. */
bool opened_records_want_data(void);
/* Returns true if an event of the task wants records of mappings at all. */
bool opened_records_want_mappings(void);

void opened_records_mmap(const struct perf_record_mapping *mapping);
void opened_records_comm(const char *name, bool exec);
/* The running task was started by these. */
void opened_records_fork(uint32_t ppid, uint32_t ptid);
/* The running task ends. */
void opened_records_end(void);

#endif
