#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# spinning.sh: a signal ends a program whose threads spin.  Its count is what the loops ran (spinning.c) beside
# what the same program runs whose threads only wait.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile spinning -pthread -static
cd "$SCRATCH" || exit 1

# ended HOW THREADS INSNS SIGNAL WHOM: sets $status, $got, the instructions of the $loops, and $aborts.
ended() {
	local tool pid
	rm -f turns
	timeout -s KILL "$LIMIT" "$SOFTPMU" stat -x, -o counts -e instructions:u -- "$BUILT/spinning" "$1" turns "$2" 2>err &
	tool=$!
	pid=$(timeout "$LIMIT" "$BUILT/spinning" watch turns "$3")
	[[ $5 == tool ]] && read -r pid </proc/$tool/task/$tool/children
	kill -"$4" ${pid:+$pid}
	wait "$tool"
	status=$?
	got=$(sed '/^#/d; /^$/d; s/,.*//' counts)
	read -r loops aborts < <("$BUILT/spinning" sum turns)
}

# as_known THREADS INSNS SIGNAL WHOM: each thread may be anywhere in its loop; an aborted sequence has two more
# instructions, and lacks some.
as_known() {
	local name="$1 threads, SIG$3 to the $4" wait off
	ended wait "$1" 0 "$3" "$4"
	wait=$got
	ended spin "$1" "$2" "$3" "$4"
	same "$name: status" $((128 + $(kill -l "$3"))) "$status"
	off=$((got - loops - wait))
	if ((loops >= $2 && ${off#-} <= 16 * $1 + 8 * aborts)); then
		pass "$name"
	else
		fail "$name" "$got, not about $loops in loops and $wait beside them; $aborts sequences were aborted"
	fi
}
as_known 1 50000000 TERM program
as_known 20 60000000 TERM program
as_known 20 60000000 INT program
as_known 20 60000000 TERM tool
as_known 100 60000000 TERM program
finish
