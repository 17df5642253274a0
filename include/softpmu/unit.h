/* SPDX-License-Identifier: MIT */
/*
 * unit.h: the performance-monitoring unit of one processor core.
 *
 * A core has one or two logical processors (threads).  All functions work in
 * the memory given at creation, allocate nothing, and touch the outside only
 * through the host's callbacks.  One thread of the host at a time may use a
 * core; different cores are independent.
 *
 * How a host counts (the meters)
 * ------------------------------
 * The unit publishes, for each logical processor, a short list of meters.
 * A meter is a set of signals, the privilege rings in which they count, and
 * `headroom`: how many occurrences may pass in bulk before something must
 * happen exactly.  Before it runs a stretch of code that produces n
 * occurrences of a meter's signals the host subtracts n from its headroom.  If
 * the result is negative, it adds n back and runs the stretch instruction by
 * instruction, reporting each with spmu_retire(), which accounts for
 * the instruction on all meters itself and returns what has changed.
 *
 *	m->headroom -= n;
 *	if (m->headroom < 0) { m->headroom += n; one by one with spmu_retire(); }
 *
 * An instruction that goes past the headroom by no more than `quiet` makes no callback (an overflow
 * that arms PEBS and does nothing else; a pin may hear of its counts), so it need not be reported
 *before the next one runs: a host may run on until an instruction would go past headroom and quiet
 *together, and report that one when it has just run, in order behind those before it.  Last branch
 *records and branch traces do call, so this holds for instructions that are not in the tap's
 *signals.
 *
 * Nothing is lost by asking late: a counter is read as what it had plus what
 * passed since.  Every function here that looks at a counter settles the
 * meters first, so a host may call it at any instruction boundary.
 *
 * Example: examples/unit.c.
 */
#ifndef SOFTPMU_UNIT_H
#define SOFTPMU_UNIT_H

#include <softpmu/model.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_METERS_MAX	 32
#define SPMU_THREADS_MAX 2

/* On a Pentium counters take CPL 1 and 2 for ring 0 (struct spmu_model_info, os_cpl). */
#define SPMU_RING0 1u /* CPL 0 */
#define SPMU_RINGX 2u /* CPL 1, 2, 3 */

struct spmu_meter {
	int64_t headroom; /* occurrences that may still pass in bulk; the host subtracts */
	uint64_t signals; /* never 0 */
	uint32_t rings;	  /* SPMU_RING0 | SPMU_RINGX: where they count */
	uint32_t quiet;	  /* occurrences behind the headroom that call nobody, see below */
};

/*
 * What the unit wants to hear of taken branches (last branch records and branch trace
 * store, 17.4).  While `signals` is not 0 a host that runs in bulk gathers each taken branch of
 * those kinds and rings, and hands them over in order with spmu_branches() before it calls
 * anything else of the core.  Of an instruction that it reports with spmu_retire() the unit
 * takes the branch itself.
 *
 * A far branch between rings is handed over when either ring is one of `rings`.
 *
 * `newest`: so many of the newest that end in one of `rings` suffice, older ones may be dropped;
 * 0: none may.  The entries then stand at other places of the stack (TOS) unless as many
 * as it is deep are dropped at a time.
 * `room`: how many may be gathered before they must be handed over, so that an interrupt at
 * the threshold of the BTS buffer is not late.
 * `bts_next`: when not 0 the host may store BTS records (struct at 17.4.9) itself from
 * this linear address on, `room` of them without a gap, and then says
 * spmu_branches_stored() instead.  One that begins in a ring outside `rings` is not among them:
 * with such a branch the host says spmu_branches().  Last branch records follow from them.  It
 * holds for the area as it is: software stops the trace while it changes the area or its pages
 * (17.4.9.5), and starting it looks again.
 */
struct spmu_branch_tap {
	uint64_t signals;
	uint32_t rings;
	uint32_t newest;
	uint64_t room;
	uint64_t bts_next;
};

/*
 * The meters of one logical processor, in memory of the host so that translated code can
 * reach them.  `epoch` changes whenever the list (not the headroom) changes:
 * a host whose code has the list built in looks at it after each call into the
 * unit.
 */
struct spmu_meters {
	uint32_t epoch;
	uint32_t count;
	struct spmu_meter meter[SPMU_METERS_MAX];
	struct spmu_branch_tap tap; /* `room` and `bts_next` move without a new epoch */
};

/* Registers as a PEBS record stores them: values after the instruction. */
struct spmu_registers {
	uint64_t rflags, rip;
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
};

/* A performance-monitoring interrupt, as the local APIC's LVT entry delivers it. */
enum spmu_delivery { SPMU_DELIVER_FIXED = 0, SPMU_DELIVER_SMI = 2, SPMU_DELIVER_NMI = 4 };
struct spmu_pmi {
	enum spmu_delivery delivery;
	uint8_t vector; /* for SPMU_DELIVER_FIXED */
};

