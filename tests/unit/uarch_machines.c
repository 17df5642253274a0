/* SPDX-License-Identifier: MIT */
/*
 * uarch_machines.c: the machines of data/uarch.  Each model has one, each is valid, and its caches
 * and TLBs are those that CPUID of such a part reports.
 *
 * The leaves are from dumps of real parts (InstLatx64; `part` is CPUID.1:EAX in the file's name).
 */
#include <softpmu/unit.h>

#include "uarch_host.h"

/* A subleaf of CPUID.04H, or of 8000001DH: the low byte of EAX, EBX, ECX, and bit 1 of EDX. */
struct cache_leaf {
	uint8_t kind; /* bits 4:0: 1 data, 2 instructions, 3 both; bits 7:5: level */
	uint32_t shape, sets;
	uint8_t inclusive;
};

static const struct {
	int line;
	const char *machine, *part;
	struct cache_leaf leaf[4];
	uint8_t descriptor[12]; /* of CPUID.02H */
} parts[] = {
	{__LINE__, "pentium-pro", "0000619", {{0}}, {0x01, 0x02, 0x03, 0x42, 0x0a, 0x04, 0x06}},
	{__LINE__, "pentium-ii", "0000651", {{0}}, {0x01, 0x02, 0x03, 0x43, 0x08, 0x04, 0x0c}},
	{__LINE__, "pentium-iii", "0000683", {{0}}, {0x01, 0x02, 0x03, 0x82, 0x08, 0x04, 0x0c}},
	{__LINE__, "pentium-m", "00006D8", {{0}}, {0xb0, 0xb3, 0x02, 0x7d, 0x30, 0x04, 0x2c}},
	{__LINE__, "netburst", "0000F29", {{0}}, {0x50, 0x5b, 0x66, 0x70, 0x7b}},
	{__LINE__,
	 "prescott",
	 "0000F34",
	 {{0x21, 0x01c0003f, 0x1f, 0x0}, {0x43, 0x01c0103f, 0x3ff, 0x0}},
	 {0x50, 0x5b, 0x60, 0x70, 0x7c}},
	{__LINE__,
	 "prescott-2m",
	 "0000F43",
	 {{0x21, 0x01c0003f, 0x1f, 0x0}, {0x43, 0x01c0103f, 0x7ff, 0x0}},
	 {0x50, 0x5b, 0x60, 0x70, 0x7d}},
	{__LINE__,
	 "cedar-mill",
	 "0000F62",
	 {{0x21, 0x01c0003f, 0x1f, 0x0}, {0x43, 0x01c0103f, 0x7ff, 0x0}},
	 {0x50, 0x5b, 0x60, 0x70, 0x7d}},
	{__LINE__,
	 "xeon-7100",
	 "0000F68",
	 {{0x21, 0x01c0003f, 0x1f, 0x0},
	  {0x43, 0x01c0103f, 0x3ff, 0x0},
	  {0x63, 0x03c0003f, 0x3fff, 0x0}},
	 {0x50, 0x5b, 0x60, 0x4d, 0x70, 0x7c}},
	{__LINE__,
	 "core",
	 "00006E4",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0xfff, 0x0}},
	 {0xb0, 0xb3, 0x02, 0x7d, 0x30, 0x04, 0x2c}},
	{__LINE__,
	 "core2",
	 "00006F6",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0xfff, 0x0}},
	 {0xb1, 0xb0, 0x05, 0x57, 0x56, 0x49, 0x30, 0xb4, 0x2c}},
	{__LINE__,
	 "core2-45nm",
	 "0010676",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x05c0003f, 0xfff, 0x0}},
	 {0xb1, 0xb0, 0x05, 0x57, 0x56, 0x4e, 0x30, 0xb4, 0x2c}},
	{__LINE__,
	 "xeon-7400",
	 "00106D1",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x02c0003f, 0xfff, 0x0},
	  {0x63, 0x02c0003f, 0x3fff, 0x2}},
	 {0xb1, 0xb0, 0x05, 0x57, 0x56, 0x4c, 0x48, 0x30, 0xb4, 0x2c}},
	{__LINE__,
	 "bonnell",
	 "00106CA",
	 {{0x21, 0x0140003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x3ff, 0x0}},
	 {0x59, 0xba, 0x4f, 0xc0, 0x80, 0x30, 0x0e}},
	{__LINE__,
	 "silvermont",
	 "0030678",
	 {{0x21, 0x0140003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x3ff, 0x0}},
	 {0xa0, 0xb3, 0x61, 0xc2}},
	{__LINE__,
	 "airmont",
	 "00406C3",
	 {{0x21, 0x0140003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x3ff, 0x0}},
	 {0xa0, 0xb4, 0x61, 0xc2}},
	{__LINE__,
	 "knightslanding",
	 "0050671",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x3ff, 0x2}},
	 {0x61, 0x6a, 0x6b, 0x6c}},
	{__LINE__,
	 "goldmont",
	 "00506C9",
	 {{0x21, 0x0140003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x3ff, 0x0}},
	 {0xa0, 0x64, 0x61, 0xc4}},
	{__LINE__,
	 "goldmont-plus",
	 "00706A8",
	 {{0x21, 0x0140003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0xfff, 0x0}},
	 {0}},
	{__LINE__,
	 "nehalem",
	 "00106A4",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x00c0003f, 0x7f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x03c0003f, 0x1fff, 0x2}},
	 {0x5a, 0x03, 0x55, 0xe4, 0xb2, 0x2c, 0x21, 0xca, 0x09}},
	{__LINE__,
	 "nehalem-ex",
	 "00206E5",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x00c0003f, 0x7f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x05c0003f, 0x2fff, 0x2}},
	 {0x5a, 0x03, 0x55, 0xeb, 0xb2, 0x2c, 0x21, 0xca, 0x09}},
	{__LINE__,
	 "westmere",
	 "0020652",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x00c0003f, 0x7f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x03c0003f, 0xfff, 0x2}},
	 {0x5a, 0x03, 0x55, 0xe3, 0xb2, 0x2c, 0x21, 0xca, 0x09}},
	{__LINE__,
	 "westmere-ep",
	 "00206C2",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x00c0003f, 0x7f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x03c0003f, 0x2fff, 0x2}},
	 {0x5a, 0x03, 0x55, 0xb2, 0xca}},
	{__LINE__,
	 "sandybridge",
	 "00206A7",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x03c0003f, 0x1fff, 0x2}},
	 {0x5a, 0x03, 0x76, 0xb2, 0xca}},
	{__LINE__,
	 "sandybridge-server",
	 "00206D5",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x04c0003f, 0x3fff, 0x2}},
	 {0x5a, 0x03, 0x76, 0xb2, 0xca}},
	{__LINE__,
	 "ivybridge",
	 "00306A9",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x03c0003f, 0x1fff, 0x2}},
	 {0x5a, 0x03, 0x76, 0xb2, 0xca}},
	{__LINE__,
	 "ivybridge-server",
	 "00306E3",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x04c0003f, 0x5fff, 0x2}},
	 {0x5a, 0x03, 0x76, 0xb2, 0xca}},
	{__LINE__,
	 "haswell",
	 "00306C3",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x03c0003f, 0x1fff, 0x2}},
	 {0x63, 0x03, 0x76, 0xb5, 0xc1}},
	{__LINE__,
	 "haswell-server",
	 "00306F2",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x04c0003f, 0x3fff, 0x2}},
	 {0x63, 0x03, 0x76, 0xb5, 0xc1}},
	{__LINE__,
	 "broadwell",
	 "00306D4",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x03c0003f, 0xfff, 0x2}},
	 {0x63, 0x03, 0x76, 0xb5, 0xc3}},
	{__LINE__,
	 "broadwell-server",
	 "00406F1",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x1ff, 0x0},
	  {0x63, 0x04c0003f, 0x3fff, 0x2}},
	 {0x63, 0x03, 0x76, 0xb5, 0xc3}},
	{__LINE__,
	 "skylake",
	 "00506E3",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x00c0003f, 0x3ff, 0x0},
	  {0x63, 0x03c0003f, 0x1fff, 0x2}},
	 {0x63, 0x03, 0x76, 0xb5, 0xc3}},
	{__LINE__,
	 "coffeelake",
	 "00906EA",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x00c0003f, 0x3ff, 0x0},
	  {0x63, 0x03c0003f, 0x2fff, 0x2}},
	 {0x63, 0x03, 0x76, 0xb5, 0xc3}},
	{__LINE__,
	 "skylake-server",
	 "0050654",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x3ff, 0x0},
	  {0x63, 0x0280003f, 0x7fff, 0x0}},
	 {0x63, 0x03, 0x76, 0xb5, 0xc3}},
	{__LINE__,
	 "cascadelake",
	 "0050657",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x3ff, 0x0},
	  {0x63, 0x0280003f, 0xcfff, 0x0}},
	 {0x63, 0x03, 0x76, 0xb5, 0xc3}},
	{__LINE__,
	 "icelake",
	 "00706E5",
	 {{0x21, 0x02c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x3ff, 0x0},
	  {0x63, 0x03c0003f, 0x1fff, 0x2}},
	 {0}},
	{__LINE__,
	 "icelake-server",
	 "00606A6",
	 {{0x21, 0x02c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x04c0003f, 0x3ff, 0x0},
	  {0x63, 0x02c0003f, 0x11fff, 0x0}},
	 {0}},
	{__LINE__,
	 "alderlake",
	 "0090672",
	 {{0x21, 0x02c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x0240003f, 0x7ff, 0x0},
	  {0x63, 0x0200003f, 0x7fff, 0x0}},
	 {0}},
	{__LINE__,
	 "sapphirerapids",
	 "00806F8",
	 {{0x21, 0x02c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x7ff, 0x0},
	  {0x63, 0x0380003f, 0x9fff, 0x0}},
	 {0}},
	{__LINE__,
	 "graniterapids",
	 "00A06D1",
	 {{0x21, 0x02c0003f, 0x3f, 0x0},
	  {0x22, 0x03c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x7ff, 0x0},
	  {0x63, 0x03c0003f, 0x23fff, 0x0}},
	 {0}},
	{__LINE__,
	 "alderlake-e",
	 "00B06E0",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x7f, 0x0},
	  {0x43, 0x03c0003f, 0x7ff, 0x0},
	  {0x63, 0x02c0003f, 0x1fff, 0x0}},
	 {0}},
	{__LINE__,
	 "tigerlake",
	 "00806C1",
	 {{0x21, 0x02c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x04c0003f, 0x3ff, 0x0},
	  {0x63, 0x01c0003f, 0x3fff, 0x0}},
	 {0}},
	{__LINE__,
	 "zen4",
	 "0A10F11",
	 {{0x21, 0x01c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x01c0003f, 0x7ff, 0x2},
	  {0x63, 0x03c0003f, 0x7fff, 0x0}},
	 {0}},
	{__LINE__,
	 "zen5",
	 "0B00F21",
	 {{0x21, 0x02c0003f, 0x3f, 0x0},
	  {0x22, 0x01c0003f, 0x3f, 0x0},
	  {0x43, 0x03c0003f, 0x3ff, 0x2},
	  {0x63, 0x03c0003f, 0x7fff, 0x0}},
	 {0}},
};

