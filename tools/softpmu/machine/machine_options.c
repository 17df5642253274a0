/* SPDX-License-Identifier: MIT */
/* machine_options.c: --machine, --machine-file, --cache and --set. */
#include "tools/softpmu/machine/machine_options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <softpmu/uarch_time.h>

#include "tools/softpmu/base/tool.h"

bool machine_options_take(struct machine_options *options, int option, const char *argument)
{
	switch (option) {
	case MACHINE_OPTION_NAME:
		options->name = argument ? argument : "";
		return true;
	case MACHINE_OPTION_FILE:
		options->file = argument;
		return true;
	case MACHINE_OPTION_STATIC_CLOCKS:
		options->static_clocks = true;
		return true;
	case MACHINE_OPTION_CACHE:
	case MACHINE_OPTION_SET:
		options->change = tool_room(options->change, &options->room, options->changes,
					    sizeof(*options->change));
		options->change[options->changes++] = (struct machine_change){option, argument};
		return true;
	default:
		return false;
	}
}

bool machine_options_model(const struct machine_options *options)
{
	return options->name || options->file || options->changes;
}

bool machine_options_given(const struct machine_options *options)
{
	return machine_options_model(options) || options->static_clocks;
}

void machine_options_free(struct machine_options *options)
{
	free(options->change);
}

const struct spmu_machine *machine_options_find(const char *command, const char *name)
{
	const struct spmu_machine *machine = spmu_machine_find(name);
	const struct spmu_model *model = spmu_model_find(name);
	char *names = tool_copy(""), *longer;

	if (!machine && model)
		machine = spmu_machine_of_model(spmu_model_describe(model).name);
	for (size_t i = 0; !machine && spmu_machine_at(i); i++) {
		longer = tool_print("%s%s%s", names, i ? ", " : "", spmu_machine_at(i)->name);
		free(names);
		names = longer;
	}
	if (!machine)
		tool_usage_error(command, "no machine '%s'; there are: %s", name, names);
	free(names);
	return machine;
}

/* Carries out KEY=VALUE. */
static char *set(struct spmu_machine *machine, const char *text)
{
	const char *value = strchr(text, '=');
	char *key, *message;

	if (!value)
		return tool_print("a parameter is KEY=VALUE, such as l2.ways=8, not '%s'", text);
	key = tool_print("%.*s", (int)(value - text), text);
	message = parameter_set(machine, key, value + 1);
	free(key);
	return message;
}

/* Refuses a second level for a machine whose second level is the last. */
static char *check_level(const struct spmu_machine *machine, const char *text)
{
	if (strncasecmp(text, "l2", 2) != 0 || machine->l2.bytes || !machine->llc.bytes)
		return NULL;
	return tool_print("'%s': the machine %s has two levels of caches; the second is LLC", text,
			  machine->name);
}

static int change_all(const struct machine_options *options, const char *command,
		      struct spmu_machine *machine)
{
	for (size_t i = 0; i < options->changes; i++) {
		const struct machine_change *c = &options->change[i];
		bool cache = c->option == MACHINE_OPTION_CACHE;
		char *message = check_level(machine, c->text);

		if (!message)
			message =
				cache ? machine_cache_set(machine, c->text) : set(machine, c->text);
		if (message) {
			tool_usage_error(command, "%s: %s", cache ? "--cache" : "--set", message);
			free(message);
			return EXIT_BAD_USAGE;
		}
	}
	return -1;
}

int machine_options_make(const struct machine_options *options, const char *command,
			 const char *model, struct spmu_machine *machine)
{
	const struct spmu_machine *base;
	char *message;
	int status;

	if (options->file && options->name)
		return tool_usage_error(command, "--machine and --machine-file cannot be combined");
	if (options->file) {
		if (!machine_file_read(machine, options->file))
			return EXIT_TOOL;
	} else {
		base = options->name && *options->name
			       ? machine_options_find(command, options->name)
			       : spmu_machine_of_model(model);
		if (!base)
			return EXIT_BAD_USAGE;
		*machine = *base;
	}
	status = change_all(options, command, machine);
	if (status >= 0)
		return status;
	if (options->static_clocks && !spmu_core_shape_find(machine->name))
		return tool_usage_error(
			command, "the machine %s has no clocks: nothing is known of its core",
			machine->name);
	message = machine_check(machine);
	if (message) {
		tool_usage_error(command, "%s%s%s", options->file ? options->file : "",
				 options->file ? ": " : "", message);
		free(message);
		return EXIT_BAD_USAGE;
	}
	return -1;
}