/*
 * What a host provides.  `opaque` is handed to each callback; lp is the
 * logical processor within the core.  Linear addresses are the guest's.
 * read and write return false, having changed nothing, when any byte cannot be
 * accessed.  No callback may call back into the same core, except that pmi may read
 * registers with spmu_read_msr().
 */
struct spmu_host {
	void *opaque;
	bool (*read)(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes);
	bool (*write)(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes);
	void (*pmi)(void *opaque, unsigned lp, struct spmu_pmi pmi);
	uint64_t (*tsc)(void *opaque, unsigned lp);
	void (*registers)(void *opaque, unsigned lp, struct spmu_registers *out);
	/* XMM0 to XMM15, for the adaptive records that hold them; NULL: they are stored as 0. */
	void (*vectors)(void *opaque, unsigned lp, uint8_t xmm[16][16]);
	/*
	 * The pin of counter `number` (PMi, PMi/BPi) is toggled so many times, at each count or at
	 * overflow as the pin control flag has it (18.2.1.1, 18.23.1); one toggle for each count,
	 * also of those that fall into one clock.  Of counts that passed in bulk it hears when they
	 * are folded in.  NULL: nobody looks.
	 */
	void (*pin)(void *opaque, unsigned lp, unsigned number, uint64_t toggles);
	struct spmu_supply supply;
};

struct spmu_core; /* opaque */

struct spmu_core_config {
	const struct spmu_model *model;
	unsigned threads; /* logical processors that share the core: 1 or 2 */
	bool hide_absent; /* report architectural events that the host does not supply as
			     unavailable in CPUID.0AH:EBX; false: as real parts report */
	struct spmu_meters *meters[SPMU_THREADS_MAX]; /* one for each thread, host's memory,
							 must outlive the core */
	uint64_t errata; /* bit n: the model's erratum n holds (spmu_erratum_at()); 0: the processor
			    as the manual has it.  One that is not there or not done is
			    SPMU_E_ARGUMENT. */
};

/* Bytes of memory that a core needs, 64-byte aligned. Constant for a build. */
SPMU_API size_t spmu_core_bytes(void);

/*
 * Make a core in `memory` in the state after power-up reset.  The config and
 * the host are copied.  SPMU_E_ARGUMENT, SPMU_E_SPACE.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_core_create(void *memory, size_t bytes,
							 const struct spmu_core_config *config,
							 const struct spmu_host *host,
							 struct spmu_core **core);

/*
 * RESET and INIT of one logical processor (Vol. 3A 9.1.1, table 9-1), and a machine-check exception
 * (call it before its handler runs).  The last two switch the recording into the DS save area off
 * (17.4.9) and leave the counters alone; INIT resets the LVT entry.
 */
SPMU_API void spmu_reset(struct spmu_core *core, unsigned lp);
SPMU_API void spmu_init(struct spmu_core *core, unsigned lp);
SPMU_API void spmu_machine_check(struct spmu_core *core, unsigned lp);

/* RDMSR and WRMSR.  Privilege is the host's matter (#GP when CPL > 0). */
SPMU_API SPMU_MUST_USE enum spmu_outcome spmu_read_msr(struct spmu_core *core, unsigned lp,
						       uint32_t msr, uint64_t *value);
SPMU_API SPMU_MUST_USE enum spmu_outcome spmu_write_msr(struct spmu_core *core, unsigned lp,
							uint32_t msr, uint64_t value);

/* RDPMC (Vol. 2B): ecx as the guest has it; cpl 0..3; cr4_pce is CR4[8]; pe is CR0.PE. */
SPMU_API SPMU_MUST_USE enum spmu_outcome spmu_rdpmc(struct spmu_core *core, unsigned lp,
						    uint32_t ecx, unsigned cpl, bool cr4_pce,
						    bool cr0_pe, uint64_t *value);

/*
 * The performance-counter entry of the local vector table (APIC offset 340H).
 * A write keeps the writable bits; the mask bit is set by each delivery.
 */
SPMU_API uint32_t spmu_read_lvt(const struct spmu_core *core, unsigned lp);
SPMU_API void spmu_write_lvt(struct spmu_core *core, unsigned lp, uint32_t value);

/*
 * CPUID.  For leaf 0AH the four registers are replaced; for leaf 01H the unit's
 * feature flags (DS, DTES64, DS-CPL, PDCM) are set or cleared in what the host
 * has there, the rest is left.  Other leaves are left: false.
 */
struct spmu_cpuid {
	uint32_t eax, ebx, ecx, edx;
};
SPMU_API bool spmu_cpuid(const struct spmu_core *core, uint32_t leaf, uint32_t subleaf,
			 struct spmu_cpuid *regs);

