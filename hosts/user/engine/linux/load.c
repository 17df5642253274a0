/* SPDX-License-Identifier: MIT */
/*
 * load.c: maps the program and its interpreter like the kernel's ELF loader.  But
 * position-independent images go into the window below 2 GiB (places.c), and nothing gets
 * PROT_EXEC (regions.c says why).  The tool has checked the file; this file checks what the tool
 * could not know.
 */
#include <asm/unistd.h>
#include <elf.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "engine/cache/cache.h"
#include "engine/count/count.h"
#include "engine/count/opened_records.h"
#include "engine/linux/load.h"
#include "engine/linux/mappings.h"
#include "engine/memory/places.h"
#include "engine/memory/regions.h"
#include "engine/persist/persist.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"
#include "engine/translate/translate.h"

#define PHDRS_MAX 64

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment[PHDRS_MAX];
	uint64_t low, high; /* of all PT_LOAD, in whole pages */
	uint64_t align;	    /* the largest of all PT_LOAD */
	uint64_t bias;
	int fd;
	bool stack_executable;
	char interpreter[256];
};

bool load_stack_executable;

static void read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	if (syscall4(__NR_pread64, fd, (long)to, (long)bytes, (long)offset) != (long)bytes)
		engine_fail(126, "the program's file is truncated");
}

static uint64_t segment_end(const Elf64_Phdr *s)
{
	return in_pages(s->p_vaddr + s->p_memsz);
}

/* Opens the file, by its descriptor if there is one. */
static void image_open(struct image *image, const char *path, int fd)
{
	const Elf64_Ehdr *h = &image->header;

	image->fd =
		fd >= 0 ? fd
			: (int)syscall4(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
	if (image->fd < 0)
		engine_fail(126, "the program or its interpreter cannot be opened");
	read_at(image->fd, &image->header, sizeof(image->header), 0);
	if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_machine != EM_X86_64 || (h->e_type != ET_EXEC && h->e_type != ET_DYN))
		engine_fail(126, "the program or its interpreter is not an x86-64 executable");
	if (!h->e_phnum || h->e_phnum > PHDRS_MAX || h->e_phentsize != sizeof(Elf64_Phdr))
		engine_fail(126, "the program's table of segments is not usable");
	read_at(image->fd, image->segment, h->e_phnum * sizeof(Elf64_Phdr), h->e_phoff);
	image->low = UINT64_MAX;
	image->high = 0;
	image->align = PAGE;
	image->bias = 0;
	image->stack_executable = true; /* the default of a file that does not say */
	image->interpreter[0] = 0;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		const Elf64_Phdr *s = &image->segment[i];

		if (s->p_type == PT_INTERP && s->p_filesz < sizeof(image->interpreter)) {
			read_at(image->fd, image->interpreter, s->p_filesz, s->p_offset);
			image->interpreter[s->p_filesz] = 0;
		}
		if (s->p_type == PT_GNU_STACK)
			image->stack_executable = s->p_flags & PF_X;
		if (s->p_type != PT_LOAD || !s->p_memsz)
			continue;
		if (s->p_vaddr + s->p_memsz < s->p_vaddr || s->p_vaddr + s->p_memsz > PROGRAM_END ||
		    (s->p_vaddr - s->p_offset) % PAGE)
			engine_fail(126, "the program's segments are not usable");
		if ((s->p_vaddr & -PAGE) < image->low)
			image->low = s->p_vaddr & -PAGE;
		if (segment_end(s) > image->high)
			image->high = segment_end(s);
		/* The kernel also ignores an alignment that is no power of two. */
		if (!(s->p_align & (s->p_align - 1)) && s->p_align > image->align)
			image->align = s->p_align;
	}
	if (!image->high)
		engine_fail(126, "the program has nothing to load");
}

static int protection_of(const Elf64_Phdr *s)
{
	return (s->p_flags & PF_R ? PROT_READ : 0) | (s->p_flags & PF_W ? PROT_WRITE : 0) |
	       (s->p_flags & PF_X ? PROT_EXEC : 0);
}

/* Maps the part of a segment after its file contents: zeros, up to the end of the page (dynamic
 * loaders allocate there). */
