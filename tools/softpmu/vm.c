/* SPDX-License-Identifier: MIT */
/*
 * vm.c: `softpmu vm`: boot a kernel and an initramfs on QEMU with the unit inside (docs/qemu.md).
 *
 * Debian's cloud kernel and an initramfs with busybox and perf are made by vm_image.sh and kept in
 * the cache.  What differs from run to run, the command and the shared folder, is an archive of its
 * own behind the initramfs.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "vm.h"

#define QEMU_NAME      "softpmu-qemu-system-x86_64"
#define DEFAULT_MEMORY "1G"
#define MEBIBYTE       (UINT64_C(1) << 20)

/* What Linux and perf need beside twice the archive, which is unpacked in memory. */
#define MEMORY_OF_LINUX (192 * MEBIBYTE)

/* vm_packages.sh, vm_image.sh and vm_init.sh */
extern const char vm_packages_script[], vm_image_script[], vm_init_script[];

/* The processor of QEMU's that is nearest to each model; what it has beside the unit.  Debian's
 * kernel for 32 bits asks for CMOV, which no Pentium has. */
static const struct base {
	const char *model, *cpu;
	unsigned bits;
} bases[] = {
	{"pentium", "pentium2", 32},
	{"pentium-mmx", "pentium2", 32},
	{"pentium-pro", "pentium2", 32},
	{"pentium-ii", "pentium2", 32},
	{"pentium-iii", "pentium3", 32},
	{"pentium-m", "coreduo", 32},
	{"netburst", "kvm32", 32},
	{"prescott", "kvm64", 64},
	{"prescott-2m", "kvm64", 64},
	{"cedar-mill", "kvm64", 64},
	{"xeon-7100", "kvm64", 64},
	{"xeon-mp-8m-l3", "kvm64", 64},
	{"core", "coreduo", 32},
	{"core2", "Conroe", 64},
	{"core2-45nm", "Penryn", 64},
	{"xeon-7400", "Penryn", 64},
	{"bonnell", "Conroe", 64},
	{"silvermont", "Westmere", 64},
	{"airmont", "Westmere", 64},
	{"goldmont", "Denverton", 64},
	{"goldmont-plus", "Denverton", 64},
	{"nehalem", "Nehalem", 64},
	{"nehalem-ex", "Nehalem", 64},
	{"westmere", "Westmere", 64},
	{"westmere-ep", "Westmere", 64},
	{"sandybridge", "SandyBridge", 64},
	{"sandybridge-server", "SandyBridge", 64},
	{"ivybridge", "IvyBridge", 64},
	{"ivybridge-server", "IvyBridge", 64},
	{"haswell", "Haswell", 64},
	{"haswell-server", "Haswell", 64},
	{"broadwell", "Broadwell", 64},
	{"broadwell-server", "Broadwell", 64},
	{"skylake", "Skylake-Client", 64},
	{"kabylake", "Skylake-Client", 64},
	{"coffeelake", "Skylake-Client", 64},
	{"skylake-server", "Skylake-Server", 64},
	{"cascadelake", "Cascadelake-Server", 64},
	{"icelake", "Icelake-Server", 64},
	{"icelake-server", "Icelake-Server", 64},
	{"tigerlake", "Icelake-Server", 64},
};

struct vm {
	const char *model, *cpu, *memory, *kernel, *initrd, *append, *share;
	uint64_t processors, memory_bytes;
	unsigned bits; /* of the guest's system: 32 or 64 */
	bool verbose, icount;
	char **command; /* NULL: a shell */
};

