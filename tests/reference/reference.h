/* SPDX-License-Identifier: MIT */
/*
 * reference.h: a plain instruction-by-instruction unit of any family.
 *
 * It is written from the manual's rules alone, so that the library can be compared with it. It
 * shares no code with libsoftpmu but the event table (model.h). family.c tells what a family has.
 * Each retired instruction is applied to each counter, one by one. There are no meters and no
 * totals, and nothing is delayed.
 */
#ifndef SOFTPMU_REFERENCE_H
#define SOFTPMU_REFERENCE_H

#include "family.h"

#define REFERENCE_GENERAL  18
#define REFERENCE_FIXED	   4
#define REFERENCE_COUNTERS (REFERENCE_GENERAL + REFERENCE_FIXED)

/*
 * Deliberate mistakes, to show that a comparison with the reference finds a wrong unit. X(name): a
 * mistake that a unit might make.
 */
#define REFERENCE_DEFECTS(X)                                                                       \
	X(ARM_RECORDS_AT_ONCE, "the record is made by the event that overflows")                   \
	X(PDIR_IGNORED, "precise distribution: the next event makes the record")                   \
	X(PDIR_OF_ANY_EVENT, "precise distribution: each precise event of the counter has it")     \
	X(PDIR_WITH_CMASK, "precise distribution: INV and CMASK leave it on")                      \
	X(SKID_IGNORED, "reduced skid: the next event makes the record")                           \
	X(SKID_WITH_ANY, "reduced skid: AnyThread leaves it on")                                   \
	X(ARM_ONE_EVENT_LATE, "the second event after the overflow makes the record")              \
	X(OVERFLOW_ONE_LATE, "the overflow is seen at 1 instead of 0")                             \
	X(RELOAD_MISSING, "the counter is not reloaded after the record")                          \
	X(RELOAD_TRIGGERED_ALONE, "before format 3: other counters that overflowed are left")      \
	X(RELOAD_ALL_OVERFLOWED, "from format 3 on: other counters that overflowed are reloaded")  \
	X(STATUS_KEPT, "the overflow status stays set after the record")                           \
	X(BOUNDS_LOOSE, "a record that ends past the absolute maximum is written")                 \
	X(BOUNDS_TIGHT, "a record that ends at the absolute maximum is skipped")                   \
	X(THRESHOLD_LATE, "index equal to the threshold raises no interrupt")                      \
	X(CONDITION_IGNORED, "CondChgd is never set")                                              \
	X(CONDITION_CLEARED, "CondChgd goes with the overflow that a record clears")               \
	X(CONDITION_BY_SOFTWARE, "CondChgd is set by what software sets, too")                     \
	X(RINGS_SWAPPED, "USR counts CPL 0, OS the others")                                        \
	X(RING1_IS_SYSTEM, "CPL 1 counts as OS")                                                   \
	X(ANY_IGNORED, "AnyThread does not count the other thread")                                \
	X(FREEZE_IGNORED, "FREEZE_PERFMON_ON_PMI does not freeze")                                 \
	X(CMASK_EXCLUSIVE, "CMASK compares with > instead of >=")                                  \
	X(INVERT_IGNORED, "INV has no effect")                                                     \
	X(EDGE_IGNORED, "E has no effect")                                                         \
	X(PEBS_WITHOUT_CMASK, "PEBS looks at no counter with CMASK or INV")                        \
	X(RECORD_BY_COUNT, "with CMASK the record is made by what counts, not by the event")       \
	X(FEWER_BY_CLOCK, "\"fewer than 16 retired\" is not taken for clocks")                     \
	X(LVT_NOT_MASKED, "a delivered PMI leaves the LVT entry open")                             \
	X(FIXED_RELOAD_MISSING, "a fixed counter is not reloaded after its record")                \
	X(STATUS_AFTER_ASSIST, "formats 1 and 2 store the status as it is after the assist")       \
	X(ADAPTIVE_ALWAYS, "groups are stored whether or not the counter asks for them")           \
	X(STORE_AS_LOAD, "a record of a store has the address of the load beside it")              \
	X(LATENCY_LOST, "a record has no latency and data source of its load")                     \
	X(TALLY_ONCE, "a tally counts once for each instruction that has it")                      \
	X(TALLY_FORGOTTEN, "a tally that is reported late does not count")                         \
	X(TALLY_RECORDS, "a tally that is reported late makes a record")                           \
	X(SMM_RECORDS, "PEBS and branch trace go on in system-management mode")                    \
	X(MACHINE_CHECK_RECORDS, "a machine check leaves PEBS and branch trace on")                \
	X(LEGACY_KEEPS_ENABLES, "before version 4 a freeze leaves IA32_PERF_GLOBAL_CTRL")          \
	X(BTS_NOT_CIRCULAR, "without BTINT the branch trace stops at the end of its buffer")       \
	X(BTS_THRESHOLD_LATE, "the branch trace interrupts one record late")                       \
	X(BTS_BOUNDS_LOOSE, "a branch record that ends past the maximum is written")               \
	X(LBR_NOT_FROZEN, "a PMI leaves last branch records running")                              \
	X(LBR_FILTER_IGNORED, "MSR_LBR_SELECT leaves nothing out")                                 \
	X(LBR_RETURN_RECORDED, "in call-stack mode a return is recorded, not taken back")          \
	X(LBR_ZERO_CALL_RECORDED, "in call-stack mode a call to the next instruction is recorded") \
	X(LBR_SLEEP_KEEPS, "deep sleep leaves last branch records")                                \
	X(EQUAL_IGNORED, "the equal flag counts clocks with more events, too")                     \
	X(LBR_MISS_LOST, "a mispredicted branch is not marked")                                    \
	X(LBR_LOG_LATE, "the record of a branch does not log the branch itself")                   \
	X(LBR_LOG_WRAPS, "a record logs four events as none")                                      \
	X(SIGN_NOT_EXTENDED, "a legacy counter write does not extend bit 31")                      \
	X(ENABLE_PER_COUNTER, "P6: each event select has an enable bit of its own")                \
	X(PIN_CONTROL_SWAPPED, "the pin control flag means the opposite")                          \
	X(CLOCKS_AS_EVENTS, "Pentium: a duration counts each event of a clock")                    \
	X(CPL_2_IS_USER, "Pentium: CPL 1 and 2 count as CPL 3")                                    \
	X(PMI_AT_OVERFLOW, "NetBurst: the interrupt comes with the overflow")                      \
	X(FORCE_IGNORED, "NetBurst: FORCE_OVF has no effect")                                      \
	X(CASCADE_IGNORED, "NetBurst: CASCADE starts nothing")                                     \
	X(EXTENDED_CASCADE_IGNORED, "NetBurst: CCCR bit 11 starts nothing")                        \
	X(THREAD_ASKED, "NetBurst: an event without a thread is qualified by thread")              \
	X(CLOCKS_BY_EVENT, "NetBurst: at most 15 of the event, in its rings, for each clock")      \
	X(THRESHOLD_INCLUSIVE, "NetBurst: the threshold compares with >= instead of >")            \
	X(ESCR_SELECT_IGNORED, "NetBurst: a CCCR finds the ESCR whatever it selects")              \
	X(TAGS_IGNORED, "NetBurst: what is not tagged counts, too")                                \
	X(ACTIVE_THREADS_IGNORED, "NetBurst: CCCRs do not look at halted threads")                 \
	X(PMI_TO_THREAD_0, "NetBurst: OVF_PMI_T1 interrupts thread 0")                             \
	X(QUALIFIER_SWAPPED, "NetBurst: T0 and T1 of an ESCR are the wrong way round")             \
	X(OVF_NOT_STICKY, "NetBurst: a PEBS record clears CCCR.OVF")                               \
	X(PREDICTED_LOST, "branch trace records never say predicted")                              \
	X(HOST_IGNORES_HEADROOM, "not the unit's: a bulk host that never goes one by one")         \
	X(HOST_KEEPS_TAKEN, "not the unit's: a bulk host that does not give back what it took")    \
	X(HOST_ONE_TOO_MANY, "not the unit's: a bulk host that goes one below zero")

