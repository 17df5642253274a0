/* SPDX-License-Identifier: MIT */
/* protobuf.c: the encoding of Protocol Buffers: a field is a number, a type and a value. */
#include "tools/softpmu/base/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

enum wire_type { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

static void put_byte(struct protobuf *message, uint8_t byte)
{
	message->bytes = tool_room(message->bytes, &message->room, message->count, 1);
	message->bytes[message->count++] = byte;
}

/* Seven bits in a byte, the lowest first.  The highest bit says that more follow. */
static void put_number(struct protobuf *message, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(message, (uint8_t)(value | 0x80));
	put_byte(message, (uint8_t)value);
}

static void put_bytes(struct protobuf *message, unsigned field, const void *bytes, size_t count)
{
	put_number(message, field << 3 | WIRE_BYTES);
	put_number(message, count);
	for (size_t i = 0; i < count; i++)
		put_byte(message, ((const uint8_t *)bytes)[i]);
}

void protobuf_number(struct protobuf *message, unsigned field, uint64_t value)
{
	if (!value)
		return;
	put_number(message, field << 3 | WIRE_NUMBER);
	put_number(message, value);
}

void protobuf_text(struct protobuf *message, unsigned field, const char *text)
{
	put_bytes(message, field, text, strlen(text));
}

void protobuf_numbers(struct protobuf *message, unsigned field, const uint64_t *values,
		      size_t count)
{
	struct protobuf list = {NULL, 0, 0};

	for (size_t i = 0; i < count; i++)
		put_number(&list, values[i]);
	protobuf_message(message, field, &list);
	protobuf_free(&list);
}

void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *part)
{
	put_bytes(message, field, part->bytes, part->count);
	part->count = 0;
}

void protobuf_write(struct protobuf *message, FILE *to)
{
	if (message->count)
		fwrite(message->bytes, message->count, 1, to);
	message->count = 0;
}

void protobuf_free(struct protobuf *message)
{
	free(message->bytes);
}
