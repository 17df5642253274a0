/* SPDX-License-Identifier: MIT */
/*
 * views.c: shared memory of the program that is mapped at more than one address, as just-in-time
 * compilers do that write their code through one mapping and run it through another (mmap(2),
 * MAP_SHARED; mremap(2) with an old size of 0).
 *
 * What a mapping leads to is the file's device and inode and the offset in it; memory without a
 * file has a number of its own.  When code of such a mapping is translated, its page is made
 * read-only in every other mapping where it can be written, so that a write there comes to the
 * engine as one to code that is mapped writable does (memory.c).  Writes by system calls to the
 * file itself are looked for as long as shared memory is executable.  Another process that writes
 * is not noticed.
 */
#include <asm/unistd.h>
#include <linux/mman.h>

#include "engine.h"
#include "pages.h"
#include "sys.h"
#include "threads.h"
#include "views.h"

#define VIEWS_MAX 1024
#define NO_DEVICE UINT64_MAX

struct view {
	uint64_t start, end;
	uint64_t device, inode, offset;
	bool writable, code;
};

static struct view view[VIEWS_MAX];
static unsigned views, codes; /* all of them, those that are executable */
static bool lost;	      /* there were more */

/* --- the list --- */

static void add(struct view v)
{
	if (v.start >= v.end)
		return;
	if (views == VIEWS_MAX) {
		lost = true;
		return;
	}
	view[views++] = v;
	codes += v.code;
}

/* The part of v between two addresses. */
static struct view part(struct view v, uint64_t start, uint64_t end)
{
	if (start > v.start) {
		v.offset += start - v.start;
		v.start = start;
	}
	if (end < v.end)
		v.end = end;
	return v;
}

/* All that lies in the range is taken out, and given to `what` in pieces. */
static void take_out(uint64_t start, uint64_t end,
		     void (*what)(struct view piece, uint64_t argument), uint64_t argument)
{
	for (unsigned i = views; i--;) {
		struct view v = view[i];

		if (v.start >= end || v.end <= start)
			continue;
		codes -= v.code;
		view[i] = view[--views];
		add(part(v, v.start, start));
		add(part(v, end, v.end));
		if (what)
			what(part(v, start, end), argument);
	}
}

static uint64_t round_up(uint64_t bytes)
{
	return (bytes + PAGE - 1) & -PAGE;
}

/* What is mapped writable now is code elsewhere: that is looked at anew. */
static void forget_range(uint64_t start, uint64_t end)
{
	for (uint64_t at = start; codes && at < end; at += PAGE)
		views_forget(at);
}

static void add_new(struct view v)
{
	add(v);
	if (lost && codes)
		engine_unsupported("the program maps code that can be written through another "
				   "mapping, and too much else that is shared");
	if (v.writable)
		forget_range(v.start, v.end);
}

/* --- what the program maps --- */

static bool identify(int fd, uint64_t *device, uint64_t *inode)
{
	uint64_t stat[18] = {0};

	if (is_error(syscall2(__NR_fstat, fd, (long)stat)))
		return false;
	*device = stat[0];
	*inode = stat[1];
	return true;
}

void views_mapped(uint64_t start, uint64_t bytes, const struct syscall_arguments *c)
{
	struct view v = {
		.start = start,
		.end = start + round_up(bytes),
		.writable = c->a[2] & PROT_WRITE,
		.code = c->a[2] & PROT_EXEC,
	};

	views_unmapped(start, bytes);
	if (!(c->a[3] & MAP_SHARED)) /* nor MAP_SHARED_VALIDATE, which has that bit */
		return;
	if (c->a[3] & MAP_ANONYMOUS) {
		static uint64_t unnamed;

		v.device = NO_DEVICE;
		v.inode = ++unnamed;
	} else if (identify((int)c->a[4], &v.device, &v.inode)) {
		v.offset = c->a[5];
	}
	add_new(v);
}

void views_unmapped(uint64_t start, uint64_t bytes)
{
	take_out(start, start + round_up(bytes), NULL, 0);
}

static void protect_piece(struct view v, uint64_t protection)
{
	v.writable = protection & PROT_WRITE;
	v.code = protection & PROT_EXEC;
	add_new(v);
}

void views_protected(uint64_t start, uint64_t bytes, uint64_t protection)
{
	take_out(start, start + round_up(bytes), protect_piece, protection);
}

static const struct view *find(uint64_t address)
{
	for (unsigned i = 0; i < views; i++)
		if (address >= view[i].start && address < view[i].end)
			return &view[i];
	return NULL;
}

void views_moved(uint64_t start, uint64_t bytes, uint64_t to, uint64_t to_bytes, bool stays)
{
	const struct view *found = find(start);
	struct view v;

	if (found)
		v = part(*found, start, found->end);
	if (!stays)
		views_unmapped(start, bytes);
	views_unmapped(to, to_bytes);
	if (!found)
		return;
	v.start = to;
	v.end = to + round_up(to_bytes);
	add_new(v);
}

/* --- code in it --- */

bool views_of_code(uint64_t pc)
{
	const struct view *v = codes ? find(pc) : NULL;

	return v && v->code;
}

/* Where view v has the page, 0: nowhere, or it is the same. */
static uint64_t same_page(const struct view *v, const struct view *of, uint64_t page)
{
	uint64_t offset = of->offset + (page - of->start);

	if (v == of || v->device != of->device || v->inode != of->inode || offset < v->offset ||
	    offset - v->offset >= v->end - v->start)
		return 0;
	return v->start + (offset - v->offset);
}

bool views_watch(uint64_t pc)
{
	const struct view *code = codes ? find(pc & -PAGE) : NULL;
	bool newly = false;

	for (unsigned i = 0; code && i < views; i++) {
		uint64_t at = same_page(&view[i], code, pc & -PAGE);

		if (!at || !view[i].writable || page_has(at, PAGE_WATCHED))
			continue;
		if (!page_set(at, PAGE_WATCHED))
			engine_unsupported(
				"the program has more code above 2 GiB than can be followed");
		syscall3(__NR_mprotect, (long)at, (long)PAGE, PROT_READ);
		newly = true;
	}
	return newly;
}

void views_forget(uint64_t page)
{
	const struct view *written = codes ? find(page) : NULL;

	for (unsigned i = 0; written && i < views; i++) {
		uint64_t at = view[i].code ? same_page(&view[i], written, page) : 0;

		if (at && page_has(at, PAGE_TRANSLATED))
			memory_forget(at, 1);
	}
}

bool views_have_code(void)
{
	return __atomic_load_n(&codes, __ATOMIC_RELAXED);
}

static bool is_code_of(const struct view *v, uint64_t device, uint64_t inode)
{
	return v->code && v->device == device && v->inode == inode;
}

bool views_file_has_code(int fd)
{
	uint64_t device, inode;
	bool has = false;

	if (!identify(fd, &device, &inode))
		return false;
	for (unsigned i = 0; i < views; i++)
		has |= is_code_of(&view[i], device, inode);
	return has;
}

void views_file_written(int fd)
{
	uint64_t device, inode;

	if (!identify(fd, &device, &inode))
		return;
	for (unsigned i = 0; i < views; i++)
		if (is_code_of(&view[i], device, inode) &&
		    memory_has_translations(view[i].start, view[i].end - view[i].start))
			memory_forget(view[i].start, view[i].end - view[i].start);
}
