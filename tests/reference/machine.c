/* SPDX-License-Identifier: MIT */
/*
 * machine.c: what a program's operations do to one unit, the library's or the reference, and how
 * software answers its interrupts.
 */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t state[2][STATE_BYTES];

const char *machine_name(const struct machine *m)
{
	static const char *const name[] = {"bulk", "single", "reference"};

	return name[m->kind];
}

/*
 * Makes one outcome of two. The unit refuses a register that the model lacks (#GP) if some other
 * model has it, and otherwise leaves it to the host. The manual does not distinguish these. Both
 * are a fault for the guest here.
 */
static enum spmu_outcome fault_or_done(enum spmu_outcome outcome)
{
	return outcome == SPMU_NOT_OURS ? SPMU_GP : outcome;
}

/*
 * Returns true for MSR_OFFCORE_RSP_x, which only hold what is written. tests/unit/registers.c
 * checks their bits.
 */
static bool is_left_out(uint32_t msr)
{
	return msr == 0x1a6 || msr == 0x1a7;
}

/* Bits of IA32_PERF_CAPABILITIES that family.c is not sure of: PEBS_TRAP and PEBS_ARCH_REG. */
#define CAPABILITIES_UNSURE UINT64_C(0xc0)

enum spmu_outcome machine_read(struct machine *m, unsigned lp, uint32_t msr, uint64_t *value)
{
	enum spmu_outcome outcome;

	*value = 0;
	if (is_left_out(msr))
		return SPMU_NOT_OURS;
	if (m->kind == REFERENCE)
		return reference_read_msr(&m->reference, lp, msr, value);
	outcome = fault_or_done(spmu_read_msr(m->core, lp, msr, value));
	if (msr == 0x345)
		*value &= ~CAPABILITIES_UNSURE;
	if (outcome != SPMU_DONE)
		*value = 0;
	return outcome;
}

enum spmu_outcome machine_write(struct machine *m, unsigned lp, uint32_t msr, uint64_t value)
{
	if (is_left_out(msr))
		return SPMU_NOT_OURS;
	if (m->kind == REFERENCE)
		return reference_write_msr(&m->reference, lp, msr, value);
	return fault_or_done(spmu_write_msr(m->core, lp, msr, value));
}

uint32_t machine_read_lvt(struct machine *m, unsigned lp)
{
	return m->kind == REFERENCE ? m->reference.thread[lp].lvt : spmu_read_lvt(m->core, lp);
}

void machine_write_lvt(struct machine *m, unsigned lp, uint32_t value)
{
	if (m->kind == REFERENCE)
		reference_write_lvt(&m->reference, lp, value);
	else
		spmu_write_lvt(m->core, lp, value);
}

static uint64_t read_status(void *opaque, unsigned lp)
{
	uint64_t value;

	return machine_read(opaque, lp, 0x38e, &value) == SPMU_DONE ? value : ~UINT64_C(0);
}

static void config_of(const struct program *program, struct machine *m, unsigned side,
		      struct spmu_core_config *config)
{
	*config = (struct spmu_core_config){
		.size = sizeof(struct spmu_core_config),
		.model = spmu_model_find(program->model),
		.threads = program->threads,
		.hide_absent = program->hide_absent,
		.meters = {&m->meters[side][0], program->threads == 2 ? &m->meters[side][1] : NULL},
	};
}

void machine_create_core(const struct program *program, struct machine *m, unsigned side)
{
	struct spmu_core_config config;
	struct spmu_host host;
	size_t bytes = (spmu_core_bytes() + 63) & ~(size_t)63;

	if (!m->memory[side])
		m->memory[side] = aligned_alloc(64, bytes);
	config_of(program, m, side, &config);
	world_host(&m->world, program->modelled, &host);
	m->side = side;
	if (!m->memory[side] ||
	    spmu_core_create(m->memory[side], bytes, &config, &host, &m->core) != SPMU_OK) {
		fprintf(stderr, "no core of model %s\n", program->model);
		abort();
	}
}

void machine_start(const struct program *program, struct machine *m, enum machine_kind kind,
		   enum reference_defect defect)
{
	m->kind = kind;
	m->bulk = m->tapped = m->stored = m->silent = 0;
	m->gathered_count = 0;
	m->reference.defect = defect;
	world_reset(&m->world);
	m->world.read_status = read_status;
	m->world.unit = m;
	if (kind == REFERENCE) {
		struct spmu_core_config config;
		struct spmu_host host;

		config_of(program, m, 0, &config);
		world_host(&m->world, program->modelled, &host);
		reference_create(&m->reference, &config, &host);
		m->reference.defect = defect;
	} else {
		machine_create_core(program, m, 0);
	}
}

