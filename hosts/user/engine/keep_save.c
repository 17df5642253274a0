/* SPDX-License-Identifier: MIT */
/*
 * keep_save.c: at the end of a process its translations are written to the file from which the next
 * run takes them (keep.c), if enough of them are new.
 *
 * The file is the user's own in a folder of the user's own, and names the image of the engine that
 * wrote it; it is written under another name first, and its sum has to agree: what is damaged or
 * from another time is as good as not there.  When most of its blocks are of no use any more the
 * file is removed, and the next run begins anew.
 */
#include <asm/unistd.h>
#include <linux/fcntl.h>

#include "emit.h"
#include "engine.h"
#include "files.h"
#include "keep_state.h"
#include "sys.h"

#define NEW_LEAST   256
#define FILE_MOST   (UINT64_C(1) << 31)
#define LIVE_LEAST  4	  /* of so many blocks one */
#define PLACES	    65536 /* of each table of indirect targets */
#define INDEX_LEAST 1024

/* What is going to be kept. */
struct list {
	struct module module[KEEP_MODULES_MAX];
	uint32_t *number, *index;
	struct kept_target *target;
	uint32_t modules, numbers, targets, index_size;
	uint32_t used, live; /* modules that are mapped, their blocks */
};

static void note_targets(void)
{
	for (unsigned i = 0; i < keep.founds; i++) {
		uint64_t code = blocks_lookup(keep.found[i] & ~KEEP_OF_RETURN);
		struct block *b = code ? block_of_code(code) : NULL;

		if (b)
			b->is_target |= (keep.found[i] & KEEP_OF_RETURN) ? 2 : 1;
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
	for (unsigned i = 0; i < keep.jumps; i++) {
		if (blocks_full())
			return false;
		emit_patch((uint8_t *)(uint64_t)keep.jump[i].rel32,
			   exit_slot_new(keep.jump[i].key, keep.jump[i].rel32));
	}
	return true;
}

/* The same part of the same file, before that was changed. */
static bool is_outdated(const struct module *m)
{
	for (unsigned i = 0; i < keep.mappeds; i++) {
		const struct identity *is = &keep.mapped[i].is;

		if (is->device == m->is.device && is->inode == m->is.inode &&
		    (is->bytes != m->is.bytes ||
		     memcmp(is->changed, m->is.changed, sizeof(is->changed)) != 0))
			return true;
	}
	return false;
}

/*
 * What is mapped now, with the blocks that were taken over from the file and still live, and those
 * that are new; then modules of the file that were not mapped in this run, as they were.
 */
static void list_modules(struct list *l)
{
	for (unsigned i = 0; i < keep.mappeds; i++)
		if (keep.mapped[i].settled)
			l->module[l->modules++] = keep.mapped[i];
	l->used = l->modules;
	for (unsigned i = 0; i < keep.kepts && l->modules < KEEP_MODULES_MAX; i++)
		if (!keep.kept[i].taken && !is_outdated(&keep.kept[i]))
			l->module[l->modules++] = keep.kept[i];
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
		list_number(l, m, keep.number[from->first + i]);
}

static void list_blocks(struct list *l)
{
	uint32_t blocks = blocks_count();

	for (unsigned k = 0; k < l->modules; k++) {
		struct module *m = &l->module[k];

		m->first = l->numbers;
		m->count = m->taken = 0;
		for (unsigned i = 0; i < keep.kepts; i++)
			if (keep_is_same(&keep.kept[i].is, &m->is))
				list_kept(l, m, &keep.kept[i]);
		for (uint32_t i = keep.blocks; k < l->used && i < blocks; i++) {
			uint64_t pc = block_at(i)->pc;

			if (pc >= m->is.start && pc < m->is.end)
				list_number(l, m, i);
		}
		if (k < l->used)
			l->live += m->count;
	}
}

/* --- how blocks are found --- */

/* The blocks of a module that are indirect targets: a chain of thunks for each place. */
static void list_targets(struct list *l, struct module *m, bool of_return, uint32_t *head)
{
	m->first_target = of_return ? m->first_target : l->targets;
	memset(head, 0, PLACES * sizeof(*head));
	for (uint32_t i = m->first; i < m->first + m->count; i++) {
		struct block *b = block_at(l->number[i]);
		uint32_t *at = &head[b->pc % PLACES];

		if (b->is_target >> of_return & 1 && !b->careful)
			*at = (uint32_t)target_chain(b, of_return, *at);
	}
	for (uint32_t i = 0; i < PLACES; i++)
		if (head[i])
			l->target[l->targets++] =
				(struct kept_target){head[i], (uint16_t)i, of_return};
	m->targets = l->targets - m->first_target;
}

static bool list_all_targets(struct list *l)
{
	uint32_t *head = engine_memory(PLACES * sizeof(*head));

	l->target = engine_memory(2 * (l->numbers + 1) * sizeof(*l->target));
	for (unsigned k = 0; k < l->modules; k++)
		for (unsigned of_return = 0; of_return < 2; of_return++) {
			if (blocks_full())
				return false;
			list_targets(l, &l->module[k], of_return, head);
		}
	return true;
}

static void list_index(struct list *l)
{
	uint32_t size = INDEX_LEAST;

	while (size < 2 * l->numbers)
		size *= 2;
	l->index_size = size;
	l->index = engine_memory(size * sizeof(*l->index));
	for (unsigned k = 0; k < l->modules; k++)
		for (uint32_t i = 0; i < l->module[k].count; i++) {
			uint32_t n = l->number[l->module[k].first + i], at;
			struct block *b = block_at(n);

			b->module = (uint8_t)k;
			b->low = 0;
			at = lookup_hash(b->careful ? b->pc | CAREFUL_KEY : b->pc);
			while (l->index[at & (size - 1)])
				at++;
			l->index[at & (size - 1)] = n + 1;
		}
}

static bool write_list(long folder, struct list *l, uint64_t key)
{
	struct keep_header h = {.magic = KEEP_MAGIC,
				.key = key,
				.modules = l->modules,
				.numbers = l->numbers,
				.targets = l->targets,
				.index = l->index_size};
	struct blocks_part part[KEEP_PARTS] = {
		[KEEP_MODULES] = {.at = l->module},
		[KEEP_NUMBERS] = {.at = l->number},
		[KEEP_TARGETS] = {.at = l->target},
		[KEEP_INDEX] = {.at = l->index},
	};

	blocks_state(&h.state);
	keep_front(&h, part);
	blocks_parts(part + KEEP_CACHE);
	return keep_write(folder, &h, part);
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
	uint32_t added = blocks_count() - keep.blocks;

	return keep.loaded && !keep.off && !current->borrowed && current->pid == keep.owner &&
	       added >= NEW_LEAST && added >= keep.blocks / 32 &&
	       bytes_of_parts() < KEEP_BYTES_MOST / 4 * 3;
}

static bool save(long folder)
{
	struct list *l = engine_memory(sizeof(*l));

	l->number = engine_memory((blocks_count() + 1) * sizeof(*l->number));
	note_targets();
	list_modules(l);
	list_blocks(l);
	if (l->live < blocks_count() / LIVE_LEAST) {
		keep_remove(folder, keep_key());
		return false;
	}
	if (!list_all_targets(l))
		return false;
	list_index(l);
	return write_list(folder, l, keep_key());
}

void keep_save(void)
{
	uint64_t all = ~UINT64_C(0);
	struct keep_stat is;
	long folder;

	if (!files_may_have(FILE_MOST) || !is_worth_it() || !separate())
		return;
	syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8);
	folder = syscall4(__NR_openat, AT_FDCWD, (long)engine_link->kept,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (is_error(folder))
		return;
	if (keep_is_own(folder, KEEP_FOLDER, &is) && save(folder))
		engine_link->kept_written = 1;
	syscall1(__NR_close, folder);
}
