#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# callgrind.sh: an exact profile has the costs that valgrind's callgrind finds, function by function and call by call, and
# callgrind_annotate reads it.
#
# Not compared: functions that run otherwise under valgrind, because they depend on the processor.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need valgrind || finish
need callgrind_annotate || finish
expect "the program" "$CC" -O2 -g -o "$SCRATCH/program" "$ROOT/tests/programs/callgrind.c"

functions="next|fill|less|greater|sort|slot|insert_all|multiply_by|factorial|matrix|ackermann|machine|jumps|all|main"
# costs FILE: the lines in which both functions are the program's own. A compiler may add ".constprop.0" to a name.
costs() {
	local name="($functions)(\\.[a-z]+\\.[0-9]+)*"
	awk -v object=/program -f "$ROOT/tests/programs/callgrind.awk" "$1" |
		grep -E "^$name( -> $name)?( [0-9]+)+\$" | sort
}

expect "valgrind" valgrind -q --tool=callgrind --skip-plt=no --compress-strings=no --compress-pos=no \
	--callgrind-out-file="$SCRATCH/valgrind.out" "$SCRATCH/program"
expect "profile" "$SOFTPMU" profile -o "$SCRATCH/profile.data" -- "$SCRATCH/program"
expect "export" "$SOFTPMU" export --to callgrind -e instructions:u -i "$SCRATCH/profile.data" "$SCRATCH/softpmu.out"
costs "$SCRATCH/valgrind.out" >"$SCRATCH/expected"
costs "$SCRATCH/softpmu.out" >"$SCRATCH/actual"
same "functions and calls are compared" yes "$([[ $(wc -l <"$SCRATCH/actual") -ge 28 ]] && echo yes)"
expect "costs of functions and calls" diff "$SCRATCH/expected" "$SCRATCH/actual"

callgrind_annotate --inclusive=yes "$SCRATCH/softpmu.out" >"$SCRATCH/annotated" 2>&1
same "callgrind_annotate has the total" "$(sed -n 's/^summary: //p' "$SCRATCH/softpmu.out")" \
	"$(sed -n 's/ (.*PROGRAM TOTALS$//p' "$SCRATCH/annotated" | tr -d ', ')"
same "callgrind_annotate has a cost with what was called" \
	"$(awk '/^all -> sort / { print $5 }' "$SCRATCH/actual")" \
	"$(callgrind_annotate --tree=calling "$SCRATCH/softpmu.out" | sed -n 's/^ *\([0-9,]*\) .*>.*:sort (5x).*/\1/p' | tr -d , | head -n 1)"
finish
