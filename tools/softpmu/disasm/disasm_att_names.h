/* SPDX-License-Identifier: MIT */
/* disasm_att_names.h: mnemonics that have another name in AT&T's syntax. */
#ifndef SOFTPMU_DISASM_ATT_NAMES_H
#define SOFTPMU_DISASM_ATT_NAMES_H

/* Return AT&T's name of a condition ("nz"), and of a whole mnemonic; NULL: it has the same. */
const char *disasm_att_names_condition(const char *condition);
const char *disasm_att_names_mnemonic(const char *mnemonic);

#endif
