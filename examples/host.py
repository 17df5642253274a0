#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host.py: a host in Python, as an example for languages that call the library through FFI.

It declares the structures that it fills in, and sets their sizes. It reports the instructions of an
invented program. Counters count its instructions and loads, and the 1000th load causes an
interrupt.

    LD_LIBRARY_PATH=build python3 examples/host.py

Prints:
    softpmu 0.1.0, skylake: 8 counters
    an interrupt after 3997 instructions and 1000 loads
    PMC0 = 500 loads after it
"""
import ctypes as c
import sys

# Bits of sets of signals, and access kinds: signals.h, accesses.h.
INSTRUCTIONS, LOADS = 1 << 0, 1 << 9
ACCESS_LOAD = 1
DONE, OK = 0, 0


class TallySet(c.Structure):
    _fields_ = [("word", c.c_uint64 * 8)]


class Supply(c.Structure):
    _fields_ = [
        ("exact", c.c_uint64),
        ("modelled", c.c_uint64),
        ("accesses", c.c_uint32),
        ("reserved", c.c_uint32),
        ("exact_tallies", TallySet),
        ("modelled_tallies", TallySet),
    ]


class Pmi(c.Structure):
    _fields_ = [("delivery", c.c_int), ("vector", c.c_uint8)]


READ = c.CFUNCTYPE(c.c_bool, c.c_void_p, c.c_uint, c.c_uint64, c.c_void_p, c.c_size_t)
PMI = c.CFUNCTYPE(None, c.c_void_p, c.c_uint, Pmi)
TSC = c.CFUNCTYPE(c.c_uint64, c.c_void_p, c.c_uint)
REGISTERS = c.CFUNCTYPE(None, c.c_void_p, c.c_uint, c.c_void_p)


class Host(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("opaque", c.c_void_p),
        ("read", READ),
        ("write", READ),
        ("pmi", PMI),
        ("tsc", TSC),
        ("registers", REGISTERS),
        ("vectors", c.c_void_p),
        ("pin", c.c_void_p),
        ("supply", Supply),
    ]


class Config(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("model", c.c_void_p),
        ("threads", c.c_uint),
        ("hide_absent", c.c_bool),
        ("meters", c.c_void_p * 2),
        ("errata", c.c_uint64),
    ]


class Meter(c.Structure):
    _fields_ = [
        ("headroom", c.c_int64),
        ("signals", c.c_uint64),
        ("rings", c.c_uint32),
        ("silent", c.c_uint32),
        ("tallies", c.c_void_p),
    ]


class Meters(c.Structure):
    _fields_ = [
        ("epoch", c.c_uint32),
        ("count", c.c_uint32),
        ("meter", Meter * 32),
        ("tap", c.c_uint64 * 4),
        ("accesses", c.c_uint32 * 4),
    ]


class MemoryAccess(c.Structure):
    _fields_ = [
        ("linear", c.c_uint64),
        ("bytes", c.c_uint16),
        ("kind", c.c_uint16),
        ("repeats", c.c_uint32),
    ]


class Insn(c.Structure):
    _fields_ = [
        ("ip", c.c_uint64),
        ("next_ip", c.c_uint64),
        ("signals", c.c_uint64),
        ("accesses", c.POINTER(MemoryAccess)),
        ("tallies", c.c_void_p),
        ("cycles", c.c_uint32),
        ("latency", c.c_uint32),
        ("access_count", c.c_uint16),
        ("tally_count", c.c_uint16),
        ("cpl", c.c_uint8),
        ("next_cpl", c.c_uint8),
        ("data_source", c.c_uint8),
        ("reserved", c.c_uint8),
    ]


class ModelInfo(c.Structure):
    """The beginning of struct spmu_model_info: the library fills in no more than `size`."""

    _fields_ = [
        ("size", c.c_size_t),
        ("name", c.c_char_p),
        ("title", c.c_char_p),
        ("section", c.c_char_p),
        ("pfm", c.c_char_p),
        ("signature", c.c_uint32),
        ("perfmon_version", c.c_uint8),
        ("counters_ht", c.c_uint8),
        ("counters_single", c.c_uint8),
    ]


def load():
    lib = c.CDLL("libsoftpmu.so.0")
    lib.spmu_version.restype = c.c_char_p
    lib.spmu_model_find.restype = c.c_void_p
    lib.spmu_model_get_info.argtypes = [c.c_void_p, c.POINTER(ModelInfo)]
    lib.spmu_core_bytes.restype = c.c_size_t
    lib.spmu_core_create.argtypes = [
        c.c_void_p,
        c.c_size_t,
        c.POINTER(Config),
        c.POINTER(Host),
        c.POINTER(c.c_void_p),
    ]
    lib.spmu_write_lvt.argtypes = [c.c_void_p, c.c_uint, c.c_uint32]
    lib.spmu_write_msr.argtypes = [c.c_void_p, c.c_uint, c.c_uint32, c.c_uint64]
    lib.spmu_read_msr.argtypes = [c.c_void_p, c.c_uint, c.c_uint32, c.POINTER(c.c_uint64)]
    lib.spmu_retire.argtypes = [c.c_void_p, c.c_uint, c.POINTER(Insn)]
    return lib


class Program:
    """Every fourth instruction is a load."""

    def __init__(self):
        self.instructions = self.loads = 0
        self.told = None

    def run(self, lib, core, loads):
        access = MemoryAccess(linear=0x10000, bytes=8, kind=ACCESS_LOAD)
        insn = Insn(ip=0x401000, next_ip=0x401004, accesses=c.pointer(access), cycles=1, cpl=3)
        while self.loads < loads:
            load_now = self.instructions % 4 == 0
            self.instructions += 1
            self.loads += load_now
            insn.signals = INSTRUCTIONS | (LOADS if load_now else 0)
            insn.access_count = 1 if load_now else 0
            lib.spmu_retire(core, 0, insn)

    def interrupt(self):
        self.told = (self.instructions, self.loads)


def sizes():
    for kind in (Host, Config, Supply, Meters, MemoryAccess, Insn):
        print(c.sizeof(kind))


def main():
    lib, program = load(), Program()
    model = lib.spmu_model_find(b"skylake")
    info = ModelInfo(size=c.sizeof(ModelInfo))
    if lib.spmu_model_get_info(model, info) != OK:
        return 1
    print(f"softpmu {lib.spmu_version().decode()}, {info.name.decode()}: {info.counters_single} counters")

    refuse = READ(lambda *_: False)
    host = Host(
        size=c.sizeof(Host),
        read=refuse,
        write=refuse,
        pmi=PMI(lambda *_: program.interrupt()),
        tsc=TSC(lambda *_: 0),
        registers=REGISTERS(lambda *_: None),
        supply=Supply(exact=INSTRUCTIONS | LOADS),
    )
    meters = Meters()
    config = Config(size=c.sizeof(Config), model=model, threads=1)
    config.meters[0] = c.addressof(meters)
    # A core is aligned to 64 bytes.
    memory = c.create_string_buffer(lib.spmu_core_bytes() + 64)
    start = (c.addressof(memory) + 63) & ~63
    core = c.c_void_p()
    if lib.spmu_core_create(start, lib.spmu_core_bytes(), config, host, core) != OK:
        return 1

    # PMC0: MEM_INST_RETIRED.ALL_LOADS in user mode, an interrupt at the 1000th.
    lib.spmu_write_lvt(core, 0, 0xEE)
    for msr, value in ((0x4C1, (1 << 48) - 1000), (0x186, 0x5181D0), (0x38F, 1)):
        if lib.spmu_write_msr(core, 0, msr, value) != DONE:
            return 1
    program.run(lib, core, 1500)
    value = c.c_uint64()
    if not program.told or lib.spmu_read_msr(core, 0, 0xC1, value) != DONE:
        return 1
    print("an interrupt after {} instructions and {} loads".format(*program.told))
    print(f"PMC0 = {value.value} loads after it")
    return 0


if __name__ == "__main__":
    sys.exit(sizes() if sys.argv[1:] == ["--sizes"] else main())
