/* SPDX-License-Identifier: MIT */
/*
 * program.c: run one program on the unit in bulk, on the unit one by one and
 * on the reference, and compare the three.
 *
 * The bulk host does what the comment at the head of unit.h says and no more:
 * it looks at no register to find out whether it may run in bulk.
 */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum machine_kind { BULK, SINGLE, REFERENCE, MACHINES };
static const char *const machine_name[] = {"bulk", "single", "reference"};

struct machine {
	enum machine_kind kind;
	struct world world;
	struct reference reference;
	struct spmu_core *core;
	unsigned side; /* which of the two cores is in use */
	void *memory[2];
	struct spmu_meters meters[2][SPMU_THREADS_MAX];
	unsigned event[PROGRAM_RUN_MAX]; /* what each instruction of the run led to */
	uint64_t bulk;
};

static struct machine machine[MACHINES];
static struct spmu_insn stream[PROGRAM_RUN_MAX];
static void *state[3];

/* The result of an operation that gives one. */
struct answer {
	enum spmu_outcome outcome;
	uint64_t value;
};

const uint32_t program_msrs[] = {
	0x329, 0xc0,  0xc1,  0xc2,  0xc3,  0xc4,  0xc5,	 0xc6,	0xc7,  0xc8,  0xc9,  0x4c0,
	0x4c1, 0x4c2, 0x4c3, 0x4c4, 0x4c5, 0x4c6, 0x4c7, 0x4c8, 0x4c9, 0x185, 0x186, 0x187,
	0x188, 0x189, 0x18a, 0x18b, 0x18c, 0x18d, 0x18e, 0x1a0, 0x1a6, 0x1a7, 0x1d9, 0x308,
	0x309, 0x30a, 0x30b, 0x30c, 0x345, 0x38c, 0x38d, 0x38e, 0x38f, 0x390, 0x391, 0x392,
	0x393, 0x3f0, 0x3f1, 0x3f2, 0x3f6, 0x3f7, 0x600, 0x601,
};
const unsigned program_msr_count = sizeof(program_msrs) / sizeof(program_msrs[0]);

static enum spmu_outcome read_msr(struct machine *m, unsigned lp, uint32_t msr, uint64_t *value)
{
	*value = 0;
	if (m->kind == REFERENCE)
		return reference_read_msr(&m->reference, lp, msr, value);
	return spmu_read_msr(m->core, lp, msr, value);
}

static enum spmu_outcome write_msr(struct machine *m, unsigned lp, uint32_t msr, uint64_t value)
{
	if (m->kind == REFERENCE)
		return reference_write_msr(&m->reference, lp, msr, value);
	return spmu_write_msr(m->core, lp, msr, value);
}

static uint32_t read_lvt(struct machine *m, unsigned lp)
{
	return m->kind == REFERENCE ? m->reference.thread[lp].lvt : spmu_read_lvt(m->core, lp);
}

static void write_lvt(struct machine *m, unsigned lp, uint32_t value)
{
	if (m->kind == REFERENCE)
		reference_write_lvt(&m->reference, lp, value);
	else
		spmu_write_lvt(m->core, lp, value);
}

static uint64_t read_status(void *opaque, unsigned lp)
{
	uint64_t value;

	return read_msr(opaque, lp, 0x38e, &value) == SPMU_DONE ? value : ~UINT64_C(0);
}

static void config_of(const struct program *program, struct machine *m, unsigned side,
		      struct spmu_core_config *config)
{
	*config = (struct spmu_core_config){
		.model = spmu_model_find(program->model),
		.threads = program->threads,
		.hide_absent = program->hide_absent,
		.meters = {&m->meters[side][0], program->threads == 2 ? &m->meters[side][1] : NULL},
	};
}

static void create_core(const struct program *program, struct machine *m, unsigned side)
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
	for (unsigned lp = 0; lp < config.threads; lp++)
		spmu_set_ia32e(m->core, lp, true);
}

