/* SPDX-License-Identifier: MIT */
/*
 * uarch.h: a model of a machine's caches, TLBs and branch predictors.
 *
 * The model is told what ran: instruction fetches, memory accesses in order, and branches with
 * their outcomes.  It counts what a machine of a given shape would have had to do for them.  It
 * knows no event, counter or program, and can be used without the unit of unit.h.
 *
 * A machine is a structure that a program can fill in.  The library has the shapes of real machines
 * (spmu_machine_find()), and each names the source of its numbers.
 *
 * Simplified: accesses happen one after the other, so nothing is in flight.  Addresses are linear
 * addresses, in place of physical ones, unless the program knows both.  All threads of a model
 * share the last level and have the other levels to themselves, as on separate cores.
 *
 * Example: examples/uarch.c.
 */
#ifndef SOFTPMU_UARCH_H
#define SOFTPMU_UARCH_H

#include <softpmu/signals.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a full set of a cache chooses the line that is replaced. */
enum spmu_replacement_policy {
	SPMU_REPLACE_LRU = 0,
	SPMU_REPLACE_FIFO,
	SPMU_REPLACE_TREE_PLRU, /* a binary tree of bits; the number of ways is a power of two */
	SPMU_REPLACE_MRU,	/* a bit for each way, also called bit-PLRU; at most 32 ways */
	SPMU_REPLACE_QLRU,	/* ages of two bits: "quad-age LRU" */
};

/*
 * A policy and its parameters.  The parameters are those of QLRU, named as by Abel and Reineke
 * (nanoBench, ISPASS 2020): QLRU_H<hit_from_3><hit_from_2>_M<insert>_R<victim>_U<update>, with _UMO
 * if update_on_miss is set.  0 for other policies.
 */
struct spmu_replacement {
	uint8_t policy;		/* enum spmu_replacement_policy */
	uint8_t hit_from_3;	/* the age after a hit on an entry of age 3: 0 to 2 */
	uint8_t hit_from_2;	/* the same for age 2: 0 or 1; for other ages it is 0 */
	uint8_t insert;		/* the age of a new line: 0 to 3 */
	uint8_t victim;		/* 0, 1 or 2: which line is replaced */
	uint8_t update;		/* 0 to 3: how the other ages follow */
	uint8_t update_on_miss; /* 1: ages follow before a replacement, not after each access */
	uint8_t reserved;	/* 0 */
};

/* A cache.  `bytes` 0 means that the machine has no such cache. */
struct spmu_cache_shape {
	uint32_t bytes;
	uint16_t ways;
	uint16_t line_bytes; /* a power of two; the same in all caches of a machine */
	struct spmu_replacement replacement;
};

/* A TLB.  `entries` 0 means that the machine has no such TLB. */
struct spmu_tlb_shape {
	uint16_t entries;
	uint16_t ways;
	uint32_t page_shifts; /* bit n: it holds pages of 2^n bytes */
};

/* How conditional branches are predicted. */
enum spmu_conditional_predictor {
	SPMU_PREDICT_NONE = 0, /* every branch is predicted correctly */
	SPMU_PREDICT_BIMODAL,  /* two-bit counters by address */
	SPMU_PREDICT_GSELECT,  /* two-bit counters by history and address, side by side */
	SPMU_PREDICT_GSHARE,   /* two-bit counters by history and address, exclusive-or */
	SPMU_PREDICT_TAGE,     /* tables of tagged counters with histories of growing length */
};

/*
 * The branch predictors.
 *
 * conditional	  enum spmu_conditional_predictor.
 * address_bits	  BIMODAL, GSELECT: address bits in the index.  GSHARE: bits of the index.
 *		  TAGE: bits of the index of the table without tags.  At most 20.
 * history_bits	  GSELECT, GSHARE: branches of history in the index; with GSELECT, at most 20
 *		  together with address_bits.  TAGE: the longest history, at most 256.
 * tables	  TAGE: how many tagged tables there are, at most 12.
 * table_bits	  TAGE: bits of their index, at most 12.
 * tag_bits	  TAGE: bits of a tag, at most 12.
 * indirect_bits  Indirect jumps and calls: bits of the index of a table of last targets, at most
 *		  14; 0: every one is predicted correctly.
 * indirect_history  How many of the newest targets are mixed into that index; 0: none.
 * return_stack	  Entries of the return stack, at most 64; 0: every return is predicted correctly.
 */
