/* SPDX-License-Identifier: MIT */
/*
 * emit.c: emits the machine code that the translator adds to the program's own.
 *
 * The emitted code does not change the program's stack below RSP or its vector registers.  Only
 * emit_charge() changes its flags.  Borrowed registers are saved in the context.
 *
 * Many functions write through a local copy of *e.  A store of bytes may alias *e, so the
 * compiler would read *e again after each store.
 */
#include "engine/x86/emit.h"

#include "engine/rt/context_words.h"
#include "engine/rt/contexts.h"
#include "engine/rt/sys.h"
#include "engine/x86/cpuid.h"
#include "engine/x86/opcodes.h"

uint8_t *emit_trampolines;

void emit_few(struct emit *e, const uint8_t *bytes, size_t n)
{
	uint8_t *at = e->at;

	e->at += n;
	if (n >= 8) {
		__builtin_memcpy(at, bytes, 8);
		__builtin_memcpy(at + n - 8, bytes + n - 8, 8);
	} else if (n >= 4) {
		__builtin_memcpy(at, bytes, 4);
		__builtin_memcpy(at + n - 4, bytes + n - 4, 4);
	} else if (n) {
		at[0] = bytes[0];
		at[n / 2] = bytes[n / 2];
		at[n - 1] = bytes[n - 1];
	}
}

#define LINE	32u
#define NOP_MAX 9u

