/* SPDX-License-Identifier: MIT */
/*
 * exec.c: the program executes another one (execve(2), execveat(2)): the engine's image
 * is executed in its place, with the shared memory and what it is to run as descriptors, as
 * the tool does at the start.
 *
 * What would make execve(2) fail is found out first, as the kernel would: the program goes on then.
 * A file that gives other rights (set-user-ID and its kind) is not observed, as with perf:
 * it runs natively, and what it does counts nowhere.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <elf.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/resource.h>

#include "descriptors.h"
#include "engine.h"
#include "files.h"
#include "filters.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

#define LINE	     256	 /* the kernel looks no further for the end of a `#!` line */
#define DEPTH	     5		 /* scripts whose interpreter is a script */
#define DESCRIPTORS  4		 /* image, shared memory, request, program */
#define WORDS_BEFORE (2 * DEPTH) /* interpreters and their arguments */

enum what { OBSERVED, PRIVILEGED };

struct target {
	char file[LINK_PATH_MAX];    /* as the program says */
	char program[LINK_PATH_MAX]; /* the ELF file */
	char lines[DEPTH][LINE + 1];
	const char *before[WORDS_BEFORE]; /* of argv, the last first */
	unsigned words;
	enum what what;
	long fd; /* of the ELF file */
	char scratch[LINK_PATH_MAX];
};

/* --- the program's strings --- */

static long copy_string(uint64_t from, char *to, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++, from++) {
		if ((!i || !(from & 4095)) && !memory_readable(from, 1))
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

/* The path as the kernel would name the file in AT_EXECFN. */
static long target_path(struct target *t, const struct syscall_arguments *c)
{
	bool at = c->nr == __NR_execveat;
	char *name = t->scratch;
	long n = copy_string(c->a[at], name, sizeof(t->scratch));
	struct text text;

	if (n < 0)
		return n;
	if (!n && !(at && c->a[4] & AT_EMPTY_PATH))
		return -ENOENT;
	text_start(&text, t->file, sizeof(t->file));
	if (at && name[0] != '/' && (int)c->a[0] != AT_FDCWD) {
		path_of_fd(&text, (uint32_t)c->a[0]);
		if (n)
			text_add(&text, "/");
	}
	text_add(&text, name);
	return 0;
}

/* --- the file --- */

/* Would it run with other rights? */
static bool changes_rights(const char *path, const uint64_t *stat)
{
	uint32_t mode = (uint32_t)stat[3], uid = (uint32_t)(stat[3] >> 32);
	uint32_t gid = (uint32_t)stat[4];
	char attribute[32];

	if (mode & 04000 && uid != (uint32_t)syscall1(__NR_geteuid, 0))
		return true;
	if ((mode & 02010) == 02010 && gid != (uint32_t)syscall1(__NR_getegid, 0))
		return true;
	return syscall4(__NR_getxattr, (long)path, (long)"security.capability", (long)attribute,
			sizeof(attribute)) > 0;
}

static long open_file(struct target *t, const char *path)
{
	uint64_t stat[18] = {0};
	long fd = syscall4(__NR_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0), result;

	result = syscall4(__NR_faccessat2, AT_FDCWD, (long)path, 1 /* X_OK */, AT_EACCESS);
	/* Linux before 5.8, or a filter of system calls that does not know it. */
	if (result == -ENOSYS)
		result = syscall3(__NR_faccessat, AT_FDCWD, (long)path, 1);
	if (fd == -EACCES && !result)
		engine_unsupported("the program executes a file that it may not read, which "
				   "cannot be followed");
	if (is_error(fd))
		return fd;
	syscall2(__NR_fstat, fd, (long)stat);
	if (((uint32_t)stat[3] & 0170000) != 0100000)
		result = -EACCES;
	if (!result && changes_rights(path, stat))
		t->what = PRIVILEGED;
	if (!result)
		return fd;
	syscall1(__NR_close, fd);
	return result;
}

/* The interpreter of an ELF file must be there. */
static long check_interpreter(struct target *t, int fd, const Elf64_Phdr *segment)
{
	char *name = t->scratch;
	long result;

	if (segment->p_filesz < 2 || segment->p_filesz > sizeof(t->scratch) ||
	    syscall4(__NR_pread64, fd, (long)name, (long)segment->p_filesz,
		     (long)segment->p_offset) != (long)segment->p_filesz ||
	    name[segment->p_filesz - 1])
		return -ENOEXEC;
	result = syscall4(__NR_openat, AT_FDCWD, (long)name, O_RDONLY | O_CLOEXEC, 0);
	if (is_error(result))
		return result;
	syscall1(__NR_close, result);
	return 0;
}

static long check_elf(struct target *t, int fd, const char *start)
{
	Elf64_Ehdr h;

	memcpy(&h, start, sizeof(h));
	if (h.e_ident[EI_CLASS] == ELFCLASS32 &&
	    (h.e_machine == EM_386 || h.e_machine == EM_X86_64))
		engine_unsupported("the program executes a 32-bit program, which cannot be run");
	if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_machine != EM_X86_64 ||
	    (h.e_type != ET_EXEC && h.e_type != ET_DYN) || h.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		Elf64_Phdr segment;

		if (syscall4(__NR_pread64, fd, (long)&segment, sizeof(segment),
			     (long)(h.e_phoff + i * sizeof(segment))) != sizeof(segment))
			return -ENOEXEC;
		if (segment.p_type == PT_INTERP)
			return check_interpreter(t, fd, &segment);
	}
	return 0;
}

