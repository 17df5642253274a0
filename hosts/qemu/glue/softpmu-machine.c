/* SPDX-License-Identifier: MIT */
/*
 * softpmu-machine.c: tells a model of the machine (softpmu/uarch.h) what the virtual processors
 * fetch, access and predict, and charges what the model counts to the meters (pmu-machine=on).
 *
 * All processors have one model: each has a core's own caches, TLBs and predictors, and they share
 * the last level.  TLBs work with linear addresses and the pages' real sizes, caches with physical
 * addresses.
 *
 * Blocks tell each access before it happens, and each fetch and branch.  Accesses wait in a buffer
 * until it is full, or until somebody reads a count.  With one thread of the emulator for each
 * processor, accesses of different processors are in the order of their buffers.
 *
 * Simplified: an access that faults for another reason than an absent page is told, too.  Device
 * memory is not cached.  Where QEMU does not know the size of an access it is one cache line.  Page
 * walks, and what exceptions and descriptors access, are not told.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/memalign.h"
#include "qemu/thread.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "hw/boards.h"
#include "softpmu-unit.h"

#define BUFFERED    512
#define LINE	    64u
#define LARGE_PAGE  21 /* also of 4 MB: the model knows no such page */
#define HUGE_PAGE   30
#define PEBS_LD_LAT 0x3f6

/* How many occurrences of a meter an instruction can have at most: each access, and two fetches. */
#define OCCURRENCES_MOST (2 * SOFTPMU_ACCESSES_MAX + 2)

/* How many the buffer can hold that no instruction was charged for: elements of a REP string
 * instruction. */
#define OCCURRENCES_BUFFERED (4 * BUFFERED)

#define SIGNALS (SPMU_SIGBIT(LLC_REFERENCE) | SPMU_SIGBIT(LLC_MISS))

struct softpmu_feed {
	unsigned thread; /* of the model */
	unsigned ring;	 /* where the buffer's accesses happened */
	unsigned count;
	struct spmu_uarch_translated buffer[BUFFERED];
	/* Where the first load and the first store of the buffer found their data: 1 + level. */
	uint8_t load, store;
	bool load_walked, store_walked;
	uint32_t threshold; /* of LOAD_LATENCY; 0: none */
	/* What the model had counted when it was last asked, and what is not charged yet. */
	uint64_t seen_signals[SPMU_SIGNALS], seen_tallies[SPMU_TALLIES];
	bool fresh[2];
	uint64_t signals[2][SPMU_SIGNALS], tallies[2][SPMU_TALLIES];
};

static struct {
	const struct spmu_machine *shape;
	struct spmu_uarch *model;
	void *memory;
	size_t bytes;
	unsigned threads, joined;
	QemuMutex lock; /* of caches and TLBs, not of predictors */
	struct softpmu_feed *feed[SPMU_UARCH_THREADS_MAX];
} machine;

/* Makes the model, or empties it. */
static bool make_model(void)
{
	struct spmu_uarch_config config = {
		.size = sizeof(struct spmu_uarch_config),
		.machine = machine.shape,
		.threads = machine.threads,
	};

	if (!machine.memory) {
		machine.bytes = spmu_uarch_bytes(&config);
		machine.memory = qemu_memalign(64, ROUND_UP(machine.bytes, 64));
	}
	return spmu_uarch_create(machine.memory, machine.bytes, &config, &machine.model) == SPMU_OK;
}

bool softpmu_machine_known(const struct spmu_model *model, Error **errp)
{
	const char *name = spmu_model_describe(model).name;

	if (machine.memory)
		return true;
	machine.shape = spmu_machine_of_model(name);
	machine.threads = MACHINE(qdev_get_machine())->smp.max_cpus;
	if (!machine.shape) {
		error_setg(errp, "pmu-machine=on: no machine is known for unit '%s'", name);
		return false;
	}
	if (machine.threads > SPMU_UARCH_THREADS_MAX) {
		error_setg(errp, "pmu-machine=on: there can be at most %u processors",
			   SPMU_UARCH_THREADS_MAX);
		return false;
	}
	qemu_mutex_init(&machine.lock);
	g_assert(make_model());
	return true;
}