static void machine_start(const struct program *program, struct machine *m, enum machine_kind kind,
			  enum reference_defect defect)
{
	m->kind = kind;
	m->bulk = 0;
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
		create_core(program, m, 0);
	}
}

/* Software's answer to a PMI: drain, clear, open the LVT entry again (Vol. 3B 17.4.9.5). */
static void service(const struct program *program, struct machine *m)
{
	for (unsigned lp = 0; lp < program->threads; lp++) {
		uint64_t area, status;

		if (!m->world.pmi_pending[lp])
			continue;
		m->world.pmi_pending[lp] = false;
		if (!program->service)
			continue;
		(void)!read_msr(m, lp, 0x600, &area);
		(void)!read_msr(m, lp, 0x38e, &status);
		world_poke(&m->world, area + 0x28, WORLD_MIDDLE + 0x400 + 0x600 * lp);
		(void)!write_msr(m, lp, 0x390, status);
		write_lvt(m, lp, read_lvt(m, lp) & ~UINT32_C(0x10000));
	}
}

/* The lists that the unit publishes are in order: no meter without signals, none overdrawn. */
static bool meters_in_order(const struct program *program, const struct machine *m)
{
	for (unsigned lp = 0; m->kind != REFERENCE && lp < program->threads; lp++) {
		const struct spmu_meters *meters = &m->meters[m->side][lp];

		if (meters->count > SPMU_METERS_MAX)
			return false;
		for (unsigned i = 0; i < meters->count; i++)
			if (!meters->meter[i].signals || !meters->meter[i].rings ||
			    meters->meter[i].rings > (SPMU_RING0 | SPMU_RINGX) ||
			    meters->meter[i].headroom < 0)
				return false;
	}
	return true;
}

static uint64_t epochs(const struct machine *m)
{
	return (uint64_t)m->meters[m->side][0].epoch << 32 | m->meters[m->side][1].epoch;
}

/* Does a set of SPMU_EV_ bits say what happened since? */
static bool is_told(const struct machine *m, unsigned events, uint64_t pmis, uint64_t epoch)
{
	if (!(events & SPMU_EV_PMI) != (m->world.pmi_count == pmis))
		return false;
	return m->kind == REFERENCE || !(events & SPMU_EV_METERS) == (epochs(m) == epoch);
}

/* Report one instruction; false when the answer contradicts what was seen. */
static bool retire(const struct program *program, struct machine *m, unsigned lp,
		   const struct spmu_insn *insn, unsigned *event)
{
	uint64_t pmis = m->world.pmi_count, epoch = epochs(m);
	unsigned got;

	m->world.insn = insn;
	if (m->kind == REFERENCE)
		got = reference_retire(&m->reference, lp, insn);
	else
		got = spmu_retire(m->core, lp, insn);
	m->world.insn = NULL;
	m->world.position++;
	*event = got & (SPMU_EV_PMI | SPMU_EV_RECORD);
	if (!is_told(m, got, pmis, epoch))
		return false;
	service(program, m);
	return true;
}

/* unit.h: subtract; when a meter goes below zero give all back and go one by one. */
static bool pass_in_bulk(struct spmu_meters *meters, const struct spmu_insn *insn, unsigned count,
			 enum reference_defect defect)
{
	int64_t taken[SPMU_METERS_MAX];
	bool pass = true;

	for (unsigned i = 0; i < meters->count; i++) {
		struct spmu_meter *meter = &meters->meter[i];

		taken[i] = 0;
		for (unsigned k = 0; k < count; k++)
			if (meter->rings & (insn[k].cpl ? SPMU_RINGX : SPMU_RING0))
				taken[i] += __builtin_popcountll(insn[k].signals & meter->signals);
		meter->headroom -= taken[i];
		if (meter->headroom < (defect == REFERENCE_HOST_ONE_TOO_MANY ? -1 : 0))
			pass = false;
	}
	if (defect == REFERENCE_HOST_IGNORES_HEADROOM)
		return true;
	if (defect == REFERENCE_HOST_KEEPS_TAKEN)
		return pass;
	if (!pass)
		for (unsigned i = 0; i < meters->count; i++)
			meters->meter[i].headroom += taken[i];
	return pass;
}

