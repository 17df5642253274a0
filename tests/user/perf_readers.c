/* SPDX-License-Identifier: MIT */
/*
 * perf_readers.c: a program that samples its child and reads the ring while the child runs.
 * perf_samples.sh has what it must print.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include "perf_reader.h"

#define PAGES 16u

static void spin(void)
{
	for (volatile unsigned i = 0; i < 1000000; i++)
		;
}

/* The ring is this process's, what it shows the child's. */
static void others(void)
{
	struct perf_event_attr attr =
		attr_of(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP | PERF_SAMPLE_TID);
	struct pollfd p = {.events = POLLIN};
	unsigned n = 0, wrong = 0;
	struct ring ring;
	struct record r;
	pid_t child = fork();

	if (!child)
		for (;;)
			spin();
	attr.wakeup_events = 10;
	p.fd = open_on(&attr, child, -1);
	ring = map(p.fd, PAGES, PROT_READ | PROT_WRITE);
	ioctl(p.fd, PERF_EVENT_IOC_ENABLE, 0);
	while (n < 1000 && poll(&p, 1, 60000) > 0 && p.revents == POLLIN)
		while (next(&ring, &r)) {
			n += r.header.type == PERF_RECORD_SAMPLE;
			wrong += r.header.type == PERF_RECORD_SAMPLE &&
				 (uint32_t)r.word[1] != (uint32_t)child;
		}
	say("samples of another", n >= 1000);
	say("wrong", wrong);
	kill(child, SIGTERM);
	waitpid(child, NULL, 0);
	while (poll(&p, 1, 60000) > 0 && p.revents == POLLIN)
		;
	say("it hangs at the end", p.revents == POLLHUP);
	close(p.fd);
}

/* The reader of a small ring is slow, but it goes on: so the child waits for it. */
static void patient(void)
{
	struct perf_event_attr attr = attr_of(PERF_COUNT_HW_INSTRUCTIONS, 1000, PERF_SAMPLE_IP);
	unsigned rounds = 0, losses = 0;
	struct ring ring;
	struct record r;
	pid_t child = fork();
	int fd;

	if (!child)
		for (;;)
			spin();
	fd = open_on(&attr, child, -1);
	ring = map(fd, 1, PROT_READ | PROT_WRITE);
	for (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0); rounds < 200; rounds++) {
		usleep(3000);
		while (next(&ring, &r))
			losses += r.header.type == PERF_RECORD_LOST;
	}
	say("rounds without a loss", losses < rounds / 10);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "others"))
		others();
	else
		patient();
	return 0;
}