/* "#! interpreter [argument]": the words before the script's own name. */
static long take_line(struct target *t, char *line)
{
	char *at = line + 2, *end = at, *argument;

	while (*end && *end != '\n')
		end++;
	*end = 0;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = 0;
	while (*at == ' ' || *at == '\t')
		at++;
	if (!*at)
		return -ENOEXEC;
	argument = at;
	while (*argument && *argument != ' ' && *argument != '\t')
		argument++;
	if (*argument) {
		*argument++ = 0;
		while (*argument == ' ' || *argument == '\t')
			argument++;
		t->before[t->words++] = argument;
	}
	t->before[t->words++] = at;
	return 0;
}

/* Find the ELF file; t->program is what is looked at. */
static long find_program(struct target *t)
{
	for (unsigned depth = 0; depth < DEPTH; depth++) {
		char *line = t->lines[depth];
		long fd = open_file(t, t->program), result;
		struct text text;

		if (is_error(fd))
			return fd;
		memset(line, 0, LINE + 1);
		syscall4(__NR_pread64, fd, (long)line, LINE, 0);
		if (!memcmp(line, ELFMAG, SELFMAG)) {
			result = check_elf(t, (int)fd, line);
			if (result)
				syscall1(__NR_close, fd);
			else
				t->fd = fd;
			return result;
		}
		syscall1(__NR_close, fd);
		if (line[0] != '#' || line[1] != '!')
			return -ENOEXEC;
		result = take_line(t, line);
		if (result)
			return result;
		text_start(&text, t->program, sizeof(t->program));
		text_add(&text, t->before[t->words - 1]);
	}
	return -ELOOP;
}

/* --- the next image --- */

/* A name that stands for a descriptor may not last. */
static bool is_nameless(const struct target *t)
{
	return !memcmp(t->program, "/dev/fd/", 8) || !memcmp(t->program, "/proc/", 6);
}

static long make_request(const struct target *t, int base)
{
	int64_t program = is_nameless(t) ? base + LINK_PROGRAM_OFFSET : -1;
	int64_t keep = descriptors_kept() >= 0;
	uint64_t magic = LINK_EXEC_MAGIC;
	long fd = syscall2(__NR_memfd_create, (long)"softpmu-exec", 1 /* MFD_CLOEXEC */);

	if (is_error(fd))
		return fd;
	syscall3(__NR_write, fd, (long)&magic, sizeof(magic));
	syscall3(__NR_write, fd, (long)&program, sizeof(program));
	syscall3(__NR_write, fd, (long)&keep, sizeof(keep));
	syscall3(__NR_write, fd, (long)t->file, sizeof(t->file));
	syscall3(__NR_write, fd, (long)t->program, sizeof(t->program));
	return fd;
}

static int hand_down(const struct target *t)
{
	int base = descriptors_find(DESCRIPTORS),
	    wanted = is_nameless(t) ? DESCRIPTORS : DESCRIPTORS - 1;
	long from[DESCRIPTORS] = {descriptors_image(), descriptors_link(), make_request(t, base),
				  t->fd};

	for (int i = 0; i < wanted; i++) {
		if (is_error(from[i]) || base < 0)
			engine_unsupported("the memory of the run cannot be handed to the program "
					   "that is executed");
		syscall3(__NR_dup3, from[i], base + i, 0);
	}
	for (int i = 0; i < DESCRIPTORS; i++)
		syscall1(__NR_close, from[i]);
	return base;
}

/* argv with a script's interpreter in place of its name; NULL: it cannot be read. */
static const uint64_t *arguments(const struct target *t, uint64_t argv, uint64_t *bytes)
{
	const uint64_t *old = (const uint64_t *)argv;
	uint64_t count = 0, n = 0, *words;

	*bytes = 0;
	if (!t->words)
		return old; /* the kernel reads it */
	while (argv && memory_readable((uint64_t)(old + count), 8) && old[count])
		count++;
	if (argv && !memory_readable((uint64_t)(old + count), 8))
		return NULL;
	*bytes = (t->words + count + 2) * 8;
	words = engine_memory(*bytes);
	for (unsigned w = t->words; w; w--)
		words[n++] = (uint64_t)t->before[w - 1];
	words[n++] = (uint64_t)t->file;
	for (uint64_t i = 1; i < count; i++)
		words[n++] = old[i];
	return words;
}

