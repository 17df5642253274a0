#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run programs natively and under softpmu, side by side, and print what each costs.

bench/README.md tells what is measured.
"""
import argparse
import atexit
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PERIOD = 100003
KEPT = tempfile.mkdtemp(prefix="softpmu-bench.")  # persistent code caches
atexit.register(shutil.rmtree, KEPT, True)
SEARCH = "/usr/bin:/bin"  # Debian's programs, not those of a user's own PATH


class Program:
    """A command, whose first word is looked up in PATH.  The means leave out commands that mostly start
    processes or compile.  Some commands take too long for the slow ways."""

    def __init__(self, name, argv, stdin=None, in_means=True, slow=True):
        self.name, self.argv, self.stdin = name, argv, stdin
        self.in_means, self.slow = in_means, slow


# --- inputs, the same on each machine ------------------------------------------------------


def write_once(path, make):
    """Fills the file by make(file) unless it exists.  Returns its path."""
    if not os.path.exists(path):
        with open(path + ".tmp", "wb") as file:
            make(file)
        os.rename(path + ".tmp", path)
    return path


def text(megabytes):
    def make(file):
        chance = random.Random(2026)
        vocabulary = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 11)))
                      for _ in range(4000)] + ["reading", "writing", "counting"] * 40
        weights = [1.0 / (rank + 3) for rank in range(len(vocabulary))]
        left = megabytes * 1000000
        while left > 0:
            words = chance.choices(vocabulary, weights, k=2000)
            lines = [" ".join(words[i:i + 9]) for i in range(0, len(words), 9)]
            left -= file.write(("\n".join(lines) + "\n").encode())
    return make


def lines(count):
    def make(file):
        chance = random.Random(7)
        for _ in range(count):
            file.write(b"%016x %d\n" % (chance.getrandbits(64), chance.randrange(1000)))
    return make


def c_source(functions):
    """C as a compiler sees it: standard headers, many functions of loops and switches."""
    def make(file):
        chance = random.Random(11)
        out = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "#include <math.h>"]
        for n in range(functions):
            a, b, c = (chance.randrange(3, 99) for _ in range(3))
            out.append(f"""
