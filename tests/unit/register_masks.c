/* SPDX-License-Identifier: MIT */
/*
 * register_masks.c: the registers of each family and the bits that can be written, as numbers. The
 * numbers are typed from public register lists: EDK2's headers for the families, and Linux's valid
 * bits of the off-core response registers. Others are typed from the manual's tables of chapter 35.
 * They are not taken from data/registers, so that a wrong list fails.
 */
#include "tests/unit/unit_host.h"

#define W40 UINT64_C(0xffffffffff)
#define W48 UINT64_C(0xffffffffffff)
/* Last branches: a canonical address, alone or below flags. Single bits of its sign give #GP. */
#define IP    UINT64_C(0x00007fffffffffff)
#define FLAGS UINT64_C(0x80007fffffffffff)
#define TSX   UINT64_C(0xe0007fffffffffff)
/* MSR_LBR_INFO_n (17.10.1), and without transactions. */
#define INFO  UINT64_C(0xe00000000000ffff)
#define INFO2 UINT64_C(0x800000000000ffff)
/* IA32_LBR_x_INFO. */
#define INFO_ARCH UINT64_C(0xff0000000000ffff)
#define INFO_LOG  UINT64_C(0xff0000ff0000ffff)

#define FAMILIES 19
static const char *const families[FAMILIES] = {
	"core",		 "core2",     "bonnell",   "silvermont",     "goldmont",
	"goldmont-plus", "nehalem",   "westmere",  "sandybridge",    "haswell",
	"broadwell",	 "skylake",   "icelake",   "knightslanding", "goldencove",
	"gracemont",	 "alderlake", "crestmont", "lioncove",
};

