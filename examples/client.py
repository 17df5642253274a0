#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""client.py: regions of a Python program, without a module to build.

A request to softpmu is one instruction (softpmu/client.h).  This file puts it, with a RET, into
a page of code, and calls it by ctypes.  So the calls of ctypes count in the region, too.

    softpmu stat -e instructions:u python3 client.py

Prints:
    499999500000, alone
"""
import contextlib
import ctypes
import mmap
import platform

REQUEST, START, STOP, MARK, ITERATIONS, RUNNING = 0x4D505300, 1, 2, 3, 4, 5
PAGE = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)


def _request(operation):
    """Returns a function f(name, number) that makes the request and returns RAX."""
    code = b"\x31\xc0\x0f\x1f\x84\x00" + (REQUEST | operation).to_bytes(4, "little") + b"\xc3"
    at = PAGE.tell()
    PAGE.write(code.ljust(16, b"\xcc"))
    address = ctypes.addressof(ctypes.c_char.from_buffer(PAGE, at))
    return ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_char_p, ctypes.c_uint64)(address)


if platform.machine() == "x86_64":
    start, stop, mark, iterations, running = map(_request, (START, STOP, MARK, ITERATIONS, RUNNING))
else:
    start = stop = mark = iterations = running = lambda name, number: 0


@contextlib.contextmanager
def region(name):
    """Counts what runs in the `with` statement."""
    start(name.encode(), 0)
    try:
        yield
    finally:
        stop(name.encode(), 0)


if __name__ == "__main__":
    with region("sum"):
        total = sum(range(1000000))
        iterations(None, 1000000)
    print(f"{total}, {'with softpmu' if running(None, 0) else 'alone'}")
