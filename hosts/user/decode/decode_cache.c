/* SPDX-License-Identifier: MIT */
/*
 * decode_cache.c: a cache of decoded instructions (decode_cache.h).
 *
 * It contains instructions without legacy prefixes, of the one-byte map or after 0FH. It contains
 * only opcodes for which the bytes after the head change nothing but addresses.
 */
#include <stddef.h>
#include <string.h>

#include "hosts/user/decode/decode_cache.h"

#include "hosts/user/decode/decode_table.h"
#include "hosts/user/hash.h"

_Static_assert(sizeof(struct head) == 32, "two in a cache line");
_Static_assert(offsetof(struct insn, rip_offset) == offsetof(struct insn, length) + 7, "front");
_Static_assert(offsetof(struct insn, scale_shift) == offsetof(struct insn, memory_kind) + 3,
	       "memory");

#define REX_R	  UINT64_C(4)
#define REX_X	  UINT64_C(2)
#define REX_B	  UINT64_C(1)
#define MODRM_REG UINT64_C(0x38)
#define MODRM_RM  UINT64_C(0x07)

/* With -ffreestanding these would become calls. */
#define COPY(to, from) __builtin_memcpy(to, from, sizeof(*(to)))
#define FRONT(insn)    ((uint8_t(*)[8]) & (insn)->length)
#define MEMORY(insn)   ((uint8_t(*)[4]) & (insn)->memory_kind)

static int64_t read_value(const uint8_t *at, unsigned shift)
{
	uint64_t value;

	COPY(&value, at);
	return (int64_t)(value << shift) >> shift;
}

static bool has_rex(uint64_t code)
{
	return (code & 0xf0) == 0x40;
}

static bool has_escape(uint64_t code)
{
	return (code & 0xff) == 0x0f;
}

/* What shape_of() finds: the head's bytes at the beginning of the code (0: a head of another
 * kind), and the instruction's length as far as it is known without the cache, which is mostly
 * right.  `ignored`: the bits of the head that name registers on which nothing depends. */
struct shape {
	unsigned head, length;
	uint64_t ignored;
};

static inline struct shape shape_of(uint64_t code)
{
	unsigned rex = has_rex(code), map, class, modrm, has_modrm, has_sib, n, displacement;
	uint64_t any_rm, any_reg;

	code >>= 8 * rex;
	map = has_escape(code);
	code >>= 8 * map;
	class = decode_heads[map][code & 0xff];
	modrm = code >> 8 & 0xff;
	has_modrm = class >> HEAD_MODRM_BIT & 1;
	has_sib = has_modrm & (modrm < 0xc0) & ((modrm & 7) == 4);
	n = rex + map + 1 + has_modrm + has_sib;
	displacement = (0x0410u >> (modrm >> 6) * 4 & 15) | ((modrm & 0xc7) == 5) << 2;
	any_rm = -(uint64_t)(class >> HEAD_ANY_RM_BIT & (modrm >= 0xc0));
	any_reg = -(uint64_t)(class >> HEAD_ANY_REG_BIT & 1);
	return (struct shape){
		class ? n : 0,
		n + (displacement & -has_modrm) + (class >> HEAD_IMMEDIATE_BIT),
		((any_reg & MODRM_REG) | (any_rm & MODRM_RM)) << 8 * (rex + map + 1) |
			(-(uint64_t)rex & ((any_reg & REX_R) | (any_rm & (REX_R | REX_X | REX_B)))),
	};
}

static inline uint64_t head_of(uint64_t code, struct shape shape)
{
	return code & ((UINT64_C(1) << 8 * shape.head) - 1) & ~shape.ignored;
}

static inline struct head *place_of(struct decode_cache *heads, uint64_t bytes)
{
	return &heads->head[hash_of(bytes) >> 32 & (HEADS - 1)];
}

static unsigned displacement_bytes(const struct insn *insn, const uint8_t *code)
{
	unsigned modrm = code[insn->modrm_offset], mod = modrm >> 6, base = modrm & 7;

	if (!insn->modrm_offset || mod == 3)
		return 0;
	if (base == 4)
		base = code[insn->modrm_offset + 1] & 7;
	return mod == 1 ? 1 : mod == 2 || base == 5 ? 4 : 0;
}

static bool is_relative(const struct insn *insn)
{
	return insn->kind == INSN_JCC || insn->kind == INSN_JCXZ || insn->kind == INSN_JMP_REL ||
	       insn->kind == INSN_CALL_REL;
}

