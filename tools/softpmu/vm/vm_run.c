/* SPDX-License-Identifier: MIT */
/*
 * vm_run.c: runs QEMU as a child of `softpmu vm`.
 *
 * With a command, the guest has three serial ports, each a pipe to the tool: the console (kernel
 * messages and the command's standard error), the command's standard output, and finally its status
 * and the files that it changed.  Without a command, QEMU's own standard input and output are the
 * console.  No file has a name, so none can be left over.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/vm/vm.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

/* The outputs of QEMU. */
enum stream { ERRORS, CONSOLE, OUTPUT, END, STREAMS };

struct pump {
	int fd[STREAMS];
	bool verbose;
	bool after_return; /* CONSOLE: the last byte was a carriage return, not yet written */
	char line[1024];   /* ERRORS: the current line */
	size_t line_length;
	char *end; /* END: all bytes */
	size_t end_length;
};

int vm_run_hidden_file(const char *name, const void *bytes, size_t size)
{
	int fd = memfd_create(name, MFD_NOEXEC_SEAL);

	if (fd < 0) /* kernels before 6.3 do not know the flag */
		fd = memfd_create(name, 0);
	if (fd >= 0 && size && write(fd, bytes, size) != (ssize_t)size) {
		close(fd);
		return -1;
	}
	return fd;
}

void vm_run_word(struct vm_run *run, const char *word)
{
	size_t words = 0;

	while (run->argv && run->argv[words])
		words++;
	run->argv = tool_grow(run->argv, (words + 2) * sizeof(*run->argv));
	run->argv[words] = tool_copy(word);
	run->argv[words + 1] = NULL;
}

/* --- signals -------------------------------------------------------------- */

static volatile pid_t signal_pid;
static volatile sig_atomic_t signal_seen;

/* Ends QEMU.  A signal from the terminal reaches QEMU directly; others are passed on. */
static void on_request(int number, siginfo_t *info, void *context)
{
	int error = errno;

	(void)context;
	signal_seen = number;
	if (signal_pid > 0 && info->si_code != SI_KERNEL)
		kill(signal_pid, SIGTERM);
	errno = error;
}

static void take_signals(void)
{
	static const int requests[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_sigaction = on_request, .sa_flags = SA_SIGINFO | SA_RESTART};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		sigaction(requests[i], &action, NULL);
}

/* --- output --------------------------------------------------------------- */

static void put_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		bytes += written;
		size -= (size_t)written;
	}
}

/* Writes the console without the carriage returns at the ends of the kernel's lines. */
static void put_console(struct pump *pump, const char *bytes, size_t size)
{
	char out[2 * 4096];
	size_t n = 0;

	for (size_t i = 0; i < size; i++) {
		if (pump->after_return && bytes[i] != '\n')
			out[n++] = '\r';
		pump->after_return = bytes[i] == '\r';
		if (!pump->after_return)
			out[n++] = bytes[i];
	}
	put_all(STDERR_FILENO, out, n);
}

/* Returns true for lines of QEMU, except those about features that its translator lacks. */
static bool worth_a_line(const struct pump *pump)
{
	return pump->verbose || !(strstr(pump->line, "TCG doesn't support requested feature") ||
				  strstr(pump->line, "terminating on signal"));
}

static void put_errors(struct pump *pump, const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		pump->line[pump->line_length++] = bytes[i];
		if (bytes[i] != '\n' && pump->line_length < sizeof(pump->line) - 1)
			continue;
		pump->line[pump->line_length] = '\0';
		if (worth_a_line(pump))
			put_all(STDERR_FILENO, pump->line, pump->line_length);
		pump->line_length = 0;
	}
}

static void put_end(struct pump *pump, const char *bytes, size_t size)
{
	pump->end = tool_grow(pump->end, pump->end_length + size + 1);
	memcpy(pump->end + pump->end_length, bytes, size);
	pump->end_length += size;
	pump->end[pump->end_length] = '\0';
}

static void take(struct pump *pump, enum stream stream)
{
	char bytes[4096];
	ssize_t got = read(pump->fd[stream], bytes, sizeof(bytes));

	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0) {
		close(pump->fd[stream]);
		pump->fd[stream] = -1;
	} else if (stream == ERRORS) {
		put_errors(pump, bytes, (size_t)got);
	} else if (stream == CONSOLE) {
		put_console(pump, bytes, (size_t)got);
	} else if (stream == OUTPUT) {
		put_all(STDOUT_FILENO, bytes, (size_t)got);
	} else {
		put_end(pump, bytes, (size_t)got);
	}
}

