/* SPDX-License-Identifier: MIT */
/*
 * costs.c: what each instruction costs on a model of the machine, and the calls, returns and jumps
 * to functions between which it costs that.
 *
 * The costs are those of events (event_costs.c), or follow the rules of valgrind's cachegrind and
 * callgrind.  An instruction is one fetch.  An access that reads and writes is a read in
 * cachegrind, and a write in callgrind.  An access longer than a line is as long as a line.
 * Prefetch instructions access nothing.
 *
 * The costs of a process are in one table by address, which the thread that reports its log
 * changes.  Simplified: other code that comes to the same address later adds to the same costs.
 */
#include "engine/count/costs.h"

#include <hosts/user/hash.h>

#include "engine/count/activity.h"
#include "engine/count/activity_parts.h"
#include "engine/count/client.h"
#include "engine/count/code_files.h"
#include "engine/count/costs_parts.h"
#include "engine/count/count.h"
#include "engine/count/event_costs.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define BUCKETS_SHIFT 16
#define POOL	      512 /* costs that are allocated together */
#define INSNS	      64  /* in a record */

static struct insn_cost **bucket, *pool;
static unsigned pool_left;
static uint32_t owner; /* the process whose costs these are */

/* All threads have the same caches, as in valgrind.  Each has branch predictors of its own. */
static struct spmu_uarch *caches;

/*
 * The lines that were used last in the sets of a first-level cache, by the lowest bits of their
 * numbers.  An access to such a line hits, and changes no order of use.
 */
#define NEWEST 1024u
struct newest {
	uint64_t mask; /* fewer bits than the number of a set has, or as many */
	uint64_t line[NEWEST];
};
static struct newest newest_code, newest_data;

bool costs_wanted(void)
{
	return engine_link->want & LINK_WANT_COSTS;
}

unsigned costs_activity(void)
{
	return costs_wanted() && !current->stopped ? ACTIVITY_BRANCHES | ACTIVITY_ACCESSES : 0;
}

static void begin_newest(struct newest *newest, const struct spmu_cache_shape *shape)
{
	uint64_t sets = shape->bytes / shape->ways / shape->line_bytes;

	newest->mask = sets & (sets - 1) ? 0 : (sets < NEWEST ? sets : NEWEST) - 1;
	memset(newest->line, 0xff, sizeof(newest->line));
}

/* Returns whether an access to these bytes is known to hit.  Otherwise they are the newest now. */
static inline bool is_newest(struct newest *newest, uint64_t address, uint32_t bytes,
			     uint32_t line_bytes)
{
	unsigned shift = (unsigned)__builtin_ctz(line_bytes);
	uint64_t first = address >> shift, last = (address + bytes - 1) >> shift;
	bool hits = first == last && newest->line[first & newest->mask] == first;

	newest->line[first & newest->mask] = first;
	newest->line[last & newest->mask] = last;
	return hits;
}

/* Makes the caches, which are empty. */
static void make_caches(void)
{
	static void *memory;
	const struct spmu_uarch_config config = {
		.size = sizeof(config), .machine = &engine_link->machine, .threads = 1};
	size_t bytes = spmu_uarch_bytes(&config);

	if (!memory)
		memory = heap_allocate(bytes);
	if (spmu_uarch_create(memory, bytes, &config, &caches) != SPMU_OK)
		engine_fail(125, "the model of the machine cannot be created");
	begin_newest(&newest_code, &engine_link->machine.l1i);
	begin_newest(&newest_data, &engine_link->machine.l1d);
}

struct costs *costs_new(void)
{
	struct costs *c;

	if (!costs_wanted())
		return NULL;
	c = heap_allocate(sizeof(*c));
	c->counts = client_counts();
	activity_begin_report();
	if (!caches && !event_costs_wanted())
		make_caches();
	activity_end_report();
	return c;
}

void costs_clear_caches(void)
{
	if (!caches)
		return;
	activity_begin_report();
	make_caches();
	activity_end_report();
}

/* --- the table -------------------------------------------------------------------------------- */

/* Returns the costs of an instruction.  No other thread reports. */
static struct insn_cost *find(uint64_t pc, unsigned bytes)
{
	struct insn_cost **place, *insn;

	if (!bucket)
		bucket = heap_allocate(sizeof(struct insn_cost *) << BUCKETS_SHIFT);
	owner = current->pid;
	place = &bucket[hash_of(pc) >> (64 - BUCKETS_SHIFT)];
	for (insn = *place; insn; insn = insn->next)
		if (insn->pc == pc)
			break;
	if (!insn) {
		if (!pool_left) {
			pool = heap_allocate(POOL * sizeof(*pool));
			pool_left = POOL;
		}
		insn = &pool[--pool_left];
		insn->pc = pc;
		insn->next = *place;
		*place = insn;
	}
	insn->bytes = bytes;
	return insn;
}

