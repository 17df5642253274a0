/* SPDX-License-Identifier: MIT */
/*
 * uarch_replacement.c: the replacement policies of caches (uarch.h).
 *
 * The expected hits come from another simulator, nanoBench's (Abel and Reineke; cacheSim.py), which
 * found its policies by measuring processors. 2000 accesses go to one set. They use half as many
 * more lines as the set has ways, in an order that both compute.
 */
#include <stdlib.h>

#include <softpmu/uarch.h>

#include "check.h"

#define ACCESSES 2000
#define LINE	 64u

#define LRU                                                                                        \
	{                                                                                          \
		.policy = SPMU_REPLACE_LRU                                                         \
	}
#define FIFO                                                                                       \
	{                                                                                          \
		.policy = SPMU_REPLACE_FIFO                                                        \
	}
#define TREE_PLRU                                                                                  \
	{                                                                                          \
		.policy = SPMU_REPLACE_TREE_PLRU                                                   \
	}
#define MRU                                                                                        \
	{                                                                                          \
		.policy = SPMU_REPLACE_MRU                                                         \
	}
#define QLRU(h3, h2, m, r, u, umo)                                                                 \
	{                                                                                          \
		SPMU_REPLACE_QLRU, h3, h2, m, r, u, umo, 0                                         \
	}

static const struct {
	int line;
	struct spmu_replacement replacement;
	unsigned ways;
	unsigned hits;
	uint32_t order; /* hash of hits and misses in their order */
} rows[] = {
	{__LINE__, LRU, 4, 1337, 0x4aa1c615},
	{__LINE__, LRU, 8, 1306, 0x946694c6},
	{__LINE__, LRU, 16, 1320, 0x1de5c0a8},
	{__LINE__, FIFO, 4, 1335, 0x7754e7e3},
	{__LINE__, FIFO, 8, 1302, 0x36da716e},
	{__LINE__, FIFO, 16, 1303, 0xe447b145},
	{__LINE__, TREE_PLRU, 4, 1330, 0xaa56fa3a},
	{__LINE__, TREE_PLRU, 8, 1331, 0x0f2dca33},
	{__LINE__, TREE_PLRU, 16, 1318, 0xa6fdc538},
	{__LINE__, MRU, 4, 1354, 0x61be7e94},
	{__LINE__, MRU, 8, 1319, 0xfd576e5b},
	{__LINE__, MRU, 16, 1312, 0x17be3ae4},
	{__LINE__, QLRU(1, 1, 1, 0, 0, 0), 4, 1341, 0x99c80d47},
	{__LINE__, QLRU(1, 1, 1, 0, 0, 0), 8, 1317, 0x898fb12f},
	{__LINE__, QLRU(1, 1, 1, 0, 0, 0), 16, 1308, 0xb04741dc},
	{__LINE__, QLRU(0, 0, 1, 2, 1, 0), 4, 1352, 0xcf2fdb9a},
	{__LINE__, QLRU(0, 0, 1, 2, 1, 0), 8, 1316, 0xb7598512},
	{__LINE__, QLRU(0, 0, 1, 2, 1, 0), 16, 1313, 0x4fb004c5},
	{__LINE__, QLRU(0, 0, 1, 0, 1, 0), 4, 1353, 0x061c5bb7},
	{__LINE__, QLRU(0, 0, 1, 0, 1, 0), 8, 1317, 0xa91cff91},
	{__LINE__, QLRU(0, 0, 1, 0, 1, 0), 16, 1308, 0x5d8020fa},
	{__LINE__, QLRU(1, 1, 1, 1, 2, 0), 4, 1338, 0x627eec60},
	{__LINE__, QLRU(1, 1, 1, 1, 2, 0), 8, 1326, 0xc33761b2},
	{__LINE__, QLRU(1, 1, 1, 1, 2, 0), 16, 1317, 0x20bce69b},
	{__LINE__, QLRU(2, 1, 2, 0, 0, 1), 4, 1320, 0x66427d5a},
	{__LINE__, QLRU(2, 1, 2, 0, 0, 1), 8, 1330, 0xd276f7a0},
	{__LINE__, QLRU(2, 1, 2, 0, 0, 1), 16, 1324, 0x4cdd1d3a},
	{__LINE__, QLRU(2, 0, 3, 0, 0, 0), 4, 1302, 0x886219a2},
	{__LINE__, QLRU(2, 0, 3, 0, 0, 0), 8, 1341, 0x64b8280d},
	{__LINE__, QLRU(2, 0, 3, 0, 0, 0), 16, 1319, 0xa317e863},
	{__LINE__, QLRU(1, 0, 0, 1, 3, 0), 4, 1339, 0x2da824ad},
	{__LINE__, QLRU(1, 0, 0, 1, 3, 0), 8, 1307, 0xfad43275},
	{__LINE__, QLRU(1, 0, 0, 1, 3, 0), 16, 1318, 0x21120b44},
	{__LINE__, QLRU(0, 0, 2, 0, 0, 1), 4, 1330, 0xa5eb2066},
	{__LINE__, QLRU(0, 0, 2, 0, 0, 1), 8, 1313, 0xab03776b},
	{__LINE__, QLRU(0, 0, 2, 0, 0, 1), 16, 1310, 0xab626d74},
	{__LINE__, QLRU(1, 1, 2, 2, 1, 1), 4, 1334, 0xebf88b20},
	{__LINE__, QLRU(1, 1, 2, 2, 1, 1), 8, 1319, 0x6b6a4cc3},
	{__LINE__, QLRU(1, 1, 2, 2, 1, 1), 16, 1308, 0xe5a8f1ba},
	{__LINE__, QLRU(0, 0, 1, 1, 3, 1), 4, 1339, 0xa751fde9},
	{__LINE__, QLRU(0, 0, 1, 1, 3, 1), 8, 1303, 0x1f8dd4a1},
	{__LINE__, QLRU(0, 0, 1, 1, 3, 1), 16, 1302, 0xf729d9cc},
};