bool softpmu_machine_join(struct softpmu *unit, Error **errp)
{
	struct softpmu_feed *feed;

	if (machine.joined == machine.threads) {
		error_setg(errp, "pmu-machine=on: a processor cannot be replaced");
		return false;
	}
	feed = g_new0(struct softpmu_feed, 1);
	feed->thread = machine.joined;
	machine.feed[machine.joined++] = feed;
	unit->feed = feed;
	return true;
}

void softpmu_machine_supply(struct spmu_supply *supply, const struct spmu_model *model)
{
	spmu_machine_supplies(spmu_machine_of_model(spmu_model_describe(model).name), supply);
	spmu_uarch_supplies_offcore(supply);
}

void softpmu_machine_forget(void)
{
	g_assert(make_model());
	for (unsigned i = 0; i < machine.joined; i++) {
		struct softpmu_feed *feed = machine.feed[i];

		feed->count = 0;
		memset(feed->seen_signals, 0, sizeof(feed->seen_signals));
		memset(feed->seen_tallies, 0, sizeof(feed->seen_tallies));
		memset(feed->signals, 0, sizeof(feed->signals));
		memset(feed->tallies, 0, sizeof(feed->tallies));
		feed->fresh[0] = feed->fresh[1] = false;
	}
}

const char *softpmu_machine_name(const struct softpmu *unit)
{
	return unit->feed ? machine.shape->name : NULL;
}

/* --- what meters want --- */

bool softpmu_machine_counts(const struct softpmu *unit, const struct spmu_meter *meter)
{
	return unit->feed &&
	       (meter->tallies || (meter->signals & (SIGNALS | SPMU_SIGBIT(BRANCH_MISS))));
}

int64_t softpmu_machine_headroom(const struct spmu_meter *meter)
{
	int64_t left = meter->headroom - OCCURRENCES_BUFFERED;

	return left > 0 ? left / OCCURRENCES_MOST : 0;
}

void softpmu_machine_update(struct softpmu *unit)
{
	uint64_t threshold = 0;

	if (unit->feed && spmu_read_msr(unit->core, unit->lp, PEBS_LD_LAT, &threshold) == SPMU_DONE)
		unit->feed->threshold = MIN(threshold, UINT32_MAX);
}

/* --- what ran --- */

/* Returns whether loads that find their data there are slow enough. */
static bool is_slow(const struct softpmu_feed *feed, enum spmu_uarch_level level)
{
	return feed->threshold && machine.shape->load_clocks[level] >= feed->threshold;
}

/* Returns the loads among these occurrences that take at least the threshold. */
static uint64_t slow_loads(const struct softpmu_feed *feed, const uint64_t tallies[SPMU_TALLIES])
{
	uint64_t modified = tallies[SPMU_TALLY_LOAD_XSNP_HITM];

	return is_slow(feed, SPMU_LEVEL_L1) * tallies[SPMU_TALLY_LOAD_L1_HITS] +
	       is_slow(feed, SPMU_LEVEL_L2) * tallies[SPMU_TALLY_LOAD_L2_HITS] +
	       is_slow(feed, SPMU_LEVEL_LLC) * (tallies[SPMU_TALLY_LOAD_L3_HITS] - modified) +
	       is_slow(feed, SPMU_LEVEL_OTHER) * modified +
	       is_slow(feed, SPMU_LEVEL_MEMORY) * tallies[SPMU_TALLY_LOAD_L3_MISSES];
}

/* Takes over what the model has counted since it was last asked. */
static void bank(struct softpmu_feed *feed)
{
	unsigned ring = feed->ring;
	uint64_t fresh[SPMU_TALLIES] = {0};

	for (uint64_t set = SIGNALS; set; set &= set - 1) {
		unsigned s = ctz64(set);
		uint64_t now = spmu_uarch_signal(machine.model, feed->thread, s);

		feed->signals[ring][s] += now - feed->seen_signals[s];
		feed->seen_signals[s] = now;
	}
	for (unsigned t = 1; t < SPMU_TALLIES; t++) {
		uint64_t now = spmu_uarch_tally(machine.model, feed->thread, t);

		fresh[t] = now - feed->seen_tallies[t];
		feed->seen_tallies[t] = now;
	}
	fresh[SPMU_TALLY_LOAD_LATENCY] = slow_loads(feed, fresh);
	for (unsigned t = 1; t < SPMU_TALLIES; t++)
		feed->tallies[ring][t] += fresh[t];
	feed->fresh[ring] = true;
}