struct spmu_predictor_shape {
	uint8_t conditional;
	uint8_t address_bits;
	uint16_t history_bits;
	uint8_t tables;
	uint8_t table_bits;
	uint8_t tag_bits;
	uint8_t indirect_bits;
	uint8_t indirect_history;
	uint8_t return_stack;
	uint8_t reserved[2]; /* 0 */
};

/* How the last level relates to the others. */
enum spmu_inclusion {
	SPMU_NONINCLUSIVE = 0, /* a line that is read goes into all levels */
	SPMU_INCLUSIVE,	       /* also, a line that leaves the last level leaves the others */
	SPMU_VICTIM,	       /* the last level gets the lines that leave the previous level */
};

/* Properties of a machine, as a set of bits. */
#define SPMU_MACHINE_WRITE_BACK                                                                    \
	1u /* a changed line that is replaced is written to the next level */
#define SPMU_MACHINE_JOINED_SPLITS 2u /* an access that crosses lines is one access in each level */
#define SPMU_MACHINE_NEXT_LINE	   4u /* a miss of the first data level also gets the next line */
#define SPMU_MACHINE_ADJACENT_LINE                                                                 \
	8u /* a miss of the second level also fetches its 128-byte neighbour */
#define SPMU_MACHINE_STLB_FOR_DATA 16u /* fetches do not use the second level of the TLB */
#define SPMU_MACHINE_STREAMER	   32u /* the second level follows streams of requests in a page */
#define SPMU_MACHINE_WALK_READS	   64u /* page walks read page tables through the data caches */

/*
 * A machine.
 *
 * size		sizeof(struct spmu_machine).
 * name		The machine's name, and where its numbers are from; both may be NULL.
 * l1i to llc	The caches.  l1i and l1d are needed, l2 and llc are not.
 *		If there are two levels, the second is `llc`.
 * itlb to stlb	The TLBs: for instructions and data, one entry for each size of page that has its
 *		own, and the second level, which both use, unless it is for data alone.
 * paging	Entries of the paging-structure caches, fully associative, at most 256: for PDEs,
 *		PDPTEs and PML4Es.  They shorten walks with SPMU_MACHINE_WALK_READS.
 * load_clocks	How many core clocks a load takes whose data is at each place (enum
 *		spmu_uarch_level); all 0: not known.
 */
struct spmu_machine {
	size_t size;
	const char *name;
	const char *source;
	struct spmu_cache_shape l1i, l1d, l2, llc;
	struct spmu_tlb_shape itlb[2], dtlb[3], stlb[2];
	struct spmu_predictor_shape predictor;
	uint32_t properties; /* SPMU_MACHINE_ bits */
	uint8_t inclusion;   /* enum spmu_inclusion */
	uint8_t reserved[3]; /* 0 */
	uint16_t paging[3];
	uint16_t load_clocks[5];
};

/*
 * What a model counts, for each thread.  X(name, meaning).  Add at the end only.
 */
