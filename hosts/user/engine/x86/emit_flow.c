/* SPDX-License-Identifier: MIT */
/*
 * emit_flow.c: emits the machine code that logs control flow (emit.h, flow_words.h).
 *
 * The newest record of the log is the call that will return next, if all later calls have returned.
 * So the code of a return looks there.  If it is its call, and the function is active only once,
 * it adds up what the call has cost, and takes the record away.  Otherwise it logs the return.
 *
 * A jump to another function adds a record like that of a call.  It has the stack pointer of the
 * call before, and both end with one return.  A linkage table changes the record of the call into
 * one of the function that it jumps to.
 *
 * RAX holds the next place in the log.  The first word is stored first: at the end of the log this
 * store faults before anything has been written.
 */
#include "engine/rt/context_words.h"
#include "engine/rt/flow_words.h"
#include "engine/x86/emit.h"

#define EQUAL	     4
#define NOT_EQUAL    5
#define NOT_NEGATIVE 9
#define NOT_BELOW    3
#define MISSES_MAX   8

/* The place of the sums of the first jump to a function. */
#define FIRST_JUMP(bytes) (CTX_CALLS + FLOW_CALLS_JUMPS * (bytes))

/* Places where code goes on with another record than it has hoped for. */
struct misses {
	uint8_t *rel32[MISSES_MAX];
	unsigned n;
};

static void miss_if(struct emit *e, struct misses *misses, unsigned condition)
{
	misses->rel32[misses->n++] = emit_jcc(e, condition, 0);
}

/* Missed branches come here. */
static void land(const struct emit *e, struct misses *misses)
{
	for (unsigned i = 0; i < misses->n; i++)
		emit_patch(misses->rel32[i], (uint64_t)e->at);
	misses->n = 0;
}

/* Opcodes for emit_memory(): "to" memory or "from" it. */
#define ADD_TO	      0x01
#define COMPARE_TO    0x39
#define COMPARE	      0x3b
#define MOVSXD	      0x63
#define COMPARE_VALUE 0x81
#define MOVE_TO	      0x89
#define MOVE_FROM     0x8b
#define ADDRESS	      0x8d
#define MOVE_VALUE    0xc7
/* Their operations with a value. */
#define OF_ADD	   0
#define OF_MOVE	   0
#define OF_COMPARE 7

/* TEST reg, reg */
static void test(struct emit *e, unsigned reg)
{
	emit_bytes(e, (const uint8_t[]){0x48, 0x85, (uint8_t)(0xc0 | reg << 3 | reg)}, 3);
}

/* MOV [RAX+at], reg */
static void store(struct emit *e, unsigned at, unsigned reg)
{
	emit_bytes(e, (const uint8_t[]){0x48, 0x89, (uint8_t)(0x40 | reg << 3), (uint8_t)at}, 4);
}

/* --- registers --- */

/* RAX = the next place in the log; EDX = the flags; RSI and RDI are free. */
static void begin(struct emit *e)
{
	emit_flags_save(e);
	emit_save(e, RDX, CTX_SPILL_HIGH);
	emit_save(e, RSI, CTX_SPILL_HIGH + 8);
	emit_save(e, RDI, CTX_SPILL_HIGH + 16);
	emit_bytes(e, (const uint8_t[]){0x89, 0xc2}, 2); /* MOV EDX, EAX */
	emit_load(e, RAX, CTX_LOG);
}

static void end(struct emit *e)
{
	emit_bytes(e, (const uint8_t[]){0x89, 0xd0}, 2); /* MOV EAX, EDX */
	emit_load(e, RDI, CTX_SPILL_HIGH + 16);
	emit_load(e, RSI, CTX_SPILL_HIGH + 8);
	emit_load(e, RDX, CTX_SPILL_HIGH);
	emit_flags_restore(e);
}

/* --- parts of records --- */

