/* SPDX-License-Identifier: MIT */
/*
 * launch.c: starts the engine in the program's place, and reports how it ended.
 *
 * The engine gets its image and the shared memory as two descriptors with neighbouring high
 * numbers. It closes both before the program's first instruction.
 *
 * The tool contains the image.  To write it to a memory file takes 0.4 ms, a tenth of a short run.
 * So the same image is also installed as a file, and the tool executes that one if it is there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hosts/user/cache_folder.h>
#include <hosts/user/control.h>
#include <hosts/user/drain.h>
#include <hosts/user/launch_signals.h>

#ifndef MFD_EXEC
#define MFD_EXEC 0x10u
#endif

#define CHILD_STACK (64u << 10)

/* Where the image is as a file: relative to the tool's own path and to its folder. */
#define IMAGE_BESIDE	".engine"
#define IMAGE_INSTALLED "../libexec/softpmu.engine"

extern const uint8_t engine_image[], engine_image_end[];

struct spmu_supply launch_supply = {.exact = SPMU_SIGSET_ARCHITECTURAL};

void launch_use_machine(const struct spmu_machine *machine, enum launch_clocks clocks)
{
	const struct spmu_core_shape *core = spmu_core_shape_find(machine->name);

	spmu_machine_supplies(machine, &launch_supply);
	spmu_uarch_supplies_offcore(&launch_supply);
	if (clocks == LAUNCH_CLOCKS_STATIC && core)
		spmu_static_clocks_supply(&launch_supply);
	if (clocks == LAUNCH_CLOCKS_TIMELINE && core)
		spmu_timeline_supplies(core, &launch_supply);
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

/* Returns whether the file begins with the image's first page, which has its build-id, and is as
 * long. */
static bool is_image(int fd, const struct stat *file, size_t bytes)
{
	uint8_t page[4096];
	size_t first = bytes < sizeof(page) ? bytes : sizeof(page);

	return S_ISREG(file->st_mode) && (uint64_t)file->st_size == bytes &&
	       pread(fd, page, first, 0) == (ssize_t)first && !memcmp(page, engine_image, first);
}

/* Returns a descriptor of the file if it is the image, can be executed, and belongs to the owner of
 * the tool alone; otherwise -1. */
static int open_image(const char *path, uid_t owner, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct statvfs system;
	struct stat file;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &file) && file.st_uid == owner && !(file.st_mode & (S_IWGRP | S_IWOTH)) &&
	    is_image(fd, &file, bytes) && !fstatvfs(fd, &system) && !(system.f_flag & ST_NOEXEC) &&
	    !faccessat(fd, "", X_OK, AT_EACCESS | AT_EMPTY_PATH))
		return fd;
	close(fd);
	return -1;
}

/* Returns a descriptor of the installed image, or -1. */
static int find_image(size_t bytes)
{
	char tool[PATH_MAX], path[PATH_MAX + sizeof(IMAGE_INSTALLED)];
	ssize_t length = readlink("/proc/self/exe", tool, sizeof(tool) - 1);
	struct stat own;
	int fd;

	if (length <= 0 || stat("/proc/self/exe", &own))
		return -1;
	tool[length] = '\0';
	snprintf(path, sizeof(path), "%s" IMAGE_BESIDE, tool);
	fd = open_image(path, own.st_uid, bytes);
	if (fd >= 0)
		return fd;
	*strrchr(tool, '/') = '\0';
	snprintf(path, sizeof(path), "%s/" IMAGE_INSTALLED, tool);
	return open_image(path, own.st_uid, bytes);
}

static void find_cache_folders(struct link *link)
{
	const char *system = cache_folder_system();

	if (!cache_folder_find(link->cache_folder, sizeof(link->cache_folder)))
		link->cache_folder[0] = '\0';
	snprintf(link->cache_system, sizeof(link->cache_system), "%s", system ? system : "");
}