static void emit_nops(struct emit *e, unsigned n)
{
	/* Vol. 2B, NOP: recommended multi-byte sequences */
	static const uint8_t nop[NOP_MAX][NOP_MAX] = {
		{0x90},
		{0x66, 0x90},
		{0x0f, 0x1f, 0x00},
		{0x0f, 0x1f, 0x40, 0x00},
		{0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
		{0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
		{0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
		{0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
	};

	for (; n >= NOP_MAX; n -= NOP_MAX)
		emit_bytes(e, nop[NOP_MAX - 1], NOP_MAX);
	emit_few(e, nop[n ? n - 1 : 0], n);
}

static unsigned place_in_line(const struct emit *e)
{
	return (uint32_t)(uint64_t)e->at % LINE;
}

void emit_line(struct emit *e)
{
	emit_nops(e, (LINE - place_in_line(e)) % LINE);
}

void emit_clear_of_line(struct emit *e, unsigned n)
{
	if (place_in_line(e) + n >= LINE && n < LINE)
		emit_line(e);
}

void emit_flags_save(struct emit *e)
{
	emit_save(e, RAX, CTX_SPILL_FLAGS);
	emit_bytes(e, (const uint8_t[]){0x9f, 0x0f, 0x90, 0xc0}, 4); /* LAHF; SETO AL */
}

void emit_flags_restore(struct emit *e)
{
	/* ADD AL, 7FH: overflows when AL is 1; SAHF */
	emit_bytes(e, (const uint8_t[]){0x04, 0x7f, 0x9e}, 3);
	emit_load(e, RAX, CTX_SPILL_FLAGS);
}

void emit_patch(uint8_t *rel32, uint64_t target)
{
	uint32_t relative = (uint32_t)(target - ((uint64_t)rel32 + 4));

	__builtin_memcpy(rel32, &relative, 4);
}

static inline uint8_t *put_jmp(struct emit *e, uint64_t target)
{
	uint8_t *at = e->at;

	e->at = at + JMP_BYTES;
	*at = OPCODE_JMP_REL32;
	emit_patch(at + 1, target);
	return at + 1;
}

uint8_t *emit_jmp(struct emit *e, uint64_t target)
{
	return put_jmp(e, target);
}

bool emit_is_jmp(uint64_t rel32)
{
	return ((const uint8_t *)rel32)[-1] == OPCODE_JMP_REL32;
}

uint8_t *emit_jcc(struct emit *e, unsigned condition, uint64_t target)
{
	struct emit at = *e;

	e->at = at.at + 6;
	emit16(&at, 0x800f | condition << 8);
	emit_patch(at.at, target);
	return at.at;
}

/* A check is a JS rel32 at one of CHECK_PLACES places among NOPs.  A check that never moves has
 * no NOPs. */
#define CHECK_PLACES 3

static unsigned check_places = 1;

void emit_start(uint64_t context)
{
	if (cpuid_is_amd()) {
		check_places = CHECK_PLACES;
		emit_context = context;
	}
}

static void write_check(struct emit *e, unsigned place, uint64_t target)
{
	static const uint64_t nops[CHECK_PLACES] = {UINT64_C(0x9066) << 48,
						    UINT64_C(0x9000000000000090), UINT64_C(0x9066)};
	uint64_t from = (uint64_t)e->at + place + 6, jcc;

	if (check_places == 1) {
		emit_jcc(e, 8 /* S */, target);
		return;
	}
	jcc = 0x880f | (uint64_t)(uint32_t)(target - from) << 16;
	emit64(e, nops[place] | jcc << 8 * place); /* one store, because this code may be running */
}

static unsigned check_place(const uint8_t *at)
{
	unsigned place = 0;

	while (at[place] != 0x0f || at[place + 1] != 0x88)
		place++;
	return place;
}

uint8_t *emit_check(struct emit *e, uint64_t target)
{
	uint8_t *check = e->at;

	write_check(e, 0, target);
	return check;
}

void emit_check_target(uint64_t check, uint64_t target)
{
	struct emit e = {(uint8_t *)check};

	write_check(&e, 0, target);
}

void emit_move_check(uint64_t check)
{
	struct emit e = {(uint8_t *)check};
	const uint8_t *rel32;
	unsigned place;
	int32_t relative;

	if (check_places == 1 || !contexts_alone())
		return; /* another thread may be running it */
	place = check_place((const uint8_t *)check);
	rel32 = (const uint8_t *)check + place + 2;
	__builtin_memcpy(&relative, rel32, 4);
	write_check(&e, (place + 1) % check_places, (uint64_t)(rel32 + 4 + relative));
}

void emit_jmp_far(struct emit *e, uint64_t target)
{
	emit8(e, 0xff);
	emit8(e, 0x25);
	emit32(e, 2); /* up to an 8-byte boundary, because the program may have set RFLAGS.AC */
	emit8(e, 0xcc);
	emit8(e, 0xcc);
	emit64(e, target);
}

void emit_leave(struct emit *e, unsigned reason, uint32_t site)
{
	emit_set_word(e, CTX_SITE, site);
	put_jmp(e, (uint64_t)emit_trampoline(reason));
}

void emit_push_address(struct emit *e, uint64_t address)
{
	if (address <= INT32_MAX) {
		emit8(e, 0x68); /* PUSH imm32, sign-extended */
		emit32(e, address);
		return;
	}
	emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x64, 0x24, 0xf8}, 5); /* LEA RSP, [RSP-8] */
	emit_bytes(e, (const uint8_t[]){0xc7, 0x04, 0x24}, 3);		   /* MOV DWORD [RSP] */
	emit32(e, address);
	emit_bytes(e, (const uint8_t[]){0xc7, 0x44, 0x24, 0x04}, 4); /* MOV DWORD [RSP+4] */
	emit32(e, address >> 32);
}

void emit_movabs(struct emit *e, unsigned reg, uint64_t value)
{
	emit8(e, 0x48);
	emit8(e, 0xb8 | reg);
	emit64(e, value);
}

uint64_t emit_rip_target(const struct insn *insn, uint64_t pc)
{
	uint64_t target = pc + insn->length + (uint64_t)insn->displacement;

	return insn->rip_address32 ? (uint32_t)target : target;
}

/* Returns whether code that ends at `end` reaches the target by a 32-bit displacement. */
static bool reaches(uint64_t end, uint64_t target)
{
	int64_t distance = (int64_t)(target - end);

	return distance == (int32_t)distance;
}

void emit_branch_operand(struct emit *e, const struct insn *insn, const uint8_t *bytes, uint64_t pc)
{
	unsigned modrm = bytes[insn->modrm_offset];
	unsigned rex = 0x48;

	if (insn->opcode_offset && (bytes[insn->opcode_offset - 1] & 0xf0) == 0x40)
		rex |= bytes[insn->opcode_offset - 1] & 3;
	if (insn->rip_offset && !reaches((uint64_t)e->at + 8, emit_rip_target(insn, pc))) {
		emit_movabs(e, RCX, emit_rip_target(insn, pc));
		if (insn->segment == PREFIX_FS)
			emit8(e, PREFIX_FS);
		emit_bytes(e, (const uint8_t[]){0x48, 0x8b, 0x09}, 3); /* MOV RCX, [RCX] */
		return;
	}
	if (insn->segment == PREFIX_FS)
		emit8(e, PREFIX_FS);
	if (insn->address32 || insn->rip_address32)
		emit8(e, 0x67);
	emit8(e, rex);
	emit8(e, 0x8b); /* MOV RCX, r/m64 */
	emit8(e, (modrm & 0xc7) | RCX << 3);
	emit_program(e, bytes + insn->modrm_offset + 1,
		     (size_t)insn->length - insn->modrm_offset - 1);
	if (insn->rip_offset)
		emit_patch(e->at - 4, emit_rip_target(insn, pc));
}

/* Clears the bits that extend the r/m operand, in REX, VEX, EVEX or XOP. */
static void clear_extension(const struct insn *insn, uint8_t *prefix)
{
	if (insn->prefix_bytes == insn->opcode_offset)
		return;
	if (is_rex(prefix[0]))
		prefix[0] &= 0xfe; /* B */
	else if (prefix[0] == PREFIX_VEX3 || prefix[0] == PREFIX_XOP)
		prefix[1] |= 0x20; /* B, inverted */
	else if (prefix[0] == PREFIX_EVEX)
		prefix[1] |= 0x60; /* X and B, inverted */
}

/* Returns the low bits of the register that VEX, EVEX or XOP names in vvvv; INSN_NO_REG: none. */
static unsigned second_register(const uint8_t *prefix)
{
	switch (prefix[0]) {
	case PREFIX_VEX2:
		return ~prefix[1] >> 3 & 7;
	case PREFIX_VEX3:
	case PREFIX_XOP:
	case PREFIX_EVEX:
		return ~prefix[2] >> 3 & 7;
	default:
		return INSN_NO_REG;
	}
}

/*
 * RSI, RDI and RBP are never implicit operands of an instruction with a ModRM byte, and it names at
 * most two others.
 */
unsigned emit_through_register(const struct insn *insn, uint8_t *copy)
{
	/*
	 * The last free one is taken.  RBP comes first, because a non-canonical operand (of BTS)
	 * raises #SS with RBP and #GP with the others.
	 */
	static const uint8_t candidates[] = {RBP, RDI, RSI};
	unsigned reg = copy[insn->modrm_offset] >> 3 & 7, scratch = RSI;
	unsigned second = second_register(copy + insn->prefix_bytes);

	clear_extension(insn, copy + insn->prefix_bytes);
	for (unsigned i = 0; i < sizeof(candidates); i++)
		if (candidates[i] != reg && candidates[i] != second)
			scratch = candidates[i];
	copy[insn->modrm_offset] = (uint8_t)(0x80 | reg << 3 | scratch);
	memset(copy + insn->modrm_offset + 1, 0, 4);
	return scratch;
}

/* Emits an instruction whose RIP-relative operand is out of reach. */
static void emit_copy_far(struct emit *e, const struct insn *insn, const uint8_t *bytes,
			  uint64_t pc)
{
	uint8_t copy[INSN_BYTES_MAX];
	unsigned scratch;

	memcpy(copy, bytes, insn->length);
	scratch = emit_through_register(insn, copy);
	emit_save(e, scratch, CTX_SPILL_FLAGS);
	emit_movabs(e, scratch, emit_rip_target(insn, pc));
	emit_few(e, copy, insn->length);
	emit_load(e, scratch, CTX_SPILL_FLAGS);
}

bool emit_reaches(uint64_t at, const struct insn *insn, uint64_t pc)
{
	return !insn->rip_offset || reaches(at + insn->length, emit_rip_target(insn, pc));
}

void emit_copy(struct emit *e, const struct insn *insn, const uint8_t *bytes, uint64_t pc)
{
	uint8_t *start = e->at;

	if (!emit_reaches((uint64_t)start, insn, pc)) {
		emit_copy_far(e, insn, bytes, pc);
		return;
	}
	emit_program(e, bytes, insn->length);
	if (insn->rip_offset) {
		uint32_t d = (uint32_t)(emit_rip_target(insn, pc) - (uint64_t)e->at);

		__builtin_memcpy(start + insn->rip_offset, &d, 4);
	}
	if (insn->kind == INSN_POPF)
		emit8(e, 0x90); /* the first trap of RFLAGS.TF comes here */
}

uint8_t *emit_jcxz(struct emit *e, const struct insn *insn, const uint8_t *bytes)
{
	uint8_t *start = e->at;

	emit_program(e, bytes, (size_t)insn->length - 1);
	for (unsigned i = 0; i < insn->prefix_bytes; i++)
		if (start[i] == PREFIX_OPERAND) /* might cut RIP to 16 bits */
			start[i] = PREFIX_DS;
	return e->at++;
}

void emit_indirect_target(struct emit *e, const struct insn *insn, uint64_t pc)
{
	emit_save(e, RCX, CTX_SPILL_RCX);
	if (insn->kind == INSN_RET) {
		emit8(e, 0x59); /* POP RCX */
		if (insn->immediate) {
			emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0xa4, 0x24}, 4);
			emit32(e, insn->immediate); /* LEA RSP, [RSP+n] */
		}
		return;
	}
	emit_branch_operand(e, insn, (const uint8_t *)pc, pc);
	if (insn->kind == INSN_CALL_IND)
		emit_push_address(e, pc + insn->length);
}

