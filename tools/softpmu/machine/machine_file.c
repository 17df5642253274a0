/* SPDX-License-Identifier: MIT */
/*
 * machine_file.c: a file that describes a machine: a line KEY = VALUE for each parameter.  `base =
 * NAME` copies a machine of the library, so that only what differs must follow.  Text after # is a
 * comment.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/machine/machine_options.h"

/* Returns the text without blanks at both ends.  Changes it. */
static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text;
}

static char *set_base(struct spmu_machine *machine, const char *name)
{
	const struct spmu_machine *base = spmu_machine_find(name);

	if (!base)
		return tool_print("base: no machine '%s' (softpmu explain machine lists them)",
				  name);
	*machine = *base;
	return NULL;
}

/* Carries out a line.  *empty: no line with a key came before.  Returns a message. */
static char *take_line(struct spmu_machine *machine, char *line, bool *empty)
{
	char *value, *key;
	bool first = *empty;

	line[strcspn(line, "#")] = '\0';
	key = trim(line);
	if (!*key)
		return NULL;
	value = strchr(key, '=');
	if (!value)
		return tool_print("a line is KEY = VALUE, not '%s'", key);
	*value++ = '\0';
	key = trim(key);
	*empty = false;
	if (strcmp(key, "base") != 0)
		return parameter_set(machine, key, trim(value));
	if (!first)
		return tool_copy("base must come before all other keys");
	return set_base(machine, trim(value));
}

bool machine_file_read(struct spmu_machine *machine, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *message = NULL;
	size_t room = 0;
	unsigned number = 0;
	bool empty = true, good;

	if (!file) {
		tool_error("cannot read %s: %s", path, strerror(errno));
		return false;
	}
	memset(machine, 0, sizeof(*machine));
	machine->size = sizeof(*machine);
	machine->name = path;
	free(parameter_set(machine, "line", "64"));
	while (!message && getline(&line, &room, file) >= 0) {
		number++;
		message = take_line(machine, line, &empty);
	}
	if (!message && ferror(file))
		message = tool_print("cannot be read: %s", strerror(errno));
	good = !message;
	if (!good)
		tool_error("%s:%u: %s", path, number, message);
	free(message);
	free(line);
	fclose(file);
	machine->name = path;
	return good;
}
