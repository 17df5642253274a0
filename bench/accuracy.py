#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the clocks of the machine model with measured time, for `make accuracy`.

Each kernel of tests/accuracy/kernels.c runs natively, pinned to one processor, and under
`softpmu stat --machine`.  The lower quartile of several passes counts.  The model's clocks of a turn are the difference
of two runs with different numbers of turns.  Prints a table with all errors.

accuracy_programs.py and accuracy_pairs.py use these functions, too.
"""
import argparse
import os
import subprocess
import sys

PASSES = 10
BUSY = "binary_search"  # a kernel that is much slower if the core is shared
MACHINES = {("AuthenticAMD", 25, 17): "zen4", ("AuthenticAMD", 25, 97): "zen4", ("AuthenticAMD", 26, 2): "zen5"}


def processor():
    info = {}
    for line in open("/proc/cpuinfo"):
        name, _, value = line.partition(":")
        info.setdefault(name.strip(), value.strip())
    return info["vendor_id"], int(info["cpu family"]), int(info["model"])


def measure_once(kernels, name):
    """Returns the core clocks of a turn, as far as nothing else used the core at that moment."""
    turns = 65536 if name.startswith("chase") else 50000  # as many as chase_4m has lines
    out = subprocess.run([kernels, "clocks", name, str(turns)], check=True, capture_output=True, text=True).stdout
    return float(out)


def pin(kernels, processors=sorted(os.sched_getaffinity(0))[:8]):
    """Pins this process to the processor whose core is used least by others at the moment, as in other guests."""
    clocks = {}
    for one in processors:
        os.sched_setaffinity(0, {one})
        clocks[one] = min(measure_once(kernels, BUSY) for _ in range(3))
    os.sched_setaffinity(0, {min(processors, key=clocks.get)})


def measure(programs_and_names):
    """Returns the core clocks of a turn of each kernel: the lower quartile of several passes.

    Another guest may use the same core for some seconds, so the passes are apart.
    """
    clocks = {which: [] for which in programs_and_names}
    for _ in range(PASSES):
        pin(programs_and_names[0][0])
        for which in programs_and_names:
            clocks[which].append(measure_once(*which))
    return {which: sorted(passes)[PASSES // 4] for which, passes in clocks.items()}


def count(softpmu, machine, kernels, name, turns):
    command = [softpmu, "stat", "-M", "skylake", f"--machine={machine}", "-x,", "-e", "cycles:u", "--", kernels, "run",
               name, str(turns)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(next(line for line in out.splitlines() if "cycles" in line).split(",")[0])


def predict(softpmu, machine, kernels, name, measured):
    """Returns the model's core clocks of a turn.  There are enough turns that the rest does not matter."""
    few, many = 1000, 1000 + max(2000, int(200000 / measured))
    return (count(softpmu, machine, kernels, name, many) - count(softpmu, machine, kernels, name, few)) / (many - few)


def begin(description):
    """Parses the options, chooses the machine, and prints it.  Returns the options."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--softpmu", required=True)
    parser.add_argument("--kernels", required=True, help="the program of tests/accuracy/kernels.c")
    parser.add_argument("--machine", help="default: that of the processor at hand")
    parser.add_argument("--only", nargs="*", help="names of some rows")
    options = parser.parse_args()
    vendor, family, model = processor()
    options.machine = options.machine or MACHINES.get((vendor, family, model))
    if not options.machine:
        sys.exit(f"{parser.prog}: no machine is known for {vendor} family {family} model {model}; use --machine")
    pin(options.kernels)
    print(f"CPUID: {vendor} family {family} model {model}; machine: {options.machine}\n")
    return options


def summary(errors, what):
    errors = sorted(map(abs, errors))
    print(f"\n{len(errors)} {what}: mean of the absolute errors {sum(errors) / len(errors):.1f} %, "
          f"median {errors[len(errors) // 2]:.1f} %, largest {errors[-1]:.0f} %")


def main():
    options = begin("Compares the clocks of kernels.")
    names = options.only or subprocess.run([options.kernels, "list"], check=True, capture_output=True,
                                           text=True).stdout.split()
    print("| kernel | measured | model | error |\n|---|---|---|---|")
    errors = []
    for (_, name), measured in measure([(options.kernels, name) for name in names if name != "clock"]).items():
        predicted = predict(options.softpmu, options.machine, options.kernels, name, measured)
        error = 100 * (predicted - measured) / measured
        errors.append(error)
        print(f"| {name} | {measured:.2f} | {predicted:.2f} | {error:+.0f} % |", flush=True)
    summary(errors, "kernels")


if __name__ == "__main__":
    main()
