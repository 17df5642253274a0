/* SPDX-License-Identifier: MIT */
/*
 * valgrind.c: `softpmu-valgrind`: takes the options of valgrind that harnesses of benchmarks give,
 * profiles the program exactly, and writes the file and the summary that they read.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softpmu/base.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/commands/valgrind.h"
#include "tools/softpmu/machine/parameter.h"

#define BAD_OPTION 1 /* valgrind's exit status for options that it does not know */
#define ARGUMENTS  32

struct valgrind {
	const char *tool, *out_file, *log_file;
	bool quiet;
	bool toggles, collects_given, collects; /* --toggle-collect, --collect-atstart */
	bool separate;				/* --separate-threads */
	bool caches_given;
	unsigned line_bytes; /* of the caches that were given; 0: none */
	struct valgrind_costs run;
	char **argument; /* of profile */
	int arguments;
};

static void print_help(void)
{
	printf("Usage: softpmu-valgrind [OPTIONS] PROGRAM [ARGUMENTS]\n\n"
	       "Takes the place of valgrind in harnesses of benchmarks: counts instructions "
	       "exactly, and\nwrites the files of callgrind and cachegrind.\n\n"
	       "  --tool=callgrind|cachegrind|none\n"
	       "                             what to do (no default)\n"
	       "  --callgrind-out-file=FILE, --cachegrind-out-file=FILE\n"
	       "                             the file (default: callgrind.out.%%p, "
	       "cachegrind.out.%%p)\n"
	       "  --cache-sim=yes|no         count cache misses (default: yes for cachegrind)\n"
	       "  --branch-sim=yes|no        count mispredicted branches (default: no)\n"
	       "  --I1=, --D1=, --LL=SIZE,WAYS,LINE\n"
	       "                             the caches (default: 32768,8,64 and 8388608,16,64)\n"
	       "  --toggle-collect=FUNCTION  collect only while this function runs\n"
	       "  --collect-atstart=yes|no   collect from the beginning (default: yes; no with\n"
	       "                             --toggle-collect)\n"
	       "  --instr-atstart=yes|no     count from the beginning (default: yes)\n"
	       "  --trace-children=yes|no    follow processes that the program starts (default: "
	       "no)\n"
	       "  --separate-threads=yes|no  add -01 to the name of the file (default: no)\n"
	       "  --log-file=FILE            write the summary there instead of standard error\n"
	       "  -q, --quiet                no summary\n"
	       "  -v, --verbose              accepted, without effect\n"
	       "  --version                  print the version\n"
	       "  -h, --help                 print this text\n\n"
	       "In names of files %%p is the number of the process, and %%q{NAME} a variable of "
	       "the\nenvironment.  Options that ask for what is always so are accepted; the "
	       "manual page lists\nthem.\n");
}

static __attribute__((format(printf, 1, 2))) int refuse(const char *format, ...)
{
	va_list list;

	fputs("softpmu-valgrind: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	return BAD_OPTION;
}

/* --- options ------------------------------------------------------------------------------- */

/* Options that may have these values only, which change nothing here. */
static const struct {
	const char *name, *value, *reason;
} fixed[] = {
	{"--dump-instr", "no",
	 "the file has lines, not instructions; softpmu annotate shows those"},
	{"--combine-dumps", "no", "each dump is a file of its own"},
	{"--dump-before", "", "dumps are made by client requests"},
	{"--dump-after", "", "dumps are made by client requests"},
	{"--dump-every-bb", "0", "dumps are made by client requests"},
	{"--zero-before", "", "counts are zeroed by client requests; see --toggle-collect"},
	{"--dump-line", NULL, NULL},
	{"--collect-systime", "no", "time is not measured"},
	{"--collect-jumps", "no", "the file has no jumps"},
	{"--cacheuse", "no", "the use of lines is not counted"},
	{"--simulate-wb", "no", "the caches write through"},
	{"--simulate-hwpref", "no", "the caches have no prefetcher"},
	{"--compress-strings", NULL, NULL},
	{"--compress-pos", NULL, NULL},
	{"--skip-plt", NULL, NULL},
	{"--error-exitcode", "0", "no errors are looked for"},
	{"--vgdb", "no", "there is no server for gdb"},
	{"--fair-sched", NULL, NULL},
	{"--smc-check", NULL, NULL},
};

/* Returns the value of the option if `text` is it: "--name=value". */
static const char *value_of(const char *text, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(text, name, length) && text[length] == '=' ? text + length + 1 : NULL;
}

/* Takes yes or no.  Returns -1 to go on. */
static int take_switch(const char *text, const char *value, bool *on)
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return refuse("%s: the value is yes or no", text);
	*on = *value == 'y';
	return -1;
}