/* Copies output until QEMU has closed all pipes. */
static void pump_all(struct pump *pump)
{
	for (;;) {
		struct pollfd polled[STREAMS];
		bool open = false;

		for (int i = 0; i < STREAMS; i++) {
			polled[i] = (struct pollfd){.fd = pump->fd[i], .events = POLLIN};
			open = open || pump->fd[i] >= 0;
		}
		if (!open)
			return;
		if (poll(polled, STREAMS, -1) < 0)
			continue;
		for (int i = 0; i < STREAMS; i++) {
			if (polled[i].revents)
				take(pump, (enum stream)i);
		}
	}
}

/* --- the child ------------------------------------------------------------ */

/* Adds a serial port that is a pipe to us. */
static void add_port(struct vm_run *run, const char *name, int fd, const char *device)
{
	char *chardev = tool_print("file,id=%s,path=/proc/self/fd/%d", name, fd);
	char *port = tool_print("isa-serial,chardev=%s%s", name, device);

	vm_run_word(run, "-chardev");
	vm_run_word(run, chardev);
	vm_run_word(run, "-device");
	vm_run_word(run, port);
	free(chardev);
	free(port);
}

/* Adds a disk without a name, which takes the command's changes: a serial port would be slow. */
static bool add_disk(struct vm_run *run, int *disk)
{
	char *drive;

	*disk = -1;
	if (!run->share || !run->with_command)
		return true;
	*disk = vm_run_hidden_file("disk", "", 0);
	if (*disk < 0 || ftruncate(*disk, (off_t)run->disk_bytes)) {
		tool_error("cannot make the guest's disk: %s", strerror(errno));
		return false;
	}
	drive = tool_print("if=virtio,format=raw,file.locking=off,file.filename=/proc/self/fd/%d",
			   *disk);
	vm_run_word(run, "-drive");
	vm_run_word(run, drive);
	free(drive);
	return true;
}

static void add_ports(struct vm_run *run, const int ends[STREAMS])
{
	if (!run->with_command) {
		vm_run_word(run, "-serial");
		vm_run_word(run, "mon:stdio");
		return;
	}
	add_port(run, "console", ends[CONSOLE], "");
	add_port(run, "output", ends[OUTPUT], "");
	/* Usually the third port shares the interrupt line of the first one. */
	add_port(run, "end", ends[END], ",iobase=0x3e8,irq=5");
}

static bool open_pipes(const struct vm_run *run, struct pump *pump, int ends[STREAMS])
{
	for (int i = 0; i < STREAMS; i++)
		pump->fd[i] = ends[i] = -1;
	for (int i = 0; i < STREAMS; i++) {
		int pair[2];

		if (i != ERRORS && !run->with_command)
			continue;
		if (pipe(pair)) {
			tool_error("cannot make a pipe: %s", strerror(errno));
			return false;
		}
		fcntl(pair[0], F_SETFD, FD_CLOEXEC);
		pump->fd[i] = pair[0];
		ends[i] = pair[1];
	}
	return true;
}

static void become_qemu(const struct vm_run *run, int errors, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_TOOL);
	if (run->with_command) {
		int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

		dup2(nothing, STDIN_FILENO);
	}
	dup2(errors, STDERR_FILENO);
	close(errors);
	execv(run->argv[0], run->argv);
	dprintf(STDERR_FILENO, "softpmu: cannot run %s: %s\n", run->argv[0], strerror(errno));
	_exit(EXIT_TOOL);
}

/* Prints the command line as for a shell, but without quotes within words. */
static void show(char *const *argv)
{
	for (; *argv; argv++)
		fprintf(stderr, strpbrk(*argv, " $;&|*?") ? "'%s'%c" : "%s%c", *argv,
			argv[1] ? ' ' : '\n');
}

/* --- the end -------------------------------------------------------------- */

