/* SPDX-License-Identifier: MIT */
/*
 * uarch_predictor.c: branch predictors of the machine model (uarch.h), with patterns whose
 * mispredictions are known. There are periods that a history holds or does not, random branches,
 * deep recursion, and targets that alternate.
 */
#include "uarch_host.h"

#define AT UINT64_C(0x401000)
#define LRU                                                                                        \
	{                                                                                          \
		.policy = SPMU_REPLACE_LRU                                                         \
	}
#define MANY 20000u

static struct uarch_host make(struct spmu_predictor_shape shape)
{
	const struct spmu_machine machine = {
		.size = sizeof(machine),
		.l1i = {LINE, 1, LINE, LRU},
		.l1d = {LINE, 1, LINE, LRU},
		.predictor = shape,
	};

	return uarch_make(&machine, 1, NULL);
}

static bool conditional(struct uarch_host *h, uint64_t from, bool taken)
{
	const struct spmu_executed_branch branch = {.from = from,
						    .next = from + 2,
						    .to = taken ? from + 64 : from + 2,
						    .kind = SPMU_BRANCH_CONDITIONAL,
						    .taken = taken};

	return spmu_uarch_branch(h->model, 0, &branch);
}

/*
 * Returns the mispredictions in the second half of MANY outcomes of one branch: period - 1 times
 * taken, then not.
 */
static unsigned misses_of_loop(struct spmu_predictor_shape shape, unsigned period)
{
	struct uarch_host h = make(shape);
	unsigned misses = 0;

	for (unsigned i = 0; i < MANY; i++) {
		bool missed = conditional(&h, AT, i % period != period - 1);

		misses += i >= MANY / 2 && missed;
	}
	free(h.memory);
	return misses;
}

static const struct spmu_predictor_shape bimodal = {.conditional = SPMU_PREDICT_BIMODAL,
						    .address_bits = 12};
static const struct spmu_predictor_shape gselect = {
	.conditional = SPMU_PREDICT_GSELECT, .address_bits = 7, .history_bits = 7};
static const struct spmu_predictor_shape gshare = {
	.conditional = SPMU_PREDICT_GSHARE, .address_bits = 14, .history_bits = 12};
static const struct spmu_predictor_shape tage = {.conditional = SPMU_PREDICT_TAGE,
						 .address_bits = 12,
						 .history_bits = 200,
						 .tables = 8,
						 .table_bits = 10,
						 .tag_bits = 11};

/*
 * Checks that a history of n outcomes predicts the end of a loop of n + 1 turns, but not of n + 2.
 */
static void learns_periods(void)
{
	static const struct {
		int line;
		const struct spmu_predictor_shape *shape;
		unsigned period;
		bool learnt;
	} rows[] = {
		{__LINE__, &bimodal, 4, false}, {__LINE__, &gselect, 4, true},
		{__LINE__, &gselect, 8, true},	{__LINE__, &gselect, 9, false},
		{__LINE__, &gshare, 13, true},	{__LINE__, &gshare, 14, false},
		{__LINE__, &tage, 13, true},	{__LINE__, &tage, 60, true},
		{__LINE__, &tage, 150, true},	{__LINE__, &tage, 300, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned misses = misses_of_loop(*rows[i].shape, rows[i].period);
		unsigned ends = MANY / 2 / rows[i].period;

		/* One in each period, or almost none. */
		if (rows[i].learnt)
			CHECK_ROW(rows[i].line, misses <= ends / 20);
		else
			CHECK_ROW(rows[i].line, misses + 1 >= ends && misses <= ends + 1);
	}
}

static uint32_t next_random(uint32_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 17;
	*random ^= *random << 5;
	return *random;
}

/*
 * Checks a branch that is taken by chance, nine times of ten: at best, one in ten is mispredicted.
 */
static void cannot_learn_chance(void)
{
	static const struct spmu_predictor_shape *const shapes[] = {&bimodal, &gselect, &tage};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct uarch_host h = make(*shapes[i]);
		uint32_t random = 1;
		unsigned misses = 0, rare = 0;

		for (unsigned n = 0; n < MANY; n++) {
			bool taken = next_random(&random) % 10 != 0;

			rare += !taken;
			misses += conditional(&h, AT, taken);
		}
		CHECK(misses >= rare * 9 / 10);
		CHECK(misses <= rare * 3 / 2);
		CHECK_EQ(h.count[SPMU_UARCH_CONDITIONALS], MANY);
		CHECK_EQ(h.count[SPMU_UARCH_CONDITIONAL_MISSES], misses);
		free(h.memory);
	}
}