/* RDX = what is left of the headroom of meter m after the branch.  No flag changes. */
static void store_left(struct emit *e, const struct emit_flow *f, unsigned m)
{
	emit_load(e, RDX, f->shard[m]);
	if (f->shards > 1) {
		emit_load(e, RSI, f->shard[m] + 8);
		/* LEA RDX, [RDX+RSI+n] */
		emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x94, 0x32}, 4);
		emit32(e, (uint64_t)(int64_t)f->ahead[m]);
	} else if (f->ahead[m]) {
		emit_memory(e, ADDRESS, RDX, RDX, f->ahead[m]);
	}
	store(e, 24 + 8 * m, RDX);
}

/* Stores what is left of the headroom of each meter. */
static void store_headroom(struct emit *e, const struct emit_flow *f)
{
	if (!f->meters)
		return;
	emit_save(e, RDX, CTX_SPILL_HIGH);
	if (f->shards > 1)
		emit_save(e, RSI, CTX_SPILL_HIGH + 8);
	for (unsigned m = 0; m < f->meters; m++)
		store_left(e, f, m);
	if (f->shards > 1)
		emit_load(e, RSI, CTX_SPILL_HIGH + 8);
	emit_load(e, RDX, CTX_SPILL_HIGH);
}

/* The same between begin() and end(). */
static void store_headroom_at_once(struct emit *e, const struct emit_flow *f)
{
	for (unsigned m = 0; m < f->meters; m++) {
		emit_load(e, RSI, f->shard[m]);
		if (f->shards > 1)
			emit_add(e, RSI, f->shard[m] + 8);
		if (f->ahead[m])
			emit_memory(e, ADDRESS, RSI, RSI, f->ahead[m]);
		store(e, 24 + 8 * m, RSI);
	}
}

static void advance(struct emit *e, int32_t bytes)
{
	emit_memory(e, ADDRESS, RAX, RAX, bytes);
	emit_save(e, RAX, CTX_LOG);
}

/* Adds n to the word of the function whose place `reg` holds.  The register changes. */
static void change_active(struct emit *e, unsigned reg, int n)
{
	emit_add(e, reg, CTX_SELF);
	emit_memory_n(e, OF_ADD, reg, FLOW_BIAS, n);
}

/* Adds 1 to the word of the function of RDI, a struct flow_open. */
static void activate_open(struct emit *e)
{
	emit_bytes(e, (const uint8_t[]){0x48, 0xc1, 0xff, 32}, 4); /* SAR RDI, 32 */
	change_active(e, RDI, 1);
}

/* --- records as they are --- */

/* Marks the function at a constant address as active.  RAX is spilled. */
static void activate(struct emit *e, const struct emit_flow *f)
{
	int32_t place = flow_words_place(f->to) + FLOW_BIAS;

	emit_load(e, RAX, CTX_SELF);
	if (!f->keep_flags) {
		emit_memory_n(e, OF_ADD, RAX, place, 1);
		return;
	}
	emit_save(e, RDX, CTX_SPILL_HIGH);
	emit_memory(e, MOVE_FROM, RDX, RAX, place);
	emit_memory(e, ADDRESS, RDX, RDX, 1);
	emit_memory(e, MOVE_TO, RDX, RAX, place);
	emit_load(e, RDX, CTX_SPILL_HIGH);
}

/* The same of the function at RCX. */
static void activate_target(struct emit *e)
{
	begin(e);
	emit_bytes(e, (const uint8_t[]){0x69, 0xc1}, 2); /* IMUL EAX, ECX, n */
	emit32(e, FLOW_FACTOR);
	emit_bytes(e, (const uint8_t[]){0xc1, 0xe8, 32 - ACTIVE_BITS}, 3); /* SHR EAX */
	emit_bytes(e, (const uint8_t[]){0xc1, 0xe0, 3}, 3);		   /* SHL EAX */
	emit_add(e, RAX, CTX_SELF);
	emit_memory_n(e, OF_ADD, RAX, CTX_ACTIVE, 1);
	end(e);
}