static void fill_request(struct link *link, const struct launch_program *program,
			 const struct launch_request *request)
{
	link->magic = LINK_MAGIC;
	link->version = LINK_VERSION;
	snprintf(link->model, sizeof(link->model), "%s", request->model);
	if (request->machine) {
		const struct spmu_core_shape *core =
			request->clocks ? spmu_core_shape_find(request->machine->name) : NULL;

		link->machine = *request->machine;
		link->judges_branches = request->judges_branches;
		link->static_clocks = core && request->clocks == LAUNCH_CLOCKS_STATIC;
		link->branch_clocks = link->static_clocks && request->branch_clocks;
		snprintf(link->core, sizeof(link->core), "%s", core ? core->name : "");
	}
	link->machine.name = link->machine.source = NULL; /* of another address space */
	snprintf(link->file, sizeof(link->file), "%s", program->file);
	snprintf(link->program, sizeof(link->program), "%s", program->path);
	snprintf(link->tree, sizeof(link->tree), "%s", request->tree ? request->tree : "");
	link->events = (uint32_t)request->events;
	link->threads = request->threads;
	link->want = request->want | (request->sink || request->points ? 0 : LINK_WANT_NO_RECORDS);
	if (request->points) /* saved code has been made for other addresses */
		link->want |= LINK_WANT_POINTS | LINK_WANT_COLD;
	link->lbr_select = request->lbr_select;
	link->load_threshold = request->load_threshold;
	link->frontend = request->frontend;
	link->stack_bytes = request->stack_bytes;
	link->windows.count = request->window_count;
	link->windows.warm = request->window_warm;
	link->windows.skip = request->window_skip;
	/* With a machine, code names descriptions of blocks, which are not saved, unless it only
	 * counts static clocks.  For the control flow it names counters of branches. */
	if (!(link->want & (LINK_WANT_COLD | LINK_WANT_FLOW)) &&
	    (!request->machine || link->static_clocks))
		find_cache_folders(link);
	link->tool_pid = getpid();
	for (size_t i = 0; i < request->events; i++)
		link->event[i] = request->event[i];
	control_prepare(link, request->control);
	link->begins_stopped = request->begins_stopped;
	link->begins_collecting = !request->events_off;
	if (request->prepare)
		request->prepare(request->opaque, link);
}

/* Maps the memory shared with the engine.  Pages that are not used take no memory. */
static bool map_link(struct run *run)
{
	uint64_t rings = run->request->want & LINK_WANT_OPEN ? LINK_RINGS_BYTES : 0;
	void *memory;

	run->link_bytes = sizeof(*run->link);
	if (run->request->want & LINK_WANT_TRACES)
		run->link_bytes += (size_t)LINK_TRACE_BUFFERS * LINK_TRACE_BYTES;
	if (ftruncate(run->link_fd, (off_t)(run->link_bytes + rings)))
		return false;
	memory = mmap(NULL, run->link_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, run->link_fd, 0);
	if (memory == MAP_FAILED)
		return false;
	run->link = memory;
	run->link->bytes = (uint32_t)run->link_bytes;
	run->link->rings_begin = run->link->rings_end = (run->link_bytes + 4095) & ~UINT64_C(4095);
	if (run->request->want & LINK_WANT_TRACES)
		run->traces = (const uint8_t *)memory + sizeof(*run->link);
	return true;
}

/* Lifts the limit on the size of files while the shared memory is made: it is meant for the
 * program's files. */
static void lift_file_limit(struct rlimit *before)
{
	struct rlimit lifted = {RLIM_INFINITY, RLIM_INFINITY};

	getrlimit(RLIMIT_FSIZE, before);
	if (before->rlim_cur == RLIM_INFINITY || !setrlimit(RLIMIT_FSIZE, &lifted))
		return;
	lifted.rlim_cur = lifted.rlim_max = before->rlim_max;
	setrlimit(RLIMIT_FSIZE, &lifted);
}

static bool prepare(struct run *run, const struct launch_program *program,
		    const struct launch_request *request)
{
	/* The two symbols are in one section, but they are different objects for the compiler. */
	size_t image_bytes = (uintptr_t)engine_image_end - (uintptr_t)engine_image;

	if (request->events > LINK_EVENTS_MAX) {
		errno = E2BIG;
		return false;
	}
	run->image_fd = find_image(image_bytes);
	if (run->image_fd < 0) {
		run->image_fd = make_memory_file("softpmu", MFD_EXEC);
		if (run->image_fd < 0 || !write_all(run->image_fd, engine_image, image_bytes))
			return false;
	}
	run->link_fd = make_memory_file("softpmu-link", 0);
	if (run->link_fd < 0 || !map_link(run))
		return false;
	fill_request(run->link, program, request);
	run->link->image_sum = engine_image_sum;
	run->link->link_fd = run->link_fd;
	return true;
}

/* Finds two free neighbouring descriptors with high numbers, which programs do not expect. */
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

/* Ends the child before the engine has begun. */
static _Noreturn void give_up(struct link *link, enum link_state state, int status)
{
	link->exit_status = status;
	__atomic_store_n(&link->state, state, __ATOMIC_RELEASE);
	_exit(status);
}

/*
 * Raises the limit of the address space in the child: the limit is for the program, and the engine
 * needs memory in addition.
 */