static void add(struct valgrind *v, const char *argument)
{
	v->argument[v->arguments++] = tool_copy(argument);
}

/* Takes an option that changes nothing, or refuses it. */
static int take_fixed(const char *text)
{
	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		const char *value = value_of(text, fixed[i].name);

		if (!value)
			continue;
		if (!fixed[i].value || !strcmp(value, fixed[i].value))
			return -1;
		return refuse("%s is not done: %s", text, fixed[i].reason);
	}
	return refuse("unknown option: %s (see softpmu-valgrind --help)", text);
}

static int take_tool(struct valgrind *v, const char *tool)
{
	v->tool = tool;
	v->run.cachegrind = !strcmp(tool, "cachegrind");
	if (v->run.cachegrind || !strcmp(tool, "callgrind") || !strcmp(tool, "none"))
		return -1;
	return refuse("--tool=%s is not done: the tools are callgrind, cachegrind and none", tool);
}

/* Takes SIZE,WAYS,LINE of a cache. */
static int take_cache(struct valgrind *v, const char *text, const char *level, const char *value)
{
	char *cache = tool_print("%s=%s", level, value);
	char *message = machine_cache_set(&v->run.machine, cache);
	unsigned before = v->line_bytes;

	free(cache);
	v->line_bytes = v->run.machine.l1i.line_bytes;
	if (!message && before && before != v->line_bytes)
		return refuse("%s: the lines of all caches have the same size here", text);
	if (!message)
		return -1;
	refuse("%s: %s", text, message);
	free(message);
	return BAD_OPTION;
}

/* Takes an option of the simulations.  Returns -1 to go on, otherwise the status to exit with; 0:
 * it is none. */
static int take_simulation(struct valgrind *v, const char *text)
{
	const char *value;

	if ((value = value_of(text, "--I1")))
		return take_cache(v, text, "L1I", value);
	if ((value = value_of(text, "--D1")))
		return take_cache(v, text, "L1D", value);
	if ((value = value_of(text, "--LL")))
		return take_cache(v, text, "LLC", value);
	if ((value = value_of(text, "--cache-sim")))
		return v->caches_given = true, take_switch(text, value, &v->run.caches);
	if ((value = value_of(text, "--branch-sim")))
		return take_switch(text, value, &v->run.branches);
	return 0;
}

/* Takes an option.  Returns -1 to go on, otherwise the status to exit with. */
static int take_option(struct valgrind *v, const char *text)
{
	const char *value;
	bool on = true;
	int status = take_simulation(v, text);

	if (status)
		return status;
	if (!strcmp(text, "-q") || !strcmp(text, "--quiet"))
		return v->quiet = true, -1;
	if (!strcmp(text, "-v") || !strcmp(text, "--verbose"))
		return -1;
	if ((value = value_of(text, "--tool")))
		return take_tool(v, value);
	if ((value = value_of(text, "--callgrind-out-file")) ||
	    (value = value_of(text, "--cachegrind-out-file")))
		return v->out_file = value, -1;
	if ((value = value_of(text, "--log-file")))
		return v->log_file = value, -1;
	if ((value = value_of(text, "--separate-threads")))
		return take_switch(text, value, &v->separate);
	if ((value = value_of(text, "--trace-children")))
		return take_switch(text, value, &v->run.children);
	if ((value = value_of(text, "--collect-atstart")))
		return v->collects_given = true, take_switch(text, value, &v->collects);
	if ((value = value_of(text, "--instr-atstart"))) {
		status = take_switch(text, value, &on);
		v->run.front.begins_stopped = !on;
		return status;
	}
	if ((value = value_of(text, "--toggle-collect"))) {
		v->toggles = true;
		status = function_regions_take(&v->run.functions, "valgrind", value, true);
		add(v, "--toggle");
		add(v, value);
		return status;
	}
	return take_fixed(text);
}