static int work_{n}(const char *text, int *table, size_t length)
{{
	int state = {a};
	for (size_t i = 0; i < length; i++) {{
		switch ((text[i] + state) % {b % 7 + 3}) {{
		case 0: state = state * {a} + table[i % {b}]; break;
		case 1: table[i % {c}] ^= state >> {a % 5}; break;
		case 2: state -= (int)strlen(text + i) / {b}; break;
		default: if (state > {a * b}) state /= {c}; else state += (int)i;
		}}
	}}
	return state{f" + work_{n - 1}(text, table, length / 2)" if n else ""};
}}""")
        out.append(f"int main(int argc, char **argv) {{ int t[128] = {{0}}; "
                   f"return work_{functions - 1}(argv[0], t, argc); }}")
        source = "\n".join(out).encode()
        file.write(subprocess.run(["gcc", "-E", "-xc", "-"], input=source, check=True,
                                  stdout=subprocess.PIPE).stdout)
    return make


def zeros(megabytes):
    return lambda file: file.truncate(megabytes << 20)


def kernel(folder, name, *options):
    path = os.path.join(folder, name)
    source = os.path.join(HERE, "kernels", name + ".c")
    subprocess.run(["gcc", "-O2", "-g", *options, source, "-o", path], check=True)
    return path


def programs(folder):
    def input_file(name, make):
        return write_once(os.path.join(folder, name), make)

    def script(name):
        return os.path.join(HERE, "scripts", name)

    short = input_file("text3", text(3))
    long = input_file("text16", text(16))
    rows = input_file("lines", lines(2000000))
    source = input_file("source.i", c_source(220))
    zero = input_file("zeros", zeros(128))
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True, text=True,
                         stdout=subprocess.PIPE).stdout.strip()
    out = [
        Program("xz", ["xz", "-6", "-T1", "-c", short]),
        Program("bzip2", ["bzip2", "-c", long]),
        Program("zstd", ["zstd", "-q", "--single-thread", "--no-asyncio", "-19", "-c", short]),
        Program("gzip", ["gzip", "-6", "-c", long]),
        Program("openssl", ["openssl", "dgst", "-sha256"] + [zero] * 8),
        Program("cc1", [cc1, "-quiet", "-O2", source, "-o", "/dev/null"]),
        Program("python3", ["python3", "-I", "-S", script("nbody.py")]),
        Program("perl", ["perl", script("text.pl"), long]),
        Program("sqlite3", ["sqlite3", ":memory:"], script("rows.sql")),
        Program("sort", ["sort", "--parallel=1", "-S", "500M", rows]),
        Program("avx2", [kernel(folder, "avx2")]),
        Program("branchy", [kernel(folder, "branchy")]),
        Program("matmul", [kernel(folder, "matmul")]),
        Program("forks", [kernel(folder, "forks")], in_means=False),
        Program("execs", ["dash", script("execs.sh")], in_means=False),
        Program("signals", [kernel(folder, "signals")], in_means=False),
        Program("filters", [kernel(folder, "filters")], in_means=False),
        Program("jshell", ["jshell", "-"], script("lines.jsh"), in_means=False, slow=False),
    ]
    with open("/proc/cpuinfo", encoding="ascii") as info:
        if "avx512f" in info.read():
            out.insert(11, Program("avx512", [kernel(folder, "avx512")]))
    return [p for p in out if shutil.which(p.argv[0], path=SEARCH) or print(f"{p.name}: not installed")]


# --- the ways to run a program --------------------------------------------------------------


def ways(softpmu, folder, slow):
    data = os.path.join(folder, "perf.data")
    out = {
        "native": [],
        "stat": [softpmu, "stat", "-o", os.path.join(folder, "stat.txt"),
                 "-e", "instructions:u", "--"],
        "record": [softpmu, "record", "-o", data, "-c", str(PERIOD), "-e", "instructions:upp", "--"],
        "trace": [softpmu, "trace", "--summary", "-o", os.devnull, "--"],
        "profile": [softpmu, "profile", "-q", "-o", os.path.join(folder, "profile.data"), "--"],
    }
    if slow and shutil.which("valgrind"):
        out["callgrind"] = ["valgrind", "-q", "--tool=callgrind",
                            "--callgrind-out-file=" + os.path.join(folder, "callgrind.out")]
    if slow and shutil.which("qemu-x86_64"):
        out["qemu-user"] = ["qemu-x86_64"]
    return out


SLOW = ("callgrind", "qemu-user")
MEMORY = ("stat", "record", "trace", "profile")
CLOCKS = ("trace", "profile")  # a reader works beside the program


def start(command, stdin, cache=KEPT):
    environment = {"PATH": SEARCH, "LC_ALL": "C", "HOME": "/", "XDG_CACHE_HOME": cache}
    with open(stdin or os.devnull, "rb") as source:
        return subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env=environment)


def full(prefix, program):
    """Returns the command.  A translator that does not search PATH gets the path of the file."""
    return prefix + [shutil.which(program.argv[0], path=SEARCH)] + program.argv[1:]


def run(command, stdin):
    """Returns seconds of CPU (user and system, of the process and those it waited for), seconds that
    passed, and the exit status."""
    begin = time.perf_counter()
    process = start(command, stdin)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin, process.returncode


def processes_below(pid):
    out = [pid]
    for parent in out:
        try:
            with open(f"/proc/{parent}/task/{parent}/children", encoding="ascii") as file:
                out += map(int, file.read().split())
        except OSError:
            pass
    return out


def peak_memory(command, stdin):
    """Returns megabytes: the sum of the peak resident sets of all processes of the tree."""
    peaks = {}
    process = start(command, stdin)
    while process.poll() is None:
        for pid in processes_below(process.pid):
            try:
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    for line in file:
                        if line.startswith("VmHWM:"):
                            peaks[pid] = int(line.split()[1])
            except OSError:
                pass
        time.sleep(0.004)
    return sum(peaks.values()) / 1000


# --- the measurements -------------------------------------------------------------------------


def measure_program(program, how, runs):
    cpu = {way: [] for way in how}
    clock = {way: [] for way in how}
    failed = {}
    run(full([], program), program.stdin)  # its files are in the page cache from here on
    for repetition in range(runs):
        for way, prefix in how.items():
            if way in failed or (way in SLOW and (repetition or not program.slow)):
                continue
            seconds, passed, status = run(full(prefix, program), program.stdin)
            if status:
                failed[way] = status
            cpu[way].append(seconds)
            clock[way].append(passed)
    # The smallest, as other work of the machine can only add to it.
    row = {"program": program.name, "failed": failed,
           "in_means": program.in_means,
           "cpu_s": {way: min(t) for way, t in cpu.items() if t and way not in failed},
           "clock_s": {way: min(t) for way, t in clock.items() if t and way not in failed}}
    if "native" in failed:
        sys.exit(f"{program.name} fails natively with status {failed['native']}")
    native = row["cpu_s"]["native"]
    row["slowdown"] = {way: t / native for way, t in row["cpu_s"].items() if way != "native"}
    for way in CLOCKS:
        if way in row["clock_s"]:
            row[way + "_clock"] = row["clock_s"][way] / row["clock_s"]["native"]
    if "stat" in row["cpu_s"] and "record" in row["cpu_s"]:
        row["record_over_stat"] = row["cpu_s"]["record"] / row["cpu_s"]["stat"]
    base = peak_memory(full([], program), program.stdin)
    row["memory_above_native_mb"] = {
        way: peak_memory(full(how[way], program), program.stdin) - base
        for way in MEMORY if way not in failed}
    return row


def measure_start(how):
    """Returns the median of the milliseconds that /bin/true takes, by the clock."""
    out = {}
    true = Program("true", ["/bin/true"])
    taken = {way: [] for way in how if way not in SLOW}
    for _ in range(20):
        for way in taken:
            taken[way].append(run(full(how[way], true), None)[1])
    for way, seconds in taken.items():
        out[way] = statistics.median(seconds) * 1000
    return out


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def print_head(how):
    others = [way for way in how if way != "native"]
    print(f"{'program':<10} {'native':>8}" + "".join(f" {way:>10}" for way in others) +
          f" {'rec/stat':>9}" + "".join(f" {w[:2] + ' clock':>9}" for w in CLOCKS) +
          "".join(f" {w[:5] + ' MB':>8}" for w in MEMORY))


def print_row(row, how):
    cells = []
    for way in how:
        if way == "native":
            continue
        if way in row["failed"]:
            cells.append(f" {'st %d' % row['failed'][way]:>10}")
        elif way not in row["slowdown"]:
            cells.append(f" {'-':>10}")
        else:
            cells.append(f" {row['slowdown'][way]:>9.2f}x")
    memory = row["memory_above_native_mb"]
    cells.append(f" {row['record_over_stat']:>9.3f}" if "record_over_stat" in row else f" {'-':>9}")
    for way in CLOCKS:
        key = way + "_clock"
        cells.append(f" {row[key]:>8.2f}x" if key in row else f" {'-':>9}")
    print(f"{row['program']:<10} {row['cpu_s']['native']:>6.2f} s" + "".join(cells) +
          "".join(f" {memory[w]:>8.1f}" if w in memory else f" {'-':>8}" for w in MEMORY),
          flush=True)


def print_sum(rows, how, starts):
    """Prints the geometric means.  Only those of ways that ran every program can be compared."""
    means = {}
    cells = []
    for way in how:
        if way == "native":
            continue
        slowdowns = [row["slowdown"][way] for row in rows if way in row["slowdown"]]
        means[way] = geometric_mean(slowdowns) if slowdowns else None
        mark = "x" if len(slowdowns) == len(rows) else "*"
        cells.append(f" {means[way]:>9.2f}{mark}" if slowdowns else f" {'-':>10}")
    for key, digits in (("record_over_stat", "9.3f"), ("trace_clock", "8.2f"),
                        ("profile_clock", "8.2f")):
        values = [row[key] for row in rows if key in row]
        means[key] = geometric_mean(values) if values else None
        cells.append(f" {means[key]:>{digits}}" + ("x" if key.endswith("clock") else "")
                     if values else f" {'-':>9}")
    print(f"{'geo. mean':<19}" + "".join(cells))
    if any(row["failed"] for row in rows):
        print("  st N: ended with status N instead of 0;  *: mean of the programs that ran")
    print("/bin/true: " + ", ".join(f"{way} {ms:.1f} ms" for way, ms in starts.items()))
    return means


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--softpmu", default="build/softpmu")
    parser.add_argument("--folder", default="build/bench", help="where inputs and outputs are kept")
    parser.add_argument("--runs", type=int, default=3, help="alternating repetitions")
    parser.add_argument("--only", default="", help="program names, separated by commas")
    parser.add_argument("--json", metavar="FILE", help="write all figures here too")
    options = parser.parse_args()
    slow = os.environ.get("BENCH_SLOW", "1") != "0"

    os.makedirs(options.folder, exist_ok=True)
    how = ways(os.path.abspath(options.softpmu), os.path.abspath(options.folder), slow)
    chosen = [p for p in programs(os.path.abspath(options.folder))
              if not options.only or p.name in options.only.split(",")]
    if not chosen:
        sys.exit("no program of that name")

    rows = []
    print_head(how)
    for program in chosen:
        rows.append(measure_program(program, how, options.runs))
        print_row(rows[-1], how)
    starts = measure_start(how)
    means = print_sum([row for row in rows if row["in_means"]], how, starts)
    if options.json:
        with open(options.json, "w", encoding="ascii") as file:
            json.dump({"runs": options.runs, "period": PERIOD, "programs": rows,
                       "geometric_mean": means, "start_ms": starts}, file, indent=1)
    return any(way not in SLOW for row in rows for way in row["failed"])


if __name__ == "__main__":
    sys.exit(main())
