#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# processes.sh: system calls that start processes and programs (processes.c) refuse and do the same as
# natively. The tool reports processes whose counts are missing.
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

# The kernel reads 256 bytes of a script, and refuses a name that may go on after them. Then the shell runs the script.
mkdir lines && cd lines || exit 1
for bytes in 254 255 256 257; do
	name=./$(printf "%0$((bytes - 4))d" 0)
	ln -s /bin/echo "$name"
	printf '#!%s' "$name" >"$bytes"
	printf '#!%s\necho shell' "$name" >"$bytes-line"
	printf '#! %s\necho shell' "${name%0}" >"$bytes-blank"
	printf '#!%s \necho shell' "$name" >"$bytes-end"
	printf '#!%s f\necho shell' "$name" >"$bytes-word"
	printf '#!%s f\necho shell' "${name%00}" >"$bytes-shorter"
	ln -s /bin/echo "${name%0}"
	ln -s /bin/echo "${name%00}"
done 2>/dev/null
chmod +x 2*
like_native "scripts with long lines" sh -c 'for script in 2*; do ./$script; done'
for script in 2*; do
	native=$("./$script")
	run soft "$SOFTPMU" stat -o stat -e instructions:u -- "./$script"
	case $native in
	"" | shell) same "script $script: refused" 126 "$status" ;;
	*) same "script $script" "0 $native" "$status $(<soft.out)" ;;
	esac
done
cd .. || exit 1

# Limits are the program's. With PREFIX they also apply to softpmu.
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

# A child that cannot be followed runs natively, and the tool names it.
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

# So does a file that may be executed, but not read.  Root may read each file.
mkdir -m 777 open
cp /bin/true open/secret && chmod 111 open/secret && chmod 755 .
user=()
if [[ $(id -u) == 0 ]]; then
	user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
fi
cd open || exit 1
if "${user[@]}" sh -c './secret && test ! -r secret && test -x "$0"' "$SOFTPMU" 2>said; then
	run soft "${user[@]}" "$SOFTPMU" stat -x, -o alone.stat -e instructions:u -- sh -c 'true; exit 7'
	run soft "${user[@]}" "$SOFTPMU" stat -x, -o stat -e instructions:u -- sh -c './secret; ./secret && exit 7'
	same "unreadable child: status" 7 "$status"
	same "unreadable child: told" "softpmu: 2 programs ran natively and were not counted, the first: ./secret (the file cannot be read)" "$(<soft.err)"
	least=$(grep -o '^[0-9]*' alone.stat)
	expect "unreadable child: the others are counted" test "$(grep -o '^[0-9]*' stat)" -gt "${least:-0}"
	run soft "${user[@]}" "$SOFTPMU" stat --strict -o stat -e instructions:u -- sh -c './secret; echo on'
	same "unreadable child: --strict" "125 1" "$status $(grep -c 'cannot be counted (--strict)' soft.err)"
else
	not_run "unreadable child" "no other user can run softpmu here"
fi
cd .. || exit 1

# Parents end before their children begin. The tool still reports that the last child is missing.
# told DEPTH: prints in how many of 20 runs.
told() {
	local told=0 i
	: >lives
	for ((i = 0; i < 20; i++)); do
		run soft "$SOFTPMU" stat -o stat -e instructions:u -- "$BUILT/processes" leaves "$SCRATCH/lives" "$1"
		grep -q "^softpmu: [1-$1] process\(es\)\? still ran .* missing$" soft.err && told=$((told + 1))
	done
	rm lives
	echo $told
}
same "a child of a process that ends at once is missed" 20 "$(told 1)"
same "the last of eight such children is missed" 20 "$(told 8)"
finish
