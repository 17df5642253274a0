#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# trace.sh: `softpmu trace` on known branches (Vol. 3B 17.4.5, 17.4.9).  A player takes the engine's place and
# sends the branches of a description.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/player.bash"
cd "$SCRATCH" || exit 1

# main calls work three times (work calls leaf twice, then jumps to last), calls leaf through a linkage stub
# once, and calls leaf itself.  One call never returns.
cat >calls.S <<'END'
	.globl main, work, leaf, last, lost
	.type main, @function
	.type work, @function
	.type leaf, @function
	.type last, @function
	.type lost, @function
main:	call work
	call work
	call leaf
	call lost
	ret
	.size main, . - main
work:	jz 1f
1:	call leaf
	call leaf
	jmp last
	.size work, . - work
leaf:	ret
	.size leaf, . - leaf
last:	ret
	.size last, . - last
lost:	call leaf
	ret
	.size lost, . - lost
END
"$CC" -nostdlib -static -no-pie -Wl,-e,main -o calls calls.S || stop "build of calls" "$CC failed"
at() { address calls "$1"; }
# The addresses after the calls, which have five bytes.
after() { echo $(($(at "$1") + $2)); }
main=$(at main) work=$(at work) leaf=$(at leaf) last=$(at last) lost=$(at lost)
leaf_of_work="$((work + 2)):$leaf $leaf:$(after work 7) $(after work 7):$leaf $leaf:$(after work 12)"
work_body="$work:$((work + 2)) $leaf_of_work $(after work 12):$last"
branches="$main:$work $work_body $last:$(after main 5) $(after main 5):$work $work_body $last:$(after main 10) \
$(after main 10):$leaf $leaf:$(after main 15) $(after main 15):$lost $lost:$leaf"
{
	echo "comm calls"
	play_map "$SCRATCH/calls" 0
	echo "trace $branches"
	echo "exit 7"
} >calls.txt

# tree: prints the last run's lines without their times.
tree() {
	grep -v '^#' <<<"$err" | sed -E 's/^ *[0-9]+\.[0-9]{3}  //'
}
play calls.txt trace
same "status" 7 "$status"
same "standard output is the program's" "" "$out"
same "tree" "work
  leaf  (2 times)
last
work
  leaf  (2 times)
last
leaf
lost
  leaf" "$(tree)"
play calls.txt trace --depth 1
same "depth" "work
last
work
last
leaf
lost" "$(tree)"
play calls.txt trace -F work
same "one function" "work
  leaf  (2 times)
last
work
  leaf  (2 times)
last" "$(tree)"
play calls.txt trace -F 'le*'
same "a pattern" "leaf  (4 times)
leaf
leaf" "$(tree)"
play calls.txt trace -F lost -F last --depth 1
same "two functions" "last  (2 times)
lost" "$(tree)"
play calls.txt trace --list -o list
same "list: status" 7 "$status"
same "list: nothing else is said" "" "$err"
same "list: all branches" "$(wc -w <<<"$branches")" "$(wc -l <list)"
same "list: the addresses" "$(tr ' ' '\n' <<<"$branches" | while IFS=: read -r from to; do printf '%#x %#x\n' "$from" "$to"; done)" \
	"$(awk '{ print $1, $4 }' list)"
same "list: names" "main -> work;work -> work+0x2;work+0x2 -> leaf" \
	"$(head -n 3 list | awk '{ print $2, $3, $5 }' | paste -sd';')"
play calls.txt trace --list -F last
same "list of one function" 4 "$(grep -c . <<<"$err")"

# sums NAME...: prints calls and branches of the functions in the last summary.
sums() {
	local name
	for name; do
		awk -v name="$name" '$3 == name { print name, $1, $2 }' <<<"$err"
	done
}
play calls.txt trace --summary
same "summary" "leaf 6 5
work 2 8
last 2 2
lost 1 1
main 0 4" "$(sums leaf work last lost main)"
has "summary: all" "$err" "# $(wc -w <<<"$branches") taken branches, 11 calls"
# The engine counts branches.  A return that it has counted has no target.
{
	echo "comm calls"
	play_map "$SCRATCH/calls" 0
	echo "trace $main:$work"
	echo "count $main:$work:2999999 $leaf:0:5000000000 $(after work 12):$last:7"
	echo "exit 0"
} >counted.txt
play counted.txt trace --summary
has "counted: all" "$err" "# 5003000007 taken branches, 3000007 calls"
same "counted: sums" "work 3000000 7
last 7 0
leaf 0 5000000000
main 0 3000000" "$(sums work last leaf main)"
play calls.txt trace --caller
same "callers" "4 work leaf
2 main work
2 work last
1 lost leaf
1 main leaf
1 main lost" "$(awk '/->/ && !/^#/ { print $1, $2, $4 }' <<<"$err" | sort -k1,1nr -k2)"
play calls.txt trace --caller -F leaf
same "callers of one" 3 "$(grep -c -- '-> leaf' <<<"$err")"
same "of no other" 3 "$(grep -vc '^#' <<<"$err")"

