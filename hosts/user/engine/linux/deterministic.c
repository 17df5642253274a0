/* SPDX-License-Identifier: MIT */
/*
 * deterministic.c: makes each run of a program the same (LINK_WANT_DETERMINISTIC).
 *
 * It removes what the kernel makes different between runs, if counts can depend on it:
 * - The stack, the heap and mappings have fixed places (here and in deterministic_places.c).
 * - The random bytes of the auxiliary vector, and all random numbers that the program reads, come
 *   from one fixed sequence.
 * - There is no vDSO.  Its clock functions take different paths as time passes.  Without it the C
 *   library makes system calls.
 * - A file's time of last access is shown as its time of modification.  Linux changes it once a
 *   day, when a program reads the file or lists the folder.
 *
 * It does not change process numbers, other times and properties of files, other processes, or
 * clocks (except as clocks.c says).
 */
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/mman.h>
#include <linux/stat.h>

#include "engine/linux/deterministic.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"

#define STACK_STEP   UINT64_C(0x10000) /* the environment seldom needs more */
#define STACK_FIRST  UINT64_C(0x20000) /* mapped at the beginning; it grows */
#define STACK_LEFT   UINT64_C(0x80000) /* less than its guard, with what the engine has used */
#define VDSO_DATA    (6 * PAGE)	       /* at most; nothing else is there at the start */
#define VDSO_CODE    (2 * PAGE)
#define RANDOM_BYTES 16 /* of AT_RANDOM */
#define NAME_BYTES   48 /* of AT_PLATFORM */

/* The device numbers of /dev/random and /dev/urandom. */
#define DEVICE_RANDOM  (1u << 8 | 8u)
#define DEVICE_URANDOM (1u << 8 | 9u)

static uint64_t state;

bool deterministic_wanted(void)
{
	return engine_link->want & LINK_WANT_DETERMINISTIC;
}

/* SplitMix64: every step adds a constant and mixes the sum. */
static uint64_t next_word(void)
{
	uint64_t z = __atomic_add_fetch(&state, UINT64_C(0x9e3779b97f4a7c15), __ATOMIC_RELAXED);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void deterministic_random(uint64_t to, uint64_t bytes)
{
	for (uint64_t at = 0; at < bytes; at += 8) {
		uint64_t word = next_word(), left = bytes - at;

		memcpy((void *)(to + at), &word, left < 8 ? left : 8);
	}
}

bool deterministic_is_random_file(int fd)
{
	struct stat stat;

	return file_stat(fd, &stat) && S_ISCHR(stat.st_mode) &&
	       (stat.st_rdev == DEVICE_RANDOM || stat.st_rdev == DEVICE_URANDOM);
}

static void hide_access(struct stat *stat)
{
	stat->st_atime = stat->st_mtime;
	stat->st_atime_nsec = stat->st_mtime_nsec;
}

void deterministic_file_times(const struct syscall_arguments *c)
{
	struct statx *statx;

	switch (c->nr) {
	case __NR_stat:
	case __NR_lstat:
	case __NR_fstat:
		hide_access((struct stat *)c->a[1]);
		break;
	case __NR_newfstatat:
		hide_access((struct stat *)c->a[2]);
		break;
	case __NR_statx:
		statx = (struct statx *)c->a[4];
		if (statx->stx_mask & STATX_MTIME)
			statx->stx_atime = statx->stx_mtime;
	}
}

/* --- the stack --- */

/* The strings that the kernel has put above the auxiliary vector, one after the other:
 * arguments, environment, the file's name. */
struct strings {
	uint64_t start, end;
	uint64_t to; /* their new place */
};

static uint64_t value_of(const uint64_t *aux, uint64_t type)
{
	for (; *aux; aux += 2)
		if (*aux == type)
			return aux[1];
	return 0;
}

static struct strings find_strings(const uint64_t *stack, const uint64_t *aux)
{
	const uint64_t *environment = stack + 1 + stack[0] + 1;
	uint64_t name = value_of(aux, AT_EXECFN), start = name;

	if (*environment)
		start = *environment;
	if (stack[0])
		start = stack[1];
	if (!name) /* this kernel does not give the name, so nothing is known to be there */
		return (struct strings){start, start, 0};
	return (struct strings){start, name + strlen((const char *)name) + 1, 0};
}

static uint64_t moved(const struct strings *s, uint64_t address)
{
	return address >= s->start && address < s->end ? address - s->start + s->to : address;
}

/* Puts the random bytes and the platform's name below the strings. */
static void fix_auxiliary(uint64_t *aux, const struct strings *s)
{
	uint64_t random = s->to - RANDOM_BYTES, name = random - NAME_BYTES;
	struct text t;

	for (; *aux; aux += 2) {
		aux[1] = *aux == AT_EXECFN ? moved(s, aux[1]) : aux[1];
		if (*aux == AT_SYSINFO_EHDR)
			*aux = AT_IGNORE;
		if (*aux == AT_PLATFORM) {
			text_start(&t, (char *)name, NAME_BYTES);
			text_add(&t, (const char *)aux[1]);
			aux[1] = name;
		}
		if (*aux == AT_RANDOM) {
			deterministic_random(random, RANDOM_BYTES);
			aux[1] = random;
		}
	}
}

static void map_stack(uint64_t bytes)
{
	uint64_t room = in_pages(bytes + STACK_FIRST);

	if (is_error(sys_map(DETERMINISTIC_STACK_END - room, room, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_STACK |
				     MAP_FIXED_NOREPLACE,
			     -1, 0)))
		engine_fail(126, "no memory for the program's stack");
}

static struct {
	uint64_t start, end;
} left[2]; /* what the kernel has placed at random */

void deterministic_leave(void)
{
	for (unsigned i = 0; i < 2 && left[i].start; i++)
		syscall2(__NR_munmap, (long)left[i].start, (long)(left[i].end - left[i].start));
}

/* Notes the stack, whose start the kernel does not report, and the vDSO with the data below it. */
static void note_left(const uint64_t *stack, uint64_t strings_end, uint64_t vdso)
{
	left[0].start = ((uint64_t)stack & -PAGE) - STACK_LEFT;
	left[0].end = in_pages(strings_end + 8);
	left[1].start = vdso ? vdso - VDSO_DATA : 0;
	left[1].end = vdso + VDSO_CODE;
}

/* Pointers and strings begin at round addresses, whatever their sizes are. */
uint64_t *deterministic_start(const uint64_t *stack)
{
	const uint64_t *aux = stack + 1 + stack[0] + 1;
	struct strings s;
	uint64_t *to, *at, bytes;

	while (*aux++)
		;
	s = find_strings(stack, aux);
	note_left(stack, s.end, value_of(aux, AT_SYSINFO_EHDR));
	s.to = (DETERMINISTIC_STACK_END - 8 - (s.end - s.start)) & -STACK_STEP;
	for (bytes = (uint64_t)(aux + 2) - (uint64_t)stack; *aux; aux += 2)
		bytes += 16;
	to = (uint64_t *)((s.to - RANDOM_BYTES - NAME_BYTES - bytes) & -STACK_STEP);
	map_stack(DETERMINISTIC_STACK_END - (uint64_t)to);
	memcpy((void *)s.to, (const void *)s.start, s.end - s.start);
	memcpy(to, stack, bytes);
	for (at = to + 1; *at; at++)
		*at = moved(&s, *at);
	for (at++; *at; at++)
		*at = moved(&s, *at);
	fix_auxiliary(at + 1, &s);
	return to;
}
