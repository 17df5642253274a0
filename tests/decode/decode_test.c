/* SPDX-License-Identifier: MIT */
/*
 * decode_test.c: insn_decode, insn_data_address and insn_addresses against Zydis.
 *
 * Three parts: a linear sweep over all code sections of real programs, ten
 * million made-up byte strings, and instructions that are cut off by the end of a
 * page.  Each compares everything the decoder says with expected.h.
 *
 * Links hosts/user/decode/decode.c (with -I$(B)/gen) and -lZydis.
 * Arguments: ELF files; none: those of a usual installation, five at least.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <hosts/user/decode/heads.h>

#include "tests/decode/expected.h"

#define RANDOM_STRINGS	10000000u
#define FILES_REQUIRED	5u
#define SHOWN_MAX	20u
#define SPEED_BYTES_MAX (1u << 20)
#define FS_BASE		UINT64_C(0x00007f1234567000)
#define GS_BASE		UINT64_C(0x0000123456789000)

static ZydisDecoder decoder;
static unsigned passed, failed, shown;
static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
static uint64_t gpr[16];
static uint8_t *page_end; /* nothing can be read from here on */

static const char *const usual_files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/lib/x86_64-linux-gnu/libmvec.so.1",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
	"/usr/bin/python3",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
	"/usr/bin/perl",
	"/usr/lib/x86_64-linux-gnu/libperl.so.5.36",
	"/usr/lib/x86_64-linux-gnu/libsqlite3.so.0",
	"/usr/lib/x86_64-linux-gnu/libx264.so.164",
	"/usr/lib/x86_64-linux-gnu/libavcodec.so.59",
	"/usr/lib/x86_64-linux-gnu/libgmp.so.10",
	"/usr/lib/x86_64-linux-gnu/libzstd.so.1",
	"/usr/lib/x86_64-linux-gnu/liblzma.so.5",
	"/usr/lib/x86_64-linux-gnu/libgcrypt.so.20",
	"/usr/lib/x86_64-linux-gnu/libZydis.so.4.0",
	"/usr/bin/gdb",
	"/usr/bin/qemu-x86_64",
};

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static void result(bool good, const char *what)
{
	if (good)
		passed++;
	else
		failed++;
	printf("%s  %s\n", good ? "ok    " : "FAILED", what);
}

static void show_difference(const uint8_t *code, const char *field, uint64_t got, uint64_t want)
{
	if (shown++ >= SHOWN_MAX)
		return;
	printf("    ");
	for (unsigned i = 0; i < INSN_BYTES_MAX; i++)
		printf("%02x ", code[i]);
	printf(" %s: %#llx, Zydis: %#llx\n", field, (unsigned long long)got,
	       (unsigned long long)want);
}

/* 0F 1A and 0F 1B are MPX's, or NOPs as 0F 1F is where MPX is switched off. */
static bool replace_mpx(uint8_t *code, size_t bytes, uint8_t *opcode)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					   0x66, 0x67, 0xf0, 0xf2, 0xf3};
	size_t n = 0;

	while (n < bytes && (memchr(prefixes, code[n], sizeof(prefixes)) || code[n] >> 4 == 4))
		n++;
	if (n + 1 >= bytes || code[n] != 0x0f || (code[n + 1] | 1) != 0x1b)
		return false;
	*opcode = code[n + 1];
	code[n + 1] = 0x1f;
	return true;
}

static void ask_zydis(const uint8_t *original, size_t available, struct expected *e)
{
	uint8_t code[INSN_BYTES_MAX], opcode = 0;

	if (available > INSN_BYTES_MAX)
		available = INSN_BYTES_MAX;
	memcpy(code, original, available);
	e->mpx = replace_mpx(code, available, &opcode);
	e->valid = ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(&decoder, code, available, &e->insn, e->operands));
	/* Knights Corner's mask branches and prefetches and VIA's PadLock are undefined on Intel
	 * and AMD. */
	if (e->valid && ((e->insn.meta.isa_set >= ZYDIS_ISA_SET_KNCE &&
			  e->insn.meta.isa_set <= ZYDIS_ISA_SET_KNC_PF_HINT) ||
			 expected_is(e, TWO_BYTE, 0xa6, 0xa7)))
		e->valid = false;
	if (e->mpx)
		e->insn.opcode = opcode;
	if (!e->valid)
		memset(&e->insn, 0, sizeof e->insn);
}

struct field {
	const char *name;
	uint64_t got, want;
};

