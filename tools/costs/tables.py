#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes data/uarch/costs.inc and costs_PROCESSOR.inc, for `make costs`.

tables.py FORMS LLVM CORRECTIONS FOLDER: FORMS lists forms (forms.c), LLVM asks for their costs (llvm.cc).
CORRECTIONS replaces numbers of LLVM's that a second source shows to be wrong.
"""
import itertools
import subprocess
import sys

# Our name for a microarchitecture, and LLVM's.
PROCESSORS = [
    ("sandybridge", "sandybridge"),
    ("haswell", "haswell"),
    ("skylake", "skylake-avx512"),
    ("icelake", "icelake-server"),
    ("silvermont", "slm"),
    ("zen4", "znver4"),
    ("zen5", "znver5"),
]
LOADS, STORES = 1, 2
GENERAL, VECTOR = (1, 5), (2,)  # FORM_GPR, FORM_GPR8; FORM_VECTOR
BY_REG, BY_MOD, BY_W, BY_L, BY_B, MODRM = 1, 2, 4, 8, 16, 32
LICENCE = "/* SPDX-License-Identifier: MIT */\n"
UNKNOWN = (1, 0, 1, 0, ())  # uops, uses, latency, load, ports


class Model:
    """A processor's ports, and costs as they come."""

    def __init__(self, name, llvm, load_latency, masks, resources):
        self.name, self.llvm, self.load_latency, self.masks = name, llvm, load_latency, masks
        self.resources = resources  # numbers by name
        self.costs, self.sets, self.uses = {UNKNOWN: 0}, {}, []

    def parse(self, text):
        """Returns (uops, latency, ports) of an answer of LLVM's, or None."""
        if text == "-":
            return None
        uops, latency, ports = text.split()
        used = []
        for use in ports.split(",") if ports != "0" else []:
            resource, clocks = map(int, use.split(":"))
            used.append((self.masks[resource], min(clocks, 255)))
        return int(uops), min(int(latency), 65535), tuple(sorted(used))

    def number(self, cost):
        return self.costs.setdefault(cost, len(self.costs))

    def ports_at(self, ports):
        """Returns where these uses of ports are in the list, which is extended if needed."""
        wanted = [(self.sets.setdefault(mask, len(self.sets)), clocks) for mask, clocks in ports]
        for at in range(len(self.uses) - len(wanted) + 1):
            if self.uses[at:at + len(wanted)] == wanted:
                return at
        self.uses += wanted
        return len(self.uses) - len(wanted)


def read_forms(program):
    forms = []
    for line in subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines():
        f = line.split()
        page, opcode, variant, cls, reads, writes, kinds, gpr_reads, gpr_writes, properties, modrm = map(int, f[:11])
        forms.append(dict(key=(page, opcode, variant, cls), modrm=modrm, bytes=f[11], name=f[12],
                          operands=(properties, kinds, gpr_reads, gpr_writes, reads, writes)))
    return forms


def ask(program, forms, units):
    """Returns LLVM's version and its models, and adds its answers to the forms."""
    answer = subprocess.run([program] + [llvm for _, llvm in PROCESSORS], check=True, text=True, capture_output=True,
                            input="".join(f["bytes"] + "\n" for f in forms)).stdout.splitlines()
    version, at, models = answer[0], 1, []
    for name, llvm in PROCESSORS:
        _, _, load_latency, count = answer[at].split()
        masks, resources = {}, {}
        for line in answer[at + 1:at + 1 + int(count)]:
            number, resource, mask = line.split()
            masks[int(number)] = int(mask)
            resources[resource] = int(number)
        models.append(Model(name, llvm, int(load_latency), masks, resources))
        at += 1 + int(count)
    for (name, resource), mask in units.items():
        model = next(m for m in models if m.name == name)
        model.masks[model.resources[resource]] = mask
    for form, line in zip(forms, answer[at:], strict=True):
        form["llvm"] = [m.parse(t) for m, t in zip(models, line.split("\t")[1:], strict=True)]
    return version, models


