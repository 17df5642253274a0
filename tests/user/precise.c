/* SPDX-License-Identifier: MIT */
/*
 * precise: checks that the samples of a run are those that the arming rule names.
 *
 * A counter that starts at -P overflows at occurrence P, which arms PEBS; occurrence P + 1 makes
 * the record and reloads the counter (Vol. 3B 18.4.4, 17.4.9).  So the k-th record's eventing IP is
 * that of occurrence k * (P + 1).  With precise distribution ("pdir-" before the mode, 18.9.4.4)
 * the overflow itself makes the record, and the IP is that of occurrence k * P.  Without PEBS the
 * interrupt comes with occurrence k * P and the sample's IP is that of the instruction after it.
 * Records of the first formats know only where execution went on ("next"), and NetBurst interrupts
 * one occurrence later ("late", 18.15.3).
 *
 * By a cascade (18.15.5.6) the occurrence of another event that ends the period starts the counter,
 * whose second occurrence after that interrupts.  Later occurrences of the other event belong to
 * the next period.
 *
 * usage: precise TRACE KEY PERIOD MODE [STARTER] < `perf script -F ip,...`
 * TRACE of the single-stepper; KEY as in steps.h.  MODE, and what lines are then:
 *	pebs, interrupt, next, late	`IP`
 *	cascade				`IP`; STARTER is the KEY whose occurrences PERIOD counts
 *	address, next-address		`ADDRESS IP`; of what is stored when KEY is stores
 *	registers			`IP ... AX:0x... BX:0x...`: all general registers after the
 *					instruction, compared with the file TRACE.registers (RAX
 *					after SYSCALL is not: the kernel changes it)
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps.h"

struct sample {
	uint64_t ip, address;
	struct step_registers after;
};

enum mode { PEBS, INTERRUPT, ADDRESS, REGISTERS, NEXT, LATE, NEXT_ADDRESS, CASCADE };

static struct step *steps;
static struct step_registers *registers;
static size_t step_count, register_count;
static bool stores; /* is the event */
static bool pdir;

static bool has_address(enum mode mode)
{
	return mode == ADDRESS || mode == NEXT_ADDRESS;
}

static bool is_after(enum mode mode)
{
	return mode == INTERRUPT || mode == NEXT || mode == LATE || mode == NEXT_ADDRESS ||
	       mode == CASCADE;
}

static uint64_t address_of(size_t at)
{
	return stores ? steps[at].store_address : steps[at].data_address;
}

/* A file of records of one size, whole. */
static void *read_file(const char *path, size_t record_bytes, size_t *count)
{
	FILE *f = fopen(path, "re");
	uint8_t *all = NULL;
	size_t room = 0, got = 0;

	if (!f) {
		perror(path);
		exit(2);
	}
	do {
		room = room ? room * 2 : 1 << 16;
		all = realloc(all, room * record_bytes);
		if (!all)
			exit(2);
		got += fread(all + got * record_bytes, record_bytes, room - got, f);
	} while (got == room);
	fclose(f);
	*count = got;
	return all;
}

static void read_registers(const char *line, struct step_registers *to)
{
	char name[16];
	unsigned n;

	for (n = 0; n < STEP_REGISTERS; n++) {
		const char *at;

		snprintf(name, sizeof(name), " %s:0x", step_register_names[n]);
		at = strstr(line, name);
		if (!at) {
			printf("no register %s in: %s", step_register_names[n], line);
			exit(1);
		}
		to->value[n] = strtoul(at + strlen(name), NULL, 16);
	}
}

static bool read_sample(enum mode mode, struct sample *s)
{
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		if (has_address(mode) && sscanf(line, "%lx %lx", &s->address, &s->ip) == 2)
			return true;
		if (!has_address(mode) && sscanf(line, "%lx", &s->ip) == 1) {
			if (mode == REGISTERS)
				read_registers(line, &s->after);
			return true;
		}
		if (strspn(line, " \t\n") != strlen(line)) {
			printf("not a sample: %s", line);
			exit(1);
		}
	}
	return false;
}

#define TRAP_FLAG   UINT64_C(0x100)
#define RESUME_FLAG UINT64_C(0x10000)

/* The flags after instruction `at` that the program goes on to read, on the path that it takes.
 * Of the others a host may have made use. */
static uint64_t live_flags(size_t at)
{
	uint64_t open = STEP_ARITHMETIC_FLAGS, live = 0;

	while (open && ++at < step_count) {
		live |= steps[at].flags_read & open;
		open &= ~(uint64_t)(steps[at].flags_read | steps[at].flags_written);
	}
	return live;
}