/* --- descriptors of leaf 2 --- */

static const struct {
	uint8_t descriptor, kind; /* kind: as of a leaf */
	uint32_t kb;
	uint16_t ways, line_bytes;
} cache_descriptors[] = {
	{0x06, 0x22, 8, 4, 32},	    {0x08, 0x22, 16, 4, 32},	 {0x09, 0x22, 32, 4, 64},
	{0x0a, 0x21, 8, 2, 32},	    {0x0c, 0x21, 16, 4, 32},	 {0x0e, 0x21, 24, 6, 64},
	{0x21, 0x43, 256, 8, 64},   {0x2c, 0x21, 32, 8, 64},	 {0x30, 0x22, 32, 8, 64},
	{0x42, 0x43, 256, 4, 32},   {0x43, 0x43, 512, 4, 32},	 {0x48, 0x43, 3072, 12, 64},
	{0x49, 0x43, 4096, 16, 64}, {0x4c, 0x63, 12288, 12, 64}, {0x4d, 0x63, 16384, 16, 64},
	{0x4e, 0x43, 6144, 24, 64}, {0x60, 0x21, 16, 8, 64},	 {0x66, 0x21, 8, 4, 64},
	{0x7b, 0x43, 512, 8, 64},   {0x7c, 0x43, 1024, 8, 64},	 {0x7d, 0x43, 2048, 8, 64},
	{0x80, 0x43, 512, 8, 64},   {0x82, 0x43, 256, 8, 32},	 {0xe3, 0x63, 4096, 16, 64},
	{0xe4, 0x63, 8192, 16, 64}, {0xeb, 0x63, 18432, 24, 64},
};

