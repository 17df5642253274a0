/* SPDX-License-Identifier: MIT */
/*
 * launch.c: start the engine in the program's place and drain the ring until
 * the program is gone.
 *
 * The engine gets its image and the shared memory as two neighbouring descriptors
 * with high numbers, and closes both before the program's first instruction.
 * What the shared memory holds is checked before use: a program that runs wild
 * can write to it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <hosts/user/launch.h>

#define TICK_NS	     UINT64_C(100000000) /* the sink's NULL */
#define WAIT_NS	     20000000
#define RECORD_MAX   (64u << 10)
#define RELEASE_STEP (64u << 10) /* bytes after which the engine gets room back */

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

extern const uint8_t engine_image[], engine_image_end[];

const struct spmu_supply launch_supply = {.exact = SPMU_SIGSET_ARCHITECTURAL, .modelled = 0};

struct run {
	struct link *link;
	int link_fd, image_fd;
	pid_t pid;
	const struct launch_request *request;
	uint64_t tail;
	bool damaged;
	/* TSC and clock at the last two looks at the ring: records lie between them */
	struct moment {
		uint64_t tsc, ns;
	} before, now;
	struct sigaction old[NSIG];
	sigset_t old_mask;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A TSC value and the clock's at the same moment: the closest of a few tries. */
static struct moment read_clocks(void)
{
	uint64_t best = UINT64_MAX;
	struct moment moment = {0};

	for (int i = 0; i < 3; i++) {
		uint64_t before = __rdtsc(), ns = now_ns(), after = __rdtsc();

		if (after - before < best) {
			best = after - before;
			moment.tsc = before + best / 2;
			moment.ns = ns;
		}
	}
	return moment;
}

/*
 * The clock's time of a TSC value.  What is drained was recorded between the last two looks, so a
 * straight line between them is as good as the looks, and never runs backwards.
 */
static uint64_t time_of(const struct run *run, uint64_t tsc)
{
	const struct moment *a = &run->before, *b = &run->now;
	uint64_t ticks = b->tsc - a->tsc;

	if (tsc <= a->tsc || b->tsc <= a->tsc)
		return a->ns;
	if (tsc >= b->tsc)
		return b->ns;
	return a->ns + (uint64_t)((unsigned __int128)(tsc - a->tsc) * (b->ns - a->ns) / ticks);
}

static void set_message(struct launch_result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void set_message(struct launch_result *result, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&result->message, format, arguments) < 0)
		result->message = NULL;
	va_end(arguments);
}

/* --- futexes: shared between processes ------------------------------------- */