/* RAX is spilled. */
static void emit_plain(struct emit *e, const struct emit_flow *f)
{
	emit_load(e, RAX, CTX_LOG);
	emit_log_word(e, 0, f->from | (uint64_t)f->kind << FLOW_KIND_SHIFT);
	if (f->indirect)
		store(e, 8, RCX);
	else
		emit_log_word(e, 8, f->to);
	store(e, 16, RSP);
	store_headroom(e, f);
	advance(e, (int32_t)f->bytes);
}

void emit_flow(struct emit *e, const struct emit_flow *f)
{
	bool active = f->kind == FLOW_CALL || f->kind == FLOW_JUMP;

	emit_save(e, RAX, CTX_SPILL_LOG);
	emit_plain(e, f);
	if (active && !f->indirect)
		activate(e, f);
	emit_load(e, RAX, CTX_SPILL_LOG);
	if (active && f->indirect)
		activate_target(e);
}

/* Emits the record as it is for what has missed.  Code that has not missed goes on after it. */
static void emit_otherwise(struct emit *e, const struct emit_flow *f, struct misses *misses)
{
	uint8_t *done = emit_jmp(e, 0);

	land(e, misses);
	end(e);
	emit_flow(e, f);
	emit_patch(done, (uint64_t)e->at);
}

/* --- calls --- */

static struct flow_open open_of(const struct emit_flow *f)
{
	return (struct flow_open){f->call, flow_words_place(f->to)};
}

static void store_open(struct emit *e, struct flow_open open)
{
	emit_memory32_value(e, MOVE_VALUE, OF_MOVE, RAX, 8, open.call);
	emit_memory32_value(e, MOVE_VALUE, OF_MOVE, RAX, 12, (uint32_t)open.active);
}

void emit_flow_call(struct emit *e, const struct emit_flow *f)
{
	emit_save(e, RAX, CTX_SPILL_LOG);
	emit_load(e, RAX, CTX_LOG);
	emit_log_word(e, 0, f->returns_to);
	store_open(e, open_of(f));
	store(e, 16, RSP);
	store_headroom(e, f);
	advance(e, (int32_t)f->bytes);
	activate(e, f);
	emit_load(e, RAX, CTX_SPILL_LOG);
}

/* RDI = the pair of the branch, whose id is in ESI or, if it is not 0, `id`, and of RCX. */
static void find_pair(struct emit *e, uint32_t id, struct misses *misses)
{
	struct misses other = {.n = 0};
	uint8_t *found;

	if (id) {
		emit_memory32(e, ADDRESS, RDI, RCX, (int32_t)id); /* LEA EDI, [RCX+id] */
	} else {
		emit_bytes(e, (const uint8_t[]){0x8d, 0x3c, 0x31}, 3); /* LEA EDI, [RCX+RSI] */
	}
	emit_bytes(e, (const uint8_t[]){0x69, 0xff}, 2); /* IMUL EDI, EDI, n */
	emit32(e, FLOW_FACTOR);
	emit_bytes(e, (const uint8_t[]){0xc1, 0xef, 32 - PAIR_BITS}, 3); /* SHR EDI */
	emit_bytes(e, (const uint8_t[]){0xc1, 0xe7, 6}, 3); /* SHL EDI: a set of 64 bytes */
	emit_add(e, RDI, CTX_SELF);
	for (unsigned way = 0; way < 2; way++) {
		struct misses *to = way ? misses : &other;

		if (way) {
			found = emit_jmp(e, 0);
			land(e, &other);
			emit_memory(e, ADDRESS, RDI, RDI, sizeof(struct flow_pair));
		}
		emit_memory(e, COMPARE, RCX, RDI, CTX_PAIRS);
		miss_if(e, to, NOT_EQUAL);
		if (id)
			emit_memory32_value(e, COMPARE_VALUE, OF_COMPARE, RDI, CTX_PAIRS + 8, id);
		else
			emit_memory32(e, COMPARE_TO, RSI, RDI, CTX_PAIRS + 8);
		miss_if(e, to, NOT_EQUAL);
	}
	emit_patch(found, (uint64_t)e->at);
}

