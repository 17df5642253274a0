/* SPDX-License-Identifier: MIT */
/*
 * flow_words.h: what translated code uses to log and to count calls (count/flow_sums.c).  Each
 * thread has these words after the counters of its context.
 *
 * A record of a call that can be counted when it returns is, until the tool gets it: the address to
 * which it returns; struct flow_open; the stack pointer; what is left of the headroom.  Other
 * records have an enum flow_kind in their first word.
 */
#ifndef SOFTPMU_ENGINE_FLOW_WORDS_H
#define SOFTPMU_ENGINE_FLOW_WORDS_H

#include <stdint.h>

#define CTX_ACTIVE 0x840000 /* uint64_t[]: how many calls of functions have not returned */
#define CTX_TOLD   0x8c0008 /* where the next of the calls is that the tool has got */
#define CTX_PAIRS  0x8c1000 /* struct flow_pair[]: what is known of indirect branches */
#define CTX_CALLS  0x9c1000 /* the sums of each call */

#define ACTIVE_BITS	 16
#define PAIR_BITS	 14 /* sets of two */
#define FLOW_CALLS_MAX	 (1u << 17)
#define FLOW_CALLS_JUMPS (FLOW_CALLS_MAX / 4 * 3) /* from here on they are jumps to functions */

/* The sums of a call have as many bytes as a record: how often it was counted, and what that has
 * cost on each meter. */
#define FLOW_CALLS_END(bytes) (CTX_CALLS + FLOW_CALLS_MAX * (bytes))

/* The kind of a record, at this bit of its first word. */
#define FLOW_KIND_SHIFT 54
#define FLOW_KIND_MASK	(UINT64_C(7) << FLOW_KIND_SHIFT)
enum flow_kind {
	FLOW_OTHER,
	FLOW_CALL,
	FLOW_RETURN,
	FLOW_JUMP, /* to a function, perhaps */
};

#define FLOW_NEAR_BYTES 1024 /* a stack pointer so near is certainly on the same stack */

/* The second word.  It is negative, and so no address. */
struct flow_open {
	uint32_t call;	/* the place of its sums in the context */
	int32_t active; /* the place of its function's word of CTX_ACTIVE, minus FLOW_BIAS */
};
#define FLOW_BIAS 0x40000000
#define FLOW_NONE (CTX_ACTIVE + (8 << ACTIVE_BITS) - FLOW_BIAS) /* the word of no function */

/* A call that the tool has got, and that has not returned. */
struct flow_told {
	uint64_t slot;	 /* the stack pointer after the call */
	uint64_t active; /* the place of its function's word in the context */
};

/* What is known of an indirect branch to one target. */
struct flow_pair {
	uint64_t to;
	uint32_t id;	 /* of the branch; of a linkage table: flow_open.call of the call to it */
	uint32_t listed; /* the thread has a list of those that count (flow_pairs.c) */
	struct flow_open open; /* of a call, or a jump to a function; otherwise 0 */
	uint64_t times;	       /* of other jumps */
};
#define FLOW_SITE 0x80000000u /* an id that is not a flow_open.call */

#define FLOW_FACTOR 0x9e3779b1u

/* Returns the number of a function's word.  While one of two functions that share a word is active,
 * calls of the other are logged. */
static inline unsigned flow_words_active(uint64_t function)
{
	return (uint32_t)function * FLOW_FACTOR >> (32 - ACTIVE_BITS);
}

static inline int32_t flow_words_place(uint64_t function)
{
	return (int32_t)(CTX_ACTIVE + flow_words_active(function) * 8) - FLOW_BIAS;
}

static inline unsigned flow_words_set(uint32_t id, uint64_t to)
{
	return ((uint32_t)to + id) * FLOW_FACTOR >> (32 - PAIR_BITS);
}

#endif
