/* SPDX-License-Identifier: MIT */
/*
 * sections.c: finds the program's critical sections of restartable sequences (rseq(2)).  They
 * run as single steps (rseq.c).
 *
 * A section must be known before it runs for the first time.  So code that is translated is
 * searched for instructions that load the address of a descriptor: LEA, and MOV of an
 * immediate, at most 256 MB from the code.  A descriptor is recognized by its fields and by the
 * signature before its abort handler.  A descriptor whose address comes from elsewhere is found
 * when a thread has armed it.
 *
 * Blocks that name a descriptor are not saved in the persistent code cache, because the next run
 * must find them, too.  A section becomes known under the lock, and is published while the other
 * threads are stopped.  So the path of a block does not change between two requests.
 */
#include "engine/translate/sections.h"

#include "engine/cache/cache.h"
#include "engine/memory/access.h"
#include "engine/memory/pages.h"
#include "engine/memory/regions.h"
#include "engine/rt/engine.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/x86/keys.h"
#include "engine/x86/operands.h"

#define SECTIONS_MAX	 4096
#define SIGNATURES_MAX	 16
#define SIGNATURE_USUAL	 0x53053053 /* the C library's, and the usual one on x86 */
#define DESCRIPTOR_ALIGN 32	    /* of struct rseq_cs */
#define LOWEST_ADDRESS	 UINT64_C(0x10000)
#define IMAGE_MAX	 UINT64_C(0x10000000) /* no descriptor is farther from its code */

static struct section {
	uint64_t start, end;
} section[SECTIONS_MAX];
static unsigned sections, published;

static uint32_t signature_of[SIGNATURES_MAX] = {SIGNATURE_USUAL};
static unsigned signatures = 1;

bool sections_read(uint64_t descriptor, struct rseq_cs *cs)
{
	READING_CODE;

	if (descriptor >= PROGRAM_END || !access_guess_readable(descriptor, sizeof(*cs)))
		return false;
	memcpy(cs, (const void *)descriptor, sizeof(*cs));
	return true;
}

/* Returns whether the fields are those of a descriptor, without the signature. */
static bool is_descriptor(const struct rseq_cs *cs)
{
	uint64_t end = cs->start_ip + cs->post_commit_offset;

	return !cs->version && cs->start_ip < PROGRAM_END && end < PROGRAM_END &&
	       end >= cs->start_ip && cs->abort_ip < PROGRAM_END &&
	       cs->abort_ip - cs->start_ip >= cs->post_commit_offset;
}

/* Reads the signature before the abort handler. */
static bool read_signature(const struct rseq_cs *cs, uint32_t *signature)
{
	uint64_t at = cs->abort_ip - sizeof(*signature);
	READING_CODE;

	if (!access_readable(at, sizeof(*signature)))
		return false;
	memcpy(signature, (const void *)at, sizeof(*signature));
	return true;
}

bool sections_accept(const struct rseq_cs *cs, uint32_t signature)
{
	uint32_t there;

	return is_descriptor(cs) && read_signature(cs, &there) && there == signature;
}

/* --- which code --- */

static bool ends_at(uint64_t pc, uint64_t end)
{
	struct insn insn;
	READING_CODE;

	return insn_decode((const uint8_t *)pc, end - pc, pc, &insn) && pc + insn.length == end;
}

/* Returns whether the instruction at pc is in the section, or is the one before it, which arms
 * it. */
static bool is_held(uint64_t pc, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		const struct section *s = &section[i];

		if (pc >= s->end || pc + INSN_BYTES_MAX < s->start)
			continue;
		if (pc >= s->start || ends_at(pc, s->start))
			return true;
	}
	return false;
}

bool sections_hold(uint64_t pc)
{
	return published && page_has(pc, PAGE_SECTIONS) && is_held(pc, published);
}

bool sections_will_hold(uint64_t pc)
{
	return sections && page_has(pc, PAGE_SECTIONS) && is_held(pc, sections);
}

bool sections_begin(uint64_t pc)
{
	if (!published || !page_has(pc, PAGE_SECTIONS))
		return false;
	for (unsigned i = 0; i < published; i++)
		if (section[i].start == pc && section[i].end > pc)
			return true;
	return false;
}

/* --- what becomes known --- */

unsigned sections_count(void)
{
	return sections;
}

/* Returns the lowest possible address of the instruction before the section. */
static uint64_t first_of(const struct section *s)
{
	return s->start - INSN_BYTES_MAX;
}

static void mark_pages(const struct section *s)
{
	for (uint64_t at = first_of(s) & -PAGE; at < s->end; at += PAGE)
		if (!page_set(at, PAGE_SECTIONS))
			engine_unsupported("the program has more restartable sequences above 2 GiB "
					   "than can be followed");
}

void sections_add(const struct rseq_cs *cs)
{
	struct section new = {cs->start_ip, cs->start_ip + cs->post_commit_offset};

	if (new.end <= new.start || !region_code_end(new.start) || !region_code_end(new.end - 1))
		return;
	for (unsigned i = 0; i < sections; i++)
		if (section[i].start == new.start && section[i].end == new.end)
			return;
	if (sections == SECTIONS_MAX)
		engine_unsupported("the program has more than 4096 restartable sequences");
	section[sections++] = new;
	mark_pages(&new);
}

bool sections_publish(void)
{
	unsigned from = published;

	if (published == sections)
		return false;
	lock_stop_others();
	published = sections;
	for (unsigned i = from; i < sections; i++) {
		const struct section *s = &section[i];

		blocks_forget_pages(first_of(s), s->end - first_of(s));
	}
	lock_resume_others();
	return true;
}

static bool is_expected(uint32_t signature)
{
	for (unsigned i = 0; i < signatures; i++)
		if (signature_of[i] == signature)
			return true;
	return false;
}

/* Code that has been translated may name descriptors with this signature. */
void sections_expect(uint32_t signature)
{
	lock_take();
	if (!is_expected(signature)) {
		if (signatures == SIGNATURES_MAX)
			engine_unsupported("the program uses more than 16 signatures of "
					   "restartable sequences");
		signature_of[signatures++] = signature;
		blocks_flush();
	}
	lock_release();
}

void sections_unmapped(uint64_t start, uint64_t end)
{
	if (!sections || pages_next(start, end, PAGE_SECTIONS) >= end)
		return;
	lock_stop_others();
	published = 0;
	for (unsigned i = 0, n = sections; i < n; i++) {
		const struct section *s = &section[i];

		if (s->start >= end || s->end <= start)
			section[published++] = *s;
	}
	sections = published;
	lock_resume_others();
}

/* --- code that names them --- */

/* Few constants are addresses, and a look at an address without memory is a fault. */
static bool may_be_descriptor(uint64_t at, uint64_t pc)
{
	return at % DESCRIPTOR_ALIGN == 0 && at >= LOWEST_ADDRESS &&
	       at - pc + IMAGE_MAX < 2 * IMAGE_MAX;
}

bool sections_named(const struct insn *insn, uint64_t pc)
{
	uint64_t at;
	uint32_t signature;
	struct rseq_cs cs;
	READING_CODE;

	at = operand_constant(insn, (const uint8_t *)pc, pc);
	if (!may_be_descriptor(at, pc) || !sections_read(at, &cs) || !is_descriptor(&cs) ||
	    !region_code_end(cs.abort_ip) || !read_signature(&cs, &signature) ||
	    !is_expected(signature))
		return false;
	sections_add(&cs);
	return true;
}
