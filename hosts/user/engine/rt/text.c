/* SPDX-License-Identifier: MIT */
/* text.c: text of bounded size, for messages and names of files. */
#include "engine/rt/sys.h"

void text_start(struct text *t, char *buffer, size_t bytes)
{
	t->at = buffer;
	t->end = buffer + bytes - 1;
	*t->at = 0;
}

void text_add(struct text *t, const char *s)
{
	while (*s && t->at < t->end)
		*t->at++ = *s++;
	*t->at = 0;
}

static void add_in_base(struct text *t, uint64_t n, unsigned base)
{
	char digits[24];
	char *p = digits + sizeof(digits) - 1;

	*p = 0;
	do {
		*--p = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	text_add(t, p);
}

void text_add_number(struct text *t, uint64_t n)
{
	add_in_base(t, n, 10);
}

void text_add_hex(struct text *t, uint64_t n)
{
	text_add(t, "0x");
	add_in_base(t, n, 16);
}