/* Checks a branch that repeats another one: a history predicts it, an address alone does not. */
static void learns_correlation(void)
{
	static const struct {
		const struct spmu_predictor_shape *shape;
		bool learnt;
	} rows[] = {{&bimodal, false}, {&gselect, true}, {&gshare, true}, {&tage, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct uarch_host h = make(*rows[i].shape);
		uint32_t random = 1;
		unsigned misses = 0;

		for (unsigned n = 0; n < MANY; n++) {
			bool taken = next_random(&random) >> 8 & 1;

			conditional(&h, AT, taken);
			misses += conditional(&h, AT + 17, !taken) && n > MANY / 2;
		}
		if (rows[i].learnt)
			CHECK(misses < MANY / 100);
		else
			CHECK(misses > MANY / 2 / 3);
		free(h.memory);
	}
}

/*
 * Checks Cachegrind's predictor, step by step: two-bit counters by seven outcomes and seven address
 * bits.
 */
static void predicts_as_cachegrind(void)
{
	static uint8_t counter[1 << 14];
	struct uarch_host h = make(gselect);
	uint32_t random = 7, history = 0;
	unsigned wrong = 0;

	for (unsigned n = 0; n < MANY; n++) {
		uint64_t from = AT + next_random(&random) % 500;
		bool taken = next_random(&random) % 3 != 0;
		uint8_t *c = &counter[(history & 127) * 128 + (from & 127)];

		wrong += conditional(&h, from, taken) != (taken ? *c < 2 : *c >= 2);
		*c = (uint8_t)(taken ? (*c < 3 ? *c + 1 : 3) : (*c > 0 ? *c - 1 : 0));
		history = history * 2 + taken;
	}
	CHECK_EQ(wrong, 0);
	CHECK(h.count[SPMU_UARCH_CONDITIONAL_MISSES] > MANY / 10);
	free(h.memory);
}

/* Calls `depth` deep and returns, twice. Returns how many returns were mispredicted. */
static uint64_t return_misses(unsigned depth)
{
	struct uarch_host h = make((struct spmu_predictor_shape){.return_stack = 16});
	uint64_t misses;

	for (unsigned turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < depth; i++) {
			const struct spmu_executed_branch call = {
				.from = AT + i * 16,
				.next = AT + i * 16 + 5,
				.to = AT + i * 16 + 16,
				.kind = i % 2 ? SPMU_BRANCH_INDIRECT_CALL : SPMU_BRANCH_CALL,
				.taken = true};
			spmu_uarch_branch(h.model, 0, &call);
		}
		for (unsigned i = depth; i > 0; i--) {
			const struct spmu_executed_branch ret = {.from = AT + i * 16 + 9,
								 .to = AT + (i - 1) * 16 + 5,
								 .kind = SPMU_BRANCH_RETURN,
								 .taken = true};
			spmu_uarch_branch(h.model, 0, &ret);
		}
	}
	CHECK_EQ(h.count[SPMU_UARCH_RETURNS], 2 * depth);
	misses = h.count[SPMU_UARCH_RETURN_MISSES];
	free(h.memory);
	return misses;
}

static void returns_to_callers(void)
{
	CHECK_EQ(return_misses(1), 0);
	CHECK_EQ(return_misses(16), 0);
	CHECK_EQ(return_misses(17), 2); /* the outermost, both times */
	CHECK_EQ(return_misses(20), 8);
}

/*
 * Checks targets in a cycle: the last target predicts a cycle of one, and a history of targets
 * longer ones.
 */
static void learns_targets(void)
{
	static const struct {
		unsigned history, cycle;
		bool learnt;
	} rows[] = {{0, 1, true}, {0, 2, false}, {4, 2, true}, {4, 5, true}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct uarch_host h = make((struct spmu_predictor_shape){
			.indirect_bits = 11, .indirect_history = (uint8_t)rows[i].history});
		unsigned misses = 0;

		for (unsigned n = 0; n < 1000; n++) {
			const struct spmu_executed_branch branch = {.from = AT,
								    .to = AT + 100 +
									  n % rows[i].cycle * 64,
								    .kind = SPMU_BRANCH_INDIRECT,
								    .taken = true};

			misses += spmu_uarch_branch(h.model, 0, &branch);
		}
		CHECK_EQ(misses < 20, rows[i].learnt);
		CHECK_EQ(misses > 900, !rows[i].learnt);
		CHECK_EQ(h.count[SPMU_UARCH_INDIRECT_MISSES], misses);
		free(h.memory);
	}
}

