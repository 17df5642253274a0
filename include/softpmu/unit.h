/* SPDX-License-Identifier: MIT */
/*
 * unit.h: the performance-monitoring unit of one processor core.
 *
 * A core has one or two logical processors (threads).  All functions work in the memory that the
 * host gives at creation.  They allocate nothing, and they reach the outside only through the
 * host's callbacks.  One thread of the host at a time may use a core; different cores are
 * independent.  In all functions `lp` is the number of a logical processor of the core: 0, or 1 if
 * the core has two.
 *
 * How a host counts: the meters
 * -----------------------------
 * The unit publishes a short list of meters for each logical processor.  A meter is a set of
 * signals, the privilege rings in which they count, and `headroom`: how many occurrences may pass
 * in bulk before something must happen at an exact place.  Before the host runs a stretch of code
 * that produces n occurrences of a meter's signals, it subtracts n from the headroom.  If the
 * result is negative, the host adds n back and runs the stretch instruction by instruction.  It
 * reports each of these instructions with spmu_retire(), which counts the instruction on all meters
 * and returns what has changed.
 *
 *	m->headroom -= n;
 *	if (m->headroom < 0) { m->headroom += n; one by one with spmu_retire(); }
 *
 * The host may report late what makes no callback.  An occurrence after the headroom, but within
 * the next `silent` ones, makes none: an overflow that only arms PEBS is of this kind.  So the host
 * may run on until an instruction would exceed headroom and silent together.  Then it reports that
 * instruction and those before it, in order, right after that instruction has run.  This does not
 * hold for branches that the tap (below) wants, because branch records do make callbacks.
 *
 * A meter may count tallies besides signals, or instead (tallies.h).  Then occurrences of these
 * tallies are charged to it as well.  A stretch that takes n clocks produces n occurrences of
 * CYCLES.
 *
 * Nothing is lost by asking late: the value of a counter is what it had plus what has passed since.
 * Each function that reads a counter first folds in what has passed.  So a host may call the unit
 * at any instruction boundary.
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

/*
 * The privilege rings that counters tell apart.  A Pentium's counters treat CPL 1 and 2 like CPL 0
 * (os_cpl of struct spmu_model_info).
 */
#define SPMU_RING0     1u /* CPL 0 */
#define SPMU_RING_USER 2u /* CPL 1, 2, 3 */

struct spmu_meter {
	int64_t headroom; /* occurrences that may still pass in bulk; the host subtracts */
	uint64_t signals; /* the set of signals */
	uint32_t rings;	  /* SPMU_RING0 | SPMU_RING_USER: the rings in which they count */
	uint32_t silent;  /* how many occurrences after the headroom make no callback */
	const struct spmu_tally_set *tallies; /* tallies that it counts, too; NULL: none.  Valid
						 until the epoch changes */
};

/*
 * The branch tap: which taken branches the unit wants, for last branch records and the branch trace
 * store (17.4).  While `signals` is not 0, a host that runs in bulk gathers the taken branches of
 * these kinds and rings.  It hands them over in order, with spmu_branches(), before any other call
 * for the core.  It does not gather branches of instructions that it reports with spmu_retire():
 * the unit takes these itself.
 *
 * signals	The kinds of branches, as a set of signals; 0: the unit wants none.
 * rings	The rings in which they count.  A far branch between two rings is handed over if
 *		either of them is in the set.
 * keep_last	The host may drop all but the last `keep_last` branches that end in one of
 *		`rings`.  0 means that it must keep every branch.  Dropped branches do not move
 *		TOS, so the entries are at other places of the stack, unless the host drops a
 *		multiple of the stack's depth.
 * headroom	How many branches may be gathered before they must be handed over.  It keeps the
 *		interrupt at the threshold of the BTS buffer from being late.
 * bts_next	If it is not 0, the host may store BTS records (17.4.9) itself, from this linear
 *		address on: at most `headroom` of them, without gaps.  It then calls
 *		spmu_branches_stored() instead, and the unit takes the last branch records from
 *		the stored ones.  A branch that begins in a ring outside `rings` is not stored; the
 *		host hands it over with spmu_branches().  The address is valid as long as software
 *		does not change the DS area or its pages during the trace, which 17.4.9.5 forbids.
 */