enum tlb_kind { ITLB, DTLB, STLB };
#define SMALL (1u << 12)
#define LARGE (1u << 21)

/* Entries and sizes of pages.  The ways of fully associative TLBs are not in all editions. */
static const struct {
	uint8_t descriptor;
	enum tlb_kind kind;
	uint16_t entries;
	uint32_t pages;
} tlb_descriptors[] = {
	{0x01, ITLB, 32, SMALL},
	{0x02, ITLB, 2, LARGE},
	{0x03, DTLB, 64, SMALL},
	{0x04, DTLB, 8, LARGE},
	{0x05, STLB, 32, LARGE},
	{0x4f, ITLB, 32, SMALL},
	{0x50, ITLB, 64, SMALL | LARGE},
	{0x55, ITLB, 7, LARGE},
	{0x56, DTLB, 16, LARGE},
	{0x57, DTLB, 16, SMALL},
	{0x59, DTLB, 16, SMALL},
	{0x5a, DTLB, 32, LARGE},
	{0x5b, DTLB, 64, SMALL | LARGE},
	{0x61, ITLB, 48, SMALL},
	{0x63, DTLB, 4, 1u << 30},
	{0x64, STLB, 512, SMALL},
	{0x6a, DTLB, 64, SMALL},
	{0x6b, STLB, 256, SMALL},
	{0x6c, STLB, 128, LARGE},
	{0x76, ITLB, 8, LARGE},
	{0xa0, DTLB, 32, SMALL},
	{0xb0, ITLB, 128, SMALL},
	{0xb1, ITLB, 8, LARGE},
	{0xb2, ITLB, 64, SMALL},
	{0xb4, STLB, 256, SMALL},
	{0xb5, ITLB, 64, SMALL},
	{0xba, STLB, 64, SMALL},
	{0xc0, STLB, 8, LARGE},
	{0xc1, STLB, 1024, SMALL | LARGE},
	{0xc2, STLB, 16, LARGE},
	{0xc3, STLB, 1536, SMALL | LARGE},
	{0xc4, STLB, 32, LARGE},
	{0xca, STLB, 512, SMALL},
};

