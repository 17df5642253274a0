/* SPDX-License-Identifier: MIT */
/* opcodes.h: opcodes, prefixes and parts of instructions by their names (Vol. 2). */
#ifndef SOFTPMU_ENGINE_OPCODES_H
#define SOFTPMU_ENGINE_OPCODES_H

#define OPCODE_JMP_REL32   0xe9
#define OPCODE_JCC_REL32   0x80 /* after OPCODE_ESCAPE; + the condition */
#define OPCODE_ESCAPE	   0x0f
#define OPCODE_PUSH_IMM	   0x68
#define OPCODE_GROUP_5	   0xff /* indirect jumps and calls, near and far */
#define OPCODE_ENTER	   0xc8
#define OPCODE_RETF_IMM	   0xca
#define OPCODE_RETF	   0xcb
#define OPCODE_INT3	   0xcc
#define OPCODE_INT	   0xcd
#define OPCODE_IRET	   0xcf
#define OPCODE_INT1	   0xf1
#define OPCODE_XCHG	   0x87
#define OPCODE_NOP_OPERAND 0x1f /* after OPCODE_ESCAPE */
#define OPCODE_RDTSC	   0x31 /* after OPCODE_ESCAPE; RDTSCP ends in another byte */
#define OPCODE_XBEGIN	   0xc7 /* XABORT ends in another byte */

#define SYSCALL_VECTOR 0x80 /* of INT */

#define PREFIX_ES      0x26
#define PREFIX_CS      0x2e
#define PREFIX_SS      0x36
#define PREFIX_DS      0x3e
#define PREFIX_FS      0x64
#define PREFIX_GS      0x65
#define PREFIX_OPERAND 0x66
#define PREFIX_ADDRESS 0x67
#define PREFIX_LOCK    0xf0
#define PREFIX_BND     0xf2 /* REPNE */
#define PREFIX_REP     0xf3
#define PREFIX_VEX2    0xc5
#define PREFIX_VEX3    0xc4
#define PREFIX_XOP     0x8f
#define PREFIX_EVEX    0x62

static inline int is_rex(unsigned byte)
{
	return (byte & 0xf0) == 0x40;
}
static inline int is_rex_w(unsigned byte)
{
	return (byte & 0xf8) == 0x48;
}
/* ModRM of an operand in memory at a distance from RIP. */
static inline int is_modrm_rip(unsigned modrm)
{
	return (modrm & 0xc7) == 0x05;
}

#endif