#define SPMU_UARCH_LIST(X)                                                                         \
	X(FETCHES, "instruction fetches that were reported")                                       \
	X(FETCH_L1_MISSES, "fetches that missed the first-level instruction cache")                \
	X(FETCH_L2_MISSES, "fetches that missed the second level, too")                            \
	X(FETCH_LLC_MISSES, "fetches that missed every cache")                                     \
	X(LOADS, "accesses that load; prefetch instructions are not among them")                   \
	X(LOAD_L1_MISSES, "loads that missed the first-level data cache")                          \
	X(LOAD_L2_MISSES, "loads that missed the second level, too")                               \
	X(LOAD_LLC_MISSES, "loads that missed every cache")                                        \
	X(LOAD_SPLITS, "loads that crossed a cache line")                                          \
	X(STORES, "accesses that store")                                                           \
	X(STORE_L1_MISSES, "stores that missed the first-level data cache")                        \
	X(STORE_L2_MISSES, "stores that missed the second level, too")                             \
	X(STORE_LLC_MISSES, "stores that missed every cache")                                      \
	X(STORE_SPLITS, "stores that crossed a cache line")                                        \
	X(ITLB_MISSES, "fetches that missed the first-level instruction TLB")                      \
	X(ITLB_WALKS, "page walks for fetches")                                                    \
	X(DTLB_LOAD_MISSES, "loads that missed the first-level data TLB")                          \
	X(DTLB_LOAD_WALKS, "page walks for loads")                                                 \
	X(DTLB_STORE_MISSES, "stores that missed the first-level data TLB")                        \
	X(DTLB_STORE_WALKS, "page walks for stores")                                               \
	X(PREFETCHES, "lines that a prefetcher or a prefetch instruction brought in")              \
	X(MEMORY_READS, "lines that were read from memory")                                        \
	X(MEMORY_WRITES, "lines that were written to memory")                                      \
	X(SNOOP_HITS, "lines that another thread had, unchanged")                                  \
	X(SNOOP_MODIFIED, "lines that another thread had changed (HITM)")                          \
	X(CONDITIONALS, "conditional branches")                                                    \
	X(CONDITIONAL_MISSES, "conditional branches that were mispredicted")                       \
	X(INDIRECTS, "indirect jumps and calls")                                                   \
	X(INDIRECT_MISSES, "indirect jumps and calls that were mispredicted")                      \
	X(RETURNS, "near returns")                                                                 \
	X(RETURN_MISSES, "near returns that were mispredicted")                                    \
	X(WALK_READS, "entries of page tables that page walks read")                               \
	X(WALK_L1_MISSES, "those reads that missed the first-level data cache")                    \
	X(WALK_L2_MISSES, "those reads that missed the second level, too")                         \
	X(WALK_LLC_MISSES, "those reads that missed every cache")                                  \
	X(FETCH_SNOOP_HITS, "fetches of lines that another thread had, unchanged")                 \
	X(FETCH_SNOOP_MODIFIED, "fetches of lines that another thread had changed")                \
	X(LOAD_SNOOP_HITS, "loads of lines that another thread had, unchanged")                    \
	X(LOAD_SNOOP_MODIFIED, "loads of lines that another thread had changed")                   \
	X(STORE_SNOOP_HITS, "stores to lines that another thread had, unchanged")                  \
	X(STORE_SNOOP_MODIFIED, "stores to lines that another thread had changed")                 \
	X(TAKEN_MISSES, "conditional branches that were taken and mispredicted")                   \
	X(CALL_MISSES, "indirect calls that were mispredicted")                                    \
	X(L2_LINES_OUT, "unchanged lines that left the second level")                              \
	X(L2_WRITEBACKS, "changed lines that left the second level")

enum spmu_uarch_count {
#define SPMU_X(name, meaning) SPMU_UARCH_##name,
	SPMU_UARCH_LIST(SPMU_X)
#undef SPMU_X
		SPMU_UARCH_COUNTS
};

/* Where the data of an access came from. */
enum spmu_uarch_level {
	SPMU_LEVEL_L1 = 0,
	SPMU_LEVEL_L2,
	SPMU_LEVEL_LLC,
	SPMU_LEVEL_OTHER, /* another thread's cache, which had changed the line */
	SPMU_LEVEL_MEMORY,
};

struct spmu_uarch; /* opaque */

/*
 * What a model is made of.
 *
 * size		sizeof(struct spmu_uarch_config).
 * machine	The machine; the library copies it.
 * threads	How many threads execute, 1 to 64.
 * page_shift	Returns the page size of a linear address as a power of two (12, 21, 30); NULL: all
 *		pages have 4 KB.  It gets `opaque`.
 * load_threshold
 *		The tally LOAD_LATENCY counts loads that take at least as many core clocks;
 *		0: none.
 * peer		Another model whose last level the threads of this one share, for hosts that do
 *		not know at first how many threads there will be; NULL: none.  Both have the same
 *		shape of last level.  Only one thread of the host at a time may report to models
 *		that share one, except branches.  None of them may be made anew.
 */
