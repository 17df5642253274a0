/* SPDX-License-Identifier: MIT */
/*
 * uarch_memory.c: cache levels, TLBs, coherence and prefetchers of the machine model (uarch.h),
 * with programs whose results can be computed by hand.
 */
#include "uarch_host.h"

#define LRU                                                                                        \
	{                                                                                          \
		.policy = SPMU_REPLACE_LRU                                                         \
	}

/* Makes a machine of 4, 16 and 64 lines, at first with two ways each, all LRU. */
static struct spmu_machine small(unsigned properties, enum spmu_inclusion inclusion)
{
	return (struct spmu_machine){
		.size = sizeof(struct spmu_machine),
		.l1i = {4 * LINE, 2, LINE, LRU},
		.l1d = {4 * LINE, 4, LINE, LRU},
		.l2 = {16 * LINE, 16, LINE, LRU},
		.llc = {64 * LINE, 64, LINE, LRU},
		.properties = properties,
		.inclusion = (uint8_t)inclusion,
	};
}

/* Loads `lines` lines in a loop, twice. Returns the level that the second turn found them in. */
static enum spmu_uarch_level loop(struct uarch_host *h, unsigned lines)
{
	enum spmu_uarch_level level = SPMU_LEVEL_L1;

	for (unsigned turn = 0; turn < 2; turn++)
		for (unsigned i = 0; i < lines; i++)
			level = load(h, 0, (uint64_t)i * LINE);
	return level;
}

/*
 * Checks that a loop over all lines of a level stays in it. With LRU, one line more misses each
 * time.
 */
static void holds_what_fits(void)
{
	const struct spmu_machine machine = small(0, SPMU_NONINCLUSIVE);
	static const struct {
		unsigned lines;
		enum spmu_uarch_level level;
	} rows[] = {{4, SPMU_LEVEL_L1},	  {5, SPMU_LEVEL_L2},	{16, SPMU_LEVEL_L2},
		    {17, SPMU_LEVEL_LLC}, {64, SPMU_LEVEL_LLC}, {65, SPMU_LEVEL_MEMORY}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct uarch_host h = uarch_make(&machine, 1, NULL);

		CHECK_EQ(loop(&h, rows[i].lines), rows[i].level);
		CHECK_EQ(h.count[SPMU_UARCH_LOADS], 2 * rows[i].lines);
		CHECK_EQ(h.count[SPMU_UARCH_MEMORY_READS],
			 rows[i].lines * (rows[i].level == SPMU_LEVEL_MEMORY ? 2 : 1));
		free(h.memory);
	}
}

/* Checks that lines of one set compete for its ways, even if the rest of the cache is empty. */
static void maps_lines_to_sets(void)
{
	struct spmu_machine machine = small(0, SPMU_NONINCLUSIVE);
	struct uarch_host h;

	machine.l1d = (struct spmu_cache_shape){8 * LINE, 2, LINE, LRU};
	h = uarch_make(&machine, 1, NULL);
	for (unsigned turn = 0; turn < 2; turn++)
		for (unsigned i = 0; i < 3; i++)
			load(&h, 0, (uint64_t)i * 4 * LINE); /* four sets: all in the same */
	CHECK_EQ(h.count[SPMU_UARCH_LOAD_L1_MISSES], 6);
	load(&h, 0, LINE);
	CHECK_EQ(load(&h, 0, LINE), SPMU_LEVEL_L1);
	free(h.memory);
}

