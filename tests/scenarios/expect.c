/* SPDX-License-Identifier: MIT */
/* expect.c: checks what a scenario expects. */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

static bool value_at(struct scenario *s, const struct line *line, unsigned n, uint64_t *value)
{
	if (n >= line->count)
		return scenario_refuse(s, "missing value after", line->word[line->count - 1]);
	return scenario_value(s, line->word[n], value);
}

/* expect pmi N [vector=N] [delivery=fixed|nmi|smi]: N since the beginning. */
static bool expect_pmi(struct scenario *s, const struct line *line)
{
	uint64_t n = 0, vector = 0;
	const char *text;

	if (!value_at(s, line, 2, &n))
		return false;
	scenario_check(s, s->pmis[s->lp] == n, "%u PMIs, not %llu", s->pmis[s->lp],
		       (unsigned long long)n);
	for (unsigned i = 3; i < line->count; i++) {
		if ((text = scenario_option(line->word[i], "vector"))) {
			if (!scenario_value(s, text, &vector))
				return false;
			scenario_check(s, s->pmi[s->lp].vector == vector, "vector %u, not %llu",
				       s->pmi[s->lp].vector, (unsigned long long)vector);
			continue;
		}
		if (!(text = scenario_option(line->word[i], "delivery")))
			return scenario_refuse(s, "option", line->word[i]);
		scenario_check(s,
			       s->pmi[s->lp].delivery == (!strcmp(text, "nmi") ? SPMU_DELIVER_NMI
							  : !strcmp(text, "smi")
								  ? SPMU_DELIVER_SMI
								  : SPMU_DELIVER_FIXED),
			       "delivery %d, not %s", s->pmi[s->lp].delivery, text);
	}
	return true;
}

static uint64_t area_field(const struct scenario *s, const char *name)
{
	uint64_t linear = 0;
	unsigned bytes;

	if (!scenario_area_field(s, name, &linear, &bytes))
		return 0;
	return scenario_fetch(s, linear, bytes);
}

/* expect area FIELD VALUE */
static bool expect_area(struct scenario *s, const struct line *line)
{
	uint64_t linear = 0, want = 0;
	unsigned bytes;

	if (line->count != 4 || !scenario_area_field(s, line->word[2], &linear, &bytes))
		return scenario_refuse(s, "field of the DS area", line->word[line->count - 1]);
	if (!value_at(s, line, 3, &want))
		return false;
	if (bytes == 4)
		want &= 0xffffffff;
	scenario_check(s, scenario_fetch(s, linear, bytes) == want, "%s 0x%llx, not 0x%llx",
		       line->word[2], (unsigned long long)scenario_fetch(s, linear, bytes),
		       (unsigned long long)want);
	return true;
}

/* Returns where PEBS record n begins. Adaptive records contain their length. */
static uint64_t record_at(const struct scenario *s, uint64_t n)
{
	uint64_t at = SCENARIO_PEBS + s->lp * SCENARIO_PEBS_STEP;

	if (!s->family->adaptive)
		return at + n * scenario_record_bytes(s);
	for (; n; n--)
		at += scenario_fetch(s, at, 8) >> 48;
	return at;
}

/* expect records N: from the base to the index. */
static bool expect_records(struct scenario *s, const struct line *line)
{
	uint64_t want, end = area_field(s, "pebs_index");
	uint64_t n = 0;

	if (!value_at(s, line, 2, &want))
		return false;
	while (n < 64 && record_at(s, n) < end && record_at(s, n) < record_at(s, n + 1))
		n++;
	scenario_check(s, n == want && record_at(s, n) == end, "%llu records, not %llu%s",
		       (unsigned long long)n, (unsigned long long)want,
		       record_at(s, n) == end ? "" : "; the index is not after a record");
	return true;
}

/* expect pebs N FIELD=VALUE... */
static bool expect_pebs(struct scenario *s, const struct line *line)
{
	uint64_t n = 0, want = 0, got = 0;
	char name[32];

	if (line->count < 4 || !value_at(s, line, 2, &n))
		return scenario_refuse(s, "expect pebs N FIELD=VALUE, not", line->word[1]);
	for (unsigned i = 3; i < line->count; i++) {
		const char *equal = strchr(line->word[i], '=');
		size_t length = equal ? (size_t)(equal - line->word[i]) : sizeof(name);

		if (length >= sizeof(name))
			return scenario_refuse(s, "field", line->word[i]);
		memcpy(name, line->word[i], length);
		name[length] = 0;
		if (!scenario_value(s, equal + 1, &want))
			return false;
		if (!scenario_record_field(s, record_at(s, n), name, &got))
			return scenario_refuse(s, "field of this record", name);
		scenario_check(s, got == want, "record %llu: %s 0x%llx, not 0x%llx",
			       (unsigned long long)n, name, (unsigned long long)got,
			       (unsigned long long)want);
	}
	return true;
}