/* Bits that do not give #GP when the core runs one thread, by family. */
static const struct {
	int line;
	uint32_t msr;
	uint64_t bits[FAMILIES];
} masks[] = {
	{__LINE__,
	 0x040,
	 {ALL, IP, IP, IP, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  NO}}, /* 17.4.8 */
	{__LINE__,
	 0x043,
	 {ALL, IP, IP, IP, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  NO}}, /* 17.4.8 */
	{__LINE__,
	 0x044,
	 {ALL, NO, IP, IP, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  NO}}, /* 17.4.8 */
	{__LINE__,
	 0x047,
	 {ALL, NO, IP, IP, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  NO}}, /* 17.4.8 */
	{__LINE__,
	 0x060,
	 {NO, IP, IP, IP, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO}}, /* 17.4.8 */
	{__LINE__,
	 0x063,
	 {NO, IP, IP, IP, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO}}, /* 17.4.8 */
	{__LINE__,
	 0x067,
	 {NO, NO, IP, IP, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO}}, /* 17.4.8 */
	{__LINE__,
	 0x0c1,
	 {ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL,
	  ALL}}, /* 18.2.5 */
	{__LINE__,
	 0x0c2,
	 {ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL,
	  ALL}}, /* 18.2.5 */
	{__LINE__,
	 0x0c4,
	 {NO, NO, NO, NO, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, ALL, NO, ALL, ALL, ALL, ALL,
	  ALL}}, /* 18.2.5 */
	{__LINE__,
	 0x0c5,
	 {NO, NO, NO, NO, NO, NO, NO, NO, ALL, ALL, ALL, ALL, ALL, NO, ALL, ALL, ALL, ALL,
	  ALL}}, /* 18.2.5 */
	{__LINE__,
	 0x0c8,
	 {NO, NO, NO, NO, NO, NO, NO, NO, ALL, ALL, ALL, ALL, ALL, NO, ALL, NO, ALL, ALL,
	  ALL}}, /* 18.2.5 */
	{__LINE__,
	 0x186,
	 {0xffdfffff, 0xffdfffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffdfffff, 0xffffffff,
	  0xffffffff, 0xffffffff, UINT64_C(0x1ffffffff), UINT64_C(0x1ffffffff),
	  UINT64_C(0x1ffffffff), UINT64_C(0x5ffdfffff), 0xffffffff, UINT64_C(0x5ffdfffff),
	  UINT64_C(0x4ffdfffff), UINT64_C(0x4ffdfffff), UINT64_C(0xcffdfffff),
	  UINT64_C(0xff1cffdfffff)}}, /* 18.2.1.1 */
	{__LINE__,
	 0x188,
	 {NO, NO, NO, NO, 0xffffffff, 0xffdfffff, 0xffffffff, 0xffffffff, 0xffffffff,
	  UINT64_C(0x3ffffffff), UINT64_C(0x3ffffffff), UINT64_C(0x3ffffffff),
	  UINT64_C(0x7ffdfffff), NO, UINT64_C(0x7ffdfffff), UINT64_C(0x4ffdfffff),
	  UINT64_C(0x4ffdfffff), UINT64_C(0xcffdfffff), UINT64_C(0xff1cffdfffff)}}, /* 18.11.5 */
	{__LINE__,
	 0x18d,
	 {NO, NO, NO, NO, NO, NO, NO, NO, 0xffffffff, UINT64_C(0x1ffffffff), UINT64_C(0x1ffffffff),
	  UINT64_C(0x1ffffffff), UINT64_C(0x5ffdfffff), NO, UINT64_C(0x5ffdfffff), NO,
	  UINT64_C(0x4ffdfffff), UINT64_C(0x4ffdfffff), UINT64_C(0xff14ffdfffff)}}, /* 18.2.1.1 */
	{__LINE__,
	 0x1a6,
	 {NO, NO, NO, UINT64_C(0x768005ffff), UINT64_C(0x760005ffbf), UINT64_C(0x760005ffbf),
	  0xffff, 0xffff, UINT64_C(0x3f807f8fff), UINT64_C(0x3fffff8fff), UINT64_C(0x3fffff8fff),
	  UINT64_C(0x3fffff8fff), UINT64_C(0x3fffffbfff), UINT64_C(0x799ffbb6e7),
	  UINT64_C(0x3fffffbfff), UINT64_C(0x3fffffbfff), UINT64_C(0x3fffffbfff),
	  UINT64_C(0x800ff3ffffffffff), UINT64_C(0xfffffffffff)}}, /* 18.8.1.3 */
	{__LINE__,
	 0x1a7,
	 {NO, NO, NO, UINT64_C(0x368005ffff), UINT64_C(0x360005ffbf), UINT64_C(0x360005ffbf), NO,
	  0xffff, UINT64_C(0x3f807f8fff), UINT64_C(0x3fffff8fff), UINT64_C(0x3fffff8fff),
	  UINT64_C(0x3fffff8fff), UINT64_C(0x3fffffbfff), UINT64_C(0x399ffbffe7),
	  UINT64_C(0x3fffffbfff), UINT64_C(0x3fffffbfff), UINT64_C(0x3fffffbfff),
	  UINT64_C(0xff3ffffffffff), UINT64_C(0xfffffffffff)}}, /* 18.9.5 */
	{__LINE__,
	 0x1c8,
	 {NO, NO, NO, 0x1ff, 0x3ff, 0x3ff, 0x1ff, 0x1ff, 0x1ff, 0x3ff, 0x3ff, 0x3ff, 0x3ff, 0x1ff,
	  NO, NO, NO, NO, NO}}, /* 17.7.2 */
	{__LINE__,
	 0x1c9,
	 {7, 3, 7, 7, 0x1f, 0x1f, 0xf, 0xf, 0xf, 0xf, 0xf, 0x1f, 0x1f, 7, NO, NO, NO, NO,
	  NO}}, /* 17.4.8 */
	{__LINE__,
	 0x1d9,
	 {0x1c3, 0x1fc3, 0x1fc3, 0x5fc3, 0x5fc3, 0x5fc3, 0x7fc3, 0x7fc3, 0x7fc3, 0xffc3, 0xffc3,
	  0xffc3, 0xffc3, 0x5fc3, 0xffc3, 0x5fc3, 0x7fc3, 0x5fc3, 0x7fc3}}, /* 17.4.1 */
	{__LINE__,
	 0x1dd,
	 {RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO,
	  RO}}, /* 17.11.3 */
	{__LINE__,
	 0x1de,
	 {RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO,
	  RO}}, /* 17.11.3 */
	{__LINE__,
	 0x309,
	 {NO, W40, W40, W40, W48, W48, W48, W48, W48, W48, W48, W48, W48, W40, W48, W48, W48, W48,
	  W48}}, /* 18.2.2 */
	{__LINE__,
	 0x30b,
	 {NO, W40, W40, W40, W48, W48, W48, W48, W48, W48, W48, W48, W48, W40, W48, W48, W48, W48,
	  W48}}, /* 18.2.2 */
	{__LINE__,
	 0x30c,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, W48, NO, W48, NO, W48, NO,
	  W48}}, /* 10th generation Core */
	{__LINE__,
	 0x329,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 0xffffffff, NO, ALL, NO, ALL, NO,
	  ALL}}, /* 10th generation Core */
	{__LINE__,
	 0x345,
	 {RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO}}, /* 18.4.4 */
	{__LINE__,
	 0x38d,
	 {NO, 0xbbb, 0xfff, 0xfff, 0xfff, 0xbbb, 0xfff, 0xfff, 0xfff, 0xfff, 0xfff, 0xfff,
	  UINT64_C(0x11110000bbbb), 0xfff, UINT64_C(0x11110000bbbb), UINT64_C(0x11100000bbb),
	  UINT64_C(0x11110000bbbb), UINT64_C(0x11100000bbb),
	  UINT64_C(0x11110000bbbb)}}, /* 18.2.3 */
	{__LINE__,
	 0x38e,
	 {NO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO, RO}}, /* 18.2.2 */
	{__LINE__,
	 0x38f,
	 {NO, UINT64_C(0x700000003), UINT64_C(0x700000003), UINT64_C(0x700000003),
	  UINT64_C(0x70000000f), UINT64_C(0x70000000f), UINT64_C(0x70000000f),
	  UINT64_C(0x70000000f), UINT64_C(0x7000000ff), UINT64_C(0x7000000ff),
	  UINT64_C(0x7000000ff), UINT64_C(0x7000000ff), UINT64_C(0x1000f000000ff),
	  UINT64_C(0x700000003), UINT64_C(0x1000f000000ff), UINT64_C(0x70000003f),
	  UINT64_C(0x1000f000000ff), UINT64_C(0x7000000ff),
	  UINT64_C(0x1000f000003ff)}}, /* 18.2.2 */
	{__LINE__,
	 0x390,
	 {NO, UINT64_C(0xc000000700000003), UINT64_C(0xe000000700000003),
	  UINT64_C(0xe000000700000003), UINT64_C(0xfc8000070000000f), UINT64_C(0xfc8000070000000f),
	  UINT64_C(0xe00000070000000f), UINT64_C(0xe00000070000000f), UINT64_C(0xe0000007000000ff),
	  UINT64_C(0xe0000007000000ff), UINT64_C(0xe0800007000000ff), UINT64_C(0xfc800007000000ff),
	  UINT64_C(0xfc81000f000000ff), UINT64_C(0xe000000700000003), UINT64_C(0xfc81000f000000ff),
	  UINT64_C(0xfc8000070000003f), UINT64_C(0xfc81000f000000ff), UINT64_C(0xfc800007000000ff),
	  UINT64_C(0xfc81000f000003ff)}}, /* 18.2.4.2 */
	{__LINE__,
	 0x391,
	 {NO, NO, NO, NO, UINT64_C(0xfc8000070000000f), UINT64_C(0xfc8000070000000f), NO, NO, NO,
	  NO, NO, UINT64_C(0xfc800007000000ff), UINT64_C(0xfc81000f000000ff), NO,
	  UINT64_C(0xfc81000f000000ff), UINT64_C(0xfc8000070000003f), UINT64_C(0xfc81000f000000ff),
	  UINT64_C(0xfc800007000000ff), UINT64_C(0xfc81000f000003ff)}}, /* 18.2.4.2 */
	{__LINE__,
	 0x392,
	 {NO, NO, NO, NO, RO, RO, NO, NO, NO, NO, NO, RO, RO, NO, RO, RO, RO, RO,
	  RO}}, /* 18.2.4.3 */
	{__LINE__,
	 0x3f1,
	 {NO, 1, 1, 1, 1, UINT64_C(0x70000000f), UINT64_C(0xf0000000f), UINT64_C(0xf0000000f),
	  UINT64_C(0x8000000f0000000f), UINT64_C(0xf0000000f), UINT64_C(0xf0000000f),
	  UINT64_C(0xf0000000f), UINT64_C(0xf000000ff), 1, UINT64_C(0xf000000ff),
	  UINT64_C(0x70000003f), UINT64_C(0xf000000ff), UINT64_C(0x7000000ff),
	  UINT64_C(0xf000003ff)}}, /* 18.8.1.1 */
	{__LINE__,
	 0x3f2,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 0xff00000f, NO, 0xff00000f, 0xff00000f,
	  0xff00000f, 0xff00000f, 0xff00000f}}, /* 10th generation Core */
	{__LINE__,
	 0x3f6,
	 {NO, NO, NO, NO, NO, NO, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, NO,
	  0xffff, 0xffff, 0xffff, 0xffff, 0xffff}}, /* 18.8.1.2 */
	{__LINE__,
	 0x3f7,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 0x7fffff, 0x7fffff, NO, 0x7fffff, NO,
	  0x7fffff, NO, 0x7fffff}}, /* 18.13.1.4 */
	{__LINE__,
	 0x4c1,
	 {NO, NO, NO, W40, W48, W48, NO, NO, W48, W48, W48, W48, W48, W40, W48, W48, W48, W48,
	  W48}}, /* 18.2.5 */
	{__LINE__,
	 0x4c8,
	 {NO, NO, NO, NO, NO, NO, NO, NO, W48, W48, W48, W48, W48, NO, W48, NO, W48, W48,
	  W48}}, /* 18.2.5 */
	{__LINE__,
	 0x600,
	 {UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff),
	  UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff),
	  UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff),
	  UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff),
	  UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff),
	  UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff), UINT64_C(0x7fffffffffff),
	  UINT64_C(0x7fffffffffff)}}, /* 17.4.9 */
	{__LINE__,
	 0x680,
	 {NO, NO, NO, NO, FLAGS, IP, FLAGS, FLAGS, FLAGS, TSX, TSX, IP, IP, FLAGS, NO, NO, NO, NO,
	  NO}}, /* 17.7.1 */
	{__LINE__,
	 0x687,
	 {NO, NO, NO, NO, FLAGS, IP, FLAGS, FLAGS, FLAGS, TSX, TSX, IP, IP, FLAGS, NO, NO, NO, NO,
	  NO}}, /* 18.14 */
	{__LINE__,
	 0x68f,
	 {NO, NO, NO, NO, FLAGS, IP, FLAGS, FLAGS, FLAGS, TSX, TSX, IP, IP, NO, NO, NO, NO, NO,
	  NO}}, /* 17.7.1 */
	{__LINE__,
	 0x690,
	 {NO, NO, NO, NO, FLAGS, IP, NO, NO, NO, NO, NO, IP, IP, NO, NO, NO, NO, NO,
	  NO}}, /* 17.10 */
	{__LINE__,
	 0x69f,
	 {NO, NO, NO, NO, FLAGS, IP, NO, NO, NO, NO, NO, IP, IP, NO, NO, NO, NO, NO,
	  NO}}, /* 17.10 */
	{__LINE__,
	 0x6c0,
	 {NO, NO, NO, NO, ALL, IP, IP, IP, IP, IP, IP, IP, IP, IP, NO, NO, NO, NO,
	  NO}}, /* 17.7.1 */
	{__LINE__,
	 0x6cf,
	 {NO, NO, NO, NO, ALL, IP, IP, IP, IP, IP, IP, IP, IP, NO, NO, NO, NO, NO,
	  NO}}, /* 17.7.1 */
	{__LINE__,
	 0x6df,
	 {NO, NO, NO, NO, ALL, IP, NO, NO, NO, NO, NO, IP, IP, NO, NO, NO, NO, NO, NO}}, /* 17.10 */
	{__LINE__,
	 0xdc0,
	 {NO, NO, NO, NO, NO, INFO2, NO, NO, NO, NO, NO, INFO, INFO, NO, NO, NO, NO, NO,
	  NO}}, /* 17.10.1 */
	{__LINE__,
	 0xddf,
	 {NO, NO, NO, NO, NO, INFO2, NO, NO, NO, NO, NO, INFO, INFO, NO, NO, NO, NO, NO,
	  NO}}, /* 17.10.1 */
	{__LINE__,
	 0x1e0,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, RO, RO, RO, RO,
	  RO}}, /* Last branch records */
	{__LINE__,
	 0x14ce,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 0x7f000f, 0x7f000f, 0x7f000f,
	  0x7f000f, 0x7f000f}}, /* Last branch records */
	{__LINE__,
	 0x14cf,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 0x38, 0x38, 0x38, 0x38,
	  0x38}}, /* Last branch records */
	{__LINE__,
	 0x1200,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, INFO_ARCH, INFO_ARCH, INFO_ARCH,
	  INFO_LOG, INFO_LOG}}, /* Last branch records */
	{__LINE__,
	 0x121f,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, INFO_ARCH, INFO_ARCH, INFO_ARCH,
	  INFO_LOG, INFO_LOG}}, /* Last branch records */
	{__LINE__,
	 0x1220,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  NO}}, /* Last branch records */
	{__LINE__,
	 0x1500,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, IP, IP, IP, IP,
	  IP}}, /* Last branch records */
	{__LINE__,
	 0x151f,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, IP, IP, IP, IP,
	  IP}}, /* Last branch records */
	{__LINE__,
	 0x1600,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, IP, IP, IP, IP,
	  IP}}, /* Last branch records */
	{__LINE__,
	 0x161f,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, IP, IP, IP, IP,
	  IP}}, /* Last branch records */
	{__LINE__,
	 0x0ca,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  ALL}}, /* version 6 */
	{__LINE__,
	 0x18f,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  UINT64_C(0xff14ffdfffff)}}, /* version 6 */
	{__LINE__,
	 0x4ca,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  W48}}, /* version 6 */
	{__LINE__,
	 0x1900,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  W48}}, /* version 6 */
	{__LINE__,
	 0x1901,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  UINT64_C(0xff1cffdfffff)}}, /* version 6 */
	{__LINE__,
	 0x1924,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  W48}}, /* version 6 */
	{__LINE__,
	 0x1925,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  UINT64_C(0xff14ffdfffff)}}, /* version 6 */
	{__LINE__,
	 0x1980,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  W48}}, /* version 6 */
	{__LINE__,
	 0x198c,
	 {NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
	  W48}}, /* version 6 */
};

