#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""manpage.py XML TEMPLATE: prints libsoftpmu.3.

The template is the page without its functions.  @SYNOPSIS@ becomes their prototypes, and @FUNCTIONS@
what the headers say of each, both by header.  XML is the folder that Doxygen wrote (tools/docs/Doxyfile).
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

HEADERS = "base tallies accesses signals model registers unit lbr ds state driver uarch uarch_time uncore client".split()


def words(element):
    """The text of an element without its tags and nested lists."""
    parts = [element.text or ""]
    for child in element:
        if child.tag not in ("itemizedlist", "preformatted", "programlisting"):
            parts.append(words(child))
        parts.append(child.tail or "")
    return "".join(parts)


def escape(line):
    line = line.replace("\\", "\\e")
    return "\\&" + line if line.startswith((".", "'")) else line


def sentences(text):
    """Roff wants each sentence on a line of its own."""
    text = re.sub(r"\s+", " ", text).strip()
    return [escape(part) for part in re.split(r"(?<=[.:]) (?=[A-Z`])", text) if part]


def describe(element):
    """The lines of a description, with its lists and code."""
    out = []
    for para in element:
        if para.tag == "title":
            continue
        text = sentences(words(para))
        if text:
            out += [".Pp"] + text
        for child in para:
            if child.tag == "itemizedlist":
                out.append(".Bl -dash -compact")
                for item in child:
                    out += [".It"] + [line for line in describe(item) if line != ".Pp"]
                out.append(".El")
            elif child.tag in ("preformatted", "programlisting"):
                out += [".Bd -literal -offset indent"]
                out += [escape(line) for line in "".join(child.itertext()).strip("\n").split("\n")]
                out += [".Ed"]
    return out


def type_of(element):
    return re.sub(r" \*$", " *", re.sub(r"\s+", " ", "".join(element.itertext())).strip())


def prototype(function):
    out = [f'.Ft "{type_of(function.find("type"))}"', f'.Fo {function.find("name").text}']
    params = function.findall("param")
    for param in params:
        kind, name = type_of(param.find("type")), param.findtext("declname") or ""
        array = param.findtext("array") or ""
        out.append(f'.Fa "{kind}{"" if kind.endswith("*") or not name else " "}{name}{array}"')
    if not params:
        out.append(".Fa void")
    return out + [".Fc"]


def functions(xml, header):
    tree = ElementTree.parse(os.path.join(xml, header.replace("_", "__") + "_8h.xml"))
    return [m for m in tree.iter("memberdef") if m.get("kind") == "function"]


def synopsis(xml):
    out = []
    for header in HEADERS:
        found = functions(xml, header)
        if found:
            out += [f".Ss {header}.h"] + [line for f in found for line in prototype(f)]
    return out


def function_list(xml):
    out = []
    for header in HEADERS:
        found = functions(xml, header)
        if not found:
            continue
        out += [f".Ss {header}.h", ".Bl -tag -width Ds"]
        last = None
        for function in found:
            text = describe(function.find("detaileddescription"))
            text = text[1:] if text[:1] == [".Pp"] else text
            head = f'.It Fn {function.find("name").text}'
            if text and text == last:
                # It shares the comment of the function before it.
                out.insert(len(out) - len(text), head)
                continue
            out += [head] + text
            last = text
        out.append(".El")
    return out


def main():
    xml, template = sys.argv[1:]
    with open(template, encoding="utf-8") as file:
        page = file.read()
    page = page.replace("@SYNOPSIS@", "\n".join(synopsis(xml)))
    page = page.replace("@FUNCTIONS@", "\n".join(function_list(xml)))
    print(page, end="")


if __name__ == "__main__":
    main()
