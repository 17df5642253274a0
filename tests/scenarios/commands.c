/* SPDX-License-Identifier: MIT */
/* commands.c: what software and the processor do in a scenario, one line each. */
#include "scenario.h"

#include <string.h>

static bool argument(struct scenario *s, const struct line *line, unsigned n, uint64_t *value)
{
	if (n >= line->count)
		return scenario_refuse(s, "missing value after", line->word[0]);
	return scenario_value(s, line->word[n], value);
}

static bool wrmsr(struct scenario *s, const struct line *line, unsigned at, bool fault)
{
	enum spmu_outcome outcome;
	uint64_t value = 0;
	uint32_t msr;

	if (line->count != at + 3)
		return scenario_refuse(s, "wrmsr REGISTER VALUE, not", line->word[at]);
	if (!scenario_msr(s, line->word[at + 1], &msr) ||
	    !scenario_value(s, line->word[at + 2], &value))
		return false;
	outcome = spmu_write_msr(s->core, s->lp, msr, value);
	if (fault) {
		s->expectations++;
		/* If the family lacks a register, the unit may also leave it to the host. */
		scenario_check(s, outcome != SPMU_DONE, "wrmsr %s 0x%llx: done, #GP expected",
			       line->word[at + 1], (unsigned long long)value);
		return true;
	}
	return scenario_check(s, outcome == SPMU_DONE, "wrmsr %s 0x%llx: outcome %d",
			      line->word[at + 1], (unsigned long long)value, outcome);
}

/* rdmsr REGISTER [& MASK] = VALUE */
static bool rdmsr(struct scenario *s, const struct line *line)
{
	uint64_t mask = ~UINT64_C(0), want = 0, value = 0;
	unsigned at = 2;
	uint32_t msr;

	if (line->count < 4 || !scenario_msr(s, line->word[1], &msr))
		return scenario_refuse(s, "rdmsr REGISTER = VALUE, not", line->word[0]);
	if (!strcmp(line->word[at], "&")) {
		if (!argument(s, line, at + 1, &mask))
			return false;
		at += 2;
	}
	if (line->count != at + 2 || strcmp(line->word[at], "="))
		return scenario_refuse(s, "rdmsr REGISTER = VALUE, not", line->word[0]);
	if (!argument(s, line, at + 1, &want))
		return false;
	s->expectations++;
	enum spmu_outcome outcome = spmu_read_msr(s->core, s->lp, msr, &value);

	scenario_check(s, outcome == SPMU_DONE && (value & mask) == want,
		       "rdmsr %s: outcome %d, 0x%llx, not 0x%llx", line->word[1], outcome,
		       (unsigned long long)(value & mask), (unsigned long long)want);
	return true;
}

/* rdpmc ECX [cpl=N] [pce=N] [pe=N] = VALUE; or "gp rdpmc ECX ...", "ud rdpmc ECX ..." */
static bool rdpmc(struct scenario *s, const struct line *line, unsigned at, bool fault)
{
	uint64_t ecx = 0, cpl = 0, pce = 0, pe = 1, want = 0, value = 0;
	bool wanted = false, undefined = fault && !strcmp(line->word[0], "ud");
	const char *text;

	if (!argument(s, line, at + 1, &ecx))
		return false;
	for (unsigned i = at + 2; i < line->count; i++) {
		uint64_t *to;

		if (!strcmp(line->word[i], "=")) {
			if (fault || !argument(s, line, ++i, &want))
				return scenario_refuse(s, "value", line->word[i]);
			wanted = true;
			continue;
		}
		if ((text = scenario_option(line->word[i], "cpl")))
			to = &cpl;
		else if ((text = scenario_option(line->word[i], "pce")))
			to = &pce;
		else if ((text = scenario_option(line->word[i], "pe")))
			to = &pe;
		else
			return scenario_refuse(s, "option", line->word[i]);
		if (!scenario_value(s, text, to))
			return false;
	}
	if (!fault && !wanted)
		return scenario_refuse(s, "rdpmc without an expectation", line->word[at]);
	s->expectations++;
	enum spmu_outcome outcome =
		spmu_rdpmc(s->core, s->lp, (uint32_t)ecx, (unsigned)cpl, pce != 0, pe != 0, &value);

	if (fault)
		scenario_check(s, outcome == (undefined ? SPMU_UD : SPMU_GP),
			       "rdpmc %s: outcome %d, #%s expected", line->word[at + 1], outcome,
			       undefined ? "UD" : "GP");
	else
		scenario_check(s, outcome == SPMU_DONE && value == want,
			       "rdpmc %s: outcome %d, 0x%llx, not 0x%llx", line->word[at + 1],
			       outcome, (unsigned long long)value, (unsigned long long)want);
	return true;
}