enum reference_defect {
	REFERENCE_SOUND = 0,
#define REFERENCE_X(name, meaning) REFERENCE_##name,
	REFERENCE_DEFECTS(REFERENCE_X)
#undef REFERENCE_X
		REFERENCE_DEFECT_END
};

/* Returns a name like "RELOAD_MISSING", never NULL. */
const char *reference_defect_name(enum reference_defect defect);

/* What one thread's clocks leave for CMASK, E and INV. */
struct reference_clock {
	uint64_t occurrences; /* in the current clock */
	bool asserted;	      /* the condition held in the clock before */
};

struct reference_counter {
	uint64_t value;
	bool armed;					/* PEBS takes the next event */
	bool late;					/* only for ARM_ONE_EVENT_LATE */
	bool due;					/* the next count interrupts */
	struct reference_clock clock[SPMU_THREADS_MAX]; /* by the thread that retires */
};

enum reference_pin { PIN_IDLE, PIN_AT_COUNT, PIN_AT_OVERFLOW };

/* A counter as the rules see it, however it is programmed. */
struct reference_view {
	struct reference_counter *counter;
	uint64_t signals;
	uint64_t predicted, missed; /* branches that count if they were predicted, or missed */
	struct spmu_tally_set tallies;
	unsigned bits;
	bool enabled;
	/*
	 * Bit n: counts what thread n retires as the system or as a user; an overflow interrupts
	 * thread n.
	 */
	unsigned system, user, interrupts;
	unsigned at_least; /* occurrences in a clock; 0: all are added up */
	bool edge, invert, equal;
	bool late;		    /* the interrupt comes with the next count */
	bool force;		    /* each count is an overflow */
	unsigned records;	    /* threads for which its overflow arms PEBS */
	bool at_once;		    /* ... and makes the record itself */
	unsigned record_interrupts; /* threads that the buffer's threshold interrupts */
	enum reference_pin pin;
	uint64_t status_bit;
};