/* Restarts the branch trace, as a driver does around changes to the area (17.4.9.5). */
static void restart_trace(struct machine *m, unsigned lp)
{
	uint64_t debugctl;

	if (machine_read(m, lp, 0x1d9, &debugctl) == SPMU_DONE)
		(void)!machine_write(m, lp, 0x1d9, debugctl);
}

/* Clears CCCR.OVF, which software must clear (18.15.3). */
static void clear_overflows(struct machine *m, unsigned lp)
{
	for (uint32_t msr = 0x360; msr < 0x372; msr++) {
		uint64_t cccr;

		if (machine_read(m, lp, msr, &cccr) == SPMU_DONE && cccr >> 31 & 1)
			(void)!machine_write(m, lp, msr, cccr & ~(UINT64_C(1) << 31));
	}
}

/* Answers a PMI as software does: drains, clears, unmasks the LVT entry (Vol. 3B 17.4.9.5). */
void machine_service(const struct program *program, struct machine *m)
{
	const struct family *family;
	unsigned field;

	if (!m->world.pmi_pending[0] && !m->world.pmi_pending[1])
		return;
	family = family_find(program->model);
	field = family->area ? family->area->field : 0;

	for (unsigned lp = 0; lp < program->threads; lp++) {
		uint64_t area, status;

		if (!m->world.pmi_pending[lp])
			continue;
		m->world.pmi_pending[lp] = false;
		if (!program->service)
			continue;
		if (machine_read(m, lp, 0x600, &area) == SPMU_DONE) {
			world_poke(&m->world, area + field, field, PROGRAM_BTS(lp));
			world_poke(&m->world, area + 5u * field, field, PROGRAM_PEBS(lp));
			restart_trace(m, lp);
		}
		if (family->programming == BY_ESCRS)
			clear_overflows(m, lp);
		if (family->version < 4)
			(void)!machine_write(m, lp, 0x38f, program->enables);
		if (machine_read(m, lp, 0x38e, &status) == SPMU_DONE)
			(void)!machine_write(m, lp, 0x390, status);
		machine_write_lvt(m, lp, machine_read_lvt(m, lp) & ~UINT32_C(0x10000));
	}
}

uint64_t machine_epochs(const struct machine *m)
{
	return (uint64_t)m->meters[m->side][0].epoch << 32 | m->meters[m->side][1].epoch;
}

/* Returns true if a set of SPMU_EV_ bits tells what has happened since. */
bool machine_is_told(const struct machine *m, unsigned events, uint64_t pmis, uint64_t epoch)
{
	if (!(events & SPMU_EV_PMI) != (m->world.pmi_count == pmis))
		return false;
	return m->kind == REFERENCE || !(events & SPMU_EV_METERS) == (machine_epochs(m) == epoch);
}

/* Reports one instruction. Returns false if the answer contradicts what was seen. */
static bool retire(const struct program *program, struct machine *m, unsigned lp,
		   const struct spmu_insn *insn, unsigned *event)
{
	bool silent = m->kind != REFERENCE && machine_is_silent(program, m, lp, insn);
	uint64_t pmis = m->world.pmi_count, epoch = machine_epochs(m);
	uint64_t accesses = m->world.accesses;
	unsigned got;

	m->world.insn = silent ? NULL : insn;
	m->silent += silent;
	if (m->kind == REFERENCE)
		got = reference_retire(&m->reference, lp, insn);
	else
		got = spmu_retire(m->core, lp, insn);
	m->world.insn = NULL;
	m->world.position++;
	*event = got & (SPMU_EV_PMI | SPMU_EV_RECORD);
	if (silent && m->world.accesses != accesses)
		m->world.out_of_place = true;
	if (!machine_is_told(m, got, pmis, epoch) || (silent && *event))
		return false;
	machine_service(program, m);
	return true;
}