static bool fault(struct scenario *s, const struct line *line)
{
	uint64_t value = 0;
	uint32_t msr;

	if (line->count < 3)
		return scenario_refuse(s, "gp", "without an instruction");
	if (!strcmp(line->word[1], "wrmsr"))
		return wrmsr(s, line, 1, true);
	if (!strcmp(line->word[1], "rdpmc"))
		return rdpmc(s, line, 1, true);
	if (strcmp(line->word[1], "rdmsr"))
		return scenario_refuse(s, "instruction", line->word[1]);
	if (!scenario_msr(s, line->word[2], &msr))
		return false;
	s->expectations++;
	scenario_check(s, spmu_read_msr(s->core, s->lp, msr, &value) != SPMU_DONE,
		       "rdmsr %s: done, #GP expected", line->word[2]);
	return true;
}

static void one(struct scenario *s, struct spmu_insn *insn)
{
	s->tsc += 10;
	s->next_ip = insn->next_ip;
	s->events = spmu_retire(s->core, s->lp, insn);
	s->ip = insn->next_ip;
}

/* The accesses of data= and store=: without the second, the first may be of either kind. */
static unsigned list_accesses(uint64_t data, uint64_t store, struct spmu_memory_access list[2])
{
	list[0] = (struct spmu_memory_access){.linear = data,
					      .kind = store ? SPMU_ACCESS_LOAD : SPMU_ACCESS_DATA};
	list[1] = (struct spmu_memory_access){.linear = store, .kind = SPMU_ACCESS_STORE};
	return store ? 2 : data ? 1 : 0;
}

/* retire N [SIGNAL]... [ip=] [to=] [cpl=] [next_cpl=] [cycles=] [data=] [store=] */
static bool retire(struct scenario *s, const struct line *line)
{
	struct spmu_insn insn = {.signals = SPMU_SIGBIT(INSTRUCTIONS), .cycles = 1};
	uint64_t n = 0, cpl = s->cpl, next_cpl = s->cpl, cycles = 1, to = 0, ip = 0, signal = 0;
	uint64_t data = 0, store = 0;
	struct spmu_memory_access accesses[2];
	bool jumps = false;

	if (!argument(s, line, 1, &n))
		return false;
	for (unsigned i = 2; i < line->count; i++) {
		const struct {
			const char *key;
			uint64_t *value;
		} option[] = {{"ip", &ip},	   {"to", &to},
			      {"cpl", &cpl},	   {"next_cpl", &next_cpl},
			      {"cycles", &cycles}, {"data", &data},
			      {"store", &store}};
		const char *text = NULL;

		for (unsigned k = 0; k < sizeof(option) / sizeof(option[0]) && !text; k++)
			if ((text = scenario_option(line->word[i], option[k].key)) &&
			    !scenario_value(s, text, option[k].value))
				return false;
		if (text) {
			jumps |= scenario_option(line->word[i], "to") != NULL;
			if (scenario_option(line->word[i], "cpl"))
				next_cpl = cpl;
			continue;
		}
		if (!scenario_signal(s, line->word[i], &signal))
			return false;
		insn.signals |= signal;
	}
	insn.cpl = (uint8_t)cpl;
	insn.next_cpl = (uint8_t)next_cpl;
	insn.cycles = (uint32_t)cycles;
	insn.accesses = accesses;
	insn.access_count = (uint16_t)list_accesses(data, store, accesses);
	for (; n; n--) {
		insn.ip = ip ? ip : s->ip;
		insn.next_ip = jumps ? to : insn.ip + 4;
		one(s, &insn);
	}
	return true;
}

/* The parts of a branch line: FROM TO [cpl=] [next_cpl=] [cycles=] [miss=]. */
static bool take_branch(struct scenario *s, const struct line *line, unsigned at,
			struct spmu_branch *branch, bool *miss)
{
	uint64_t cpl = s->cpl, next_cpl = s->cpl, cycles = 1, missed = 0;
	bool next = false;