#define PAIR_OPEN  (CTX_PAIRS + 16)
#define PAIR_TIMES (CTX_PAIRS + 24)

void emit_flow_call_indirect(struct emit *e, const struct emit_flow *f)
{
	struct misses misses = {.n = 0};

	begin(e);
	find_pair(e, f->site, &misses);
	emit_memory(e, MOVE_FROM, RDI, RDI, PAIR_OPEN);
	emit_log_word(e, 0, f->returns_to);
	store(e, 8, RDI);
	store(e, 16, RSP);
	store_headroom_at_once(e, f);
	advance(e, (int32_t)f->bytes);
	activate_open(e);
	end(e);
	emit_otherwise(e, f, &misses);
}

/* --- returns and jumps --- */

/* Misses if the newest record is no open call, or has another stack pointer than RSP. */
static void find_open(struct emit *e, const struct emit_flow *f, struct misses *misses)
{
	emit_memory(e, MOVSXD, RSI, RAX, 12 - (int32_t)f->bytes);
	test(e, RSI);
	miss_if(e, misses, NOT_NEGATIVE);
	emit_memory(e, COMPARE, RSP, RAX, 16 - (int32_t)f->bytes);
	miss_if(e, misses, NOT_EQUAL);
}

/* RSI = the stack pointer of the call that has returned. */
static void slot_of_return(struct emit *e)
{
	emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x74, 0x24, 0xf8}, 5); /* LEA RSI, [RSP-8] */
}

/* Misses if the branch does not return from the call of the newest record.  RSI = the place of the
 * function's word. */
static void find_return(struct emit *e, const struct emit_flow *f, struct misses *misses)
{
	int32_t newest = -(int32_t)f->bytes;

	slot_of_return(e);
	emit_memory(e, COMPARE, RSI, RAX, newest + 16);
	miss_if(e, misses, NOT_EQUAL);
	if (!f->indirect)
		emit_movabs(e, RSI, f->to);
	emit_memory(e, COMPARE, f->indirect ? RCX : RSI, RAX, newest);
	miss_if(e, misses, NOT_EQUAL);
	emit_memory(e, MOVSXD, RSI, RAX, newest + 12);
	test(e, RSI);
	miss_if(e, misses, NOT_NEGATIVE);
}

/* Adds the call of the newest record to its sums. */
static void add_up(struct emit *e, const struct emit_flow *f)
{
	int32_t newest = -(int32_t)f->bytes;

	emit_memory32(e, MOVE_FROM, RSI, RAX, newest + 8);
	emit_add(e, RSI, CTX_SELF);
	emit_memory_n(e, OF_ADD, RSI, 0, 1);
	for (unsigned m = 0; m < f->meters; m++) {
		emit_memory(e, MOVE_FROM, RDI, RAX, newest + 24 + 8 * (int32_t)m);
		emit_subtract(e, RDI, f->shard[m]);
		if (f->shards > 1)
			emit_subtract(e, RDI, f->shard[m] + 8);
		if (f->ahead[m])
			emit_memory(e, ADDRESS, RDI, RDI, -f->ahead[m]);
		emit_memory(e, ADD_TO, RDI, RSI, 8 + 8 * (int32_t)m);
	}
}

/* The call of the newest record ends, with the jumps to other functions, and stays in the log.
 * These functions are not active by it any more. */