struct spmu_uarch_config {
	size_t size;
	const struct spmu_machine *machine;
	unsigned threads;
	unsigned (*page_shift)(void *opaque, uint64_t linear);
	void *opaque;
	uint32_t load_threshold;
	uint32_t reserved; /* 0 */
	struct spmu_uarch *peer;
};

#define SPMU_UARCH_THREADS_MAX 64

/*
 * Returns how many bytes of memory a model needs, or 0 if spmu_uarch_create() would refuse the
 * configuration with SPMU_E_ARGUMENT.
 */
SPMU_API size_t spmu_uarch_bytes(const struct spmu_uarch_config *config);

/*
 * Makes a model in `memory`.  All caches, TLBs and predictors are empty.
 *
 * memory	At least spmu_uarch_bytes() bytes, aligned to 64 bytes.  It must stay valid, and at
 *		the same address, as long as the model is used.  There is nothing to release.
 * model	Receives the model; unchanged on error.
 *
 * SPMU_E_ARGUMENT: a pointer is NULL, `memory` is not aligned, or the configuration or the machine
 * has a number outside its range.  spmu_machine_error() says which.
 * SPMU_E_SPACE: `bytes` is too small.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_uarch_create(void *memory, size_t bytes,
							  const struct spmu_uarch_config *config,
							  struct spmu_uarch **model);

/* Returns what is wrong with a machine, as a sentence, or NULL if nothing is. */
SPMU_API const char *spmu_machine_error(const struct spmu_machine *machine);

/*
 * Returns the machine of this name, or NULL.  spmu_machine_at() returns machine number `index`, or
 * NULL for a number out of range.
 */
SPMU_API const struct spmu_machine *spmu_machine_find(const char *name);
SPMU_API const struct spmu_machine *spmu_machine_at(size_t index);

/*
 * Returns the machine of a processor whose unit the library models, by the name of the model, or
 * NULL for another name.  Several models can have one machine.
 */
SPMU_API const struct spmu_machine *spmu_machine_of_model(const char *model);

/*
 * Reports the fetch of an instruction, or of consecutive bytes of instructions, by a thread.
 *
 * linear	The linear address of the first byte.
 * bytes	How many bytes, at least 1.
 *
 * Returns where the farthest of its lines came from.  Cost: about ten nanoseconds if the line is
 * in the first level.  It grows with the number of ways and levels.
 */
SPMU_API enum spmu_uarch_level spmu_uarch_fetch(struct spmu_uarch *model, unsigned thread,
						uint64_t linear, uint32_t bytes);

/* What a reported access does, as a set of bits. */
#define SPMU_UARCH_LOAD	    1u
#define SPMU_UARCH_STORE    2u
#define SPMU_UARCH_PREFETCH 4u /* a prefetch instruction: counts in PREFETCHES alone */

/*
 * Reports an access to data memory by a thread.  An access that loads and stores counts as both,
 * and the load comes first.
 *
 * linear	The linear address of the first byte.
 * bytes	How many bytes, at least 1.
 * kind		SPMU_UARCH_ bits.
 *
 * Returns where the farthest of its lines came from.  Cost: as for spmu_uarch_fetch().
 */
SPMU_API enum spmu_uarch_level spmu_uarch_access(struct spmu_uarch *model, unsigned thread,
						 uint64_t linear, uint32_t bytes, unsigned kind);

/* A fetch, among what spmu_uarch_accesses() reports. */
#define SPMU_UARCH_FETCH 8u

/* One of several accesses and fetches: see spmu_uarch_access() and spmu_uarch_fetch(). */
struct spmu_uarch_reference {
	uint64_t linear;
	uint32_t bytes;
	uint32_t kind; /* SPMU_UARCH_ bits; SPMU_UARCH_FETCH alone is a fetch */
};

