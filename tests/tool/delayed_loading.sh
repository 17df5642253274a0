#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# delayed_loading.sh: only the commands that need the libraries of delayed_loading.c load them.  Without the
# libraries programs can be counted, and other commands say what is missing.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

names=$(grep -aoE 'lib(elf|dw|Zydis)\.so\.[0-9.]+' "$SOFTPMU" | sort -u)
same "libraries" 3 "$(wc -l <<<"$names")"
mkdir broken
for name in $names; do
	: >"broken/$name"
done
run record -e instructions:u -c 1000 -o profile -- /bin/true
same "record: status" 0 "$status"
run report -i profile
succeeds "report"

export LD_LIBRARY_PATH=$SCRATCH/broken
run stat -x, -e instructions:u -- /bin/true
same "stat without the libraries: status" 0 "$status"
has_line "count without the libraries" "$err" '[0-9]+,,instructions:u,.*'
for command in "record -o lost" "trace --summary -o lost"; do # whose results need them: before the program runs
	# shellcheck disable=SC2086 # words
	run $command -- sh -c 'echo >ran'
	refuses "$command without the libraries" 125 "$SCRATCH/broken/lib"
	same "$command without the libraries: files" "" "$(compgen -G ran; compgen -G 'lost*')"
done
run report -i profile
refuses "report without the libraries" 125 "$SCRATCH/broken/lib"
finish