static void futex_wait(uint32_t *word, uint32_t expected)
{
	const struct timespec timeout = {.tv_nsec = WAIT_NS};

	syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* --- signals --------------------------------------------------------------- */

/* For the handlers; one program runs at a time. */
static struct link *signal_link;
static volatile pid_t signal_pid;
static volatile sig_atomic_t signal_asked;

/* Bumping the futex ends a wait that has not begun yet, too. */
static void on_child(int number)
{
	(void)number;
	__atomic_add_fetch(&signal_link->head_futex, 1, __ATOMIC_SEQ_CST);
}

/* What the terminal sends reaches the program without us; what only we got is passed on. */
static void on_request(int number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	signal_asked = number;
	if (signal_pid > 0 && info->si_code != SI_KERNEL)
		kill(signal_pid, number);
	errno = error;
}

static const int requests[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

#define REQUESTS (sizeof(requests) / sizeof(requests[0]))

static void take_signals(struct run *run)
{
	struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_NOCLDSTOP};
	struct sigaction request = {.sa_sigaction = on_request,
				    .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &run->old_mask);
	signal_link = run->link;
	signal_pid = 0;
	signal_asked = 0;
	sigaction(SIGCHLD, &child, &run->old[SIGCHLD]);
	for (size_t i = 0; i < REQUESTS; i++) {
		int number = requests[i];

		sigaction(number, NULL, &run->old[number]);
		/* What was ignored (nohup) stays so, here and in the program. */
		if (run->old[number].sa_handler != SIG_IGN)
			sigaction(number, &request, NULL);
	}
}

static void restore_signals(const struct run *run)
{
	sigaction(SIGCHLD, &run->old[SIGCHLD], NULL);
	for (size_t i = 0; i < REQUESTS; i++)
		sigaction(requests[i], &run->old[requests[i]], NULL);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

/* --- starting -------------------------------------------------------------- */

static int make_memory_file(const char *name, unsigned flags)
{
	int fd = memfd_create(name, MFD_CLOEXEC | flags);

	/* Kernels before 6.3 do not know MFD_EXEC and need none. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC);
	return fd;
}

static bool write_all(int fd, const uint8_t *from, size_t bytes)
{
	while (bytes) {
		ssize_t put = write(fd, from, bytes);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		from += put;
		bytes -= (size_t)put;
	}
	return true;
}

static void fill_request(struct link *link, const struct launch_program *program,
			 const struct launch_request *request)
{
	link->magic = LINK_MAGIC;
	link->version = LINK_VERSION;
	link->bytes = sizeof(*link);
	snprintf(link->model, sizeof(link->model), "%s", request->model);
	snprintf(link->file, sizeof(link->file), "%s", program->file);
	snprintf(link->program, sizeof(link->program), "%s", program->path);
	link->events = (uint32_t)request->events;
	link->threads = request->threads;
	for (size_t i = 0; i < request->events; i++)
		link->event[i] = request->event[i];
}

static bool prepare(struct run *run, const struct launch_program *program,
		    const struct launch_request *request)
{
	/* Two symbols of one section: the difference is of addresses. */
	size_t image_bytes = (uintptr_t)engine_image_end - (uintptr_t)engine_image;

	if (request->events > LINK_EVENTS_MAX) {
		errno = E2BIG;
		return false;
	}
	run->image_fd = make_memory_file("softpmu", MFD_EXEC);
	if (run->image_fd < 0 || !write_all(run->image_fd, engine_image, image_bytes))
		return false;
	run->link_fd = make_memory_file("softpmu-link", 0);
	if (run->link_fd < 0 || ftruncate(run->link_fd, sizeof(*run->link)))
		return false;
	run->link =
		mmap(NULL, sizeof(*run->link), PROT_READ | PROT_WRITE, MAP_SHARED, run->link_fd, 0);
	if (run->link == MAP_FAILED) {
		run->link = NULL;
		return false;
	}
	fill_request(run->link, program, request);
	return true;
}

/* Two free neighbouring descriptors, out of the way of what the program may expect. */
static int find_pair(void)
{
	struct rlimit limit;
	int top = 1024;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < (rlim_t)top)
		top = (int)limit.rlim_cur;
	for (int fd = top > 200 ? top - 100 : top - LINK_FD_OFFSET - 1; fd > 2; fd--) {
		if (fcntl(fd, F_GETFD) < 0 && fcntl(fd + LINK_FD_OFFSET, F_GETFD) < 0)
			return fd;
	}
	errno = EMFILE;
	return -1;
}

/* In the child: become the engine.  Comes back only when that is not possible. */
static void become_engine(const struct run *run, const struct launch_program *program)
{
	struct link *link = run->link;
	int image = find_pair();

	if (image >= 0 && dup2(run->image_fd, image) >= 0 &&
	    dup2(run->link_fd, image + LINK_FD_OFFSET) >= 0) {
		restore_signals(run);
		execveat(image, "", program->argv, environ, AT_EMPTY_PATH);
	}
	snprintf(link->message, sizeof(link->message), "%s: %s", program->name, strerror(errno));
	link->exit_status = 126;
	__atomic_store_n(&link->state, LINK_FAILED, __ATOMIC_RELEASE);
	_exit(126);
}

/* --- the ring --------------------------------------------------------------- */

static void copy_from_ring(const struct link *link, uint64_t at, void *to, size_t bytes)
{
	size_t offset = at & (LINK_RING_BYTES - 1);
	size_t first = LINK_RING_BYTES - offset;

	if (first > bytes)
		first = bytes;
	memcpy(to, link->ring + offset, first);
	memcpy((uint8_t *)to + first, link->ring, bytes - first);
}

static void release_room(struct run *run)
{
	struct link *link = run->link;

	__atomic_store_n(&link->tail, run->tail, __ATOMIC_RELEASE);
	__atomic_add_fetch(&link->tail_futex, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&link->engine_waits, __ATOMIC_SEQ_CST))
		futex_wake(&link->tail_futex);
}

