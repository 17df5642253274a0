#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the first run in a new container costs: short programs natively, under `stat` and under
valgrind without a tool.  `stat` runs with three folders of translations: an empty one, one that was
copied from elsewhere, and one that earlier runs on this machine have used.

bench/README.md tells what is measured.
"""
import argparse
import os
import shutil
import statistics
import sys
import tempfile

import cold
from run import full

WAYS = ("native", "empty", "copied", "used", "valgrind")


def copy_of(folder, to):
    """Copies translations as a cache of a CI service does: files with other inodes and times.  The
    list of sums is left out, because in a new container none of its entries fits."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to, copy_function=shutil.copyfile, ignore=shutil.ignore_patterns("sums"))
    for parent, _, files in os.walk(to):
        os.chmod(parent, 0o700)
        for name in files:
            os.chmod(os.path.join(parent, name), 0o600)


def measure(softpmu, program, runs, scratch):
    stat = [softpmu, "stat", "-o", os.devnull, "-e", "instructions:u", "--"]
    folders = {way: os.path.join(scratch, way) for way in ("empty", "copied", "used")}
    times = {way: [] for way in WAYS}

    def once(way):
        if way == "empty":
            shutil.rmtree(folders[way], ignore_errors=True)
            os.mkdir(folders[way], 0o700)
        elif way == "copied":
            copy_of(folders["used"], folders[way])
        prefix = {"native": [], "valgrind": ["valgrind", "-q", "--tool=none"]}.get(way, stat)
        return cold.run(full(prefix, program), folders.get(way, scratch))

    os.mkdir(folders["used"], 0o700)
    for _ in range(2):
        once("used")
    ways = [way for way in WAYS if way != "valgrind" or shutil.which("valgrind")]
    for _ in range(runs):
        for way in ways:
            times[way].append(once(way))
    shutil.rmtree(folders["used"])
    cpu = {way: min(t[0] for t in times[way]) for way in ways}
    clock = {way: statistics.median(t[1] for t in times[way]) for way in ways}
    cells = [f"{m['native']:>7.1f} ms" + "".join(f" {m[way] / m['native']:>8.2f}" for way in ways[1:])
             for m in (cpu, clock)]
    print(f"{program.name:<11} {'  '.join(cells)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softpmu", default="build/softpmu")
    parser.add_argument("--folder", default="build/bench", help="where inputs are kept")
    parser.add_argument("--runs", type=int, default=10, help="alternating repetitions")
    parser.add_argument("--only", default="", help="program names, separated by commas")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)

    os.makedirs(folder, exist_ok=True)
    chosen = [p for p in cold.programs(folder) if not options.only or p.name in options.only.split(",")]
    if not chosen:
        sys.exit("no program of that name")
    if not shutil.which("valgrind"):
        print("valgrind: not installed", file=sys.stderr)
    shown = WAYS if shutil.which("valgrind") else WAYS[:-1]
    head = f"{'native':>10}" + "".join(f" {way:>8}" for way in shown[1:])
    print(f"{'CPU':>18}{'clock':>{len(head) + 5}}\n{'program':<11} {head}  {head}")
    for program in chosen:
        with tempfile.TemporaryDirectory() as scratch:
            measure(os.path.abspath(options.softpmu), program, options.runs, scratch)
    return 0


if __name__ == "__main__":
    sys.exit(main())