static void counts_splits(void)
{
	const struct spmu_machine machine = small(0, SPMU_NONINCLUSIVE);
	struct uarch_host h = uarch_make(&machine, 1, NULL);

	CHECK_EQ(spmu_uarch_access(h.model, 0, LINE - 4, 8, SPMU_UARCH_LOAD), SPMU_LEVEL_MEMORY);
	CHECK_EQ(h.count[SPMU_UARCH_LOAD_SPLITS], 1);
	CHECK_EQ(h.count[SPMU_UARCH_LOAD_L1_MISSES], 1);
	CHECK_EQ(h.count[SPMU_UARCH_MEMORY_READS], 2);
	CHECK_EQ(spmu_uarch_access(h.model, 0, LINE - 4, 4, SPMU_UARCH_LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(h.count[SPMU_UARCH_LOAD_SPLITS], 1);
	CHECK_EQ(spmu_uarch_access(h.model, 0, LINE - 1, 2, SPMU_UARCH_LOAD | SPMU_UARCH_STORE),
		 SPMU_LEVEL_L1);
	CHECK_EQ(h.count[SPMU_UARCH_LOADS], 3);
	CHECK_EQ(h.count[SPMU_UARCH_STORES], 1);
	CHECK_EQ(h.count[SPMU_UARCH_STORE_SPLITS], 1);
	free(h.memory);
}

/*
 * Checks that a changed line is written to memory once, when it leaves the last level. Others are
 * not.
 */
static void writes_changed_lines_back(void)
{
	const struct spmu_machine machine = small(SPMU_MACHINE_WRITE_BACK, SPMU_NONINCLUSIVE);
	struct uarch_host h = uarch_make(&machine, 1, NULL);

	for (unsigned i = 0; i < 10; i++)
		store(&h, 0, (uint64_t)i * LINE);
	CHECK_EQ(h.count[SPMU_UARCH_MEMORY_WRITES], 0);
	for (unsigned i = 100; i < 300; i++)
		load(&h, 0, (uint64_t)i * LINE);
	CHECK_EQ(h.count[SPMU_UARCH_MEMORY_WRITES], 10);
	free(h.memory);
}

/*
 * Checks that a line that leaves an inclusive last level leaves the first, too, even if it is in
 * use.
 */
static void includes_the_first_level(void)
{
	for (unsigned inclusive = 0; inclusive < 2; inclusive++) {
		const struct spmu_machine machine =
			small(0, inclusive ? SPMU_INCLUSIVE : SPMU_NONINCLUSIVE);
		struct uarch_host h = uarch_make(&machine, 1, NULL);
		unsigned misses = 0;

		load(&h, 0, 0);
		for (unsigned i = 1; i < 200; i++) {
			misses += load(&h, 0, 0) != SPMU_LEVEL_L1;
			load(&h, 0, (uint64_t)i * LINE);
		}
		CHECK_EQ(misses, inclusive ? 3 : 0); /* after each 64 lines */
		free(h.memory);
	}
}

/* Checks that a victim cache adds to the second level: 16 + 64 lines fit, as no line is in both. */
static void keeps_victims(void)
{
	const struct spmu_machine machine = small(SPMU_MACHINE_WRITE_BACK, SPMU_VICTIM);
	struct uarch_host h = uarch_make(&machine, 1, NULL);

	CHECK_EQ(loop(&h, 80), SPMU_LEVEL_LLC);
	CHECK_EQ(h.count[SPMU_UARCH_MEMORY_READS], 80);
	free(h.memory);
	h = uarch_make(&machine, 1, NULL);
	CHECK_EQ(loop(&h, 81), SPMU_LEVEL_MEMORY);
	free(h.memory);
}

/*
 * Checks MESI: a thread that changes a line takes it from all others. A thread that reads it gets
 * the changed line.
 */
static void keeps_threads_coherent(void)
{
	const struct spmu_machine machine = small(SPMU_MACHINE_WRITE_BACK, SPMU_INCLUSIVE);
	struct uarch_host h = uarch_make(&machine, 3, NULL);
	const uint64_t *other = spmu_uarch_counts(h.model, 1);

	CHECK_EQ(load(&h, 0, 0), SPMU_LEVEL_MEMORY);
	CHECK_EQ(load(&h, 1, 0), SPMU_LEVEL_LLC);
	CHECK_EQ(other[SPMU_UARCH_SNOOP_HITS], 1);
	CHECK_EQ(store(&h, 0, 0), SPMU_LEVEL_L1); /* thread 1 loses its copy */
	CHECK_EQ(load(&h, 1, 8), SPMU_LEVEL_OTHER);
	CHECK_EQ(other[SPMU_UARCH_SNOOP_MODIFIED], 1);
	CHECK_EQ(load(&h, 0, 0), SPMU_LEVEL_L1); /* both have it now */
	CHECK_EQ(load(&h, 2, 0), SPMU_LEVEL_LLC);
	CHECK_EQ(store(&h, 1, 0), SPMU_LEVEL_L1);
	CHECK_EQ(load(&h, 0, 0), SPMU_LEVEL_OTHER);
	CHECK_EQ(spmu_uarch_counts(h.model, 2)[SPMU_UARCH_SNOOP_MODIFIED], 0);
	CHECK(spmu_uarch_counts(h.model, 3) == NULL);
	free(h.memory);
}

/* Checks false sharing: two threads change different words of a line in turn. */
static void shows_false_sharing(void)
{
	const struct spmu_machine machine = small(SPMU_MACHINE_WRITE_BACK, SPMU_INCLUSIVE);

	for (unsigned apart = 0; apart < 2; apart++) {
		struct uarch_host h = uarch_make(&machine, 2, NULL);

		for (unsigned i = 0; i < 100; i++) {
			store(&h, 0, 0);
			store(&h, 1, apart ? LINE : 8);
		}
		CHECK_EQ(h.count[SPMU_UARCH_SNOOP_MODIFIED], apart ? 0 : 99);
		CHECK_EQ(spmu_uarch_counts(h.model, 1)[SPMU_UARCH_SNOOP_MODIFIED], apart ? 0 : 100);
		free(h.memory);
	}
}

static void prefetches(void)
{
	struct spmu_machine machine = small(SPMU_MACHINE_NEXT_LINE, SPMU_NONINCLUSIVE);
	struct uarch_host h = uarch_make(&machine, 1, NULL);

	for (unsigned i = 0; i < 100; i++)
		load(&h, 0, (uint64_t)i * LINE);
	CHECK_EQ(h.count[SPMU_UARCH_LOAD_L1_MISSES], 50); /* every other line has been fetched */
	CHECK_EQ(h.count[SPMU_UARCH_PREFETCHES], 50);
	free(h.memory);
	machine.properties = SPMU_MACHINE_ADJACENT_LINE;
	h = uarch_make(&machine, 1, NULL);
	CHECK_EQ(load(&h, 0, 2 * LINE), SPMU_LEVEL_MEMORY);
	CHECK_EQ(load(&h, 0, 3 * LINE), SPMU_LEVEL_L2);
	CHECK_EQ(load(&h, 0, 5 * LINE), SPMU_LEVEL_MEMORY);
	CHECK_EQ(load(&h, 0, 4 * LINE), SPMU_LEVEL_L2);
	CHECK_EQ(spmu_uarch_access(h.model, 0, 8 * LINE, 1, SPMU_UARCH_PREFETCH),
		 SPMU_LEVEL_MEMORY);
	CHECK_EQ(h.count[SPMU_UARCH_LOADS], 4);
	CHECK_EQ(load(&h, 0, 8 * LINE), SPMU_LEVEL_L1);
	free(h.memory);
}

static unsigned large_from_1g(void *opaque, uint64_t linear)
{
	(void)opaque;
	return linear >> 30 ? 21 : 12;
}

/* Checks 8 entries, then 32, of 4 KB pages, and a second-level TLB of both sizes. */
static void translates(void)
{
	struct spmu_machine machine = small(0, SPMU_NONINCLUSIVE);
	const uint64_t *n;
	struct uarch_host h;

	machine.itlb[0] = (struct spmu_tlb_shape){4, 4, 1u << 12};
	machine.dtlb[0] = (struct spmu_tlb_shape){8, 8, 1u << 12};
	machine.dtlb[1] = (struct spmu_tlb_shape){2, 2, 1u << 21};
	machine.stlb[0] = (struct spmu_tlb_shape){32, 32, 1u << 12 | 1u << 21};
	h = uarch_make(&machine, 1, large_from_1g);
	n = h.count;
	for (unsigned turn = 0; turn < 3; turn++)
		for (unsigned i = 0; i < 8; i++)
			load(&h, 0, (uint64_t)i * PAGE);
	CHECK_EQ(n[SPMU_UARCH_DTLB_LOAD_MISSES], 8);
	CHECK_EQ(n[SPMU_UARCH_DTLB_LOAD_WALKS], 8);
	for (unsigned turn = 0; turn < 3; turn++)
		for (unsigned i = 0; i < 9; i++)
			store(&h, 0, (uint64_t)i * PAGE);
	CHECK_EQ(n[SPMU_UARCH_DTLB_STORE_WALKS], 1); /* the ninth page is the only new one */
	CHECK(n[SPMU_UARCH_DTLB_STORE_MISSES] > 18);
	/* Three pages of 2 MB for two entries. */
	for (unsigned turn = 0; turn < 2; turn++)
		for (uint64_t i = 0; i < 3; i++)
			load(&h, 0, (UINT64_C(1) << 30) + i * (2u << 20) + 4096);
	CHECK_EQ(n[SPMU_UARCH_DTLB_LOAD_MISSES], 8 + 6);
	CHECK_EQ(n[SPMU_UARCH_DTLB_LOAD_WALKS], 8 + 3);
	/* Fetches have their own TLB, and share the second level. */
	spmu_uarch_fetch(h.model, 0, 0, 4);
	CHECK_EQ(n[SPMU_UARCH_ITLB_MISSES], 1);
	CHECK_EQ(n[SPMU_UARCH_ITLB_WALKS], 0);
	/* An access in two new pages counts once. */
	spmu_uarch_access(h.model, 0, 100 * PAGE - 4, 8, SPMU_UARCH_LOAD);
	CHECK_EQ(n[SPMU_UARCH_DTLB_LOAD_WALKS], 8 + 3 + 1);
	free(h.memory);
}

/* Checks accesses at the end of the address space and impossible ones. */
static void survives_odd_accesses(void)
{
	const struct spmu_machine *machine = spmu_machine_find("skylake");
	struct uarch_host h = uarch_make(machine, 1, NULL);

	CHECK_EQ(spmu_uarch_access(h.model, 0, UINT64_MAX, 1, SPMU_UARCH_LOAD), SPMU_LEVEL_MEMORY);
	CHECK_EQ(spmu_uarch_access(h.model, 0, UINT64_MAX - 7, 8, SPMU_UARCH_STORE), SPMU_LEVEL_L1);
	CHECK_EQ(spmu_uarch_access(h.model, 0, 0, 0, SPMU_UARCH_LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(spmu_uarch_access(h.model, 7, 0, 8, SPMU_UARCH_LOAD), SPMU_LEVEL_L1);
	CHECK_EQ(spmu_uarch_fetch(h.model, 1, 0, 8), SPMU_LEVEL_L1);
	CHECK_EQ(h.count[SPMU_UARCH_LOADS], 1);
	CHECK_EQ(h.count[SPMU_UARCH_STORES], 1);
	free(h.memory);
}

static void refuses_wrong_machines(void)
{
	const struct spmu_machine good = small(0, SPMU_NONINCLUSIVE);
	struct spmu_machine m;
	struct spmu_uarch *model = NULL;
	static _Alignas(64) uint8_t memory[1 << 20];
	struct spmu_uarch_config config = {.size = sizeof(config), .machine = &m, .threads = 1};

#define REFUSES(change)                                                                            \
	do {                                                                                       \
		m = good;                                                                          \
		change;                                                                            \
		CHECK(spmu_machine_error(&m) != NULL);                                             \
		CHECK_EQ(spmu_uarch_bytes(&config), 0);                                            \
		CHECK_EQ(spmu_uarch_create(memory, sizeof(memory), &config, &model),               \
			 SPMU_E_ARGUMENT);                                                         \
	} while (0)
	REFUSES(m.l1d.bytes = 0);
	REFUSES(m.l1d.line_bytes = 48);
	REFUSES(m.l2.line_bytes = 128);
	REFUSES(m.l1d.ways = 0);
	REFUSES(m.l1d.bytes = 5 * LINE);
	REFUSES(m.llc.replacement.policy = 9);
	REFUSES((m.l1d.bytes = 3 * LINE, m.l1d.ways = 3,
		 m.l1d.replacement.policy = SPMU_REPLACE_TREE_PLRU));
	REFUSES(m.l1d.replacement.insert = 4);
	REFUSES(m.inclusion = 3);
	REFUSES(m.dtlb[0] = ((struct spmu_tlb_shape){8, 3, 1u << 12}));
	REFUSES(m.dtlb[0] = ((struct spmu_tlb_shape){8, 8, 1u << 13}));
	REFUSES(m.predictor.conditional = 7);
	REFUSES((m.predictor.conditional = SPMU_PREDICT_TAGE, m.predictor.tables = 13));
	REFUSES(m.predictor.return_stack = 65);
#undef REFUSES
	m = good;
	CHECK(spmu_machine_error(&m) == NULL);
	config.threads = 0;
	CHECK_EQ(spmu_uarch_create(memory, sizeof(memory), &config, &model), SPMU_E_ARGUMENT);
	config.threads = SPMU_UARCH_THREADS_MAX + 1;
	CHECK_EQ(spmu_uarch_create(memory, sizeof(memory), &config, &model), SPMU_E_ARGUMENT);
	config.threads = 1;
	CHECK_EQ(spmu_uarch_create(memory + 8, sizeof(memory) - 8, &config, &model),
		 SPMU_E_ARGUMENT);
	CHECK_EQ(spmu_uarch_create(memory, spmu_uarch_bytes(&config) - 1, &config, &model),
		 SPMU_E_SPACE);
	CHECK(model == NULL);
	CHECK_EQ(spmu_uarch_create(memory, spmu_uarch_bytes(&config), &config, &model), SPMU_OK);
}

static unsigned pages_of_4k(void *opaque, uint64_t linear)
{
	(void)opaque;
	(void)linear;
	return 12;
}

static uint32_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

/* Draws an access near one of a few places, as programs make them. */
static struct spmu_uarch_reference nearby(uint64_t *state)
{
	uint64_t at = (uint64_t)(draw(state) % 6) * 0x11f40 + draw(state) % 16 * LINE +
		      draw(state) % LINE;

	if (draw(state) % 64 == 0)
		at += (uint64_t)(draw(state) % 64) * PAGE;
	return (struct spmu_uarch_reference){
		.linear = at,
		.bytes = 1 + draw(state) % 16,
		.kind = draw(state) % 4 == 0   ? SPMU_UARCH_FETCH
			: draw(state) % 8 == 0 ? SPMU_UARCH_PREFETCH
					       : 1 + draw(state) % 3,
	};
}

static enum spmu_uarch_level report_alone(struct uarch_host *h, unsigned thread,
					  const struct spmu_uarch_reference *r)
{
	if (r->kind == SPMU_UARCH_FETCH)
		return spmu_uarch_fetch(h->model, thread, r->linear, r->bytes);
	return spmu_uarch_access(h->model, thread, r->linear, r->bytes, r->kind);
}

static void check_same(const struct uarch_host *a, const struct uarch_host *b, unsigned thread)
{
	for (unsigned n = 0; n < SPMU_UARCH_COUNTS; n++)
		CHECK_EQ(spmu_uarch_counts(a->model, thread)[n],
			 spmu_uarch_counts(b->model, thread)[n]);
}

/*
 * Accesses, alone and in lists, take a shortcut for hits, but not if pages may have several sizes.
 * All ways must count the same, and find data in the same places.
 */
static void counts_the_same_by_shortcut(void)
{
	const struct spmu_machine *machine;

	for (unsigned properties = 0; properties < 128; properties += 31)
		for (size_t i = 0; (machine = spmu_machine_at(i)); i++) {
			struct spmu_machine m = *machine;
			struct uarch_host quick, alone, slow;
			uint64_t state = 1;
			unsigned thread;

			m.properties ^= properties;
			quick = uarch_make(&m, 2, NULL);
			alone = uarch_make(&m, 2, NULL);
			slow = uarch_make(&m, 2, pages_of_4k);
			for (unsigned n = 0; n < 2000; n++) {
				struct spmu_uarch_reference list[25];

				for (unsigned k = 0; k < 25; k++)
					list[k] = nearby(&state);
				for (unsigned k = 1; k < 25; k += 3)
					list[k] = list[k - 1]; /* often the same again */
				thread = draw(&state) % 2;
				spmu_uarch_accesses(quick.model, thread, list, 25);
				for (unsigned k = 0; k < 25; k++)
					CHECK_EQ(report_alone(&alone, thread, &list[k]),
						 report_alone(&slow, thread, &list[k]));
			}
			for (thread = 0; thread < 2; thread++) {
				check_same(&quick, &slow, thread);
				check_same(&alone, &slow, thread);
			}
			free(quick.memory);
			free(alone.memory);
			free(slow.memory);
		}
}

#define ACCESSES 6

/* Draws a block that begins at a drawn place, with the words of one run. */
static struct spmu_uarch_block drawn_block(uint64_t *state, struct spmu_uarch_block_access *access,
					   uint64_t *word)
{
	struct spmu_uarch_block b = {
		.linear = 0x400000 + (uint64_t)(draw(state) % 3000) * 20,
		.bytes = 1 + draw(state) % 100,
		.accesses = draw(state) % (ACCESSES + 1),
		.access = access,
	};

	word[0] = 0xfff00;
	for (unsigned i = 0; i < b.accesses; i++) {
		struct spmu_uarch_reference r = nearby(state);

		if (r.kind == SPMU_UARCH_FETCH)
			r.kind = SPMU_UARCH_LOAD;
		word[i + 1] = r.linear - i * 8;
		access[i] = (struct spmu_uarch_block_access){
			.displacement = i * 8,
			.bytes = (uint16_t)r.bytes,
			.kind = (uint8_t)r.kind,
			.form = (uint8_t)(draw(state) % 4 ? 0 : draw(state) % 8),
			.word = (uint8_t)(i + 1),
		};
	}
	return b;
}

/* Reports a block line by line and access by access. */
static void report_apart(struct uarch_host *h, unsigned thread, const struct spmu_uarch_block *b,
			 const uint64_t *word, uint64_t segment_base, unsigned line)
{
	for (uint64_t at = b->linear, end = at + b->bytes, next; at < end; at = next) {
		next = (at / line + 1) * line < end ? (at / line + 1) * line : end;
		(void)spmu_uarch_fetch(h->model, thread, at, (uint32_t)(next - at));
	}
	for (unsigned i = 0; i < b->accesses; i++) {
		const struct spmu_uarch_block_access *a = &b->access[i];
		uint64_t at = a->displacement;

		if (!(a->form & SPMU_UARCH_CONSTANT))
			at += word[a->word];
		if (a->form & SPMU_UARCH_ADDRESS32)
			at = (uint32_t)at;
		if (a->form & SPMU_UARCH_SEGMENT)
			at += segment_base;
		(void)spmu_uarch_access(h->model, thread, at, a->bytes, a->kind);
	}
}

static void check_blocks_of(const struct spmu_machine *machine, unsigned threads)
{
	struct uarch_host quick = uarch_make(machine, threads, NULL);
	struct uarch_host slow = uarch_make(machine, threads, pages_of_4k);
	struct spmu_uarch_block_access access[ACCESSES];
	uint64_t state = 1, word[ACCESSES + 1];

	for (unsigned n = 0; n < 30000; n++) {
		struct spmu_uarch_block b = drawn_block(&state, access, word);
		unsigned thread = draw(&state) % threads;

		for (unsigned again = 0; again < 2; again++) {
			spmu_uarch_run(quick.model, thread, &b, word, 0x123456);
			report_apart(&slow, thread, &b, word, 0x123456, machine->l1i.line_bytes);
		}
	}
	for (unsigned thread = 0; thread < threads; thread++)
		check_same(&quick, &slow, thread);
	free(quick.memory);
	free(slow.memory);
}

/* A thread alone has a shorter way to lines that miss the first level. */
static void check_blocks(const struct spmu_machine *machine)
{
	check_blocks_of(machine, 1);
	check_blocks_of(machine, 2);
}

/* The same for blocks, on every machine. */
static void counts_the_same_by_blocks(void)
{
	const struct spmu_machine *machine;

	for (size_t i = 0; (machine = spmu_machine_at(i)); i++)
		check_blocks(machine);
}

/* The same with first levels of all policies and with many ways. */
static void counts_the_same_with_all_policies(void)
{
	static const char *const names[] = {"cachegrind", "haswell", "skylake"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct spmu_machine m = *spmu_machine_find(names[i]);

		for (unsigned policy = 0; policy <= SPMU_REPLACE_QLRU; policy++) {
			m.l1i.replacement.policy = (uint8_t)policy;
			m.l1d.replacement.policy = (uint8_t)policy;
			check_blocks(&m);
		}
		m.l1i = m.l1d = (struct spmu_cache_shape){48 * 1024, 12, LINE, {0}};
		check_blocks(&m);
		m = *spmu_machine_find(names[i]);
		m.inclusion = SPMU_VICTIM;
		m.l2.bytes = 0;
		check_blocks(&m);
	}
}

/* A model that is not told of everything believes that its last level and its second-level TLB had
 * what their sets have room for. */
static void believes_in_what_it_has_not_seen(void)
{
	struct spmu_machine m = *spmu_machine_find("skylake");
	struct uarch_host h;
	uint64_t sets, pages;

	for (unsigned inclusion = 0; inclusion < SPMU_VICTIM; inclusion++) {
		m.inclusion = (uint8_t)inclusion;
		h = uarch_make(&m, 1, NULL);
		sets = m.llc.bytes / m.llc.line_bytes / m.llc.ways;
		CHECK_EQ(load(&h, 0, 0), SPMU_LEVEL_MEMORY);
		spmu_uarch_set_partial(h.model, true);
		for (unsigned way = 1; way < m.llc.ways; way++)
			CHECK_EQ(load(&h, 0, way * sets * LINE), SPMU_LEVEL_LLC);
		CHECK_EQ(load(&h, 0, m.llc.ways * sets * LINE), SPMU_LEVEL_MEMORY);
		CHECK_EQ(h.count[SPMU_UARCH_MEMORY_READS], 2);
		spmu_uarch_set_partial(h.model, false);
		CHECK_EQ(load(&h, 0, LINE), SPMU_LEVEL_MEMORY);
		free(h.memory);
	}
	h = uarch_make(&m, 1, NULL);
	spmu_uarch_set_partial(h.model, true);
	pages = m.stlb[0].entries;
	for (uint64_t page = 0; page < pages; page++)
		(void)load(&h, 0, page * PAGE);
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_MISSES], pages);
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_WALKS], 0);
	(void)load(&h, 0, pages * PAGE);
	CHECK_EQ(h.count[SPMU_UARCH_DTLB_LOAD_WALKS], 1);
	free(h.memory);
}