/* Families with the same registers. CPUID and IA32_PERF_CAPABILITIES differ (17.4.8.1, 18.4.4). */
static const struct {
	int line;
	const char *model, *family;
	uint64_t capabilities;
} models[] = {
	{__LINE__, "core", "core", 0},
	{__LINE__, "core2", "core2", 0xc2},
	{__LINE__, "core2-45nm", "core2", 0xc2},
	{__LINE__, "xeon-7400", "core2", 0xc2},
	{__LINE__, "bonnell", "bonnell", 0xc2},
	{__LINE__, "silvermont", "silvermont", 0x32c2},
	{__LINE__, "airmont", "silvermont", 0x32c2},
	{__LINE__, "knightslanding", "knightslanding", 0x32c1},
	{__LINE__, "goldmont", "goldmont", 0x33c6},
	{__LINE__, "goldmont-plus", "goldmont-plus", 0x33c7},
	{__LINE__, "nehalem", "nehalem", 0x11c3},
	{__LINE__, "nehalem-ex", "nehalem", 0x11c3},
	{__LINE__, "westmere", "westmere", 0x11c3},
	{__LINE__, "westmere-ep", "westmere", 0x11c3},
	{__LINE__, "sandybridge", "sandybridge", 0x31c3},
	{__LINE__, "ivybridge", "sandybridge", 0x31c3},
	{__LINE__, "haswell", "haswell", 0x32c4},
	{__LINE__, "haswell-server", "haswell", 0x32c4},
	{__LINE__, "broadwell", "broadwell", 0x32c4},
	{__LINE__, "broadwell-server", "broadwell", 0x32c4},
	{__LINE__, "skylake", "skylake", 0x33c5},
	{__LINE__, "kabylake", "skylake", 0x33c5},
	{__LINE__, "coffeelake", "skylake", 0x33c5},
	{__LINE__, "skylake-server", "skylake", 0x33c5},
	{__LINE__, "cascadelake", "skylake", 0x33c5},
	{__LINE__, "icelake", "icelake", 0x74c5},
	{__LINE__, "icelake-server", "icelake", 0x74c5},
	{__LINE__, "tigerlake", "icelake", 0x74c5},
	{__LINE__, "alderlake", "alderlake", 0x74ff},
	{__LINE__, "sapphirerapids", "goldencove", 0x75ff},
	{__LINE__, "graniterapids", "goldencove", 0x75ff},
	{__LINE__, "lunarlake", "lioncove", 0x75ff},
	{__LINE__, "alderlake-e", "gracemont", 0x74ff},
	{__LINE__, "sierraforest", "crestmont", 0x75ff},
};

