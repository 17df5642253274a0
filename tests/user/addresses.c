/* SPDX-License-Identifier: MIT */
/*
 * addresses.c: programs that depend on addresses (addresses.sh): mappings at fixed
 * addresses, calls to the vsyscall page, the auxiliary vector, large static data.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef DATA_BYTES
static volatile char data[DATA_BYTES];
#else
#define DATA_BYTES 0ul
static volatile char data[1];
#endif

static __attribute__((noinline)) unsigned compute(unsigned n)
{
	return n < 2 ? n : compute(n - 1) + compute(n - 2);
}

/* --- fixed addresses --- */

#define LOW_FROM 0x08000000ul
#define LOW_TO	 0x15000000ul
#define LOW_STEP 0x01000000ul
#define RIGHTS	 (PROT_READ | PROT_WRITE)
#define FLAGS	 (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static volatile int stop;

static void *compute_beside(void *wrong)
{
	while (!stop)
		if (compute(15) != 610)
			*(int *)wrong = 1;
	return NULL;
}

/* Returns true if a mapping at each of these places is where the program asked for it. */
static int map_low(int flags)
{
	int right = 1;

	for (uintptr_t at = LOW_FROM; at < LOW_TO; at += LOW_STEP) {
		char *got = mmap((void *)at, LOW_STEP, RIGHTS, FLAGS | flags, -1, 0);

		if ((uintptr_t)got != at) {
			printf("%#lx: %p\n", at, (void *)got);
			right = 0;
			continue;
		}
		got[0] = got[LOW_STEP - 1] = 1;
		right &= compute(10) == 55;
		if (munmap(got, LOW_STEP))
			right = 0;
	}
	return right;
}

static void run_fixed(void)
{
	pthread_t thread[2];
	int wrong = 0;

	printf("fixed %d\n", map_low(MAP_FIXED));
	printf("no replacement %d\n", map_low(MAP_FIXED_NOREPLACE));
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, compute_beside, &wrong);
	printf("with threads %d\n", map_low(MAP_FIXED));
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("wrong %d\n", wrong);
}

/* A hint; then a mapping at such a place that is moved, unmapped and protected. */
static void run_others(void)
{
	char *hint = mmap((void *)0x0d000000, LOW_STEP, RIGHTS, FLAGS, -1, 0);
	char *from = mmap(NULL, LOW_STEP, RIGHTS, FLAGS, -1, 0), *to;

	printf("hint %p\n", (void *)hint);
	printf("no mapping to protect %d\n",
	       mprotect((void *)0x08000000, 0x05000000, PROT_READ) && errno == ENOMEM);
	from[5] = 7;
	to = mremap(from, LOW_STEP, LOW_STEP, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)0x0c000000);
	printf("moved %p %d %u\n", (void *)to, to[5], compute(10));
	printf("unmapped %d %u\n", munmap((void *)0x01000000, 0x14000000), compute(10));
	/* Half of the address space, with everything that the engine has there. */
	printf("unmapped more %d %u\n", munmap((void *)0x540000000000, 0x010000000000),
	       compute(10));
}

/* Returns the first mapping of softpmu's own memory. The list shows it without rights. */
static void run_engines(void)
{
	unsigned long start = 0, end = 0;
	char line[512], rights[5] = "";
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &start, &end, rights) == 3 && start >> 32 &&
		    !strcmp(rights, "---p"))
			break;
	fclose(maps);
	if (mmap((void *)start, 4096, RIGHTS, FLAGS | MAP_FIXED, -1, 0) == MAP_FAILED)
		puts("refused");
	puts("went on");
}

/* --- vsyscall --- */

static sigjmp_buf out;
static unsigned long fault_rip, fault_address;

static void on_fault(int number, siginfo_t *info, void *context)
{
	(void)number;
	fault_rip = (unsigned long)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	fault_address = (unsigned long)info->si_addr;
	siglongjmp(out, 1);
}

static int is_near(time_t a, time_t b)
{
	return labs(a - b) < 20;
}

