/* SPDX-License-Identifier: MIT */
/*
 * keep.c: translations are kept between runs, in a file for each program and each set of meters; in
 * one more where the program has had several threads, whose code is another (emit.h).
 *
 * What is kept is the code cache as it is: it stands at the same address in each run, and so do the
 * program's modules, whose places below 2 GiB are chosen by memory.c in the same order each time.
 * When a module is mapped where it was, and its file is the one that it was (device, inode, size,
 * times), the blocks of that module can be found; until then nothing leads to them.
 * Jumps between modules are taken apart before: no block depends on a module but its own.  What
 * is not mapped from a file, or can be written to, is never kept.
 *
 * A run is to cost nothing for blocks that it does not use: the file is mapped, and has the table
 * by which they are looked up and the indirect targets of each module as they are going to be
 * needed.
 *
 * The file is the user's own in a folder of the user's own, and names the image of the engine that
 * wrote it; it is written under another name first, and its sum has to agree: what is damaged or
 * from another time is as good as not there.  When most of its blocks are of no use any more the
 * file is removed, and the next run begins anew.
 */
#include "keep_state.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "emit.h"
#include "engine.h"
#include "pages.h"
#include "path.h"
#include "sys.h"

#define JUMPS_MAX 65536
#define FOUND_MAX (1u << 20)
#define SETTLED	  3 /* seconds: a file that changed later may yet change in the same tick */
#define LOW_END	  UINT64_C(0x80000000)

struct keep_state keep;

static uint64_t here;		      /* where the block in hand begins */
static uint64_t here_start, here_end; /* of its module, or 0 */

uint64_t keep_key(void)
{
	static uint64_t processor; /* asking may take long */
	uint32_t a = 0, b, c = 0, d;
	uint64_t key = keep_sum(engine_link->image_sum, program_path, strlen(program_path));

	if (!processor) {
		__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
		processor = (uint64_t)b << 32 | c;
	}
	key = keep_mix(key, processor);
	key = keep_mix(key, (uint64_t)cache_base);
	key = keep_mix(key, (uint64_t)cache_end);
	key = keep_mix(key, emit_context);
	key = keep_mix(key, branch_signals);
	key = keep_mix(key, branch_kinds | clocks_wanted() << 1 /* RDTSC */ |
				    counting_is_distant() << 2);
	return keep_sum(key, meter_signals, meters * sizeof(*meter_signals));
}

/* --- modules --- */

bool keep_is_same(const struct identity *a, const struct identity *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void take(struct module *m)
{
	for (uint64_t at = m->is.start; at < m->is.end; at += PAGE)
		page_set(at, PAGE_TRANSLATED);
	__atomic_store_n(&m->taken, true, __ATOMIC_RELEASE);
	targets_take(keep.target + m->first_target, m->targets);
	engine_link->kept_blocks += m->count;
}

static void take_if_kept(const struct module *m)
{
	for (unsigned i = 0; i < keep.kepts; i++)
		if (!keep.kept[i].taken && keep_is_same(&keep.kept[i].is, &m->is))
			take(&keep.kept[i]);
}

void keep_mapped(uint64_t start, uint64_t bytes, int fd, uint64_t offset)
{
	uint64_t stat[18] = {0}, now;
	struct module *m = &keep.mapped[keep.mappeds];

	if (keep.off || keep.mappeds == KEEP_MODULES_MAX || start + bytes > LOW_END ||
	    is_error(syscall2(__NR_fstat, fd, (long)stat)))
		return;
	*m = (struct module){.is = {
				     .start = start,
				     .end = (start + bytes + PAGE - 1) & -PAGE,
				     .offset = offset,
				     .device = stat[0],
				     .inode = stat[1],
				     .bytes = stat[6],
				     .written = {stat[11], stat[12]},
				     .changed = {stat[13], stat[14]},
			     }};
	now = keep_now();
	m->settled = now > m->is.changed[0] + SETTLED && now > m->is.written[0] + SETTLED;
	keep.mappeds++;
	take_if_kept(m);
}

void keep_changed(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < keep.mappeds;)
		if (keep.mapped[i].is.start < end && keep.mapped[i].is.end > start)
			keep.mapped[i] = keep.mapped[--keep.mappeds];
		else
			i++;
	here_start = here_end = 0;
}

static struct module *module_of(uint64_t pc)
{
	static unsigned last;

	if (last < keep.mappeds &&
	    pc - keep.mapped[last].is.start < keep.mapped[last].is.end - keep.mapped[last].is.start)
		return &keep.mapped[last];
	for (unsigned i = 0; i < keep.mappeds; i++)
		if (pc >= keep.mapped[i].is.start && pc < keep.mapped[i].is.end) {
			last = i;
			return &keep.mapped[i];
		}
	return NULL;
}

void keep_nothing(void)
{
	keep.off = true;
}

/* --- what has to be known of blocks --- */

bool keep_parts(uint64_t a, uint64_t b)
{
	return module_of(a) != module_of(b);
}

void keep_begin(uint64_t pc)
{
	const struct module *m;

	here = pc;
	if (pc >= here_start && pc < here_end)
		return;
	m = module_of(pc);
	here_start = m ? m->is.start : 0;
	here_end = m ? m->is.end : 0;
}

