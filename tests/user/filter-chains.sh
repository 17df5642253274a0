#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# filter-chains.sh: a program has several filters of system calls, and one of them kills; other
# rare cases of filters are in filter-chains.c. Output and status are as in a native run, and
# there is a count.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile filter-chains -pthread
cd "$SCRATCH" || exit 1
ulimit -c 0

# like_native SUBJECT
like_native() {
	run "$SCRATCH/native" "$BUILT/filter-chains" "$1"
	local native=$status
	run "$SCRATCH/soft" "$SOFTPMU" stat -j -o "$SCRATCH/json" -e instructions:u -- "$BUILT/filter-chains" "$1"
	same "$1: status" "$native" "$status"
	same "$1: output" "$(<"$SCRATCH/native.out")" "$(<"$SCRATCH/soft.out")"
	if [[ $(count_of "$SCRATCH/json" 1) =~ ^[1-9][0-9]*$ ]]; then
		pass "$1: counted"
	else
		fail "$1: counted" "$(tail -n 1 "$SCRATCH/soft.err")"
	fi
}

if ! "$BUILT/filter-chains" unreadable >"$SCRATCH/said"; then
	not_run "filters" "the kernel has none"
	finish
fi
{
	for subject in pairs computes in-threads synchronized shared apart executes executes-long restarts unreadable; do
		like_native "$subject"
	done
	if [[ $("$BUILT/filter-chains" by-int80) == *"end 64"* ]]; then
		like_native by-int80
	else
		not_run "by INT 80H" "the kernel has no 32-bit system calls"
	fi
} 2>/dev/null # what the shell says about signals
same "the natively gravest of all pairs kill" 37 "$("$BUILT/filter-chains" pairs | grep -c '^end -31')"
finish
