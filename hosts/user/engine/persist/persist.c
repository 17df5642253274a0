/* SPDX-License-Identifier: MIT */
/*
 * persist.c: the persistent code cache saves translations between runs.
 *
 * There is one file for each program and list of meters at its start.  A program that has had
 * several threads has a second file, because its code differs (emit.h).
 *
 * What a file contains.  It is an image of the code cache.  The image is valid because nothing
 * moves: the cache is at the same address in each run, and places.c gives modules below 2 GiB the
 * same addresses.  The blocks of a module become visible when the module is mapped at its old
 * address and has the same content (contents.c).  So a file also serves copies of the program, in
 * other containers or after a restart from an image.  Jumps between modules are
 * unlinked before saving, so no block depends on another module.  Code that is writable, or that
 * is not from a file, is never saved.
 *
 * What a run pays.  It pays for the blocks that it uses, because the file is mapped and not read.
 * The lookup table and the indirect targets of each module are in the file in their final form.
 *
 * What protects a run.  The file and its folder belong to the user or to root.  The file names the
 * engine's image that wrote it, and has a checksum; a damaged or outdated file is ignored.  It is
 * written under another name first, and renamed when it is complete.  When most of its blocks are
 * no longer useful, it is removed, and the next run begins without one.
 *
 * Two folders.  A run without a file in the user's folder uses the system's folder, which root has
 * filled.  What the run adds goes to a file in the user's folder.
 */
#include "engine/cache/cache.h"
#include "engine/cache/persistent.h"
#include "engine/count/meter_list.h"
#include "engine/memory/pages.h"
#include "engine/persist/contents.h"
#include "engine/persist/persist.h"
#include "engine/persist/persist_file.h"
#include "engine/persist/persist_state.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"
#include "engine/x86/cpuid.h"
#include "engine/x86/emit.h"
#include "hosts/user/checksum.h"

#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/stat.h>

/* Seconds: a file that changed later may change again in the same clock tick. */
#define SAVEABLE_AFTER 3
#define LOW_END	       UINT64_C(0x80000000)

struct persist_state persist;

static uint64_t here;		      /* where the current block begins */
static uint64_t here_start, here_end; /* of its module, or 0 */

uint64_t persist_key(void)
{
	static uint64_t processor; /* the query may take long */
	uint64_t key = checksum_of(engine_link->image_sum, engine_program_path,
				   strlen(engine_program_path));

	if (!processor) {
		const struct cpuid maker = cpuid_of(0);

		processor = (uint64_t)maker.b << 32 | maker.c;
	}
	key = checksum_mix(key, processor);
	key = checksum_mix(key, (uint64_t)cache_base);
	key = checksum_mix(key, (uint64_t)cache_end);
	key = checksum_mix(key, emit_context);
	key = checksum_mix(key, persist.list->branch_signals);
	key = checksum_mix(key, persist.list->branch_kinds |
					engine_wants(LINK_WANT_TIME) << 1 /* RDTSC */ |
					persist.list->unchecked << 2 | persist.list->flow << 3 |
					engine_wants(LINK_WANT_VALGRIND) << 4 /* XCHG */);
	if (engine_link->static_clocks) /* lists of later events count them, too */
		key = checksum_of(key, engine_link->core, strlen(engine_link->core));
	return checksum_of(key, persist.list->signals, persist.list->meters * sizeof(uint64_t));
}

/* --- modules --- */

bool persist_is_same(const struct identity *a, const struct identity *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void take(struct module *m)
{
	for (uint64_t at = m->is.start; at < m->is.end; at += PAGE)
		page_set(at, PAGE_TRANSLATED);
	__atomic_store_n(&m->taken, true, __ATOMIC_RELEASE);
	lookup_take_targets(persistent.target + m->first_target, m->targets);
	engine_link->cached_blocks += m->count;
}

static void take_if_saved(const struct module *m)
{
	for (unsigned i = 0; i < persistent.saved_modules; i++)
		if (!persistent.saved[i].taken && persist_is_same(&persistent.saved[i].is, &m->is))
			take(&persistent.saved[i]);
}

static bool has_folder(void)
{
	return engine_link->cache_folder[0] || engine_link->cache_system[0];
}

void persist_mapped(uint64_t start, uint64_t bytes, int fd, uint64_t offset)
{
	struct module *m = &persist.mapped[persist.mappeds];
	uint64_t lasts = persist_now() - SAVEABLE_AFTER;

	if (persistent.off || persist.mappeds == PERSIST_MODULES_MAX || start + bytes > LOW_END)
		return;
	*m = (struct module){
		.is = {.start = start, .end = in_pages(start + bytes), .offset = offset}};
	if (!contents_version(fd, &m->file))
		return;
	m->saveable = lasts > m->file.changed[0] && lasts > m->file.written[0];
	if (has_folder())
		m->is.sum = contents_sum(fd, &m->file, offset, bytes, m->saveable);
	m->saveable &= m->is.sum != 0;
	persist.mappeds++;
	if (m->is.sum)
		take_if_saved(m);
}

void persist_changed(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < persist.mappeds;)
		if (persist.mapped[i].is.start < end && persist.mapped[i].is.end > start)
			persist.mapped[i] = persist.mapped[--persist.mappeds];
		else
			i++;
	here_start = here_end = 0;
}

