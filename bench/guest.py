#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the unit costs a guest of QEMU, against a stock build of the same source.

Two guests boot and are told what to run, each at the same time as the other: stock runs each program
plainly, ours plainly (idle), counted (perf stat -e instructions) and sampled (perf record -e
instructions); and beside ours, plainly, stock's is sampled by its timer (-e cpu-clock).  While they run,
one of them stands still, turn and turn about each few milliseconds, so that whatever else the machine
does falls on both alike.  A figure is the CPU time of one emulator's process over the other's.

Where translated code lies is chance, stays so while a guest runs, and moves a figure by some
hundredths: so each turn boots two new guests, and what is shown is the median of all turns, the
least and the most, and the geometric mean of the medians.
"""
import argparse
import glob
import os
import re
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("loop", "gzip", "awk", "calls", "forks")
# Column: how the program is run in the stock guest and in ours.
COLUMNS = {"idle": ("plain", "plain"), "counting": ("plain", "counted"),
           "sampling": ("plain", "sampled"), "timer": ("timed", "plain")}
SLICE = 0.02  # CPU seconds
SLICE_MOST = 0.2  # by the clock, where the machine is loaded or the guest halts
SILENCE = 600  # seconds without a word after which a guest is given up


def cpu_seconds(pid):
    """Of all threads, to the nanosecond."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path) as file:
            total += int(file.read().split()[0])
    return total / 1e9


class Guest:
    def __init__(self, qemu, cpu, image):
        self.process = subprocess.Popen(
            [qemu, "-M", "q35", "-m", "512", "-nodefaults", "-display", "none", "-no-reboot",
             "-monitor", "none", "-serial", "stdio", "-cpu", cpu, "-kernel", image + "/vmlinuz",
             "-initrd", image + "/initrd", "-append",
             "console=ttyS0 quiet panic=-1 no_timer_check job=bench watchdog=0"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.buffer = b""
        os.set_blocking(self.process.stdout.fileno(), False)
        self.wait("ready")

    def result(self, seconds):
        """(name, value) of the next result on the console; None: not within so many seconds."""
        until = time.monotonic() + seconds
        while True:
            while b"\n" in self.buffer:
                line, self.buffer = self.buffer.split(b"\n", 1)
                found = re.search(r"RESULT (\S+): ?(.*)", line.decode("latin-1").strip())
                if found:
                    return found[1], found[2]
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            more = self.process.stdout.read()
            if not more:
                sys.exit("a guest has ended: " + self.buffer.decode("latin-1"))
            self.buffer += more

    def wait(self, name):
        while True:
            found = self.result(SILENCE)
            if not found:
                sys.exit("a guest says nothing: " + self.buffer.decode("latin-1"))
            if found[0] == name:
                return

    def begin(self, mode, program):
        self.seconds = self.samples = None
        self.process.stdin.write(f"{mode} {program}\n".encode())
        self.process.stdin.flush()

    def go_on(self):
        """For a slice, and stand still then.  Whether the program has ended."""
        self.process.send_signal(signal.SIGCONT)
        begun, until = cpu_seconds(self.process.pid), time.monotonic() + SLICE_MOST
        while time.monotonic() < until and cpu_seconds(self.process.pid) < begun + SLICE:
            name, value = self.result(0.002) or (None, None)
            if name == "from":
                self.start = cpu_seconds(self.process.pid)
            elif name == "to":
                self.seconds = cpu_seconds(self.process.pid) - self.start
            elif name == "samples":
                self.samples = int(value or 0)
                return True
        self.process.send_signal(signal.SIGSTOP)
        return False

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


def together(guests, modes, program):
    """Ours over stock's CPU time, stock's, and samples."""
    for guest, mode in zip(guests, modes):
        guest.begin(mode, program)
    running, since = list(guests), time.monotonic()
    while running:
        running = [guest for guest in running if not guest.go_on()]
        if time.monotonic() - since > SILENCE:
            sys.exit("a guest does not end: " + program)
    stock, ours = guests
    return ours.seconds / stock.seconds, stock.seconds, stock.samples + ours.samples


def measure(guests, name, programs):
    """(column, program): what together() says."""
    figures = {}
    for program in programs:
        for column, modes in COLUMNS.items():
            figures[column, program] = together(guests, modes, program)
        print(f"{name}: {program} " + ", ".join(
            f"{column} {figures[column, program][0]:.3f}" for column in COLUMNS),
            file=sys.stderr, flush=True)
    return figures


def costs(turn, program):
    """Microseconds that a sample costs, of ours above counting, and of stock's by timer."""
    idle, seconds, _ = turn["idle", program]
    sampling, _, samples = turn["sampling", program]
    ticks, _, timed = turn["timer", program]
    return ((sampling - turn["counting", program][0]) * seconds * 1e6 / max(samples, 1),
            (idle / ticks - 1) * seconds * 1e6 / max(timed, 1))


def show(turns, programs):
    shown = ("idle", "counting", "sampling")
    medians = {column: [] for column in shown}
    print(f"{'program':8} {'stock':>8} " + " ".join(f"{column:>19}" for column in shown) +
          f" {'samples':>8} {'us each':>8} {'by timer':>8}")
    for program in programs:
        line = f"{program:8} {min(turn['idle', program][1] for turn in turns):6.2f} s"
        for column in shown:
            ratios = [turn[column, program][0] for turn in turns]
            medians[column].append(statistics.median(ratios))
            line += f" {medians[column][-1]:5.3f} ({min(ratios):5.3f}-{max(ratios):5.3f})"
        each = zip(*(costs(turn, program) for turn in turns))
        print(f"{line} {turns[0]['sampling', program][2]:8} " +
              " ".join(f"{statistics.median(cost):8.0f}" for cost in each))
    print(f"{'mean':8} {'':8}" + "".join(
        f" {statistics.geometric_mean(medians[column]):5.3f}{'':14}" for column in shown))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--stock", required=True, help="the stock build's command")
    options.add_argument("--unit", required=True, help="ours")
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--cpu", default="Skylake-Server")
    options.add_argument("--only", help="programs, with commas between them")
    chosen = options.parse_args()
    programs = chosen.only.split(",") if chosen.only else PROGRAMS
    turns = []
    with tempfile.TemporaryDirectory() as image:
        subprocess.run([here + "/../tests/guest/image.sh", image, "amd64"], check=True)
        for turn in range(chosen.turns):
            name = f"turn {turn + 1} of {chosen.turns}"
            print(f"{name}: two guests boot", file=sys.stderr, flush=True)
            guests = (Guest(chosen.stock, chosen.cpu, image),
                      Guest(chosen.unit, chosen.cpu + ",pmu=on", image))
            turns.append(measure(guests, name, programs))
            for guest in guests:
                guest.end()
    show(turns, programs)


main()