static void end_logged(struct emit *e, const struct emit_flow *f)
{
	int32_t newest = -(int32_t)f->bytes;
	struct misses other = {.n = 0};
	uint8_t *again;

	again = e->at;
	slot_of_return(e);
	emit_memory(e, COMPARE, RSI, RAX, newest + 16);
	miss_if(e, &other, NOT_EQUAL);
	emit_memory(e, MOVSXD, RSI, RAX, newest + 12);
	test(e, RSI);
	miss_if(e, &other, NOT_NEGATIVE);
	change_active(e, RSI, -1);
	emit_memory32_value(e, MOVE_VALUE, OF_MOVE, RAX, newest + 12, (uint32_t)FLOW_NONE);
	emit_memory(e, ADDRESS, RAX, RAX, newest);
	emit_jmp(e, (uint64_t)again);
	land(e, &other);
}

/* If the newest call that the tool has got ends, its function is not active by it any more. */
static void end_told(struct emit *e)
{
	const int32_t newest = -(int32_t)sizeof(struct flow_told);
	struct misses other = {.n = 0};
	uint8_t *again = e->at;

	emit_load(e, RSI, CTX_TOLD);
	test(e, RSI);
	miss_if(e, &other, EQUAL);
	emit_memory(e, MOVE_FROM, RDI, RSI, newest);
	emit_memory(e, ADDRESS, RDI, RDI, 8);
	emit_bytes(e, (const uint8_t[]){0x48, 0x39, 0xe7}, 3); /* CMP RDI, RSP */
	miss_if(e, &other, NOT_EQUAL);
	emit_memory(e, MOVE_FROM, RDI, RSI, newest + 8);
	emit_add(e, RDI, CTX_SELF);
	emit_memory_n(e, OF_ADD, RDI, 0, -1);
	emit_memory(e, ADDRESS, RSI, RSI, newest);
	emit_save(e, RSI, CTX_TOLD);
	emit_jmp(e, (uint64_t)again);
	land(e, &other);
}

void emit_flow_return(struct emit *e, const struct emit_flow *f)
{
	int32_t newest = -(int32_t)f->bytes;
	struct misses misses = {.n = 0}, logged = {.n = 0};
	uint8_t *again, *done;

	begin(e);
	again = e->at;
	find_return(e, f, &misses);
	emit_add(e, RSI, CTX_SELF);
	emit_memory_n(e, OF_COMPARE, RSI, FLOW_BIAS, 1);
	miss_if(e, &logged, NOT_EQUAL);
	emit_memory_n(e, OF_ADD, RSI, FLOW_BIAS, -1);
	add_up(e, f);
	advance(e, newest);
	/* If that was a jump to a function, the call before it ends, too. */
	emit_memory32_value(e, COMPARE_VALUE, OF_COMPARE, RAX, 8, FIRST_JUMP(f->bytes));
	emit_jcc(e, NOT_BELOW, (uint64_t)again);
	emit_refund(e, f->counter, 1);
	end(e);
	done = emit_jmp(e, 0);
	land(e, &logged);
	end_logged(e, f);
	land(e, &misses);
	end_told(e);
	end(e);
	emit_flow(e, f);
	emit_patch(done, (uint64_t)e->at);
}

/* Adds a record with the return address and the stack pointer of the newest one, up to its second
 * word. */
static void begin_jump(struct emit *e, const struct emit_flow *f, struct misses *misses)
{
	find_open(e, f, misses);
	emit_memory(e, MOVE_FROM, RSI, RAX, -(int32_t)f->bytes);
	store(e, 0, RSI);
}

static void end_jump(struct emit *e, const struct emit_flow *f)
{
	store(e, 16, RSP);
	store_headroom_at_once(e, f);
	advance(e, (int32_t)f->bytes);
}

void emit_flow_jump(struct emit *e, const struct emit_flow *f)
{
	struct misses misses = {.n = 0};
	struct flow_open open = open_of(f);

	begin(e);
	begin_jump(e, f, &misses);
	store_open(e, open);
	end_jump(e, f);
	emit_load(e, RSI, CTX_SELF);
	emit_memory_n(e, OF_ADD, RSI, open.active + FLOW_BIAS, 1);
	end(e);
	emit_otherwise(e, f, &misses);
}

