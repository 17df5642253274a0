/* SPDX-License-Identifier: MIT */
/*
 * aliases.c: watches code in shared memory that the program has mapped at several addresses.
 *
 * Just-in-time compilers write code through one mapping and run it through another (mmap(2) with
 * MAP_SHARED, or mremap(2) with an old size of 0).  A write through any of them must discard the
 * translations of that code.  So when a page of such memory is translated, the engine makes the
 * page read-only in all mappings.  A write then faults, and watch.c handles it like any other
 * write to translated code.
 *
 * Two mappings are aliases if they have the same object: the device and inode of a file and the
 * offset in it.  Memory without a file gets a number instead.
 *
 * While shared memory is executable, system calls that write to the file are checked, too.
 * Writes by another process are not noticed.
 */
#include <linux/mman.h>

#include "engine/cache/cache.h"
#include "engine/memory/pages.h"
#include "engine/rt/call.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"
#include "engine/watch/aliases.h"

#define ALIASES_MAX 1024
#define NO_DEVICE   UINT64_MAX

struct alias {
	uint64_t start, end;
	uint64_t device, inode, offset;
	bool writable, code;
};

static struct alias alias[ALIASES_MAX];
static unsigned aliases, codes; /* all of them, and the executable ones */
static bool lost;		/* there were more */

/* --- the list --- */

static void add(struct alias v)
{
	if (v.start >= v.end)
		return;
	if (aliases == ALIASES_MAX) {
		lost = true;
		return;
	}
	alias[aliases++] = v;
	codes += v.code;
}

/* Returns the part of v between two addresses. */
static struct alias part(struct alias v, uint64_t start, uint64_t end)
{
	if (start > v.start) {
		v.offset += start - v.start;
		v.start = start;
	}
	if (end < v.end)
		v.end = end;
	return v;
}

/* Removes everything in the range, and passes it to `what` in pieces. */
static void take_out(uint64_t start, uint64_t end,
		     void (*what)(struct alias piece, uint64_t argument), uint64_t argument)
{
	for (unsigned i = aliases; i--;) {
		struct alias v = alias[i];

		if (v.start >= end || v.end <= start)
			continue;
		codes -= v.code;
		alias[i] = alias[--aliases];
		add(part(v, v.start, start));
		add(part(v, end, v.end));
		if (what)
			what(part(v, start, end), argument);
	}
}

/* Drops translations: what is mapped writable now is code elsewhere. */
static void forget_range(uint64_t start, uint64_t end)
{
	for (uint64_t at = start; codes && at < end; at += PAGE)
		aliases_forget(at);
}

static void add_new(struct alias v)
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
	struct stat stat;

	if (!file_stat(fd, &stat))
		return false;
	*device = stat.st_dev;
	*inode = stat.st_ino;
	return true;
}

void aliases_mapped(uint64_t start, uint64_t bytes, const struct syscall_arguments *c)
{
	struct alias v = {
		.start = start,
		.end = start + in_pages(bytes),
		.writable = c->a[2] & PROT_WRITE,
		.code = c->a[2] & PROT_EXEC,
	};

	aliases_unmapped(start, bytes);
	if (!(c->a[3] & MAP_SHARED)) /* MAP_SHARED_VALIDATE has this bit, too */
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

void aliases_unmapped(uint64_t start, uint64_t bytes)
{
	take_out(start, start + in_pages(bytes), NULL, 0);
}

static void protect_piece(struct alias v, uint64_t protection)
{
	v.writable = protection & PROT_WRITE;
	v.code = protection & PROT_EXEC;
	add_new(v);
}

void aliases_protected(uint64_t start, uint64_t bytes, uint64_t protection)
{
	take_out(start, start + in_pages(bytes), protect_piece, protection);
}

static const struct alias *find(uint64_t address)
{
	for (unsigned i = 0; i < aliases; i++)
		if (address >= alias[i].start && address < alias[i].end)
			return &alias[i];
	return NULL;
}

void aliases_moved(uint64_t start, uint64_t bytes, uint64_t to, uint64_t to_bytes, bool stays)
{
	const struct alias *found = find(start);
	struct alias v;

	if (found)
		v = part(*found, start, found->end);
	if (!stays)
		aliases_unmapped(start, bytes);
	aliases_unmapped(to, to_bytes);
	if (!found)
		return;
	v.start = to;
	v.end = to + in_pages(to_bytes);
	add_new(v);
}

/* --- code in it --- */

bool aliases_of_code(uint64_t pc)
{
	const struct alias *v = codes ? find(pc) : NULL;

	return v && v->code;
}

/* Returns where alias v has the page; 0: nowhere, or at the same place. */
static uint64_t same_page(const struct alias *v, const struct alias *of, uint64_t page)
{
	uint64_t offset = of->offset + (page - of->start);

	if (v == of || v->device != of->device || v->inode != of->inode || offset < v->offset ||
	    offset - v->offset >= v->end - v->start)
		return 0;
	return v->start + (offset - v->offset);
}

bool aliases_watch(uint64_t pc)
{
	const struct alias *code = codes ? find(pc & -PAGE) : NULL;
	bool newly = false;

	for (unsigned i = 0; code && i < aliases; i++) {
		uint64_t at = same_page(&alias[i], code, pc & -PAGE);

		if (!at || !alias[i].writable || page_has(at, PAGE_WATCHED))
			continue;
		if (!page_set(at, PAGE_WATCHED))
			engine_unsupported(
				"the program has more code above 2 GiB than can be followed");
		sys_protect(at, PAGE, PROT_READ);
		newly = true;
	}
	return newly;
}

void aliases_forget(uint64_t page)
{
	const struct alias *written = codes ? find(page) : NULL;

	for (unsigned i = 0; written && i < aliases; i++) {
		uint64_t at = alias[i].code ? same_page(&alias[i], written, page) : 0;

		if (at && page_has(at, PAGE_TRANSLATED))
			blocks_forget_pages(at, 1);
	}
}

bool aliases_have_code(void)
{
	return __atomic_load_n(&codes, __ATOMIC_RELAXED);
}

static bool is_code_of(const struct alias *v, uint64_t device, uint64_t inode)
{
	return v->code && v->device == device && v->inode == inode;
}

bool aliases_file_has_code(int fd)
{
	uint64_t device, inode;
	bool has = false;

	if (!identify(fd, &device, &inode))
		return false;
	for (unsigned i = 0; i < aliases; i++)
		has |= is_code_of(&alias[i], device, inode);
	return has;
}

void aliases_file_written(int fd)
{
	uint64_t device, inode;

	if (!identify(fd, &device, &inode))
		return;
	for (unsigned i = 0; i < aliases; i++)
		if (is_code_of(&alias[i], device, inode) &&
		    pages_have(alias[i].start, alias[i].end - alias[i].start, PAGE_TRANSLATED))
			blocks_forget_pages(alias[i].start, alias[i].end - alias[i].start);
}
