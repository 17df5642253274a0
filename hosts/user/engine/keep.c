/* SPDX-License-Identifier: MIT */
/*
 * keep.c: translations are kept between runs, in a file for each program and each set of meters.
 *
 * What is kept is the code cache as it is: it stands at the same address in each run, and so do the
 * program's modules, whose places below 2 GiB are chosen by memory.c in the same order each time.
 * When a module is mapped where it was, and its file is the one that it was (device, inode, size,
 * times), the blocks of that module are put back into the tables; until then nothing leads to them.
 * Jumps between modules are taken apart before: no block depends on a module but its own.  What
 * is not mapped from a file, or can be written to, is never kept.
 *
 * The file is the user's own in a folder of the user's own, and names the image of the engine that
 * wrote it; it is written under another name first, and its sum has to agree: what is damaged or
 * from another time is as good as not there.  When most of its blocks are of no use any more the
 * file is removed, and the next run begins anew.
 */
#include "keep.h"

#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "emit.h"
#include "engine.h"
#include "keep_file.h"
#include "pages.h"
#include "sys.h"

#define MAGIC	    UINT64_C(0x7470656b756d7073) /* "spmukept" */
#define MODULES_MAX 256
#define JUMPS_MAX   65536
#define FOUND_MAX   (1u << 20)
#define OF_RETURN   (UINT64_C(1) << 61)
#define SETTLED	    3 /* seconds: a file that changed later may yet change in the same tick */
#define NEW_LEAST   256
#define BYTES_MOST  (UINT64_C(96) << 20)
#define LOW_END	    UINT64_C(0x80000000)
#define LIVE_LEAST  4 /* of so many blocks one */

/* A mapping of a module's code, and the file that it is from. */
struct identity {
	uint64_t start, end, offset;
	uint64_t device, inode, bytes, changed[2], written[2];
};

struct module {
	struct identity is;
	uint32_t first, count; /* of its blocks' numbers, in a file */
	uint32_t settled;      /* may be kept */
	uint32_t taken;	       /* its blocks are in the tables */
};

struct header {
	uint64_t magic, key, sum;
	struct blocks_state state;
	uint32_t modules, numbers;
};

struct jump {
	uint64_t key; /* of the code that it goes to */
	uint32_t rel32;
};

/* What is going to be kept. */
struct list {
	struct module module[MODULES_MAX];
	uint32_t *number;
	uint32_t modules, numbers;
	uint32_t used, live; /* modules that are mapped, their blocks */
};

/* Mapped now, and in the file that was loaded. */
static struct module mapped[MODULES_MAX], kept[MODULES_MAX];
static unsigned mappeds, kepts;
static uint32_t *kept_numbers;
static uint32_t kept_blocks; /* how many the file had */

/* Jumps between modules. */
static struct jump *jump;
static unsigned jumps;

/* Keys that indirect branches find, with OF_RETURN those that returns do. */
static uint64_t *found;
static unsigned founds;

static uint64_t here;		      /* where the block in hand begins */
static uint64_t here_start, here_end; /* of its module, or 0 */
static bool loaded, off;
static uint32_t owner; /* the process that may write the file */

/* What translated code depends on besides the program. */
static uint64_t make_key(void)
{
	uint32_t a = 0, b, c = 0, d;
	uint64_t key = keep_sum(engine_link->image_sum, program_path, strlen(program_path));

	__asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	key = keep_mix(key, (uint64_t)b << 32 | c);
	key = keep_mix(key, (uint64_t)cache_base);
	key = keep_mix(key, branch_signals);
	key = keep_mix(key, branch_kinds);
	return keep_sum(key, meter_signals, meters * sizeof(*meter_signals));
}

/* --- modules --- */

static uint64_t now_seconds(void)
{
	uint64_t time[2] = {0, 0};

	syscall2(__NR_clock_gettime, 0 /* CLOCK_REALTIME */, (long)time);
	return time[0];
}