struct insn_cost *costs_find(uint64_t pc, const struct insn *insn)
{
	struct insn_cost *found;

	if (!costs_wanted())
		return NULL;
	activity_begin_report();
	found = find(pc, insn->length);
	event_costs_describe(found, insn->signals | SPMU_SIGBIT(INSTRUCTIONS));
	activity_end_report();
	return found;
}

void costs_describe(struct activity_block *b, const uint64_t *pc, const struct insn *insn)
{
	if (!costs_wanted())
		return;
	b->costs = activity_allocate(b->insns * sizeof(struct insn_cost *));
	for (unsigned i = 0; i < b->insns; i++)
		b->costs[i] = costs_find(pc[i], &insn[i]);
	b->code.last = b->costs[b->insns - 1];
}

static void clear(struct insn_cost *insn)
{
	insn->times = 0;
	memset(insn->cost, 0, sizeof(insn->cost));
}

void costs_begin_again(struct activity *a)
{
	if (!a->costs)
		return;
	a->costs->calls = 0;
	event_costs_skip(a);
	if (owner == current->pid)
		return;
	for (unsigned i = 0; bucket && i < 1u << BUCKETS_SHIFT; i++)
		for (struct insn_cost *insn = bucket[i]; insn; insn = insn->next)
			clear(insn);
	owner = current->pid;
}

/* --- what ran --------------------------------------------------------------------------------- */

static inline void add(struct costs *c, struct insn_cost *insn, enum link_cost what)
{
	insn->cost[what] += c->counts;
	c->cost[what] += c->counts;
}

/* Adds the misses of an access that found its data at a level. */
static inline void add_misses(struct costs *c, struct insn_cost *insn, enum spmu_uarch_level level,
			      enum link_cost first, enum link_cost last)
{
	if (level == SPMU_LEVEL_L1)
		return;
	add(c, insn, first);
	if (level == SPMU_LEVEL_MEMORY)
		add(c, insn, last);
}

void costs_fetch(struct activity *a, struct insn_cost *insn)
{
	struct costs *c = a->costs;

	add(c, insn, LINK_COST_IR);
	if (!is_newest(&newest_code, insn->pc, insn->bytes, engine_link->machine.l1i.line_bytes))
		add_misses(c, insn, spmu_uarch_fetch(caches, 0, insn->pc, insn->bytes),
			   LINK_COST_I1MR, LINK_COST_ILMR);
}

void costs_access(struct activity *a, struct insn_cost *insn, uint64_t address, uint32_t bytes,
		  unsigned kind)
{
	struct costs *c = a->costs;
	uint32_t line_bytes = engine_link->machine.l1d.line_bytes;
	bool loads = kind & SPMU_UARCH_LOAD &&
		     !(kind & SPMU_UARCH_STORE && engine_link->want & LINK_WANT_CHANGES_WRITE);
	enum spmu_uarch_level level;

	if (kind & SPMU_UARCH_PREFETCH)
		return;
	c->pointer = loads ? address + bytes : address;
	add(c, insn, loads ? LINK_COST_DR : LINK_COST_DW);
	if (bytes > line_bytes)
		bytes = line_bytes;
	if (is_newest(&newest_data, address, bytes, line_bytes))
		return;
	level = spmu_uarch_access(caches, 0, address, bytes,
				  loads ? SPMU_UARCH_LOAD : SPMU_UARCH_STORE);
	add_misses(c, insn, level, loads ? LINK_COST_D1MR : LINK_COST_D1MW,
		   loads ? LINK_COST_DLMR : LINK_COST_DLMW);
}

void costs_block(struct activity *a, const struct activity_block *b, const uint64_t *word,
		 unsigned insns)
{
	const struct spmu_uarch_block_access *at = b->access, *end = at + b->run.accesses;

	for (unsigned i = 0; i < insns; i++) {
		costs_fetch(a, b->costs[i]);
		for (; at < end && at->insn == i; at++)
			costs_access(a, b->costs[i], activity_address(a, at, word), at->bytes,
				     at->kind);
	}
}

/* --- calls ------------------------------------------------------------------------------------ */

static void write_calls(struct costs *c)
{
	struct link_calls *head = (struct link_calls *)c->record;

	if (!c->calls)
		return;
	head->header.type = LINK_REC_CALLS;
	head->header.bytes = (uint32_t)(sizeof(*head) + c->calls * sizeof(struct link_call));
	head->pid = current->pid;
	head->tid = current->tid;
	head->tsc = read_tsc();
	ring_write(&head->header);
	c->calls = 0;
}

