/* SPDX-License-Identifier: MIT */
/*
 * start.c: the engine begins as the process that the kernel made for the program: its
 * arguments, environment, files and signals are the program's own.  It maps
 * the memory shared with the tool, loads the program, corrects the auxiliary
 * vector in place and runs.
 */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/mman.h>

#include "descriptors.h"
#include "engine.h"
#include "filters.h"
#include "fixed.h"
#include "image.h"
#include "keep.h"
#include "limits.h"
#include "sys.h"
#include "threads.h"

struct link *engine_link;
bool program_has_heap;

void engine_start(uint64_t *stack);

/* The program's image was executed by one of the run, not by the tool. */
static const struct link_exec *executed;

/* The first that has something to say of the run is heard. */
static void say(enum link_state state, const char *message, int status)
{
	uint32_t running = LINK_RUNNING, starting = LINK_STARTING;
	struct text t;

	if (*message && __atomic_load_n(&engine_link->state, __ATOMIC_ACQUIRE) <= LINK_RUNNING) {
		text_start(&t, engine_link->message, sizeof(engine_link->message));
		text_add(&t, message);
		engine_link->exit_status = status;
	}
	if (!__atomic_compare_exchange_n(&engine_link->state, &running, state, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED) &&
	    !executed)
		__atomic_compare_exchange_n(&engine_link->state, &starting, state, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	ring_wake();
}

static _Noreturn void end(enum link_state state, const char *message, int status)
{
	if (engine_link) {
		say(state, message, status);
	} else {
		syscall3(__NR_write, 2, (long)message, (long)strlen(message));
	}
	for (;;)
		syscall1(__NR_exit_group, status);
}

void engine_fail(int exit_status, const char *message)
{
	if (executed)
		engine_unsupported(message);
	end(LINK_FAILED, message, exit_status);
}

void engine_unsupported(const char *message)
{
	end(LINK_UNSUPPORTED, message, 125);
}

/* The tool writes the end of the first process. */
void engine_finish_thread(void)
{
	counting_finish();
	if (!children_is_first() || current->tid != current->pid)
		ring_end();
}

void engine_finish(void)
{
	if (current->borrowed) {
		counting_drain(); /* the parent goes on to count */
		ring_end();
		current->left = true;
	} else {
		threads_finish(engine_finish_thread);
		engine_finish_thread();
		if (threads_shared())
			threads_leave();
		else
			keep_save();
	}
	if (children_is_first())
		say(LINK_EXITED, "", 0);
	else
		children_count(-1);
}

void engine_exit(long nr, int status)
{
	engine_finish();
	for (;;)
		syscall1(nr, status);
}

/* "/dev/fd/7": the descriptor that this image was executed from, -1: not by the tool. */
static int own_descriptor(const char *name)
{
	static const char prefix[] = "/dev/fd/";
	int fd = 0;

	for (unsigned i = 0; i < sizeof(prefix) - 1; i++)
		if (name[i] != prefix[i])
			return -1;
	for (name += sizeof(prefix) - 1; *name >= '0' && *name <= '9'; name++)
		fd = fd * 10 + (*name - '0');
	return fd;
}

static void map_link(const char *name)
{
	int fd = own_descriptor(name);
	long at = -1;

	if (fd >= 0)
		at = map_memory(engine_place(sizeof(struct link)), sizeof(struct link),
				PROT_READ | PROT_WRITE, MAP_SHARED, fd + LINK_FD_OFFSET, 0);
	if (is_error(at) || ((struct link *)at)->magic != LINK_MAGIC ||
	    ((struct link *)at)->version != LINK_VERSION)
		engine_fail(126, "softpmu: the engine is started by softpmu only\n");
	engine_link = (struct link *)at;
	limits_start();
	branches_map(fd + LINK_FD_OFFSET);
	executed = exec_request(fd + LINK_EXEC_OFFSET);
	if (executed && executed->filtered)
		filters_were_installed();
	if (executed && executed->keep) {
		descriptors_keep_these(fd);
		return;
	}
	syscall1(__NR_close, fd);
	syscall1(__NR_close, fd + LINK_FD_OFFSET);
}

static uint64_t *find_aux(uint64_t *aux, uint64_t type)
{
	for (; aux[0]; aux += 2)
		if (aux[0] == type)
			return aux + 1;
	return NULL;
}

static void set_aux(uint64_t *aux, uint64_t type, uint64_t value)
{
	uint64_t *at = find_aux(aux, type);

	if (at)
		*at = value;
}

static void name_program(const char *path)
{
	const char *base = path;

	for (const char *p = path; *p; p++)
		if (*p == '/')
			base = p + 1;
	syscall2(__NR_prctl, 15 /* PR_SET_NAME */, (long)base);
	ring_comm(base, true);
}

static __attribute__((noinline)) void become_program(uint64_t *stack, uint64_t *aux)
{
	struct loaded program;
	const char *file;
	uint64_t *at;

	current->pid = current->tid = current->process = (uint32_t)syscall1(__NR_getpid, 0);
	current->observed = true;
	if (!executed)
		engine_link->first_pid = current->pid;
	file = executed ? executed->names : engine_link->file;
	memory_start();
	name_program(file);
	load_program(&program);
	if (program_stack_executable) {
		at = find_aux(aux, AT_EXECFN);
		memory_stack((uint64_t)stack, at ? *at : (uint64_t)stack);
	}
	at = find_aux(aux, AT_SYSINFO_EHDR);
	if (at)
		load_vdso(*at);
	set_aux(aux, AT_PHDR, program.phdr);
	set_aux(aux, AT_PHENT, program.phent);
	set_aux(aux, AT_PHNUM, program.phnum);
	set_aux(aux, AT_ENTRY, program.program_entry);
	set_aux(aux, AT_BASE, program.interpreter);
	set_aux(aux, AT_EXECFN, (uint64_t)file);
	program_has_heap = image_tell(&program, stack, aux, fixed_wanted() ? FIXED_HEAP : 0) ||
			   !fixed_wanted();
	current->pc = program.entry;
	current->gpr[4] = (uint64_t)stack;
	current->rflags = 0x202;
	signals_start();
	counting_start();
	if (!executed)
		__atomic_store_n(&engine_link->state, LINK_RUNNING, __ATOMIC_RELEASE);
}

static __attribute__((used, noreturn)) void begin(void)
{
	if (fixed_wanted())
		fixed_leave();
	run_program();
}

/* The engine's own stack from here on; the program's is as the kernel made it. */
static _Noreturn void run_on_own_stack(void)
{
	uint8_t *top = context_stack_end(current);

	__asm__ volatile("movq %0, %%rsp\n\tcall begin\n\tud2" : : "r"(top) : "memory");
	__builtin_unreachable();
}

static uint64_t *aux_behind(uint64_t *stack)
{
	uint64_t *at = stack + 1 + stack[0] + 1;

	while (*at)
		at++;
	return at + 1;
}

void engine_start(uint64_t *stack)
{
	const uint64_t *at = find_aux(aux_behind(stack), AT_EXECFN);

	map_link(at ? (const char *)*at : "");
	load_open(executed ? exec_program(executed) : engine_link->program,
		  executed ? (int)executed->program_fd : -1);
	threads_start();
	if (fixed_wanted())
		stack = fixed_start(stack);
	become_program(stack, aux_behind(stack));
	run_on_own_stack();
}
