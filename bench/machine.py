#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print what the model of a machine costs (stat --machine), next to native runs and cachegrind.

bench/README.md has more.
"""
import argparse
import os
import shutil
import sys

import run

MACHINE = ["-M", "skylake", "--machine=skylake"]
EVENTS = {  # what each way counts
    "stat": "instructions:u",
    "branches": "branch-misses:u",
    "caches": "cache-misses:u,mem_load_retired.l1_miss:u,mem_inst_retired.stlb_miss_loads:u",
}
EVENTS["all"] = EVENTS["branches"] + "," + EVENTS["caches"]


def ways(softpmu, folder):
    out = {"native": []}
    for name, events in EVENTS.items():
        out[name] = [softpmu, "stat", *MACHINE, "-o", os.path.join(folder, "stat.txt"), "-e", events, "--"]
    out["sampled"] = out["all"][:2] + ["--sample-windows"] + out["all"][2:]
    if shutil.which("valgrind"):
        out["cachegrind"] = ["valgrind", "-q", "--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes",
                             "--cachegrind-out-file=" + os.path.join(folder, "cachegrind.out")]
    return out


def measure(program, how, runs):
    """Returns the smallest CPU time of each way, in seconds; None: it failed.  cachegrind runs once."""
    taken = {way: [] for way in how}
    failed = set()
    for repetition in range(runs):
        for way, prefix in how.items():
            if way in failed or (way == "cachegrind" and (repetition or not program.slow)):
                continue
            seconds, _, status = run.run(run.full(prefix, program), program.stdin)
            taken[way].append(seconds)
            if status:
                failed.add(way)
    return {way: None if way in failed or not times else min(times) for way, times in taken.items()}


def processor():
    with open("/proc/cpuinfo", encoding="ascii") as info:
        fields = dict(line.split(":", 1) for line in info.read().split("\n\n", 1)[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    return f"{fields['vendor_id']} family {fields['cpu family']} model {fields['model']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softpmu", default="build/softpmu")
    parser.add_argument("--folder", default="build/bench", help="where inputs and outputs are kept")
    parser.add_argument("--runs", type=int, default=1, help="alternating repetitions")
    parser.add_argument("--only", default="", help="program names, separated by commas")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)

    os.makedirs(folder, exist_ok=True)
    how = ways(os.path.abspath(options.softpmu), folder)
    chosen = [p for p in run.programs(folder)
              if p.in_means and (not options.only or p.name in options.only.split(","))]
    if not chosen:
        sys.exit("no program of that name")
    print(f"CPUID: {processor()}; CPU time divided by that of a native run")
    print(f"{'program':<10} {'native':>8}" + "".join(f" {way:>11}" for way in how if way != "native"))
    slowdowns = {way: [] for way in how if way != "native"}
    for program in chosen:
        seconds = measure(program, how, options.runs)
        if not seconds["native"]:
            sys.exit(f"{program.name} fails natively")
        cells = []
        for way, list_of_way in slowdowns.items():
            if seconds[way] is None:
                cells.append(f" {'failed':>11}")
                continue
            list_of_way.append(seconds[way] / seconds["native"])
            cells.append(f" {list_of_way[-1]:>10.2f}x")
        print(f"{program.name:<10} {seconds['native']:>6.2f} s" + "".join(cells), flush=True)
    print(f"{'geo. mean':<19}" + "".join(
        f" {run.geometric_mean(values):>10.2f}" + ("x" if len(values) == len(chosen) else "*") if values
        else f" {'-':>11}" for values in slowdowns.values()))
    return any(len(values) < len(chosen) for way, values in slowdowns.items() if way != "cachegrind")


if __name__ == "__main__":
    sys.exit(main())
