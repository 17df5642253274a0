#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What code that runs a few times costs: short programs natively and under `stat`, side by side,
with a persistent code cache (warm) and without it (cold).

bench/README.md tells what is measured.
"""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import time

from run import KEPT, SEARCH, full, start, write_once

SMALL = b"""#include <cstdio>

template <class T> struct list {
	struct node { T value; node *next; } *head = nullptr;
	void push(T v) { head = new node{v, head}; }
	template <class F> void each(F f) const { for (auto n = head; n; n = n->next) f(n->value); }
	~list() { while (head) { auto n = head->next; delete head; head = n; } }
};

struct shape { virtual double area() const = 0; virtual ~shape() {} };
struct circle : shape { double r; circle(double a) : r(a) {} double area() const { return 3 * r * r; } };
struct box : shape { double a, b; box(double x, double y) : a(x), b(y) {} double area() const { return a * b; } };

int main(int argc, char **)
{
	list<int> numbers;
	list<shape *> shapes;
	double sum = 0;
	for (int i = 0; i < argc; i++)
		numbers.push(i * i);
	shapes.push(new circle(argc));
	shapes.push(new box(argc, 2));
	numbers.each([&](int v) { sum += v; });
	shapes.each([&](shape *s) { sum += s->area(); delete s; });
	std::printf("%f\\n", sum);
}
"""


class Program:
    def __init__(self, name, argv):
        self.name, self.argv, self.stdin = name, argv, None


def programs(folder):
    source = write_once(os.path.join(folder, "small.cc"), lambda file: file.write(SMALL))
    small = os.path.join(folder, "small.ii")
    subprocess.run(["g++", "-E", source, "-o", small], check=True)
    cc1plus = subprocess.run(["g++", "-print-prog-name=cc1plus"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.strip()
    out = [
        Program("cc1plus", [cc1plus, "-quiet", small, "-o", os.devnull]),
        Program("cc1plus-O2", [cc1plus, "-quiet", "-O2", small, "-o", os.devnull]),
        Program("node", ["node", "-e", "0"]),
        Program("java", ["java", "-version"]),
        Program("python3", ["python3", "-I", "-c", "0"]),
        Program("perl", ["perl", "-e", "0"]),
        Program("bash", ["bash", "-c", ":"]),
        Program("true", ["/bin/true"]),
    ]
    return [p for p in out if shutil.which(p.argv[0], path=SEARCH) or print(f"{p.name}: not installed")]


def run(command, cache=KEPT):
    """Returns milliseconds of CPU (of the process and those it waited for), and by the clock."""
    begin = time.perf_counter()
    process = start(command, None, cache)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)}: status {process.returncode}")
    return 1000 * (usage.ru_utime + usage.ru_stime), 1000 * (time.perf_counter() - begin)


def count_blocks(softpmu, folder, program):
    """Returns how many blocks one run translates."""
    said = os.path.join(folder, "cold.txt")
    run(full([softpmu, "stat", "-v", "--no-cache", "-o", said, "-e", "instructions:u", "--"], program))
    with open(said, encoding="utf-8") as file:
        return int(re.search(r"\bblocks: (\d+)", file.read()).group(1))


def measure(softpmu, folder, program, runs):
    warm = [softpmu, "stat", "-o", os.devnull, "-e", "instructions:u", "--"]
    cold = warm[:-1] + ["--no-cache", "--"]
    blocks = count_blocks(softpmu, folder, program)
    run(full(warm, program))
    taken = {"native": [], "cold": [], "warm": []}
    for _ in range(runs):
        for way, prefix in (("native", []), ("cold", cold), ("warm", warm)):
            taken[way].append(run(full(prefix, program)))
    # CPU: the smallest, as other work of the machine can only add to it.
    cpu = {way: min(t[0] for t in times) for way, times in taken.items()}
    clock = {way: statistics.median(t[1] for t in times) for way, times in taken.items()}
    cells = [f"{measured['native']:>7.1f} ms {measured['cold']:>7.1f} ms {measured['warm']:>7.1f} ms "
             f"{measured['cold'] / measured['native']:>6.2f}x {measured['warm'] / measured['native']:>6.2f}x"
             for measured in (cpu, clock)]
    print(f"{program.name:<11} {' '.join(cells)} {blocks:>8} "
          f"{1e6 * (cpu['cold'] - cpu['native']) / blocks:>6.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softpmu", default="build/softpmu")
    parser.add_argument("--folder", default="build/bench", help="where inputs are kept")
    parser.add_argument("--runs", type=int, default=10, help="alternating repetitions")
    parser.add_argument("--only", default="", help="program names, separated by commas")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)

    os.makedirs(folder, exist_ok=True)
    chosen = [p for p in programs(folder) if not options.only or p.name in options.only.split(",")]
    if not chosen:
        sys.exit("no program of that name")
    head = [f"{what:>10} {'cold':>10} {'warm':>10} {'cold':>7} {'warm':>7}" for what in ("CPU", "clock")]
    print(f"{'program':<11} {' '.join(head)} {'blocks':>8} {'ns':>6}")
    for program in chosen:
        measure(os.path.abspath(options.softpmu), folder, program, options.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
