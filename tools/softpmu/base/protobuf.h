/* SPDX-License-Identifier: MIT */
/*
 * protobuf.h: writes messages of Protocol Buffers: numbers, texts, and messages inside of others.
 *
 * A message is built in memory, because its length is before it.
 */
#ifndef SOFTPMU_TOOL_PROTOBUF_H
#define SOFTPMU_TOOL_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct protobuf { /* all zeros: an empty message */
	uint8_t *bytes;
	size_t count, room;
};

/* Each adds a field to the message.  0 is the default of numbers and is left out. */
void protobuf_number(struct protobuf *message, unsigned field, uint64_t value);
void protobuf_text(struct protobuf *message, unsigned field, const char *text);
void protobuf_numbers(struct protobuf *message, unsigned field, const uint64_t *values,
		      size_t count);

/* Adds `part` as a field and empties it. */
void protobuf_message(struct protobuf *message, unsigned field, struct protobuf *part);

/* Writes the message and empties it. */
void protobuf_write(struct protobuf *message, FILE *to);
void protobuf_free(struct protobuf *message);

#endif
