/* SPDX-License-Identifier: MIT */
/*
 * main.c: find the subcommand and call it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softpmu/base.h>

#include "commands.h"
#include "output.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{"stat", cmd_stat, "count events while a program runs"},
	{"record", cmd_record, "sample events of a program into perf.data"},
	{"trace", cmd_trace, "all calls or taken branches of a program's run"},
	{"report", cmd_report, "hot functions of a perf.data"},
	{"annotate", cmd_annotate, "hot instructions and source lines of a perf.data"},
	{"list", cmd_list, "events of a model and how far each can be trusted"},
	{"models", cmd_models, "processors that can be built, and what of each is done"},
	{"explain", cmd_explain, "draw a register value or the CPUID leaves"},
	{"vm", cmd_vm, "Linux on QEMU whose processors have the unit"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
	printf("Usage: softpmu COMMAND [OPTIONS] ...\n\n"
	       "Counts and precisely samples a program with a performance-monitoring unit in\n"
	       "software; the machine needs none.\n\nCommands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].what);
	printf("\n'softpmu COMMAND --help' tells more; 'softpmu --version' the version.\n"
	       "First steps:  softpmu stat -- ls\n"
	       "              softpmu record -- ls && softpmu report\n");
}

/* Subcommands of perf, and what there is instead. */
static const struct {
	const char *name, *instead;
} of_perf[] = {
	{"top", "there is no live view: softpmu record, then softpmu report"},
	{"script", "perf script reads what softpmu record wrote; softpmu trace shows a whole run"},
	{"mem", "softpmu record -d -e mem_inst_retired.all_loads:upp samples data addresses, and "
		"perf script -F ip,addr shows them"},
	{"c2c", "softpmu record -d samples data addresses; caches are not modelled"},
	{"diff", "softpmu stat --baseline compares counts; perf diff compares two perf.data"},
	{"evlist",
	 "perf evlist reads what softpmu record wrote; softpmu report --header tells the command"},
	{"test", "make check, in the source, tests softpmu"},
	{"bench", "make bench, in the source, measures softpmu"},
	{"kvm", "softpmu vm runs Linux on a processor that has the unit"},
	{"ftrace", "softpmu trace shows all calls of a program"},
	{"buildid-list", "perf buildid-list reads what softpmu record wrote"},
	{"inject", "perf inject reads what softpmu record wrote"},
	{"archive", "perf archive reads what softpmu record wrote"},
	{"data", "perf data reads what softpmu record wrote"},
	{"run", "softpmu stat counts and softpmu record samples while a program runs"},
	{"count", "softpmu stat counts events while a program runs"},
	{"events", "softpmu list shows the events of a model"},
	{"probe", "there are no probes: softpmu trace -F FUNCTION shows calls of a function"},
	{"lock", "it is the kernel's: perf has it"},
	{"sched", "it is the kernel's: perf has it"},
	{"timechart", "it is the kernel's: perf has it"},
	{"kmem", "it is the kernel's: perf has it"},
	{"iostat", "it is the kernel's: perf has it"},
};

/* A program where the subcommand should be. */
static bool is_program(const char *name)
{
	return strchr(name, '/') && !access(name, X_OK);
}

static int unknown_command(const char *name)
{
	const struct command *nearest = NULL;
	/* No more than half of the letters. */
	unsigned best = strlen(name) < 4 ? (unsigned)strlen(name) / 2 + 1 : 3;

	for (size_t i = 0; i < sizeof(of_perf) / sizeof(*of_perf); i++) {
		if (!strcmp(name, of_perf[i].name)) {
			tool_error("there is no command '%s': %s", name, of_perf[i].instead);
			return EXIT_BAD_USAGE;
		}
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		unsigned distance = tool_distance(name, commands[i].name);

		if (distance < best) {
			best = distance;
			nearest = &commands[i];
		}
	}
	if (nearest)
		tool_error("unknown command '%s'; did you mean '%s'?", name, nearest->name);
	else if (is_program(name))
		tool_error("'%s' is a program: say what to do with it, as in 'softpmu stat -- %s'",
			   name, name);
	else
		tool_error("unknown command '%s' (see softpmu --help)", name);
	return EXIT_BAD_USAGE;
}

/* Were a standard descriptor closed, a file of ours would get its number, and messages would go
 * into it.  The program that is run still finds it closed. */
static void keep_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
			exit(EXIT_TOOL);
	}
}

static void on_file_limit(int number)
{
	(void)number;
}

/* Beyond the limit on the size of files, writing is an error.  The program that is run does not
 * inherit the handler. */
static void survive_file_limit(void)
{
	struct sigaction action = {.sa_handler = on_file_limit}, before;

	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
	static char help_option[] = "--help";
	const char *name;

	keep_standard_descriptors();
	survive_file_limit();
	if (argc < 2) {
		print_help();
		return EXIT_BAD_USAGE;
	}
	name = argv[1];
	if (!strcmp(name, "--version") || !strcmp(name, "-v") || !strcmp(name, "version")) {
		printf("softpmu version %s\n", SPMU_VERSION_STRING);
		return 0;
	}
	if (!strcmp(name, "help") && argc > 2) {
		name = argv[2];
		argv[1] = argv[2];
		argv[2] = help_option;
	} else if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		print_help();
		return output_finish("--help", 0);
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (!strcmp(name, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	}
	if (name[0] == '-') {
		tool_error("unknown option '%s' (see softpmu --help)", name);
		return EXIT_BAD_USAGE;
	}
	return unknown_command(name);
}
