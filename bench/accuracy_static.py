#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares static clocks of loops with the clocks of the whole model, for `make accuracy-static`.

Nothing is measured, so the processor does not matter.  The loops are those of accuracy.py and
accuracy_pairs.py.  What the whole model counts besides are misses, mispredictions, and loads that wait for stores.
"""
import argparse
import os
import subprocess

from accuracy import summary
from accuracy_pairs import FLAGS, compare_orders, say_orders

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

    print("\n| loop | builds | model | static |\n|---|---|---|---|")
    folder = os.path.dirname(options.kernels)
    say_orders([compare_orders(name, {flags: clocks(options, os.path.join(folder, f"kernels-{flags}"), name)
                                      for flags in FLAGS})
                for name in names(options.kernels, "loops")])


main()