static unsigned family_index(const char *name)
{
	unsigned i = 0;

	while (i < FAMILIES && strcmp(families[i], name) != 0)
		i++;
	return i;
}

static void check_model(const char *name, unsigned family, uint64_t capabilities)
{
	struct unit_host host;

	host_create(&host, name, 1, SUPPLY_EXECUTION);
	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		if (!CHECK_ROW_EQ(masks[i].line, host_writable(&host, masks[i].msr),
				  masks[i].bits[family]))
			printf("  %s, MSR %x\n", name, masks[i].msr);
	if (!CHECK_EQ(RDMSR(&host, CAPABILITIES), capabilities))
		printf("  %s\n", name);
	host_destroy(&host);
}

/* Checks 18.9.8: the servers have more suppliers in MSR_OFFCORE_RSP_x. */
static void check_servers(void)
{
	static const char *const servers[] = {"sandybridge-server", "ivybridge-server"};

	for (unsigned i = 0; i < 2; i++) {
		struct unit_host host;

		host_create(&host, servers[i], 1, SUPPLY_EXECUTION);
		CHECK_EQ(host_writable(&host, 0x1a6), UINT64_C(0x3fffff8fff));
		CHECK_EQ(host_writable(&host, 0x1a7), UINT64_C(0x3fffff8fff));
		CHECK_EQ(host_writable(&host, PEBS_ENABLE), UINT64_C(0x8000000f0000000f));
		CHECK_EQ(RDMSR(&host, CAPABILITIES), 0x31c3);
		host_destroy(&host);
	}
}

