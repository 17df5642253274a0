/* SPDX-License-Identifier: MIT */
/*
 * exec.c: the program executes another one (execve(2), execveat(2)): the engine's image
 * is executed in its place, with the shared memory and what it is to run as descriptors, as
 * the tool does at the start.
 *
 * What would make execve(2) fail is found out first, as the kernel would: the program goes on then.
 * What cannot be observed runs natively: a file that gives other rights (set-user-ID and its kind,
 * as with perf), a 32-bit program, one that may not be read.  The tool names the first of them.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "descriptors.h"
#include "engine.h"
#include "exec.h"
#include "filters.h"
#include "signals.h"
#include "sys.h"
#include "threads.h"

#define EXECVE_CHECK 0x10000 /* the kernel only checks the file, or knows no such flag */
#define DESCRIPTORS  4	     /* image, shared memory, request, program */

/* --- the next image --- */

/* A name that stands for a descriptor may not last. */
static bool is_nameless(const struct target *t)
{
	return !memcmp(t->program, "/dev/fd/", 8) || !memcmp(t->program, "/proc/", 6);
}

static int descriptors_of(const struct target *t)
{
	return is_nameless(t) ? DESCRIPTORS : DESCRIPTORS - 1;
}

static bool put(long fd, const void *from, size_t bytes)
{
	return syscall3(__NR_write, fd, (long)from, (long)bytes) == (long)bytes;
}

/* In a pipe, as a limit on the size of files does not matter to it. */
static long make_request(const struct target *t, int base)
{
	struct link_exec request = {
		.magic = LINK_EXEC_MAGIC,
		.program_fd = is_nameless(t) ? base + LINK_PROGRAM_OFFSET : -1,
		.keep = descriptors_kept() >= 0,
		.filtered = filters_installed(),
	};
	int ends[2];
	long result = syscall2(__NR_pipe2, (long)ends, O_CLOEXEC | O_NONBLOCK);
	bool whole;

	if (is_error(result))
		return result;
	whole = put(ends[1], &request, sizeof(request)) &&
		put(ends[1], t->file, strlen(t->file) + 1) &&
		put(ends[1], t->program, strlen(t->program) + 1);
	syscall1(__NR_close, ends[1]);
	if (whole)
		return ends[0];
	syscall1(__NR_close, ends[0]);
	return -EAGAIN;
}

static bool place(long from, int to)
{
	bool there = !is_error(from) && !is_error(syscall3(__NR_dup3, from, to, 0));

	if (!is_error(from))
		syscall1(__NR_close, from);
	return there;
}

static void take_back(const struct target *t, int base)
{
	for (int i = 0; i < descriptors_of(t); i++)
		syscall1(__NR_close, base + i);
}

/* One after the other, as there may be few free descriptors.  Returns the first, -1: there are too
 * few. */
static int hand_down(struct target *t)
{
	bool nameless = is_nameless(t), good;
	int base;

	if (!nameless) {
		syscall1(__NR_close, t->fd);
		t->fd = -1;
	}
	base = descriptors_find(descriptors_of(t));
	if (base < 0)
		return -1;
	good = place(make_request(t, base), base + LINK_EXEC_OFFSET) &&
	       place(descriptors_image(), base) && place(descriptors_link(), base + LINK_FD_OFFSET);
	if (nameless)
		good = place(t->fd, base + LINK_PROGRAM_OFFSET) && good;
	if (good)
		return base;
	take_back(t, base);
	return -1;
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

/* The tool names the first one. */
static void name_unobserved(const struct target *t, const char *why)
{
	struct text text;

	if (engine_link->want & LINK_WANT_STRICT)
		engine_unsupported("the program executes one that cannot be counted (--strict)");
	if (__atomic_fetch_add(&engine_link->natives, 1, __ATOMIC_RELAXED))
		return;
	text_start(&text, engine_link->native, sizeof(engine_link->native));
	text_add(&text, t->file);
	text_add(&text, " (");
	text_add(&text, why);
	text_add(&text, ")");
}

static long exec_native(const struct target *t, const struct syscall_arguments *c, const char *why)
{
	bool at = c->nr == __NR_execveat, named = current->observed;
	long result;

	if (named)
		name_unobserved(t, why);
	result = execute_unobserved(c, c->a[1 + at], c->a[2 + at]);
	if (named)
		__atomic_sub_fetch(&engine_link->natives, 1, __ATOMIC_RELAXED);
	return result;
}

/* The program is found: t->fd. */
static long exec_observed(struct target *t, const struct syscall_arguments *c)
{
	bool at = c->nr == __NR_execveat;
	const uint64_t *words;
	uint64_t bytes;
	long result;
	int base;

	words = arguments(t, c->a[1 + at], &bytes);
	if (!words && t->words) {
		syscall1(__NR_close, t->fd);
		return -EFAULT;
	}
	base = hand_down(t);
	if (base < 0) {
		result = exec_native(t, c, too_few_descriptors);
	} else {
		result = execute(base, "", (uint64_t)words, c->a[2 + at], AT_EMPTY_PATH);
		take_back(t, base);
	}
	if (bytes)
		engine_release((void *)(uint64_t)words, bytes);
	return result;
}

static long find_and_run(struct target *t, const struct syscall_arguments *c)
{
	long result = exec_find(t, c);

	if (result)
		return result;
	if (t->why)
		return exec_native(t, c, t->why);
	if (current->observed)
		return exec_observed(t, c);
	syscall1(__NR_close, t->fd);
	return exec_native(t, c, "");
}

long exec_run(const struct syscall_arguments *c)
{
	struct target *t;
	long result;

	if (current->pending)
		return SYSCALL_NOT_BEGUN;
	if (c->nr == __NR_execveat && c->a[4] & EXECVE_CHECK)
		return syscall_pass_on(c);
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
	static union {
		struct link_exec request;
		uint8_t bytes[sizeof(struct link_exec) + 2 * LINK_PATH_MAX];
	} all;
	size_t bytes = 0;
	long n;

	do {
		n = syscall3(__NR_read, fd, (long)(all.bytes + bytes), (long)(sizeof(all) - bytes));
		if (!is_error(n))
			bytes += (size_t)n;
	} while (n > 0 && bytes < sizeof(all));
	if (bytes < sizeof(all.request) || all.request.magic != LINK_EXEC_MAGIC)
		return NULL;
	syscall1(__NR_close, fd);
	return &all.request;
}

const char *exec_program(const struct link_exec *request)
{
	return request->names + strlen(request->names) + 1;
}
