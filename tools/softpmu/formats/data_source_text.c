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
static const char *const levels[] = {"N/A",
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
/* Of numbers of levels from this one on; those before are L1, L2 ... */
#define FIRST_NAMED 9u
static const char *const numbers[] = {"CXL", "I/O", "Any cache", "LFB/MAB", "RAM", "PMEM"};
static const char *const snoops[] = {"N/A", "None", "Hit", "Miss", "HitM"};
static const char *const more_snoops[] = {"Fwd", "Peer"};
static const char *const tlbs[] = {"N/A", NULL, NULL, "L1", "L2", "Walker", "Fault"};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* Prints a name, with " or " before it if it is not the first. */
static void print_name(FILE *to, const char *name, bool *any)
{
	fprintf(to, "%s%s", *any ? " or " : "", name);
	*any = true;
}

static void print_bits(FILE *to, uint64_t bits, const char *const *names, size_t count, bool *any)
{
	for (size_t i = 0; i < count; i++)
		if (bits >> i & 1 && names[i])
			print_name(to, names[i], any);
}

/* Prints what is known of a level or a TLB that was found or not. */
static void print_end(FILE *to, bool any, bool hit, bool miss)
{
	fputs(any ? "" : "N/A", to);
	fputs(hit ? " hit" : "", to);
	fputs(miss ? " miss" : "", to);
}

static void print_number(FILE *to, unsigned number, bool *any)
{
	char level[8];

	snprintf(level, sizeof(level), "L%u", number);
	if (number && number < FIRST_NAMED)
		print_name(to, level, any);
	else if (number >= FIRST_NAMED && number - FIRST_NAMED < COUNT(numbers))
		print_name(to, numbers[number - FIRST_NAMED], any);
}

static void print_level(FILE *to, union perf_mem_data_src source)
{
	bool any = false;

	if (source.mem_remote)
		fputs("Remote ", to);
	print_bits(to, source.mem_lvl, levels, COUNT(levels), &any);
	print_number(to, source.mem_lvl_num, &any);
	print_end(to, any || source.mem_remote, source.mem_lvl & PERF_MEM_LVL_HIT,
		  source.mem_lvl & PERF_MEM_LVL_MISS);
}

static void print_snoop(FILE *to, union perf_mem_data_src source)
{
	bool any = false;

	print_bits(to, source.mem_snoop, snoops, COUNT(snoops), &any);
	print_bits(to, source.mem_snoopx, more_snoops, COUNT(more_snoops), &any);
	print_end(to, any, false, false);
}

static void print_tlb(FILE *to, union perf_mem_data_src source)
{
	bool any = false;

	print_bits(to, source.mem_dtlb, tlbs, COUNT(tlbs), &any);
	print_end(to, any, source.mem_dtlb & PERF_MEM_TLB_HIT, source.mem_dtlb & PERF_MEM_TLB_MISS);
}

static void print_block(FILE *to, union perf_mem_data_src source)
{
	bool known = source.mem_blk && !(source.mem_blk & PERF_MEM_BLK_NA);

	fputs(known ? "" : " N/A", to);
	fputs(known && source.mem_blk & PERF_MEM_BLK_DATA ? " Data" : "", to);
	fputs(known && source.mem_blk & PERF_MEM_BLK_ADDR ? " Addr" : "", to);
}

void data_source_text_print(FILE *to, uint64_t data_source)
{
	union perf_mem_data_src source = {.val = data_source};
	bool any = false;

	fputs("|OP ", to);
	print_bits(to, source.mem_op, operations, COUNT(operations), &any);
	fputs(source.mem_op & PERF_MEM_OP_NA ? "N/A" : any ? "" : "No", to);
	fputs("|LVL ", to);
	print_level(to, source);
	fputs("|SNP ", to);
	print_snoop(to, source);
	fputs("|TLB ", to);
	print_tlb(to, source);
	fprintf(to, "|LCK %s",
		source.mem_lock & PERF_MEM_LOCK_NA	 ? "N/A"
		: source.mem_lock & PERF_MEM_LOCK_LOCKED ? "Yes"
							 : "No");
	fputs("|BLK ", to);
	print_block(to, source);
}
