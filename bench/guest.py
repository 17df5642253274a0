#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the unit costs a guest of QEMU: two guests, a stock build's and ours, take turns.

Both boot once and then run what they are told, one at a time: each program plain in both,
and in ours also counted (perf stat -e instructions) and sampled (perf record -e instructions), beside
which the stock guest is sampled by its timer (-e cpu-clock).  A figure is CPU time of the emulator's
process from the program's start to its end, the least of all turns, over the stock guest's.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

PROGRAMS = ("loop", "gzip", "awk", "calls", "forks")
# Column: guest, how the program is run.
COLUMNS = {"stock": ("stock", "plain"), "idle": ("unit", "plain"), "counting": ("unit", "counted"),
           "sampling": ("unit", "sampled"), "timer": ("stock", "timed")}
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

    def line(self):
        """The console's next line."""
        since = time.monotonic()
        while b"\n" not in self.buffer:
            more = self.process.stdout.read()
            if more:
                self.buffer += more
                since = time.monotonic()
            elif more == b"" or time.monotonic() - since > SILENCE:
                sys.exit("a guest has ended or says nothing: " + self.buffer.decode("latin-1"))
            else:
                time.sleep(0.005)
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line.decode("latin-1").strip()

    def wait(self, name):
        """The value of the result of that name."""
        while True:
            found = re.search(r"RESULT (\S+): ?(.*)", self.line())
            if found and found[1] == name:
                return found[2]

    def run(self, mode, program):
        """CPU seconds, and samples when it took any."""
        self.process.stdin.write(f"{mode} {program}\n".encode())
        self.process.stdin.flush()
        self.wait("from")
        start = cpu_seconds(self.process.pid)
        self.wait("to")
        used = cpu_seconds(self.process.pid) - start
        return used, int(self.wait("samples") or 0)

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


def measure(guests, turns, programs):
    """(column, program): (seconds, samples), the least."""
    least = {}
    for turn in range(turns):
        for program in programs:
            for column, (guest, mode) in COLUMNS.items():
                figure = guests[guest].run(mode, program)
                least[column, program] = min(figure, least.get((column, program), figure))
                print(f"turn {turn + 1} of {turns}: {program} {column} {figure[0]:.3f} s",
                      file=sys.stderr, flush=True)
    return least


def each(least, column, base, program):
    """Microseconds that a sample costs."""
    seconds, samples = least[column, program]
    return (seconds - least[base, program][0]) * 1e6 / samples if samples else float("nan")


def show(least, programs):
    print(f"{'program':8} {'stock':>9} {'idle':>9} {'counting':>9} {'sampling':>9} {'samples':>8}"
          f" {'us each':>8} {'by timer':>9}")
    product = dict.fromkeys(COLUMNS, 1.0)
    for program in programs:
        base = least["stock", program][0]
        ratio = {column: least[column, program][0] / base for column in COLUMNS}
        product = {column: product[column] * ratio[column] for column in COLUMNS}
        print(f"{program:8} {base:7.2f} s {ratio['idle']:8.3f}x {ratio['counting']:8.3f}x"
              f" {ratio['sampling']:8.3f}x {least['sampling', program][1]:8}"
              f" {each(least, 'sampling', 'counting', program):8.1f}"
              f" {each(least, 'timer', 'stock', program):9.1f}")
    means = [product[column] ** (1 / len(programs)) for column in ("idle", "counting", "sampling")]
    print(f"{'mean':8} {'':9} " + " ".join(f"{mean:8.3f}x" for mean in means))


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--stock", required=True, help="the stock build's command")
    options.add_argument("--unit", required=True, help="ours")
    options.add_argument("--turns", type=int, default=5)
    options.add_argument("--cpu", default="Skylake-Server")
    options.add_argument("--only", help="programs, with commas between them")
    chosen = options.parse_args()
    programs = chosen.only.split(",") if chosen.only else PROGRAMS
    with tempfile.TemporaryDirectory() as image:
        subprocess.run([here + "/../tests/guest/image.sh", image, "amd64"], check=True)
        print("two guests boot", file=sys.stderr, flush=True)
        guests = {"stock": Guest(chosen.stock, chosen.cpu, image),
                  "unit": Guest(chosen.unit, chosen.cpu + ",pmu=on", image)}
        show(measure(guests, chosen.turns, programs), programs)
        for guest in guests.values():
            guest.end()


main()
