/* SPDX-License-Identifier: MIT */
/*
 * softpmu.h: the interface between QEMU's code and the performance-monitoring unit of a virtual
 * processor.  target/i386/cpu.h includes it.
 *
 * Each ring (0: CPL 0, 1: the others) has headroom: how many instructions may still retire
 * before the unit must be called.  A counting translation block subtracts its length at its start.
 * If the block is left early, QEMU gives back what did not retire.  If a counter wants them, the
 * block's loads and stores are counted in the same way, and branches by kind when they are taken.
 *
 * Blocks use the low 32 bits of the headroom (softpmu_headroom), which are next to QEMU's
 * icount_decr.  `reserve` has the rest.  On x86-64 hosts blocks keep the headroom in a register and
 * also store it to memory.  The main loop loads it from there whenever it enters a block.  So code
 * that changes it in memory must leave translated code first.
 *
 * While a recorder wants taken branches, blocks append theirs to `log`.  The log goes to the unit
 * before any other call to the unit.  The headroom is never larger than the free part of
 * the log, so blocks need not check for its end.
 *
 * If the headroom is too small for a block, or #DB comes only at taken branches, blocks are exact:
 * they have one instruction each.  An exact block begins by reporting the previous instruction
 * (`pending`) to the unit.  The registers show its outcome by then.
 */
#ifndef TARGET_I386_SOFTPMU_H
#define TARGET_I386_SOFTPMU_H

#include <stdbool.h>
#include <stdint.h>

/* Flags of a translation block; the bits are free in hflags. */
#define HF_SOFTPMU_BRANCH (1u << 2) /* counts branches by kind; exact blocks tell the model */
#define HF_SOFTPMU_MEMORY (1u << 31)

/* What a block does for the unit.  0: nothing. */
#define HF_SOFTPMU_MODE	  (3u << 29)
#define HF_SOFTPMU_COUNT  (1u << 29)
#define HF_SOFTPMU_GATHER (2u << 29) /* counts, and logs the branch at its end */
#define HF_SOFTPMU_EXACT  (3u << 29)

/*
 * While a counter wants what a model of the machine counts, blocks tell the model what they do
 * (softpmu-machine.c).  No flag is left for this.  So it is mode 0 with HF_SOFTPMU_MEMORY, which
 * counts branches, too; then HF_SOFTPMU_BRANCH logs the branch at the end.  Exact blocks tell the
 * model with HF_SOFTPMU_BRANCH.
 */

#define SOFTPMU_KINDS 9 /* counts by kind of branch: signals up to and including FAR */

/* One word counts loads, stores and locked loads, in fields of SOFTPMU_FIELD_BITS each. */
#define SOFTPMU_FIELD_BITS 21
#define SOFTPMU_LOAD	   UINT64_C(1)
#define SOFTPMU_STORE	   (SOFTPMU_LOAD << SOFTPMU_FIELD_BITS)
#define SOFTPMU_LOCK_LOAD  (SOFTPMU_STORE << SOFTPMU_FIELD_BITS)

#define SOFTPMU_ACCESSES_MAX 16 /* of one instruction: MASKMOVDQU has one for each byte */

/* What helper_softpmu_elements() is told after what an access has: the number of elements, whether
 * the mask is an MMX register, whether they are listed or only told to the model; of a gather also
 * the bytes of an index, the scale as a shift, and whether addresses have 32 bits. */
#define SOFTPMU_ELEMENTS(count, mmx, listed)                                                       \
	((uint64_t)(count) << 44 | (uint64_t)(mmx) << 42 | (uint64_t)(listed) << 41)
#define SOFTPMU_INDEXED(bytes, scale, narrow)                                                      \
	((uint64_t)(bytes) << 52 | (uint64_t)(scale) << 56 | (uint64_t)(narrow) << 43)

/* QEMU keeps a word with each instruction's address: the low bits are the instruction's index, the
 * others what it and the following instructions of the block access. */
#define SOFTPMU_INDEX_BITS 10

struct CPUArchState;
struct ArchCPU;
struct Error;
struct softpmu;
struct spmu_branch;

