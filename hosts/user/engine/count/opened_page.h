/* SPDX-License-Identifier: MIT */
/* opened_page.h: the page by which a program reads a counter itself (opened_page.c). */
#ifndef SOFTPMU_ENGINE_OPENED_PAGE_H
#define SOFTPMU_ENGINE_OPENED_PAGE_H

#include <linux/perf_event.h>

#include "engine/count/opened.h"

/* Fills in the fields of the page that do not change. The mapping has `bytes` bytes. */
void opened_page_begin(struct perf_event_mmap_page *page, uint64_t bytes);

/* Precise mode: writes how the running task reads the event now.  It is published. */
void opened_page_write(const struct opened_event *e);

#endif
