#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# accesses.sh: an instruction that is reported to the unit by itself lists all of its memory accesses
# (softpmu/accesses.h).
#
# accesses.c has the instructions, and prints what they access.  In build/tests/user/softpmu-accesses the
# engine writes what it reports (accesses-engine.c).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
tool=$B/tests/user/softpmu-accesses
[[ -x $tool ]] || stop "softpmu-accesses" "is not built: run make tests"
compile accesses -O1 -static -fno-pie -no-pie -Wl,--section-start=.cases=0x10000000

# With these periods each load and each store is reported by itself.
run "$SCRATCH/run" "$tool" record -e mem_inst_retired.all_loads:upp -e mem_inst_retired.all_stores:upp -c 1 -d \
	-o "$SCRATCH/perf.data" -- "$BUILT/accesses"
same "exit status" 0 "$status"
native=$("$BUILT/accesses")
while IFS=: read -r at accesses; do
	reported=$(sed -n "s/^$at:/:/p" "$SCRATCH/run.err" | sort -u)
	same "$(addr2line -sfe "$BUILT/accesses" "$(printf %x "$at")" | head -n 1)" ":$accesses" "$reported"
done <"$SCRATCH/run.out"
# The stack is at another address in each run, so only the number of cases is compared.
same "cases" "$(grep -c . <<<"$native")" "$(grep -c . "$SCRATCH/run.out")"
finish
