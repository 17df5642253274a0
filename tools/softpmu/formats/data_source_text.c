/* SPDX-License-Identifier: MIT */
/*
 * data_source_text.c: where an access found its data, in perf's words.
 *
 * A level has two descriptions: bits of PERF_MEM_LVL_, and a number.  perf prints both.
 */
#include "tools/softpmu/formats/data_source_text.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

/* Names of the bits of a field from the lowest one on; NULL: it is part of another text. */
static const char *const operations[] = {NULL, "LOAD", "STORE", "PFETCH", "EXEC"};
static const char *const levels[] = {NULL,
				     NULL,
				     NULL,
				     "L1",
				     "LFB/MAB",
				     "L2",
				     "L3",
				     "Local RAM",
				     "Remote RAM (1 hop)",
				     "Remote RAM (2 hops)",
				     "Remote Cache (1 hop)",
				     "Remote Cache (2 hops)",
				     "I/O",
				     "Uncached"};
static const char *const numbers[] = {NULL,	 "L1",	"L2",	"L3",  "L4",  NULL,
				      NULL,	 NULL,	NULL,	"CXL", "I/O", "Any cache",
				      "LFB/MAB", "RAM", "PMEM", NULL};
static const char *const snoops[] = {NULL, "None", "Hit", "Miss", "HitM"};
static const char *const tlbs[] = {NULL, NULL, NULL, "L1", "L2", "Walker", "Fault"};

#define NAMES(list) list, sizeof(list) / sizeof((list)[0])

/* Prints a name, with " or " before it if it is not the first. */
static void print_name(FILE *to, const char *name, bool *any)
{
	fprintf(to, "%s%s", *any ? " or " : "", name);
	*any = true;
}

static bool print_bits(FILE *to, uint64_t bits, const char *const *names, size_t count)
{
	bool any = false;

	for (size_t i = 0; i < count; i++)
		if (bits >> i & 1 && names[i])
			print_name(to, names[i], &any);
	return any;
}

/* Prints what is known of a level or a TLB that was found or not. */
static void print_end(FILE *to, bool any, bool hit, bool miss)
{
	fputs(any ? "" : "N/A", to);
	fputs(hit ? " hit" : "", to);
	fputs(miss ? " miss" : "", to);
}

static void print_level(FILE *to, union perf_mem_data_src source)
{
	bool any = print_bits(to, source.mem_lvl, NAMES(levels));

	if (numbers[source.mem_lvl_num])
		print_name(to, numbers[source.mem_lvl_num], &any);
	print_end(to, any, source.mem_lvl & PERF_MEM_LVL_HIT, source.mem_lvl & PERF_MEM_LVL_MISS);
}

static void print_tlb(FILE *to, union perf_mem_data_src source)
{
	bool any = print_bits(to, source.mem_dtlb, NAMES(tlbs));

	print_end(to, any, source.mem_dtlb & PERF_MEM_TLB_HIT, source.mem_dtlb & PERF_MEM_TLB_MISS);
}

void data_source_text_print(FILE *to, uint64_t data_source)
{
	union perf_mem_data_src source = {.val = data_source};

	fputs("|OP ", to);
	if (!print_bits(to, source.mem_op, NAMES(operations)))
		fputs("N/A", to);
	fputs("|LVL ", to);
	print_level(to, source);
	fputs("|SNP ", to);
	if (!print_bits(to, source.mem_snoop, NAMES(snoops)))
		fputs("N/A", to);
	fputs("|TLB ", to);
	print_tlb(to, source);
	fprintf(to, "|LCK %s",
		source.mem_lock & PERF_MEM_LOCK_LOCKED ? "Yes"
		: source.mem_lock & PERF_MEM_LOCK_NA   ? "N/A"
						       : "No");
	fputs("|BLK", to);
	if (source.mem_blk & PERF_MEM_BLK_DATA)
		fputs(" Data", to);
	if (source.mem_blk & PERF_MEM_BLK_ADDR)
		fputs(" Addr", to);
	if (!(source.mem_blk & (PERF_MEM_BLK_DATA | PERF_MEM_BLK_ADDR)))
		fputs("  N/A", to);
}