/* 4 KB pages, 128 entries: the first level of the Pentium M, the second of Silvermont. */
#define AMBIGUOUS 0xb3

/* Returns the cache that a leaf describes.  The last of two levels is the machine's last level. */
static const struct spmu_cache_shape *cache_of(const struct spmu_machine *m, unsigned kind)
{
	switch (kind) {
	case 0x21:
		return &m->l1d;
	case 0x22:
		return &m->l1i;
	case 0x43:
		return m->l2.bytes ? &m->l2 : &m->llc;
	default:
		return &m->llc;
	}
}

static void check_cache(int line, const struct spmu_machine *m, unsigned kind, uint64_t bytes,
			unsigned ways, unsigned line_bytes)
{
	const struct spmu_cache_shape *c = cache_of(m, kind);

	CHECK_ROW_EQ(line, c->bytes, bytes);
	CHECK_ROW_EQ(line, c->ways, ways);
	CHECK_ROW_EQ(line, c->line_bytes, line_bytes);
}

static void check_leaf(int line, const struct spmu_machine *m, const struct cache_leaf *leaf)
{
	uint64_t ways = (leaf->shape >> 22) + 1, line_bytes = (leaf->shape & 0xfff) + 1;
	uint64_t partitions = (leaf->shape >> 12 & 0x3ff) + 1;

	check_cache(line, m, leaf->kind, ways * partitions * line_bytes * (leaf->sets + 1),
		    (unsigned)ways, (unsigned)line_bytes);
	if (leaf->kind == 0x63)
		CHECK_ROW_EQ(line, m->inclusion == SPMU_INCLUSIVE, leaf->inclusive != 0);
}

/* Returns how many entries a machine has for pages of these sizes. */
static unsigned entries_of(const struct spmu_machine *m, enum tlb_kind kind, uint32_t pages)
{
	const struct spmu_tlb_shape *list = kind == ITLB   ? m->itlb
					    : kind == DTLB ? m->dtlb
							   : m->stlb;
	unsigned count = kind == DTLB ? 3 : 2;

	for (unsigned i = 0; i < count; i++)
		if ((list[i].page_shifts & pages) == pages)
			return list[i].entries;
	return 0;
}

static void check_descriptor(int line, const struct spmu_machine *m, unsigned descriptor)
{
	for (size_t i = 0; i < sizeof(cache_descriptors) / sizeof(cache_descriptors[0]); i++)
		if (cache_descriptors[i].descriptor == descriptor)
			check_cache(line, m, cache_descriptors[i].kind,
				    cache_descriptors[i].kb * UINT64_C(1024),
				    cache_descriptors[i].ways, cache_descriptors[i].line_bytes);
	for (size_t i = 0; i < sizeof(tlb_descriptors) / sizeof(tlb_descriptors[0]); i++) {
		unsigned entries = tlb_descriptors[i].entries;

		if (tlb_descriptors[i].descriptor != descriptor)
			continue;
		/* Two hyper-threads share it, and each reports its half. */
		if (descriptor == 0xb2 || descriptor == 0xb5)
			entries *= 2;
		CHECK_ROW_EQ(line, entries_of(m, tlb_descriptors[i].kind, tlb_descriptors[i].pages),
			     entries);
	}
	if (descriptor == AMBIGUOUS)
		CHECK_ROW_EQ(line, entries_of(m, m->stlb[0].entries ? STLB : DTLB, SMALL), 128);
}

