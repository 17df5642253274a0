/* SPDX-License-Identifier: MIT */
/*
 * main.c: finds the subcommand and calls it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softpmu/base.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{"stat", cmd_stat, "count events while a program runs"},
	{"record", cmd_record, "sample events of a program into perf.data"},
	{"run", cmd_run, "run a command, such as perf, whose programs open events themselves"},
	{"profile", cmd_profile, "find the exact cost of each instruction, function and call"},
	{"bench", cmd_bench, "run a harness of benchmarks with clocks that count instructions"},
	{"trace", cmd_trace, "show all calls or taken branches of a program"},
	{"report", cmd_report, "show the hot functions of a perf.data"},
	{"annotate", cmd_annotate, "show the hot instructions and source lines of a perf.data"},
	{"script", cmd_script, "show each sample of a perf.data on a line"},
	{"diff", cmd_diff, "show what changed between two perf.data"},
	{"export", cmd_export, "write a perf.data for flame graphs, pprof, KCachegrind and others"},
	{"list", cmd_list, "list the events of a model, and how far each can be trusted"},
	{"models", cmd_models, "list the available processors, and what each one has"},
	{"explain", cmd_explain, "draw a register value or the CPUID leaves"},
	{"cache", cmd_cache, "list, check, remove and move saved translations"},
	{"vm", cmd_vm, "run Linux in QEMU, whose processors have the unit"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(void)
{
	printf("Usage: softpmu COMMAND [OPTIONS] ...\n\nCounts the events of a program, samples it "
	       "precisely and traces its branches, with a\nperformance-monitoring unit in "
	       "software.  The machine needs none.\n\nCommands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].what);
	printf("\n'softpmu COMMAND --help' describes a command; 'softpmu --version' prints the "
	       "version.\nFirst steps:  softpmu stat -- ls\n              softpmu record -- ls && "
	       "softpmu report\n");
}

/* Subcommands of perf that softpmu does not have, and what to use instead. */
static const struct {
	const char *name, *instead;
} of_perf[] = {
	{"top", "softpmu has no live view; use softpmu record, then softpmu report"},
	{"mem",
	 "softpmu record --machine -d -W -e cpu/mem-loads,ldlat=30/upp, then perf mem report"},
	{"c2c", "softpmu record --machine -d -W -e cpu/mem-loads,ldlat=30/upp,cpu/mem-stores/upp, "
		"then perf c2c report"},
	{"evlist",
	 "perf evlist reads what softpmu record wrote; softpmu report --header tells the command"},
	{"test", "make check, in the source, tests softpmu"},
	{"kvm", "softpmu vm runs Linux on a processor that has the unit"},
	{"ftrace", "softpmu trace shows all calls of a program"},
	{"buildid-list", "perf buildid-list reads what softpmu record wrote"},
	{"inject", "perf inject reads what softpmu record wrote"},
	{"archive", "perf archive reads what softpmu record wrote"},
	{"data", "perf data reads what softpmu record wrote"},
	{"count", "softpmu stat counts events while a program runs"},
	{"events", "softpmu list shows the events of a model"},
	{"probe", "softpmu has no probes; softpmu trace -F FUNCTION shows calls of a function"},
	{"lock", "it observes the kernel; use perf"},
	{"sched", "it observes the kernel; use perf"},
	{"timechart", "it observes the kernel; use perf"},
	{"kmem", "it observes the kernel; use perf"},
	{"iostat", "it observes the kernel; use perf"},
};

/* Returns true if the user named a program where the subcommand should be. */
static bool is_program(const char *name)
{
	return strchr(name, '/') && !access(name, X_OK);
}

static int unknown_command(const char *name)
{
	const struct command *nearest = NULL;
	/* At most half of the letters may differ. */
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
		tool_error("'%s' is a program; put a command before it, as in 'softpmu stat -- %s'",
			   name, name);
	else
		tool_error("unknown command '%s' (see softpmu --help)", name);
	return EXIT_BAD_USAGE;
}

/* Opens the standard descriptors that are closed.  Otherwise a file of ours could get such a
 * number, and messages would go into it.  The program that is run still finds them closed. */
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

/* Makes writing beyond the limit on the size of files an error instead of a signal.  The program
 * that is run does not inherit the handler. */
static void survive_file_limit(void)
{
	struct sigaction action = {.sa_handler = on_file_limit}, before;

	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

/* The same program under another name is a front end with valgrind's options. */
static bool is_valgrind(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && !strcmp(slash ? slash + 1 : path, "softpmu-valgrind");
}

int main(int argc, char **argv)
{
	static char help_option[] = "--help";
	const char *name;

	keep_standard_descriptors();
	survive_file_limit();
	if (is_valgrind(argv[0]))
		return cmd_valgrind(argc, argv);
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
