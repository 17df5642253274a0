/* SPDX-License-Identifier: MIT */
/*
 * rings.c: code that the kernel writes, into memory that is registered with io_uring(7): no system
 * call names it.  One subject for each argument; without io_uring it ends with 77.
 */
#define _GNU_SOURCE
#include <linux/io_uring.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "corners.h"

#define PAGE   4096
#define ROUNDS 50

/* A ring of one entry, as the kernel shares it. */
static int ring;
static struct io_uring_params parameters;
static uint8_t *submissions, *completions;
static struct io_uring_sqe *entry;

static void *part(off_t offset)
{
	void *at = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring, offset);

	need(at != MAP_FAILED, "the ring");
	return at;
}

static void make_ring(void)
{
	ring = (int)syscall(SYS_io_uring_setup, 1, &parameters);
	if (ring < 0)
		_exit(77);
	submissions = part(IORING_OFF_SQ_RING);
	completions = part(IORING_OFF_CQ_RING);
	entry = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	need(entry != MAP_FAILED, "its entry");
}

static uint32_t *word(uint8_t *at, uint32_t offset)
{
	return (uint32_t *)(at + offset);
}

/* Reads from the beginning of the file into the first registered buffer.  Returns the kernel's
 * result. */
static int read_to(void *to, unsigned bytes, int file)
{
	uint32_t head = *word(completions, parameters.cq_off.head);
	uint32_t mask = *word(completions, parameters.cq_off.ring_mask);
	const struct io_uring_cqe *done = (void *)(completions + parameters.cq_off.cqes);

	*entry = (struct io_uring_sqe){.opcode = IORING_OP_READ_FIXED,
				       .fd = file,
				       .addr = (uint64_t)(uintptr_t)to,
				       .len = bytes};
	*word(submissions, parameters.sq_off.array) = 0;
	__atomic_add_fetch(word(submissions, parameters.sq_off.tail), 1, __ATOMIC_RELEASE);
	need(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1,
	     "io_uring_enter");
	__atomic_add_fetch(word(completions, parameters.cq_off.head), 1, __ATOMIC_RELEASE);
	return done[head & mask].res;
}

/* Reads code to `at` and runs it, in `rounds` rounds.  Some of it is in the next page. */
static void rounds(const char *name, uint8_t *at)
{
	int file = memfd_create("rings", 0), wrong = 0;

	need(file >= 0, "memfd_create");
	for (int n = 0; n < ROUNDS; n++) {
		const uint8_t code[] = {0xb8, (uint8_t)n, 0, 0, 0, 0xc3}; /* mov $n, %eax; ret */

		need(pwrite(file, code, sizeof(code), 0) == sizeof(code), "pwrite");
		need(read_to(at, sizeof(code), file) == sizeof(code), "a read");
		for (int again = 0; again < 2; again++)
			wrong += ((int (*)(void))(uintptr_t)at)() != n;
	}
	printf("%s: %d wrong\n", name, wrong);
	close(file);
}

static void registered(void)
{
	uint8_t *at = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec buffer = {at, 2 * PAGE};
	uint8_t *seven = at + 100;

	need(at != MAP_FAILED, "mmap");
	make_ring();
	/* It has been translated before. */
	memcpy(seven, (const uint8_t[]){0xb8, 7, 0, 0, 0, 0xc3}, 6);
	need(((int (*)(void))(uintptr_t)seven)() == 7, "code");
	need(!syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &buffer, 1),
	     "io_uring_register");
	rounds("one page", at + 99);
	rounds("two pages", at + PAGE - 3);
	/* The kernel keeps the pages, so their protection does not matter. */
	need(!mprotect(at, 2 * PAGE, PROT_READ | PROT_EXEC), "mprotect");
	rounds("without the right to write", at + 200);
}

int main(int argc, char **argv)
{
	static const struct subject subjects[] = {
		{"registered", registered},
		{NULL, NULL},
	};

	return run_subject(subjects, argc, argv);
}