static void has_what_cpuid_reports(void)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct spmu_machine *m = spmu_machine_find(parts[i].machine);

		if (!m)
			m = spmu_machine_of_model(parts[i].machine);
		if (!CHECK_ROW(parts[i].line, m != NULL))
			continue;
		for (unsigned k = 0; k < 4 && parts[i].leaf[k].kind; k++)
			check_leaf(parts[i].line, m, &parts[i].leaf[k]);
		for (unsigned k = 0; k < 12 && parts[i].descriptor[k]; k++)
			check_descriptor(parts[i].line, m, parts[i].descriptor[k]);
	}
}

/* Only these have no part above: no CPUID reports their caches, no dump of it is known, or they are
 * not real. */
static bool has_no_part(const char *name)
{
	static const char *const names[] = {"cachegrind", "pentium", "pentium-mmx", "xeon-mp-8m-l3",
					    "sierraforest"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void compares_all(void)
{
	const struct spmu_machine *m;

	for (size_t i = 0; (m = spmu_machine_at(i)); i++) {
		bool found = has_no_part(m->name);

		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			found |= !strcmp(parts[k].machine, m->name);
		CHECK(found);
	}
}

static void are_valid(void)
{
	const struct spmu_machine *m;

	for (size_t i = 0; (m = spmu_machine_at(i)); i++) {
		struct uarch_host h = uarch_make(m, 1, NULL);

		CHECK(spmu_machine_error(m) == NULL);
		CHECK(m->source && strlen(m->source) > 20);
		CHECK(spmu_machine_find(m->name) == m);
		/* The last level is the last of all. */
		CHECK(m->llc.bytes || !m->l2.bytes);
		CHECK_EQ(load(&h, 0, 4096), SPMU_LEVEL_MEMORY);
		CHECK_EQ(load(&h, 0, 4096), SPMU_LEVEL_L1);
		free(h.memory);
	}
}

static void every_model_has_one(void)
{
	for (size_t i = 0; i < spmu_model_count(); i++) {
		const char *name = spmu_model_describe(spmu_model_at(i)).name;

		if (!CHECK(spmu_machine_of_model(name) != NULL))
			printf("no machine for %s\n", name);
	}
	CHECK(spmu_machine_of_model("zen4") == NULL);
	CHECK(spmu_machine_of_model(NULL) == NULL);
	CHECK(spmu_machine_of_model("kabylake") == spmu_machine_find("skylake"));
}

/* Checks that a machine whose second-level TLB is for data walks for each miss of a fetch. */
static void keeps_fetches_from_the_data_tlb(void)
{
	struct spmu_machine m = *spmu_machine_find("core2");

	for (unsigned turn = 0; turn < 2; turn++) {
		struct uarch_host h = uarch_make(&m, 1, NULL);

		load(&h, 0, PAGE);
		spmu_uarch_fetch(h.model, 0, PAGE, 4);
		CHECK_EQ(h.count[SPMU_UARCH_ITLB_MISSES], 1);
		CHECK_EQ(h.count[SPMU_UARCH_ITLB_WALKS], turn == 0);
		free(h.memory);
		m.properties &= ~SPMU_MACHINE_STLB_FOR_DATA;
	}
}

/* Checks that the last of two levels is the second in tallies. */
static void names_the_last_of_two_levels(void)
{
	struct uarch_host h = uarch_make(spmu_machine_find("core2"), 1, NULL);

	for (unsigned i = 0; i < 3; i++) /* they share a set of the first level, and 9 do not fit */
		for (unsigned k = 0; k < 9; k++)
			load(&h, 0, UINT64_C(4096) * k);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_L2_MISSES), 9);
	CHECK(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_L2_HITS) > 0);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_L3_HITS), 0);
	CHECK_EQ(spmu_uarch_tally(h.model, 0, SPMU_TALLY_LOAD_L3_MISSES), 9);
	free(h.memory);
}

int main(void)
{
	RUN(has_what_cpuid_reports());
	RUN(compares_all());
	RUN(are_valid());
	RUN(every_model_has_one());
	RUN(keeps_fetches_from_the_data_tlb());
	RUN(names_the_last_of_two_levels());
	return test_summary();
}