/* One retired instruction. */
struct spmu_insn {
	uint64_t ip;		/* its linear address (eventing IP) */
	uint64_t next_ip;	/* where execution continues; 0 of a far transfer: the host does not
				   know (it runs user code alone), and no branch is recorded */
	uint64_t signals;	/* what it produced */
	uint64_t data_address;	/* of what it loads, or else stores; 0: none */
	uint64_t store_address; /* of what it stores, where it loads from elsewhere (MOVS, PUSH and
				   CALL of memory, POP to memory); 0: data_address */
	uint32_t cycles;	/* core clocks from the instruction before to this one; 0: the same
				   clock.  Threshold, edge and invert work on clocks
				   (Vol. 3B 18.2.1.1). */
	uint8_t cpl;
	uint8_t next_cpl; /* privilege level at next_ip; looked at for FAR only */
};

/* What a retired instruction led to, as a set. */
#define SPMU_EV_PMI    1u /* the pmi callback was called */
#define SPMU_EV_RECORD 2u /* a PEBS record was written */
#define SPMU_EV_METERS 4u /* the list of meters changed (epoch) */

/*
 * Report one retired instruction.  Counts it, detects overflow, arms and
 * takes PEBS, raises the PMI.  Returns SPMU_EV_ bits.  Cost: linear in the
 * number of enabled counters.
 */
SPMU_API unsigned spmu_retire(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn);

/* A taken branch, as last branch records and branch traces know it (17.4.8, 17.4.9). */
struct spmu_branch {
	uint64_t from, to; /* linear addresses: of the branch, and where execution goes on */
	uint32_t cycles;   /* core clocks since the branch before; 0: not known */
	uint8_t signal;	   /* its kind: one of SPMU_SIGSET_TAKEN, as enum spmu_signal */
	uint8_t cpl;	   /* at `from` */
	uint8_t next_cpl;  /* at `to` */
	uint8_t flags;	   /* SPMU_BRANCH_ */
};
#define SPMU_BRANCH_MISPREDICTED 1u
#define SPMU_BRANCH_IN_TX	 2u
#define SPMU_BRANCH_ABORT	 4u
#define SPMU_BRANCH_EVENT                                                                          \
	8u /* exception or interrupt: no instruction retired with it; moves                        \
	      the last exception record too.  signal is FAR. */

/*
 * Branches that were taken: retired in bulk (see struct spmu_branch_tap), or exceptions and
 * interrupts, which hosts of all kinds report here.  In order.  Branches that nothing
 * wants are passed over.  One whose signal is no taken branch hands over its cycles alone: so a
 * host that supplies core clocks tells what passed in bulk since the last branch.
 * Returns SPMU_EV_ bits.  Cost: linear in count.
 */
SPMU_API unsigned spmu_branches(struct spmu_core *core, unsigned lp,
				const struct spmu_branch *branches, size_t count);

/* The host stored `records` BTS records itself, from tap.bts_next on; at most tap.room. */
SPMU_API unsigned spmu_branches_stored(struct spmu_core *core, unsigned lp, size_t records);

/*
 * Whether single-stepping (EFLAGS.TF) must trap at taken branches only (IA32_DEBUGCTL.BTF,
 * 17.4.3), and what #DB does to the unit before its handler runs: LBR and BTF are cleared.  A host
 * says so before it hands the exception itself over with spmu_branches(): it belongs into
 * branch traces and not among last branch records (17.4.2).
 */
SPMU_API bool spmu_steps_on_branches(const struct spmu_core *core, unsigned lp);
SPMU_API void spmu_debug_exception(struct spmu_core *core, unsigned lp);

/*
 * SMI delivery and RSM.  Nothing is recorded into the DS save area in between (17.4.9), and
 * IA32_DEBUGCTL.FREEZE_WHILE_SMM may ask for more (17.4.1).
 */
SPMU_API void spmu_smm(struct spmu_core *core, unsigned lp, bool entered);

/*
 * Whether IA-32e mode is active (IA32_EFER.LMA); false after creation and reset.  Where CPUID
 * has no DTES64 it chooses the layout of the DS save area (17.4.9.2).
 */
SPMU_API void spmu_set_ia32e(struct spmu_core *core, unsigned lp, bool active);

/*
 * Whether a thread is halted or waits to be started; false after creation and reset.  Counters
 * that all threads of a core share may count only while so many are active (18.16.2).
 * Returns SPMU_EV_ bits.
 */
SPMU_API unsigned spmu_set_halted(struct spmu_core *core, unsigned lp, bool halted);

/*
 * A C-state deeper than C1, which MWAIT asked for, has taken the thread's last branch records away:
 * they, their top and the last exception record are 0 then (17.10.3).  Families that keep
 * them: nothing happens.
 */
SPMU_API void spmu_deep_sleep(struct spmu_core *core, unsigned lp);

/*
 * Clocks that pass while nothing retires (a halted or stalled processor).
 * `signals` may hold CYCLES and REF_CYCLES; clocks is how many of each.
 */
SPMU_API unsigned spmu_clocks(struct spmu_core *core, unsigned lp, uint64_t signals,
			      uint64_t clocks, unsigned cpl);

/* Fold what passed in bulk into the counters and grant headroom anew. */
SPMU_API void spmu_settle(struct spmu_core *core);

#ifdef __cplusplus
}
#endif

#endif
