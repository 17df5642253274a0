/* SPDX-License-Identifier: MIT */
/*
 * run.c: `softpmu run`: runs a command on a machine that has the unit.
 *
 * The tool counts nothing itself.  The command, and what it starts, can open events by
 * perf_event_open(2), execute RDPMC and see the unit in CPUID.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdlib.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/machine/machine_options.h"
#include "tools/softpmu/run/run.h"
#include "tools/softpmu/run/run_options.h"
#include "tools/softpmu/run/tree.h"

struct run_command {
	struct run_options run;
	struct machine_options machine_options;
	struct spmu_machine machine;
	bool own_identity; /* programs see the machine's own processor */
};

enum { OPTION_NO_IDENTITY = RUN_OPTIONS_END };

static void print_help(void)
{
	printf("Usage: softpmu run [OPTIONS] [--] COMMAND [ARGUMENTS]\n\n"
	       "Runs the command on a machine that has the unit: perf stat, PAPI and other "
	       "programs\n"
	       "open events by perf_event_open(2).  The tool itself counts nothing.\n\n"
	       "  -M, --model NAME       the processor (default: " DEFAULT_MODEL ")\n"
	       "      --machine[=NAME]   also serve events of caches, TLBs, branch prediction and "
	       "clocks,\n"
	       "                         by a model of this machine (default: the processor's)\n"
	       "      --machine-file FILE\n"
	       "                         the same, by a machine that FILE describes\n"
	       "      --cache LEVEL=SIZE,WAYS[,LINE]\n"
	       "                         with another cache: L1I, L1D, L2 or LLC\n"
	       "      --set KEY=VALUE    with another parameter (keys: softpmu explain machine)\n"
	       "      --static-clocks    let clocks be those of instructions that hit all caches: "
	       "fast,\n"
	       "                         and they can be sampled\n"
	       "      --no-identity      show programs the machine's own processor, not the model, "
	       "in\n"
	       "                         CPUID and /proc/cpuinfo\n"
	       "      --strict           fail if a program cannot be counted (32-bit ...); "
	       "otherwise it\n"
	       "                         runs natively and is named\n"
	       "      --no-cache         do not use or keep translations of the program's code\n"
	       "  -h, --help             print this text\n\n"
	       "Served: instructions, branches and other events of the processor that 'softpmu "
	       "list'\n"
	       "does not show as absent, in user mode, on threads and processes of the run, with\n"
	       "groups, inherit and enable_on_exec; samples with PEBS and last branch records\n"
	       "(perf record -e instructions:upp -b).\n"
	       "Refused, as by a kernel without them: AUX areas (intel_bts), and events that "
	       "count\n"
	       "the kernel without ':u'.\n\n"
	       "The exit status is the command's, or 125 if it cannot be run.\n");
}

static const struct option options[] = {
	{"model", required_argument, NULL, 'M'},
	MACHINE_OPTIONS,
	{"no-identity", no_argument, NULL, OPTION_NO_IDENTITY},
	{"strict", no_argument, NULL, RUN_OPTION_STRICT},
	{"no-cache", no_argument, NULL, RUN_OPTION_NO_CACHE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int parse_options(struct run_command *command, int argc, char **argv)
{
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, "+:M:h", options, NULL)) != -1) {
		if (option == 'h') {
			print_help();
			return output_finish("run", 0);
		}
		if (option == OPTION_NO_IDENTITY)
			command->own_identity = true;
		else if (!machine_options_take(&command->machine_options, option, optarg))
			status = run_options_take(&command->run, "run", option, argv);
	}
	if (status < 0 && optind >= argc)
		status = tool_usage_error("run", "no command to run");
	return status;
}

static int launch(const struct run_command *command, const struct spmu_model *model,
		  const struct launch_program *program)
{
	struct launch_request request = {
		.model = spmu_model_describe(model).name,
		.machine = command->machine.size ? &command->machine : NULL,
		.branch_clocks = true,
		.judges_branches = machine_options_model(&command->machine_options),
		.clocks = run_clocks(&command->machine_options, LAUNCH_CLOCKS_TIMELINE),
		.threads = RUN_THREADS,
		.want = command->run.want | LINK_WANT_OPEN |
			(command->own_identity ? 0 : LINK_WANT_IDENTITY),
	};
	struct launch_result result;
	char *tree = tree_make(model, !command->own_identity);

	if (!tree)
		return EXIT_TOOL;
	request.tree = tree;
	launch_run(program, &request, &result);
	result.missing = 0; /* processes may outlive the command: nothing of theirs is counted */
	run_say_end(&result);
	free(result.message);
	tree_remove(tree);
	free(tree);
	return result.status;
}

int cmd_run(int argc, char **argv)
{
	struct run_command command = {0};
	struct launch_program program = {0};
	const struct spmu_model *model = NULL;
	int status = parse_options(&command, argc, argv);

	if (status < 0) {
		model = tool_model(command.run.model_name);
		status = model ? run_use_machine(&command.machine_options, "run", model,
						 LAUNCH_CLOCKS_TIMELINE, &command.machine)
			       : EXIT_BAD_USAGE;
	}
	if (status < 0 && run_find(&program, argv + optind, &status))
		status = launch(&command, model, &program);
	machine_options_free(&command.machine_options);
	program_forget(&program);
	return status;
}