/* Returns whether the instruction belongs to the head.  VEX and similar prefixes begin as if
 * they did.  XABORT has a value where XBEGIN, with the same opcode, has an address. */
static bool is_of_head(const struct insn *insn, uint64_t bytes)
{
	unsigned rex = has_rex(bytes);

	return insn->kind != INSN_UNDEFINED && insn->kind != INSN_XBEGIN &&
	       insn->opcode_offset == rex + has_escape(bytes >> 8 * rex);
}

/* Fills in the instruction.  `rest`: the bytes after the head. */
static inline void tell(const struct head *head, const uint8_t *rest, uint64_t address,
			struct insn *insn)
{
	uint64_t displacement = (uint64_t)read_value(rest, head->displacement_shift);
	uint64_t relative = (uint64_t)read_value(rest, head->relative_shift);

	__builtin_memset(insn, 0, offsetof(struct insn, target));
	COPY(FRONT(insn), &head->front);
	COPY(MEMORY(insn), &head->memory);
	insn->displacement =
		(int64_t)(displacement & -(uint64_t)head->has_displacement) + head->displacement;
	insn->target = (address + insn->length + relative) & -(uint64_t)head->is_relative;
	insn->signals = head->signals;
}

static bool is_same(const struct insn *a, const struct insn *b)
{
	return !memcmp(a, b, offsetof(struct insn, scale_shift) + 1) &&
	       a->displacement == b->displacement && a->immediate == b->immediate &&
	       a->target == b->target && a->signals == b->signals;
}

/* Stores an instruction.  If the thread is killed meanwhile, or if the entry cannot describe the
 * whole instruction, the entry stays empty. */
static void learn(struct head *head, uint64_t bytes, unsigned n, const struct insn *insn,
		  const uint8_t *code, uint64_t address)
{
	unsigned displacement = displacement_bytes(insn, code);
	unsigned relative = is_relative(insn) ? insn->length - n : 0;
	struct insn told;

	__atomic_store_n(&head->bytes, 0, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	COPY(&head->front, FRONT(insn));
	COPY(&head->memory, MEMORY(insn));
	head->displacement_shift = (uint8_t)(64 - 8 * (displacement ? displacement : 1));
	head->relative_shift = (uint8_t)(64 - 8 * (relative ? relative : 1));
	head->has_displacement = displacement != 0;
	head->is_relative = relative != 0;
	head->signals = insn->signals;
	head->displacement = 0;
	tell(head, code + n, address, &told);
	head->displacement = (int8_t)(insn->displacement - told.displacement);
	told.displacement += head->displacement;
	if (is_same(&told, insn))
		__atomic_store_n(&head->bytes, bytes, __ATOMIC_RELEASE);
}

/* Returns the head's own length if it differs.  The processor continues with the length from
 * shape_of() before the cache entry has arrived from memory, so this must be a branch. */
static inline unsigned confirm(unsigned length, const struct insn *insn)
{
	if (insn->length != length) {
		length = insn->length;
		__asm__("" : "+r"(length));
	}
	return length;
}

/* A separate function, so that the common case needs few registers. */
static __attribute__((noinline)) unsigned decode_new(struct decode_cache *heads,
						     const uint8_t *code, size_t available,
						     uint64_t address, struct insn *insn)
{
	struct shape shape;
	uint64_t bytes;

	if (!insn_decode(code, available, address, insn))
		return 0;
	if (available >= INSN_BYTES_MAX) {
		COPY(&bytes, code);
		shape = shape_of(bytes);
		bytes = head_of(bytes, shape);
		if (bytes && is_of_head(insn, bytes))
			learn(place_of(heads, bytes), bytes, shape.head, insn, code, address);
	}
	return insn->length;
}

unsigned insn_decode_known(struct decode_cache *heads, const uint8_t *code, size_t available,
			   uint64_t address, struct insn *insn)
{
	const struct head *head;
	struct shape shape;
	uint64_t bytes;

	if (available < INSN_BYTES_MAX)
		return decode_new(heads, code, available, address, insn);
	COPY(&bytes, code);
	shape = shape_of(bytes);
	bytes = head_of(bytes, shape);
	head = place_of(heads, bytes);
	if (!bytes || head->bytes != bytes)
		return decode_new(heads, code, available, address, insn);
	tell(head, code + shape.head, address, insn);
	return confirm(shape.length, insn);
}