/* Unpacks what the command changed in /share: tar archives, over the folder. */
static int bring_back(const char *folder, int from)
{
	const char *const argv[] = {"tar", "-xi", "-C", folder, "--no-same-owner", "-f", "-", NULL};
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		lseek(from, 0, SEEK_SET);
		dup2(from, STDIN_FILENO);
		execvp(argv[0], (char *const *)argv);
		_exit(EXIT_NOT_FOUND);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return tool_error("cannot put what the command changed into %s", folder);
	return 0;
}

static int take_share(const struct vm_run *run, int disk, uint64_t on_disk, const char *bytes,
		      size_t size)
{
	if (on_disk > run->disk_bytes)
		return tool_error("what the command changed is larger than the guest's memory");
	if (on_disk && !ftruncate(disk, (off_t)on_disk))
		return bring_back(run->share, disk);
	if (size && !ftruncate(disk, 0) && write(disk, bytes, size) == (ssize_t)size)
		return bring_back(run->share, disk);
	return 0;
}

/* Reads "STATUS BYTES\n": the command's status, and how much of the disk is used. */
static int finish_command(const struct vm_run *run, const struct pump *pump, int disk)
{
	const char *rest;
	char *end;
	unsigned long status;
	unsigned long long on_disk;
	int failed = 0;

	if (!pump->end || !(rest = strchr(pump->end, '\n')))
		return tool_error("the guest ended before the command did");
	status = strtoul(pump->end, &end, 10);
	on_disk = strtoull(end, &end, 10);
	if (status > 255 || (*end != '\r' && *end != '\n'))
		return tool_error("the guest did not report how the command ended");
	rest++;
	if (run->share)
		failed = take_share(run, disk, on_disk, rest,
				    (size_t)(pump->end + pump->end_length - rest));
	return failed ? failed : (int)status;
}

static int exit_status(const struct vm_run *run, const struct pump *pump, int disk, int status)
{
	if (signal_seen)
		return EXIT_WITH_SIGNAL + signal_seen;
	if (WIFSIGNALED(status))
		return tool_error("QEMU was ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status))
		return EXIT_TOOL; /* after its message */
	return run->with_command ? finish_command(run, pump, disk) : 0;
}

int vm_run_qemu(struct vm_run *run)
{
	struct pump pump = {.verbose = run->verbose};
	pid_t parent = getpid(), pid;
	struct termios terminal;
	bool has_terminal = tcgetattr(STDIN_FILENO, &terminal) == 0;
	int ends[STREAMS], disk, status = 0;

	if (!open_pipes(run, &pump, ends) || !add_disk(run, &disk))
		return EXIT_TOOL;
	add_ports(run, ends);
	if (run->verbose)
		show(run->argv);
	take_signals();
	pid = fork();
	if (pid == 0)
		become_qemu(run, ends[ERRORS], parent);
	signal_pid = pid;
	for (int i = 0; i < STREAMS; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
	}
	if (pid < 0)
		return tool_error("cannot start QEMU: %s", strerror(errno));
	pump_all(&pump);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	signal_pid = 0;
	/* If QEMU was killed, the terminal is as the guest left it. */
	if (has_terminal && !run->with_command)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &terminal);
	status = exit_status(run, &pump, disk, status);
	free(pump.end);
	return status;
}

/* --- scripts -------------------------------------------------------------- */

static char *read_all(int fd)
{
	char *text = tool_alloc(1);
	size_t length = 0;

	for (;;) {
		ssize_t got;

		text = tool_grow(text, length + 4096);
		got = read(fd, text + length, 4095);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	text[length] = '\0';
	return text;
}

int vm_run_script(const char *script, const char *const argv[], char **text)
{
	int file = vm_run_hidden_file("script", script, strlen(script)), pair[2], status;
	char *path = tool_print("/proc/self/fd/%d", file);
	pid_t pid;

	*text = NULL;
	if (file < 0 || pipe2(pair, O_CLOEXEC))
		return -1;
	pid = fork();
	if (pid == 0) {
		const char *words[8] = {"bash", path};

		for (size_t i = 0; i < 5 && argv[i]; i++)
			words[i + 2] = argv[i];
		dup2(pair[1], STDOUT_FILENO);
		execvp("bash", (char *const *)words);
		_exit(EXIT_NOT_FOUND);
	}
	free(path);
	close(file);
	close(pair[1]);
	if (pid > 0)
		*text = read_all(pair[0]);
	close(pair[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}
