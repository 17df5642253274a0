/* SPDX-License-Identifier: MIT */
/*
 * softpmu.h: what QEMU's code sees of the performance-monitoring unit of a virtual
 * processor.  Included by target/i386/cpu.h.
 *
 * Each ring (0: CPL 0, 1: the others) has room: how many instructions may still retire
 * before the unit has to be asked.  A counting translation block takes its length off
 * at its start, and what it did not retire is given back when it leaves early.  Where some counter
 * wants them, its loads and stores are counted likewise, and branches by kind when they are taken.
 *
 * The room that blocks see stands beside QEMU's icount_decr (softpmu_room), and what is above
 * 32 bits in `reserve`.  On x86-64 hosts blocks have it in a register and store it to memory, where
 * it is read whenever the main loop enters a block: whoever changes it there leaves translated
 * code.
 *
 * While a recorder wants taken branches, blocks append theirs to `log`, which goes to the unit
 * whenever something else of the unit is called.  The room is never larger than the free part of
 * the log, so blocks need not check for its end.
 *
 * When the room is too small for a block, or #DB comes at taken branches alone, blocks are one
 * instruction long and exact: each begins by telling the unit of the instruction before it
 * (`pending`), whose outcome is in the registers by then.
 */
#ifndef TARGET_I386_SOFTPMU_H
#define TARGET_I386_SOFTPMU_H

#include <stdbool.h>
#include <stdint.h>

/* Flags of a translation block; the bits are free in hflags. */
#define HF_SOFTPMU_BRANCH (1u << 2) /* counts branches by kind; unused in exact blocks */
#define HF_SOFTPMU_MEMORY (1u << 31)

/* What a block does for the unit; 0: nothing. */
#define HF_SOFTPMU_MODE	  (3u << 29)
#define HF_SOFTPMU_COUNT  (1u << 29)
#define HF_SOFTPMU_GATHER (2u << 29) /* counts, and logs the branch that it ends with */
#define HF_SOFTPMU_EXACT  (3u << 29)

#define SOFTPMU_KINDS 9 /* branches whose occurrences are counted: signals up to and with FAR */

/* Loads, stores and locked loads are counted in one word, in fields of so many bits. */
#define SOFTPMU_FIELD_BITS 21
#define SOFTPMU_LOAD	   UINT64_C(1)
#define SOFTPMU_STORE	   (SOFTPMU_LOAD << SOFTPMU_FIELD_BITS)
#define SOFTPMU_LOCK_LOAD  (SOFTPMU_STORE << SOFTPMU_FIELD_BITS)

/* Kept with each instruction's address: its index, and behind it what it and the rest access. */
#define SOFTPMU_INDEX_BITS 10

struct CPUArchState;
struct ArchCPU;
struct Error;
struct softpmu;
struct spmu_branch;

struct softpmu_env {
	struct softpmu *unit; /* NULL: none */
	uint32_t flags;	      /* HF_SOFTPMU_ of the blocks to run */
	uint32_t need;	      /* exact until there is room for so many instructions; 0: no */
	int64_t reserve[2], granted[2];
	uint64_t count[2][SOFTPMU_KINDS];
	uint64_t memory[2];	  /* loads and stores */
	uint64_t pending_signals; /* 0: no instruction is pending */
	uint64_t pending_memory;
	uint64_t load_address, store_address; /* of the pending instruction; 0: none */
	uint64_t pending_ip;
	uint64_t event_ip; /* where an exception or interrupt came */
	/* Taken branches that the unit has not got yet.  `cycles` of each is the room of the ring
	 * in which it began, after it. */
	struct spmu_branch *log, *log_end;
	uint32_t pending_cpl, event_cpl;
	bool init; /* the reset that follows is INIT's */
};

/* Whether blocks with these flags are charged for at their start, or are one instruction long. */
static inline bool softpmu_bulk(uint32_t flags)
{
	uint32_t mode = flags & HF_SOFTPMU_MODE;

	return mode == HF_SOFTPMU_COUNT || mode == HF_SOFTPMU_GATHER;
}

static inline bool softpmu_exact(uint32_t flags)
{
	return (flags & HF_SOFTPMU_MODE) == HF_SOFTPMU_EXACT;
}

/*
 * A block of `insns` instructions is left, at its start, before anything but its charge was done,
 * or at an instruction that does not retire; `kept` is what that has.
 */
void softpmu_left(struct CPUArchState *env, uint32_t flags, uint32_t cflags, uint32_t insns);
void softpmu_unwind(struct CPUArchState *env, uint32_t flags, uint32_t insns, uint64_t kept);

/* Its section of a snapshot. */
extern const struct VMStateDescription vmstate_softpmu;

bool softpmu_realize(struct ArchCPU *cpu, struct Error **errp);
void softpmu_reset(struct ArchCPU *cpu);
void softpmu_cpuid(struct CPUArchState *env, uint32_t leaf, uint32_t subleaf, uint32_t *eax,
		   uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

/* Each returns whether the register was the unit's; #GP does not return. */
bool softpmu_rdmsr(struct CPUArchState *env, uintptr_t ra);
bool softpmu_wrmsr(struct CPUArchState *env, uint64_t value, uintptr_t ra);
bool softpmu_rdpmc(struct CPUArchState *env, uintptr_t ra);

void softpmu_write_lvt(struct ArchCPU *cpu, uint32_t value);

/* Around the delivery of an exception or interrupt. */
void softpmu_event_begin(struct CPUArchState *env, bool software);
void softpmu_event_end(struct CPUArchState *env, int vector, bool software);

void softpmu_smm(struct CPUArchState *env, bool entered);

/*
 * Hand the unit the logged branches: before linear addresses mean something else, and before
 * anybody but the processor looks at its memory.
 */
void softpmu_empty_log(struct CPUArchState *env);

/* Whether a single-step goes on, as the instruction was no taken branch (IA32_DEBUGCTL.BTF). */
bool softpmu_steps_over(struct CPUArchState *env);

/* Reference clocks stand while the processor halts. */
void softpmu_halt(struct CPUArchState *env);
void softpmu_wake(struct CPUArchState *env);

#endif
