#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh SOFTPMU FOLDER: shows in a minute what softpmu does. It counts a program of Debian, samples a small
# program whose hot spots are known, and shows the profile. Each command is printed above its
# output. Fails if one of them fails.
set -eu -o pipefail
softpmu=$(realpath "$1")
demo=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
cd "$2"

# show LINES COMMAND: runs the command line and shows the first lines of its output.
show() {
	local lines=$1 status=0
	shift
	printf '\n$ %s\n' "$*"
	eval "$*" >out.txt 2>&1 || status=$?
	head -n "$lines" out.txt
	if (("$(wc -l <out.txt)" > lines)); then
		echo "  ..."
	fi
	if ((status)); then
		echo "demo: status $status" >&2
		exit 1
	fi
}

softpmu() {
	command "$softpmu" "$@"
}

seq 1 400000 >numbers
gcc -O1 -g -o hot "$demo/hot.c"

echo "== Counting: what xz of Debian executes on a Skylake unit, where there is no PMU"
show 30 'softpmu stat -e instructions:u,branches:u,mem_inst_retired.all_loads:u -- xz -1 -k -c numbers >numbers.xz'

echo
echo "== Sampling by PEBS, every 100003 instructions.  hot.c has functions of 60, 30 and 10 %"
show 10 softpmu record -e instructions:uppp -c 100002 -o hot.data -- ./hot
show 20 softpmu report -i hot.data
show 32 softpmu annotate -i hot.data sixty_percent

echo
echo "== The same with a program of Debian: which functions of perl a small script keeps busy"
show 10 softpmu record -e instructions:uppp -c 100002 -o perl.data -- \
	perl -ne "'\$sum{length()} += \$_; END { print qq(\$sum{7}\n) }'" numbers
show 16 softpmu report -i perl.data

if perf --version >/dev/null 2>&1; then
	echo
	echo "== perf reads the same file"
	show 24 perf report --stdio -i hot.data
fi
