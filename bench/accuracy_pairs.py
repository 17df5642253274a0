#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether the model orders two builds of a loop as the processor does, for `make accuracy-pairs`.

tests/accuracy/loops.c is compiled with several sets of flags.  Each two builds of a loop are a pair, if their measured
clocks differ by more than DIFFERENT.  The table has the pairs that the model orders wrongly.
"""
import itertools
import os
import subprocess

from accuracy import begin, measure, predict

FLAGS = ["O0", "O1", "O2", "O3", "Os", "O2-native"]
DIFFERENT = 1.05


def compare_orders(name, known):
    """Compares each two builds of a loop, whose two kinds of clocks known[flags] has.  Prints those in the wrong order.

    Returns how many pairs there are, and how many are in the wrong order.
    """
    pairs = wrong = 0
    for one, other in itertools.combinations(FLAGS, 2):
        (a, x), (b, y) = known[one], known[other]
        if max(a, b) < DIFFERENT * min(a, b):
            continue
        pairs += 1
        if (a < b) != (x < y):
            wrong += 1
            print(f"| {name} | {one}, {other} | {a:.2f}, {b:.2f} | {x:.2f}, {y:.2f} |")
    return pairs, wrong


def say_orders(results):
    pairs, wrong = map(sum, zip(*results))
    print(f"\n{pairs} pairs: {wrong} in the wrong order, {100 * (pairs - wrong) / pairs:.1f} % in the right one")


def main():
    options = begin("Compares how builds of loops are ordered.")
    folder = os.path.dirname(options.kernels)
    names = options.only or subprocess.run([options.kernels, "loops"], check=True, capture_output=True,
                                           text=True).stdout.split()
    program = {flags: os.path.join(folder, f"kernels-{flags}") for flags in FLAGS}
    measured = measure([(program[flags], name) for flags in FLAGS for name in names])
    clocks = {(flags, name): (measured[program[flags], name],
                              predict(options.softpmu, options.machine, program[flags], name,
                                      measured[program[flags], name]))
              for flags in FLAGS for name in names}
    print("| loop | builds | measured | model |\n|---|---|---|---|")
    say_orders([compare_orders(name, {flags: clocks[flags, name] for flags in FLAGS}) for name in names])


if __name__ == "__main__":
    main()