/* Checks that what is supplied is what was counted. */
static void supplies_signals_and_tallies(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("skylake"), 1, NULL);
	struct spmu_supply supply = {.exact = SPMU_SIGSET_ARCHITECTURAL};
	uint64_t state = 7;

	for (unsigned n = 0; n < 100000; n++) {
		const struct spmu_uarch_reference r = nearby(&state);

		spmu_uarch_accesses(h.model, 0, &r, 1);
	}
	spmu_uarch_supplies(&supply);
	spmu_uarch_supplies_offcore(&supply);
	CHECK_EQ(supply.exact, SPMU_SIGSET_ARCHITECTURAL);
	CHECK_EQ(supply.modelled,
		 SPMU_SIGBIT(LLC_REFERENCE) | SPMU_SIGBIT(LLC_MISS) | SPMU_SIGBIT(BRANCH_MISS));
	for (unsigned tally = 0; tally < SPMU_TALLIES; tally++)
		if (!spmu_tally_set_has(&supply.modelled_tallies, tally))
			CHECK_EQ(spmu_uarch_tally(h.model, 0, tally), 0);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_L1_HITS) +
			 spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_L2_HITS) +
			 spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_L3_HITS) +
			 spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_L3_MISSES),
		 h.count[SPMU_UARCH_LOADS]);
	CHECK_EQ(spmu_uarch_signal(h.model, 0, SPMU_SIG_LLC_MISS),
		 h.count[SPMU_UARCH_FETCH_LLC_MISSES] + h.count[SPMU_UARCH_LOAD_LLC_MISSES] +
			 h.count[SPMU_UARCH_STORE_LLC_MISSES]);
	CHECK_EQ(spmu_uarch_signal(h.model, 0, SPMU_SIG_LOADS), 0);
	CHECK_EQ(spmu_uarch_signal(h.model, 1, SPMU_SIG_LLC_MISS), 0);
	CHECK_EQ(spmu_uarch_tally(h.model, 1, SPMU_TALLY_LOAD_L1_HITS), 0);
	free(h.memory);
}