/* Returns -1 if a program is to run; *program is its place then. */
static int take_options(struct valgrind *v, int argc, char **argv, int *program)
{
	int status = -1, at = 1;
	char *message;

	for (; status < 0 && at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "--")) {
			at++;
			break;
		}
		if (!strcmp(argv[at], "-h") || !strcmp(argv[at], "--help"))
			return print_help(), 0;
		if (!strcmp(argv[at], "--version"))
			return printf("softpmu-valgrind-%s\n", SPMU_VERSION_STRING), 0;
		status = take_option(v, argv[at]);
	}
	*program = at;
	if (status >= 0)
		return status;
	if (!v->tool)
		return refuse("--tool is missing: --tool=callgrind, cachegrind or none");
	if (at == argc)
		return refuse("no program to run");
	message = machine_check(&v->run.machine);
	if (message) {
		refuse("the caches do not fit: %s", message);
		free(message);
		return BAD_OPTION;
	}
	/* As in valgrind before 3.21: older harnesses give sizes alone, and expect misses. */
	if (!v->caches_given)
		v->run.caches = v->run.cachegrind;
	v->run.front.events_off = v->collects_given ? !v->collects : v->toggles;
	return -1;
}

/* --- files ----------------------------------------------------------------------------------- */

/* Returns the name with %p and %q{NAME} replaced, to free(); NULL after a message. */
static char *expand(const char *name, int pid)
{
	char *to = NULL;
	size_t bytes;
	FILE *text = open_memstream(&to, &bytes);
	bool good = text;

	while (good && *name) {
		size_t length = strcspn(name, "%");

		fwrite(name, 1, length, text);
		name += length;
		if (!*name)
			break;
		if (name[1] == 'p') {
			fprintf(text, "%d", pid);
			name += 2;
		} else if (name[1] == '%') {
			fputc('%', text);
			name += 2;
		} else if (name[1] == 'q' && name[2] == '{' && strchr(name, '}')) {
			char *variable = tool_print("%.*s", (int)strcspn(name + 3, "}"), name + 3);

			good = getenv(variable);
			fputs(good ? getenv(variable) : "", text);
			if (!good)
				refuse("%%q{%s}: there is no such variable", variable);
			name = strchr(name, '}') + 1;
			free(variable);
		} else {
			good = false;
			refuse("%s: %% is followed by p, q{NAME} or %%", name);
		}
	}
	if (text)
		fclose(text);
	if (good)
		return to;
	free(to);
	return NULL;
}

/* Writes a file of the tool from that of profile.  `number`: "" or that of a dump. */
static int write_file(const struct valgrind *v, char *profile, const char *number)
{
	const char *thread = v->separate && !v->run.cachegrind ? "-01" : "";
	char *pattern = v->out_file ? tool_print("%s%s%s", v->out_file, number, thread)
				    : tool_print("%s.out.%%p%s%s", v->tool, number, thread);
	char *name = expand(pattern, v->run.front.pid);
	char *format = tool_copy(v->tool);
	static char words[][16] = {"export", "--to", "-i"};
	char *arguments[] = {words[0], words[1], format, words[2], profile, name, NULL};
	int status = EXIT_TOOL;

	if (name) {
		optind = 0;
		status = cmd_export(sizeof(arguments) / sizeof(*arguments) - 1, arguments);
	}
	free(format);
	free(pattern);
	free(name);
	return status;
}

/* Returns whether the program had several threads. */
static bool has_threads(const struct valgrind *v, const char *profile)
{
	char *error = NULL;
	struct exact *exact = exact_file_read(profile, &error);
	bool several = v->run.threads || (exact && exact->thread_count > 1);

	exact_free(exact);
	free(error);
	return several;
}

