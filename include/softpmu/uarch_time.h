/* SPDX-License-Identifier: MIT */
/*
 * uarch_time.h: how many core clocks a processor takes for a stream of instructions.
 *
 * The model is told which blocks of instructions ran, where their accesses went, and which branches
 * were mispredicted.  The model of uarch.h can supply the mispredictions.  The model of time knows
 * no event and no counter, and can be used without the unit of unit.h.
 *
 * A block is analysed once: each instruction gets its micro-operations, latency and ports, from
 * LLVM's scheduling models, and the registers that it reads and writes.  A timeline then follows
 * the blocks with a window.  It is the instruction-window-centric model of "An Evaluation of
 * High-Level Mechanistic Core Models" (Carlson, Heirman, Eyerman, Hur and Eeckhout, ACM TACO 11(3),
 * 2014).  An instruction is dispatched in order, as the width and the reorder buffer allow.  It
 * starts when its operands are ready and a port is free, and retires in order.  A mispredicted
 * branch stops dispatch until it is resolved and the front end is full again.  So misses overlap as
 * far as the window, the data they depend on, and the fill buffers allow.
 *
 * Simplified: the front end delivers as much as dispatch takes, except at taken branches, after
 * misses, and on a core with entries (`entry`).  There is at most one scheduler (`scheduler`), and
 * no load buffer.  A port is chosen at dispatch.  A store forwards to a load that begins at the
 * same address.  Flags are two registers, CF and the others.  x87 instructions wait for each other.
 * Frequency does not change, so reference clocks are core clocks.
 *
 * Example: examples/timeline.c.
 */
#ifndef SOFTPMU_UARCH_TIME_H
#define SOFTPMU_UARCH_TIME_H

#include <softpmu/uarch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rules of a family, as a set of bits. */
#define SPMU_CORE_FUSES_INTEL	1u  /* CMP, TEST, ADD, SUB, AND, INC, DEC with some jumps */
#define SPMU_CORE_FUSES_AMD	2u  /* the same with all jumps */
#define SPMU_CORE_MICRO_FUSES	4u  /* an operation and its load take one place */
#define SPMU_CORE_UNLAMINATES	8u  /* not with an index register */
#define SPMU_CORE_ZERO_IDIOMS	16u /* XOR of a register with itself does not execute */
#define SPMU_CORE_MOVES		32u /* moves between general registers do not execute */
#define SPMU_CORE_VECTOR_MOVES	64u
#define SPMU_CORE_LEA_THREE	128u  /* LEA with base, index and displacement is slow */
#define SPMU_CORE_LEA_SCALED	256u  /* LEA with a scaled index is slow */
#define SPMU_CORE_FUSES_NOPS	512u  /* NOP with the instruction before it */
#define SPMU_CORE_FETCHES_LINES 1024u /* a line of 64 bytes in a clock, as after a taken branch */

struct spmu_core_costs; /* of instructions; the library's */

/*
 * Where a front end takes micro-operations from.  It does not change clocks: dispatch takes what it
 * wants.
 *
 * decoders	Instructions that are decoded in a clock; 0: the sources are not known.
 * sets, ways	Of the decoded instruction cache; each way has six micro-operations of 32 bytes of
 *		code, and three ways at most have the same 32 bytes.  0: there is none.
 * deliver	Micro-operations that it delivers in a clock.
 * loop		Micro-operations that the loop buffer holds; 0: there is none.
 * length	Clocks that a length-changing prefix costs.
 */
struct spmu_front_shape {
	uint16_t decoders, sets, ways, deliver, loop, length;
};

/*
 * A processor core.
 *
 * size		sizeof(struct spmu_core_shape).
 * name		The microarchitecture's name, and where its numbers are from.
 * costs	What instructions cost, of a core of the library's.
 * width	Micro-operations that are dispatched in a clock, fused ones as one; 1 to 16.
 * retire	Those that retire in a clock; 1 to 16.
 * window	Those in the reorder buffer; 1 to 512.
 * stores	Stores in the store buffer; 1 to 128.
 * fills	First-level misses that can be outstanding; 1 to 64.
 * refill	Clocks from the resolution of a mispredicted branch to the next dispatch.
 * taken	Clocks from one taken branch to the next, at least;
 * returned	and if the first one is a near return; 0: the same.
 * forward	Clocks from a store's data to a load that gets them,
 * renamed	and if the load's address is a register and a displacement; 0: the core renames
 *		memory, so that a MOV from the address of a store takes no time.
 * lea		Clocks of a LEA that is slow.
 * locked	Clocks that a LOCK prefix adds.
 * walk		Clocks of a page walk.
 * line		Clocks from one line from memory to the next, at least.
 * level	Clocks from an address to its data, by enum spmu_uarch_level.
 * front	Where micro-operations come from.
 * entry	Instructions in an entry of the decoded instruction cache, up to 64; 0: it does
 *		not limit the core.  Two entries of a line of code are delivered in a clock,
 *		and each further two of the same line two clocks later.
 * jumps	Taken branches that can be followed in a clock, 1 or 2; 0: 1.  Only with `entry`.
 * commits	Stores that go to the first level in a clock, up to 4; 0: 1.
 * scheduler	Instructions with a result in general registers or flags that can wait for their
 *		operands; 0: as many as the window holds.
 */
