/* SPDX-License-Identifier: MIT */
/*
 * fuzz_decode.c: insn_decode() against Zydis. Both must find the same length if both know the
 * instruction, and the decoder must never read past the bytes that it has. insn_decode_known() must
 * agree.
 */
#include "fuzz.h"
#include "hosts/user/decode/decode_cache.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>

static ZydisDecoder decoder;

/* The memory has exactly this size, so that the address sanitizer sees an overrun. */
static bool decode_exactly(const uint8_t *data, size_t size, struct insn *insn)
{
	static struct decode_cache heads;
	uint8_t *copy = malloc(size);
	struct insn known;
	bool decoded;

	FUZZ_HOLDS(copy);
	memcpy(copy, data, size);
	decoded = insn_decode(copy, size, 0x401000, insn);
	FUZZ_HOLDS(insn_decode_known(&heads, copy, size, 0x401000, &known) ==
		   (decoded ? insn->length : 0u));
	FUZZ_HOLDS(!decoded || !memcmp(&known, insn, sizeof(known)));
	free(copy);
	return decoded;
}

/* Instructions that only the first Xeon Phi or VIA has. No processor with our models has them. */
static bool is_foreign(const ZydisDecodedInstruction *insn)
{
	switch (insn->meta.isa_ext) {
	case ZYDIS_ISA_EXT_KNC:
	case ZYDIS_ISA_EXT_KNCE:
	case ZYDIS_ISA_EXT_KNCV:
	case ZYDIS_ISA_EXT_PADLOCK:
		return true;
	default:
		return insn->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ZydisDecoderContext context;
	ZydisDecodedInstruction theirs;
	struct insn ours = {0}, again = {0};

	if (!decoder.stack_width)
		FUZZ_HOLDS(ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
							 ZYDIS_STACK_WIDTH_64)));
	if (!size)
		return 0;
	bool decoded = decode_exactly(data, size, &ours);
	ZyanStatus status = ZydisDecoderDecodeInstruction(&decoder, &context, data, size, &theirs);

	if (!decoded) {
		/* The decoder needs more bytes, and Zydis finds no shorter instruction in these. */
		FUZZ_HOLDS(size < INSN_BYTES_MAX);
		FUZZ_HOLDS(!ZYAN_SUCCESS(status));
		return 0;
	}
	FUZZ_HOLDS(ours.length >= 1 && ours.length <= INSN_BYTES_MAX && ours.length <= size);
	/* An instruction that Zydis knows must not raise #UD under the translator. */
	if (ours.kind == INSN_UNDEFINED) {
		FUZZ_HOLDS(!ZYAN_SUCCESS(status) || is_foreign(&theirs));
		return 0;
	}
	/* The instruction alone decodes as it does with the bytes after it. */
	FUZZ_HOLDS(decode_exactly(data, ours.length, &again));
	FUZZ_HOLDS(again.length == ours.length && again.kind == ours.kind);
	/* INSN_TRAP holds opcodes that Zydis may refuse (UD0 forms): their length is not used. */
	if (!ZYAN_SUCCESS(status))
		return 0;
	FUZZ_HOLDS(theirs.length == ours.length);
	return 0;
}