bool machine_run(const struct program *program, struct machine *m, const struct operation *op,
		 const struct spmu_insn *stream)
{
	struct random random = {op->value ^ 0xb10c};
	unsigned at = 0, events;
	bool good = true;

	memset(m->event, 0, op->count * sizeof(m->event[0]));
	while (at < op->count && good) {
		unsigned block = 1;

		if (m->kind == BULK) {
			block += (unsigned)random_below(&random, program->block_max);
			if (block > op->count - at)
				block = op->count - at;
			unsigned done = machine_bulk(program, m, op->lp, stream + at, block,
						     &m->event[at], &good);

			at += done;
			if (done || !good)
				continue;
			if (!machine_hand_over(program, m, op->lp, &events) || events)
				return false;
		}
		for (; block && good; block--, at++)
			good = retire(program, m, op->lp, stream + at, &m->event[at]);
	}
	return good && machine_hand_over(program, m, op->lp, &events) && !events;
}

/*
 * Returns the answer to what was reported: a fault if `got` contradicts what has happened since.
 * Then software answers the interrupts.
 */
static struct answer conclude(const struct program *program, struct machine *m, unsigned got,
			      uint64_t pmis, uint64_t epoch)
{
	bool told = machine_is_told(m, got, pmis, epoch);

	m->world.position++;
	machine_service(program, m);
	return (struct answer){told ? SPMU_DONE : SPMU_GP, got & (SPMU_EV_PMI | SPMU_EV_RECORD)};
}

static struct answer clocks(const struct program *program, struct machine *m,
			    const struct operation *op)
{
	uint64_t signals = (op->number & 4 ? SPMU_SIGBIT(CYCLES) : 0) |
			   (op->number & 8 ? SPMU_SIGBIT(REF_CYCLES) : 0);
	uint64_t pmis = m->world.pmi_count, epoch = machine_epochs(m);
	unsigned cpl = op->number & 3, got;

	if (m->kind == REFERENCE)
		got = reference_clocks(&m->reference, op->lp, signals, op->value, cpl);
	else
		got = spmu_clocks(m->core, op->lp, signals, op->value, cpl);
	return conclude(program, m, got, pmis, epoch);
}

static struct answer rdpmc(struct machine *m, const struct operation *op)
{
	struct answer answer = {SPMU_DONE, 0};
	unsigned cpl = op->value & 3;
	bool pce = op->value & 4, pe = op->value & 8;

	if (m->kind == REFERENCE)
		answer.outcome = reference_rdpmc(&m->reference, op->lp, op->number, cpl, pce, pe,
						 &answer.value);
	else
		answer.outcome =
			spmu_rdpmc(m->core, op->lp, op->number, cpl, pce, pe, &answer.value);
	if (answer.outcome != SPMU_DONE)
		answer.value = 0;
	return answer;
}

static struct answer cpuid(struct machine *m, const struct operation *op)
{
	struct spmu_cpuid_regs regs = {(uint32_t)op->value, (uint32_t)(op->value >> 8),
				       (uint32_t)(op->value >> 16), (uint32_t)(op->value >> 24)};
	bool ours = m->kind == REFERENCE ? reference_cpuid(&m->reference, op->number, &regs)
					 : spmu_cpuid(m->core, op->number, 0, &regs);

	return (struct answer){
		ours ? SPMU_DONE : SPMU_NOT_OURS,
		random_mix(regs.eax +
			   random_mix(regs.ebx + random_mix(regs.ecx + random_mix(regs.edx))))};
}

/* Saves, loads here or into the other core, and saves again. The two blocks must be the same. */
bool machine_reload(const struct program *program, struct machine *m, bool other, void *first,
		    void *second)
{
	size_t bytes = spmu_state_bytes(m->core);

	if (bytes > STATE_BYTES || spmu_save(m->core, first, bytes) != SPMU_OK)
		return false;
	if (other)
		machine_create_core(program, m, !m->side);
	if (spmu_load(m->core, first, bytes) != SPMU_OK ||
	    spmu_save(m->core, second, bytes) != SPMU_OK)
		return false;
	return !spmu_state_difference(first, second, bytes, &(unsigned){0}) &&
	       !memcmp(first, second, bytes);
}

static struct answer tally(const struct program *program, struct machine *m,
			   const struct operation *op)
{
	struct spmu_tally tally = {.kind = (uint16_t)op->number, .count = op->count};
	uint64_t pmis = m->world.pmi_count, epoch = machine_epochs(m);
	unsigned got;

	if (m->kind == REFERENCE)
		got = reference_tally(&m->reference, op->lp, &tally, op->value & 3);
	else
		got = spmu_tallies(m->core, op->lp, &tally, 1, op->value & 3);
	return conclude(program, m, got, pmis, epoch);
}

