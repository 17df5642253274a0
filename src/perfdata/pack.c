/* SPDX-License-Identifier: MIT */
/*
 * pack.c: the zstd stream in PERF_RECORD_COMPRESSED records.
 *
 * Each record ends with a flush, so what was compressed until then can be read if the writer is
 * killed.  The stream goes on in the next record.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include <src/perfdata/pack.h>

struct packer {
	ZSTD_CStream *stream;
};

struct packer *packer_create(int level)
{
	struct packer *packer = calloc(1, sizeof(*packer));

	if (!packer)
		return NULL;
	packer->stream = ZSTD_createCStream();
	if (packer->stream && !ZSTD_isError(ZSTD_initCStream(packer->stream, level)))
		return packer;
	packer_free(packer);
	return NULL;
}

void packer_free(struct packer *packer)
{
	if (packer)
		ZSTD_freeCStream(packer->stream);
	free(packer);
}

size_t packer_add(struct packer *packer, const uint8_t *bytes, size_t count, uint8_t *to)
{
	struct perf_event_header header = {.type = RECORD_COMPRESSED};
	ZSTD_inBuffer in = {bytes, count, 0};
	ZSTD_outBuffer out = {to + sizeof(header), RECORD_BYTES_MAX - sizeof(header), 0};
	size_t left;

	if (count > PACK_BYTES)
		return 0;
	left = ZSTD_compressStream(packer->stream, &out, &in);
	if (ZSTD_isError(left) || in.pos < in.size)
		return 0;
	/* 0: nothing is left in the stream */
	if (ZSTD_flushStream(packer->stream, &out))
		return 0;
	header.size = (uint16_t)(sizeof(header) + out.pos);
	memcpy(to, &header, sizeof(header));
	return header.size;
}

/* --- reading ---------------------------------------------------------------------------------- */

struct unpacker {
	ZSTD_DStream *stream;
	uint8_t part[PACK_BYTES];
};

struct unpacker *unpacker_create(void)
{
	struct unpacker *unpacker = calloc(1, sizeof(*unpacker));

	if (!unpacker)
		return NULL;
	unpacker->stream = ZSTD_createDStream();
	if (unpacker->stream && !ZSTD_isError(ZSTD_initDStream(unpacker->stream)))
		return unpacker;
	unpacker_free(unpacker);
	return NULL;
}

void unpacker_free(struct unpacker *unpacker)
{
	if (unpacker)
		ZSTD_freeDStream(unpacker->stream);
	free(unpacker);
}

bool unpacker_add(struct unpacker *unpacker, const uint8_t *body, size_t count,
		  bool (*take)(void *opaque, const uint8_t *bytes, size_t count), void *opaque)
{
	ZSTD_inBuffer in = {body, count, 0};
	ZSTD_outBuffer out;

	/* A full buffer says that there may be more, even if all of the body was taken. */
	do {
		out = (ZSTD_outBuffer){unpacker->part, sizeof(unpacker->part), 0};
		if (ZSTD_isError(ZSTD_decompressStream(unpacker->stream, &out, &in)))
			return false;
		if (out.pos && !take(opaque, unpacker->part, out.pos))
			return false;
	} while (in.pos < in.size || out.pos == out.size);
	return true;
}
