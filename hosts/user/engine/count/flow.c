/* SPDX-License-Identifier: MIT */
/*
 * flow.c: the log of control flow, from which the tool knows how often each instruction ran.
 *
 * It has each taken branch, with the stack pointer after a call, an indirect jump or a return.
 * Between two records the program ran straight on.  Where it continued without a branch
 * (a signal, an abort of a restartable sequence) the log has a mark (LINK_FLOW_BREAK).  So has the
 * begin and the end of a task.
 *
 * Translated code writes the records in a trace buffer of the link, as it writes a branch trace in
 * place (branches.c).
 */
#include "engine/count/flow.h"

#include <softpmu/signals.h>

#include "engine/count/count.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"
#include "engine/x86/emit.h"

struct record {
	uint64_t from, to, stack;
};
_Static_assert(sizeof(struct record) == LINK_BTS_BYTES, "as in a branch trace");
_Static_assert(sizeof(struct record) == LOG_RECORD_BYTES, "as translated code stores it");

bool flow_is_wanted(void)
{
	return engine_wants(LINK_WANT_FLOW);
}

/* Returns whether the control flow of the thread is logged now.  It is not while its events are
 * switched off. */
static bool is_on(void)
{
	return flow_is_wanted() && current->counts && current->events_on;
}

void flow_begin_again(void)
{
	current->flow = (struct flow){0};
}

static uint64_t guard(void)
{
	return current->flow.log + LINK_TRACE_BYTES;
}

static void take_buffer(void)
{
	size_t bytes;

	if (current->flow.log)
		return;
	current->flow.log = current->log = branches_buffer(false, &bytes);
}

static void hand_over(void)
{
	uint64_t bytes = current->log - current->flow.log;

	if (bytes)
		current->flow.log = branches_to_tool(NULL, (const void *)current->flow.log,
						     bytes / LINK_BTS_BYTES, current->flow.log);
	current->log = current->flow.log;
}

static void append(uint64_t from, uint64_t to)
{
	struct record *record;

	take_buffer();
	if (current->log == guard())
		hand_over();
	record = (struct record *)current->log;
	*record = (struct record){from, to, current->gpr[4]};
	current->log += sizeof(*record);
}

static void begin_at(uint64_t pc)
{
	if (current->flow.begun)
		return;
	current->flow.begun = true;
	append(LINK_FLOW_BREAK, pc);
}

void flow_begin(void)
{
	if (is_on())
		begin_at(current->pc);
}

void flow_resume(void)
{
	if (current->list->flow)
		begin_at(current->pc);
}

void flow_retire(uint64_t ip, uint64_t next_ip, uint64_t signals)
{
	begin_at(ip);
	if (signals & SPMU_SIGSET_TAKEN)
		append(ip, next_ip);
}

void flow_note(uint64_t ip, uint64_t next_ip, uint64_t flag)
{
	if (current->list->flow)
		append(ip | flag, next_ip);
}

void flow_break(uint64_t to, uint64_t flag)
{
	if (!is_on())
		return;
	begin_at(current->pc);
	append(LINK_FLOW_BREAK | flag | current->pc, to);
}

void flow_pause(void)
{
	if (!flow_is_wanted() || !current->flow.begun)
		return;
	append(LINK_FLOW_BREAK | current->pc, 0);
	current->flow.begun = false;
	hand_over();
}

void flow_end(void)
{
	if (!flow_is_wanted() || !current->flow.log)
		return;
	flow_pause();
	/* The tool reads the code in the memory, which is about to be gone. */
	if (current->tid == current->pid)
		branches_wait();
}

void flow_lend(bool to_child)
{
	if (!flow_is_wanted())
		return;
	flow_drain();
	current->flow.begun = !to_child;
}

void flow_drain(void)
{
	if (flow_is_wanted() && current->flow.log)
		hand_over();
}

bool flow_full_at(uint64_t address)
{
	return current->list->flow && current->flow.log && address == guard() &&
	       current->log == address;
}

uint64_t flow_make_room(void)
{
	hand_over();
	return current->log;
}
