/* SPDX-License-Identifier: MIT */
/*
 * identity: prints what a program can see of how it was started, so that a run under softpmu can
 * be compared with a native one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Prints the target of /proc/self/exe. */
static void print_own_image(void)
{
	struct stat by_path, by_open, link;
	char path[64];
	int fd = open("/proc/self/exe", O_RDONLY);

	snprintf(path, sizeof(path), "/proc/%d/exe", getpid());
	printf("image: %d", stat(path, &by_path));
	printf(" %d", fstat(fd, &by_open));
	printf(" %d", lstat(path, &link));
	printf(" %ld %ld bytes, inode %lu, a link: %d\n", (long)by_path.st_size,
	       (long)by_open.st_size, (unsigned long)by_open.st_ino, S_ISLNK(link.st_mode));
	close(fd);
}

static void print_arguments(int argc, char **argv)
{
	char buffer[4096];
	mode_t mask = umask(0);
	ssize_t length;
	int n;

	umask(mask);
	for (n = 0; n < argc; n++)
		printf("argv[%d]=%s\n", n, argv[n]);
	/* The shell sets `_` to the program that it starts. */
	for (n = 0; environ[n]; n++)
		if (strncmp(environ[n], "_=", 2) != 0)
			printf("environ[%d]=%s\n", n, environ[n]);
	printf("cwd=%s umask=%o\n", getcwd(buffer, sizeof(buffer)), mask);
	length = readlink("/proc/self/exe", buffer, sizeof(buffer) - 1);
	buffer[length > 0 ? length : 0] = '\0';
	printf("exe=%s\n", buffer);
	print_own_image();
	prctl(PR_GET_NAME, buffer);
	printf("comm=%s\n", buffer);
	printf("execfn=%s\n", (const char *)getauxval(AT_EXECFN));
	printf("secure=%lu page=%lu uid=%lu phnum=%lu phent=%lu clktck=%lu\n", getauxval(AT_SECURE),
	       getauxval(AT_PAGESZ), getauxval(AT_UID), getauxval(AT_PHNUM), getauxval(AT_PHENT),
	       getauxval(AT_CLKTCK));
	printf("platform=%s random=%d vdso=%d base=%d\n", (const char *)getauxval(AT_PLATFORM),
	       getauxval(AT_RANDOM) != 0, getauxval(AT_SYSINFO_EHDR) != 0, getauxval(AT_BASE) != 0);
}

static void print_descriptors(void)
{
	int fd;

	for (fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		if (flags >= 0)
			printf("fd %d flags %d\n", fd, flags);
	}
	fd = open("/dev/null", O_RDONLY);
	printf("next fd %d\n", fd);
}

static void print_signals(void)
{
	struct sigaction action;
	sigset_t mask;
	stack_t stack;
	int n;

	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (n = 1; n < 65; n++) {
		if (sigaction(n, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
			printf("signal %d: %s\n", n,
			       action.sa_handler == SIG_IGN ? "ignored" : "handled");
		if (sigismember(&mask, n) == 1)
			printf("signal %d blocked\n", n);
	}
	sigaltstack(NULL, &stack);
	printf("altstack %d\n", stack.ss_flags);
}

static void print_limits(void)
{
	static const int resources[] = {RLIMIT_STACK, RLIMIT_NOFILE, RLIMIT_AS,
					RLIMIT_DATA,  RLIMIT_CORE,   RLIMIT_FSIZE};
	struct rlimit limit;
	unsigned n;

	for (n = 0; n < sizeof(resources) / sizeof(resources[0]); n++) {
		getrlimit(resources[n], &limit);
		printf("limit %d: %lu %lu\n", resources[n], limit.rlim_cur, limit.rlim_max);
	}
	printf("personality %x priority %d dumpable %d\n", personality(0xffffffff),
	       getpriority(PRIO_PROCESS, 0), prctl(PR_GET_DUMPABLE));
}

int main(int argc, char **argv)
{
	char line[256];

	print_arguments(argc, argv);
	print_descriptors();
	print_signals();
	print_limits();
	printf("break works: %d\n", sbrk(4096) != (void *)-1);
	while (fgets(line, sizeof(line), stdin))
		printf("stdin: %s", line);
	printf("stack aligned: %d\n", ((uintptr_t)__builtin_frame_address(0) & 15) == 0);
	return 42;
}