/* Writes the files of the run: of each dump, and of the rest. */
static int write_files(const struct valgrind *v, char *profile)
{
	int status = write_file(v, profile, "");

	if (v->separate && has_threads(v, profile))
		refuse("the file of the first thread has the sum of all threads");
	for (unsigned i = 1; i <= v->run.dumps; i++) {
		char *number = tool_print(".%u", i), *dump = tool_print("%s%s", profile, number);

		if (!status)
			status = write_file(v, dump, number);
		unlink(dump);
		free(dump);
		free(number);
	}
	return status;
}

/* Writes the lines that harnesses look for. */
static int summarize(const struct valgrind *v, char **program)
{
	char *name = v->log_file ? expand(v->log_file, v->run.front.pid) : NULL;
	FILE *file = name ? fopen(name, "we") : stderr;
	int pid = v->run.front.pid;

	if (v->log_file && (!name || !file)) {
		if (name)
			refuse("cannot write %s: %s", name, strerror(errno));
		free(name);
		return EXIT_TOOL;
	}
	fprintf(file, "==%d== softpmu-valgrind %s, in place of valgrind's %s\n", pid,
		SPMU_VERSION_STRING, v->tool);
	fprintf(file, "==%d== Command:", pid);
	for (; *program; program++)
		fprintf(file, " %s", *program);
	fprintf(file, "\n==%d== \n", pid);
	if (strcmp(v->tool, "none") != 0)
		valgrind_summary(&v->run, file);
	if (file != stderr)
		fclose(file);
	free(name);
	return 0;
}

/* --- the run --------------------------------------------------------------------------------- */

/* Profiles the program into `file`.  Returns its status. */
static int profile(struct valgrind *v, const char *file, char **program)
{
	char **arguments;
	int count, status;

	add(v, "-q");
	add(v, "-e");
	add(v, "instructions:u");
	add(v, "-o");
	add(v, file);
	if (!v->run.children)
		add(v, "-i");
	add(v, "--");
	for (count = 0; program[count]; count++)
		;
	arguments = tool_alloc(((size_t)(v->arguments + count) + 1) * sizeof(*arguments));
	memcpy(arguments, v->argument, (size_t)v->arguments * sizeof(*arguments));
	memcpy(arguments + v->arguments, program, (size_t)count * sizeof(*arguments));
	optind = 0;
	profile_front_set(&v->run.front);
	status = cmd_profile(v->arguments + count, arguments);
	free(arguments);
	v->run.events = 1;
	v->run.name[0] = "Ir";
	v->run.sum[0] = v->run.front.sum;
	return status;
}

int cmd_valgrind(int argc, char **argv)
{
	const char *folder = getenv("TMPDIR");
	char *file = tool_print("%s/softpmu-valgrind.XXXXXX", folder && *folder ? folder : "/tmp");
	struct valgrind v = {.collects = true,
			     .run = {.machine = *spmu_machine_find("cachegrind")},
			     .argument =
				     tool_alloc(((size_t)argc * 2 + ARGUMENTS) * sizeof(char *))};
	int at, fd = -1, status, wrote = 0;

	add(&v, "profile");
	status = take_options(&v, argc, argv, &at);
	if (status >= 0)
		goto out;
	fd = mkstemp(file);
	v.run.file = file;
	if (fd < 0) {
		status = refuse("cannot write %s: %s", file, strerror(errno));
		goto out;
	}
	if ((v.run.caches || v.run.branches) && strcmp(v.tool, "none") != 0)
		status = valgrind_costs_run(&v.run, argv + at);
	else
		status = profile(&v, file, argv + at);
	if (v.run.front.done && strcmp(v.tool, "none") != 0)
		wrote = write_files(&v, file);
	if (v.run.front.done && !wrote && !v.quiet)
		wrote = summarize(&v, argv + at);
	if (v.run.front.refused)
		refuse("the program asked %u times to zero or to dump counts, which is only done "
		       "with --cache-sim=yes or --branch-sim=yes: the counts are those of the "
		       "whole "
		       "run",
		       v.run.front.refused);
	unlink(file);
	close(fd);
	if (wrote && !status)
		status = EXIT_TOOL;
out:
	function_regions_free(&v.run.functions);
	for (int i = 0; i < v.arguments; i++)
		free(v.argument[i]);
	free(v.argument);
	free(file);
	return status;
}