/* Tells the model of an access, and notes where the first load and the first store went. */
static void tell(struct softpmu_feed *feed, const struct spmu_uarch_translated *access)
{
	bool loads = access->kind & SPMU_UARCH_LOAD, stores = access->kind & SPMU_UARCH_STORE;
	const uint64_t *count = spmu_uarch_counts(machine.model, feed->thread);
	uint64_t load_walks = count[SPMU_UARCH_DTLB_LOAD_WALKS];
	uint64_t store_walks = count[SPMU_UARCH_DTLB_STORE_WALKS];
	enum spmu_uarch_level level =
		spmu_uarch_access_translated(machine.model, feed->thread, access);

	if (loads && !feed->load) {
		feed->load = 1 + level;
		feed->load_walked = count[SPMU_UARCH_DTLB_LOAD_WALKS] != load_walks;
	}
	if (stores && !feed->store) {
		/* What an instruction loads and then stores is in the first level. */
		feed->store = 1 + (loads ? SPMU_LEVEL_L1 : level);
		feed->store_walked = count[SPMU_UARCH_DTLB_STORE_WALKS] != store_walks;
	}
}

static void empty_buffer(struct softpmu_feed *feed)
{
	feed->load = feed->store = 0;
	feed->load_walked = feed->store_walked = false;
	if (!feed->count)
		return;
	qemu_mutex_lock(&machine.lock);
	for (unsigned i = 0; i < feed->count; i++)
		tell(feed, &feed->buffer[i]);
	qemu_mutex_unlock(&machine.lock);
	feed->count = 0;
	bank(feed);
}

/* Finds the physical address and the size of the page.  Returns false if there is none, or if it is
 * no memory. */
static bool translate(CPUX86State *env, uint64_t linear, MMUAccessType type, int mmu,
		      uint64_t *physical, uint8_t *page_shift)
{
	CPUTLBEntryFull *full;
	void *host;

	if (probe_access_full_mmu(env, linear, 0, type, mmu, &host, &full) &
	    (TLB_INVALID_MASK | TLB_MMIO))
		return false;
	*physical = full->phys_addr | (linear & ~TARGET_PAGE_MASK);
	*page_shift = full->lg_page_size >= HUGE_PAGE	 ? HUGE_PAGE
		      : full->lg_page_size >= LARGE_PAGE ? LARGE_PAGE
							 : TARGET_PAGE_BITS;
	return true;
}

static void append(CPUX86State *env, unsigned ring, MMUAccessType type, int mmu, uint64_t linear,
		   unsigned bytes, unsigned kind)
{
	struct softpmu_feed *feed = env->softpmu.unit->feed;
	struct spmu_uarch_translated access = {.linear = linear, .bytes = bytes, .kind = kind};
	uint64_t rest = -(linear | TARGET_PAGE_MASK);
	uint8_t shift;

	if (!translate(env, linear, type, mmu, &access.physical, &access.page_shift) ||
	    (bytes > rest && !translate(env, linear + rest, type, mmu, &access.next_page, &shift)))
		return;
	if (feed->count == BUFFERED || feed->ring != ring)
		empty_buffer(feed);
	feed->ring = ring;
	feed->buffer[feed->count++] = access;
}

/* What a block passes: bytes, kind, MMU index and ring. */
#define BYTES_OF(what) ((uint16_t)(what))
#define KIND_OF(what)  ((uint8_t)((what) >> 16))
#define MMU_OF(what)   ((int)((what) >> 32 & 0xff))
#define RING_OF(what)  ((unsigned)((what) >> 40 & 1))

QEMU_BUILD_BUG_ON(SPMU_ACCESS_LOAD != SPMU_UARCH_LOAD || SPMU_ACCESS_STORE != SPMU_UARCH_STORE);

void helper_softpmu_touch(CPUX86State *env, uint64_t linear, uint64_t what)
{
	unsigned bytes = BYTES_OF(what) ? BYTES_OF(what) : LINE;
	unsigned kind = KIND_OF(what) & SPMU_ACCESS_PREFETCH ? SPMU_UARCH_PREFETCH : KIND_OF(what);

	append(env, RING_OF(what), MMU_DATA_LOAD, MMU_OF(what), linear, bytes, kind);
}