static bool run(const struct program *program, struct machine *m, const struct operation *op)
{
	struct random random = {op->value ^ 0xb10c};
	unsigned at = 0;

	memset(m->event, 0, op->count * sizeof(m->event[0]));
	while (at < op->count) {
		unsigned block = 1;

		/* Branches that the unit wants to hear of are reported one by one. */
		if (m->kind == BULK && !m->meters[m->side][op->lp].tap.signals) {
			block += (unsigned)random_below(&random, program->block_max);
			if (block > op->count - at)
				block = op->count - at;
			if (pass_in_bulk(&m->meters[m->side][op->lp], stream + at, block,
					 m->reference.defect)) {
				m->world.position += block;
				m->bulk += block;
				at += block;
				continue;
			}
		}
		for (; block; block--, at++)
			if (!retire(program, m, op->lp, stream + at, &m->event[at]))
				return false;
	}
	return true;
}

static struct answer clocks(const struct program *program, struct machine *m,
			    const struct operation *op)
{
	uint64_t signals = (op->number & 4 ? SPMU_SIGBIT(CYCLES) : 0) |
			   (op->number & 8 ? SPMU_SIGBIT(REF_CYCLES) : 0);
	uint64_t pmis = m->world.pmi_count, epoch = epochs(m);
	unsigned cpl = op->number & 3, got;
	struct answer answer = {SPMU_DONE, 0};

	if (m->kind == REFERENCE)
		got = reference_clocks(&m->reference, op->lp, signals, op->value, cpl);
	else
		got = spmu_clocks(m->core, op->lp, signals, op->value, cpl);
	answer.value = got & (SPMU_EV_PMI | SPMU_EV_RECORD);
	if (!is_told(m, got, pmis, epoch))
		answer.outcome = SPMU_GP;
	m->world.position++;
	service(program, m);
	return answer;
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
	struct spmu_cpuid regs = {(uint32_t)op->value, (uint32_t)(op->value >> 8),
				  (uint32_t)(op->value >> 16), (uint32_t)(op->value >> 24)};
	bool ours = m->kind == REFERENCE ? reference_cpuid(&m->reference, op->number, &regs)
					 : spmu_cpuid(m->core, op->number, 0, &regs);

	return (struct answer){
		ours ? SPMU_DONE : SPMU_NOT_OURS,
		random_mix(regs.eax +
			   random_mix(regs.ebx + random_mix(regs.ecx + random_mix(regs.edx))))};
}

/* Save, load here or into the other core, save again: the two blocks must be the same. */
static bool reload(const struct program *program, struct machine *m, bool other)
{
	size_t bytes = spmu_state_bytes(m->core);

	if (!state[0])
		for (int i = 0; i < 3; i++)
			state[i] = calloc(1, 1 << 16);
	if (bytes > 1 << 16 || spmu_save(m->core, state[0], bytes) != SPMU_OK)
		return false;
	if (other)
		create_core(program, m, !m->side);
	if (spmu_load(m->core, state[0], bytes) != SPMU_OK ||
	    spmu_save(m->core, state[1], bytes) != SPMU_OK)
		return false;
	return !spmu_state_difference(state[0], state[1], bytes, &(unsigned){0}) &&
	       !memcmp(state[0], state[1], bytes);
}

static bool fail(struct program_failure *failure, const char *form, ...)
	__attribute__((format(printf, 2, 3)));

static bool fail(struct program_failure *failure, const char *form, ...)
{
	va_list list;

	va_start(list, form);
	vsnprintf(failure->what, sizeof(failure->what), form, list);
	va_end(list);
	return false;
}

/* All that software can see of two machines. */
static bool compare(const struct program *program, struct machine *a, struct machine *b,
		    struct program_failure *failure)
{
	const char *what = world_difference(&a->world, &b->world);