/* The name of a register that is not as after instruction `at`, or NULL. */
static const char *wrong_register(const struct step_registers *is, size_t at)
{
	const struct step_registers *want = &registers[at];
	unsigned n;

	for (n = 0; n < STEP_REGISTERS; n++) {
		uint64_t expected = want->value[n], actual = is->value[n];

		if (steps[at].signals & SPMU_SIGBIT(FAR) && n == 0)
			continue;
		/* The single-stepper runs with the trap flag; SYSCALL puts the flags into R11. */
		if (strcmp(step_register_names[n], "FLAGS") == 0 ||
		    strcmp(step_register_names[n], "R11") == 0) {
			expected &= ~(TRAP_FLAG | RESUME_FLAG);
			actual &= ~(TRAP_FLAG | RESUME_FLAG);
		}
		if (strcmp(step_register_names[n], "FLAGS") == 0 && expected != actual) {
			uint64_t unread = STEP_ARITHMETIC_FLAGS & ~live_flags(at);

			expected &= ~unread;
			actual &= ~unread;
		}
		if (expected != actual) {
			printf("%s is %lx, not %lx: ", step_register_names[n], actual, expected);
			return step_register_names[n];
		}
	}
	return NULL;
}

static const char *wrong(enum mode mode, const struct sample *s, size_t at)
{
	uint64_t after = at + 1 < step_count ? steps[at + 1].ip : s->ip;

	if (s->ip != (is_after(mode) ? after : steps[at].ip))
		return "address of the instruction";
	if (has_address(mode) && address_of(at) != s->address)
		return "data address";
	if (mode == REGISTERS && at < register_count)
		return wrong_register(&s->after, at);
	return NULL;
}

static uint64_t signals_of(const char *key)
{
	const struct step_event *e;

	for (e = step_events; e->key; e++)
		if (strcmp(e->key, key) == 0)
			return e->signals;
	fprintf(stderr, "precise: no event %s\n", key);
	exit(2);
}

static enum mode mode_of(const char *name)
{
	static const char *const names[] = {"pebs", "interrupt", "address",	 "registers",
					    "next", "late",	 "next-address", "cascade"};
	unsigned n;

	for (n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		if (strcmp(names[n], name) == 0)
			return (enum mode)n;
	fprintf(stderr, "precise: no mode %s\n", name);
	exit(2);
}

/* Whether instruction `at` ends a distance, by the event's occurrences alone. */
static bool due_by_count(enum mode mode, uint64_t occurrences, uint64_t distance)
{
	return occurrences > (mode == LATE) && (occurrences - (mode == LATE)) % distance == 0;
}

/* The two counters of a cascade. */
static struct {
	uint64_t signals, period; /* of the starter */
	uint64_t passed;	  /* since its period began */
	unsigned seen;		  /* of the other since it was started */
	bool started;
} cascade;

static bool due_by_cascade(size_t at, bool occurs)
{
	bool due = cascade.started && occurs && ++cascade.seen == 2;

	if (steps[at].signals & cascade.signals)
		cascade.passed++;
	if (due) {
		cascade.passed -= cascade.period;
		if (cascade.passed >= cascade.period)
			cascade.passed = 0;
		cascade.seen = 0;
	}
	cascade.started = !due && cascade.passed >= cascade.period;
	return due;
}

int main(int argc, char **argv)
{
	uint64_t signals, distance_events, occurrences = 0, records = 0, left = 0;
	struct sample s = {0};
	enum mode mode;
	size_t at;

	if (argc != (argc > 4 && strcmp(argv[4], "cascade") == 0 ? 6 : 5))
		return 2;
	steps = read_file(argv[1], sizeof(*steps), &step_count);
	signals = signals_of(argv[2]);
	pdir = strncmp(argv[4], "pdir-", 5) == 0;
	mode = mode_of(argv[4] + (pdir ? 5 : 0));
	stores = strcmp(argv[2], "stores") == 0;
	if (mode == REGISTERS) {
		char path[4096];

		snprintf(path, sizeof(path), "%s.registers", argv[1]);
		registers = read_file(path, sizeof(*registers), &register_count);
	}
	if (mode == CASCADE) {
		cascade.signals = signals_of(argv[5]);
		cascade.period = strtoul(argv[3], NULL, 10);
	}
	distance_events = strtoul(argv[3], NULL, 10) + (mode != INTERRUPT && mode != LATE && !pdir);
	for (at = 0; at < step_count; at++) {
		bool occurs = steps[at].signals & signals;
		const char *what;

		occurrences += occurs;
		if (mode == CASCADE ? !due_by_cascade(at, occurs)
				    : !occurs || !due_by_count(mode, occurrences, distance_events))
			continue;
		if (!read_sample(mode, &s)) {
			printf("%lu records, but occurrence %lu should make another\n", records,
			       occurrences);
			return 1;
		}
		records++;
		what = wrong(mode, &s, at);
		if (what) {
			printf("record %lu (occurrence %lu, instruction %zu): %s: ", records,
			       occurrences, at + 1, what);
			printf("expected ip %lx data %lx, is ip %lx data %lx\n", steps[at].ip,
			       address_of(at), s.ip, s.address);
			return 1;
		}
	}
	while (read_sample(mode, &s))
		left++;
	if (left) {
		printf("%lu records more than %lu\n", left, records);
		return 1;
	}
	printf("%lu records of %lu occurrences\n", records, occurrences);
	return 0;
}