static void publish_thread(void)
{
	counting_publish();
	if (current->tid != current->pid)
		ring_end();
}

/* It lives on after all. */
static void revive_thread(void)
{
	if (current->tid != current->pid)
		ring_begin(current->pid, current->pid);
}

/* The counts of all threads of the process, which stand still then, are known to the tool. */
static void publish_process(void)
{
	engine_lock();
	threads_stop();
	threads_each_other(publish_thread);
	counting_publish();
}

static void revive_process(void)
{
	threads_each_other(revive_thread);
	threads_go();
	engine_unlock();
}

/* Other processes, which share the memory, go on in it. */
static struct context *leave_memory(void)
{
	struct context *own = threads_take_out();

	threads_go();
	engine_unlock();
	return own;
}

static void return_to_memory(struct context *own)
{
	engine_lock();
	threads_put_back(own);
	threads_stop();
}

/* Everything is known to the tool before this image, and with it all threads but this one, is
 * gone.  A borrower leaves its parent's threads alone. */
static long execute(long fd, const char *path, uint64_t argv, uint64_t envp, int flags)
{
	bool alone = current->borrowed || !current->observed, shared = !alone && threads_shared();
	struct context *own = NULL;
	long result;

	if (alone)
		counting_drain();
	else
		publish_process();
	if (shared)
		own = leave_memory();
	signals_hand_over();
	current->left = true;
	if (alone || shared)
		thread_unasked();
	result = syscall6(__NR_execveat, fd, (long)path, (long)argv, (long)envp, flags, 0);
	if (alone || shared)
		thread_inside();
	current->left = false;
	signals_take_over();
	if (shared)
		return_to_memory(own);
	if (!alone)
		revive_process();
	return result;
}

/* Without the engine: it is over for the tool. */
static long execute_unobserved(const struct syscall_arguments *c, uint64_t argv, uint64_t envp)
{
	bool at = c->nr == __NR_execveat, first = children_is_first();
	long result;

	if (first)
		__atomic_store_n(&engine_link->state, LINK_EXITED, __ATOMIC_RELEASE);
	else
		children_count(-1);
	result = execute(at ? (int)c->a[0] : AT_FDCWD, (const char *)c->a[at], argv, envp,
			 at ? (int)c->a[4] : 0);
	if (first)
		__atomic_store_n(&engine_link->state, LINK_RUNNING, __ATOMIC_RELEASE);
	else
		children_count(1);
	return result;
}

/* The program is found: t->fd. */
static long exec_observed(struct target *t, uint64_t argv, uint64_t envp)
{
	const uint64_t *words;
	uint64_t bytes;
	long result;
	int base;

	words = arguments(t, argv, &bytes);
	if (!words && t->words) {
		syscall1(__NR_close, t->fd);
		return -EFAULT;
	}
	base = hand_down(t);
	result = execute(base, "", (uint64_t)words, envp, AT_EMPTY_PATH);
	for (int i = 0; i < DESCRIPTORS; i++)
		syscall1(__NR_close, base + i);
	if (bytes)
		engine_release((void *)(uint64_t)words, bytes);
	return result;
}

static long find_and_run(struct target *t, const struct syscall_arguments *c)
{
	bool at = c->nr == __NR_execveat;
	uint64_t argv = c->a[1 + at], envp = c->a[2 + at];
	long result = target_path(t, c);

	if (result)
		return result;
	memcpy(t->program, files_names_own_image((uint64_t)t->file) ? program_path : t->file,
	       sizeof(t->program));
	result = find_program(t);
	if (result)
		return result;
	if (t->what == PRIVILEGED || !current->observed) {
		syscall1(__NR_close, t->fd);
		return execute_unobserved(c, argv, envp);
	}
	return exec_observed(t, argv, envp);
}

long exec_run(const struct syscall_arguments *c)
{
	struct target *t;
	long result;

	if (current->pending)
		return SYSCALL_NOT_BEGUN;
	result = filters_ask_exec(c->nr);
	if (result != -EFAULT)
		return result;
	t = engine_memory(sizeof(*t));
	result = find_and_run(t, c);
	engine_release(t, sizeof(*t));
	return result;
}

/* --- the beginning of an image --- */

const struct link_exec *exec_request(int fd)
{
	static struct link_exec request;

	if (syscall4(__NR_pread64, fd, (long)&request, sizeof(request), 0) != sizeof(request) ||
	    request.magic != LINK_EXEC_MAGIC)
		return NULL;
	syscall1(__NR_close, fd);
	return &request;
}
