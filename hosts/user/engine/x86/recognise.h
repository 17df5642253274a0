/* SPDX-License-Identifier: MIT */
/* recognise.h: instructions that are known by their bytes, without decoding (recognise.c). */
#ifndef SOFTPMU_ENGINE_RECOGNISE_H
#define SOFTPMU_ENGINE_RECOGNISE_H

#include <stdbool.h>
#include <stdint.h>

/* The bytes that recognise_plt_request() and recognise_plt_jump() look at. */
#define PLT_REQUEST_BYTES 16
#define PLT_JUMP_BYTES	  11

/* Returns true for an entry of a procedure linkage table that asks the dynamic linker for a symbol:
 * PUSH n; JMP, both perhaps with a prefix. */
bool recognise_plt_request(const uint8_t *code);
/* Returns true for an entry that jumps through memory.  *before: bytes of ENDBR64 in front. */
bool recognise_plt_jump(const uint8_t *code, unsigned *before);

/* SYSCALL. */
#define SYSCALL_BYTES 2
extern const uint8_t recognise_syscall[SYSCALL_BYTES];

/* Returns true for RDTSC, which has RDTSC_BYTES. */
#define RDTSC_BYTES 2
bool recognise_rdtsc(const uint8_t *code);
/* Return true if INT1, or INT3, of one byte ends there. */
bool recognise_int1_before(const uint8_t *end);
bool recognise_int3_before(const uint8_t *end);

/* Code of emit_push_address() where the stack pointer has moved and the address is not stored
 * yet. */
bool recognise_half_push(const uint8_t *code);
/* Code of emit_copy() that has loaded an address into a register: the address is 8 bytes before
 * `end`. Sets *reg to the register, which was saved before. */
bool recognise_far_operand(const uint8_t *end, unsigned *reg);

/* Returns the operation of a request of softpmu/client.h, an instruction of REQUEST_BYTES; 0: it is
 * none. */
#define REQUEST_BYTES 8
unsigned recognise_request(const uint8_t *code);

/* Returns true for the XCHG of VALGRIND_EXCHANGE_BYTES that ends a client request of valgrind.
 * Looks at VALGRIND_PREAMBLE_BYTES before it. */
#define VALGRIND_EXCHANGE_BYTES 3
#define VALGRIND_PREAMBLE_BYTES 16
bool recognise_valgrind_exchange(const uint8_t *code);
bool recognise_valgrind_request(const uint8_t *code);

/* Stores of emit_activity.c.  Sets *log to the register with the place in the log. */
bool recognise_activity_store(const uint8_t *code, unsigned *log);

/* Returns true for ENTER, an instruction of n bytes after this many prefixes other than REX.  Sets
 * its nesting level. */
bool recognise_enter(const uint8_t *code, unsigned prefixes, unsigned n, unsigned *level);

/* Returns true for a prefix, REX among them. */
bool recognise_prefix(uint8_t byte);
/* Returns where ModRM is, if the instruction of n bytes has one, after this many prefixes. */
unsigned recognise_modrm(const uint8_t *code, unsigned n, unsigned prefixes);

#endif