/* A block is fetched line by line. */
void helper_softpmu_fetch(CPUX86State *env, uint64_t linear, uint64_t what)
{
	uint64_t end = linear + BYTES_OF(what);

	for (uint64_t next; linear < end; linear = next) {
		next = MIN((linear | (LINE - 1)) + 1, end);
		append(env, RING_OF(what), MMU_INST_FETCH, MMU_OF(what), linear, next - linear,
		       SPMU_UARCH_FETCH);
	}
}

static enum spmu_uarch_branch_kind branch_kind(enum spmu_signal signal)
{
	switch (signal) {
	case SPMU_SIG_COND_TAKEN:
	case SPMU_SIG_COND_NTAKEN:
		return SPMU_BRANCH_CONDITIONAL;
	case SPMU_SIG_CALL_REL:
		return SPMU_BRANCH_CALL;
	case SPMU_SIG_CALL_IND:
		return SPMU_BRANCH_INDIRECT_CALL;
	case SPMU_SIG_RET_NEAR:
		return SPMU_BRANCH_RETURN;
	case SPMU_SIG_JMP_IND:
		return SPMU_BRANCH_INDIRECT;
	default:
		return SPMU_BRANCH_DIRECT;
	}
}

/* Tells of a branch: its signal, its length and the ring.  Returns 1 if it was mispredicted.
 * Predictors belong to one processor, so nothing is locked. */
uint32_t helper_softpmu_predict(CPUX86State *env, uint64_t from, uint64_t to, uint64_t what)
{
	struct softpmu_feed *feed = env->softpmu.unit->feed;
	enum spmu_signal signal = KIND_OF(what);
	const struct spmu_executed_branch branch = {
		.from = from,
		.next = from + BYTES_OF(what),
		.to = to,
		.kind = branch_kind(signal),
		.taken = signal != SPMU_SIG_COND_NTAKEN,
	};
	unsigned ring = RING_OF(what);

	if (!spmu_uarch_branch(machine.model, feed->thread, &branch))
		return 0;
	feed->signals[ring][SPMU_SIG_BRANCH_MISS]++;
	feed->fresh[ring] = true;
	return 1;
}

void softpmu_new_address_space(CPUX86State *env)
{
	if (env->softpmu.unit && env->softpmu.unit->feed) {
		empty_buffer(env->softpmu.unit->feed);
		spmu_uarch_forget_translations(machine.model, env->softpmu.unit->feed->thread);
	}
}

void softpmu_new_page(CPUX86State *env, uint64_t linear)
{
	if (env->softpmu.unit && env->softpmu.unit->feed) {
		empty_buffer(env->softpmu.unit->feed);
		spmu_uarch_forget_page(machine.model, env->softpmu.unit->feed->thread, linear);
	}
}

/* --- what the model has counted --- */

/* An occurrence is a signal or, after all signals, a tally. */
static bool counts(const struct spmu_meter *meter, unsigned ring, unsigned kind)
{
	if (!(meter->rings & (ring ? SPMU_RING_USER : SPMU_RING0)))
		return false;
	if (kind < SPMU_SIGNALS)
		return meter->signals >> kind & 1;
	return meter->tallies && spmu_tally_set_has(meter->tallies, kind - SPMU_SIGNALS);
}

/* Reports one occurrence that overflows a counter late: no instruction retires with it. */
static void overflow(struct softpmu *unit, unsigned ring, unsigned kind)
{
	const struct spmu_tally tally = {.kind = kind - SPMU_SIGNALS, .count = 1};
	const struct spmu_insn insn = {
		.signals = UINT64_C(1) << kind, .cpl = ring ? 3 : 0, .next_cpl = ring ? 3 : 0};

	if (kind < SPMU_SIGNALS)
		spmu_retire(unit->core, unit->lp, &insn);
	else
		spmu_tallies(unit->core, unit->lp, &tally, 1, ring ? 3 : 0);
}

/* Charges occurrences to the meters that count them.  If they overflow a counter and stop all, the
 * rest is not counted. */