# Many buffers: nothing is lost, because the writer waits for the reader.
{
	echo "comm calls"
	play_map "$SCRATCH/calls" 0
	echo "repeat 3000001 $main:$work $((work + 2)):$leaf $leaf:$(after work 7) $(after work 12):$last $last:$(after main 5)"
	echo "exit 0"
} >long.txt
play long.txt trace --summary
same "long: status" 0 "$status"
has "long: every branch" "$err" "# 3000001 taken branches, 1800001 calls"
same "long: calls" "work 600001 1200000" "$(sums work)"
play long.txt trace --depth 1
same "long: one line for all" 2 "$(sed -n 2,3p <<<"$err" | grep -c .)"

# More pairs of addresses than the table holds: the sums are right.
{
	echo "comm calls"
	play_map "$SCRATCH/calls" 0
	for ((round = 0; round < 600; round++)); do
		printf 'trace'
		for ((i = 0; i < 1000; i++)); do
			printf ' %d:%d' "$((0x10000000 + round * 1000 + i))" "$leaf"
		done
		echo " $main:$work"
	done
	echo "exit 0"
} >wide.txt
play wide.txt trace --summary
has "wide: every branch" "$err" "# 600600 taken branches, 600 calls"
same "wide: calls" "work 600 0" "$(sums work | sed 's/ [0-9]*$/ 0/')"

# New code at old addresses: what was known of the old code is forgotten.
{
	echo "comm calls"
	play_map "$SCRATCH/calls" 0
	echo "trace $main:$work"
	read -r offset start size < <(text "$SCRATCH/calls")
	echo "map $start $((size + 4095 & ~4095)) $offset /no/such/file"
	echo "trace $main:$work"
	echo "exit 0"
} >new.txt
play new.txt trace --summary
same "new code is no call of the old" "work 1 0" "$(sums work)"

# --- several processes and threads
# A process forks in the middle of work.  Its child returns from there, and then another program has the same
# addresses in it, with work and leaf exchanged.  A thread of the first process calls last.
sed 's/^work:/other:/; s/^leaf:/work:/; s/^other:/leaf:/; s/jmp last/ret/; /size/d' calls.S >swapped.S
"$CC" -nostdlib -static -no-pie -Wl,-e,main -o swapped swapped.S || stop "build of swapped" "$CC failed"
same "the other program has the same addresses" "$(at main) $(at work)" "$(address swapped main) $(address swapped leaf)"
{
	echo "as 100 100"
	echo "comm calls"
	play_map "$SCRATCH/calls" 0
	echo "trace $main:$work"
	echo "fork 200 200"
	echo "fork 100 101"
	echo "trace $((work + 2)):$leaf"
	echo "as 200 200"
	echo "trace $((work + 2)):$leaf $leaf:$(after work 7)"
	echo "as 100 101"
	echo "trace $main:$last"
	echo "as 200 200"
	echo "trace $(after work 7):$leaf"
	echo "comm swapped"
	play_map "$SCRATCH/swapped" 0
	echo "trace $main:$work"
	echo "end"
	echo "as 100 100"
	echo "trace $leaf:$(after work 7) $(after work 7):$leaf"
	echo "exit 0"
} >tasks.txt
play tasks.txt trace
same "tasks: status" 0 "$status"
same "tasks: tree" "work
  leaf
# calls, process 200
  leaf
# calls, thread 101 of process 100
last
# calls, process 200
  leaf
leaf
# calls, process 100
  leaf" "$(grep -v '^#  ' <<<"$err" | sed -E 's/^ *[0-9]+\.[0-9]{3}  //')"