/* Checks that with two threads counters 4 to 7 belong to neither (18.9). */
static void check_two_threads(void)
{
	static const struct {
		int line;
		const char *model;
		uint64_t control;
	} rows[] = {
		{__LINE__, "nehalem", UINT64_C(0x70000000f)},
		{__LINE__, "sandybridge", UINT64_C(0x70000000f)},
		{__LINE__, "skylake", UINT64_C(0x70000000f)},
		{__LINE__, "bonnell", UINT64_C(0x700000003)},
		{__LINE__, "icelake", UINT64_C(0x1000f000000ff)},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct unit_host host;

		host_create(&host, rows[i].model, 2, SUPPLY_EXECUTION);
		CHECK_ROW_EQ(rows[i].line, host_writable(&host, GLOBAL_CTRL), rows[i].control);
		CHECK_ROW_EQ(rows[i].line, host_writable(&host, PMC0 + 4),
			     rows[i].control & 0x10 ? ALL : NO);
		host_destroy(&host);
	}
}

static bool has_register(const struct spmu_model *model, uint32_t msr)
{
	struct spmu_register reg;
	bool found = false;

	for (size_t i = 0; !found && spmu_register_at(model, i, &reg); i++)
		found = reg.msr == msr;
	return found && !spmu_model_describe(model).perfmon_version;
}

