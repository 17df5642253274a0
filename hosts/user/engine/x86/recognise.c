/* SPDX-License-Identifier: MIT */
/*
 * recognise.c: instructions that are known by their bytes, without decoding: some of the program's,
 * and those that emit.c has written.
 */
#include "engine/x86/recognise.h"

#include <softpmu/client.h>

#include "engine/rt/sys.h"
#include "engine/x86/emit.h"
#include "engine/x86/opcodes.h"

#define MOVABS_BYTES 10

const uint8_t recognise_syscall[SYSCALL_BYTES] = {OPCODE_ESCAPE, 0x05};

static const uint8_t endbr64[] = {PREFIX_REP, OPCODE_ESCAPE, 0x1e, 0xfa};

static bool has_endbr64(const uint8_t *code)
{
	return !memcmp(code, endbr64, sizeof(endbr64));
}

bool recognise_plt_request(const uint8_t *code)
{
	if (has_endbr64(code))
		code += sizeof(endbr64);
	return code[0] == OPCODE_PUSH_IMM &&
	       (code[5] == OPCODE_JMP_REL32 ||
		(code[5] == PREFIX_BND && code[6] == OPCODE_JMP_REL32));
}

bool recognise_plt_jump(const uint8_t *code, unsigned *before)
{
	*before = has_endbr64(code) ? sizeof(endbr64) : 0;
	code += *before;
	return code[code[0] == PREFIX_BND] == OPCODE_GROUP_5;
}

bool recognise_rdtsc(const uint8_t *code)
{
	return code[0] == OPCODE_ESCAPE && code[1] == OPCODE_RDTSC;
}

bool recognise_int1_before(const uint8_t *end)
{
	return end[-1] == OPCODE_INT1;
}

bool recognise_int3_before(const uint8_t *end)
{
	return end[-1] == OPCODE_INT3;
}

bool recognise_half_push(const uint8_t *code)
{
	/* MOV DWORD [RSP], MOV DWORD [RSP+4] */
	static const uint8_t low[] = {0xc7, 0x04, 0x24}, high[] = {0xc7, 0x44, 0x24, 0x04};

	return !memcmp(code, low, sizeof(low)) || !memcmp(code, high, sizeof(high));
}

bool recognise_far_operand(const uint8_t *end, unsigned *reg)
{
	const uint8_t *load = end - MOVABS_BYTES;

	return emit_is_save(load - emit_word_bytes(), reg) && load[0] == 0x48 &&
	       (load[1] & 0xf8) == 0xb8; /* or there are NOPs before it */
}

bool recognise_prefix(uint8_t byte)
{
	switch (byte) {
	case PREFIX_ES:
	case PREFIX_CS:
	case PREFIX_SS:
	case PREFIX_DS:
	case PREFIX_FS:
	case PREFIX_GS:
	case PREFIX_OPERAND:
	case PREFIX_ADDRESS:
	case PREFIX_LOCK:
	case PREFIX_BND:
	case PREFIX_REP:
		return true;
	default:
		return is_rex(byte);
	}
}

unsigned recognise_modrm(const uint8_t *code, unsigned n, unsigned prefixes)
{
	static const uint8_t none[2];
	const uint8_t *at = prefixes + 2 <= n ? code + prefixes : none;

	switch (at[0]) {
	case OPCODE_ESCAPE:
		return prefixes + (at[1] == 0x38 || at[1] == 0x3a ? 3 : 2);
	case PREFIX_VEX2:
		return prefixes + 3;
	case PREFIX_VEX3:
	case PREFIX_XOP:
		return prefixes + 4;
	case PREFIX_EVEX:
		return prefixes + 5;
	default:
		return prefixes + 1;
	}
}

unsigned recognise_request(const uint8_t *code)
{
	static const uint8_t nop[] = {OPCODE_ESCAPE, OPCODE_NOP_OPERAND, 0x84, 0x00};
	uint32_t number;

	memcpy(&number, code + sizeof(nop), sizeof(number));
	if (memcmp(code, nop, sizeof(nop)) != 0 ||
	    (number & ~UINT32_C(0xff)) != SPMU_CLIENT_REQUEST)
		return 0;
	return number & 0xff;
}

/* XCHG RBX, RBX */
bool recognise_valgrind_exchange(const uint8_t *code)
{
	return code[0] == 0x48 && code[1] == 0x87 && code[2] == 0xdb;
}

/* After ROL RDI, 3; ROL RDI, 13; ROL RDI, 61; ROL RDI, 51, which leave RDI as it was. */
bool recognise_valgrind_request(const uint8_t *code)
{
	static const uint8_t preamble[VALGRIND_PREAMBLE_BYTES] = {
		0x48, 0xc1, 0xc7, 3,  0x48, 0xc1, 0xc7, 13,
		0x48, 0xc1, 0xc7, 61, 0x48, 0xc1, 0xc7, 51};

	return recognise_valgrind_exchange(code) &&
	       !memcmp(code - sizeof(preamble), preamble, sizeof(preamble));
}

bool recognise_activity_store(const uint8_t *code, unsigned *log)
{
	*log = 8 + (code[2] & 7u);
	return (code[0] & 0xfb) == 0x49 /* REX.W, REX.B, perhaps REX.R */ &&
	       ((code[1] == 0xc7 && (code[2] & 0xf8) == 0x40) ||
		(code[1] == 0x89 && code[2] >> 6 == 2));
}

bool recognise_enter(const uint8_t *code, unsigned prefixes, unsigned n, unsigned *level)
{
	const uint8_t *opcode = code + prefixes + (is_rex(code[prefixes]) ? 1 : 0);

	*level = code[n - 1] & 31;
	return *opcode == OPCODE_ENTER;
}