play tasks.txt trace -F last
same "tasks: headings of what -F names" "# calls, thread 101 of process 100
last" "$(grep -v '^#  ' <<<"$err" | sed -E 's/^ *[0-9]+\.[0-9]{3}  //')"
play tasks.txt trace --list -F last
same "tasks: headings of what -F names in a list" "# calls, thread 101 of process 100
0x$(printf %x "$main") main -> 0x$(printf %x "$last") last" "$err"
play tasks.txt trace --list
has "tasks: list" "$err" "# calls, thread 101 of process 100
0x$(printf %x "$main") main -> 0x$(printf %x "$last") last"
has "tasks: list of another program" "$err" "0x$(printf %x "$main") main -> 0x$(printf %x "$work") leaf"
play tasks.txt trace --summary
same "tasks: sums of both processes, and of another program's functions" "main 0 2
main 0 1
work 1 4
leaf 4 2
leaf 1 0
last 1 0" "$(sums main work leaf last)"
# record reads the kind of a branch in its own process: the same address is RET in one and a call in another.
{
	echo "as 100 100"
	echo "comm calls"
	play_map "$SCRATCH/calls" 0
	echo "fork 200 200"
	echo "as 200 200"
	echo "comm swapped"
	play_map "$SCRATCH/swapped" 0
	for who in 100 200; do
		echo "as $who $who"
		echo "sample 0 $main 1 $(after work 7):$leaf:0"
	done
	echo "exit 0"
} >kinds.txt
play kinds.txt record -q -j any_call,save_type -o kinds.data
same "record: status" 0 "$status"
perf script -i kinds.data -F pid,brstack 2>/dev/null | awk '{ print $1, NF }' >kinds
same "record: branches by process" "100 2 200 2" "$(xargs <kinds)"

# The tool does not trust what a program that runs wild writes into the shared memory.
for bad in "bad-trace 64 1" "bad-trace 0 16385" "bad-trace 4294967295 0"; do
	{
		echo "comm calls"
		echo "$bad"
		echo "exit 0"
	} >bad.txt
	play bad.txt trace --summary
	same "$bad: status" 125 "$status"
	has "$bad" "$err" "overwrote the memory shared with softpmu"
done
printf 'comm calls\nbad-trace 0 1\nexit 0\n' >bad.txt
play bad.txt record -o bad.data
same "a trace that was not asked for: status" 125 "$status"

# --- wrong usage
run trace
refuses "no program" 129 "no program to run"
run trace --list --summary true
refuses "two forms" 129 "--list cannot be combined with --summary or --caller"
run trace --depth 0 true
refuses "depth 0" 129 "--depth needs a number of levels, not '0'"
run trace --summary --depth 2 true
refuses "depth of a summary" 129 "--depth applies to the tree of calls only"
run trace -o /no/such/folder/file true
refuses "no place to write" 125 "cannot write /no/such/folder/file"
run trace no-such-program
refuses "no such program" 127 "no-such-program"
play calls.txt trace -o /dev/full
same "a full disk" 125 "$status"
has "a full disk is said" "$err" "cannot write /dev/full"
# Calls through linkage stubs: bound at the start, bound at the first call, and with a landing pad.
cat >linked.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static __attribute__((noinline)) void one(void) { puts("one"); }
static __attribute__((noinline)) void two(void) { puts("two"), puts("two"); }
int main(int argc, char **argv)
{
	char *(*volatile get)(const char *) = getenv;
	one(), two(), two();
	return get(argv[argc - 1]) && *argv[0] ? atoi(argv[0]) : 0;
}
END
for how in now lazy ibt; do
	case $how in
	now) flags="-Wl,-z,now" ;;
	lazy) flags="-Wl,-z,lazy" ;;
	ibt) flags="-fcf-protection -Wl,-z,ibtplt,-z,now" ;;
	esac
	# shellcheck disable=SC2086 # flags are words
	"$CC" -O1 $flags -o linked linked.c
	run trace --caller -F puts -F getenv -o callers -- ./linked
	succeeds "callers, $how"
	same "callers, $how" "1 main getenv
1 one puts
4 two puts" "$(awk '/->/ && !/^#/ { sub(/^_IO_/, "", $4); sub(/^.*getenv$/, "getenv", $4); print $1, $2, $4 }' callers | sort)"
	run trace --summary -F puts -F getenv -o sums -- ./linked
	same "summary of indirect calls, $how" "1 getenv
5 puts" "$(awk '!/^#/ { sub(/^_IO_/, "", $3); sub(/^.*getenv$/, "getenv", $3); print $1, $3 }' sums | sort)"
	run trace --summary --deterministic -o sums -- ./linked
	taken=$(sed -n 's/^# \([0-9]*\) taken branches.*/\1/p' sums <(printf '%s\n' "$err") | head -n 1)
	same "summary, $how: only known functions" "" "$(grep -F '[unknown]' sums)"
	run stat --deterministic -x, -e br_inst_retired.near_taken:u -- ./linked
	same "summary, $how: as many branches as the unit counts" "$(cut -d, -f1 <<<"$err" | grep -m1 '^[0-9]')" "$taken"
	run trace --caller -o callers -- ./linked
	same "callers, $how: no stub" "" "$(grep '\.plt' callers)"
done
run trace -F nosuch_function -F two -o tree -- ./linked
same "-F that names nothing: status" 0 "$status"
same "-F that names nothing" "softpmu: no call of 'nosuch_function' in this run" "$err"
run trace --summary -F tow -o tree -- ./linked
same "-F, misspelt" "softpmu: no call of 'tow' in this run; did you mean 'two'?" "$err"
finish