/* expect bts N FROM TO [predicted=0|1]: record N from the base. */
static bool expect_bts(struct scenario *s, const struct line *line)
{
	const struct family_area *area = scenario_area(s);
	uint64_t n = 0, from = 0, to = 0, at = 0, predicted = 0;

	if (line->count == 6) {
		const char *text = scenario_option(line->word[5], "predicted");

		if (!text || !scenario_value(s, text, &predicted))
			return scenario_refuse(s, "option", line->word[5]);
	}
	if (line->count < 5 || line->count > 6 || !area || !value_at(s, line, 2, &n) ||
	    !value_at(s, line, 3, &from) || !value_at(s, line, 4, &to))
		return scenario_refuse(s, "expect bts N FROM TO, not", line->word[1]);
	at = SCENARIO_BTS + s->lp * SCENARIO_BTS_STEP + n * area->bts_bytes;
	scenario_check(s,
		       scenario_fetch(s, at, area->field) == from &&
			       scenario_fetch(s, at + area->field, area->field) == to &&
			       scenario_fetch(s, at + 2u * area->field, area->field) ==
				       predicted << 4,
		       "BTS record %llu: 0x%llx to 0x%llx flags 0x%llx", (unsigned long long)n,
		       (unsigned long long)scenario_fetch(s, at, area->field),
		       (unsigned long long)scenario_fetch(s, at + area->field, area->field),
		       (unsigned long long)scenario_fetch(s, at + 2u * area->field, area->field));
	return true;
}

/* Returns what an entry's registers say, by the format (17.4.8.1). */
static bool lbr_entry(const struct scenario *s, uint64_t entry, uint64_t *from, uint64_t *to,
		      bool *miss, uint64_t *cycles)
{
	const struct family_lbr *lbr = s->family->lbr;
	uint64_t info = 0;

	if (spmu_read_msr(s->core, s->lp, lbr->from + (uint32_t)entry, from) != SPMU_DONE ||
	    spmu_read_msr(s->core, s->lp, lbr->to + (uint32_t)entry, to) != SPMU_DONE)
		return false;
	if (lbr->info &&
	    spmu_read_msr(s->core, s->lp, lbr->info + (uint32_t)entry, &info) != SPMU_DONE)
		return false;
	*miss = lbr->info ? info >> 63 : lbr->format >= 3 ? *from >> 63 : 0;
	*cycles = lbr->info ? info & 0xffff : lbr->format == 6 ? *to >> 48 : 0;
	if (lbr->format == 0) {
		*to = *from >> 32;
		*from &= 0xffffffff;
	}
	if (lbr->format == 3 || lbr->format == 6)
		*from = (uint64_t)((int64_t)(*from << 1) >> 1);
	if (lbr->format == 4)
		*from = (uint64_t)((int64_t)(*from << 3) >> 3);
	if (lbr->format == 6)
		*to = (uint64_t)((int64_t)(*to << 16) >> 16);
	return true;
}

/* expect lbr N FROM TO [miss=0|1] [cycles=N]: N back from the newest. */
static bool expect_lbr(struct scenario *s, const struct line *line)
{
	const struct family_lbr *lbr = s->family->lbr;
	uint64_t n = 0, from = 0, to = 0, got_from = 0, got_to = 0, cycles = 0, tos = 0, want = 0;
	bool miss = false;
	const char *text;

	if (line->count < 5 || !lbr || !value_at(s, line, 2, &n) || !value_at(s, line, 3, &from) ||
	    !value_at(s, line, 4, &to))
		return scenario_refuse(s, "expect lbr N FROM TO, not", line->word[1]);
	if ((lbr->tos && spmu_read_msr(s->core, s->lp, lbr->tos, &tos) != SPMU_DONE) ||
	    !lbr_entry(s, lbr->ctl ? n : (tos + lbr->depth - n % lbr->depth) % lbr->depth,
		       &got_from, &got_to, &miss, &cycles)) {
		scenario_check(s, false, "last branch registers cannot be read");
		return true;
	}
	scenario_check(s, got_from == from && got_to == to,
		       "last branch %llu: 0x%llx to 0x%llx (TOS %llu)", (unsigned long long)n,
		       (unsigned long long)got_from, (unsigned long long)got_to,
		       (unsigned long long)tos);
	for (unsigned i = 5; i < line->count; i++) {
		if (!(text = scenario_option(line->word[i], "miss")) &&
		    !(text = scenario_option(line->word[i], "cycles")))
			return scenario_refuse(s, "option", line->word[i]);
		if (!scenario_value(s, text, &want))
			return false;
		bool flag = line->word[i][0] == 'm';

		scenario_check(s, (flag ? (uint64_t)miss : cycles) == want, "%s, not so",
			       line->word[i]);
	}
	return true;
}