/*
 * Reports `count` accesses and fetches of a thread, in order.  The model counts the same as for
 * one call each, at a lower cost for those that hit the first levels.
 */
SPMU_API void spmu_uarch_accesses(struct spmu_uarch *model, unsigned thread,
				  const struct spmu_uarch_reference *list, size_t count);

/*
 * An access or a fetch in an address space with page tables, as an emulator of a whole machine has
 * it.  TLBs work with the linear address, and caches with the physical one.
 *
 * linear	The linear address of the first byte.
 * physical	Its physical address.
 * next_page	If the access goes on in the next 4 KB: the physical address where they begin.
 * bytes	How many bytes, 1 to 4096.
 * page_shift	The size of the pages, as a power of two: 12, 21 or 30.
 * kind		SPMU_UARCH_ bits; SPMU_UARCH_FETCH alone is a fetch.
 */
struct spmu_uarch_translated {
	uint64_t linear;
	uint64_t physical;
	uint64_t next_page;
	uint16_t bytes;
	uint8_t page_shift;
	uint8_t kind;
	uint8_t reserved[4]; /* 0 */
};

/*
 * Reports such an access or fetch of a thread.  A model gets all of its accesses by this function,
 * or none.  Returns, counts and costs the same as spmu_uarch_access() and spmu_uarch_fetch().
 */
SPMU_API enum spmu_uarch_level
spmu_uarch_access_translated(struct spmu_uarch *model, unsigned thread,
			     const struct spmu_uarch_translated *access);

/*
 * Forgets translations of a thread, because its page tables have changed: all of them, or those of
 * the page with a linear address.
 */
SPMU_API void spmu_uarch_forget_translations(struct spmu_uarch *model, unsigned thread);
SPMU_API void spmu_uarch_forget_page(struct spmu_uarch *model, unsigned thread, uint64_t linear);

/* How the address of a block's access follows from its displacement, as a set of bits. */
#define SPMU_UARCH_CONSTANT  1u /* nothing is added */
#define SPMU_UARCH_ADDRESS32 2u /* the sum has 32 bits */
#define SPMU_UARCH_SEGMENT   4u /* after that, the base of a segment is added */

/*
 * An access of a block.
 *
 * displacement	Its address is this plus word number `word` of those that each run reports.
 * form		SPMU_UARCH_CONSTANT, SPMU_UARCH_ADDRESS32 and SPMU_UARCH_SEGMENT.
 * insn		The caller's: which instruction of the block it belongs to.
 */
struct spmu_uarch_block_access {
	uint64_t displacement;
	uint16_t bytes; /* at least 1 */
	uint8_t kind;	/* SPMU_UARCH_LOAD, SPMU_UARCH_STORE, SPMU_UARCH_PREFETCH */
	uint8_t form;
	uint8_t word;
	uint8_t insn;
	uint8_t reserved[2]; /* 0 */
};

/* Instructions that run one after the other, and their accesses in order. */
struct spmu_uarch_block {
	uint64_t linear; /* of the first byte */
	uint32_t bytes;	 /* at least 1 */
	uint32_t accesses;
	const struct spmu_uarch_block_access *access;
};

/*
 * Reports one run of a block by a thread: the fetch of each line, and then the accesses.  The model
 * counts the same as with spmu_uarch_fetch() for each line and spmu_uarch_access() for each access.
 * Fetches and accesses that hit the first levels cost far less.
 *
 * word		What the addresses need.  word[0] exists, even if no access needs it.
 * segment_base	Of accesses with SPMU_UARCH_SEGMENT.
 */
SPMU_API void spmu_uarch_run(struct spmu_uarch *model, unsigned thread,
			     const struct spmu_uarch_block *block, const uint64_t *word,
			     uint64_t segment_base);

/* Kinds of branches. */
enum spmu_uarch_branch_kind {
	SPMU_BRANCH_CONDITIONAL = 0,
	SPMU_BRANCH_DIRECT, /* a jump that is always taken: never mispredicted */
	SPMU_BRANCH_INDIRECT,
	SPMU_BRANCH_CALL, /* direct */
	SPMU_BRANCH_INDIRECT_CALL,
	SPMU_BRANCH_RETURN,
};

