/* SPDX-License-Identifier: MIT */
/*
 * flow.c: the log of control flow, from which the tool knows how often each instruction ran.
 *
 * It has the calls, the returns and the indirect jumps, with the stack pointer and what is left of
 * the headroom of each meter.  Other branches are counted (flow_edges.c).  Between two branches the
 * program ran straight on.  Where it continued without a branch (a signal, an abort of a
 * restartable sequence) the log has a mark (LINK_FLOW_BREAK).  So has the begin and the end of a
 * task.
 *
 * Translated code writes the records in a trace buffer of the link, as it writes a branch trace in
 * place (branches.c).
 */
#include "engine/count/flow.h"

#include <softpmu/signals.h>

#include "engine/count/count.h"
#include "engine/count/flow_edges.h"
#include "engine/count/flow_log.h"
#include "engine/count/headroom.h"
#include "engine/count/meter_list.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define PAUSE_FIRST (UINT64_C(1) << 22) /* clocks */
#define PAUSE_LAST  (UINT64_C(1) << 28)

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
	current->flow = (struct flow){.complete_after = PAUSE_FIRST};
	if (flow_is_wanted())
		flow_edges_clear();
}

/* Says what the meters are, and how much of their headroom translated code does not have. */
static void describe_meters(void)
{
	struct flow *flow = &current->flow;
	const struct meter_list *list = current->list;

	for (unsigned m = 0; m < list->meters; m++) {
		int64_t held = headroom_held(m);

		if (m < flow->meters && flow->signals[m] == list->signals[m] &&
		    flow->held[m] == held)
			continue;
		flow->signals[m] = list->signals[m];
		flow->held[m] = held;
		flow_log_next(LINK_FLOW_METER | m, list->signals[m], (uint64_t)held);
	}
	flow->meters = list->meters;
}

static bool are_described(void)
{
	const struct flow *flow = &current->flow;

	return flow->meters == current->list->meters &&
	       !memcmp(flow->signals, current->list->signals,
		       flow->meters * sizeof(flow->signals[0]));
}

static void append(uint64_t from, uint64_t to)
{
	int64_t *left;

	if (!are_described())
		describe_meters();
	left = flow_log_next(from, to, current->gpr[4]);
	for (unsigned m = 0; m < current->list->meters; m++)
		left[m] = headroom_left(m) - current->flow.held[m];
}

void flow_share(void)
{
	if (current->list->flow && current->flow.begun)
		describe_meters();
}

static void begin_at(uint64_t pc)
{
	if (current->flow.begun)
		return;
	current->flow.begun = true;
	current->flow.meters = 0; /* the task is perhaps another one */
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

void flow_begin_step(uint64_t ip)
{
	begin_at(ip);
}

void flow_retire(uint64_t ip, uint64_t next_ip, uint64_t signals)
{
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

void flow_complete(void)
{
	uint64_t now;

	if (!current->list->flow || !current->flow.begun)
		return;
	now = read_tsc();
	if (now - current->flow.complete_at < current->flow.complete_after)
		return;
	flow_edges_drain();
	append(LINK_FLOW_BREAK | current->pc, current->pc);
	flow_log_hand_over();
	current->flow.complete_at = now;
	if (current->flow.complete_after < PAUSE_LAST)
		current->flow.complete_after *= 2;
}

void flow_pause(void)
{
	if (!flow_is_wanted() || !current->flow.begun)
		return;
	flow_edges_drain();
	append(LINK_FLOW_BREAK | current->pc, 0);
	current->flow.begun = false;
	flow_log_hand_over();
}

void flow_end(void)
{
	flow_pause();
	/* The tool reads the code in the memory, which is about to be gone. */
	if (current->tid == current->pid)
		branches_wait();
}

void flow_lend(bool to_child)
{
	if (!flow_is_wanted())
		return;
	if (!to_child) { /* a child that was killed has left something */
		flow_log_discard();
		flow_edges_clear();
	} else {
		flow_pause();
	}
	current->flow.begun = false;
}

void flow_drain(void)
{
	if (flow_is_wanted())
		flow_log_hand_over();
}
