/* SPDX-License-Identifier: MIT */
/*
 * exec.c: the program executes another one (execve(2), execveat(2)): the engine's image is
 * executed instead.  It gets the shared memory and its request as descriptors, as from the tool
 * at the start.
 *
 * The engine first checks what would make execve(2) fail, as the kernel would.  Then the program
 * continues.
 *
 * Programs that cannot be observed run natively: a file that gives other rights (set-user-ID and
 * its kind, as with perf), a 32-bit program, a program that may not be read.  The tool names the
 * first of them.
 */
#include <asm/errno.h>
#include <asm/unistd.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "engine/count/count.h"
#include "engine/count/flow.h"
#include "engine/count/follow.h"
#include "engine/linux/descriptors.h"
#include "engine/linux/exec.h"
#include "engine/linux/filters.h"
#include "engine/linux/pass_on.h"
#include "engine/memory/access.h"
#include "engine/rt/call.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/filter_chain.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"
#include "engine/signal/signals.h"

#define EXECVE_CHECK 0x10000 /* the kernel only checks the file, or does not know this flag */
#define DESCRIPTORS  4	     /* image, shared memory, request, program */
#define PIPE_BYTES   65536   /* capacity of a pipe by default */

/* --- the next image --- */

/* Returns whether the file is named by a descriptor, which may be closed. */
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

/* Writes the request into a pipe, to which no limit on the size of files applies. */
static long make_request(const struct target *t, int base)
{
	struct link_exec request = {
		.magic = LINK_EXEC_MAGIC,
		.program_fd = is_nameless(t) ? base + LINK_PROGRAM_OFFSET : -1,
		.keep = descriptors_are_kept(),
		.events_on = current->events_on,
		.followed = current->followed,
		.follower = follow_place(),
		.filter_bytes = filter_bytes(filters_installed()),
	};
	int ends[2];
	long result = syscall2(__NR_pipe2, (long)ends, O_CLOEXEC | O_NONBLOCK);
	bool whole;

	if (is_error(result))
		return result;
	if (request.filter_bytes > PIPE_BYTES / 2)
		syscall3(__NR_fcntl, ends[1], F_SETPIPE_SZ,
			 (long)(request.filter_bytes + PIPE_BYTES));
	whole = put(ends[1], &request, sizeof(request)) &&
		filter_write(filters_installed(), ends[1]) &&
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

static void restore_state(const struct target *t, int base)
{
	for (int i = 0; i < descriptors_of(t); i++)
		syscall1(__NR_close, base + i);
}

/* Hands the descriptors over one after the other, because few may be free.  Returns the first;
 * -1: there are too few. */
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
	restore_state(t, base);
	return -1;
}

/* Returns argv with a script's interpreter in place of its name; NULL: argv cannot be read. */
static const uint64_t *arguments(const struct target *t, uint64_t argv, uint64_t *bytes)
{
	const uint64_t *old = (const uint64_t *)argv;
	uint64_t count = 0, n = 0, *words;

	*bytes = 0;
	if (!t->words)
		return old; /* the kernel reads it */
	while (argv && access_readable((uint64_t)(old + count), 8) && old[count])
		count++;
	if (argv && !access_readable((uint64_t)(old + count), 8))
		return NULL;
	*bytes = (t->words + count + 2) * 8;
	words = heap_allocate(*bytes);
	for (unsigned w = t->words; w; w--)
		words[n++] = (uint64_t)t->before[w - 1];
	words[n++] = (uint64_t)t->file;
	for (uint64_t i = 1; i < count; i++)
		words[n++] = old[i];
	return words;
}

static void publish_thread(void)
{
	flow_end();
	counting_publish();
	follow_end();
	if (current->tid != current->pid)
		record_end();
}

/* Undoes the preparation, because execve has failed. */
static void revive_thread(void)
{
	follow_begin();
	if (current->tid != current->pid)
		record_begin(current->pid, current->pid, 0);
	flow_begin();
}

/* Reports the counts of all threads of the process, which are stopped. */
static void publish_process(void)
{
	lock_take();
	lock_stop_others();
	threads_each_other(publish_thread);
	flow_end();
	counting_publish();
}

