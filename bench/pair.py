#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compare two builds, or one with native runs, by pairs that run at the same time on one processor.

The two get slices of the same processor in turn, so other work of the machine affects both alike.
The quotients of their CPU times vary far less than the times.  bench/README.md has more.
"""
import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import cold
import run

PROCESSOR = max(os.sched_getaffinity(0))
EVENT = ["-e", "instructions:u"]
WAYS = {  # arguments before a program
    "cold": ["stat", "--no-cache", "-o", os.devnull, *EVENT, "--"],
    "warm": ["stat", "-o", os.devnull, *EVENT, "--"],
    "run": ["run", "--"],  # no event is open
    "record": ["record", "-q", "-o", os.devnull, "-c", str(run.PERIOD), "-e", "instructions:upp", "--"],
    "branches": ["record", "-b", "-q", "-o", os.devnull, "-c", str(run.PERIOD), "-e", "instructions:upp", "--"],
    "clocks": ["stat", "--static-clocks", "-o", os.devnull, "-e", "cycles:u", "--"],
    "clock-samples": ["record", "--static-clocks", "-q", "-o", os.devnull, "-c", str(run.PERIOD), "-e", "cycles:u",
                      "--"],
    "trace": ["trace", "--summary", "-o", os.devnull, "--"],
}


class Build:
    """A file softpmu, with its own persistent code cache, or "native"."""

    def __init__(self, name, way, folder):
        self.name = name
        self.prefix = [] if name == "native" else [os.path.abspath(name), *WAYS[way]]
        self.environment = {"PATH": run.SEARCH, "LC_ALL": "C", "HOME": "/",
                            "XDG_CACHE_HOME": tempfile.mkdtemp(dir=folder)}

    def start(self, program):
        with open(program.stdin or os.devnull, "rb") as source:
            return subprocess.Popen(run.full(self.prefix, program), stdin=source, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL, env=self.environment)


def seconds(process):
    """Returns CPU seconds of the process and of those it waited for."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(process.args)}: status {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def compare(program, builds, pairs):
    for build in builds:
        seconds(build.start(program))
    quotients = []
    for number in range(pairs):
        first, second = builds if number % 2 else reversed(builds)
        begun = {build: build.start(program) for build in (first, second)}
        taken = {build: seconds(begun[build]) for build in builds}
        quotients.append(taken[builds[1]] / taken[builds[0]])
    quotients.sort()
    low, high = quotients[pairs // 4], quotients[pairs - 1 - pairs // 4]
    print(f"{program.name:<13} {statistics.median(quotients):.3f}  (half of the pairs: {low:.3f} to {high:.3f})",
          flush=True)


def programs(folder):
    """Returns programs by name.  If both benchmarks have a name, cold.py's gets the suffix "-start"."""
    out = {p.name: p for p in run.programs(folder)}
    for program in cold.programs(folder):
        if program.name in out:
            program.name += "-start"
        out[program.name] = program
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help='a file softpmu, or "native"')
    parser.add_argument("other", help="a file softpmu, whose CPU time is divided by that of the first")
    parser.add_argument("--way", choices=WAYS, default="warm")
    parser.add_argument("--folder", default="build/bench", help="where inputs are kept")
    parser.add_argument("--pairs", type=int, default=15, help="at least 1")
    parser.add_argument("--only", default="cc1plus", help="program names, separated by commas")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)

    os.makedirs(folder, exist_ok=True)
    there = programs(folder)
    only = options.only.split(",")
    if not set(only) <= set(there):
        sys.exit(f"no program of that name; there are {', '.join(there)}")
    os.sched_setaffinity(0, {PROCESSOR})
    kept = tempfile.mkdtemp(prefix="softpmu-bench.")
    try:
        builds = [Build(name, options.way, kept) for name in (options.base, options.other)]
        for name in only:
            compare(there[name], builds, options.pairs)
    finally:
        shutil.rmtree(kept, True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