/* Checks tallies that are sums: 128 pages, more than the first-level TLB has, are loaded from twice
 * and stored to once; a line is fetched from 200 pages, more than the TLB of instructions has. */
static void sums_tallies(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("skylake"), 2, NULL);
	const uint64_t code = UINT64_C(1) << 32;

	for (unsigned i = 0; i < 3 * 128; i++)
		(void)(i < 256 ? load : store)(&h, 0, (uint64_t)(i % 128) * PAGE);
	for (unsigned i = 0; i < 400; i++)
		(void)spmu_uarch_fetch(h.model, 0, code + (uint64_t)(i % 200) * PAGE, 16);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_DTLB_MISSES), 256);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_STORE_DTLB_MISSES), 128);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_DTLB_MISSES), 384);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_DTLB_WALKS), 128);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_DTLB_STLB_HITS), 256);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_CODE_ITLB_MISSES), 400);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_WALKS), 128 + 200);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_CODE_FETCHES), 400);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_L2_LINES_LOST),
		 h.count[SPMU_UARCH_L2_LINES_OUT] + h.count[SPMU_UARCH_L2_WRITEBACKS]);
	CHECK(spmu_uarch_tally(h.model, 0, SPMU_TALLY_L2_LINES_LOST) > 0);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_XSNP_ANY), 0);
	(void)store(&h, 1, code * 2);
	(void)load(&h, 0, code * 2);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_XSNP_ANY), 1);
	free(h.memory);
}

