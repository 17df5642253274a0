/* SPDX-License-Identifier: MIT */
/*
 * demangle.c: decodes names by libiberty, and keeps what it has decoded.
 *
 * A version ("@@GLIBCXX_3.4") is not part of the encoding.  It is taken off, and put back at the
 * end.
 */
#include "tools/softpmu/symbols/demangle.h"

#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/numbering.h"
#include "tools/softpmu/base/tool.h"

static bool switched_off;

/* The names so far. */
static struct decoded {
	const char *name;  /* a copy of the encoded name */
	const char *shown; /* the same pointer if it is not encoded */
} * decoded;
static size_t decoded_count, decoded_room;
static struct numbering numbers;

void demangle_switch_off(void)
{
	switched_off = true;
}

/* Decodes a name without a version.  Returns NULL if it is not encoded; otherwise to free(). */
static char *decode(const char *name, int options)
{
	/* libiberty takes a D name for a C++ name unless it is told. */
	if (!strncmp(name, "_D", 2))
		return cplus_demangle(name, options | DMGL_DLANG);
	if (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2))
		return cplus_demangle(name, options | DMGL_AUTO);
	return NULL;
}

/* Decodes a name that may have a version.  Returns NULL if it is not encoded. */
static char *decode_versioned(const char *name, int options)
{
	const char *version = strchr(name, '@');
	char *bare, *text, *whole;

	if (!version)
		return decode(name, options);
	bare = tool_print("%.*s", (int)(version - name), name);
	text = decode(bare, options);
	free(bare);
	if (!text)
		return NULL;
	whole = tool_print("%s%s", text, version);
	free(text);
	return whole;
}

static bool same_name(const void *names, uint32_t number, const void *name)
{
	return !strcmp(((const struct decoded *)names)[number].name, name);
}

static uint64_t hash_of_name(const char *name)
{
	uint64_t hash = 0;

	while (*name)
		hash = numbering_mix(hash, (unsigned char)*name++);
	return hash;
}

const char *demangle_name(const char *name)
{
	uint32_t number;
	char *text;

	if (switched_off || name[0] != '_' || !name[1] || !strchr("ZRD", name[1]))
		return name;
	number = numbering_find(&numbers, hash_of_name(name), same_name, decoded, name);
	if (number == decoded_count) {
		text = decode_versioned(name, DMGL_NO_OPTS);
		decoded = tool_room(decoded, &decoded_room, decoded_count, sizeof(*decoded));
		decoded[number].name = tool_copy(name);
		decoded[number].shown = text ? text : decoded[number].name;
		decoded_count++;
	}
	return decoded[number].shown;
}

static bool matches(const char *text, const char *pattern)
{
	/* The names of operators have characters of patterns: "operator*". */
	return text && (!strcmp(text, pattern) || !fnmatch(pattern, text, 0));
}

bool demangle_matches(const char *name, const char *pattern)
{
	char *bare, *plain, *full;
	bool same = matches(name, pattern);

	if (same)
		return true;
	bare = tool_print("%.*s", (int)strcspn(name, "@"), name);
	plain = decode(bare, DMGL_NO_OPTS);
	full = plain ? decode(bare, DMGL_PARAMS | DMGL_ANSI) : NULL;
	same = matches(bare, pattern) || matches(plain, pattern) || matches(full, pattern);
	free(bare);
	free(plain);
	free(full);
	return same;
}