	if (!argument(s, line, at, &branch->from) || !argument(s, line, at + 1, &branch->to))
		return false;
	for (unsigned i = at + 2; i < line->count; i++) {
		const struct {
			const char *key;
			uint64_t *value;
		} option[] = {{"cpl", &cpl},
			      {"next_cpl", &next_cpl},
			      {"cycles", &cycles},
			      {"miss", &missed}};
		const char *text = NULL;

		for (unsigned k = 0; k < 4 && !text; k++)
			if ((text = scenario_option(line->word[i], option[k].key)) &&
			    !scenario_value(s, text, option[k].value))
				return false;
		if (!text)
			return scenario_refuse(s, "option", line->word[i]);
		next |= scenario_option(line->word[i], "next_cpl") != NULL;
	}
	branch->cpl = (uint8_t)cpl;
	branch->next_cpl = (uint8_t)(next ? next_cpl : cpl);
	branch->cycles = (uint32_t)cycles;
	*miss = missed != 0;
	return true;
}

/* branch KIND FROM TO ...: an instruction; "bulk KIND FROM TO ...": handed over afterwards. */
static bool branch(struct scenario *s, const struct line *line, bool bulk)
{
	struct spmu_branch b = {0};
	uint64_t signals = 0;
	bool miss;

	if (line->count < 4 || !scenario_signal(s, line->word[1], &signals) ||
	    !take_branch(s, line, 2, &b, &miss))
		return false;
	if (!(signals & SPMU_SIGSET_BRANCHES))
		return scenario_refuse(s, "kind of branch", line->word[1]);
	if (bulk) {
		b.signal = (uint8_t)__builtin_ctzll(signals);
		b.flags = miss ? SPMU_BRANCH_MISPREDICTED : 0;
		s->events = spmu_branches(s->core, s->lp, &b, 1);
		s->ip = b.to;
		return true;
	}
	struct spmu_insn insn = {
		.ip = b.from,
		.next_ip = b.to,
		.signals =
			SPMU_SIGBIT(INSTRUCTIONS) | signals | (miss ? SPMU_SIGBIT(BRANCH_MISS) : 0),
		.cycles = b.cycles,
		.cpl = b.cpl,
		.next_cpl = b.next_cpl,
	};

	one(s, &insn);
	return true;
}

/* event FROM TO ...: an exception or interrupt, as a host reports it. */
static bool event(struct scenario *s, const struct line *line)
{
	struct spmu_branch b = {.signal = SPMU_SIG_FAR, .flags = SPMU_BRANCH_EVENT};
	bool miss;

	if (!take_branch(s, line, 1, &b, &miss))
		return false;
	s->events = spmu_branches(s->core, s->lp, &b, 1);
	s->ip = b.to;
	return true;
}

/* clocks N [cpl=N]: core and reference clocks in which nothing retires. */
static bool clocks(struct scenario *s, const struct line *line)
{
	uint64_t n = 0, cpl = s->cpl;
	const char *text;

	if (!argument(s, line, 1, &n))
		return false;
	for (unsigned i = 2; i < line->count; i++)
		if (!(text = scenario_option(line->word[i], "cpl")) ||
		    !scenario_value(s, text, &cpl))
			return scenario_refuse(s, "option", line->word[i]);
	s->events = spmu_clocks(s->core, s->lp, SPMU_SIGBIT(CYCLES) | SPMU_SIGBIT(REF_CYCLES), n,
				(unsigned)cpl);
	return true;
}

/* poke FIELD-OF-THE-AREA VALUE */
static bool poke(struct scenario *s, const struct line *line)
{
	uint64_t linear = 0, value = 0;
	unsigned bytes;

	if (line->count != 3 || !scenario_area_field(s, line->word[1], &linear, &bytes))
		return scenario_refuse(s, "field of the DS area",
				       line->count > 1 ? line->word[1] : "");
	if (!scenario_value(s, line->word[2], &value))
		return false;
	scenario_store(s, linear, bytes, value);
	return true;
}

