/* SPDX-License-Identifier: MIT */
/*
 * vm_boot.c: boots a kernel and an initramfs on QEMU with the unit inside (docs/qemu.md).
 *
 * vm_image.sh makes Debian's cloud kernel and an initramfs with busybox and perf, and keeps them in
 * the cache.  What differs from run to run, the command and the shared folder, is an archive of its
 * own after the initramfs.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/vm/vm.h"

#define QEMU_NAME "softpmu-qemu-system-x86_64"

/* What Linux and perf need, in addition to twice the archive, which is unpacked in memory. */
#define MEMORY_OF_LINUX (192 * VM_MEBIBYTE)

/* The texts of vm_packages.sh, vm_image.sh and vm_init.sh. */
extern const char vm_packages_script[], vm_image_script[], vm_init_script[];

/* For each model, the most similar processor of QEMU, which defines all but the unit.  Debian's
 * kernel for 32 bits needs CMOV, which no Pentium has. */
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
	{"knightslanding", "Haswell", 64},
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
	{"alderlake", "SapphireRapids", 64},
	{"sapphirerapids", "SapphireRapids", 64},
	{"alderlake-e", "SapphireRapids", 64},
	{"graniterapids", "GraniteRapids", 64},
	{"sierraforest", "SierraForest", 64},
	{"lunarlake", "SapphireRapids", 64},
	{"tigerlake", "Icelake-Server", 64},
};

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

/* Finds QEMU: the one that SOFTPMU_QEMU names, next to this tool, or in PATH.  NULL after a
 * message. */
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
		tool_error("there is no " QEMU_NAME " next to the tool or in PATH; `make qemu` "
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

/* Returns QEMU's -cpu, to free(), or NULL after a message. */
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
	name = spmu_model_describe(model).name;
	base = find_base(name);
	if (!base) {
		tool_error("QEMU has no processor similar to %s; choose one with --cpu", name);
		return NULL;
	}
	vm->bits = base->bits;
	return tool_print("%s,pmu=on,pmu-model=%s", base->cpu, name);
}

/* --- the guest's files ---------------------------------------------------- */

/* Runs the script.  Returns the path that it prints, to free(), or NULL after a message. */
static char *ask_image(const char *what, unsigned bits, const char *argument)
{
	const char *const argv[] = {what, bits == 32 ? "i386" : "amd64", argument, NULL};
	char *script = tool_print("%s%s", vm_packages_script, vm_image_script), *text;
	int status = vm_run_script(script, argv, &text);

	free(script);
	if (text)
		text[strcspn(text, "\n")] = '\0';
	if (status == 0 && text && *text)
		return text;
	if (status != EXIT_TOOL) /* otherwise there is a message already */
		tool_error("cannot make the guest's %s", what);
	free(text);
	return NULL;
}

/* Quotes an argument for the shell. */
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

/* Returns commands that give the guest's console the size of the terminal here. */
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
	tool_error("the guest's files and Linux need %llu MiB of memory; give more with --mem",
		   (unsigned long long)((needed + VM_MEBIBYTE - 1) / VM_MEBIBYTE));
	return false;
}

/* Makes the initramfs.  Returns a path, to free(), or NULL after a message. */
static char *make_initrd(const struct vm *vm)
{
	struct vm_archive archive;
	char *init, *base = NULL, *path = NULL;
	int fd = vm_run_hidden_file("init", vm_init_script, strlen(vm_init_script));

	init = tool_print("/proc/self/fd/%d", fd);
	if (fd >= 0)
		base = ask_image("initramfs", vm->bits, init);
	free(init);
	close(fd);
	/* These files are older than the guest's clock by more than a second, so that any change
	 * makes them newer. */
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

/* --- booting -------------------------------------------------------------- */

static void add_pair(struct vm_run *run, const char *option, const char *value)
{
	vm_run_word(run, option);
	vm_run_word(run, value);
}

static void add_machine(const struct vm *vm, struct vm_run *run)
{
	char *processors = tool_print("%llu", (unsigned long long)vm->processors);
	/* A mitigation protects nothing here and makes a translated kernel slower.  On a loaded
	 * machine the kernel's tests of the timer and of the time-stamp counter would fail.
	 * Without the counter perf takes short programs for not counted. */
	char *words = tool_print("console=ttyS0 panic=-1 mitigations=off no_timer_check "
				 "tsc=reliable %s%s%s",
				 vm->verbose ? "loglevel=7" : "quiet", vm->append ? " " : "",
				 vm->append ? vm->append : "");

	add_pair(run, "-machine", "q35");
	add_pair(run, "-smp", processors);
	if (vm->icount) /* if all processors halt, time jumps to the next timer */
		add_pair(run, "-icount", "shift=0,sleep=off");
	add_pair(run, "-m", vm->memory);
	vm_run_word(run, "-nodefaults");
	vm_run_word(run, "-no-reboot");
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
		vm_run_word(run, qemu);
		add_pair(run, "-cpu", cpu);
		add_machine(vm, run);
		add_pair(run, "-kernel", kernel);
		if (initrd)
			add_pair(run, "-initrd", initrd);
		status = vm_run_qemu(run);
	}
	free(initrd);
	free(kernel);
	free(cpu);
	free(qemu);
	return status;
}

int vm_boot(struct vm *vm)
{
	struct vm_run run = {.with_command = vm->command,
			     .verbose = vm->verbose,
			     .share = vm->share,
			     .disk_bytes = vm->memory_bytes};
	int status = boot(vm, &run);

	for (char **word = run.argv; word && *word; word++)
		free(*word);
	free(run.argv);
	return status;
}