/* Checks that another threshold of load latency also counts earlier loads. */
static void changes_threshold_of_latency(void)
{
	struct spmu_machine m = *spmu_machine_find("skylake");
	struct uarch_host h = uarch_make(&m, 1, NULL);

	(void)load(&h, 0, 0);
	(void)load(&h, 0, 0);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_LATENCY), 0);
	spmu_uarch_set_load_threshold(h.model, m.load_clocks[SPMU_LEVEL_L1]);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_LATENCY), 2);
	spmu_uarch_set_load_threshold(h.model, m.load_clocks[SPMU_LEVEL_L1] + 1);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_LATENCY), 1);
	spmu_uarch_set_load_threshold(h.model, 0);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_LATENCY), 0);
	free(h.memory);
}

/* Checks which machines supply load latency. */
static void supplies_load_latency(void)
{
	struct spmu_supply known = {0}, unknown = {0};

	spmu_machine_supplies(spmu_machine_find("skylake"), &known);
	spmu_machine_supplies(spmu_machine_find("cachegrind"), &unknown);
	CHECK(spmu_tally_set_has(&known.modelled_tallies, SPMU_TALLY_LOAD_LATENCY));
	CHECK(!spmu_tally_set_has(&unknown.modelled_tallies, SPMU_TALLY_LOAD_LATENCY));
	CHECK_EQ(known.modelled, unknown.modelled);
}