struct softpmu_env {
	struct softpmu *unit; /* NULL: none */
	uint32_t flags;	      /* HF_SOFTPMU_ of the blocks to run */
	uint32_t need; /* blocks are exact until the headroom is at least this; 0: they are not */
	int64_t reserve[2], granted[2];
	uint64_t count[2][SOFTPMU_KINDS];
	uint64_t memory[2];	  /* loads and stores */
	uint64_t pending_signals; /* 0: no instruction is pending */
	uint64_t pending_memory;
	/* The accesses of the pending instruction, in the words of struct spmu_memory_access. */
	uint64_t access[SOFTPMU_ACCESSES_MAX][2];
	uint32_t access_count;
	uint64_t pending_ip;
	uint64_t event_ip; /* the instruction that an exception or interrupt came at */
	/* Taken branches that have not been reported.  `cycles` of each is the headroom that was
	 * left, after the branch, in the ring where the branch began. */
	struct spmu_branch *log, *log_end;
	uint32_t pending_cpl, event_cpl;
	bool init; /* the next reset is an INIT */
};

/*
 * What blocks with these flags do: they have one instruction; they are charged at their start; they
 * tell the model what they do; they count branches by kind; they log the branch at their end.
 */
static inline bool softpmu_exact(uint32_t flags)
{
	return (flags & HF_SOFTPMU_MODE) == HF_SOFTPMU_EXACT;
}

static inline bool softpmu_bulk_modelled(uint32_t flags)
{
	return (flags & (HF_SOFTPMU_MODE | HF_SOFTPMU_MEMORY)) == HF_SOFTPMU_MEMORY;
}

static inline bool softpmu_bulk(uint32_t flags)
{
	uint32_t mode = flags & HF_SOFTPMU_MODE;

	return mode == HF_SOFTPMU_COUNT || mode == HF_SOFTPMU_GATHER ||
	       softpmu_bulk_modelled(flags);
}

static inline bool softpmu_modelled(uint32_t flags)
{
	return softpmu_exact(flags) ? flags & HF_SOFTPMU_BRANCH : softpmu_bulk_modelled(flags);
}

static inline bool softpmu_counts_branches(uint32_t flags)
{
	return softpmu_bulk_modelled(flags) || (softpmu_bulk(flags) && (flags & HF_SOFTPMU_BRANCH));
}

static inline bool softpmu_gathers(uint32_t flags)
{
	return (flags & HF_SOFTPMU_MODE) == HF_SOFTPMU_GATHER ||
	       (softpmu_bulk_modelled(flags) && (flags & HF_SOFTPMU_BRANCH));
}

/*
 * softpmu_left() is called when a block of `insns` instructions is left at its start, after its
 * charge.  softpmu_unwind() is called when a block is left at an instruction that does not retire.
 * `kept` is the word that QEMU keeps with that instruction's address.
 */
void softpmu_left(struct CPUArchState *env, uint32_t flags, uint32_t cflags, uint32_t insns);
void softpmu_unwind(struct CPUArchState *env, uint32_t flags, uint32_t insns, uint64_t kept);

/* The unit's section of a snapshot. */
extern const struct VMStateDescription vmstate_softpmu;

bool softpmu_realize(struct ArchCPU *cpu, struct Error **errp);
void softpmu_reset(struct ArchCPU *cpu);
void softpmu_cpuid(struct CPUArchState *env, uint32_t leaf, uint32_t subleaf, uint32_t *eax,
		   uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

/* Each returns true if the register is the unit's.  If the access raises #GP, it does not
 * return. */
bool softpmu_rdmsr(struct CPUArchState *env, uintptr_t ra);
bool softpmu_wrmsr(struct CPUArchState *env, uint64_t value, uintptr_t ra);
bool softpmu_rdpmc(struct CPUArchState *env, uintptr_t ra);

void softpmu_write_lvt(struct ArchCPU *cpu, uint32_t value);

/* QEMU calls these before and after the delivery of an exception or interrupt. */
void softpmu_event_begin(struct CPUArchState *env, bool software);
void softpmu_event_end(struct CPUArchState *env, int vector, bool software);

void softpmu_smm(struct CPUArchState *env, bool entered);

/*
 * Reports the logged branches to the unit.  QEMU calls it before linear addresses change their
 * meaning, and before anything but the processor can read its memory.
 */
void softpmu_empty_log(struct CPUArchState *env);

/* The page tables have changed: those of all pages, or of one. */
void softpmu_new_address_space(struct CPUArchState *env);
void softpmu_new_page(struct CPUArchState *env, uint64_t linear);

/* Returns true if a single-step goes on, because the instruction was no taken branch
 * (IA32_DEBUGCTL.BTF). */
bool softpmu_steps_over(struct CPUArchState *env);

/* Reference clocks stop while the processor is halted. */
void softpmu_halt(struct CPUArchState *env);
void softpmu_wake(struct CPUArchState *env);

#endif