/* Checks that a machine without predictors mispredicts nothing. */
static void predicts_all_without_predictor(void)
{
	struct uarch_host h = make((struct spmu_predictor_shape){0});
	const struct spmu_executed_branch other = {
		.from = AT, .next = AT + 2, .to = AT, .kind = SPMU_BRANCH_DIRECT, .taken = true};

	CHECK(!conditional(&h, AT, true));
	CHECK(!conditional(&h, AT, false));
	CHECK(!spmu_uarch_branch(h.model, 0, &other));
	CHECK(!spmu_uarch_branch(h.model, 5, &other));
	CHECK_EQ(h.count[SPMU_UARCH_CONDITIONALS], 2);
	free(h.memory);
}

struct stream {
	uint64_t random, history;
};

/* Returns number `i` of some branches: loops, correlation, chance, and ways that seldom change. */
static struct spmu_uarch_outcome nth(unsigned i, struct stream *s)
{
	struct spmu_uarch_outcome o = {.from = AT + (s->random >> 33) % 150 * 7};

	s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407;
	switch (o.from % 4) {
	case 0:
		o.taken = (s->history ^ s->history >> 3) & 1;
		break;
	case 1:
		o.taken = i % 9 != 0;
		break;
	case 2:
		o.taken = s->random >> 40 & 1;
		break;
	default:
		o.taken = (s->random >> 40) % 100 == 0;
	}
	s->history = s->history << 1 | o.taken;
	return o;
}

/* Checks that lists of branches count the same as one call for each.  The lists have all lengths up
 * to 700, so they end in the middle of what is done at once.  Returns the mispredictions. */
static uint64_t lists_count_the_same(const struct spmu_predictor_shape *shape)
{
	struct uarch_host one = make(*shape), list = make(*shape);
	struct spmu_uarch_outcome o[700];
	struct stream s = {1, 0};
	uint64_t missed;

	for (unsigned length = 0; length <= 700; length++) {
		for (unsigned i = 0; i < length; i++) {
			o[i] = nth(i, &s);
			(void)conditional(&one, o[i].from, o[i].taken);
		}
		spmu_uarch_conditionals(list.model, 0, o, length);
		CHECK_EQ(list.count[SPMU_UARCH_CONDITIONALS], one.count[SPMU_UARCH_CONDITIONALS]);
		CHECK_EQ(list.count[SPMU_UARCH_CONDITIONAL_MISSES],
			 one.count[SPMU_UARCH_CONDITIONAL_MISSES]);
	}
	CHECK(!shape->conditional || one.count[SPMU_UARCH_CONDITIONAL_MISSES] > 10000);
	spmu_uarch_conditionals(list.model, 1, o, 700); /* there is no such thread */
	CHECK_EQ(list.count[SPMU_UARCH_CONDITIONALS], 700 * 701 / 2);
	missed = one.count[SPMU_UARCH_CONDITIONAL_MISSES];
	free(one.memory);
	free(list.memory);
	return missed;
}

/* The model without lists had the two counts of TAGE. */
static void lists_count_the_same_everywhere(void)
{
	static const struct spmu_predictor_shape small = {.conditional = SPMU_PREDICT_TAGE,
							  .address_bits = 5,
							  .history_bits = 100,
							  .tables = 12,
							  .table_bits = 5,
							  .tag_bits = 5};
	const struct spmu_machine *m;

	CHECK_EQ(lists_count_the_same(&small), 75792);
	CHECK_EQ(lists_count_the_same(&spmu_machine_find("skylake")->predictor), 44321);
	for (size_t i = 0; (m = spmu_machine_at(i)); i++)
		(void)lists_count_the_same(&m->predictor);
}

int main(void)
{
	RUN(learns_periods());
	RUN(cannot_learn_chance());
	RUN(learns_correlation());
	RUN(predicts_as_cachegrind());
	RUN(returns_to_callers());
	RUN(learns_targets());
	RUN(predicts_all_without_predictor());
	RUN(lists_count_the_same_everywhere());
	return test_summary();
}
