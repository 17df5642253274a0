#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shares.sh: processes that share the program's memory without being threads (CLONE_VM without
# CLONE_THREAD) behave as natively (shares.c), and are counted. Leak checkers
# of sanitizers trace the program's threads from such a process. They find the leaks (leak.c),
# and nothing else.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile shares -pthread
cd "$SCRATCH" || exit 1

# like_native MODE [WARNING]: softpmu itself prints one line with WARNING, or nothing.
like_native() {
	local mode=$1 warning=${2:-} native options
	run native "$BUILT/shares" "$mode"
	native=$status
	for ((i = 0; i < 1000; i++)); do
		[[ ! -s native.out ]] || break
		sleep 0.01 # a process that outlives the first one
	done
	[[ -s native.out ]] || fail "$mode" "the native run printed nothing"
	for options in "stat -o stat" "record -q -c 10007 -o perf.data" "record -q -b -c 10007 -o perf.data"; do
		# shellcheck disable=SC2086
		run soft "$SOFTPMU" $options -e instructions:u -- "$BUILT/shares" "$mode"
		for ((i = 0; i < 1000 && $(wc -l <soft.out) < $(wc -l <native.out); i++)); do
			sleep 0.01
		done
		if ((status != native)); then
			fail "$mode: $options" "status $status, natively $native: $(head -n 2 soft.err)"
		elif ! cmp -s native.out soft.out; then
			fail "$mode: $options" "$(diff native.out soft.out | head -n 4)"
		elif grep -qv "${warning:-^$}" soft.err; then
			fail "$mode: $options" "$(head -n 2 soft.err)"
		else
			pass "$mode: $options"
		fi
	done
}
like_native many
like_native others
like_native killed "24 processes .* missing$"
like_native tracing
like_native first "missing$"

# counted N OPTIONS...: prints the count of a program whose child runs a loop of two instructions N times.
counted() {
	run count "$SOFTPMU" stat -x, -e instructions:u -o count.stat "${@:2}" -- "$BUILT/shares" counted "$1"
	((status)) && fail "counted $1" "status $status: $(head -n 1 count.err)"
	sed -n '/instructions/{s/,.*//p;q;}' count.stat
}
# The C library's own count depends on the stack's address, by a few dozen.
difference() {
	echo $((($(counted 2000000 "$@") - $(counted 1000000 "$@") + 500) / 1000 * 1000))
}
same "the child's instructions" 2000000 "$(difference)"
same "the child's instructions with --no-inherit" 0 "$(difference --no-inherit)"

# leaks COMPILER SANITIZER
leaks() {
	local name="leaks: $1 -fsanitize=$2" built=$BUILT/leak-$1-$2 mode
	if ! "$1" -g -O1 -fsanitize="$2" -o "$built" "$ROOT/tests/user/leak.c" -pthread 2>said; then
		not_run "$name" "$(head -n 1 said)"
		return
	fi
	for mode in "" lose; do
		# shellcheck disable=SC2086
		run native "$built" $mode
		# shellcheck disable=SC2086
		run soft "$SOFTPMU" stat -e instructions:u -o stat -- "$built" $mode
		same "$name ${mode:-lose nothing}: summary" "$(grep ^SUMMARY native.err)" "$(grep ^SUMMARY soft.err)"
		same "$name ${mode:-lose nothing}: status" "$(grep -c ^SUMMARY native.err)" $((status != 0))
	done
	same "$name: what is lost" 1311 "$(sed -n 's/^SUMMARY: [A-Za-z]*: \([0-9]*\) byte(s) leaked.*/\1/p' soft.err)"
}
for compiler in gcc clang; do
	if have $compiler; then
		leaks $compiler address
		leaks $compiler leak
	else
		not_run "leaks: $compiler" "no $compiler"
	fi
done
finish