static bool is_whole(const struct link_record *record)
{
	size_t least = sizeof(*record);

	switch (record->type) {
	case LINK_REC_MMAP:
		least = sizeof(struct link_mmap) + 1;
		break;
	case LINK_REC_COMM:
		least = sizeof(struct link_comm);
		break;
	case LINK_REC_SAMPLE:
		least = sizeof(struct link_sample);
		break;
	default:
		break;
	}
	return record->bytes >= least;
}

/* Text in a record ends, whatever the program wrote over it. */
static void end_text(struct link_record *record)
{
	if (record->type == LINK_REC_MMAP)
		((char *)record)[record->bytes - 1] = '\0';
	if (record->type == LINK_REC_COMM)
		((struct link_comm *)record)->comm[15] = '\0';
}

/* Nothing after this point can be read: let the program run on without us. */
static void give_up_ring(struct run *run)
{
	run->damaged = true;
	__atomic_store_n(&run->link->tool_gone, 1, __ATOMIC_SEQ_CST);
	release_room(run);
}

static uint64_t tsc_of(const struct link_record *record)
{
	switch (record->type) {
	case LINK_REC_MMAP:
		return ((const struct link_mmap *)record)->tsc;
	case LINK_REC_COMM:
		return ((const struct link_comm *)record)->tsc;
	case LINK_REC_SAMPLE:
		return ((const struct link_sample *)record)->tsc;
	default:
		return 0;
	}
}

/* Hand all records to the sink; false when there were none. */
static bool drain(struct run *run)
{
	static _Alignas(8) uint8_t buffer[RECORD_MAX];
	struct link_record *record = (struct link_record *)buffer;
	struct link *link = run->link;
	uint64_t head = __atomic_load_n(&link->head, __ATOMIC_ACQUIRE);
	uint64_t released = run->tail;

	if (run->damaged || head == run->tail)
		return false;
	if (head - run->tail > LINK_RING_BYTES) {
		give_up_ring(run);
		return false;
	}
	run->before = run->now;
	run->now = read_clocks();
	while (head != run->tail) {
		uint64_t left = head - run->tail;

		if (left >= sizeof(*record))
			copy_from_ring(link, run->tail, record, sizeof(*record));
		if (left < sizeof(*record) || record->bytes % 8 || record->bytes > left ||
		    record->bytes > RECORD_MAX || !is_whole(record)) {
			give_up_ring(run);
			return true;
		}
		copy_from_ring(link, run->tail + sizeof(*record), record + 1,
			       record->bytes - sizeof(*record));
		end_text(record);
		if (run->request->sink)
			run->request->sink(run->request->opaque, record,
					   time_of(run, tsc_of(record)), NULL);
		run->tail += record->bytes;
		if (run->tail - released >= RELEASE_STEP) {
			release_room(run);
			released = run->tail;
		}
	}
	if (run->tail != released)
		release_room(run);
	return true;
}

/* Sleep until the engine or the end of the program wakes us. */
static void wait_for_records(struct run *run, uint32_t seen)
{
	struct link *link = run->link;

	__atomic_store_n(&link->tool_waits, 1, __ATOMIC_SEQ_CST);
	if (run->damaged || __atomic_load_n(&link->head, __ATOMIC_SEQ_CST) == run->tail)
		futex_wait(&link->head_futex, seen);
	__atomic_store_n(&link->tool_waits, 0, __ATOMIC_SEQ_CST);
}

static int serve(struct run *run, struct rusage *usage)
{
	const struct launch_request *request = run->request;
	uint64_t tick = now_ns();
	int status = 0;

	for (;;) {
		uint32_t seen = __atomic_load_n(&run->link->head_futex, __ATOMIC_SEQ_CST);
		bool some = drain(run);
		uint64_t now;

		if (wait4(run->pid, &status, WNOHANG, usage) == run->pid) {
			/* Its last records came after we looked. */
			drain(run);
			return status;
		}
		now = now_ns();
		if (now - tick >= TICK_NS) {
			tick = now;
			if (request->sink)
				request->sink(request->opaque, NULL, now, NULL);
		}
		if (!some)
			wait_for_records(run, seen);
	}
}

