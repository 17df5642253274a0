/* SPDX-License-Identifier: MIT */
/* sweep.c: the values of --sweep, and a machine with each of them. */
#include "tools/softpmu/machine/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/machine/values.h"

static char *add(struct sweep *sweep, const struct spmu_machine *machine, const char *value)
{
	struct spmu_machine *made = &sweep->machine[sweep->count];
	char *message;

	if (sweep->count == SWEEP_MAX)
		return tool_print("%s: more than %d values", sweep->key, SWEEP_MAX);
	*made = *machine;
	message = parameter_set(made, sweep->key, value);
	if (!message)
		message = machine_check(made);
	if (message)
		return message;
	sweep->value[sweep->count++] = tool_copy(value);
	return NULL;
}

static char *add_range(struct sweep *sweep, const struct spmu_machine *machine, const char *from,
		       const char *to)
{
	uint64_t first, last;
	char *message = NULL;

	if (!parameter_is_size(sweep->key) && !parameter_is_number(sweep->key))
		return tool_print("%s has words as values: write them as %s=A,B", sweep->key,
				  sweep->key);
	if (!values_size_read(from, &first) || !values_size_read(to, &last) || !first ||
	    first > last)
		return tool_print("%s: a range is FROM..TO, such as 256K..4M, not '%s..%s'",
				  sweep->key, from, to);
	for (uint64_t n = first; !message && n <= last; n *= 2) {
		char *value = values_size_text(n);

		message = add(sweep, machine, value);
		free(value);
	}
	return message;
}

char *sweep_make(struct sweep *sweep, const struct spmu_machine *machine, const char *text)
{
	const char *equals = strchr(text, '=');
	char *values, *dots, *rest, *value, *now, *message = NULL;

	if (!equals || equals == text)
		return tool_print("a sweep is KEY=FROM..TO or KEY=VALUE,VALUE..., not '%s'", text);
	sweep->key = tool_print("%.*s", (int)(equals - text), text);
	/* An unknown key gets the message of parameter_set(). */
	now = parameter_value(machine, sweep->key);
	if (!now) {
		struct spmu_machine copy = *machine;

		return parameter_set(&copy, sweep->key, equals + 1);
	}
	free(now);
	rest = values = tool_copy(equals + 1);
	dots = strstr(values, "..");
	if (dots) {
		*dots = '\0';
		message = add_range(sweep, machine, values, dots + 2);
	} else {
		while (!message && (value = strsep(&rest, ",")))
			message = add(sweep, machine, value);
	}
	free(values);
	return message;
}

void sweep_free(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->count; i++)
		free(sweep->value[i]);
	free(sweep->key);
}