static bool is_same(const struct identity *a, const struct identity *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void take(struct module *m)
{
	for (uint64_t at = m->is.start; at < m->is.end; at += PAGE)
		page_set(at, PAGE_TRANSLATED);
	for (uint32_t i = 0; i < m->count; i++)
		block_revive(block_at(kept_numbers[m->first + i]));
	m->taken = true;
	engine_link->kept_blocks += m->count;
}

static void take_if_kept(const struct module *m)
{
	for (unsigned i = 0; i < kepts; i++)
		if (!kept[i].taken && is_same(&kept[i].is, &m->is))
			take(&kept[i]);
}

void keep_mapped(uint64_t start, uint64_t bytes, int fd, uint64_t offset)
{
	uint64_t stat[18] = {0}, now;
	struct module *m = &mapped[mappeds];

	if (off || mappeds == MODULES_MAX || start + bytes > LOW_END ||
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
	now = now_seconds();
	m->settled = now > m->is.changed[0] + SETTLED && now > m->is.written[0] + SETTLED;
	mappeds++;
	take_if_kept(m);
}

void keep_changed(uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < mappeds;)
		if (mapped[i].is.start < end && mapped[i].is.end > start)
			mapped[i] = mapped[--mappeds];
		else
			i++;
	here_start = here_end = 0;
}

static struct module *module_of(uint64_t pc)
{
	static unsigned last;

	if (last < mappeds &&
	    pc - mapped[last].is.start < mapped[last].is.end - mapped[last].is.start)
		return &mapped[last];
	for (unsigned i = 0; i < mappeds; i++)
		if (pc >= mapped[i].is.start && pc < mapped[i].is.end) {
			last = i;
			return &mapped[i];
		}
	return NULL;
}

void keep_nothing(void)
{
	off = true;
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

	if (!here_end || !engine_link->kept[0] || (target >= here_start && target < here_end))
		return;
	if (!jump)
		jump = engine_memory(JUMPS_MAX * sizeof(*jump));
	if (jumps == JUMPS_MAX)
		off = true;
	else
		jump[jumps++] = (struct jump){key, (uint32_t)rel32};
}

void keep_target(uint64_t key, bool of_return)
{
	if (!engine_link->kept[0] || key & CAREFUL_KEY || founds == FOUND_MAX)
		return;
	if (!found)
		found = engine_memory(FOUND_MAX * sizeof(*found));
	found[founds++] = key | (of_return ? OF_RETURN : 0);
}

void keep_flushed(void)
{
	jumps = founds = 0;
	kepts = 0;
	kept_blocks = 0;
}

/* --- the file --- */

static bool numbers_are_good(const struct header *h)
{
	for (unsigned i = 0; i < h->modules; i++)
		if (kept[i].first > h->numbers || kept[i].count > h->numbers - kept[i].first)
			return false;
	for (uint32_t i = 0; i < h->numbers; i++)
		if (kept_numbers[i] >= h->state.blocks)
			return false;
	return true;
}

static bool load(struct keep_reader *r, uint64_t key)
{
	struct blocks_part part[BLOCKS_PARTS];
	struct header h = {0};

	keep_get(r, &h, sizeof(h));
	if (!r->good || h.magic != MAGIC || h.key != key || h.modules > MODULES_MAX ||
	    h.numbers > r->left / 4 || !blocks_set_state(&h.state))
		return false;
	r->sum = 0;
	kept_numbers = engine_memory((h.numbers + 1) * sizeof(*kept_numbers));
	keep_get(r, kept, h.modules * sizeof(*kept));
	keep_get(r, kept_numbers, h.numbers * sizeof(*kept_numbers));
	blocks_parts(part);
	for (unsigned i = 0; i < BLOCKS_PARTS; i++)
		keep_get(r, part[i].at, part[i].bytes);
	if (!r->good || r->left || r->sum != h.sum || !numbers_are_good(&h))
		return false;
	kepts = h.modules;
	kept_blocks = h.state.blocks;
	return true;
}

void keep_load(void)
{
	char name[LINK_PATH_MAX];
	struct keep_reader r = {.good = true};
	uint64_t key;

	if (loaded || off || !engine_link->kept[0])
		return;
	loaded = true;
	owner = current->pid;
	key = make_key();
	keep_name(name, engine_link->kept, key);
	r.fd = syscall4(__NR_openat, AT_FDCWD, (long)name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (is_error(r.fd))
		return;
	if (keep_is_own(r.fd, KEEP_FILE, &r.left) && r.left <= BYTES_MOST && !load(&r, key)) {
		memset(kept, 0, sizeof(kept));
		blocks_flush();
	}
	syscall1(__NR_close, r.fd);
	for (unsigned i = 0; i < mappeds; i++)
		take_if_kept(&mapped[i]);
}

bool keep_is_used(void)
{
	return kepts != 0;
}

/* --- keeping --- */

static void note_targets(void)
{
	for (unsigned i = 0; i < founds; i++) {
		uint64_t code = blocks_lookup(found[i] & ~OF_RETURN);
		struct block *b = code ? block_of_code(code) : NULL;

		if (b)
			b->is_target |= found[i] & OF_RETURN ? 2 : 1;
	}
}

/* Jumps between modules go to exit slots again, and what is of more than one module is dropped. */
static bool separate(void)
{
	uint32_t n = blocks_count();

	for (uint32_t i = 0; i < n; i++) {
		struct block *b = block_at(i);

		if (b->spans && !b->gone && !block_drop(b))
			return false;
	}
	for (unsigned i = 0; i < jumps; i++) {
		if (blocks_full())
			return false;
		emit_patch((uint8_t *)(uint64_t)jump[i].rel32,
			   exit_slot_new(jump[i].key, jump[i].rel32, false));
	}
	return true;
}

/*
 * What is mapped now, with the blocks that were taken over from the file and still live, and those
 * that are new; then modules of the file that were not mapped in this run, as they were.
 */
static void list_modules(struct list *l)
{
	for (unsigned i = 0; i < mappeds; i++)
		if (mapped[i].settled)
			l->module[l->modules++] = mapped[i];
	l->used = l->modules;
	for (unsigned i = 0; i < kepts && l->modules < MODULES_MAX; i++)
		if (!kept[i].taken)
			l->module[l->modules++] = kept[i];
}

static void list_number(struct list *l, struct module *m, uint32_t number)
{
	if (block_at(number)->gone)
		return;
	l->number[l->numbers++] = number;
	m->count++;
}

static void list_kept(struct list *l, struct module *m, const struct module *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		list_number(l, m, kept_numbers[from->first + i]);
}

static void list_blocks(struct list *l)
{
	uint32_t blocks = blocks_count();

	for (unsigned k = 0; k < l->modules; k++) {
		struct module *m = &l->module[k];

		m->first = l->numbers;
		m->count = m->taken = 0;
		for (unsigned i = 0; i < kepts; i++)
			if (is_same(&kept[i].is, &m->is))
				list_kept(l, m, &kept[i]);
		for (uint32_t i = kept_blocks; k < l->used && i < blocks; i++) {
			uint64_t pc = block_at(i)->pc;

			if (pc >= m->is.start && pc < m->is.end)
				list_number(l, m, i);
		}
		if (k < l->used)
			l->live += m->count;
	}
}

static bool write_list(long folder, struct list *l, uint64_t key)
{
	struct header h = {
		.magic = MAGIC, .key = key, .modules = l->modules, .numbers = l->numbers};
	struct blocks_part part[BLOCKS_PARTS + 3] = {
		{&h, sizeof(h)},
		{l->module, l->modules * sizeof(*l->module)},
		{l->number, l->numbers * sizeof(*l->number)},
	};

	blocks_state(&h.state);
	blocks_parts(part + 3);
	for (unsigned i = 1; i < BLOCKS_PARTS + 3; i++)
		h.sum = keep_sum(h.sum, part[i].at, part[i].bytes);
	return keep_write(folder, key, part, BLOCKS_PARTS + 3);
}

static uint64_t bytes_of_parts(void)
{
	struct blocks_part part[BLOCKS_PARTS];
	uint64_t bytes = 0;

	blocks_parts(part);
	for (unsigned i = 0; i < BLOCKS_PARTS; i++)
		bytes += part[i].bytes;
	return bytes;
}

static bool is_worth_it(void)
{
	uint32_t added = blocks_count() - kept_blocks;

	return loaded && !off && !current->borrowed && current->pid == owner &&
	       added >= NEW_LEAST && added >= kept_blocks / 32 && bytes_of_parts() < BYTES_MOST;
}

void keep_save(void)
{
	uint64_t all = ~UINT64_C(0), bytes;
	struct list *l;
	long folder;

	if (!is_worth_it() || !separate())
		return;
	syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8);
	folder = syscall4(__NR_openat, AT_FDCWD, (long)engine_link->kept,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (is_error(folder))
		return;
	if (keep_is_own(folder, KEEP_FOLDER, &bytes)) {
		l = engine_memory(sizeof(*l));
		l->number = engine_memory((blocks_count() + 1) * sizeof(*l->number));
		note_targets();
		list_modules(l);
		list_blocks(l);
		if (l->live < blocks_count() / LIVE_LEAST)
			keep_remove(folder, make_key());
		else if (write_list(folder, l, make_key()))
			engine_link->kept_written = 1;
	}
	syscall1(__NR_close, folder);
}
