/* SPDX-License-Identifier: MIT */
/* disasm_att_names.c: mnemonics that have another name in AT&T's syntax. */
#include "tools/softpmu/disasm/disasm_att_names.h"

#include <stddef.h>
#include <string.h>

struct rename {
	const char *from, *to;
};

static const struct rename conditions[] = {{"z", "e"},	 {"nz", "ne"}, {"nb", "ae"}, {"nbe", "a"},
					   {"nle", "g"}, {"nl", "ge"}, {0}};

static const struct rename names[] = {{"cbw", "cbtw"},
				      {"cwde", "cwtl"},
				      {"cdqe", "cltq"},
				      {"cwd", "cwtd"},
				      {"cdq", "cltd"},
				      {"cqo", "cqto"},
				      {"pushfq", "pushf"},
				      {"popfq", "popf"},
				      {"iretd", "iret"},
				      {"xlat", "xlat %ds:(%rbx)"},
				      {0}};

static const char *renamed(const struct rename *list, const char *name)
{
	for (; list->from; list++) {
		if (!strcmp(list->from, name))
			return list->to;
	}
	return NULL;
}

const char *disasm_att_names_condition(const char *condition)
{
	return renamed(conditions, condition);
}

const char *disasm_att_names_mnemonic(const char *mnemonic)
{
	return renamed(names, mnemonic);
}