bool keep_outside(uint64_t pc)
{
	return here_end && (pc < here_start || pc >= here_end);
}

bool keep_is_with_block(uint64_t pc, unsigned bytes)
{
	uint64_t last = pc + bytes - 1;

	if (here_end)
		return pc >= here_start && last < here_end;
	return pc / PAGE == here / PAGE && last / PAGE == here / PAGE;
}

void keep_jump(uint64_t rel32, uint64_t key)
{
	uint64_t target = key & ~CAREFUL_KEY;

	if (!here_end || keep.off || !engine_link->kept[0] ||
	    (target >= here_start && target < here_end))
		return;
	if (!keep.jump)
		keep.jump = engine_memory(JUMPS_MAX * sizeof(*keep.jump));
	if (keep.jumps == JUMPS_MAX)
		keep.off = true;
	else
		keep.jump[keep.jumps++] = (struct keep_jump){key, (uint32_t)rel32};
}

void keep_target(uint64_t key, bool of_return)
{
	if (keep.off || !engine_link->kept[0] || key & CAREFUL_KEY || keep.founds == FOUND_MAX)
		return;
	if (!keep.found)
		keep.found = engine_memory(FOUND_MAX * sizeof(*keep.found));
	keep.found[keep.founds++] = key | (of_return ? KEEP_OF_RETURN : 0);
}

void keep_flushed(void)
{
	keep.jumps = keep.founds = 0;
	keep.kepts = 0;
	keep.blocks = keep.index_size = 0;
}

bool keep_is_used(void)
{
	return keep.kepts != 0;
}

/* --- what was kept --- */

struct block *keep_find(uint64_t key)
{
	uint32_t mask = keep.index_size - 1, i, n;
	uint64_t pc = key & ~CAREFUL_KEY;

	if (!keep.index_size)
		return NULL;
	for (i = lookup_hash(key); (n = keep.index[i & mask]); i++) {
		struct block *b = block_at(n - 1);

		if (b->pc == pc && b->careful == (key >> 63) && !b->gone &&
		    __atomic_load_n(&keep.kept[b->module].taken, __ATOMIC_ACQUIRE))
			return b;
	}
	return NULL;
}

bool keep_list(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < keep.kepts; i++) {
		struct module *m = &keep.kept[i];

		if (!m->taken || m->listed || m->is.start >= end || m->is.end <= start)
			continue;
		m->listed = true;
		if (!blocks_list(keep.number + m->first, m->count))
			return false;
	}
	return true;
}

/* The header's numbers are of possible sizes, and the modules' within them. */
static bool header_is_good(const struct keep_header *h, uint64_t key)
{
	return h->magic == KEEP_MAGIC && h->key == key && h->modules <= KEEP_MODULES_MAX &&
	       h->index && !(h->index & (h->index - 1)) && h->numbers <= h->state.blocks;
}

static bool modules_are_good(const struct keep_header *h)
{
	for (unsigned i = 0; i < h->modules; i++) {
		const struct module *m = &keep.kept[i];

		if (m->first > h->numbers || m->count > h->numbers - m->first ||
		    m->first_target > h->targets || m->targets > h->targets - m->first_target)
			return false;
	}
	return true;
}

static bool load(long fd, uint64_t key)
{
	struct blocks_part part[KEEP_PARTS] = {0};
	struct keep_header h;
	struct keep_stat is;

	if (!keep_is_own(fd, KEEP_FILE, &is) || is.bytes > KEEP_BYTES_MOST ||
	    !keep_read_header(fd, &h) || !header_is_good(&h, key) || !blocks_set_state(&h.state))
		return false;
	keep_front(&h, part);
	blocks_parts(part + KEEP_CACHE);
	if (!keep_open(fd, &is, &h, part))
		return false;
	memcpy(keep.kept, part[KEEP_MODULES].at, part[KEEP_MODULES].bytes);
	if (!modules_are_good(&h))
		return false;
	keep.number = part[KEEP_NUMBERS].at;
	keep.target = part[KEEP_TARGETS].at;
	keep.index = part[KEEP_INDEX].at;
	keep.index_size = h.index;
	keep.kepts = h.modules;
	keep.blocks = h.state.blocks;
	return true;
}

static long open_kept(void)
{
	char name[LINK_PATH_MAX];

	keep_name(name, engine_link->kept, keep_key());
	return syscall4(__NR_openat, AT_FDCWD, (long)name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
}

static void take_over(long fd)
{
	if (is_error(fd))
		return;
	if (!load(fd, keep_key()))
		blocks_flush();
	syscall1(__NR_close, fd);
	for (unsigned i = 0; i < keep.mappeds; i++)
		take_if_kept(&keep.mapped[i]);
}

/* A program that has had several threads before begins as if it had them at once: so nothing is
 * thrown away when they come. */
static long open_first(void)
{
	uint64_t context = emit_context;
	long fd;

	emit_context = 0;
	fd = open_kept();
	if (!is_error(fd) || !context)
		return fd;
	emit_context = context;
	return open_kept();
}

void keep_load(void)
{
	if (keep.loaded || keep.off || !engine_link->kept[0])
		return;
	keep.loaded = true;
	keep.owner = current->pid;
	take_over(open_first());
}

void keep_load_again(void)
{
	if (keep.loaded && !keep.off)
		take_over(open_kept());
}