/* unmap FROM BYTES; protect FROM BYTES (it can be read); mapped: no holes any more. */
static bool unmap(struct scenario *s, const struct line *line, bool readable)
{
	uint64_t from = 0, bytes = 0;

	if (!argument(s, line, 1, &from) || !argument(s, line, 2, &bytes))
		return false;
	if (s->holes == sizeof(s->hole) / sizeof(s->hole[0]))
		return scenario_refuse(s, "one hole more than there may be:", line->word[1]);
	s->hole[s->holes++] = (struct scenario_hole){from, from + bytes, readable};
	return true;
}

static bool lvt(struct scenario *s, const struct line *line)
{
	uint64_t value = 0;

	if (line->count == 3 && !strcmp(line->word[1], "=")) {
		if (!argument(s, line, 2, &value))
			return false;
		s->expectations++;
		scenario_check(s, spmu_read_lvt(s->core, s->lp) == value, "LVT 0x%x, not 0x%llx",
			       spmu_read_lvt(s->core, s->lp), (unsigned long long)value);
		return true;
	}
	if (line->count != 2 || !argument(s, line, 1, &value))
		return scenario_refuse(s, "lvt VALUE or lvt = VALUE, not", line->word[0]);
	spmu_write_lvt(s->core, s->lp, (uint32_t)value);
	return true;
}

static bool number(struct scenario *s, const struct line *line, uint64_t below, unsigned *to)
{
	uint64_t value = 0;

	if (!argument(s, line, 1, &value))
		return false;
	if (value >= below)
		return scenario_refuse(s, "number", line->word[1]);
	*to = (unsigned)value;
	return true;
}

/* Lines that are one call and have no words of their own. */
static bool single(struct scenario *s, const char *word)
{
	if (!strcmp(word, "reset"))
		spmu_reset(s->core, s->lp);
	else if (!strcmp(word, "init"))
		spmu_init(s->core, s->lp);
	else if (!strcmp(word, "machine_check"))
		spmu_machine_check(s->core, s->lp);
	else if (!strcmp(word, "deep_sleep"))
		spmu_deep_sleep(s->core, s->lp);
	else if (!strcmp(word, "sync"))
		spmu_sync(s->core);
	else if (!strcmp(word, "smi"))
		spmu_smm(s->core, s->lp, true);
	else if (!strcmp(word, "rsm"))
		spmu_smm(s->core, s->lp, false);
	else if (!strcmp(word, "halt"))
		(void)spmu_set_halted(s->core, s->lp, true);
	else if (!strcmp(word, "wake"))
		(void)spmu_set_halted(s->core, s->lp, false);
	else if (!strcmp(word, "debug_exception"))
		spmu_debug_exception(s->core, s->lp);
	else if (!strcmp(word, "mapped"))
		s->holes = 0;
	else
		return scenario_refuse(s, "command", word);
	return true;
}

bool scenario_command(struct scenario *s, const struct line *line)
{
	const char *word = line->word[0];

	if (!strcmp(word, "wrmsr"))
		return wrmsr(s, line, 0, false);
	if (!strcmp(word, "rdmsr"))
		return rdmsr(s, line);
	if (!strcmp(word, "rdpmc"))
		return rdpmc(s, line, 0, false);
	if (!strcmp(word, "gp"))
		return fault(s, line);
	if (!strcmp(word, "ud"))
		return line->count > 2 && !strcmp(line->word[1], "rdpmc")
			       ? rdpmc(s, line, 1, true)
			       : scenario_refuse(s, "instruction after", "ud");
	if (!strcmp(word, "retire"))
		return retire(s, line);
	if (!strcmp(word, "branch"))
		return branch(s, line, false);
	if (!strcmp(word, "bulk"))
		return branch(s, line, true);
	if (!strcmp(word, "event"))
		return event(s, line);
	if (!strcmp(word, "clocks"))
		return clocks(s, line);
	if (!strcmp(word, "ds"))
		return scenario_ds(s, line);
	if (!strcmp(word, "poke"))
		return poke(s, line);
	if (!strcmp(word, "unmap"))
		return unmap(s, line, false);
	if (!strcmp(word, "protect"))
		return unmap(s, line, true);
	if (!strcmp(word, "lvt"))
		return lvt(s, line);
	if (!strcmp(word, "thread"))
		return number(s, line, s->threads, &s->lp);
	if (!strcmp(word, "cpl"))
		return number(s, line, 4, &s->cpl);
	return line->count == 1 ? single(s, word) : scenario_refuse(s, "command", word);
}
