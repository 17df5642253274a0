/* SPDX-License-Identifier: MIT */
/*
 * opened_page.c: the first page of a mapped event (struct perf_event_mmap_page): by it the task
 * that counts the event reads its counter with RDPMC, without a system call.
 *
 * The count is the page's offset plus the counter's value.  The sum changes with the counter alone,
 * so the page is written only when the event is switched, set to 0 or mapped.
 */
#include "engine/count/opened_page.h"

#include "engine/count/opened_table.h"
#include "engine/count/units.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

/* Returns the counter's value as RDPMC gives it, with its sign; false: the model has no RDPMC. */
static bool read_counter(uint32_t number, unsigned bits, int64_t *value)
{
	uint64_t raw;

	if (spmu_rdpmc(current->counting->unit[0].core, 0, number, 3, true, true, &raw) !=
	    SPMU_DONE)
		return false;
	*value = (int64_t)(raw << (64 - bits)) >> (64 - bits);
	return true;
}

void opened_page_begin(struct perf_event_mmap_page *page, uint64_t bytes)
{
	uint64_t value;

	page->cap_bit0_is_deprecated = 1;
	page->cap_user_rdpmc = spmu_rdpmc(current->counting->unit[0].core, 0, 0, 3, true, true,
					  &value) == SPMU_DONE;
	page->size = __builtin_offsetof(struct perf_event_mmap_page, __reserved);
	page->data_offset = PAGE;
	page->data_size = bytes - PAGE;
}

void opened_page_write(const struct opened_event *e)
{
	struct perf_event_mmap_page *page = e->page;
	const struct link_open *event = &engine_link->open[e->place];
	uint32_t number = 0;
	unsigned bits = 0;
	int64_t value = 0;
	bool reads = e->added && !event->request.software && e->times.state == PERF_STATE_ACTIVE &&
		     event_set_rdpmc(&current->counting->set, e->number, &number, &bits) &&
		     read_counter(number, bits, &value);

	__atomic_store_n(&page->lock, page->lock + 1, __ATOMIC_SEQ_CST);
	page->index = reads ? number + 1 : 0;
	page->offset = (int64_t)(event->count + event->ended) - value;
	page->time_enabled = event->enabled_ns;
	page->time_running = event->running_ns;
	page->pmc_width = (uint16_t)bits;
	__atomic_store_n(&page->lock, page->lock + 1, __ATOMIC_SEQ_CST);
}
