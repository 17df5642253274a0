/* SPDX-License-Identifier: MIT */
/*
 * commands.h: the subcommands, one file each.
 *
 * A subcommand gets its own name as argv[0], reads its options with getopt_long() and returns the
 * exit status of the tool.  An error is one line on standard error.
 */
#ifndef SOFTPMU_TOOL_COMMANDS_H
#define SOFTPMU_TOOL_COMMANDS_H

int cmd_annotate(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_models(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_script(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_valgrind(int argc, char **argv);
int cmd_vm(int argc, char **argv);

#endif