	for (unsigned lp = 0; lp < program->threads; lp++) {
		for (unsigned i = 0; i < program_msr_count; i++) {
			uint64_t va, vb;
			enum spmu_outcome oa = read_msr(a, lp, program_msrs[i], &va);
			enum spmu_outcome ob = read_msr(b, lp, program_msrs[i], &vb);

			if (oa != ob || (oa == SPMU_DONE && va != vb))
				return fail(failure, "MSR %x of thread %u: %s %d:%llx, %s %d:%llx",
					    program_msrs[i], lp, machine_name[a->kind], oa,
					    (unsigned long long)va, machine_name[b->kind], ob,
					    (unsigned long long)vb);
		}
		if (read_lvt(a, lp) != read_lvt(b, lp))
			return fail(failure, "LVT of thread %u: %s %x, %s %x", lp,
				    machine_name[a->kind], read_lvt(a, lp), machine_name[b->kind],
				    read_lvt(b, lp));
	}
	if (!what)
		return true;
	for (unsigned i = 0; i < a->world.pmi_count && i < b->world.pmi_count && i < WORLD_PMIS_MAX;
	     i++) {
		const struct world_pmi *pa = &a->world.pmi[i], *pb = &b->world.pmi[i];

		if (memcmp(pa, pb, sizeof(*pa)))
			return fail(failure, "%s: %s at %llu status %llx, %s at %llu status %llx",
				    what, machine_name[a->kind], (unsigned long long)pa->position,
				    (unsigned long long)pa->status, machine_name[b->kind],
				    (unsigned long long)pb->position,
				    (unsigned long long)pb->status);
	}
	for (unsigned i = 0; i < sizeof(a->world.memory); i++)
		if (a->world.memory[i] != b->world.memory[i])
			return fail(failure, "%s: window %u offset %x: %s %02x, %s %02x", what,
				    i / WORLD_WINDOW_BYTES, i % WORLD_WINDOW_BYTES,
				    machine_name[a->kind], a->world.memory[i],
				    machine_name[b->kind], b->world.memory[i]);
	return fail(failure, "%s: %s, %s", what, machine_name[a->kind], machine_name[b->kind]);
}

/* The hidden state of the two cores must be the same, too. */
static bool compare_states(struct program_failure *failure)
{
	size_t bytes = spmu_state_bytes(machine[SINGLE].core);
	unsigned lp = 0;
	const char *what;

	if (!reload(NULL, &machine[SINGLE], false))
		return fail(failure, "save and load of the single core");
	if (spmu_save(machine[BULK].core, state[2], bytes) != SPMU_OK)
		return fail(failure, "save of the bulk core");
	what = spmu_state_difference(state[0], state[2], bytes, &lp);
	return what ? fail(failure, "saved state of bulk and single: %s of thread %u", what, lp)
		    : true;
}

static bool compare_all(const struct program *program, struct program_totals *totals,
			struct program_failure *failure)
{
	totals->comparisons++;
	if (!meters_in_order(program, &machine[BULK]) ||
	    !meters_in_order(program, &machine[SINGLE]))
		return fail(failure, "a meter is out of order");
	return compare(program, &machine[SINGLE], &machine[REFERENCE], failure) &&
	       compare(program, &machine[BULK], &machine[SINGLE], failure) &&
	       compare_states(failure);
}

static bool run_all(const struct program *program, const struct operation *op,
		    struct program_totals *totals, struct program_failure *failure)
{
	program_stream(program, op, stream);
	for (unsigned k = 0; k < MACHINES; k++)
		if (!run(program, &machine[k], op))
			return fail(failure, "%s: spmu_retire() returned the wrong set",
				    machine_name[k]);
	totals->instructions += op->count;
	for (unsigned i = 0; i < op->count; i++) {
		unsigned want = machine[REFERENCE].event[i];

		totals->records += want & SPMU_EV_RECORD ? 1 : 0;
		for (unsigned k = 0; k < REFERENCE; k++)
			if (machine[k].event[i] != want)
				return fail(failure, "instruction %u of the run: %s %s, %s %s", i,
					    machine_name[k],
					    (machine[k].event[i] ^ want) & SPMU_EV_RECORD ? "record"
											  : "PMI",
					    machine[k].event[i] > want ? "made" : "missing",
					    "against the reference");
	}
	return true;
}

