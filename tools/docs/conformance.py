#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/reference/conformance.md from the lists of the manual's statements.

usage: conformance.py BUILD PAGE LIST...

Each statement names the test cases that cover it (tests/conformance/README.md has the
format).  The script runs these tests, and a statement is "done" only if each of its
cases ran and passed.  The status is 1 if a case failed or does not exist.
"""
import os
import re
import subprocess
import sys

STATES = ("done", "partial", "differs", "absent", "failed")
MEANING = {
    "done": "implemented, and the named test cases passed",
    "partial": "implemented in part; the last column says what is missing",
    "differs": "decided otherwise; the last column says how and why",
    "absent": "not implemented; the last column says what happens instead",
    "failed": "a named test case failed or does not exist",
}


class ListError(Exception):
    """A line of a list that cannot be read."""


def logical_lines(path):
    """Yields (number, text) for each line, joined with the indented lines after it."""
    number, text = 0, ""
    with open(path, encoding="utf-8") as lines:
        for i, line in enumerate(lines, 1):
            if line.startswith("\t") and text:
                text += " " + line.strip()
                continue
            if text:
                yield number, text
            number, text = i, line.strip()
            if text.startswith("#"):
                text = ""
    if text:
        yield number, text


def read_list(path):
    """Returns [(section, title, [(statement, cases, state, reason)])]."""
    sections = []
    for number, text in logical_lines(path):
        where = f"{path}:{number}"
        if text.startswith("section "):
            words = text.split(maxsplit=2)
            if len(words) != 3:
                raise ListError(f"{where}: a section needs a number and a title")
            sections.append((words[1], words[2], []))
            continue
        if not sections:
            raise ListError(f"{where}: a statement before the first section")
        parts = [part.strip() for part in text.split("|")]
        if len(parts) not in (2, 3):
            raise ListError(f"{where}: expected STATEMENT | CASES [| STATE: REASON]")
        cases = [case.strip() for case in parts[1].split(";") if case.strip()]
        state, reason = "done", ""
        if len(parts) == 3:
            state, _, reason = (word.strip() for word in parts[2].partition(":"))
            if state not in ("partial", "differs", "absent") or not reason:
                raise ListError(f"{where}: expected partial, differs or absent, and a reason")
        if state == "absent" and cases:
            raise ListError(f"{where}: an absent statement cannot have a test")
        if state in ("done", "partial") and not cases:
            raise ListError(f"{where}: names no test case")
        sections[-1][2].append((parts[0], cases, state, reason))
    if not sections or not all(rows for _, _, rows in sections):
        raise ListError(f"{path}: a list or a section without a statement")
    return sections


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode(errors="replace")


class Tests:
    """Runs test programs once each and knows the result of each case."""

    def __init__(self, build):
        self.build = build
        self.results = {}

    def program(self, name):
        """Returns [(case, passed, failed)] of unit/NAME or scenario/NAME."""
        if name in self.results:
            return self.results[name]
        kind, _, base = name.partition("/")
        output = ""
        if kind == "unit" and os.path.exists(f"{self.build}/tests/unit/{base}"):
            output = run([f"{self.build}/tests/unit/{base}"])
        elif kind == "scenario" and os.path.exists(f"tests/scenarios/{base}.scenario"):
            output = run([f"{self.build}/tests/scenarios/run", f"tests/scenarios/{base}.scenario"])
        cases = [(case, int(passed), int(failed)) for case, passed, failed in
                 re.findall(r"^case (.*): (\d+) passed, (\d+) failed$", output, re.M)]
        last = re.search(r"^(\d+) passed, (\d+) failed\Z", output.rstrip("\n"), re.M)
        if last:
            cases.append(("", int(last[1]), int(last[2])))
        self.results[name] = cases
        return cases

    def passed(self, reference):
        """True if the case exists, checked something and failed nowhere."""
        name, _, case = reference.partition(":")
        results = self.program(name)
        if not case:
            chosen = [r for r in results if r[0] == ""]
        elif name.startswith("unit/"):
            chosen = [r for r in results if case in re.findall(r"\w+", r[0])]
        else:
            chosen = [r for r in results if r[0].startswith(case)]
        return sum(r[1] for r in chosen) > 0 and sum(r[2] for r in chosen) == 0


def escape(text):
    return text.replace("|", "\\|")


def render(lists, counts):
    out = ["<!-- SPDX-License-Identifier: MIT -->",
           "<!-- Made by `make docs` from tests/conformance/*.list; do not edit. -->",
           "# The manual's statements", "",
           "This page lists what Intel's manual says about the unit, in our words, and whether softpmu",
           "does it.  Sections are those of Vol. 3B unless another volume is named.  Each test case named",
           "here was run when the page was made.  [facilities.md](facilities.md) shows the same by family.",
           "", "| state | statements | meaning |", "|---|---|---|"]
    out += [f"| {state} | {counts[state]} | {MEANING[state]} |" for state in STATES]
    out += [f"| all | {sum(counts.values())} | |"]
    for section, title, rows in lists:
        out += ["", f"## {section} {title}", "", "| statement | state | test cases | remark |",
                "|---|---|---|---|"]
        out += [f"| {escape(text)} | {state} | {escape('; '.join(cases))} | {escape(reason)} |"
                for text, cases, state, reason in rows]
    return "\n".join(out) + "\n"


def main(arguments):
    if len(arguments) < 3:
        print("usage: conformance.py BUILD PAGE LIST...", file=sys.stderr)
        return 2
    build, page, paths = arguments[0], arguments[1], arguments[2:]
    tests, judged = Tests(build), []
    counts = dict.fromkeys(STATES, 0)
    try:
        for section, title, rows in [s for path in paths for s in read_list(path)]:
            results = []
            for text, cases, state, reason in rows:
                broken = [case for case in cases if not tests.passed(case)]
                for case in broken:
                    print(f"{section}: {case}: failed or not found", file=sys.stderr)
                if broken:
                    state = "failed"
                counts[state] += 1
                results.append((text, cases, state, reason))
            judged.append((section, title, results))
    except (ListError, OSError) as error:
        print(f"conformance.py: {error}", file=sys.stderr)
        return 1
    with open(page, "w", encoding="utf-8") as out:
        out.write(render(judged, counts))
    for state in STATES:
        print(f"{state}: {counts[state]}")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