static void help(void)
{
	printf("Usage: softpmu vm [OPTIONS] [--] [COMMAND [ARGUMENTS]]\n\n"
	       "Boots Linux on QEMU whose processors have the performance-monitoring unit.  The\n"
	       "command runs in the guest; its output and exit status are the tool's.  Without\n"
	       "one there is a shell on the guest's console; Ctrl-A x ends the guest.\n\n"
	       "  -M, --model NAME     the processor (default: " DEFAULT_MODEL ")\n"
	       "      --cpu TEXT       QEMU's -cpu instead: Haswell,pmu=on\n"
	       "      --smp N          processors (default: 1)\n"
	       "      --icount         time by instructions, one nanosecond each\n"
	       "      --mem SIZE       memory, in M or G (default: " DEFAULT_MEMORY ")\n"
	       "      --kernel FILE    instead of Debian's cloud kernel\n"
	       "      --initrd FILE    instead of the initramfs with perf; none: no initramfs\n"
	       "      --append TEXT    more words of the kernel's command line\n"
	       "      --share FOLDER   its files are in /share; what the command changes there\n"
	       "                       comes back\n"
	       "  -v, --verbose        QEMU's command line and all messages of the kernel\n"
	       "  -h, --help           this text\n\n"
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

/* "512M", "2G"; as QEMU has it, a bare number is of MiB. */
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
	vm->memory_bytes = number * MEBIBYTE;
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
			return tool_usage_error("vm", "bad number of processors '%s'", optarg);
		return -1;
	case OPTION_ICOUNT:
		vm->icount = true;
		return -1;
	case OPTION_MEM:
		return parse_memory(vm, optarg)
			       ? -1
			       : tool_usage_error("vm", "bad size of memory '%s'", optarg);
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
		return tool_usage_error("vm", "--model and --cpu exclude each other");
	if (vm->initrd && (vm->command || vm->share))
		return tool_usage_error("vm",
					"a command and --share need the tool's own initramfs");
	return -1;
}

/* --- QEMU and its processor ----------------------------------------------- */

static char *if_executable(char *path)
{
	if (!access(path, X_OK))
		return path;
	free(path);
	return NULL;
}

static char *find_in_path(void)
{
	char *path = tool_copy(getenv("PATH") ? getenv("PATH") : ""), *rest = path, *found = NULL;

	for (char *folder; !found && (folder = strsep(&rest, ":"));)
		found = if_executable(tool_print("%s/" QEMU_NAME, *folder ? folder : "."));
	free(path);
	return found;
}

/* The one that SOFTPMU_QEMU names, or beside this tool, or in PATH; NULL after a line. */
static char *find_qemu(void)
{
	const char *named = getenv("SOFTPMU_QEMU");
	char self[4096], *slash, *found;
	ssize_t length;

	if (named && *named) {
		if (!access(named, X_OK))
			return tool_copy(named);
		tool_error("SOFTPMU_QEMU names %s, which cannot be run", named);
		return NULL;
	}
	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[length > 0 ? length : 0] = '\0';
	slash = strrchr(self, '/');
	if (slash) {
		*slash = '\0';
		found = if_executable(tool_print("%s/" QEMU_NAME, self));
		if (found)
			return found;
	}
	found = find_in_path();
	if (!found)
		tool_error("there is no " QEMU_NAME " beside the tool or in PATH; `make qemu` "
			   "builds it, `make install-qemu` installs it");
	return found;
}

static const struct base *find_base(const char *model)
{
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		if (!strcmp(bases[i].model, model))
			return &bases[i];
	}
	return NULL;
}

/* QEMU's -cpu, to free(); NULL after a line. */
static char *processor(struct vm *vm)
{
	const struct spmu_model *model;
	const struct base *base;
	const char *name;

	if (vm->cpu)
		return tool_copy(vm->cpu);
	model = tool_model(vm->model);
	if (!model)
		return NULL;
	name = spmu_model_info(model).name;
	base = find_base(name);
	if (!base) {
		tool_error("no processor of QEMU's is like %s: name one with --cpu", name);
		return NULL;
	}
	vm->bits = base->bits;
	return tool_print("%s,pmu=on,pmu-model=%s", base->cpu, name);
}

/* --- the guest's files ---------------------------------------------------- */

/* The script's answer, one path; NULL after a line. */
static char *ask_image(const char *what, unsigned bits, const char *argument)
{
	const char *const argv[] = {what, bits == 32 ? "i386" : "amd64", argument, NULL};
	char *script = tool_print("%s%s", vm_packages_script, vm_image_script), *text;
	int status = vm_script(script, argv, &text);

	free(script);
	if (text)
		text[strcspn(text, "\n")] = '\0';
	if (status == 0 && text && *text)
		return text;
	if (status != EXIT_TOOL) /* then it has said why */
		tool_error("cannot make the guest's %s", what);
	free(text);
	return NULL;
}

/* One argument as a word of the shell. */
static char *quoted(const char *word)
{
	char *text = tool_alloc(4 * strlen(word) + 3), *to = text;

	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	}
	*to++ = '\'';
	return text;
}

static char *command_text(char **command)
{
	char *text = tool_copy("exec");

	for (; *command; command++) {
		char *word = quoted(*command), *longer = tool_print("%s %s", text, word);

		free(word);
		free(text);
		text = longer;
	}
	return text;
}

/* A shell is as large as the terminal here. */
static char *terminal_text(void)
{
	const char *name = getenv("TERM");
	struct winsize size = {0};
	char *term = quoted(name && *name ? name : "vt100"), *text;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		text = tool_print("export TERM=%s\n", term);
	else
		text = tool_print("export TERM=%s\nstty -F /dev/ttyS0 rows %u cols %u\n", term,
				  size.ws_row, size.ws_col);
	free(term);
	return text;
}

static bool add_run(const struct vm *vm, struct vm_archive *archive)
{
	char *terminal = terminal_text();
	char *command = vm->command ? command_text(vm->command) : NULL;
	bool good = vm_archive_folder(archive, "softpmu") &&
		    vm_archive_text(archive, "softpmu/terminal", terminal) &&
		    (!command || vm_archive_text(archive, "softpmu/command", command)) &&
		    (!vm->share || vm_archive_tree(archive, "share", vm->share)) &&
		    vm_archive_close(archive);

	free(terminal);
	free(command);
	return good;
}