static void map_zeros(const struct image *image, const Elf64_Phdr *s, int real)
{
	uint64_t file_end = image->bias + s->p_vaddr + s->p_filesz;
	uint64_t end = image->bias + s->p_vaddr + s->p_memsz;
	uint64_t page_end = in_pages(file_end);

	if (s->p_memsz <= s->p_filesz)
		return;
	if (real & PROT_WRITE && page_end > file_end)
		memset((void *)file_end, 0, page_end - file_end);
	if (end > page_end && is_error(sys_map(page_end, end - page_end, real,
					       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
		engine_fail(126, "no memory for the program's data");
}

static void map_segment(const struct image *image, const Elf64_Phdr *s)
{
	uint64_t start = image->bias + (s->p_vaddr & -PAGE);
	uint64_t bytes = s->p_filesz + s->p_vaddr % PAGE;
	uint64_t whole = in_pages(s->p_memsz + s->p_vaddr % PAGE);
	int asked = protection_of(s);
	int real = (asked & ~PROT_EXEC) | (asked & PROT_EXEC ? PROT_READ : 0);

	if (s->p_filesz && is_error(sys_map(start, bytes, real, MAP_PRIVATE | MAP_FIXED, image->fd,
					    s->p_offset & -PAGE)))
		engine_fail(126, "the program cannot be mapped");
	if (!s->p_filesz &&
	    is_error(sys_map(start, whole, real, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)))
		engine_fail(126, "no memory for the program");
	if (s->p_filesz)
		map_zeros(image, s, real);
	mappings_add(start, whole, asked);
	if (s->p_filesz && asked & PROT_EXEC && !(asked & PROT_WRITE))
		persist_mapped(start, bytes, image->fd, s->p_offset & -PAGE);
	if (asked & PROT_EXEC || engine_wants(LINK_WANT_DATA_MAPS) || opened_records_want_data())
		record_mmap(start, asked & PROT_EXEC ? in_pages(bytes) : whole, s->p_offset & -PAGE,
			    asked, MAP_PRIVATE, image->fd, NULL);
}

/* Returns the place of the first page of a position-independent image. */
static uint64_t place_of(const struct image *image, bool first)
{
	uint64_t bytes = image->high - image->low, at;

	at = first ? place_program(bytes, image->align) : place_library(bytes, image->align);
	if (!at)
		at = place_anywhere(bytes, image->align);
	if (!at)
		engine_fail(126, "no room in memory for the program");
	return at;
}

/* Calls `what` for the pages of each segment of an image with fixed addresses, once. */
static void each_segment(const struct image *image, void (*what)(uint64_t start, uint64_t end))
{
	uint64_t done = 0;

	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *s = &image->segment[i];
		uint64_t start = s->p_vaddr & -PAGE;

		if (s->p_type != PT_LOAD || !s->p_memsz)
			continue;
		start = start < done ? done : start;
		done = segment_end(s) > done ? segment_end(s) : done;
		if (start < done)
			what(start, done);
	}
}

static void check_free(uint64_t start, uint64_t end)
{
	if (!place_is_free(start, end - start))
		engine_fail(126, "the addresses that the program is linked for are taken");
}

static void image_map(struct image *image, bool first)
{
	if (image->header.e_type == ET_DYN)
		image->bias = place_of(image, first) - image->low;
	else
		each_segment(image, check_free);
	for (unsigned i = 0; i < image->header.e_phnum; i++)
		if (image->segment[i].p_type == PT_LOAD && image->segment[i].p_memsz)
			map_segment(image, &image->segment[i]);
	syscall1(__NR_close, image->fd);
}

static uint64_t program_headers(const struct image *image)
{
	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *s = &image->segment[i];

		if (s->p_type == PT_LOAD && image->header.e_phoff >= s->p_offset &&
		    image->header.e_phoff < s->p_offset + s->p_filesz)
			return image->bias + s->p_vaddr + image->header.e_phoff - s->p_offset;
	}
	return 0;
}

/* Sets the parts as Linux computes them: the code's start is that of the first executable
 * segment, the data's that of the last segment. */
static void find_parts(const struct image *image, struct loaded *out)
{
	out->code_start = UINT64_MAX;
	out->code_end = out->data_start = out->data_end = 0;
	for (unsigned i = 0; i < image->header.e_phnum; i++) {
		const Elf64_Phdr *s = &image->segment[i];
		uint64_t start = image->bias + s->p_vaddr, end = start + s->p_filesz;

		if (s->p_type != PT_LOAD)
			continue;
		if (s->p_flags & PF_X && start < out->code_start)
			out->code_start = start;
		if (s->p_flags & PF_X && end > out->code_end)
			out->code_end = end;
		if (start > out->data_start)
			out->data_start = start;
		if (end > out->data_end)
			out->data_end = end;
	}
}

static struct image program;

void load_open(const char *path, int fd)
{
	image_open(&program, path, fd);
	file_name(program.fd, engine_program_path, sizeof(engine_program_path));
	if (program.header.e_type == ET_EXEC)
		each_segment(&program, places_reserve);
	cache_place();
}

void load_program(struct loaded *out)
{
	static struct image interpreter;

	places_release();
	blocks_start();
	image_map(&program, true);
	step_start();
	load_stack_executable = program.stack_executable;
	out->program_entry = program.bias + program.header.e_entry;
	out->entry = out->program_entry;
	out->phdr = program_headers(&program);
	out->phnum = program.header.e_phnum;
	out->phent = sizeof(Elf64_Phdr);
	find_parts(&program, out);
	out->interpreter = 0;
	if (!program.interpreter[0])
		return;
	image_open(&interpreter, program.interpreter, -1);
	image_map(&interpreter, false);
	out->interpreter = interpreter.bias;
	out->entry = interpreter.bias + interpreter.header.e_entry;
}

void load_vdso(uint64_t base)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *s = (const Elf64_Phdr *)(base + h->e_phoff);

	for (unsigned i = 0; i < h->e_phnum; i++)
		if (s[i].p_type == PT_LOAD) {
			uint64_t bytes = in_pages(s[i].p_memsz);

			mappings_add(base, bytes, PROT_READ | PROT_EXEC);
			record_mmap(base, bytes, 0, PROT_READ | PROT_EXEC, MAP_PRIVATE, -1,
				    "[vdso]");
		}
}