def read_corrections(path):
    """Returns {(processor, mnemonic, place): {field: value}} and {(processor, resource): mask of its units}."""
    fixes, units = {}, {}
    for number, line in enumerate(open(path), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        if "#" in line and len(words) == 4 and words[2] == "units":
            units[words[0], words[1]] = sum(1 << int(unit) for unit in words[3].split(","))
            continue
        if "#" not in line or len(words) != 5:
            sys.exit(f"{path}:{number}: PROCESSOR,... MNEMONIC,... PLACE FIELD VALUE # SOURCE")
        processors, mnemonics, place, field, value = words
        for processor, mnemonic in itertools.product(processors.split(","), mnemonics.split(",")):
            for p in "rm" if place == "*" else [place]:
                fixes.setdefault((processor, mnemonic, p), {})[field] = value if field == "ports" else int(value)
    return fixes, units


def names(form, fields, kinds):
    """Returns whether one of these fields of the encoding names a register of these kinds."""
    return any(fields >> i & 1 and form["operands"][1] >> 3 * i & 7 in kinds for i in range(6))


def has_general(form, fields):
    return names(form, fields, GENERAL)


def places_of(form, in_memory):
    """Returns the places of corrections.txt that a form is in, the general one first."""
    if in_memory:
        return ["m"]
    if has_general(form, form["operands"][5]):
        return ["r", "to"]
    if has_general(form, form["operands"][4]):
        return ["r", "from"]
    return ["r", "vector"] if names(form, form["operands"][5], VECTOR) else ["r"]


def make_cost(model, form, answer, register, fix):
    """Returns the row of a form: uops, number of uses, latency of data, of the load, ports."""
    if answer is None:
        return UNKNOWN
    uops, total, ports = answer
    load = 0
    latency = total
    if form["operands"][0] & LOADS:
        latency = min(register[1] if register else max(total - model.load_latency, 1), total)
        load = total - latency or model.load_latency
    uops, latency, load = fix.get("uops", uops), fix.get("latency", latency), fix.get("load", load)
    if latency < fix.get("least", 0):
        latency = fix["least"]
    if "ports" in fix:
        ports = ((model.masks[model.resources[fix["ports"]]], 1),)
    if "clocks" in fix:
        longest = max(n for _, n in ports)
        ports = tuple((mask, fix["clocks"] if n == longest else n) for mask, n in ports)
    if "drop" in fix:
        ports = tuple((mask, n) for mask, n in ports if bin(mask).count("1") != fix["drop"])
    return min(uops, 255), len(ports), latency, min(load, 255), ports


def add_costs(models, forms, fixes):
    """Gives each form the number of its cost on each processor."""
    by_key = {f["key"]: f for f in forms}
    unused = set(fixes)
    for f in forms:
        page, opcode, variant, cls = f["key"]
        register = by_key.get((page, opcode, variant, cls | 8))
        memory = f["modrm"] and cls < 8
        rows = []
        for i, m in enumerate(models):
            fix = {}
            for place in places_of(f, memory):
                for mnemonic in ("any", f["name"]):
                    key = (m.name, mnemonic, place)
                    unused.discard(key)
                    fix |= fixes.get(key, {})
            same = register["llvm"][i] if memory and register and register["name"] == f["name"] else None
            rows.append(m.number(make_cost(m, f, f["llvm"][i], same, fix)))
        f["costs"] = tuple(rows)
    if unused:
        sys.exit(f"corrections of nothing: {sorted(unused)}")


def make_row(variants, leaves, blocks):
    """variants: [16][16] of leaves.  Returns (first, shape, stride)."""
    def same(pick):
        return all(variants[v][c] == variants[pick(v, c)[0]][pick(v, c)[1]] for v in range(16) for c in range(16))
    shape = 0
    if not same(lambda v, c: (v, c & 8)):
        shape |= BY_REG
    if not same(lambda v, c: (v, c & 7)):
        shape |= BY_MOD
    for bits, flag in ((8, BY_W), (6, BY_L), (1, BY_B)):
        if not same(lambda v, c, bits=bits: (v & ~bits, c)):
            shape |= flag
    classes = [c for c in range(16) if (shape & BY_REG or not c & 7) and (shape & BY_MOD or not c & 8)]
    block = tuple(variants[v][c]
                  for v in range(16)
                  if (shape & BY_W or not v & 8) and (shape & BY_L or not v & 6) and (shape & BY_B or not v & 1)
                  for c in classes)
    if block not in blocks:
        blocks[block] = len(leaves)
        leaves.extend(block)
    return blocks[block], shape, len(classes)


def make_pages(forms):
    """Returns rows by page, leaves, operands, and costs (one number for each processor)."""
    operands, costs, kinds = {}, {}, {(0, 0): 0}
    operands[(0, 0, 0, 0, 0, 0)] = 0
    costs[(0,) * len(PROCESSORS)] = 0
    table, modrm = {}, set()
    for f in forms:
        page, opcode, variant, cls = f["key"]
        leaf = (operands.setdefault(f["operands"], len(operands)), costs.setdefault(f["costs"], len(costs)))
        number = kinds.setdefault(leaf, len(kinds))
        row = table.setdefault((page, opcode), [[0] * 16 for _ in range(16)])
        row[variant][cls] = number
        if f["modrm"]:
            modrm.add((page, opcode))
    for (page, opcode), row in table.items():
        spread(page, row)
    leaves, blocks, pages = [], {}, []
    make_row([[0] * 16 for _ in range(16)], leaves, blocks)
    for page in range(60):
        rows = []
        for opcode in range(256):
            row = table.get((page, opcode))
            first, shape, stride = make_row(row, leaves, blocks) if row else (0, 0, 0)
            rows.append((first, shape | (MODRM if (page, opcode) in modrm else 0), stride))
        pages.append(rows)
    return pages, leaves, list(kinds), list(operands), list(costs)


def spread(page, row):
    """Fills in the variants that an encoding does not have."""
    lengths = 4 if page >= 36 else 1 if page < 24 else 2
    bs = 2 if page >= 36 else 1
    for v in range(16):
        w, l, b = v >> 3, v >> 1 & 3, v & 1
        if l >= lengths or b >= bs:
            row[v] = row[w << 3 | (l & (lengths - 1)) << 1 | (b & (bs - 1))]


def lines_of(items, width=118):
    line = "\t"
    for item in items:
        if len(line) + len(item) > width:
            yield line.rstrip() + "\n"
            line = "\t"
        line += item + " "
    yield line.rstrip() + "\n"


def write(path, parts):
    with open(path, "w") as out:
        out.write("".join(parts))


def write_forms(folder, pages, leaves, kinds, operands):
    distinct = []
    for rows in pages:
        if rows not in distinct:
            distinct.append(rows)
    parts = [LICENCE, "/* costs.inc: the forms of instructions (forms.h).  `make costs` writes it from what Zydis says "
             "about\n * each opcode of the decoder's table; do not edit. */\n"]
    parts.append(f"static const struct form_operands form_operands[{len(operands)}] = {{\n")
    parts += lines_of("{0x%x,0x%x,%d,%d,%d,%d}," % o for o in operands)
    parts.append(f"}};\nstatic const struct form form_list[{len(kinds)}] = {{\n")
    parts += lines_of("{%d,%d}," % k for k in kinds)
    parts.append(f"}};\nstatic const uint16_t form_leaves[{len(leaves)}] = {{\n")
    parts += lines_of("%d," % n for n in leaves)
    parts.append(f"}};\nstatic const struct form_row form_rows[{len(distinct)}][256] = {{\n")
    for rows in distinct:
        parts.append("\t{\n")
        last = max(i for i in range(256) if rows[i] != (0, 0, 0) or i == 0)
        parts += lines_of("{%d,%d,%d}," % r for r in rows[:last + 1])
        parts.append("\t},\n")
    parts.append("};\nstatic const uint8_t form_pages[FORM_PAGES] = {\n")
    parts += lines_of("%d," % distinct.index(rows) for rows in pages)
    parts.append("};\n")
    write(f"{folder}/costs.inc", parts)


def write_model(folder, version, model, index, costs):
    rows = sorted(model.costs, key=model.costs.get)
    first = [model.ports_at(row[4]) for row in rows]
    parts = [LICENCE, f"/* costs_{model.name}.inc: from LLVM {version}, scheduling model of {model.llvm}, with the "
             "corrections of\n * tools/costs/corrections.txt.  `make costs` writes it; do not edit. */\n"]
    parts.append(f"static const struct form_cost {model.name}_costs[{len(rows)}] = {{\n")
    parts += lines_of("{%d,%d,%d,%d,0,%d}," % (r[0], r[1], r[2], r[3], at) for r, at in zip(rows, first))
    parts.append(f"}};\nstatic const struct port_use {model.name}_uses[{len(model.uses)}] = {{\n")
    parts += lines_of("{%d,%d}," % u for u in model.uses)
    parts.append(f"}};\nstatic const uint64_t {model.name}_ports[{len(model.sets)}] = {{\n")
    parts += lines_of("0x%x," % mask for mask in model.sets)
    parts.append(f"}};\nstatic const uint16_t {model.name}_rows[{len(costs)}] = {{\n")
    parts += lines_of("%d," % c[index] for c in costs)
    parts.append("};\n")
    write(f"{folder}/costs_{model.name}.inc", parts)


def main():
    forms_program, llvm_program, corrections, folder = sys.argv[1:]
    forms = read_forms(forms_program)
    fixes, units = read_corrections(corrections)
    version, models = ask(llvm_program, forms, units)
    add_costs(models, forms, fixes)
    pages, leaves, kinds, operands, costs = make_pages(forms)
    write_forms(folder, pages, leaves, kinds, operands)
    for index, model in enumerate(models):
        write_model(folder, version, model, index, costs)
    print(f"costs: {len(kinds)} forms, {len(costs)} rows of costs, {len(operands)} lists of operands, "
          f"{len(leaves)} leaves; " + ", ".join(f"{m.name} {len(m.costs)}" for m in models))


main()
