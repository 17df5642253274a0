/* SPDX-License-Identifier: MIT */
/*
 * reference.h: a plain instruction-by-instruction unit of 6th generation Core.
 *
 * It is written from the manual's rules alone and shares no code with
 * libsoftpmu but the event table (model.h), so that the library can be
 * compared with it.  Each retired instruction is held against each counter,
 * one by one; there are no meters, no totals, nothing is put off.
 */
#ifndef SOFTPMU_REFERENCE_H
#define SOFTPMU_REFERENCE_H

#include <softpmu/softpmu.h>

#define REFERENCE_GENERAL 8
#define REFERENCE_FIXED	  3

/*
 * Deliberate mistakes, to show that a comparison with the reference finds a
 * wrong unit.  X(name): what a unit might get wrong.
 */
#define REFERENCE_DEFECTS(X)                                                                       \
	X(ARM_RECORDS_AT_ONCE, "the record is made by the event that overflows")                   \
	X(ARM_ONE_EVENT_LATE, "the second event after the overflow makes the record")              \
	X(OVERFLOW_ONE_LATE, "the overflow is seen at 1 instead of 0")                             \
	X(RELOAD_MISSING, "the counter is not reloaded after the record")                          \
	X(STATUS_KEPT, "the overflow status stays set after the record")                           \
	X(BOUNDS_LOOSE, "a record that ends past the absolute maximum is written")                 \
	X(BOUNDS_TIGHT, "a record that ends at the absolute maximum is skipped")                   \
	X(THRESHOLD_LATE, "index equal to the threshold raises no interrupt")                      \
	X(RINGS_SWAPPED, "USR counts CPL 0, OS the others")                                        \
	X(RING1_IS_SYSTEM, "CPL 1 counts as OS")                                                   \
	X(ANY_IGNORED, "AnyThread does not count the other thread")                                \
	X(FREEZE_IGNORED, "FREEZE_PERFMON_ON_PMI does not freeze")                                 \
	X(CMASK_EXCLUSIVE, "CMASK compares with > instead of >=")                                  \
	X(INVERT_IGNORED, "INV has no effect")                                                     \
	X(EDGE_IGNORED, "E has no effect")                                                         \
	X(LVT_NOT_MASKED, "a delivered PMI leaves the LVT entry open")                             \
	X(SIGN_NOT_EXTENDED, "a legacy counter write does not extend bit 31")                      \
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

/* "RELOAD_MISSING"; never NULL. */
const char *reference_defect_name(enum reference_defect defect);

/* What CMASK, E and INV remember of one thread's clocks. */
struct reference_clock {
	uint64_t occurrences; /* in the clock that is not over */
	bool asserted;	      /* the condition held in the clock before */
};

struct reference_counter {
	uint64_t value;
	bool armed;					/* PEBS takes the next event */
	bool late;					/* only for ARM_ONE_EVENT_LATE */
	struct reference_clock clock[SPMU_THREADS_MAX]; /* by the thread that retires */
};

struct reference_thread {
	uint64_t select[REFERENCE_GENERAL];
	const struct spmu_event *event[REFERENCE_GENERAL]; /* of select[]; NULL: none */
	struct reference_counter general[REFERENCE_GENERAL];
	struct reference_counter fixed[REFERENCE_FIXED];
	uint64_t fixed_control, global_control, global_status;
	uint64_t debugctl, misc_enable, pebs_enable, ds_area;
	uint64_t pebs_ld_lat, pebs_frontend;
	uint64_t offcore[2];
	uint32_t lvt;
	bool pmi_requested; /* by the instruction at hand */
};

struct reference {
	const struct spmu_model *model;
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
bool reference_cpuid(const struct reference *unit, uint32_t leaf, struct spmu_cpuid *regs);

/* SPMU_EV_PMI and SPMU_EV_RECORD as spmu_retire() gives them. */
unsigned reference_retire(struct reference *unit, unsigned lp, const struct spmu_insn *insn);
unsigned reference_clocks(struct reference *unit, unsigned lp, uint64_t signals, uint64_t clocks,
			  unsigned cpl);

#endif