struct reference_branch {
	uint64_t from, to, info; /* as the registers read */
};

struct reference_thread {
	uint64_t select[REFERENCE_GENERAL];
	const struct spmu_event *event[REFERENCE_GENERAL]; /* of select[]; NULL: none */
	struct reference_counter general[REFERENCE_GENERAL];
	struct reference_counter fixed[REFERENCE_FIXED];
	uint64_t fixed_control, global_control, global_status;
	uint64_t debugctl, misc_enable, pebs_enable, ds_area;
	uint64_t pebs_ld_lat, pebs_frontend, pebs_data_cfg;
	uint64_t lbr_select, lbr_tos, lbr_clocks;
	uint64_t lbr_ctl, lbr_depth, smm_lbr_ctl; /* architectural */
	uint64_t metric[8]; /* slots of each kind; no host of the tests supplies them */
	struct reference_branch lbr[SPMU_LBR_DEPTH_MAX], ler;
	uint64_t smm_debugctl, smm_global_control;
	uint64_t cesr, precise_event, matrix_vert, bus[8], bus_control;
	uint64_t escr[FAMILY_ESCR_LAST - FAMILY_ESCR_FIRST + 1]; /* CCCRs are in select[] */
	bool ia32e, smm, smm_frozen, halted;
	bool lbr_untimed;    /* the next entry's clocks are 0 (17.10.3) */
	unsigned lbr_log[4]; /* events of general counters since the newest entry */
	uint32_t lvt;
	bool pmi_requested; /* by the current instruction */
};

struct reference {
	const struct spmu_model *model;
	const struct family *family;
	unsigned threads;
	unsigned generals; /* counters of each thread */
	bool hide_absent;
	struct spmu_host host;
	enum reference_defect defect;
	struct reference_thread thread[SPMU_THREADS_MAX];
};

void reference_create(struct reference *unit, const struct spmu_core_config *config,
		      const struct spmu_host *host);
void reference_reset(struct reference *unit, unsigned lp);
void reference_init(struct reference *unit, unsigned lp);

enum spmu_outcome reference_read_msr(struct reference *unit, unsigned lp, uint32_t msr,
				     uint64_t *value);
enum spmu_outcome reference_write_msr(struct reference *unit, unsigned lp, uint32_t msr,
				      uint64_t value);
enum spmu_outcome reference_rdpmc(struct reference *unit, unsigned lp, uint32_t ecx, unsigned cpl,
				  bool cr4_pce, bool cr0_pe, uint64_t *value);
void reference_write_lvt(struct reference *unit, unsigned lp, uint32_t value);
bool reference_cpuid(const struct reference *unit, uint32_t leaf, struct spmu_cpuid_regs *regs);

/* Branches without an instruction, #DB, SMM and the mode (branches.c). */
unsigned reference_branches(struct reference *unit, unsigned lp, const struct spmu_branch *branches,
			    size_t count);
