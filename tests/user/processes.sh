#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# processes.sh: what the calls that start processes and programs refuse and do (processes.c), as
# natively, and what is said of processes whose counts are not there.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile processes
cd "$SCRATCH" || exit 1

# like_native NAME COMMAND...
like_native() {
	local name=$1 native
	shift
	run native "$@"
	native=$status
	[[ -s native.out ]] || fail "$name" "the native run printed nothing"
	run soft "$SOFTPMU" stat -o stat -e instructions:u -- "$@"
	same "$name: status" "$native" "$status"
	same "$name: output" "$(<native.out)" "$(<soft.out)"
	same "$name: messages" "$(<native.err)" "$(<soft.err)"
}
like_native "clone3" "$BUILT/processes" clone3

# The parent ends before its child begins: the child is missed all the same.
told=0
: >lives
for ((i = 0; i < 20; i++)); do
	run soft "$SOFTPMU" stat -o stat -e instructions:u -- "$BUILT/processes" leaves "$SCRATCH/lives"
	grep -q "^softpmu: 1 process still ran .* missing$" soft.err && told=$((told + 1))
done
rm lives
same "children of processes that end at once are missed" 20 $told
finish
