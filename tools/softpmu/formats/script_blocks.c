/* SPDX-License-Identifier: MIT */
/*
 * script_blocks.c: the code that a sample's last branches say has run, in the form of perf's field
 * brstackinsn.
 *
 * The oldest branch has no instructions before it: the sample does not tell where its block begins.
 * The last block ends at the sample.
 */
#include "tools/softpmu/formats/script_blocks.h"

#include <inttypes.h>
#include <string.h>

#include "tools/softpmu/symbols/demangle.h"

#define BLOCK_MAX	16384u /* bytes: a longer block is not shown, as in perf */
#define INSTRUCTION_MAX 15u
#define TEXT_BYTES	256u

/* Bits of struct perf_branch_entry. */
#define MISSED	    1u
#define PREDICTED   2u
#define TRANSACTION 4u
#define ABORT	    8u
#define CLOCKS_BIT  4u /* the first of 16 */

struct blocks {
	struct disasm *disasm;
	bool bytes;
	FILE *to;
	const struct symbol *last; /* the function that was named last */
	uint64_t clocks;	   /* of the branches so far */
};

/* A piece of code: where it begins, and what is known of it. */
struct piece {
	const struct profile_place *at;
	uint8_t code[BLOCK_MAX + INSTRUCTION_MAX];
	size_t bytes;
};

static void read_piece(struct piece *piece, const struct profile_place *at, uint64_t end)
{
	piece->at = at;
	piece->bytes = 0;
	if (at->file && end >= at->ip && end - at->ip < BLOCK_MAX)
		piece->bytes = symbol_file_read(at->file, at->address, piece->code,
						(size_t)(end - at->ip) + INSTRUCTION_MAX);
}

/* Names the function at this offset of the piece, if it is another one. */
static void name_function(struct blocks *b, const struct piece *piece, uint64_t offset)
{
	uint64_t address = piece->at->address + offset;
	const struct symbol *symbol =
		piece->at->file ? symbol_file_find(piece->at->file, address) : NULL;

	if (!symbol || symbol == b->last)
		return;
	b->last = symbol;
	fprintf(b->to, "\t%s", demangle_name(symbol->name));
	if (address != symbol->start)
		fprintf(b->to, "+%" PRIu64, address - symbol->start);
	fputs(":\n", b->to);
}

/* Writes the instruction as text.  Returns its length; 0: it is not known. */
static size_t write_text(const struct blocks *b, const struct piece *piece, size_t offset,
			 char text[TEXT_BYTES])
{
	size_t room = piece->bytes - offset, length, at;

	*text = '\0';
	if (offset >= piece->bytes)
		return 0;
	length = disasm_one(b->disasm, piece->code + offset, room, piece->at->ip + offset, text,
			    TEXT_BYTES);
	if (!b->bytes)
		return length;
	at = (size_t)snprintf(text, TEXT_BYTES, "insn: ");
	for (size_t i = 0; i < length; i++)
		at += (size_t)snprintf(text + at, TEXT_BYTES - at, "%02x ",
				       piece->code[offset + i]);
	return length;
}

/* Writes a branch, the last of `count` instructions (0: not known) since the one before. */
static void write_branch(struct blocks *b, const struct piece *piece, size_t offset,
			 const struct profile_branch *branch, unsigned count)
{
	uint64_t clocks = branch->flags >> CLOCKS_BIT & 0xffff;
	char text[TEXT_BYTES];

	write_text(b, piece, offset, text);
	fprintf(b->to, "\t%016" PRIx64 "\t%-30s\t#%s%s%s%s", piece->at->ip + offset, text,
		branch->flags & PREDICTED ? " PRED" : "", branch->flags & MISSED ? " MISPRED" : "",
		branch->flags & TRANSACTION ? " INTX" : "", branch->flags & ABORT ? " ABORT" : "");
	b->clocks += clocks;
	if (clocks)
		fprintf(b->to, " %" PRIu64 " cycles [%" PRIu64 "]", clocks, b->clocks);
	if (clocks && count)
		fprintf(b->to, " %.2f IPC", (double)count / (double)clocks);
	putc('\n', b->to);
}

/* Writes an instruction.  Returns its length; 0: it is not known. */
static size_t write_instruction(const struct blocks *b, const struct piece *piece, size_t offset)
{
	char text[TEXT_BYTES];
	size_t length = write_text(b, piece, offset, text);

	fprintf(b->to, "\t%016" PRIx64 "\t%s\n", piece->at->ip + offset, text);
	return length;
}

/* Writes the block from `start` to the branch. */
static void write_block(struct blocks *b, const struct profile_place *start,
			const struct profile_branch *branch)
{
	struct piece piece;
	uint64_t end = branch->from.ip - start->ip;
	size_t offset = 0, length = 1;
	unsigned count = 0;

	read_piece(&piece, start, branch->from.ip);
	if (!piece.bytes)
		return;
	while (offset < end && length) {
		name_function(b, &piece, offset);
		length = write_instruction(b, &piece, offset);
		offset += length;
		count++;
	}
	if (offset != end) {
		fputs("\tmismatch of LBR data and executable\n", b->to);
		return;
	}
	name_function(b, &piece, offset);
	write_branch(b, &piece, offset, branch, count + 1);
}

/* Writes the block from the target of the last branch to the sample. */
static void write_last(struct blocks *b, const struct profile_place *start, uint64_t ip)
{
	struct piece piece;
	size_t offset = 0, length = 1;

	read_piece(&piece, start, ip);
	if (!piece.bytes)
		return;
	name_function(b, &piece, 0);
	while (start->ip + offset <= ip && length) {
		length = write_instruction(b, &piece, offset);
		offset += length;
	}
}

void script_blocks_write(struct disasm *disasm, bool bytes, const struct profile_sample *sample,
			 FILE *to)
{
	struct blocks b = {.disasm = disasm, .bytes = bytes, .to = to};
	const struct profile_branch *branches = sample->branches;
	size_t i = sample->branch_count;
	struct piece first;

	if (!i)
		return;
	putc('\n', to);
	read_piece(&first, &branches[i - 1].from, branches[i - 1].from.ip);
	if (first.bytes) {
		name_function(&b, &first, 0);
		write_branch(&b, &first, 0, &branches[i - 1], 0);
	}
	for (i--; i-- > 0;)
		write_block(&b, &branches[i + 1].to, &branches[i]);
	if (branches[0].from.ip != sample->at.ip && !(branches[0].flags & ABORT))
		write_last(&b, &branches[0].to, sample->at.ip);
}