static void emit_table_jump(struct emit *e, uint64_t table)
{
	emit_bytes(e, (const uint8_t[]){0x8b, 0x0c, 0x8d}, 3); /* MOV ECX, [RCX*4+table] */
	emit32(e, table);
	emit_bytes(e, (const uint8_t[]){0xff, 0xe1}, 2); /* JMP RCX */
}

void emit_through_table(struct emit *e, uint64_t table)
{
	emit_save(e, RCX, CTX_PC);
	emit_bytes(e, (const uint8_t[]){0x0f, 0xb7, 0xc9}, 3); /* MOVZX ECX, CX */
	emit_table_jump(e, table);
}

void emit_return(struct emit *e, uint64_t table)
{
	emit_bytes(e, (const uint8_t[]){0x0f, 0xb7, 0xc9}, 3); /* MOVZX ECX, CX */
	emit_table_jump(e, table);
}

/* Emits RCX += n.  As an address, n is below 2 GiB.  No flag changes. */
static void emit_add_rcx(struct emit *e, uint64_t n)
{
	emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x89}, 3); /* LEA RCX, [RCX+n] */
	emit32(e, n);
}

uint8_t *emit_expect(struct emit *e, uint64_t pc)
{
	uint8_t *other;

	emit_add_rcx(e, 0 - pc);
	emit_bytes(e, (const uint8_t[]){0xe3, 12}, 2); /* JRCXZ over the next two instructions */
	emit_add_rcx(e, pc);
	other = emit_jmp(e, 0);
	emit_load(e, RCX, CTX_SPILL_RCX);
	return other;
}

