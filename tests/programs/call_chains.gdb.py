# SPDX-License-Identifier: MIT
# call_chains.gdb.py: runs in gdb. Steps through main(), and prints a line for each instruction: its function, its address, and
# an address in the call of each caller. Of an address only the offset in its page is printed, because files are mapped elsewhere
# in each run.
import gdb


def chain(frame):
    """Frames that have no memory on the stack are left out, and the caller of a context, which does not exist."""
    addresses = []
    while frame is not None:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            in_call = frame.pc() - 2 if addresses else frame.pc()
            addresses.append("%03x" % (in_call & 0xFFF))
        if frame.pc() == start_context:
            break
        frame = frame.older()
    return " ".join(addresses)


for command in ("set confirm off", "set debuginfod enabled off", "set backtrace past-main on", "break *main", "run", "delete"):
    gdb.execute(command, to_string=True)
start_context = int(gdb.parse_and_eval("(long)&__start_context"))
print("\noutermost: %03x" % ((start_context - 2) & 0xFFF))
end = gdb.newest_frame().older().pc()
while gdb.newest_frame().pc() != end:
    print("\nchain:", str(gdb.newest_frame().name()).replace(" ", ""), chain(gdb.newest_frame()), flush=True)
    gdb.execute("stepi", to_string=True)