static void add_call(struct costs *c, enum link_call_kind kind, uint64_t from, uint64_t to,
		     uint64_t pointer)
{
	struct link_call *call = &((struct link_calls *)c->record)->call[c->calls++];

	*call = (struct link_call){.kind = kind, .from = from, .to = to, .pointer = pointer};
	memcpy(call->cost, c->cost, sizeof(call->cost));
	if (c->calls == COSTS_CALLS)
		write_calls(c);
}

void costs_jump(struct activity *a, const struct activity_code *code, uint64_t to)
{
	if (code_files_marked(LINK_MARK_START, to))
		add_call(a->costs, LINK_CALL_JUMP, code->pc + code->branch_at, to, 0);
}

/* Adds a branch to its instruction. */
static void add_branch(struct costs *c, struct insn_cost *insn, uint8_t kind, bool missed)
{
	bool indirect = kind == SPMU_BRANCH_INDIRECT || kind == SPMU_BRANCH_INDIRECT_CALL;

	if (!indirect && kind != SPMU_BRANCH_CONDITIONAL)
		return;
	add(c, insn, indirect ? LINK_COST_BI : LINK_COST_BC);
	if (missed)
		add(c, insn, indirect ? LINK_COST_BIM : LINK_COST_BCM);
}

void costs_branch(struct activity *a, const struct activity_code *code,
		  const struct spmu_executed_branch *branch, bool missed)
{
	struct costs *c = a->costs;

	if (event_costs_wanted())
		event_costs_branch(a, code->last, branch);
	else
		add_branch(c, code->last, branch->kind, missed);
	switch (branch->kind) {
	case SPMU_BRANCH_CALL:
	case SPMU_BRANCH_INDIRECT_CALL:
		if (branch->to != branch->next)
			add_call(c, LINK_CALL, branch->from, branch->to, c->pointer);
		break;
	case SPMU_BRANCH_RETURN:
		add_call(c, LINK_CALL_RETURN, branch->from, branch->to, c->pointer);
		break;
	default:
		if (branch->taken)
			costs_jump(a, code, branch->to);
	}
}

/* --- records ---------------------------------------------------------------------------------- */

static void write_insns(struct link_costs *head, unsigned insns)
{
	if (!insns)
		return;
	head->header.type = LINK_REC_COSTS;
	head->header.bytes = (uint32_t)(sizeof(*head) + insns * sizeof(struct link_insn_cost));
	head->pid = current->pid;
	head->tid = current->tid;
	head->tsc = read_tsc();
	ring_write(&head->header);
}

static bool is_any(const struct insn_cost *insn)
{
	uint64_t any = insn->times;

	for (unsigned i = 0; i < LINK_COSTS; i++)
		any |= insn->cost[i];
	return any;
}

/* Moves the costs of all instructions to records.  No other thread reports. */
static void write_costs(void)
{
	uint64_t record[(sizeof(struct link_costs) + INSNS * sizeof(struct link_insn_cost)) / 8];
	struct link_costs *head = (struct link_costs *)record;
	unsigned n = 0;

	for (unsigned i = 0; bucket && i < 1u << BUCKETS_SHIFT; i++) {
		for (struct insn_cost *insn = bucket[i]; insn; insn = insn->next) {
			if (!is_any(insn))
				continue;
			head->insn[n].pc = insn->pc;
			head->insn[n].times =
				event_costs_wanted() ? insn->times : insn->cost[LINK_COST_IR];
			memcpy(head->insn[n++].cost, insn->cost, sizeof(insn->cost));
			clear(insn);
			if (n == INSNS) {
				write_insns(head, n);
				n = 0;
			}
		}
	}
	write_insns(head, n);
}

void costs_switch(bool on)
{
	struct activity *a = activity_mine();

	if (a && a->costs)
		a->costs->counts = on;
}

void costs_publish(void)
{
	struct activity *a = activity_mine();

	if (!costs_wanted() || !a)
		return;
	activity_begin_report();
	add_call(a->costs, LINK_CALL_END, 0, 0, 0);
	write_calls(a->costs);
	write_costs();
	activity_end_report();
}

void costs_dump(bool zero)
{
	struct link_dump r = {
		.header = {LINK_REC_DUMP, sizeof(r)},
		.pid = current->pid,
		.tid = current->tid,
		.tsc = read_tsc(),
		.zero = zero,
	};

	costs_publish();
	ring_write(&r.header);
}