/* Where the prefixes end, the opcode stands and so on: what Zydis shows in `raw`. */
static unsigned layout_fields(const struct insn *insn, const struct expected *e, struct field *f)
{
	const ZydisDecodedInstruction *i = &e->insn;
	bool string = i->meta.category == ZYDIS_CATEGORY_STRINGOP ||
		      i->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
	unsigned repeat = 0;
	unsigned n = 0;

	for (unsigned k = 0; k < i->raw.prefix_count; k++) {
		uint8_t prefix = i->raw.prefixes[k].value;

		if (prefix == 0xf2 || prefix == 0xf3)
			repeat = prefix;
	}
	/* Zydis calls 3DNow's suffix the opcode. */
	f[n++] = (struct field){"opcode", insn->opcode,
				i->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW ? 0x0f : i->opcode};
	f[n++] = (struct field){"ModRM offset", insn->modrm_offset, i->raw.modrm.offset};
	f[n++] = (struct field){"LOCK", insn->lock, expected_prefix(e, 0xf0)};
	f[n++] = (struct field){"REP", insn->rep, string ? repeat : 0};
	f[n++] = (struct field){"67H with RIP", insn->rip_address32,
				expected_rip_offset(e) && expected_prefix(e, 0x67)};
	f[n++] = (struct field){"segment", insn->segment, expected_segment(e)};
	return n;
}

/* All that the decoder says against all that Zydis says. */
static bool same(const uint8_t *code, uint64_t address, const struct insn *insn,
		 const struct expected *e)
{
	const struct insn_addresses is = insn_addresses(insn, code, address, gpr, FS_BASE, GS_BASE),
				    want = expected_addresses(e, address, gpr, FS_BASE, GS_BASE);
	struct field f[24];
	unsigned n = 0;
	bool good = true;

	f[n++] = (struct field){"length", insn->length, e->valid ? e->insn.length : 1};
	f[n++] = (struct field){"kind", insn->kind, expected_kind(e)};
	f[n++] = (struct field){"flags read", insn->flags_read, expected_flags_read(e)};
	f[n++] = (struct field){"flags written", insn->flags_written, expected_flags_written(e)};
	f[n++] = (struct field){"RIP offset", insn->rip_offset, expected_rip_offset(e)};
	f[n++] = (struct field){"signals", insn->signals, e->valid ? expected_signals(e) : 0};
	f[n++] = (struct field){"target", insn->target, expected_target(e, address)};
	f[n++] = (struct field){"uses GS", insn->uses_gs, expected_uses_gs(e)};
	f[n++] = (struct field){"data address",
				insn_data_address(insn, address, gpr, FS_BASE, GS_BASE),
				expected_address(e, address, gpr, FS_BASE, GS_BASE)};
	f[n++] = (struct field){"load address", is.data, want.data};
	f[n++] = (struct field){"store address", is.store, want.store};
	if (insn->kind == INSN_RET || insn->kind == INSN_FAR)
		f[n++] = (struct field){"immediate", insn->immediate, e->insn.raw.imm[0].value.u};
	if (e->valid)
		n += layout_fields(insn, e, f + n);
	for (unsigned i = 0; i < n; i++) {
		if (f[i].got == f[i].want)
			continue;
		show_difference(code, f[i].name, f[i].got, f[i].want);
		good = false;
	}
	return good;
}

/* The instruction again with too few bytes, against the end of readable memory. */
static bool cut_off(const uint8_t *code, const struct insn *whole)
{
	struct insn insn;
	bool good = true;

	for (unsigned n = 1; n <= INSN_BYTES_MAX; n++) {
		uint8_t *at = page_end - n;
		bool done;

		memcpy(at, code, n);
		done = insn_decode(at, n, 0x400000, &insn);
		if (whole->kind == INSN_UNDEFINED) {
			/* the verdict may need more bytes, but must not become another */
			if (done ? insn.kind != INSN_UNDEFINED : n == INSN_BYTES_MAX)
				good = false;
		} else if (n < whole->length) {
			good &= !done;
		} else {
			good &= done && !memcmp(&insn, whole, sizeof insn);
		}
		if (!good) {
			show_difference(code, "bytes available", n, whole->length);
			return false;
		}
	}
	return true;
}

/* By what has been decoded before: the same as without, here and with another last byte, which
 * mostly is one that the head of the instruction does not include. */