/* If the kernel has no such page, the calls fault, natively too. */
static void run_vsyscall(void)
{
	int (*volatile day)(struct timeval *, void *) = (void *)0xffffffffff600000;
	time_t (*volatile seconds)(time_t *) = (void *)0xffffffffff600400;
	long (*volatile cpu)(unsigned *, unsigned *, void *) = (void *)0xffffffffff600800;
	void (*volatile inside)(void) = (void *)0xffffffffff600010;
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	struct timeval now = {0, 0};
	unsigned processor = -1u, node = -1u;
	time_t stored = 0;

	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(out, 1)) {
		printf("day %d", day(&now, NULL));
		printf(" %d\n", is_near(now.tv_sec, time(NULL)));
		printf("seconds %d\n", is_near(seconds(&stored), time(NULL)));
		printf("stored %d\n", is_near(stored, time(NULL)));
		printf("cpu %ld %d\n", cpu(&processor, &node, NULL),
		       processor != -1u && node != -1u);
	} else {
		printf("fault at %#lx, address %#lx\n", fault_rip, fault_address);
	}
	if (!sigsetjmp(out, 1))
		day((void *)8, NULL);
	else
		printf("bad pointer: fault at %#lx, address %#lx\n", fault_rip, fault_address);
	if (!sigsetjmp(out, 1))
		inside();
	else
		printf("no function: fault at %#lx, address %#lx\n", fault_rip, fault_address);
}

/* --- what the kernel shows --- */

static void run_auxv(void)
{
	Elf64_auxv_t pair;
	int file = open("/proc/self/auxv", O_RDONLY), same = 1, pairs = 0;
	char line[4096] = "";
	FILE *words = fopen("/proc/self/cmdline", "r");

	while (read(file, &pair, sizeof(pair)) == sizeof(pair) && pair.a_type) {
		pairs++;
		if (pair.a_type == AT_HWCAP)
			continue; /* the C library uses it in its own way */
		if (getauxval(pair.a_type) != pair.a_un.a_val) {
			same = 0;
			printf("%lu: %#lx, not %#lx\n", pair.a_type, pair.a_un.a_val,
			       getauxval(pair.a_type));
		}
	}
	printf("auxv %d %d\n", same, pairs > 10);
	if (fread(line, 1, sizeof(line) - 1, words) > 0)
		printf("words %s\n", line + strlen(line) + 1);
	fclose(words);
}

/* --- pages that the program supplies itself --- */

static int open_userfault(uint64_t features)
{
	struct uffdio_api api = {.api = UFFD_API, .features = features};
	int file = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return file >= 0 && ioctl(file, UFFDIO_API, &api) ? -1 : file;
}

static void *supply_pages(void *file)
{
	static char page[4096];
	struct uffd_msg message;
	struct uffdio_copy copy = {.src = (uintptr_t)page, .len = sizeof(page)};

	for (int c = 'a'; c < 'e'; c++) {
		if (read(*(int *)file, &message, sizeof(message)) != sizeof(message))
			break;
		memset(page, c, sizeof(page));
		copy.dst = message.arg.pagefault.address & -sizeof(page);
		ioctl(*(int *)file, UFFDIO_COPY, &copy);
	}
	return NULL;
}

static void run_userfault(void)
{
	int file = open_userfault(0);
	char *at = mmap(NULL, 4 * 4096, RIGHTS, FLAGS, -1, 0);
	struct uffdio_register these = {.range = {(uintptr_t)at, 4 * 4096},
					.mode = UFFDIO_REGISTER_MODE_MISSING};
	pthread_t thread;

	if (file < 0 || ioctl(file, UFFDIO_REGISTER, &these)) {
		puts("not allowed");
		return;
	}
	pthread_create(&thread, NULL, supply_pages, &file);
	for (int i = 0; i < 4; i++)
		putchar(at[i * 4096 + 100]);
	putchar('\n');
	pthread_join(thread, NULL);
}

/* Faults in system calls for which the engine holds its lock. */
static void run_events(void)
{
	printf("events %s\n", open_userfault(UFFD_FEATURE_EVENT_UNMAP) < 0 ? "refused" : "allowed");
}

static void run_data(void)
{
	unsigned long sum = 0, step = sizeof(data) / 64 + 1;

	for (unsigned long i = 0; i < sizeof(data); i += step)
		data[i] = (char)(i / step);
	for (unsigned long i = 0; i < sizeof(data); i += step)
		sum += (unsigned long)data[i];
	printf("%zu %lu %u\n", sizeof(data) / 1000000, sum, compute(20));
}

static void run_alignment(void)
{
	extern const char __ehdr_start[];

	printf("%lu\n", (uintptr_t)__ehdr_start % 0x1000000);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} part[] = {
		{"fixed", run_fixed},	      {"others", run_others},	    {"engine", run_engines},
		{"vsyscall", run_vsyscall},   {"auxv", run_auxv},	    {"data", run_data},
		{"alignment", run_alignment}, {"userfault", run_userfault}, {"events", run_events}};

	for (size_t i = 0; i < sizeof(part) / sizeof(*part); i++)
		if (argc > 1 && !strcmp(argv[1], part[i].name)) {
			part[i].run();
			return 0;
		}
	return 1;
}