/* Emits RCX -= pc, with the help of RAX. */
static void emit_difference_far(struct emit *e, uint64_t pc)
{
	emit_save(e, RAX, CTX_SPILL_FLAGS);
	emit_movabs(e, RAX, 0 - pc);
	emit_bytes(e, (const uint8_t[]){0x48, 0x8d, 0x0c, 0x01}, 4); /* LEA RCX, [RCX+RAX] */
	emit_load(e, RAX, CTX_SPILL_FLAGS);
}

void emit_thunk(struct emit *e, uint64_t pc, uint64_t next, bool of_return)
{
	if (of_return)
		emit_bytes(e, (const uint8_t[]){0x48, 0x8b, 0x4c, 0x24, 0xf8}, 5);
	else
		emit_load(e, RCX, CTX_PC);
	if (pc <= INT32_MAX)
		emit_add_rcx(e, 0 - pc);
	else
		emit_difference_far(e, pc);
	emit_bytes(e, (const uint8_t[]){0xe3, 5}, 2); /* JRCXZ over the jump */
	emit_jmp(e, next);
	emit_load(e, RCX, CTX_SPILL_RCX);
}

/* The parts of a thunk for an address below 2 GiB: see emit_thunk(). */
#define AFTER_RETURN  5u
#define COMPARE_BYTES 9u

uint64_t emit_chain_thunk(uint64_t end, uint64_t next, bool of_return)
{
	uint64_t rel32 = end - emit_word_bytes() - 4;

	emit_patch((uint8_t *)rel32, next);
	return rel32 - 1 - COMPARE_BYTES - (of_return ? AFTER_RETURN : emit_word_bytes());
}