/* Returns true for entry 8 of a stack at 40H and 60H, which does not exist (lbr.c: 17.5). */
static bool past_low_stack(const struct spmu_model *model, uint32_t msr)
{
	struct spmu_register reg;
	bool from = false, to = false;

	for (size_t i = 0; spmu_register_at(model, i, &reg); i++) {
		from |= reg.msr == 0x40;
		to |= reg.msr == 0x60;
	}
	return from && to && (msr == 0x48 || msr == 0x68);
}

/* Checks #GP for registers that a unit could have but this one has not. Others are the host's. */
static void check_outside(void)
{
	static const struct {
		int line;
		uint32_t msr;
	} rows[] = {
		{__LINE__, 0x10},   {__LINE__, 0x3f},	{__LINE__, 0x48},	{__LINE__, 0x5f},
		{__LINE__, 0x68},   {__LINE__, 0xc0},	{__LINE__, 0xcb},	{__LINE__, 0x185},
		{__LINE__, 0x190},  {__LINE__, 0x1a5},	{__LINE__, 0x1a8},	{__LINE__, 0x1c7},
		{__LINE__, 0x1ca},  {__LINE__, 0x1dc},	{__LINE__, 0x1df},	{__LINE__, 0x308},
		{__LINE__, 0x393},  {__LINE__, 0x3f0},	{__LINE__, 0x3f8},	{__LINE__, 0x4cb},
		{__LINE__, 0x601},  {__LINE__, 0x67f},	{__LINE__, 0x6a0},	{__LINE__, 0x6bf},
		{__LINE__, 0x6e0},  {__LINE__, 0xdbf},	{__LINE__, 0xde0},	{__LINE__, 0x1926},
		{__LINE__, 0x197f}, {__LINE__, 0x198d}, {__LINE__, 0xffffffff},
	};

	for (size_t m = 0; m < spmu_model_count(); m++) {
		struct unit_host host;
		uint64_t value;

		host_create(&host, spmu_model_describe(spmu_model_at(m)).name, 1, SUPPLY_EXECUTION);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			if (has_register(spmu_model_at(m), rows[i].msr))
				continue; /* NetBurst's, P6's: legacy_registers.c */
			if (past_low_stack(spmu_model_at(m), rows[i].msr))
				continue;
			CHECK_ROW_EQ(rows[i].line, spmu_read_msr(host.core, 0, rows[i].msr, &value),
				     SPMU_NOT_OURS);
			CHECK_ROW_EQ(rows[i].line, spmu_write_msr(host.core, 0, rows[i].msr, 0),
				     SPMU_NOT_OURS);
		}
		host_destroy(&host);
	}
}

int main(void)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		unsigned family = family_index(models[i].family);

		if (CHECK_ROW(models[i].line, family < FAMILIES))
			RUN(check_model(models[i].model, family, models[i].capabilities));
	}
	RUN(check_servers());
	RUN(check_two_threads());
	RUN(check_outside());
	return test_summary();
}
