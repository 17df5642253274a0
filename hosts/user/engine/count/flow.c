/* SPDX-License-Identifier: MIT */
/*
 * flow.c: the log of control flow, from which the tool knows how often each instruction ran.
 *
 * It has the calls, the returns and the indirect jumps, with the stack pointer and what is left of
 * the headroom of each meter.  Most of them do not leave the process: calls are counted when they
 * return (flow_sums.c).  Other branches are counted, too (flow_edges.c).  Between two branches the
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
#include "engine/count/flow_active.h"
#include "engine/count/flow_calls.h"
#include "engine/count/flow_edges.h"
#include "engine/count/flow_log.h"
#include "engine/count/flow_places.h"
#include "engine/count/flow_sums.h"
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

static void drain_counts(void)
{
	flow_edges_drain();
	flow_sums_drain();
}

static void clear_counts(void)
{
	flow_edges_clear();
	flow_sums_clear();
}

void flow_begin_again(void)
{
	bool is_new = !current->counts; /* a thread, not a process: it is within no calls */

	current->flow = (struct flow){.complete_after = PAUSE_FIRST,
				      .is_active = !is_new,
				      .told = current->flow.told,
				      .pairs = current->flow.pairs};
	if (!flow_is_wanted())
		return;
	clear_counts();
	if (is_new)
		flow_active_forget();
	else
		flow_places_begin_process();
}

static bool are_described(void)
{
	const struct flow *flow = &current->flow;

	return flow->meters == current->list->meters &&
	       !memcmp(flow->signals, current->list->signals,
		       flow->meters * sizeof(flow->signals[0]));
}

/* Says what the meters are, and how much of their headroom translated code does not have. */
static void describe_all(void)
{
	struct flow *flow = &current->flow;

	if (flow->meters)
		flow_sums_drain();
	flow->meters = current->list->meters;
	for (unsigned m = 0; m < flow->meters; m++) {
		flow->signals[m] = current->list->signals[m];
		flow->held[m] = headroom_held(m);
		*flow_log_next(LINK_FLOW_METER | m, flow->signals[m], current->gpr[4]) =
			flow->held[m];
	}
}

static void describe_meters(void)
{
	if (!are_described()) {
		describe_all();
		return;
	}
	for (unsigned m = 0; m < current->flow.meters; m++)
		if (current->flow.held[m] != headroom_held(m))
			flow_log_meter(m, headroom_held(m));
}

static void append(uint64_t from, uint64_t to)
{
	int64_t *left;

	if (!are_described())
		describe_all();
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
	if (!current->flow.is_active)
		flow_active_begin(pc);
	current->flow.is_active = true;
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
	uint64_t kind = 0;

	if (!(signals & SPMU_SIGSET_TAKEN))
		return;
	if (!flow_edges_in_any_order())
		kind = flow_calls_kind(next_ip, signals);
	append(ip | kind, next_ip);
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
	if (flag & LINK_FLOW_HANDLER)
		flow_active_begin(to);
}

void flow_complete(void)
{
	uint64_t now;

	if (!current->list->flow || !current->flow.begun)
		return;
	now = read_tsc();
	if (now - current->flow.complete_at < current->flow.complete_after)
		return;
	drain_counts();
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
	drain_counts();
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
		clear_counts();
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
