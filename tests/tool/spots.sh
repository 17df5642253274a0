#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# spots.sh: record, report and annotate on a program whose hot spots are known (spots.S).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
"$CC" -g -nostdlib -static -no-pie -Wl,--build-id=sha1 -o spots "$ROOT/tests/tool/spots.S" ||
	stop "build of spots" "$CC failed"

# share PATTERN: prints the percentage, without decimals, of the line that ends with it.
share() {
	sed -nE "s/^ +([0-9]+)\.[0-9]+%.*$1\$/\1/p" <<<"$out"
}
# between NAME LOW HIGH VALUE: VALUE is at least LOW and at most HIGH.
between() {
	if [[ $4 =~ ^[0-9]+$ ]] && (($2 <= $4 && $4 <= $3)); then
		pass "$1"
	else
		fail "$1" "'$4' is not from $2 to $3"
	fi
}

run record -q -e instructions:upp -c 1009 -o instructions.data ./spots
same "record" 0 "$status"
run report -i instructions.data
succeeds "report"
# Of the 4008 instructions of a round, 3002, 1002 and 4 are in the three functions.
between "three" 73 76 "$(share '\[\.\] three')"
between "one" 23 26 "$(share '\[\.\] one')"
same "the hottest comes first" "three" "$(awk '/%/ { print $NF; exit }' <<<"$out")"

# Except for the calls, the returns and the outer loop, all taken branches are one of two jne: precise samples
# are at the jump itself.
run record -q -e BR_INST_RETIRED.NEAR_TAKEN:upp -c 101 -o branches.data ./spots
same "record branches" 0 "$status"
run annotate -i branches.data three
succeeds "annotate"
jump=$(awk '/^ +[0-9.]+ :/ && / jne / { print $1 }' <<<"$out")
between "samples stand on the jump" 99 100 "${jump%.*}"
others=$(awk '/^ +[0-9.]+ :/ && !/ jne | ret/ && $1 != "0.00"' <<<"$out")
same "and on no other instruction" "" "$others"

# perf shows the same functions with the same shares.
export HOME=$SCRATCH
run report -n -i instructions.data
same "perf says the same" \
	"$(perf report --stdio -n -i instructions.data 2>/dev/null | grep -E '^ +[0-9.]+%' | sed -E 's/^ +//; s/ +/ /g; s/ $//')" \
	"$(grep -E '^ +[0-9.]+%' <<<"$out" | sed -E 's/^ +//; s/ +/ /g; s/ $//')"
finish