static void charge_kind(struct softpmu *unit, unsigned ring, unsigned kind, uint64_t n)
{
	uint32_t epoch = unit->meters.epoch;

	while (n && unit->meters.epoch == epoch) {
		struct spmu_meter *meter = unit->meters.meter;
		const struct spmu_meter *end = meter + unit->meters.count;
		uint64_t fits = n;

		for (; meter < end; meter++)
			if (counts(meter, ring, kind))
				fits = MIN(fits, (uint64_t)MAX(meter->headroom, 0));
		for (meter = unit->meters.meter; meter < end; meter++)
			if (counts(meter, ring, kind))
				meter->headroom -= fits;
		n -= fits;
		if (n--)
			overflow(unit, ring, kind);
		else
			return;
	}
}

static void charge_ring(struct softpmu *unit, unsigned ring)
{
	struct softpmu_feed *feed = unit->feed;

	feed->fresh[ring] = false;
	for (unsigned s = 0; s < SPMU_SIGNALS; s++)
		if (feed->signals[ring][s])
			charge_kind(unit, ring, s, feed->signals[ring][s]);
	for (unsigned t = 0; t < SPMU_TALLIES; t++)
		if (feed->tallies[ring][t])
			charge_kind(unit, ring, SPMU_SIGNALS + t, feed->tallies[ring][t]);
	memset(feed->signals[ring], 0, sizeof(feed->signals[ring]));
	memset(feed->tallies[ring], 0, sizeof(feed->tallies[ring]));
}

void softpmu_machine_charge(struct softpmu *unit)
{
	if (!unit->feed)
		return;
	empty_buffer(unit->feed);
	for (unsigned ring = 0; ring < 2; ring++)
		if (unit->feed->fresh[ring])
			charge_ring(unit, ring);
}

/*
 * Returns the field of a PEBS record that says where a load got its data (18.8.1.2): bits 3:0 the
 * place, bit 4 that its page was in no TLB.  The table is Nehalem's.  Linux's driver has other
 * codes for lines that another core has changed, and from Skylake on for memory.
 */
static uint8_t load_source(const struct softpmu *unit)
{
	static const uint8_t of[][5] = {
		{0x1, 0x3, 0x4, 0x6, 0xc},
		{0x1, 0x3, 0x4, 0x7, 0xc},
		{0x1, 0x3, 0x4, 0x7, 0xa},
	};
	const struct softpmu_feed *feed = unit->feed;
	struct spmu_model_info info = spmu_model_describe(unit->model);
	bool first =
		g_str_has_prefix(info.name, "nehalem") || g_str_has_prefix(info.name, "westmere");
	unsigned row = info.pebs_format >= 3 ? 2 : !first;

	return feed->load ? of[row][feed->load - 1] | (feed->load_walked ? 0x10 : 0) : 0;
}

static uint8_t store_source(const struct softpmu_feed *feed)
{
	return (feed->store == 1 + SPMU_LEVEL_L1 ? SPMU_STORE_L1D_HIT : 0) |
	       (feed->store_walked ? SPMU_STORE_STLB_MISS : 0);
}

void softpmu_machine_retire(struct softpmu *unit, struct spmu_insn *insn,
			    struct spmu_tally tallies[SPMU_TALLIES])
{
	struct softpmu_feed *feed = unit->feed;
	unsigned ring = insn->cpl != 0;
	uint64_t *signals = feed->signals[ring], *counted = feed->tallies[ring];

	empty_buffer(feed);
	insn->data_source = load_source(unit);
	insn->store_source = store_source(feed);
	insn->latency = feed->load ? machine.shape->load_clocks[feed->load - 1] : 0;
	insn->tallies = tallies;
	/* A signal happens once in an instruction.  If it happened more often, the rest is
	 * charged. */
	for (uint64_t set = SIGNALS | SPMU_SIGBIT(BRANCH_MISS); set; set &= set - 1) {
		unsigned s = ctz64(set);

		if (!signals[s])
			continue;
		insn->signals |= UINT64_C(1) << s;
		signals[s]--;
	}
	for (unsigned t = 1; t < SPMU_TALLIES; t++) {
		if (!counted[t])
			continue;
		tallies[insn->tally_count++] =
			(struct spmu_tally){.kind = t, .count = MIN(counted[t], UINT32_MAX)};
		counted[t] = 0;
	}
}