/* One machine, one operation that answers. */
static struct answer operate(const struct program *program, struct machine *m,
			     const struct operation *op)
{
	struct answer answer = {SPMU_DONE, 0};

	switch (op->kind) {
	case OP_WRMSR:
		answer.outcome = write_msr(m, op->lp, op->number, op->value);
		break;
	case OP_RDMSR:
		answer.outcome = read_msr(m, op->lp, op->number, &answer.value);
		break;
	case OP_RDPMC:
		return rdpmc(m, op);
	case OP_LVT:
		write_lvt(m, op->lp, (uint32_t)op->value);
		break;
	case OP_CLOCKS:
		return clocks(program, m, op);
	case OP_CPUID:
		return cpuid(m, op);
	case OP_SETTLE:
		if (m->kind == BULK)
			spmu_settle(m->core);
		break;
	case OP_POKE:
		world_poke(&m->world, op->address, op->value);
		break;
	case OP_GUARD:
		m->world.guard[op->number % WORLD_GRANULES] = op->value & 3;
		break;
	case OP_RELOAD:
		if (m->kind != REFERENCE && !reload(program, m, op->value & 1))
			answer.outcome = SPMU_GP;
		break;
	case OP_RESET:
		if (m->kind == REFERENCE) {
			reference_reset(&m->reference, op->lp);
		} else {
			spmu_reset(m->core, op->lp);
			spmu_set_ia32e(m->core, op->lp, true);
		}
		break;
	case OP_INIT:
		if (m->kind == REFERENCE)
			reference_init(&m->reference, op->lp);
		else
			spmu_init(m->core, op->lp);
		break;
	}
	return answer;
}

static bool step(const struct program *program, const struct operation *op,
		 struct program_totals *totals, struct program_failure *failure)
{
	struct answer answer[MACHINES];

	if (op->kind == OP_RUN)
		return run_all(program, op, totals, failure);
	if (op->kind == OP_COMPARE)
		return compare_all(program, totals, failure);
	for (unsigned k = 0; k < MACHINES; k++)
		answer[k] = operate(program, &machine[k], op);
	totals->faults += answer[REFERENCE].outcome == SPMU_GP;
	totals->reloads += op->kind == OP_RELOAD;
	for (unsigned k = 0; k < REFERENCE; k++)
		if (answer[k].outcome != answer[REFERENCE].outcome ||
		    answer[k].value != answer[REFERENCE].value)
			return fail(failure, "%s %d:%llx, reference %d:%llx", machine_name[k],
				    answer[k].outcome, (unsigned long long)answer[k].value,
				    answer[REFERENCE].outcome,
				    (unsigned long long)answer[REFERENCE].value);
	return true;
}

bool program_run(const struct program *program, enum reference_defect defect,
		 struct program_totals *totals, struct program_failure *failure)
{
	static struct program_totals scratch;
	bool agree = true;

	if (!totals)
		totals = &scratch;
	for (unsigned k = 0; k < MACHINES; k++)
		machine_start(program, &machine[k], (enum machine_kind)k, defect);
	for (failure->op = 0; failure->op < program->ops && agree; failure->op++)
		agree = step(program, &program->op[failure->op], totals, failure);
	if (!agree)
		failure->op--;
	else
		agree = compare_all(program, totals, failure);
	totals->programs++;
	totals->bulk_instructions += machine[BULK].bulk;
	totals->pmis += machine[REFERENCE].world.pmi_count;
	totals->accesses += machine[SINGLE].world.accesses;
	return agree;
}
