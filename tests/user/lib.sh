# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# shellcheck disable=SC2034
# lib.sh: what the scripts of tests/user and tests/programs share.
#
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
ASSEMBLER=${ASSEMBLER:-gcc} # the assembly programs are in the dialect of GNU as
LIMIT=${LIMIT:-120}	    # seconds for one program
BUILT=$B/tests/programs-built/$(basename "$0" .sh)
export BUILT
mkdir -p "$BUILT"

# compile NAME FLAGS...: build tests/user/NAME.c into $BUILT/NAME.
compile() {
	local name=$1
	shift
	"$CC" -std=gnu11 -O2 -g -Wall -Wextra -Werror -I"$ROOT/include" -I"$ROOT/tests/user" \
		-o "$BUILT/$name" "$ROOT/tests/user/$name.c" "$@" ||
		stop "build of $name" "$CC failed"
}

# run OUTPUT-PREFIX COMMAND...: writes the streams to PREFIX.out and PREFIX.err, and the exit status to $status.
# A command that hangs is killed and has status 137.
run() {
	local to=$1
	shift
	timeout -s KILL "$LIMIT" "$@" >"$to.out" 2>"$to.err"
	status=$?
}

# count_of FILE N: prints the value of the N-th event of a `stat -j` output, or the word that it has
# instead of a number.
count_of() {
	sed -n 's/.*"counter-value" *: *"\{0,1\}\([^",}]*\)"\{0,1\}.*/\1/p' "$1" |
		sed -n "$2"'{s/\.0*$//;p;}'
}

# near NAME PERMILLE EXPECTED NUMBER: the number is at most so many thousandths away.
near() {
	local off=$(($4 > $3 ? $4 - $3 : $3 - $4))
	if ((off * 1000 <= $3 * $2)); then
		pass "$1"
	else
		fail "$1" "$4 is too far from $3"
	fi
}

# Clocks of a turn on Skylake of loops in machine-clocks.c: two multiplications of three clocks; four on one port; seven NOPs
# and a jump at four in a clock; a load that gets the data of a store.
LOOPS="CHAIN:6 PORT:4 WIDTH:2 FORWARD:4"

# build_loop SUBJECT TURNS: builds $BUILT/SUBJECT-TURNS.
build_loop() {
	compile machine-clocks -O1 -static -nostdlib -fno-pie -fno-stack-protector -fcf-protection=none \
		-DSUBJECT="$1" -DTURNS="$2"
	mv "$BUILT/machine-clocks" "$BUILT/$1-$2"
}

build_loops() {
	local loop turns
	for loop in $LOOPS; do
		for turns in 1000 11000; do
			build_loop "${loop%:*}" $turns
		done
	done
}

# clocks_of_loops COMMAND...: prints for each loop its name, the clocks of 10000 turns, and those by the counts that the command
# prints for a program.
clocks_of_loops() {
	local loop few many
	for loop in $LOOPS; do
		few=$("$@" "$BUILT/${loop%:*}-1000")
		many=$("$@" "$BUILT/${loop%:*}-11000")
		echo "${loop%:*} $((${loop#*:} * 10000)) $((many - few))"
	done
}

has_feature() {
	grep -qw "$1" <(sed -n '/^flags/{p;q;}' /proc/cpuinfo)
}

have() {
	command -v "$1" >/dev/null
}
