/* SPDX-License-Identifier: MIT */
/*
 * exec_find.c: finds the file of execve(2) or execveat(2), and what the kernel would refuse, in
 * the kernel's order.  So the program continues where it does natively.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <elf.h>
#include <linux/fcntl.h>
#include <linux/stat.h>

#include "engine/linux/exec.h"
#include "engine/linux/files.h"
#include "engine/memory/access.h"
#include "engine/rt/call.h"
#include "engine/rt/engine.h"
#include "engine/rt/file.h"
#include "engine/rt/sys.h"

#define MAY_EXECUTE 1	     /* X_OK of access(2), which no header of the kernel has */
#define UNREADABLE  (-4096L) /* a file that may be executed but not read */

const char exec_too_few_descriptors[] = "too few descriptors are free";

/* --- the program's strings --- */

static long copy_string(uint64_t from, char *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++, from++) {
		if ((!i || !(from % PAGE)) && !access_readable(from, 1))
			return -EFAULT;
		to[i] = *(const char *)from;
		if (!to[i])
			return (long)i;
	}
	return -ENAMETOOLONG;
}

static void path_of_fd(struct text *t, uint64_t fd)
{
	text_add(t, "/dev/fd/");
	text_add_number(t, fd);
}

/* Stores the path by which the kernel would name the file in AT_EXECFN. */
static long target_path(struct target *t, const struct syscall_arguments *c)
{
	bool at = c->nr == __NR_execveat;
	char *name = t->name;
	long n = copy_string(c->a[at], name, sizeof(t->name)), closes;
	struct text text;

	t->folder = AT_FDCWD;
	if (n < 0)
		return n;
	if (!n && !(at && c->a[4] & AT_EMPTY_PATH))
		return -ENOENT;
	if (at && c->a[4] & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	t->nofollow = at && c->a[4] & AT_SYMLINK_NOFOLLOW;
	text_start(&text, t->file, sizeof(t->file));
	if (at && name[0] != '/' && (int)c->a[0] != AT_FDCWD) {
		t->folder = (int)c->a[0];
		closes = syscall2(__NR_fcntl, t->folder, F_GETFD);
		if (is_error(closes))
			return closes;
		t->inaccessible = closes & FD_CLOEXEC;
		path_of_fd(&text, (uint32_t)c->a[0]);
		if (n)
			text_add(&text, "/");
	}
	text_add(&text, name);
	if (!n) { /* the descriptor's own file, by its name in /dev/fd */
		t->folder = AT_FDCWD;
		memcpy(t->name, t->file, sizeof(t->name));
		t->nofollow = false;
	}
	return 0;
}

/* --- the file --- */

/* Returns true if the program would run with other rights. */
static bool changes_rights(long fd, const struct stat *stat)
{
	const uint32_t as_group = S_ISGID | S_IXGRP;
	char attribute[32];

	if (stat->st_mode & S_ISUID && stat->st_uid != (uint32_t)syscall1(__NR_geteuid, 0))
		return true;
	if ((stat->st_mode & as_group) == as_group &&
	    stat->st_gid != (uint32_t)syscall1(__NR_getegid, 0))
		return true;
	return syscall4(__NR_fgetxattr, fd, (long)"security.capability", (long)attribute,
			sizeof(attribute)) > 0;
}

/* Returns 0 if the kernel would execute the file: a regular file, with the right to execute it.
 * The check does not open it, because opening a FIFO would wait. */
static long may_execute(int folder, const char *name, int nofollow, struct stat *stat)
{
	long fd = syscall4(__NR_openat, folder, (long)name, O_PATH | O_CLOEXEC | nofollow, 0);
	long result;

	if (is_error(fd))
		return fd;
	if (!file_stat((int)fd, stat))
		stat->st_mode = 0;
	syscall1(__NR_close, fd);
	if (S_ISLNK(stat->st_mode))
		return -ELOOP;
	if (!S_ISREG(stat->st_mode))
		return -EACCES;
	result = syscall4(__NR_faccessat2, folder, (long)name, MAY_EXECUTE, AT_EACCESS);
	/* Linux before 5.8, or a filter of system calls that does not know the call. */
	if (result == -ENOSYS)
		result = syscall3(__NR_faccessat, folder, (long)name, MAY_EXECUTE);
	return result;
}

/* Returns why the file cannot be observed although the kernel would execute it.  NULL: the call
 * fails with this error. */
static const char *unopened(long error)
{
	if (error == UNREADABLE)
		return "the file cannot be read";
	return error == -EMFILE ? exec_too_few_descriptors : NULL;
}

static long open_file(int folder, const char *name, int nofollow, struct stat *stat)
{
	long result = may_execute(folder, name, nofollow, stat);

	if (result)
		return result;
	result = syscall4(__NR_openat, folder, (long)name,
			  O_RDONLY | O_CLOEXEC | O_NONBLOCK | nofollow, 0);
	return result == -EACCES ? UNREADABLE : result;
}

/* Checks that the interpreter of an ELF file exists. */
static long check_interpreter(struct target *t, int fd, const Elf64_Phdr *segment)
{
	char *name = t->scratch;
	struct stat stat;
	long result;

	if (segment->p_filesz < 2 || segment->p_filesz > sizeof(t->scratch) ||
	    syscall4(__NR_pread64, fd, (long)name, (long)segment->p_filesz,
		     (long)segment->p_offset) != (long)segment->p_filesz ||
	    name[segment->p_filesz - 1])
		return -ENOEXEC;
	result = open_file(AT_FDCWD, name, 0, &stat);
	if (result >= 0) {
		syscall1(__NR_close, result);
		return 0;
	}
	t->why = unopened(result);
	return t->why ? 0 : result;
}

extern const char __ehdr_start[]; /* of the engine's image */

/* Returns whether this segment belongs where the next image of the engine would be.  Another
 * softpmu's engine is such a program. */
static bool is_in_place_of_engine(const Elf64_Phdr *segment)
{
	return segment->p_type == PT_LOAD && segment->p_vaddr < heap_end() &&
	       segment->p_vaddr + segment->p_memsz > (uint64_t)__ehdr_start;
}

static long check_elf(struct target *t, int fd, const char *start)
{
	Elf64_Ehdr h;

	memcpy(&h, start, sizeof(h));
	if (h.e_ident[EI_CLASS] == ELFCLASS32 &&
	    (h.e_machine == EM_386 || h.e_machine == EM_X86_64)) {
		t->why = "a 32-bit program";
		return 0;
	}
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_X86_64 ||
	    (h.e_type != ET_EXEC && h.e_type != ET_DYN) || h.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr segment;

		if (syscall4(__NR_pread64, fd, (long)&segment, sizeof(segment),
			     (long)(h.e_phoff + i * sizeof(segment))) != sizeof(segment))
			return -ENOEXEC;
		if (h.e_type == ET_EXEC && is_in_place_of_engine(&segment)) {
			t->why = "softpmu itself is at the addresses that it is linked for";
			return 0;
		}
		if (segment.p_type == PT_INTERP)
			return check_interpreter(t, fd, &segment);
	}
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Reads "#! interpreter [argument]": the words before the script's own name.  The kernel looks at
 * LINE bytes.  If the line does not end there, its name must, and the last byte does not count. */
static long take_line(struct target *t, char *line)
{
	char *at = line + 2, *end = at, *argument;

	while (*end && *end != '\n')
		end++;
	while (is_blank(*at))
		at++;
	argument = at;
	while (argument < end && !is_blank(*argument))
		argument++;
	if (end == line + LINE) {
		if (argument == end)
			return -ENOEXEC;
		end--;
	}
	*end = 0;
	while (end > at && is_blank(end[-1]))
		*--end = 0;
	if (!*at)
		return -ENOEXEC;
	if (*argument) {
		*argument++ = 0;
		while (is_blank(*argument))
			argument++;
		t->before[t->words++] = argument;
	}
	t->before[t->words++] = at;
	return 0;
}

/* Examines the open file.  Returns 0 if it is an ELF file; 1 if it is a script, whose
 * interpreter is in t->program. */
static long look_at(struct target *t, long fd, char *line)
{
	struct text text;
	long result;

	memset(line, 0, LINE + 1);
	syscall4(__NR_pread64, fd, (long)line, LINE, 0);
	if (!memcmp(line, ELFMAG, SELFMAG))
		return check_elf(t, (int)fd, line);
	if (line[0] != '#' || line[1] != '!')
		return -ENOEXEC;
	result = take_line(t, line);
	if (result)
		return result;
	if (t->inaccessible)
		return -ENOENT; /* for the interpreter, which would get its name */
	text_start(&text, t->program, sizeof(t->program));
	text_add(&text, t->before[t->words - 1]);
	return 1;
}

static long find_program(struct target *t)
{
	int folder = t->folder, nofollow = t->nofollow ? O_NOFOLLOW : 0;
	const char *name = t->name;

	for (unsigned depth = 0; depth < DEPTH; depth++) {
		struct stat stat;
		long fd = open_file(folder, name, nofollow, &stat), result;

		if (fd < 0) {
			t->why = unopened(fd);
			return t->why ? 0 : fd;
		}
		if (changes_rights(fd, &stat))
			t->why = "set-user-ID, set-group-ID or capabilities";
		result = look_at(t, fd, t->lines[depth]);
		if (!result && !t->why) {
			t->fd = fd;
			return 0;
		}
		syscall1(__NR_close, fd);
		if (result <= 0)
			return result;
		folder = AT_FDCWD;
		name = t->program;
		nofollow = 0;
	}
	return -ELOOP;
}

long exec_find(struct target *t, const struct syscall_arguments *c)
{
	long result = target_path(t, c);

	if (result)
		return result;
	if (files_names_own_image((uint64_t)t->file))
		memcpy(t->name, engine_program_path, sizeof(t->name));
	memcpy(t->program, t->folder == AT_FDCWD ? t->name : t->file, sizeof(t->program));
	return find_program(t);
}