uint64_t reference_metrics(const struct reference *unit, unsigned lp);
bool reference_steps_on_branches(const struct reference *unit, unsigned lp);
void reference_debug_exception(struct reference *unit, unsigned lp);
void reference_smm(struct reference *unit, unsigned lp, bool entered);
void reference_machine_check(struct reference *unit, unsigned lp);
void reference_deep_sleep(struct reference *unit, unsigned lp);
void reference_set_ia32e(struct reference *unit, unsigned lp, bool active);
void reference_set_halted(struct reference *unit, unsigned lp, bool halted);

/* SPMU_EV_PMI and SPMU_EV_RECORD as spmu_retire() gives them. */
unsigned reference_retire(struct reference *unit, unsigned lp, const struct spmu_insn *insn);
/* Does the same for an instruction that retired before: it makes no record. */
unsigned reference_tally(struct reference *unit, unsigned lp, const struct spmu_tally *tally,
			 unsigned cpl);
unsigned reference_clocks(struct reference *unit, unsigned lp, uint64_t signals, uint64_t clocks,
			  unsigned cpl);

/* Between the files of the reference. */
/* Returns the thread that keeps a counter of thread lp, and its select registers. */
static inline struct reference_thread *reference_holder(struct reference *unit, unsigned lp)
{
	return &unit->thread[unit->family->shared ? 0 : lp];
}

/*
 * Sets status bits.  Table 35-2: CondChgd says that "status bits of this register" have changed.
 * Reading: that one of the others was 0 and is 1.
 */
static inline void reference_raise(const struct reference *unit, struct reference_thread *t,
				   uint64_t bits)
{
	if ((bits & ~t->global_status) && unit->defect != REFERENCE_CONDITION_IGNORED)
		t->global_status |= UINT64_C(1) << 63;
	t->global_status |= bits;
}

/* views.c: general counters, then fixed ones. */
struct reference_view reference_view(struct reference *unit, unsigned owner, unsigned n);
bool reference_takes_any(const struct reference *unit, unsigned owner, unsigned n);
uint64_t reference_supplied(const struct reference *unit, uint64_t signals);
bool reference_tally_supplied(const struct reference *unit, unsigned kind);
void reference_add_event(const struct reference *unit, struct reference_view *v,
			 const struct spmu_event *event);
/* pentium.c, netburst.c. registers_legacy.c returns false for other registers. */
struct reference_view reference_view_cesr(struct reference *unit, unsigned owner, unsigned n);
struct reference_view reference_view_escr(struct reference *unit, unsigned n);
bool reference_read_legacy(struct reference *unit, unsigned lp, uint32_t msr, uint64_t *value);
bool reference_write_legacy(struct reference *unit, unsigned lp, uint32_t msr, uint64_t value,
			    enum spmu_outcome *outcome);
/*
 * gain.c: returns what a counter gains from an instruction of thread `source`, or from clocks.
 * `once`: a defect.
 */
uint64_t reference_gain(const struct reference_view *v, unsigned source,
			const struct spmu_insn *insn, bool once, bool *occurred);
bool reference_listens(const struct reference *unit, const struct reference_view *v,
		       unsigned source, unsigned cpl);
/* Returns true if the counter overflowed. */
bool reference_count(struct reference *unit, unsigned owner, unsigned n,
		     const struct reference_view *v, uint64_t gain, unsigned *interrupts);

const struct family_area *reference_area(const struct reference *unit, unsigned lp);
void reference_request_pmi(struct reference *unit, unsigned lp);
unsigned reference_deliver_pmi(struct reference *unit, unsigned lp);
uint64_t reference_fetch(const uint8_t *from, unsigned bytes);
void reference_put(uint8_t *to, unsigned bytes, uint64_t value);
/* records.c: `applicable` as IA32_PEBS_ENABLE numbers counters. */
unsigned reference_assist(struct reference *unit, unsigned lp, const struct spmu_insn *insn,
			  uint64_t applicable, unsigned interrupts);
void reference_pass_clocks(struct reference *unit, unsigned lp, uint64_t clocks);
void reference_last_branch(struct reference *unit, unsigned lp, const struct spmu_branch *branch);
void reference_log(struct reference *unit, unsigned lp, const struct spmu_insn *insn);
void reference_store_branch(struct reference *unit, unsigned lp, const struct spmu_branch *branch);

#endif
