#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the model's clocks of real programs with their time, for `make accuracy-programs`.

A program runs natively, pinned to one processor, in turns with a loop that tells the frequency of the core.  The least
time counts.  The model's clocks are those of user mode, so the programs make few system calls and page faults.
"""
import mmap
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from accuracy import begin, pin, summary

PASSES = 20
WORDS = "the quick brown fox jumps over a lazy dog while seven zebras watch from the hill".split()

# Name, and command.  {text} is a file of words, {long} and {longest} are 4 and 24 of it, {c} a source in C, {rows} a script of SQL.
PROGRAMS = [
    ("gzip", "gzip -6 -c {text}"),
    ("gunzip", "gzip -d -c {long}.gz"),
    ("bzip2", "bzip2 -c {text}"),
    ("xz", "xz -1 -T1 -c {text}"),
    ("zstd", "zstd --single-thread --no-asyncio -q -15 --zstd=wlog=17,hlog=15,clog=15 -c {text}"),
    ("sha256", "sha256sum {long}"),
    ("md5", "md5sum {longest}"),
    ("sort", "sort --parallel=1 -S 64M {long}"),
    ("words", "wc -w {long}"),
    ("od", "od -x {text}"),
    ("sed", "sed -e s/quick/slow/g -e s/[aeiou]z/x/ {long}"),
    ("awk", "mawk {{for(i=1;i<=NF;i++)n[$i]++}}END{{for(w~in~n)print~n[w]}} {long}"),
    ("perl", "perl -ne while(/(\\w+)/g){{$n{{$1}}++}}END{{print~scalar~keys~%n}} {text}"),
    ("python3", "python3 -S -c print(sum(i*i%7~for~i~in~range(400000)))"),
    ("sqlite3", "sqlite3 :memory: .read~{rows}"),
    ("cc1", "{cc1} -quiet -O1 {c} -o /dev/null"),
    ("factor", "factor 1000000016000000063 1000000000000000003 18446744073709551557 1000000000100000000002379"),
    ("bc", "bc -lq {bc}"),
    ("base64", "base64 {longest}"),
    ("bash", "bash -c for((i=0;i<30000;i++));do~((n+=i*3%7));done"),
]


def write_inputs(folder):
    """Writes what the programs read.  Returns the paths by name."""
    seed, words = 1, []
    for _ in range(100000):
        seed = (seed * 1103515245 + 12345) % 2**31
        words.append(WORDS[seed >> 16 & 15] + (str(seed >> 8 & 255) if seed & 0x700000 == 0 else "")
                     + ("\n" if seed >> 20 & 7 == 0 else " "))
    path = {name: os.path.join(folder, name) for name in ("text", "c", "rows", "bc")}
    path["c"] += ".c"
    contents = {
        "text": "".join(words),
        "c": "".join(f"int f{i}(int *p, int n) {{ int s = {i}; for (int k = 0; k < n; k++) s += p[k] * k ^ s >> 3;"
                     f" return s > {i} ? s : -s; }}\n" for i in range(15)),
        "rows": "create table t(a integer, b text);\nwith recursive n(i) as (select 1 union all select i + 1 from n "
                "where i < 15000) insert into t select i * 7919 % 10007, 'row ' || i from n;\n"
                "select count(*), sum(a) from t where b like '%9%';\nselect a, count(*) from t group by a limit 3;\n",
        "bc": "scale=400\n4*a(1)\ne(1)\nquit\n",
    }
    for name, text in contents.items():
        with open(path[name], "w") as out:
            out.write(text)
    path["long"] = path["text"] + ".long"
    path["longest"] = path["text"] + ".longest"
    for name, times in (("long", 4), ("longest", 24)):
        with open(path[name], "w") as out:
            out.write(contents["text"] * times)
    with open(path["long"] + ".gz", "w") as out:
        subprocess.run(["gzip", "-c", path["long"]], check=True, stdout=out)
    path["cc1"] = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, capture_output=True, text=True).stdout.strip()
    return path


def run_once(command):
    """Runs a command.  Returns its processor time, the part of it in the kernel, and its page faults."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    system = after.ru_stime - before.ru_stime
    return after.ru_utime - before.ru_utime + system, system, after.ru_minflt - before.ru_minflt


def touch(pages):
    """Writes to each page.  Returns the processor time and the page faults."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.process_time()
    for at in range(0, len(pages), mmap.PAGESIZE):
        pages[at] = 1
    return time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def cost_of_fault():
    """Returns the processor time of a page fault."""
    with mmap.mmap(-1, 2000 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as pages:
        first, faults = touch(pages)
        return (first - touch(pages)[0]) / max(faults, 1)


def frequency(kernels):
    return float(subprocess.run([kernels, "frequency", "1000000"], check=True, capture_output=True, text=True).stdout)


def time_in_kernel(runs, fault):
    """Returns the mean time of some runs in the kernel.

    Linux may tell it by samples.  In a virtual machine a sample during a page fault can be late and then finds the
    program, so the time is at least that of the page faults.
    """
    sampled = sum(system for _, system, _ in runs) / len(runs)
    return max(sampled, fault * sum(faults for _, _, faults in runs) / len(runs))


def measure(kernels, commands):
    """Returns the core clocks of each command in user mode.  Several passes, as in accuracy.py."""
    rates, costs, runs = [], [], [[] for _ in commands]
    for _ in range(PASSES):
        pin(kernels)
        rates.append(frequency(kernels))
        costs.append(cost_of_fault())
        for command, of_command in zip(commands, runs):
            of_command.append(run_once(command))
    return [(min(run[0] for run in of_command) - time_in_kernel(of_command, min(costs))) * max(rates) for of_command in runs]


def predict(softpmu, machine, command):
    """Returns the model's core clocks and the instructions of a run."""
    stat = [softpmu, "stat", "-M", "skylake", f"--machine={machine}", "-x,", "-o", "/dev/stderr", "-e",
            "cycles:u,instructions:u", "--"]
    out = subprocess.run(stat + command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True).stderr
    value = {name: int(line.split(",")[0]) for line in out.splitlines() for name in ("cycles", "instructions")
             if name in line and line[0].isdigit()}
    return value["cycles"], value["instructions"]


def main():
    options = begin("Compares the clocks of real programs.")
    errors = []
    print("| program | million instructions | million clocks | model | error |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = write_inputs(folder)
        commands = {}
        for name, line in PROGRAMS:
            command = [word.format(**path).replace("~", " ") for word in line.split()]
            if options.only and name not in options.only:
                continue
            if shutil.which(command[0]):
                commands[name] = command
            else:
                print(f"{command[0]} is not installed", file=sys.stderr)
        for (name, command), clocks in zip(commands.items(), measure(options.kernels, list(commands.values()))):
            model, instructions = predict(options.softpmu, options.machine, command)
            errors.append(100 * (model - clocks) / clocks)
            print(f"| {name} | {instructions / 1e6:.0f} | {clocks / 1e6:.1f} | {model / 1e6:.1f} | {errors[-1]:+.0f} % |",
                  flush=True)
    summary(errors, "programs")


main()