static void revive_process(void)
{
	threads_each_other(revive_thread);
	lock_resume_others();
	lock_release();
}

/* Leaves the memory, in which other processes continue. */
static struct context *leave_memory(void)
{
	struct context *own = threads_take_out();

	lock_resume_others();
	lock_release();
	return own;
}

static void return_to_memory(struct context *own)
{
	lock_take();
	threads_put_back(own);
	lock_stop_others();
}

/* Reports everything to the tool before this image, and all threads except this one, end.  A
 * vfork child does not end its parent's threads.  An observed program continues to count the events
 * that were opened on the thread. */
static long execute(long fd, const char *path, uint64_t argv, uint64_t envp, int flags,
		    bool observed)
{
	bool alone = current->is_vfork_child || !current->observed,
	     shared = !alone && threads_shared();
	struct context *own = NULL;
	long result;

	if (alone) {
		flow_end();
		counting_drain();
	} else {
		publish_process();
	}
	if (shared)
		own = leave_memory();
	if (observed)
		follow_execute();
	else
		follow_end();
	actions_hand_over();
	current->left = true;
	if (alone || shared)
		lock_unasked();
	result = sys_call6(__NR_execveat, fd, (long)path, (long)argv, (long)envp, flags, 0);
	if (alone || shared)
		lock_inside();
	current->left = false;
	actions_take_over();
	follow_begin();
	if (shared)
		return_to_memory(own);
	if (!alone)
		revive_process();
	flow_begin();
	return result;
}

/* Executes the program without the engine.  For the tool the process has ended. */
static long execute_unobserved(const struct syscall_arguments *c, uint64_t argv, uint64_t envp)
{
	bool at = c->nr == __NR_execveat, first = engine_is_first_process();
	long result;

	if (first)
		__atomic_store_n(&engine_link->state, LINK_EXITED, __ATOMIC_RELEASE);
	else
		engine_count_processes(-1);
	result = execute(at ? (int)c->a[0] : AT_FDCWD, (const char *)c->a[at], argv, envp,
			 at ? (int)c->a[4] : 0, false);
	if (first)
		__atomic_store_n(&engine_link->state, LINK_RUNNING, __ATOMIC_RELEASE);
	else
		engine_count_processes(1);
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

/* Executes the program, which has been found: t->fd. */
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
		result = exec_native(t, c, exec_too_few_descriptors);
	} else {
		result = execute(base, "", (uint64_t)words, c->a[2 + at], AT_EMPTY_PATH, true);
		restore_state(t, base);
	}
	if (bytes)
		heap_release((void *)(uint64_t)words, bytes);
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
		return call_not_begun();
	if (c->nr == __NR_execveat && c->a[4] & EXECVE_CHECK)
		return pass_on(c);
	result = filters_ask_exec(c->nr);
	if (result != -EFAULT)
		return result;
	t = heap_allocate(sizeof(*t));
	result = find_and_run(t, c);
	heap_release(t, sizeof(*t));
	return result;
}

/* --- the beginning of an image --- */

/* Reads this many bytes, or fewer at the end of the file.  Returns how many. */
static size_t get(int fd, uint8_t *to, size_t bytes)
{
	size_t got = 0;
	long n;

	do {
		n = syscall3(__NR_read, fd, (long)(to + got), (long)(bytes - got));
		if (!is_error(n))
			got += (size_t)n;
	} while (n > 0 && got < bytes);
	return got;
}

const struct link_exec *exec_request(int fd, struct filter **filters)
{
	static union {
		struct link_exec request;
		uint8_t bytes[sizeof(struct link_exec) + 2 * LINK_PATH_MAX];
	} all;

	if (get(fd, all.bytes, sizeof(all.request)) < sizeof(all.request) ||
	    all.request.magic != LINK_EXEC_MAGIC)
		return NULL;
	*filters = filter_read(fd, all.request.filter_bytes);
	get(fd, all.bytes + sizeof(all.request), 2 * LINK_PATH_MAX);
	syscall1(__NR_close, fd);
	return &all.request;
}

const char *exec_program(const struct link_exec *request)
{
	return request->names + strlen(request->names) + 1;
}
