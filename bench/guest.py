#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the unit costs a guest of QEMU, against a stock build of the same source.

Guests boot and are told what to run, all at the same time.  Stock runs each program plainly.  Ours runs it
    - plainly (idle);
    - while all instructions are counted (perf stat -a -e instructions);
    - counted by task (without -a: the guest's kernel then has work at each fork, exit and switch, as on a
      real processor);
    - sampled (perf record -e instructions);
    - plainly, while stock's is sampled by its timer (-e cpu-clock).
All guests but one are stopped at any time, and they take turns of a few milliseconds.  So other work of the
machine affects all alike.  A figure is the CPU time of one emulator's process divided by stock's.

The place of translated code is random and changes the time of a short loop by up to a third.  So the
programs have much code, each runs from four fresh copies of its file, and each turn boots new guests.  The
result is the mean of all turns of the mean of all programs, with its 95 % confidence interval.  Code that
counts is translated separately from code that does not: `first` pays for that, while stock has the kernel's
code translated already, and `counting` is the time after.  `loop`, of two instructions, is shown and is not
in the mean.  `boot` is the kernel until the first process, counted by its NMI watchdog.
"""
import argparse
import glob
import math
import os
import re
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("gzip", "bzip2", "awk", "text", "sh", "calls", "forks", "files", "perf", "loop")
APART = ("loop",)
# Column: how the program is run in the stock guest and in ours.
COLUMNS = {"idle": ("plain", "plain"), "first": ("plain", "counted"),
           "counting": ("plain", "counted"), "by-task": ("plain", "by-task"),
           "sampling": ("plain", "sampled"), "timer": ("timed", "plain")}
SHOWN = ("idle", "first", "counting", "by-task", "sampling")
SLICE = 0.02  # CPU seconds
SLICE_MOST = 0.1  # by the clock, where the machine is loaded
LOOK = 0.002  # seconds from one look to the next
HALTED = 4  # looks without CPU time: the guest waits
SILENCE = 600  # seconds without a word after which a guest is given up
# Student's t for 95 %, by turns less one.
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


def cpu_seconds(pid):
    """Returns the CPU time of all threads, without those that have ended."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        try:
            with open(path) as file:
                total += int(file.read().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return total / 1e9


class Guest:
    def __init__(self, qemu, cpu, image, words):
        self.process = subprocess.Popen(
            [qemu, "-M", "q35", "-m", "512", "-nodefaults", "-display", "none", "-no-reboot",
             "-monitor", "none", "-serial", "stdio", "-cpu", cpu, "-kernel", image + "/vmlinuz",
             "-initrd", image + "/initrd", "-append",
             "console=ttyS0 quiet panic=-1 no_timer_check job=bench " + words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.buffer, self.lines = b"", []
        self.start, self.seconds, self.samples = 0, None, None
        os.set_blocking(self.process.stdout.fileno(), False)

    def result(self, seconds):
        """Returns (name, value) of the next result on the console, or None after `seconds`."""
        until = time.monotonic() + seconds
        while True:
            while b"\n" in self.buffer:
                line, self.buffer = self.buffer.split(b"\n", 1)
                self.lines = self.lines[-20:] + [line.decode("latin-1")]
                found = re.search(r"RESULT (\S+): ?(.*)", line.decode("latin-1").strip())
                if found:
                    return found[1], found[2]
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            more = self.process.stdout.read()
            if more == b"":
                sys.exit("\n".join([f"a guest of {self.process.args[0]} has ended, status "
                                    f"{self.process.wait()}:"] + self.lines))
            self.buffer += more or b""

    def say(self, word):
        self.seconds = self.samples = None
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()

    def heard(self, name, value):
        """Notes a result.  Returns whether the guest's command, or its boot, has ended."""
        if name == "from":
            self.start = cpu_seconds(self.process.pid)
        elif name in ("to", "ready"):
            self.seconds = cpu_seconds(self.process.pid) - self.start
        elif name == "samples":
            self.samples = int(value or 0)
        return name in ("to", "ready", "samples")

    def go_on(self):
        """Runs the guest for a slice and stops it.  Returns whether its command has ended."""
        self.process.send_signal(signal.SIGCONT)
        now = begun = cpu_seconds(self.process.pid)
        until, still, ended = time.monotonic() + SLICE_MOST, 0, False
        while not ended and time.monotonic() < until and now < begun + SLICE and still < HALTED:
            ended = self.heard(*(self.result(LOOK) or ("", "")))
            last, now = now, cpu_seconds(self.process.pid)
            still = still + 1 if now - last < LOOK / 10 else 0
        self.process.send_signal(signal.SIGSTOP)
        return ended

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


def together(guests, words):
    """Sends each guest its word, if any.  Returns when all have reported the end."""
    for guest, word in zip(guests, words):
        guest.say(word)
    running, since = list(guests), time.monotonic()
    while running:
        running = [guest for guest in running if not guest.go_on()]
        if time.monotonic() - since > SILENCE:
            sys.exit(f"a guest does not end: {words}")


def ratios(guests):
    """Returns the CPU time of each of ours divided by stock's, and stock's seconds."""
    return [guest.seconds / guests[0].seconds for guest in guests[1:]] + [guests[0].seconds]


def boot(chosen, image, words):
    """Returns guests, stock's first, and the ratios() of their boot."""
    guests = [Guest(chosen.stock, chosen.cpu, image, words)]
    guests += [Guest(unit, chosen.cpu + ",pmu=on", image, words) for unit in chosen.unit]
    together(guests, ())
    return guests, ratios(guests)


def measure(chosen, image, programs, name):
    """Returns (column, program): ratios(); (column, "samples"): of each guest, stock's first."""
    figures = {}

    def tell(column, program):
        *ours, seconds_of_stock = figures[column, program]
        print(f"{name}: {column} {program} {seconds_of_stock:.2f} s" +
              "".join(f" {one:.3f}" for one in ours), file=sys.stderr, flush=True)

    if "boot" in programs:
        guests, figures["counting", "boot"] = boot(chosen, image, "nmi_watchdog=1")
        tell("counting", "boot")
        for guest in guests:
            guest.end()
    guests, figures["idle", "boot"] = boot(chosen, image, "nmi_watchdog=0")
    tell("idle", "boot")
    for column in chosen.columns.split(","):
        stock, ours = COLUMNS[column]
        for guest, mode in zip(guests, [stock] + [ours] * len(chosen.unit)):
            guest.say(mode)
        for program in programs:
            if program != "boot":
                together(guests, [program] * len(guests))
                figures[column, program] = ratios(guests)
                tell(column, program)
        together(guests, ["end"] * len(guests))
        figures[column, "samples"] = [guest.samples for guest in guests]
    for guest in guests:
        guest.end()
    return figures


def over_stock(turn, column, programs, which):
    """Returns the CPU time of all programs, ours divided by stock's."""
    figures = [turn[column, program] for program in programs]
    return sum(one[which] * one[-1] for one in figures) / sum(one[-1] for one in figures)


def costs(turn, programs, which):
    """Returns the microseconds of a sample: of ours above counting, and of stock's by its timer."""
    programs = [program for program in programs if program != "boot"]
    idle, counting, sampling, timer = (over_stock(turn, column, programs, which)
                                       for column in ("idle", "counting", "sampling", "timer"))
    plain = sum(turn["idle", program][-1] for program in programs) * 1e6
    return ((sampling - counting) * plain / max(turn["sampling", "samples"][which + 1], 1),
            (idle / timer - 1) * plain / max(turn["timer", "samples"][0], 1))


def mean_of_turns(turns, column, programs, which):
    """Returns the geometric mean of all programs over the turns, as "1.023 +-0.010"."""
    means = [statistics.geometric_mean(turn[column, program][which] for program in programs
                                       if (column, program) in turn) for turn in turns]
    text = f"{statistics.mean(means):5.3f}"
    if len(means) > 1:
        student = STUDENT[min(len(means) - 2, len(STUDENT) - 1)]
        text += f" +-{student * statistics.stdev(means) / math.sqrt(len(means)):.3f}"
    return text


def show(turns, programs, which, shown):
    print(f"{'program':8} {'stock':>8}" + "".join(f" {column:>19}" for column in shown))
    for program in programs:
        stock = min(turn[column, program][-1] for turn in turns for column in shown
                    if (column, program) in turn)
        line = f"{program:8} {stock:6.2f} s"
        for column in shown:
            if (column, program) not in turns[0]:
                line += f" {'':19}"
            else:
                figures = [turn[column, program][which] for turn in turns]
                line += (f" {statistics.median(figures):5.3f} "
                         f"({min(figures):5.3f}-{max(figures):5.3f})")
        print(line)
    wide = [program for program in programs if program not in APART] or programs
    print(f"{'mean':17}" + "".join(
        f" {mean_of_turns(turns, column, wide, which):>19}" for column in shown))
    if any((column, "samples") not in turns[0] for column in COLUMNS):
        return
    each = zip(*(costs(turn, programs, which) for turn in turns))
    ours, timed = (statistics.median(cost) for cost in each)
    print(f"A sample costs {ours:.0f} us above counting, one of stock's by its timer {timed:.0f} us.")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--stock", required=True, help="the stock build's command")
    options.add_argument("--unit", required=True, action="append", help="ours; or several")
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--cpu", default="Skylake-Server")
    options.add_argument("--only", help="programs, with commas between them")
    options.add_argument("--columns", default=",".join(COLUMNS), help="of %(default)s")
    chosen = options.parse_args()
    programs = chosen.only.split(",") if chosen.only else ("boot",) + PROGRAMS
    shown = [column for column in SHOWN if column in chosen.columns.split(",")]
    turns = []
    with tempfile.TemporaryDirectory() as image:
        subprocess.run([here + "/../tests/guest/image.sh", image, "amd64"], check=True)
        for turn in range(chosen.turns):
            turns.append(measure(chosen, image, programs, f"turn {turn + 1} of {chosen.turns}"))
    for which, unit in enumerate(chosen.unit):
        if len(chosen.unit) > 1:
            print(unit)
        show(turns, programs, which, shown)


main()
