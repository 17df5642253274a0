#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""comments.py HEADER: prints a header with its comments as Doxygen reads them.

A comment on lines of its own documents what follows it.  A comment at the end of a line documents
what is before it.  A declaration directly after another one shares its comment.

A line is an item of a list if it begins with one of these:
- a name and a tab;
- a status and a colon;
- a tab and a dash; with two tabs the item belongs to the item before.
Other lines with a tab are code if they follow an empty line.
"""
import re
import sys

ITEM = re.compile(r"^ \* ([A-Za-z_`][\w, `]*(?:\[\d\])?)\t+(.*)$")
NAMES = re.compile(r"^ \* (\w+_\w+(?:, \w+)*)$")
STATUS = re.compile(r"^ \* ((?:SPMU_E_[A-Z]+(?:, )?)+:)")
FUNCTION = re.compile(r"\b(spmu_\w+)\(")


def comment_line(line, before):
    # A line with a tab after an empty one is code, and so are those that follow it.
    if line.startswith(" *\t") and not line.startswith(" *\t- ") and before in (" *", "code"):
        return " *      " + line[3:], "code"
    line = re.sub(r"([<>])", r"\\\1", line)
    line = re.sub(r"(^|[^\w&])#([A-Z])", r"\1\\#\2", line)
    line = ITEM.sub(r" * - **\1**: \2", line)
    line = NAMES.sub(r" * - **\1**:", line)
    line = STATUS.sub(r" * - **\1**", line)
    line = re.sub(r"^ \*\t- ", " * - ", line)
    return re.sub(r"^ \*\t+ *", " *   ", line), line


def main():
    out, inside, last, before = [], False, None, ""
    with open(sys.argv[1], encoding="utf-8") as header:
        lines = header.read().split("\n")[1:]
    for n, line in enumerate(lines):
        if line == "/*" or line.startswith("/* "):
            inside = True
            line = ("/** @file" if n == 0 else "/**") + line[2:].replace(" ", "\n * ", 1 if n == 0 else 0)
        if inside:
            parts = line.split("\n")
            for i, part in enumerate(parts):
                parts[i], before = comment_line(part, before)
            line = "\n".join(parts)
            inside = "*/" not in line
            last = None
        else:
            line = re.sub(r"([;,{])[ \t]+/\* ", r"\1 /**< ", line)
            line = re.sub(r"#([A-Z])", r"\\#\1", line) if "/**<" in line else line
            name = FUNCTION.search(line) if line.startswith("SPMU_API") else None
            if line.startswith("SPMU_API") and last:
                out.append(f"/** @copydoc {last} */")
            if name:
                last = name.group(1)
            elif not line.strip():
                last = None
        out.append(line)
    print("\n".join(out))


if __name__ == "__main__":
    main()