static struct module *module_of(uint64_t pc)
{
	static unsigned last;

	if (last < persist.mappeds &&
	    pc - persist.mapped[last].is.start <
		    persist.mapped[last].is.end - persist.mapped[last].is.start)
		return &persist.mapped[last];
	for (unsigned i = 0; i < persist.mappeds; i++)
		if (pc >= persist.mapped[i].is.start && pc < persist.mapped[i].is.end) {
			last = i;
			return &persist.mapped[i];
		}
	return NULL;
}

/* --- what has to be known of blocks --- */

bool persist_parts(uint64_t a, uint64_t b)
{
	return module_of(a) != module_of(b);
}

void persist_begin(uint64_t pc)
{
	const struct module *m;

	here = pc;
	if (pc >= here_start && pc < here_end)
		return;
	m = module_of(pc);
	here_start = m ? m->is.start : 0;
	here_end = m ? m->is.end : 0;
}

bool persist_outside(uint64_t pc)
{
	return here_end && (pc < here_start || pc >= here_end);
}

bool persist_is_with_block(uint64_t pc, unsigned bytes)
{
	uint64_t last = pc + bytes - 1;

	if (here_end)
		return pc >= here_start && last < here_end;
	return pc / PAGE == here / PAGE && last / PAGE == here / PAGE;
}

void persist_jump(uint64_t rel32, uint64_t key)
{
	uint64_t target = key & ~LOW_HEADROOM_KEY;

	if (!here_end || persistent.off || !engine_link->cache_folder[0] ||
	    (target >= here_start && target < here_end))
		return;
	persistent_note_jump(rel32, key);
}

/* --- what a run before has saved --- */

/* Returns whether the header's numbers have possible sizes, and the modules' numbers are within
 * them. */
static bool header_is_good(const struct persist_header *h, uint64_t key)
{
	return h->title.magic == CACHE_MAGIC && h->title.key == key &&
	       h->title.modules <= PERSIST_MODULES_MAX && h->index &&
	       !(h->index & (h->index - 1)) && h->numbers <= h->state.blocks;
}

static bool modules_are_good(const struct persist_header *h)
{
	for (unsigned i = 0; i < h->title.modules; i++) {
		const struct module *m = &persistent.saved[i];

		if (m->first > h->numbers || m->count > h->numbers - m->first ||
		    m->first_target > h->targets || m->targets > h->targets - m->first_target)
			return false;
	}
	return true;
}

static bool load(long fd, uint64_t key)
{
	struct blocks_part part[PERSIST_PARTS] = {0};
	struct persist_header h;
	struct persist_stat is;

	if (!persist_is_trusted(fd, S_IFREG, &is) || is.bytes > PERSIST_BYTES_MOST ||
	    !persist_read_header(fd, &h) || !header_is_good(&h, key) || !blocks_set_state(&h.state))
		return false;
	persist_front(&h, part);
	blocks_parts(part + PERSIST_CACHE);
	if (!persist_open(fd, &is, &h, part))
		return false;
	memcpy(persistent.saved, part[PERSIST_MODULES].at, part[PERSIST_MODULES].bytes);
	if (!modules_are_good(&h) || !variants_set(part[PERSIST_LISTS].at))
		return false;
	persistent.number = part[PERSIST_NUMBERS].at;
	persistent.target = part[PERSIST_TARGETS].at;
	persistent.index = part[PERSIST_INDEX].at;
	persistent.index_size = h.index;
	persistent.saved_modules = h.title.modules;
	persistent.blocks = h.state.blocks;
	return true;
}

static long open_in(const char *folder)
{
	char name[LINK_PATH_MAX];

	if (!folder[0])
		return -ENOENT;
	persist_name(name, folder, persist_key());
	return syscall4(__NR_openat, AT_FDCWD, (long)name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
}

/* The user's file has what the system's had when it was written, and more. */
static long open_saved(void)
{
	long fd = open_in(engine_link->cache_folder);

	return is_error(fd) ? open_in(engine_link->cache_system) : fd;
}

static void take_over(long fd)
{
	if (is_error(fd))
		return;
	if (!load(fd, persist_key()))
		blocks_flush();
	syscall1(__NR_close, fd);
	for (unsigned i = 0; i < persist.mappeds; i++)
		take_if_saved(&persist.mapped[i]);
}

/* A program that has had several threads before begins as if it had them already.  So nothing is
 * discarded when they start. */
static long open_first(void)
{
	uint64_t context = emit_context;
	long fd;

	emit_context = 0;
	fd = open_saved();
	if (!is_error(fd) || !context)
		return fd;
	emit_context = context;
	return open_saved();
}

void persist_load(void)
{
	if (persist.loaded || persistent.off || !has_folder() || current->list->activity)
		return;
	persist.loaded = true;
	persist.list = current->list;
	persist.owner = current->pid;
	take_over(open_first());
}

void persist_load_again(void)
{
	if (persist.loaded && !persistent.off)
		take_over(open_saved());
}
