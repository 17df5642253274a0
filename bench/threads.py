#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What threads cost: a program with 1, 2 and 4 busy threads that do equal work, natively,
under `stat` and under `record`.  Two threads should cost twice what one does.

bench/README.md tells what is measured.
"""
import argparse
import os
import resource
import subprocess
import sys

from run import write_once

SOURCE = b"""#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void *busy(void *argument)
{
	uint32_t *numbers = malloc(20000 * sizeof(*numbers)), x = 1;

	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 20000; i++)
			numbers[i] = x = x * 1664525 + 1013904223;
		qsort(numbers, 20000, sizeof(*numbers), compare);
	}
	free(numbers);
	return argument;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t id[64];

	for (int i = 0; i < threads; i++)
		pthread_create(&id[i], NULL, busy, NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	return 0;
}
"""
THREADS = (1, 2, 4)


def cost(argv):
    """Returns CPU seconds (user and system) of argv and the processes that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softpmu", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    source = write_once(os.path.join(options.folder, "threads.c"), lambda file: file.write(SOURCE))
    program = os.path.join(options.folder, "threads")
    subprocess.run(["gcc", "-O2", "-pthread", "-o", program, source], check=True)
    data = os.path.join(options.folder, "threads.data")
    tool = [options.softpmu]
    ways = {
        "native": [],
        "stat": tool + ["stat", "-e", "instructions:u", "-o", os.devnull, "--"],
        "record": tool + ["record", "-q", "-e", "instructions:upp", "-c", "100003", "-o", data, "--"],
    }
    least = {}
    for _ in range(options.runs):
        for way, before in ways.items():
            for threads in THREADS:
                spent = cost(before + [program, str(threads)])
                least[way, threads] = min(spent, least.get((way, threads), spent))
    print(f"{'':8}" + "".join(f"{n:>8} thr" for n in THREADS) + "   each of 2, 4, over one alone")
    for way in ways:
        each = [least[way, n] / n / least[way, 1] for n in THREADS[1:]]
        print(f"{way:8}" + "".join(f"{least[way, n]:11.3f}s" for n in THREADS) +
              "   " + ", ".join(f"{x:.2f}" for x in each))
    return 0


if __name__ == "__main__":
    sys.exit(main())
