/* SPDX-License-Identifier: MIT */
/*
 * start.c: the start of the engine, in the process that the kernel made for the program:
 * arguments, environment, files and signals are the program's own.  It maps the memory shared
 * with the tool, loads the program, corrects the auxiliary vector in place and runs the program.
 */
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <linux/auxvec.h>
#include <linux/mman.h>
#include <linux/prctl.h>

#include "engine/cache/cache.h"
#include "engine/count/branch_clocks.h"
#include "engine/count/client.h"
#include "engine/count/count.h"
#include "engine/count/follow.h"
#include "engine/count/meter_list.h"
#include "engine/count/opened.h"
#include "engine/count/opened_ring.h"
#include "engine/count/points.h"
#include "engine/linux/children.h"
#include "engine/linux/descriptors.h"
#include "engine/linux/deterministic.h"
#include "engine/linux/exec.h"
#include "engine/linux/filters.h"
#include "engine/linux/image.h"
#include "engine/linux/load.h"
#include "engine/linux/mappings.h"
#include "engine/linux/perf_open.h"
#include "engine/memory/limits.h"
#include "engine/memory/places.h"
#include "engine/memory/regions.h"
#include "engine/persist/persist.h"
#include "engine/rt/context.h"
#include "engine/rt/contexts.h"
#include "engine/rt/engine.h"
#include "engine/rt/filter_chain.h"
#include "engine/rt/lock.h"
#include "engine/rt/sys.h"
#include "engine/rt/threads.h"
#include "engine/run/run.h"
#include "engine/signal/signals.h"
#include "engine/translate/pieces.h"
#include "engine/translate/translate.h"
#include "engine/watch/watch.h"
#include "engine/x86/cpuid.h"
#include "engine/x86/emit.h"

/* The kernel begins here.  RSP is the stack that it made. */
__asm__(".globl _start\n"
	"_start:\n\t"
	"xorl %ebp, %ebp\n\t"
	"movq %rsp, %rdi\n\t"
	"andq $-16, %rsp\n\t"
	"call start_engine\n\t"
	"ud2");

void start_engine(uint64_t *stack);

extern const char signal_entry[], signal_return[]; /* entry.S */

/* Set if another process of the run, not the tool, executed this program. */
static const struct link_exec *executed;
static struct filter *executed_filters; /* of the program's system calls */
static int kept_descriptors = -1;	/* those that it keeps: the first of them */

/* Returns the descriptor from which this image was executed ("/dev/fd/7"); -1: the tool did not
 * execute it. */
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
		at = sys_map(heap_place(sizeof(struct link)), sizeof(struct link),
			     PROT_READ | PROT_WRITE, MAP_SHARED, fd + LINK_FD_OFFSET, 0);
	if (is_error(at) || ((struct link *)at)->magic != LINK_MAGIC ||
	    ((struct link *)at)->version != LINK_VERSION)
		engine_fail(126, "softpmu: the engine is started by softpmu only\n");
	engine_link = (struct link *)at;
	limits_start();
	branches_map(fd + LINK_FD_OFFSET);
	executed = exec_request(fd + LINK_EXEC_OFFSET, &executed_filters);
	if (executed)
		engine_was_executed();
	if (executed && executed->keep) {
		kept_descriptors = fd;
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
	syscall2(__NR_prctl, PR_SET_NAME, (long)base);
	record_comm(base, true);
}

/* A program that a process of the run executes begins with the events of the thread that did. */
static void take_events(void)
{
	current->followed = __atomic_load_n(&engine_link->changes, __ATOMIC_SEQ_CST);
	current->events_on = engine_link->events_on;
	points_start();
	current->stopped = engine_link->begins_stopped;
	client_begin_thread();
	if (!executed)
		return;
	current->followed = (uint32_t)executed->followed;
	if (!engine_wants(LINK_WANT_POINTS | LINK_WANT_VALGRIND))
		current->events_on = executed->events_on;
	follow_continue((int)executed->follower);
}

/* The same for events that programs have opened, whose rings get records of what follows. */
static void take_opened(void)
{
	opened_begin(current);
	if (!executed)
		engine_link->open_cpu = (int32_t)opened_ring_processor();
	else if (opened_wanted() && executed->follower >= 0)
		opened_adopt(&engine_link->opened[executed->follower]);
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
	regions_start();
	take_opened();
	name_program(file);
	load_program(&program);
	if (load_stack_executable) {
		at = find_aux(aux, AT_EXECFN);
		mappings_add_stack((uint64_t)stack, at ? *at : (uint64_t)stack);
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
	image_has_heap =
		image_tell(&program, stack, aux, deterministic_wanted() ? DETERMINISTIC_HEAP : 0) ||
		!deterministic_wanted();
	current->pc = program.entry;
	current->gpr[4] = current->stack_top = (uint64_t)stack;
	current->rflags = 0x202;
	signals_start(signal_entry, signal_return);
	take_events();
	branch_clocks_use(pieces_between);
	units_start();
	if (opened_any())
		perf_open_collect(); /* what execve(2) has closed */
	persist_load();
	if (!executed)
		__atomic_store_n(&engine_link->state, LINK_RUNNING, __ATOMIC_RELEASE);
}

static __attribute__((used, noreturn)) void begin(void)
{
	if (deterministic_wanted())
		deterministic_leave();
	run_program();
}

/* Runs on the engine's own stack from here on.  The program's stack is as the kernel made it. */
static _Noreturn void run_on_own_stack(void)
{
	uint8_t *top = context_stack_end(current);

	__asm__ volatile("movq %0, %%rsp\n\tcall begin\n\tud2" : : "r"(top) : "memory");
	__builtin_unreachable();
}

static uint64_t *aux_after(uint64_t *stack)
{
	uint64_t *at = stack + 1 + stack[0] + 1;

	while (*at)
		at++;
	return at + 1;
}

/* Returns the first thread's context, at a place where code can name it by its distance, if the
 * program leaves space there. */
static struct context *first_context(void)
{
	long at = -1;

	if (place_is_free(CONTEXT_PLACE, context_bytes()))
		at = sys_map(CONTEXT_PLACE, context_bytes(), PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
			     0);
	if (is_error(at)) {
		emit_start(0);
		return context_map();
	}
	places_keep((uint64_t)at, context_bytes());
	emit_start((uint64_t)at);
	return (struct context *)at;
}

/*
 * Discards the code cache and the marks of watched pages, because a process that shares the
 * memory was killed while it held the lock.
 */
static void begin_anew(void)
{
	if (regions_are_changing())
		engine_unsupported("a child that shares the program's memory (vfork) was killed "
				   "while it changed the memory map");
	lock_stop_others();
	watch_end(0, PROGRAM_END);
	blocks_flush();
	hot_abandon();
	lock_resume_others();
}

void start_engine(uint64_t *stack)
{
	const uint64_t *at = find_aux(aux_after(stack), AT_EXECFN);
	struct context *first;

	map_link(at ? (const char *)*at : "");
	load_open(executed ? exec_program(executed) : engine_link->program,
		  executed ? (int)executed->program_fd : -1);
	lock_after_death = begin_anew;
	children_run = run_program;
	opened_ring_file = descriptors_link;
	insn_near_16 = cpuid_is_amd();
	first = first_context();
	first->list = &meter_list_none;
	threads_start(first);
	filters_were_installed(executed_filters);
	descriptors_start(kept_descriptors);
	if (deterministic_wanted())
		stack = deterministic_start(stack);
	become_program(stack, aux_after(stack));
	run_on_own_stack();
}