static struct spmu_uarch *make(const struct spmu_replacement *replacement, unsigned ways,
			       void **memory)
{
	const struct spmu_machine machine = {
		.size = sizeof(machine),
		.l1i = {LINE, 1, LINE, LRU},
		.l1d = {ways * LINE, (uint16_t)ways, LINE, *replacement},
	};
	const struct spmu_uarch_config config = {
		.size = sizeof(config), .machine = &machine, .threads = 1};
	size_t bytes = (spmu_uarch_bytes(&config) + 63) & ~(size_t)63;
	struct spmu_uarch *model = NULL;

	*memory = bytes ? aligned_alloc(64, bytes) : NULL;
	CHECK(*memory && spmu_uarch_create(*memory, bytes, &config, &model) == SPMU_OK);
	return model;
}

static void replaces_as_measured(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t random = 12345, order = 0;
		unsigned hits = 0;
		void *memory;
		struct spmu_uarch *model = make(&rows[i].replacement, rows[i].ways, &memory);

		for (unsigned n = 0; model && n < ACCESSES; n++) {
			uint64_t line;
			bool hit;

			random = (random * 1103515245u + 12345) & 0x7fffffff;
			line = (random >> 16) % (rows[i].ways * 3 / 2);
			hit = spmu_uarch_access(model, 0, line * LINE, 8, SPMU_UARCH_LOAD) ==
			      SPMU_LEVEL_L1;
			hits += hit;
			order = order * 31 + (hit ? 1 : 2);
		}
		CHECK_ROW_EQ(rows[i].line, hits, rows[i].hits);
		CHECK_ROW_EQ(rows[i].line, order, rows[i].order);
		free(memory);
	}
}

/* Checks LRU by hand: with four ways, a fifth line replaces the one that was used longest ago. */
static void replaces_the_least_recent(void)
{
	const struct spmu_replacement lru = LRU;
	static const struct {
		unsigned line;
		bool hit;
	} steps[] = {{0, false}, {1, false}, {2, false}, {3, false}, {0, true},
		     {4, false}, {1, false}, {0, true},	 {3, true},  {2, false}};
	void *memory;
	struct spmu_uarch *model = make(&lru, 4, &memory);

	for (size_t i = 0; model && i < sizeof(steps) / sizeof(steps[0]); i++)
		CHECK_EQ(spmu_uarch_access(model, 0, steps[i].line * LINE, 1, SPMU_UARCH_LOAD) ==
				 SPMU_LEVEL_L1,
			 steps[i].hit);
	free(memory);
}

int main(void)
{
	RUN(replaces_as_measured());
	RUN(replaces_the_least_recent());
	return test_summary();
}