static void make_address_room(struct link *link)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit))
		return;
	if (limit.rlim_cur != RLIM_INFINITY) {
		limit.rlim_cur += LINK_ROOM_BYTES;
		if (limit.rlim_max != RLIM_INFINITY)
			limit.rlim_max += LINK_ROOM_BYTES;
		if (setrlimit(RLIMIT_AS, &limit))
			return; /* the program and the engine share the limit */
	}
	link->address_room = 1;
}

/* Turns the child into the engine. */
static int become_engine(void *request)
{
	const struct run *run = request;
	const struct launch_program *program = run->program;
	struct link *link = run->link;
	int image;

	make_address_room(link);
	image = find_pair();
	if (image >= 0 && dup2(run->image_fd, image) >= 0 &&
	    dup2(run->link_fd, image + LINK_FD_OFFSET) >= 0) {
		launch_signals_restore(run);
		execveat(image, "", program->argv, environ, AT_EMPTY_PATH);
	}
	snprintf(link->message, sizeof(link->message), "%s: %s", program->name, strerror(errno));
	give_up(link, LINK_FAILED, 126);
	return 0;
}

/* Starts the child.  It uses our memory until it is the engine, because copying page tables would
 * cost more. */
static pid_t start_engine(struct run *run)
{
	static _Alignas(16) uint8_t stack[CHILD_STACK];

	return clone(become_engine, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, run);
}

/* --- the end ---------------------------------------------------------------- */

static void copy_counts(const struct run *run, struct launch_result *result)
{
	const struct link *link = run->link;

	memcpy(result->count, link->count, sizeof(result->count));
	result->windows = link->windows;
	result->refused = link->refused;
	result->tsc_start = link->tsc_start;
	result->tsc_end = link->tsc_end;
	result->units = link->units;
	result->interrupts = link->interrupts;
	result->records = link->records;
	result->buffer_full = link->buffer_full;
	result->blocks = link->blocks;
	result->cached_blocks = link->cached_blocks;
	result->cache_bytes = link->cache_bytes;
	result->natives = __atomic_load_n(&link->natives, __ATOMIC_ACQUIRE);
	snprintf(result->native, sizeof(result->native), "%.*s", (int)sizeof(link->native) - 1,
		 link->native);
}

/* Passes on the regions.  The program may have overwritten their names. */
static void hand_over_regions(const struct run *run)
{
	struct link *link = run->link;
	size_t count = 0;

	while (count < LINK_REGIONS_MAX && link->region[count].state == LINK_REGION_NAMED) {
		link->region[count].name[LINK_REGION_NAME - 1] = '\0';
		count++;
	}
	if (run->request->regions)
		run->request->regions(run->request->opaque, link->region, count,
				      link->regions_lost);
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
		hand_over_regions(run);
		if (result->signal)
			say_signal(program, result);
		result->missing = __atomic_load_n(&link->processes, __ATOMIC_ACQUIRE);
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
	struct run run = {.image_fd = -1, .link_fd = -1, .request = request, .program = program};
	struct rlimit file_limit;
	struct control control;
	uint64_t start;
	bool prepared;
	int status, error;

	memset(result, 0, sizeof(*result));
	result->end = LAUNCH_ERROR;
	result->status = 125;
	lift_file_limit(&file_limit);
	prepared = prepare(&run, program, request);
	error = errno;
	setrlimit(RLIMIT_FSIZE, &file_limit);
	if (!prepared) {
		set_message(result, "cannot prepare the engine: %s%s", strerror(error),
			    error == EFBIG ? "; raise the limit on the size of files (ulimit -f)"
					   : "");
		goto out;
	}
	fflush(NULL);
	run.now = drain_read_clocks();
	launch_signals_take(&run);
	start = drain_now_ns();
	run.pid = start_engine(&run);
	launch_signals_go_to(run.pid);
	sigprocmask(SIG_SETMASK, &run.old_mask, NULL);
	if (run.pid < 0) {
		set_message(result, "cannot start a process: %s", strerror(errno));
		launch_signals_restore(&run);
		goto out;
	}
	result->pid = run.pid;
	control_start(&control, &run);
	status = drain_serve(&run, &result->usage);
	control_end(&control);
	__atomic_store_n(&run.link->tool_gone, 1, __ATOMIC_SEQ_CST);
	launch_signals_go_to(0);
	result->end_ns = drain_now_ns();
	result->elapsed_ns = result->end_ns - start;
	launch_signals_restore(&run);
	result->asked = launch_signals_asked();
	conclude(&run, program, status, result);
	if (run.link->cache_written && run.link->cache_folder[0])
		cache_folder_trim(run.link->cache_folder);

out:
	if (run.link)
		munmap(run.link, run.link_bytes);
	if (run.link_fd >= 0)
		close(run.link_fd);
	if (run.image_fd >= 0)
		close(run.image_fd);
}