/* expect events pmi record: of the last instruction or branch; "none". */
static bool expect_events(struct scenario *s, const struct line *line)
{
	unsigned want = 0;

	for (unsigned i = 2; i < line->count; i++) {
		if (!strcmp(line->word[i], "pmi"))
			want |= SPMU_EV_PMI;
		else if (!strcmp(line->word[i], "record"))
			want |= SPMU_EV_RECORD;
		else if (strcmp(line->word[i], "none"))
			return scenario_refuse(s, "event", line->word[i]);
	}
	scenario_check(s, (s->events & (SPMU_EV_PMI | SPMU_EV_RECORD)) == want, "events %u, not %u",
		       s->events & (SPMU_EV_PMI | SPMU_EV_RECORD), want);
	return true;
}

/* expect cpuid LEAF REGISTER [& MASK] VALUE */
static bool expect_cpuid(struct scenario *s, const struct line *line)
{
	uint64_t leaf = 0, want = 0, mask = 0xffffffff;
	struct spmu_cpuid_regs regs = {0};
	unsigned at = 4;

	if (line->count < 5 || !value_at(s, line, 2, &leaf))
		return scenario_refuse(s, "expect cpuid LEAF REGISTER VALUE, not", line->word[1]);
	if (!strcmp(line->word[at], "&")) {
		if (!value_at(s, line, at + 1, &mask))
			return false;
		at += 2;
	}
	if (!value_at(s, line, at, &want))
		return false;
	const struct {
		const char *name;
		uint32_t *value;
	} out[] = {{"eax", &regs.eax}, {"ebx", &regs.ebx}, {"ecx", &regs.ecx}, {"edx", &regs.edx}};

	(void)spmu_cpuid(s->core, (uint32_t)leaf, 0, &regs);
	for (unsigned i = 0; i < 4; i++)
		if (!strcmp(line->word[3], out[i].name))
			return scenario_check(s, (*out[i].value & mask) == want,
					      "%s 0x%x, not 0x%llx", out[i].name, *out[i].value,
					      (unsigned long long)want) ||
			       true;
	return scenario_refuse(s, "register", line->word[3]);
}

/* expect steps_on_branches 0|1 */
static bool expect_steps(struct scenario *s, const struct line *line)
{
	uint64_t want = 0;

	if (!value_at(s, line, 2, &want))
		return false;
	scenario_check(s, spmu_steps_on_branches(s->core, s->lp) == (want != 0),
		       "steps on branches: not %llu", (unsigned long long)want);
	return true;
}

/* expect pin N TOGGLES: of counter N's pin since the beginning. */
static bool expect_pin(struct scenario *s, const struct line *line)
{
	uint64_t n = 0, want = 0;

	if (!value_at(s, line, 2, &n) || !value_at(s, line, 3, &want))
		return false;
	spmu_sync(s->core);
	scenario_check(s, s->pin[s->lp][n % 32] == want, "pin %llu toggled %llu times, not %llu",
		       (unsigned long long)n, (unsigned long long)s->pin[s->lp][n % 32],
		       (unsigned long long)want);
	return true;
}

/* expect refused N: N writes were to memory that does not exist. */
static bool expect_refused(struct scenario *s, const struct line *line)
{
	uint64_t want = 0;

	if (!value_at(s, line, 2, &want))
		return false;
	scenario_check(s, s->outside == want, "%llu writes were refused, not %llu",
		       (unsigned long long)s->outside, (unsigned long long)want);
	return true;
}

bool scenario_expect(struct scenario *s, const struct line *line)
{
	static const struct {
		const char *name;
		bool (*expect)(struct scenario *s, const struct line *line);
	} kinds[] = {
		{"pmi", expect_pmi},
		{"area", expect_area},
		{"records", expect_records},
		{"pebs", expect_pebs},
		{"bts", expect_bts},
		{"lbr", expect_lbr},
		{"events", expect_events},
		{"cpuid", expect_cpuid},
		{"steps_on_branches", expect_steps},
		{"refused", expect_refused},
		{"pin", expect_pin},
	};

	if (line->count < 3)
		return scenario_refuse(s, "expect", "without what");
	s->expectations++;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(line->word[1], kinds[i].name))
			return kinds[i].expect(s, line);
	return scenario_refuse(s, "expectation", line->word[1]);
}