struct spmu_core_shape {
	size_t size;
	const char *name;
	const char *source;
	const struct spmu_core_costs *costs;
	uint16_t width, retire, window, stores, fills;
	uint16_t refill, taken, returned, forward, renamed, lea, locked, walk, line;
	uint16_t level[5];
	uint32_t rules; /* SPMU_CORE_ bits */
	struct spmu_front_shape front;
	uint16_t entry, jumps, commits, scheduler;
};

/*
 * Returns the core of this name, or NULL.  A machine of uarch.h can have its core's name with more
 * after a '-': "skylake-server" has the core "skylake".  spmu_core_shape_at() returns core number
 * `index`, or NULL.
 */
SPMU_API const struct spmu_core_shape *spmu_core_shape_find(const char *name);
SPMU_API const struct spmu_core_shape *spmu_core_shape_at(size_t index);

/* Returns what is wrong with a core, as a sentence, or NULL if nothing is. */
SPMU_API const char *spmu_core_shape_error(const struct spmu_core_shape *core);

/* One instruction of a block: its bytes, as many as it has. */
struct spmu_code {
	const uint8_t *bytes;
	uint8_t length;
};

struct spmu_timed_block; /* opaque */

#define SPMU_TIMED_INSNS_MAX 255u

/* Returns how many bytes of memory a block of `count` instructions needs. */
SPMU_API size_t spmu_timed_block_bytes(unsigned count);

/* At least spmu_timed_block_bytes(1). */
#define SPMU_TIMED_BLOCK_OF_ONE 64u

/*
 * Analyses a block: `count` instructions, 1 to SPMU_TIMED_INSNS_MAX, that run one after the other.
 *
 * memory	At least spmu_timed_block_bytes(count) bytes, aligned to 8.
 * linear	The linear address of the first instruction.
 *
 * Returns the block, which is at `memory`; NULL: `core` or `count` is out of range.  An instruction
 * whose cost is not known counts as one micro-operation of one clock.
 */
SPMU_API struct spmu_timed_block *
spmu_timed_block_create(void *memory, const struct spmu_core_shape *core, uint64_t linear,
			const struct spmu_code *code, unsigned count);

/*
 * An access of a block.
 *
 * insn		The number of its instruction in the block.
 * kind		SPMU_UARCH_LOAD, SPMU_UARCH_STORE or both; SPMU_UARCH_PREFETCH.
 * level	Where its data was, enum spmu_uarch_level.
 * walk		Whether there was a page walk.
 */
struct spmu_timed_access {
	uint64_t linear;
	uint8_t insn, kind, level;
	bool walk;
	uint16_t bytes;	     /* 0: not known, and then no store that it meets is looked for */
	uint8_t reserved[2]; /* 0 */
};

struct spmu_timeline; /* opaque: the time of one thread */

/* Returns how many bytes of memory a timeline needs. */
SPMU_API size_t spmu_timeline_bytes(void);

/*
 * Makes a timeline in `memory`, which is aligned to 64 bytes, at clock 0.  It copies `core`.
 *
 * SPMU_E_ARGUMENT: a pointer is NULL, `memory` is not aligned, or the core has a number outside its
 * range.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_timeline_create(void *memory,
							     const struct spmu_core_shape *core,
							     struct spmu_timeline **timeline);

/*
 * Runs the first `insns` instructions of a block of the same core.
 *
 * fetch	Where the block's instructions were, enum spmu_uarch_level.
 * access	Its accesses, in order of their instructions.  Loads that are not among them hit the
 *		first level.
 *
 * Cost: some ten nanoseconds for each instruction.
 */
SPMU_API void spmu_timeline_run(struct spmu_timeline *timeline,
				const struct spmu_timed_block *block, unsigned insns,
				enum spmu_uarch_level fetch, const struct spmu_timed_access *access,
				unsigned accesses);

/*
 * The same for instruction `insn` of these `insns` alone, so that the clocks of each are known.
 * Call it for each of them in order: together they do what spmu_timeline_run() does.
 *
 * fetch	The same for each of them.
 * access	The accesses of this instruction.
 */
SPMU_API void spmu_timeline_run_one(struct spmu_timeline *timeline,
				    const struct spmu_timed_block *block, unsigned insn,
				    unsigned insns, enum spmu_uarch_level fetch,
				    const struct spmu_timed_access *access, unsigned accesses);