static bool by_head(const uint8_t *code, size_t available, uint64_t address)
{
	static struct heads heads;
	uint8_t other[2 * INSN_BYTES_MAX];
	struct insn insn, known;
	bool done = insn_decode(code, available, address, &insn);

	if (insn_decode_known(&heads, code, available, address, &known) !=
		    (done ? insn.length : 0u) ||
	    (done && memcmp(&insn, &known, sizeof insn) != 0)) {
		show_difference(code, "known head", 0, 1);
		return false;
	}
	if (!done || available < sizeof other)
		return true;
	memcpy(other, code, sizeof other);
	other[insn.length - 1] ^= (uint8_t)(1 + address % 255);
	done = insn_decode(other, sizeof other, ~address, &insn);
	if (insn_decode_known(&heads, other, sizeof other, ~address, &known) !=
		    (done ? insn.length : 0u) ||
	    (done && memcmp(&insn, &known, sizeof insn) != 0)) {
		show_difference(other, "known head, another end", 0, 1);
		return false;
	}
	return true;
}

/* One string: false when anything differs.  Sets *length to go on with. */
static bool check_one(const uint8_t *code, size_t available, bool cut, unsigned *length)
{
	const uint64_t address = 0x400000;
	struct expected e;
	struct insn insn;

	ask_zydis(code, available, &e);
	*length = e.valid ? e.insn.length : 1;
	if (!by_head(code, available, (uint64_t)(uintptr_t)code))
		return false;
	if (!insn_decode(code, available, address, &insn)) {
		/* only at the end of a section, where Zydis lacks bytes as well */
		if (available >= INSN_BYTES_MAX || e.valid) {
			show_difference(code, "decoded", 0, 1);
			return false;
		}
		return true;
	}
	return same(code, address, &insn, &e) &&
	       (!cut || available < INSN_BYTES_MAX || cut_off(code, &insn));
}

struct section {
	const uint8_t *code;
	size_t bytes;
};

static struct section speed_section;

static bool sweep_section(const struct section *s, uint64_t *count)
{
	bool good = true;
	unsigned length;

	for (size_t at = 0; at < s->bytes; at += length) {
		good &= check_one(s->code + at, s->bytes - at, *count % 64 == 0, &length);
		++*count;
	}
	return good;
}

/* Sweep the executable sections of an ELF image. */
static bool sweep_image(const uint8_t *image, size_t bytes, uint64_t *count)
{
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Shdr *sections;
	bool good = true;

	if (bytes < sizeof *header || memcmp(image, ELFMAG, SELFMAG) ||
	    header->e_machine != EM_X86_64 || header->e_shoff > bytes ||
	    header->e_shnum > (bytes - header->e_shoff) / sizeof *sections)
		return false;
	sections = (const void *)(image + header->e_shoff);
	for (unsigned i = 0; i < header->e_shnum; i++) {
		struct section s = {image + sections[i].sh_offset, sections[i].sh_size};

		if (sections[i].sh_type != SHT_PROGBITS || !(sections[i].sh_flags & SHF_EXECINSTR))
			continue;
		if (sections[i].sh_offset > bytes || s.bytes > bytes - sections[i].sh_offset)
			return false;
		good &= sweep_section(&s, count);
		if (s.bytes > speed_section.bytes)
			speed_section = s;
	}
	return good && *count > 0;
}

/* The mapping stays: the speed test uses it. */
static bool sweep_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	uint64_t count = 0;
	char text[256];
	void *image;
	bool good;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) || status.st_size == 0) {
		close(fd);
		return false;
	}
	image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		return false;
	shown = 0;
	good = sweep_image(image, (size_t)status.st_size, &count);
	snprintf(text, sizeof text, "%s: %llu instructions", path, (unsigned long long)count);
	result(good, text);
	return true;
}

static unsigned put_prefixes(uint8_t *out)
{
	static const uint8_t prefixes[] = {0x66, 0x66, 0xf2, 0xf3, 0xf0, 0x67, 0x64,
					   0x65, 0x2e, 0x26, 0x48, 0x40, 0x4f, 0x41};
	unsigned n = 0;

	while (n < 14 && next_random() % 3 == 0)
		out[n++] = prefixes[next_random() % sizeof prefixes];
	if (next_random() % 4 == 0)
		out[n++] = (uint8_t)(0x40 | next_random() % 16);
	return n;
}