/*
 * A branch that a thread has executed.
 *
 * from		Its linear address.
 * next		The linear address of the instruction after it.
 * to		Where execution continued; equal to `next` if it was not taken.
 * kind		enum spmu_uarch_branch_kind.
 * taken	Whether it was taken; true for all but conditional branches.
 */
struct spmu_executed_branch {
	uint64_t from, next, to;
	uint8_t kind;
	bool taken;
	uint8_t reserved[6]; /* 0 */
};

/* Reports a branch.  Returns true if the machine would have mispredicted it. */
SPMU_API bool spmu_uarch_branch(struct spmu_uarch *model, unsigned thread,
				const struct spmu_executed_branch *branch);

/* A conditional branch that has been executed: its linear address, and whether it was taken. */
struct spmu_uarch_outcome {
	uint64_t from;
	bool taken;
	uint8_t reserved[7]; /* 0 */
};

/*
 * Reports `count` conditional branches of a thread, in order.  The model counts the same as for one
 * call of spmu_uarch_branch() each, at a lower cost.  Branches of other kinds do not change what is
 * predicted for conditional ones, so they can be reported before or after the list.
 */
SPMU_API void spmu_uarch_conditionals(struct spmu_uarch *model, unsigned thread,
				      const struct spmu_uarch_outcome *list, size_t count);

/*
 * Says whether the model is told only of a part of what runs from now on.
 *
 * Such a model does not know what large structures hold.  So an access that misses the last level,
 * or the second level of the TLB, counts as a hit while its set has free ways: the line or page may
 * have been brought in meanwhile.  Such accesses are the subject of Wood, Hill and Kessler, "A
 * Model for Estimating Trace-Sample Miss Ratios", SIGMETRICS 1991.  A new model is told of
 * everything.
 */
SPMU_API void spmu_uarch_set_partial(struct spmu_uarch *model, bool partial);

/* Changes load_threshold of the configuration.  The tally LOAD_LATENCY then has all loads of the
 * model that took at least so many core clocks, also earlier ones.  0: none. */
SPMU_API void spmu_uarch_set_load_threshold(struct spmu_uarch *model, uint32_t clocks);

/*
 * Returns the counts of a thread: SPMU_UARCH_COUNTS numbers by enum spmu_uarch_count, which go up
 * as accesses and branches are reported.  NULL for a thread that the model does not have.
 */
SPMU_API const uint64_t *spmu_uarch_counts(const struct spmu_uarch *model, unsigned thread);

/*
 * What a model says in the terms of signals.h and tallies.h, for hosts that count by a unit.
 *
 * spmu_uarch_supplies() adds the signals and tallies that follow from accesses and branches to
 * supply->modelled and supply->modelled_tallies.  The other two return how often one of them has
 * happened in a thread; 0 for those that are not supplied and for a thread that the model does not
 * have.
 */
SPMU_API void spmu_uarch_supplies(struct spmu_supply *supply);
SPMU_API uint64_t spmu_uarch_signal(const struct spmu_uarch *model, unsigned thread,
				    enum spmu_signal signal);
SPMU_API uint64_t spmu_uarch_tally(const struct spmu_uarch *model, unsigned thread,
				   enum spmu_tally_kind tally);

/*
 * Adds the off-core requests to supply->modelled_tallies, for hosts whose software can write the
 * registers that select them (18.9.5).
 */
SPMU_API void spmu_uarch_supplies_offcore(struct spmu_supply *supply);

/* Adds what spmu_uarch_supplies() adds, and LOAD_LATENCY if the machine knows its load_clocks. */
SPMU_API void spmu_machine_supplies(const struct spmu_machine *machine, struct spmu_supply *supply);

/* Returns what a count means, or NULL for a number out of range. */
SPMU_API const char *spmu_uarch_meaning(unsigned count);

#ifdef __cplusplus
}
#endif

#endif