/* The last instruction that ran was a branch, and was mispredicted. */
SPMU_API void spmu_timeline_mispredict(struct spmu_timeline *timeline);

/* Nothing was dispatched for some clocks after what has run.  For what the model does not time. */
SPMU_API void spmu_timeline_wait(struct spmu_timeline *timeline, uint64_t clocks);

/* Returns the core clocks until the last instruction has retired and the next can be dispatched. */
SPMU_API uint64_t spmu_timeline_clocks(const struct spmu_timeline *timeline);

/*
 * Lets a timeline account for its clocks from now on: slots by cause, what executes in each clock,
 * and what is outstanding.  It costs about half as much as the rest.
 */
SPMU_API void spmu_timeline_account(struct spmu_timeline *timeline);

/*
 * Lets a timeline with an account also follow where its micro-operations come from, and what clears
 * the pipeline.  The core has a front end.
 */
SPMU_API void spmu_timeline_follow_front(struct spmu_timeline *timeline);

/* Returns whether a tally needs that. */
SPMU_API bool spmu_tally_is_of_front(unsigned tally);

/* Returns how often a tally of a timeline has happened since spmu_timeline_account(); 0 for those
 * that do not follow from time. */
SPMU_API uint64_t spmu_timeline_tally(const struct spmu_timeline *timeline,
				      enum spmu_tally_kind tally);

/* Returns whether a tally follows from time. */
SPMU_API bool spmu_tally_is_timed(unsigned tally);

/* The next block's instructions were in a page that needed a walk. */
SPMU_API void spmu_timeline_fetch_walk(struct spmu_timeline *timeline);

/* Adds what follows from a timeline of a core to *supply: core and reference clocks, and tallies.
 * Tallies of ports and dividers are left out if the numbers of the core's ports are not known.
 * Tallies of the front end are left out if its sources are not known. */
SPMU_API void spmu_timeline_supplies(const struct spmu_core_shape *core,
				     struct spmu_supply *supply);

/*
 * What limits a block that runs again and again, as a loop without misses.  All times are
 * thousandths of a clock for each turn.
 *
 * loop		What the timeline takes.
 * front	Dispatch alone.
 * ports	The ports alone, with the best choice of ports.
 * chain	The longest chain of results from turn to turn alone, through registers.
 */
struct spmu_block_bounds {
	uint32_t loop, front, ports, chain;
};

/*
 * Computes the bounds of a block.  `memory`: as for spmu_timeline_create(), which it uses.  The
 * cost is that of some thousand instructions.
 */
SPMU_API struct spmu_block_bounds spmu_timed_block_bounds(const struct spmu_timed_block *block,
							  const struct spmu_core_shape *core,
							  void *memory);

/*
 * Static clocks: what the instructions of a block add to its time if every access hits the first
 * level and every branch is predicted.  A program's static clocks are the sum over its
 * instructions, which costs a host as little as counting instructions.
 */
#define SPMU_CLOCK_PARTS     16u   /* of them are a clock */
#define SPMU_CLOCK_PARTS_MAX 4095u /* that an instruction takes at most */

/*
 * A memory operand of a block whose address is a register and a displacement.
 *
 * base		The register, 0 to 15 as in a ModRM byte with REX; SPMU_PLACE_CONSTANT: none.
 * insn		The number of its instruction in the block.
 * kind		SPMU_UARCH_LOAD, SPMU_UARCH_STORE or both.
 */
#define SPMU_PLACE_CONSTANT 16u
#define SPMU_PLACES_MAX	    128u
struct spmu_timed_place {
	uint64_t displacement;
	uint8_t base, insn, kind;
	uint8_t reserved[5]; /* 0 */
};

/*
 * Computes the static clocks of a block that runs again and again, so chains of results from turn
 * to turn and ports count.  A block has at least one part.
 *
 * timeline	Of the block's core, without an account.  What it has run before does not matter,
 *		and its clocks mean nothing afterwards.
 * taken	Whether the block ends with a taken branch.  Then it takes at least as long as there
 *		is between two of them.
 * place	Where a load may meet a store of the block: `places` of them, at most
 *		SPMU_PLACES_MAX, in order of their instructions.  Those whose base the block changes
 *		are left out.  Another base or displacement is taken to be another place.
 * parts	Gets the parts of a clock of each instruction, as many as the block has.
 *
 * Cost: that of one or two hundred instructions in spmu_timeline_run().
 */
SPMU_API void spmu_timed_block_clocks(const struct spmu_timed_block *block,
				      struct spmu_timeline *timeline, bool taken,
				      const struct spmu_timed_place *place, unsigned places,
				      uint16_t *parts);

/* Adds static clocks to *supply: core and reference clocks. */
SPMU_API void spmu_static_clocks_supply(struct spmu_supply *supply);

#ifdef __cplusplus
}
#endif

#endif
