#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# processes.sh: what the calls that start processes and programs refuse and do (processes.c), as
# natively, and what is said of processes whose counts are not there.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2016,SC2154
. "$(dirname "$0")/lib.sh"
compile processes
cd "$SCRATCH" || exit 1

PREFIX=()
# like_native NAME COMMAND...
like_native() {
	local name=$1 native
	shift
	run native "${PREFIX[@]}" "$@"
	native=$status
	[[ -s native.out ]] || fail "$name" "the native run printed nothing"
	run soft "${PREFIX[@]}" "$SOFTPMU" stat -o stat -e instructions:u -- "$@"
	same "$name: status" "$native" "$status"
	same "$name: output" "$(<native.out)" "$(<soft.out)"
	same "$name: messages" "$(<native.err)" "$(<soft.err)"
}
like_native "clone3" "$BUILT/processes" clone3

printf '#!/bin/sh\necho "script $*"\n' >script
printf '#!%s/fifo\n' "$SCRATCH" >script-fifo
chmod +x script script-fifo
: >plain
mkfifo fifo && chmod +x fifo
ln -s script link
ln -s loop loop
ln -s /bin/true true
like_native "execveat" "$BUILT/processes" exec

# Limits are the program's; with PREFIX for softpmu, too.
printf '#!/bin/sh\nulimit -S "$1" "$2" || exit 99\nshift 2\nexec "$@"\n' >limited
chmod +x limited
like_native "few descriptors" sh -c 'ulimit -n 8; /bin/echo one; sh -c "/bin/echo two; exec /bin/echo three"'
PREFIX=(./limited -n 10)
like_native "few descriptors from the beginning" sh -c '/bin/echo one; exec /bin/echo two'
PREFIX=(./limited -f 1)
like_native "small files" sh -c '/bin/echo one; head -c 3000 /dev/zero >large; echo $?; exec wc -l </proc/self/limits'
PREFIX=()
like_native "no files" sh -c '(ulimit -f 0; /bin/echo one; exec /bin/echo two) | cat'
: >empty
run soft "$SOFTPMU" stat -o stat -e instructions:u -- sh -c 'ulimit -n 5; exec /bin/echo one 3<empty'
same "too few descriptors: output" one "$(<soft.out)"
same "too few descriptors: told" "softpmu: a program ran natively and was not counted: /bin/echo (too few descriptors are free)" "$(<soft.err)"

# A child that cannot be followed runs natively, and is named.
cat >small.S <<'S'
	.globl _start
_start:
	movl $1, %eax	/* exit in the table of 32-bit calls */
	movl $7, %ebx
	int $0x80
S
if "$ASSEMBLER" -m32 -nostdlib -static -o small small.S 2>said && { ./small; (($? == 7)); }; then
	count='s/,.*instructions.*//p'
	run alone "$SOFTPMU" stat -x, -o alone.stat -e instructions:u -- sh -c 'true; exit 7'
	run soft "$SOFTPMU" stat -x, -o stat -e instructions:u -- sh -c './small; exit $?'
	same "32-bit child: status" 7 "$status"
	same "32-bit child: told" "softpmu: a program ran natively and was not counted: ./small (a 32-bit program)" "$(<soft.err)"
	least=$(sed -n "$count" alone.stat)
	expect "32-bit child: the others are counted" test "$(sed -n "$count" stat)" -gt "$least"
	run soft "$SOFTPMU" record -q -o perf.data -e instructions:u -- sh -c './small; ./small; exec ./small'
	same "32-bit children: status" 7 "$status"
	same "32-bit children: told" "softpmu: 3 programs ran natively and were not counted, the first: ./small (a 32-bit program)" "$(<soft.err)"
	for command in stat record; do
		run soft "$SOFTPMU" $command --strict -o out -e instructions:u -- sh -c './small; echo on'
		same "$command --strict: status" 125 "$status"
		same "$command --strict: told" 1 "$(grep -c 'cannot be counted (--strict)' soft.err)"
	done
	run soft "$SOFTPMU" stat -i --strict -o out -e instructions:u -- sh -c './small; exit $?'
	same "--no-inherit: nothing is told" "7 " "$status $(<soft.err)"
else
	not_run "32-bit child" "there are no 32-bit programs here"
fi

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