/* A made-up string: prefixes, then an escape; the rest is noise. */
static void make_string(uint8_t out[32])
{
	unsigned n;
	uint64_t dice = next_random();

	for (unsigned i = 0; i < 4; i++) {
		uint64_t noise = next_random();

		memcpy(out + 8 * i, &noise, 8);
	}
	if (dice % 16 == 0)
		return;
	n = dice / 16 % 3 == 0 ? put_prefixes(out) : 0;
	switch (dice / 64 % 9) {
	case 0:
		out[n++] = 0x0f;
		out[n++] = 0x38;
		break;
	case 1:
		out[n++] = 0x0f;
		out[n++] = 0x3a;
		break;
	case 2:
		out[n++] = 0x0f;
		break;
	case 3:
		out[n++] = 0xc4;
		out[n] = (uint8_t)((out[n] & 0xe0) | (1 + out[n] % 3));
		if (dice >> 32 & 1)
			out[n + 1] |= 0x78;
		break;
	case 4:
		out[n++] = 0xc5;
		break;
	case 5:
	case 6:
		out[n++] = 0x62;
		out[n] = (uint8_t)((out[n] & 0xf0) | (1 + (out[n] & 7) % 6));
		out[n + 1] |= dice >> 32 & 1 ? 0x7c : 4;
		if (dice >> 33 & 1)
			out[n + 2] &= 0x78;
		if (dice >> 34 & 1)
			out[n + 2] |= 8;
		break;
	case 7:
		out[n++] = 0x8f;
		out[n] = (uint8_t)((out[n] & 0xe0) | (8 + out[n] % 3));
		break;
	default:
		break;
	}
}

static void random_strings(void)
{
	uint8_t code[32];
	uint64_t valid = 0;
	bool good = true;
	char text[128];

	shown = 0;
	for (unsigned i = 0; i < RANDOM_STRINGS; i++) {
		unsigned length;

		make_string(code);
		if (i % 16 == 0)
			for (unsigned r = 0; r < 16; r++)
				gpr[r] = next_random();
		good &= check_one(code, sizeof code, i % 16 == 0, &length);
		valid += length > 1;
	}
	snprintf(text, sizeof text, "%u made-up strings, %llu of them instructions", RANDOM_STRINGS,
		 (unsigned long long)valid);
	result(good && valid > RANDOM_STRINGS / 10, text);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double our_speed(const struct section *s, unsigned rounds)
{
	double start = seconds();
	uint64_t count = 0;
	struct insn insn;

	for (unsigned r = 0; r < rounds; r++) {
		for (size_t at = 0;
		     at < s->bytes && insn_decode(s->code + at, s->bytes - at, at, &insn);
		     at += insn.length)
			count++;
	}
	return (seconds() - start) / (double)count * 1e9;
}

static double zydis_speed(const struct section *s, unsigned rounds)
{
	ZydisDecoder minimal = decoder;
	double start = seconds();
	uint64_t count = 0;
	ZydisDecodedInstruction insn;

	ZydisDecoderEnableMode(&minimal, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	for (unsigned r = 0; r < rounds; r++) {
		for (size_t at = 0; at < s->bytes; count++) {
			ZyanStatus status = ZydisDecoderDecodeInstruction(
				&minimal, NULL, s->code + at, s->bytes - at, &insn);

			at += ZYAN_SUCCESS(status) ? insn.length : 1;
		}
	}
	return (seconds() - start) / (double)count * 1e9;
}

/* No pass or fail: the machine may be busy. */
static void report_speed(void)
{
	struct section s = speed_section;
	double ours, theirs;

	if (s.bytes > SPEED_BYTES_MAX)
		s.bytes = SPEED_BYTES_MAX;
	ours = our_speed(&s, 10);
	theirs = zydis_speed(&s, 10);
	printf("speed: %.1f ns an instruction; Zydis minimal %.1f ns\n", ours, theirs);
}

static bool prepare(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *memory =
		mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE))
		return false;
	page_end = memory + page;
	for (unsigned r = 0; r < 16; r++)
		gpr[r] = next_random();
	return ZYAN_SUCCESS(
		ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64));
}

int main(int argc, char **argv)
{
	unsigned files = 0;

	if (!prepare()) {
		fprintf(stderr, "decode_test: no memory or no Zydis\n");
		return 2;
	}
	if (argc > 1) {
		for (int i = 1; i < argc; i++)
			if (!sweep_file(argv[i]))
				result(false, argv[i]);
	} else {
		for (size_t i = 0; i < sizeof usual_files / sizeof *usual_files; i++)
			files += sweep_file(usual_files[i]);
		result(files >= FILES_REQUIRED, "at least five files of the usual installation");
	}
	random_strings();
	report_speed();
	printf("%u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}