static bool fits(const struct vm *vm, const struct vm_archive *archive)
{
	uint64_t needed = 2 * archive->bytes + MEMORY_OF_LINUX;

	if (needed <= vm->memory_bytes)
		return true;
	tool_error("the guest's files and Linux need %llu MiB of memory: give --mem",
		   (unsigned long long)((needed + MEBIBYTE - 1) / MEBIBYTE));
	return false;
}

/* The initramfs: a path to free(); NULL after a line. */
static char *make_initrd(const struct vm *vm)
{
	/* A second and a bit older than the guest's clock, so that what the command changes is
	 * newer. */
	struct vm_archive archive;
	char *init, *base = NULL, *path = NULL;
	int fd = vm_hidden_file("init", vm_init_script, strlen(vm_init_script));

	init = tool_print("/proc/self/fd/%d", fd);
	if (fd >= 0)
		base = ask_image("initramfs", vm->bits, init);
	free(init);
	close(fd);
	/* What is put there is older than the guest's clock, so that what the command changes is
	 * newer. */
	if (base && vm_archive_open(&archive, time(NULL) - 3)) {
		if (vm_archive_begin_with(&archive, base) && add_run(vm, &archive) &&
		    fits(vm, &archive))
			path = tool_print("/proc/self/fd/%d", archive.fd);
	}
	free(base);
	return path;
}

static char *find_initrd(const struct vm *vm)
{
	if (!vm->initrd)
		return make_initrd(vm);
	if (access(vm->initrd, R_OK)) {
		tool_error("cannot read %s", vm->initrd);
		return NULL;
	}
	return tool_copy(vm->initrd);
}

static char *find_kernel(const struct vm *vm)
{
	if (!vm->kernel)
		return ask_image("kernel", vm->bits, NULL);
	if (access(vm->kernel, R_OK)) {
		tool_error("cannot read %s", vm->kernel);
		return NULL;
	}
	return tool_copy(vm->kernel);
}

/* --- all together --------------------------------------------------------- */

static void add_pair(struct vm_run *run, const char *option, const char *value)
{
	vm_word(run, option);
	vm_word(run, value);
}

static void add_machine(const struct vm *vm, struct vm_run *run)
{
	char *processors = tool_print("%llu", (unsigned long long)vm->processors);
	/* Nothing here is worth a mitigation, and each makes a translated kernel slower; on a
	 * loaded machine the timer would fail the kernel's test of it, and so would the time-stamp
	 * counter, without which perf takes short programs for not counted. */
	char *words = tool_print("console=ttyS0 panic=-1 mitigations=off no_timer_check "
				 "tsc=reliable %s%s%s",
				 vm->verbose ? "loglevel=7" : "quiet", vm->append ? " " : "",
				 vm->append ? vm->append : "");

	add_pair(run, "-machine", "q35");
	add_pair(run, "-smp", processors);
	if (vm->icount) /* while all processors halt, time goes to the next timer at once */
		add_pair(run, "-icount", "shift=0,sleep=off");
	add_pair(run, "-m", vm->memory);
	vm_word(run, "-nodefaults");
	vm_word(run, "-no-reboot");
	add_pair(run, "-display", "none");
	add_pair(run, "-append", words);
	free(processors);
	free(words);
}

static int boot(struct vm *vm, struct vm_run *run)
{
	bool bare = vm->initrd && !strcmp(vm->initrd, "none");
	char *qemu = find_qemu(), *cpu = qemu ? processor(vm) : NULL;
	char *kernel = cpu ? find_kernel(vm) : NULL;
	char *initrd = kernel && !bare ? find_initrd(vm) : NULL;
	int status = EXIT_TOOL;

	if (kernel && (initrd || bare)) {
		vm_word(run, qemu);
		add_pair(run, "-cpu", cpu);
		add_machine(vm, run);
		add_pair(run, "-kernel", kernel);
		if (initrd)
			add_pair(run, "-initrd", initrd);
		status = vm_execute(run);
	}
	free(initrd);
	free(kernel);
	free(cpu);
	free(qemu);
	return status;
}

int cmd_vm(int argc, char **argv)
{
	struct vm vm = {.memory = DEFAULT_MEMORY,
			.memory_bytes = 1024 * MEBIBYTE,
			.bits = 64,
			.processors = 1};
	struct vm_run run = {0};
	int status = parse_options(&vm, argc, argv);
	struct stat st;

	if (status >= 0)
		return status;
	if (vm.share && (stat(vm.share, &st) || !S_ISDIR(st.st_mode)))
		return tool_error("%s is no folder", vm.share);
	run.with_command = vm.command;
	run.verbose = vm.verbose;
	run.share = vm.share;
	run.disk_bytes = vm.memory_bytes;
	status = boot(&vm, &run);
	for (char **word = run.argv; word && *word; word++)
		free(*word);
	free(run.argv);
	return status;
}
