/* SPDX-License-Identifier: MIT */
/* vm.c: `softpmu vm`: Linux on QEMU whose processors have the unit. */
#define _GNU_SOURCE
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/vm/vm.h"

#define DEFAULT_MEMORY "1G"

static void help(void)
{
	printf("Usage: softpmu vm [OPTIONS] [--] [COMMAND [ARGUMENTS]]\n\n"
	       "Boots Linux in QEMU, whose processors have the performance-monitoring unit.  The\n"
	       "command runs in the guest; its output and exit status are the tool's.  Without a\n"
	       "command there is a shell on the guest's console; Ctrl-A x ends the guest.\n\n"
	       "  -M, --model NAME     the processor (default: " DEFAULT_MODEL ")\n"
	       "      --cpu TEXT       QEMU's -cpu instead of a model: Haswell,pmu=on\n"
	       "      --smp N          number of processors (default: 1)\n"
	       "      --icount         let time depend on instructions only, a nanosecond for "
	       "each\n"
	       "      --mem SIZE       memory, in M or G (default: " DEFAULT_MEMORY ")\n"
	       "      --kernel FILE    boot FILE instead of Debian's cloud kernel\n"
	       "      --initrd FILE    use FILE instead of the initramfs with perf; none: no "
	       "initramfs\n"
	       "      --append TEXT    words to add to the kernel's command line\n"
	       "      --share FOLDER   copy its files to /share, and copy back what the command\n"
	       "                       changes there\n"
	       "  -v, --verbose        show QEMU's command line and all messages of the kernel\n"
	       "  -h, --help           print this text\n\n"
	       "Debian's packages are fetched once, into ~/.cache/softpmu or SOFTPMU_CACHE.\n");
}

/* --- options -------------------------------------------------------------- */

enum {
	OPTION_CPU = 256,
	OPTION_SMP,
	OPTION_ICOUNT,
	OPTION_MEM,
	OPTION_KERNEL,
	OPTION_INITRD,
	OPTION_APPEND,
	OPTION_SHARE,
};

static const struct option options[] = {
	{"model", required_argument, NULL, 'M'},
	{"cpu", required_argument, NULL, OPTION_CPU},
	{"smp", required_argument, NULL, OPTION_SMP},
	{"icount", no_argument, NULL, OPTION_ICOUNT},
	{"mem", required_argument, NULL, OPTION_MEM},
	{"kernel", required_argument, NULL, OPTION_KERNEL},
	{"initrd", required_argument, NULL, OPTION_INITRD},
	{"append", required_argument, NULL, OPTION_APPEND},
	{"share", required_argument, NULL, OPTION_SHARE},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* Reads "512M" or "2G".  As in QEMU, a number alone is in MiB. */
static bool parse_memory(struct vm *vm, const char *text)
{
	char *end;
	unsigned long long number;

	if (!isdigit((unsigned char)text[0]))
		return false;
	number = strtoull(text, &end, 10);
	if (toupper((unsigned char)*end) == 'G') {
		number *= 1024;
		end++;
	} else if (toupper((unsigned char)*end) == 'M') {
		end++;
	}
	if (*end || number < 1 || number > 1024 * 1024)
		return false;
	vm->memory = text;
	vm->memory_bytes = number * VM_MEBIBYTE;
	return true;
}

static int take_option(struct vm *vm, int option, char **argv)
{
	switch (option) {
	case 'M':
		vm->model = optarg;
		return -1;
	case OPTION_CPU:
		vm->cpu = optarg;
		return -1;
	case OPTION_SMP:
		if (!tool_number(optarg, &vm->processors) || vm->processors < 1 ||
		    vm->processors > 255)
			return tool_usage_error("vm", "--smp must be 1 to 255, not '%s'", optarg);
		return -1;
	case OPTION_ICOUNT:
		vm->icount = true;
		return -1;
	case OPTION_MEM:
		return parse_memory(vm, optarg)
			       ? -1
			       : tool_usage_error("vm",
						  "--mem needs a size such as 512M or 2G, not '%s'",
						  optarg);
	case OPTION_KERNEL:
		vm->kernel = optarg;
		return -1;
	case OPTION_INITRD:
		vm->initrd = optarg;
		return -1;
	case OPTION_APPEND:
		vm->append = optarg;
		return -1;
	case OPTION_SHARE:
		vm->share = optarg;
		return -1;
	case 'v':
		vm->verbose = true;
		return -1;
	case 'h':
		help();
		return 0;
	default:
		return tool_bad_option("vm", option, argv);
	}
}

static int parse_options(struct vm *vm, int argc, char **argv)
{
	int option, status = -1;

	opterr = 0;
	while (status < 0 && (option = getopt_long(argc, argv, "+:M:vh", options, NULL)) != -1)
		status = take_option(vm, option, argv);
	if (status >= 0)
		return status;
	if (optind < argc)
		vm->command = argv + optind;
	if (vm->model && vm->cpu)
		return tool_usage_error("vm", "--model and --cpu cannot be combined");
	if (vm->initrd && (vm->command || vm->share))
		return tool_usage_error("vm",
					"--initrd cannot be combined with a command or --share");
	return -1;
}

int cmd_vm(int argc, char **argv)
{
	struct vm vm = {.memory = DEFAULT_MEMORY,
			.memory_bytes = 1024 * VM_MEBIBYTE,
			.bits = 64,
			.processors = 1};
	int status = parse_options(&vm, argc, argv);
	struct stat st;

	if (status >= 0)
		return status;
	if (vm.share && (stat(vm.share, &st) || !S_ISDIR(st.st_mode)))
		return tool_error("%s is not a folder", vm.share);
	return vm_boot(&vm);
}
