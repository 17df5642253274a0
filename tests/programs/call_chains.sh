#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# call_chains.sh: `softpmu record -g` at each instruction of a program with recursion, tail calls, exceptions, longjmp and
# contexts. gdb, which steps through the same program, must show the same callers.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need gdb || finish
cd "$SCRATCH" || exit 1
expect "the program" g++ -std=gnu++17 -O2 -fomit-frame-pointer -DTURNS=2 -DROUNDS=1 -DWITHOUT_TASKS -pthread \
	-o program "$ROOT/tests/user/call_chains.cc"

# Functions that go to another stack or frame: gdb looks before an instruction and we look after it, and their tables are wrong for
# a few instructions.
SWITCH='^(__)?(swapcontext|setcontext|start_context|longjmp|_Unwind_RaiseException|_Unwind_Resume)(@@[^ ]*)? '
# compared: the chains on standard input that end at the process's start or at that of a context. While an exception replaces
# frames there are others, which end anywhere on both sides.
compared() {
	grep -vE "$SWITCH" | cut -d' ' -f2- | grep -E "( |^)($outermost)$" | sort -u
}
expect "gdb" gdb -q -batch -x "$ROOT/tests/programs/call_chains.gdb.py" ./program
outermost=$(sed -n 's/^outermost: //p' said)\|$(grep -m 1 '^chain: ' said | cut -d' ' -f4-)
sed -n 's/^chain: //p' said | compared >gdb.chains

expect "record" "$SOFTPMU" record -q -g --toggle main -e inst_retired.prec_dist:upp -c 1 -o perf.data ./program
"$SOFTPMU" script -i perf.data -F ip,sym | awk '
	NF { if (!line) line = $2; line = line " " substr($1, length($1) - 2) }
	!NF { if (line) print line; line = "" }' | compared >chains
same "gdb shows chains" 1 "$(($(wc -l <gdb.chains) > 10000))"
# One may differ: the first instruction of main(), where the events are switched on, or of the function that replaces frames.
comm -3 gdb.chains chains >differ
same "the same chains, but for one" "0 1" "$(($(wc -l <differ) > 1)) $(($(wc -l <chains) > 10000))"
head -n 20 differ
finish