/* Emits `code` for a branch of which RCX holds the target.  RCX is spilled if the target is
 * constant. */
static void with_target(struct emit *e, const struct emit_flow *f,
			void (*code)(struct emit *e, const struct emit_flow *f))
{
	struct emit_flow indirect = *f;

	if (f->indirect) {
		code(e, f);
		return;
	}
	indirect.indirect = true;
	emit_save(e, RCX, CTX_SPILL_RCX);
	emit_movabs(e, RCX, f->to);
	code(e, &indirect);
	emit_load(e, RCX, CTX_SPILL_RCX);
}

/* Misses if RSP is not within FLOW_NEAR_BYTES below the stack pointer of the newest record.  Then
 * the jump may leave calls (longjmp()), or go to another stack. */
static void stay_in_call(struct emit *e, const struct emit_flow *f, struct misses *misses)
{
	emit_memory(e, MOVE_FROM, RSI, RAX, 16 - (int32_t)f->bytes);
	emit_bytes(e, (const uint8_t[]){0x48, 0x29, 0xe6}, 3); /* SUB RSI, RSP */
	emit_bytes(e, (const uint8_t[]){0x48, 0x81, 0xfe}, 3); /* CMP RSI, n */
	emit32(e, FLOW_NEAR_BYTES);
	miss_if(e, misses, NOT_BELOW);
}

void emit_flow_jump_inside(struct emit *e, const struct emit_flow *f)
{
	struct misses misses = {.n = 0};

	begin(e);
	stay_in_call(e, f, &misses);
	emit_refund(e, f->counter, 1);
	end(e);
	emit_otherwise(e, f, &misses);
}

static void jump_indirect(struct emit *e, const struct emit_flow *f)
{
	struct misses misses = {.n = 0}, function = {.n = 0};
	uint8_t *out;

	begin(e);
	stay_in_call(e, f, &misses);
	find_pair(e, f->site, &misses);
	emit_memory(e, MOVE_FROM, RSI, RDI, PAIR_OPEN);
	test(e, RSI);
	miss_if(e, &function, NOT_EQUAL);
	emit_memory_n(e, OF_ADD, RDI, PAIR_TIMES, 1);
	out = emit_jmp(e, 0);
	land(e, &function);
	emit_bytes(e, (const uint8_t[]){0x48, 0x89, 0xf7}, 3); /* MOV RDI, RSI */
	begin_jump(e, f, &misses);
	store(e, 8, RDI);
	end_jump(e, f);
	activate_open(e);
	emit_patch(out, (uint64_t)e->at);
	end(e);
	emit_otherwise(e, f, &misses);
}

void emit_flow_jump_indirect(struct emit *e, const struct emit_flow *f)
{
	with_target(e, f, jump_indirect);
}

static void out_of_stub(struct emit *e, const struct emit_flow *f)
{
	int32_t newest = -(int32_t)f->bytes;
	struct misses misses = {.n = 0};

	begin(e);
	find_open(e, f, &misses);
	emit_memory32(e, MOVE_FROM, RSI, RAX, newest + 8);
	find_pair(e, 0, &misses);
	emit_add(e, RSI, CTX_SELF);
	emit_memory_n(e, OF_ADD, RSI, 0, 1);
	emit_memory(e, MOVSXD, RSI, RAX, newest + 12);
	change_active(e, RSI, -1);
	emit_memory(e, MOVE_FROM, RDI, RDI, PAIR_OPEN);
	emit_memory(e, MOVE_TO, RDI, RAX, newest + 8);
	activate_open(e);
	emit_refund(e, f->counter, 1);
	end(e);
	emit_otherwise(e, f, &misses);
}

void emit_flow_out_of_stub(struct emit *e, const struct emit_flow *f)
{
	with_target(e, f, out_of_stub);
}
