/* SPDX-License-Identifier: MIT */
/*
 * persist_save.c: writes the translations of a process at its end, if enough of them are new. The
 * next run begins with this file (persist.c).
 *
 * The file belongs to the user, in the user's folder, and names the engine's image that wrote it.
 * It is first written under another name, and its checksum must agree: a damaged or outdated file
 * is ignored.  When most of its blocks are no longer useful, the file is removed, and the next run
 * begins without one.
 */
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/stat.h>

#include "engine/cache/cache.h"
#include "engine/cache/persistent.h"
#include "engine/count/meter_list.h"
#include "engine/persist/contents.h"
#include "engine/persist/persist.h"
#include "engine/persist/persist_file.h"
#include "engine/persist/persist_state.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"

#define NEW_LEAST   256
#define FILE_MOST   (UINT64_C(1) << 31)
#define LIVE_LEAST  4	  /* one in this many blocks */
#define PLACES	    65536 /* of each table of indirect targets */
#define INDEX_LEAST 1024

/* What is going to be saved. */
struct list {
	struct module module[PERSIST_MODULES_MAX];
	uint32_t *number, *index;
	struct persistent_target *target;
	union meter_list_room variant[VARIANTS_MAX];
	uint32_t modules, numbers, targets, index_size;
	uint32_t used, live; /* modules that are mapped, their blocks */
};

static void note_targets(void)
{
	for (unsigned i = 0; i < persistent.founds; i++) {
		unsigned variant = persistent.found[i] >> PERSISTENT_VARIANT & (VARIANTS_MAX - 1);
		uint64_t code = lookup_in(
			persistent.found[i] & ((UINT64_C(1) << PERSISTENT_VARIANT) - 1), variant);
		struct block *b = code ? block_of_code(code) : NULL;

		if (b)
			b->is_target |= (persistent.found[i] & PERSISTENT_OF_RETURN) ? 2 : 1;
	}
}

/* Turns jumps between modules into exit stubs again, and drops blocks in more than one module. */
static bool separate(void)
{
	uint32_t n = blocks_count();

	for (uint32_t i = 0; i < n; i++) {
		struct block *b = block_at(i);

		if (b->spans && !b->gone && !block_drop(b))
			return false;
	}
	for (unsigned i = 0; i < persistent.jumps; i++) {
		const struct module_jump *j = &persistent.jump[i];
		const struct block *b = block_of_code(j->rel32);

		if (blocks_full())
			return false;
		emit_patch((uint8_t *)(uint64_t)j->rel32,
			   exit_stub_new(j->key, j->rel32, b ? b->variant : NO_VARIANT));
	}
	return true;
}

/* Returns whether the module is the same part of the same file, before the file was changed. */
static bool is_outdated(const struct module *m)
{
	for (unsigned i = 0; i < persist.mappeds; i++) {
		const struct module *now = &persist.mapped[i];

		if (now->file.device == m->file.device && now->file.inode == m->file.inode &&
		    now->is.offset == m->is.offset && now->is.sum != m->is.sum)
			return true;
	}
	return false;
}

/*
 * Lists what is mapped now, with the blocks that came from the file and still exist, and the new
 * ones.  Then it lists modules of the file that were not mapped in this run, unchanged.
 */
static void list_modules(struct list *l)
{
	for (unsigned i = 0; i < persist.mappeds; i++)
		if (persist.mapped[i].saveable)
			l->module[l->modules++] = persist.mapped[i];
	l->used = l->modules;
	for (unsigned i = 0; i < persistent.saved_modules && l->modules < PERSIST_MODULES_MAX; i++)
		if (!persistent.saved[i].taken && !is_outdated(&persistent.saved[i]))
			l->module[l->modules++] = persistent.saved[i];
}

static void list_number(struct list *l, struct module *m, uint32_t number)
{
	if (block_at(number)->gone)
		return;
	l->number[l->numbers++] = number;
	m->count++;
}

static void list_saved(struct list *l, struct module *m, const struct module *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		list_number(l, m, persistent.number[from->first + i]);
}

static void list_blocks(struct list *l)
{
	uint32_t blocks = blocks_count();

	for (unsigned k = 0; k < l->modules; k++) {
		struct module *m = &l->module[k];

		m->first = l->numbers;
		m->count = m->taken = 0;
		for (unsigned i = 0; i < persistent.saved_modules; i++)
			if (persist_is_same(&persistent.saved[i].is, &m->is))
				list_saved(l, m, &persistent.saved[i]);
		for (uint32_t i = persistent.blocks; k < l->used && i < blocks; i++) {
			uint64_t pc = block_at(i)->pc;

			if (pc >= m->is.start && pc < m->is.end)
				list_number(l, m, i);
		}
		if (k < l->used)
			l->live += m->count;
	}
}

/* --- how blocks are found --- */