static void knows_its_machines(void)
{
	const struct spmu_machine *machine;
	size_t n = 0;

	for (; (machine = spmu_machine_at(n)); n++) {
		CHECK(spmu_machine_error(machine) == NULL);
		CHECK(machine->name && machine->source && *machine->source);
		CHECK(spmu_machine_find(machine->name) == machine);
	}
	CHECK(n >= 3);
	CHECK(spmu_machine_find("skylak") == NULL);
	CHECK(spmu_machine_find("skylakes") == NULL);
	CHECK(spmu_machine_find(NULL) == NULL);
	for (unsigned i = 0; i < SPMU_UARCH_COUNTS; i++)
		CHECK(spmu_uarch_meaning(i) != NULL);
	CHECK(spmu_uarch_meaning(SPMU_UARCH_COUNTS) == NULL);
}

int main(void)
{
	RUN(holds_what_fits());
	RUN(maps_lines_to_sets());
	RUN(counts_splits());
	RUN(writes_changed_lines_back());
	RUN(includes_the_first_level());
	RUN(keeps_victims());
	RUN(keeps_threads_coherent());
	RUN(shows_false_sharing());
	RUN(prefetches());
	RUN(translates());
	RUN(survives_odd_accesses());
	RUN(refuses_wrong_machines());
	RUN(counts_the_same_by_shortcut());
	RUN(counts_the_same_by_blocks());
	RUN(counts_the_same_with_all_policies());
	RUN(believes_in_what_it_has_not_seen());
	RUN(supplies_signals_and_tallies());
	RUN(sums_tallies());
	RUN(changes_threshold_of_latency());
	RUN(supplies_load_latency());
	RUN(knows_its_machines());
	return test_summary();
}