/* Makes a branch without an instruction: an exception or interrupt. */
static struct answer event(const struct program *program, struct machine *m,
			   const struct operation *op)
{
	struct spmu_branch branch = {
		.from = op->value,
		.to = op->address,
		.signal = SPMU_SIG_FAR,
		.cpl = op->number & 3,
		.next_cpl = op->number >> 2 & 3,
		.flags = SPMU_BRANCH_EVENT,
	};
	uint64_t pmis = m->world.pmi_count, epoch = machine_epochs(m);
	struct spmu_insn insn = {.next_ip = op->address};
	unsigned got;

	m->world.insn = &insn;
	if (m->kind == REFERENCE)
		got = reference_branches(&m->reference, op->lp, &branch, 1);
	else
		got = spmu_branches(m->core, op->lp, &branch, 1);
	m->world.insn = NULL;
	return conclude(program, m, got, pmis, epoch);
}

static struct answer halt(struct machine *m, const struct operation *op)
{
	uint64_t pmis = m->world.pmi_count, epoch = machine_epochs(m);
	struct answer answer = {SPMU_DONE, 0};
	unsigned got = 0;

	if (m->kind == REFERENCE)
		reference_set_halted(&m->reference, op->lp, op->value & 1);
	else
		got = spmu_set_halted(m->core, op->lp, op->value & 1);
	if (!machine_is_told(m, got, pmis, epoch))
		answer.outcome = SPMU_GP;
	return answer;
}

/* Makes what happens to the processor around the unit. */
static struct answer surroundings(struct machine *m, const struct operation *op)
{
	struct reference *unit = m->kind == REFERENCE ? &m->reference : NULL;
	struct answer answer = {SPMU_DONE, 0};
	bool flag = op->value & 1;

	switch (op->kind) {
	case OP_SMM:
		unit ? reference_smm(unit, op->lp, flag) : spmu_smm(m->core, op->lp, flag);
		break;
	case OP_DEBUG:
		answer.value = unit ? reference_steps_on_branches(unit, op->lp)
				    : spmu_steps_on_branches(m->core, op->lp);
		unit ? reference_debug_exception(unit, op->lp)
		     : spmu_debug_exception(m->core, op->lp);
		break;
	case OP_IA32E:
		unit ? reference_set_ia32e(unit, op->lp, flag)
		     : spmu_set_ia32e(m->core, op->lp, flag);
		break;
	case OP_HALT:
		return halt(m, op);
	case OP_RESET:
		unit ? reference_reset(unit, op->lp) : spmu_reset(m->core, op->lp);
		break;
	case OP_MACHINE_CHECK:
		unit ? reference_machine_check(unit, op->lp) : spmu_machine_check(m->core, op->lp);
		break;
	case OP_DEEP_SLEEP:
		unit ? reference_deep_sleep(unit, op->lp) : spmu_deep_sleep(m->core, op->lp);
		break;
	case OP_INIT:
		unit ? reference_init(unit, op->lp) : spmu_init(m->core, op->lp);
		break;
	}
	return answer;
}

/* Runs one operation with an answer on one machine. */
struct answer machine_operate(const struct program *program, struct machine *m,
			      const struct operation *op)
{
	struct answer answer = {SPMU_DONE, 0};

	switch (op->kind) {
	case OP_WRMSR:
		answer.outcome = machine_write(m, op->lp, op->number, op->value);
		break;
	case OP_RDMSR:
		answer.outcome = machine_read(m, op->lp, op->number, &answer.value);
		break;
	case OP_RDPMC:
		return rdpmc(m, op);
	case OP_LVT:
		machine_write_lvt(m, op->lp, (uint32_t)op->value);
		break;
	case OP_CLOCKS:
		return clocks(program, m, op);
	case OP_CPUID:
		return cpuid(m, op);
	case OP_SYNC:
		if (m->kind == BULK)
			spmu_sync(m->core);
		break;
	case OP_POKE:
		world_poke(&m->world, op->address, 8, op->value);
		for (unsigned lp = 0; lp < program->threads; lp++)
			restart_trace(m, lp);
		break;
	case OP_GUARD:
		m->world.guard[op->number % WORLD_GRANULES] = op->value & 3;
		for (unsigned lp = 0; lp < program->threads; lp++)
			restart_trace(m, lp);
		break;
	case OP_RELOAD:
		if (m->kind != REFERENCE &&
		    !machine_reload(program, m, op->value & 1, state[0], state[1]))
			answer.outcome = SPMU_GP;
		break;
	case OP_EVENT:
		return event(program, m, op);
	case OP_TALLY:
		return tally(program, m, op);
	default:
		return surroundings(m, op);
	}
	return answer;
}
