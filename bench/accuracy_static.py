#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares static clocks of loops with the clocks of the whole model, for `make accuracy-static`.

Nothing is measured, so the results are the same on every machine.  The loops are those of accuracy.py and
accuracy_pairs.py.  What the whole model counts besides are misses, mispredictions, and loads that wait for stores.
"""
import argparse
import itertools
import os
import subprocess

from accuracy import summary
from accuracy_pairs import DIFFERENT, FLAGS

FEW, MANY = 1000, 21000  # turns


def count(options, way, kernels, name, turns):
    command = [options.softpmu, "stat", "-M", "skylake", f"--machine={options.machine}", *way, "-x,", "-e", "cycles:u", "--",
               kernels, "run", name, str(turns)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(next(line for line in out.splitlines() if "cycles" in line).split(",")[0])


def clocks(options, kernels, name):
    """Returns the clocks of a turn: of the whole model, and static ones."""
    return [(count(options, way, kernels, name, MANY) - count(options, way, kernels, name, FEW)) / (MANY - FEW)
            for way in ([], ["--static-clocks"])]


def names(program, what):
    return subprocess.run([program, what], check=True, capture_output=True, text=True).stdout.split()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softpmu", required=True)
    parser.add_argument("--kernels", required=True, help="the program of tests/accuracy/kernels.c")
    parser.add_argument("--machine", default="skylake")
    options = parser.parse_args()
    errors = []

    print(f"machine: {options.machine}\n\n| kernel | model | static | difference |\n|---|---|---|---|")
    for name in names(options.kernels, "list"):
        model, static = clocks(options, options.kernels, name)
        errors.append(100 * (static - model) / model)
        print(f"| {name} | {model:.2f} | {static:.2f} | {errors[-1]:+.0f} % |", flush=True)
    summary(errors, "kernels")

    pairs = wrong = 0
    print("\n| loop | builds | model | static |\n|---|---|---|---|")
    for name in names(options.kernels, "loops"):
        known = {flags: clocks(options, os.path.join(os.path.dirname(options.kernels), f"kernels-{flags}"), name)
                 for flags in FLAGS}
        for one, other in itertools.combinations(FLAGS, 2):
            (a, x), (b, y) = known[one], known[other]
            if max(a, b) < DIFFERENT * min(a, b):
                continue
            pairs += 1
            if (a < b) != (x < y):
                wrong += 1
                print(f"| {name} | {one}, {other} | {a:.2f}, {b:.2f} | {x:.2f}, {y:.2f} |")
    print(f"\n{pairs} pairs: {wrong} in the wrong order, {100 * (pairs - wrong) / pairs:.1f} % in the right one")


main()