/* --- the end ---------------------------------------------------------------- */

static void copy_counts(const struct run *run, struct launch_result *result)
{
	const struct link *link = run->link;

	memcpy(result->count, link->count, sizeof(result->count));
	result->tsc_start = link->tsc_start;
	result->tsc_end = link->tsc_end;
	result->units = link->units;
	result->interrupts = link->interrupts;
	result->records = link->records;
	result->buffer_full = link->buffer_full;
	result->blocks = link->blocks;
	result->cache_bytes = link->cache_bytes;
}

static void say_signal(const struct launch_program *program, struct launch_result *result)
{
	const char *text = strsignal(result->signal);

	set_message(result, "%s: %s%s%s", program->name, text ? text : "ended by a signal",
		    result->core ? " (core dumped)" : "",
		    result->end == LAUNCH_LOST ? "; counts are not available" : "");
}

static void conclude(const struct run *run, const struct launch_program *program, int status,
		     struct launch_result *result)
{
	struct link *link = run->link;
	uint32_t state = __atomic_load_n(&link->state, __ATOMIC_ACQUIRE);

	link->message[sizeof(link->message) - 1] = '\0';
	copy_counts(run, result);
	result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	result->core = WIFSIGNALED(status) && WCOREDUMP(status);
	result->status = result->signal ? 128 + result->signal : WEXITSTATUS(status);
	switch (state) {
	case LINK_EXITED:
		result->end = LAUNCH_DONE;
		if (result->signal)
			say_signal(program, result);
		break;
	case LINK_UNSUPPORTED:
		result->end = LAUNCH_UNSUPPORTED;
		result->status = 125;
		set_message(result, "%s", link->message);
		break;
	case LINK_FAILED:
		result->end = LAUNCH_FAILED;
		result->status = link->exit_status == 127 ? 127 : 126;
		set_message(result, "%s", link->message);
		break;
	default:
		result->end = LAUNCH_LOST;
		if (result->signal) {
			say_signal(program, result);
		} else {
			result->status = 125;
			set_message(result, "%s: ended without its counts (exit status %d)",
				    program->name, WEXITSTATUS(status));
		}
		break;
	}
	if (run->damaged && result->end == LAUNCH_DONE) {
		free(result->message);
		result->end = LAUNCH_LOST;
		result->status = 125;
		set_message(result, "%s: overwrote the memory shared with softpmu", program->name);
	}
}

void launch_run(const struct launch_program *program, const struct launch_request *request,
		struct launch_result *result)
{
	struct run run = {.image_fd = -1, .link_fd = -1, .request = request};
	uint64_t start;
	int status;

	memset(result, 0, sizeof(*result));
	result->end = LAUNCH_ERROR;
	result->status = 125;
	if (!prepare(&run, program, request)) {
		set_message(result, "cannot prepare the engine: %s", strerror(errno));
		goto out;
	}
	fflush(NULL);
	run.now = read_clocks();
	take_signals(&run);
	start = now_ns();
	run.pid = fork();
	if (!run.pid)
		become_engine(&run, program);
	signal_pid = run.pid;
	sigprocmask(SIG_SETMASK, &run.old_mask, NULL);
	if (run.pid < 0) {
		set_message(result, "cannot start a process: %s", strerror(errno));
		restore_signals(&run);
		goto out;
	}
	result->pid = run.pid;
	status = serve(&run, &result->usage);
	signal_pid = 0;
	result->end_ns = now_ns();
	result->elapsed_ns = result->end_ns - start;
	restore_signals(&run);
	result->asked = signal_asked;
	conclude(&run, program, status, result);

out:
	if (run.link)
		munmap(run.link, sizeof(*run.link));
	if (run.link_fd >= 0)
		close(run.link_fd);
	if (run.image_fd >= 0)
		close(run.image_fd);
}
