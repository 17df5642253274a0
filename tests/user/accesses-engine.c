/* SPDX-License-Identifier: MIT */
/*
 * accesses-engine.c: stands between the engine and spmu_retire() (the linker's --wrap), and writes
 * the accesses of each instruction of accesses.c to the standard error stream.
 *
 * A line has the form of accesses.c.  They are between CASES and CASES_END (accesses.sh).
 */
#include <asm/unistd.h>
#include <softpmu/unit.h>

#include "engine/rt/sys.h"

#define CASES	  0x10000000u
#define CASES_END 0x10100000u

unsigned __real_spmu_retire(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn);
unsigned __wrap_spmu_retire(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn);

static void add(struct text *t, uint64_t number, const char *after)
{
	text_add_number(t, number);
	text_add(t, after);
}

unsigned __wrap_spmu_retire(struct spmu_core *core, unsigned lp, const struct spmu_insn *insn)
{
	char line[8192];
	struct text t;

	if (insn->ip >= CASES && insn->ip < CASES_END) {
		text_start(&t, line, sizeof(line));
		add(&t, insn->ip, ":");
		for (unsigned i = 0; i < insn->access_count; i++) {
			const struct spmu_memory_access *at = &insn->accesses[i];

			text_add(&t, " ");
			add(&t, at->kind, " ");
			add(&t, at->linear, " ");
			add(&t, at->bytes, " ");
			add(&t, at->repeats, ";");
		}
		text_add(&t, "\n");
		syscall3(__NR_write, 2, (long)line, (long)strlen(line));
	}
	return __real_spmu_retire(core, lp, insn);
}