/* Lists the blocks of a module that are indirect targets: a chain of thunks for each index. */
static void list_targets(struct list *l, struct module *m, unsigned variant, bool of_return,
			 uint32_t *head)
{
	memset(head, 0, PLACES * sizeof(*head));
	for (uint32_t i = m->first; i < m->first + m->count; i++) {
		struct block *b = block_at(l->number[i]);
		uint32_t *at = &head[b->pc % PLACES];

		if (b->is_target >> of_return & 1 && !b->low_headroom && b->variant == variant)
			*at = (uint32_t)lookup_chain_target(b, of_return, *at);
	}
	for (uint32_t i = 0; i < PLACES; i++)
		if (head[i])
			l->target[l->targets++] = (struct persistent_target){
				head[i], (uint16_t)i, of_return, (uint8_t)variant};
}

static bool list_module_targets(struct list *l, struct module *m, uint32_t *head)
{
	m->first_target = l->targets;
	for (unsigned variant = 0; variant < VARIANTS_MAX; variant++)
		for (unsigned of_return = 0; of_return < 2; of_return++) {
			if (l->variant[variant].list.meters == UINT32_MAX)
				break;
			if (blocks_full())
				return false;
			list_targets(l, m, variant, of_return, head);
		}
	m->targets = l->targets - m->first_target;
	return true;
}

static bool list_all_targets(struct list *l)
{
	uint32_t *head = heap_allocate(PLACES * sizeof(*head));

	l->target = heap_allocate(2 * (l->numbers + 1) * sizeof(*l->target));
	for (unsigned k = 0; k < l->modules; k++)
		if (!list_module_targets(l, &l->module[k], head))
			return false;
	return true;
}

static void list_index(struct list *l)
{
	uint32_t size = INDEX_LEAST;

	while (size < 2 * l->numbers)
		size *= 2;
	l->index_size = size;
	l->index = heap_allocate(size * sizeof(*l->index));
	for (unsigned k = 0; k < l->modules; k++)
		for (uint32_t i = 0; i < l->module[k].count; i++) {
			uint32_t n = l->number[l->module[k].first + i], at;
			struct block *b = block_at(n);

			b->module = (uint8_t)k;
			b->low_code = b->low_misses = 0;
			at = lookup_hash(b->low_headroom ? b->pc | LOW_HEADROOM_KEY : b->pc);
			while (l->index[at & (size - 1)])
				at++;
			l->index[at & (size - 1)] = n + 1;
		}
}

static bool write_list(long folder, struct list *l, uint64_t key)
{
	struct persist_header h = {.title = {.magic = CACHE_MAGIC,
					     .key = key,
					     .image_sum = engine_link->image_sum,
					     .blocks = l->numbers,
					     .modules = l->modules},
				   .numbers = l->numbers,
				   .targets = l->targets,
				   .index = l->index_size};
	struct blocks_part part[PERSIST_PARTS] = {
		[PERSIST_MODULES] = {.at = l->module}, [PERSIST_NUMBERS] = {.at = l->number},
		[PERSIST_TARGETS] = {.at = l->target}, [PERSIST_LISTS] = {.at = l->variant},
		[PERSIST_INDEX] = {.at = l->index},
	};
	struct text t;

	text_start(&t, h.title.program, sizeof(h.title.program));
	text_add(&t, engine_program_path);
	blocks_state(&h.state);
	persist_front(&h, part);
	blocks_parts(part + PERSIST_CACHE);
	return persist_write(folder, &h, part);
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

static bool may_save(void)
{
	return persist.loaded && !persistent.off && !current->is_vfork_child &&
	       current->pid == persist.owner;
}

static bool is_worth_it(void)
{
	uint32_t added = blocks_count() - persistent.blocks;

	return added >= NEW_LEAST && added >= persistent.blocks / 32 &&
	       bytes_of_parts() < PERSIST_BYTES_MOST / 4 * 3;
}

static bool save(long folder)
{
	struct list *l = heap_allocate(sizeof(*l));

	l->number = heap_allocate((blocks_count() + 1) * sizeof(*l->number));
	variants_get(l->variant);
	note_targets();
	list_modules(l);
	list_blocks(l);
	if (l->live < blocks_count() / LIVE_LEAST) {
		persist_remove(folder, persist_key());
		return false;
	}
	if (!list_all_targets(l))
		return false;
	list_index(l);
	return write_list(folder, l, persist_key());
}

void persist_save(void)
{
	uint64_t all = ~UINT64_C(0);
	struct persist_stat is;
	bool worth_it;
	long folder;

	if (!engine_link->cache_folder[0] || !file_may_have(FILE_MOST) || !may_save())
		return;
	worth_it = is_worth_it() && separate();
	if (!worth_it && !contents_are_new())
		return;
	syscall4(__NR_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, 8);
	folder = syscall4(__NR_openat, AT_FDCWD, (long)engine_link->cache_folder,
			  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	if (is_error(folder))
		return;
	if (persist_is_trusted(folder, S_IFDIR, &is)) {
		contents_save(folder);
		if (worth_it && save(folder))
			engine_link->cache_written = 1;
	}
	syscall1(__NR_close, folder);
}