struct spmu_branch_tap {
	uint64_t signals;
	uint32_t rings;
	uint32_t keep_last;
	uint64_t headroom;
	uint64_t bts_next;
};

/*
 * The meters of one logical processor.  They are in the host's memory, so that translated code can
 * reach them.  `epoch` changes whenever the list or what the taps want changes, but not when
 * headroom changes.  A host whose translated code depends on the list compares `epoch` after each
 * call into the unit.
 */
struct spmu_meters {
	uint32_t epoch;
	uint32_t count;
	struct spmu_meter meter[SPMU_METERS_MAX];
	struct spmu_branch_tap tap; /* `headroom` and `bts_next` change without a new epoch */
	struct spmu_access_tap accesses;
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
 * What a host provides.  Each callback gets `opaque` and the logical processor.  Callbacks must not
 * call functions of the same core, except that pmi may call spmu_read_msr().  Each callback
 * is required unless NULL is allowed below.
 *
 * read		Copies `bytes` bytes from the guest's linear memory.  Returns false, and changes
 *		nothing, if any of them cannot be read.
 * write	The same for writing.
 * pmi		The local APIC delivers a performance-monitoring interrupt.
 * tsc		Returns the time-stamp counter, for PEBS records.
 * registers	Fills in the registers, with the values after the instruction.
 * vectors	Fills in XMM0 to XMM15 for adaptive PEBS records.  NULL: they are stored as 0.
 * pin		The pin of counter `number` (PMi, PMi/BPi) toggles `toggles` times: once for each
 *		count, or at each overflow, as the pin control flag says (18.2.1.1, 18.23.1).
 *		Several counts in one clock are as many toggles.  Counts that passed in bulk are
 *		reported when the unit folds them in.  NULL: nothing is connected to the pins.
 * supply	The signals that this host reports.
 */
struct spmu_host {
	size_t size; /* sizeof(struct spmu_host): see "Structures" in base.h */
	void *opaque;
	bool (*read)(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes);
	bool (*write)(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes);
	void (*pmi)(void *opaque, unsigned lp, struct spmu_pmi pmi);
	uint64_t (*tsc)(void *opaque, unsigned lp);
	void (*registers)(void *opaque, unsigned lp, struct spmu_registers *out);
	void (*vectors)(void *opaque, unsigned lp, uint8_t xmm[16][16]);
	void (*pin)(void *opaque, unsigned lp, unsigned number, uint64_t toggles);
	struct spmu_supply supply;
};

struct spmu_core; /* opaque */

struct spmu_core_config {
	size_t size; /* sizeof(struct spmu_core_config) */
	const struct spmu_model *model;
	unsigned threads; /* logical processors of the core: 1 or 2 */
	bool hide_absent; /* true: CPUID.0AH:EBX reports architectural events that the host does not
			     supply as unavailable; false: it reports what real parts report */
	struct spmu_meters *meters[SPMU_THREADS_MAX]; /* one for each thread; the host's memory,
							 which must outlive the core */
	uint64_t errata; /* bit n switches the model's erratum n on (spmu_erratum_at()); 0: the
			    processor behaves as the manual says */
};

/* Returns how many bytes of memory a core needs.  The number is constant for a build. */
SPMU_API size_t spmu_core_bytes(void);

/*
 * Makes a core in `memory`, in the state after a power-up reset (Vol. 3A 9.1.1).
 *
 * memory	At least spmu_core_bytes() bytes, aligned to 64 bytes.  It must stay valid, and at
 *		the same address, as long as the core is used.  There is nothing to release.
 * config, host	The library copies both.
 * core		Receives the core; unchanged on error.
 *
 * SPMU_E_ARGUMENT: one of these is true:
 *		- a pointer is NULL, or `memory` is not aligned;
 *		- `threads` is not 1 or 2, or a thread has no meters;
 *		- `errata` has a bit of an erratum that the model does not have, or that cannot be
 *		  switched on;
 *		- the size of a structure is not set, or it covers something that this version
 *		  does not know.
 * SPMU_E_SPACE: `bytes` is too small.
 */
SPMU_API SPMU_MUST_USE enum spmu_status spmu_core_create(void *memory, size_t bytes,
							 const struct spmu_core_config *config,
							 const struct spmu_host *host,
							 struct spmu_core **core);

/*
 * spmu_reset() does what RESET does to a logical processor (Vol. 3A 9.1.1, table 9-1).
 * spmu_init() does what INIT does: it stops the recording into the DS save area (17.4.9), resets
 * the LVT entry and leaves the counters alone.  spmu_machine_check() stops that recording, too.
 * The host calls it before the handler of the exception runs.
 */
SPMU_API void spmu_reset(struct spmu_core *core, unsigned lp);
SPMU_API void spmu_init(struct spmu_core *core, unsigned lp);
SPMU_API void spmu_machine_check(struct spmu_core *core, unsigned lp);

/*
 * RDMSR and WRMSR.  The host checks the privilege level itself (#GP if CPL > 0).
 *
 * Returns SPMU_DONE; SPMU_GP if the access raises #GP, and then nothing has changed; or
 * SPMU_NOT_OURS if the unit has no such register.  *value is written only with SPMU_DONE.  Cost: a
 * search in the model's list of registers; a write may rebuild the list of meters.
 */
SPMU_API SPMU_MUST_USE enum spmu_outcome spmu_read_msr(struct spmu_core *core, unsigned lp,
						       uint32_t msr, uint64_t *value);
SPMU_API SPMU_MUST_USE enum spmu_outcome spmu_write_msr(struct spmu_core *core, unsigned lp,
							uint32_t msr, uint64_t value);

/*
 * RDPMC (Vol. 2B).
 *
 * ecx		The guest's ECX.
 * cpl		The privilege level, 0 to 3.
 * cr4_pce	CR4.PCE (bit 8).
 * cr0_pe	CR0.PE.
 *
 * Returns SPMU_DONE, SPMU_GP, or SPMU_UD if the model has no RDPMC.
 */
SPMU_API SPMU_MUST_USE enum spmu_outcome spmu_rdpmc(struct spmu_core *core, unsigned lp,
						    uint32_t ecx, unsigned cpl, bool cr4_pce,
						    bool cr0_pe, uint64_t *value);

/*
 * The performance-counter entry of the local vector table (APIC offset 340H, Vol. 3A 10.5.1).
 * A write changes the writable bits only.  On most models each delivery sets the mask bit.
 */
SPMU_API uint32_t spmu_read_lvt(const struct spmu_core *core, unsigned lp);
SPMU_API void spmu_write_lvt(struct spmu_core *core, unsigned lp, uint32_t value);

/*
 * CPUID.  The host passes the registers that it would return, and the unit changes what is its own:
 * all four registers of leaf 0AH, and the flags DS, DTES64, DS-CPL and PDCM of leaf 01H.  A model
 * with architectural last branch records also has leaf 1CH, and sets their flag in subleaf 0 of
 * leaf 07H.  Some models have leaf 23H, and set its flag in subleaf 1 of leaf 07H.  A model that is
 * one of several kinds of cores has leaf 1AH and its flag, too.  Returns false for other leaves,
 * whose registers are left as they are.
 */
struct spmu_cpuid_regs {
	uint32_t eax, ebx, ecx, edx;
};
SPMU_API bool spmu_cpuid(const struct spmu_core *core, uint32_t leaf, uint32_t subleaf,
			 struct spmu_cpuid_regs *regs);

/*
 * One retired instruction.
 *
 * ip		Its linear address (eventing IP).
 * next_ip	The linear address where execution continues.  A host that runs user code alone may
 *		not know it for a far transfer: 0 means that no branch is recorded.
 * signals	The signals that the instruction produced.
 * accesses	Its memory accesses, `access_count` of them; NULL if there are none, or if the
 *		access tap does not want them (accesses.h).  A PEBS record has the address of the
 *		first load. If the event counts stores alone, or the instruction does not load, the
 *		record has that of the first store.
 * tallies	The tallies that it produced, `tally_count` entries in any order; NULL if there are
 *		none, or if no meter counts tallies.
 * cycles	Core clocks from the retirement before to this one; 0: both are in one clock.
 *		Threshold, edge and invert work on clocks (18.2.1.1).
 * latency	How many core clocks its first load took, for PEBS records; 0: not known.
 * data_source	Where the data of that load came from, encoded as in the model's PEBS record; 0: not
 *		known.
 * cpl		The privilege level at ip.
 * next_cpl	The privilege level at next_ip; used for FAR only.
 * store_source	What is known of its first store, as SPMU_STORE_ bits (ds.h), for records of
 *		events that count stores; 0: nothing.
 */
struct spmu_insn {
	uint64_t ip;
	uint64_t next_ip;
	uint64_t signals;
	const struct spmu_memory_access *accesses;
	const struct spmu_tally *tallies;
	uint32_t cycles;
	uint32_t latency;
	uint16_t access_count;
	uint16_t tally_count;
	uint8_t cpl;
	uint8_t next_cpl;
	uint8_t data_source;
	uint8_t store_source;
};

/* The `cycles` of hosts without a model of time: each instruction has a clock of its own. */
#define SPMU_CLOCKS_UNMODELLED 1u

/* What a call has led to, as a set of bits. */
#define SPMU_EV_PMI    1u /* the pmi callback was called */
#define SPMU_EV_RECORD 2u /* a PEBS record was written */
#define SPMU_EV_METERS 4u /* the list of meters changed (epoch) */

/*
 * Reports one retired instruction.  The unit counts it, detects overflows, arms PEBS, writes a PEBS
 * record, records a taken branch and requests the PMI.  Returns SPMU_EV_ bits.  Cost: linear in the
 * number of enabled counters.
 */
SPMU_API unsigned spmu_retire(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn);

/*
 * Reports tallies that were found after the code had run: occurrences in instructions that have
 * already been reported or passed in bulk.
 *
 * tallies	`count` entries, in the order in which they are to be counted.
 * cpl		The privilege level in which they happened.
 *
 * A host can run code in bulk without knowing how many occurrences it will produce. It limits the
 * stretch so that the largest possible number of occurrences fits the headroom of each meter that
 * counts them. It runs the stretch. Then it reports what really happened, before any other call for
 * the core. A host may also subtract the occurrences from the headroom itself. When the worst case
 * no longer fits, the host goes instruction by instruction, finds out the tallies of each, and
 * reports them with spmu_retire(). So every overflow and every PEBS record is at its exact
 * instruction.
 *
 * If the occurrences exceed the headroom nevertheless, counters overflow here, late: interrupts are
 * requested, and PEBS is armed.  But no record is made for an occurrence that is reported in this
 * way; the next one that spmu_retire() reports makes it.
 *
 * Returns SPMU_EV_ bits.  Cost: linear in `count`, and nothing else while it fits the headroom.
 */
SPMU_API unsigned spmu_tallies(struct spmu_core *core, unsigned lp,
			       const struct spmu_tally *tallies, size_t count, unsigned cpl);

/* A taken branch, as last branch records and branch traces hold it (17.4.8, 17.4.9). */
struct spmu_branch {
	uint64_t from, to; /* linear addresses of the branch and of where execution continues */
	uint32_t cycles;   /* core clocks since the branch before; 0: not known */
	uint8_t signal;	   /* its kind, as enum spmu_signal: one of SPMU_SIGSET_TAKEN */
	uint8_t cpl;	   /* the privilege level at `from` */
	uint8_t next_cpl;  /* the privilege level at `to` */
	uint8_t flags;	   /* SPMU_BRANCH_ bits */
};

/*
 * SPMU_BRANCH_EVENT marks an exception or interrupt.  No instruction retires with it, its signal is
 * FAR, and it also moves the newest branch into the last exception record.
 */
#define SPMU_BRANCH_MISPREDICTED 1u
#define SPMU_BRANCH_IN_TX	 2u
#define SPMU_BRANCH_ABORT	 4u
#define SPMU_BRANCH_EVENT	 8u
#define SPMU_BRANCH_CYCLES	 16u /* `cycles` is known, even if it is 0 */

/*
 * Reports `count` taken branches, in order: those that a host gathered in bulk (struct
 * spmu_branch_tap), and exceptions and interrupts, which every host reports here.  The unit ignores
 * branches that it does not want. An entry whose signal is not a taken branch only adds its cycles.
 * By such an entry a host that supplies core clocks tells how many passed in bulk since the last
 * branch. Returns SPMU_EV_ bits. Cost: linear in `count`.
 */
SPMU_API unsigned spmu_branches(struct spmu_core *core, unsigned lp,
				const struct spmu_branch *branches, size_t count);

/*
 * Tells the unit that the host has stored `records` BTS records itself, from tap.bts_next on;
 * at most tap.headroom.  Returns SPMU_EV_ bits.
 */
SPMU_API unsigned spmu_branches_stored(struct spmu_core *core, unsigned lp, size_t records);

/*
 * spmu_steps_on_branches() returns whether single-stepping (EFLAGS.TF) must trap after taken
 * branches only (IA32_DEBUGCTL.BTF, 17.4.3).
 *
 * spmu_debug_exception() does what #DB does to the unit: it clears LBR and BTF.  The host calls it
 * before the handler runs, and before it hands the exception over with spmu_branches().  In this
 * order the exception is in branch traces, but not among last branch records (17.4.2).
 */
SPMU_API bool spmu_steps_on_branches(const struct spmu_core *core, unsigned lp);
SPMU_API void spmu_debug_exception(struct spmu_core *core, unsigned lp);

/*
 * Tells the unit that an SMI has been delivered (`entered` is true) or that RSM returns (false).
 * In between nothing is recorded into the DS save area (17.4.9).  With
 * IA32_DEBUGCTL.FREEZE_WHILE_SMM counters and last branch records stop as well (17.4.1).
 */
SPMU_API void spmu_smm(struct spmu_core *core, unsigned lp, bool entered);

/*
 * Tells the unit whether IA-32e mode is active (IA32_EFER.LMA).  Creation and reset switch it off.
 * On models without DTES64 the mode selects the layout of the DS save area (17.4.9.1).
 */
SPMU_API void spmu_set_ia32e(struct spmu_core *core, unsigned lp, bool active);

/*
 * Tells the unit whether a logical processor is halted or not yet started.  After creation and
 * reset it runs.  Counters that the threads of a core share can depend on how many threads
 * are active (18.16.2).  Returns SPMU_EV_ bits.
 */
SPMU_API unsigned spmu_set_halted(struct spmu_core *core, unsigned lp, bool halted);

/*
 * Tells the unit that a C-state deeper than C1, requested by MWAIT, has cleared the last branch
 * records, TOS and the last exception record (17.10.3).  Families that keep them
 * ignore the call.
 */
SPMU_API void spmu_deep_sleep(struct spmu_core *core, unsigned lp);

/*
 * Reports clocks that pass while nothing retires.
 *
 * signals	CYCLES, REF_CYCLES or both.
 * clocks	How many of each.
 * cpl		The privilege level in which they pass.
 *
 * Returns SPMU_EV_ bits.
 */
SPMU_API unsigned spmu_clocks(struct spmu_core *core, unsigned lp, uint64_t signals,
			      uint64_t clocks, unsigned cpl);

/*
 * Returns the absent counters of thread lp, which count nothing.  Software has enabled them, but
 * the host does not supply their event, or the model does not know it.  Bit n is general counter n,
 * bit 32 + n fixed counter n.  Where the threads of a core share the counters, thread 0 has them
 * all.  Returns 0 for a thread that the core does not have.
 */
SPMU_API uint64_t spmu_absent_counters(const struct spmu_core *core, unsigned lp);

/* Adds what has passed in bulk to the counters, and grants new headroom. */
SPMU_API void spmu_sync(struct spmu_core *core);

#ifdef __cplusplus
}
#endif

#endif
