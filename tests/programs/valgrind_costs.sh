#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# valgrind_costs.sh: softpmu-valgrind with simulations of caches and branches has the costs of cachegrind and callgrind, line by
# line and call by call, and their readers read its files.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need valgrind || finish
need cg_annotate || finish
front=$(dirname "$SOFTPMU")/softpmu-valgrind
cd "$SCRATCH" || exit 1
# shellcheck disable=SC2054 # the commas are part of the options
machine=(--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64 --cache-sim=yes --branch-sim=yes)

# theirs TOOL PROGRAM ARGUMENT... and ours TOOL PROGRAM ARGUMENT...: write the files theirs and ours.
theirs() {
	local more=()
	[[ $1 == cachegrind ]] || more=(--compress-strings=no --compress-pos=no --skip-plt=no)
	valgrind --tool="$1" "${machine[@]}" "${more[@]}" --"$1"-out-file=theirs "${@:2}" >theirs.out 2>theirs.err ||
		stop "$1" "$(tail -n 1 theirs.err)"
}
ours() {
	run ours "$front" --tool="$1" "${machine[@]}" --"$1"-out-file=ours "${@:2}"
	same "$1 ${*: -1}: status, messages" "0 0" "$status $(grep -c softpmu-valgrind: ours.err)"
}

# lines FILE: function, line and its costs, each line once.  Callgrind's second line after calls= is about what is called.
# valgrind leaves out zeros at the end.
lines() {
	awk '/^fn=/ {
			fn = $0 == "fn=_start" ? "???" : substr($0, 4) # from assembly, without lines
			next
		}
		/^calls=/ { getline; next }
		/^[0-9]/ { for (i = 2; i <= 14; i++) n[fn " " $1, i] += $i; seen[fn " " $1] = 1 }
		END { for (at in seen) { text = at; for (i = 2; i <= 14; i++) text = text " " (n[at, i] + 0); print text } }' "$1" | sort
}

# sums FILE: those of each event.
sums() {
	awk '/^summary:/ { for (i = 2; i <= 14; i++) printf "%d ", $i }' "$1"
}

# A program without a library at a fixed address runs in the same way everywhere: each number is the same.  valgrind reads lines
# of programs only that have initialized data.
echo 'int initialized = 1;' >data.c
for subject in walk chase splits calls; do
	expect "the program $subject" "$CC" -std=gnu11 -O1 -g -static -nostdlib -fno-pie -no-pie -fno-stack-protector \
		-fcf-protection=none -fno-builtin -mno-avx -Wno-unused-function -DSUBJECT=$subject -I"$ROOT/include" -o $subject \
		"$ROOT/tests/user/machine-program.c" data.c
	theirs cachegrind ./$subject
	ours cachegrind ./$subject
	lines theirs >expected
	lines ours >actual
	same_file "$subject: cachegrind's costs of $(wc -l <actual) lines" expected actual
	same "$subject: there are some" yes "$([[ $(wc -l <actual) -ge 4 ]] && echo yes)"
	theirs callgrind ./$subject # its lines do not have the code that ends the program
	ours callgrind ./$subject
	same "$subject: callgrind's sums" "$(sums theirs)" "$(sums ours)"
done

# With a library the addresses are others, and functions that choose by the processor.  So the costs of the program's own
# functions and calls are compared that do not depend on addresses: all but misses.
expect "the program" "$CC" -O2 -g -o program "$ROOT/tests/programs/callgrind.c"
functions="next|fill|less|greater|sort|slot|insert_all|multiply_by|factorial|matrix|ackermann|machine|jumps|all|main"
costs() {
	local name="($functions)(\\.[a-z]+\\.[0-9]+)*"
	awk -v all=1 -v object=/program -f "$ROOT/tests/programs/callgrind.awk" "$1" |
		grep -E "^$name( -> $name)?( [0-9]+)+\$" | sort |
		awk '{ n = NF - 12; for (i = 1; i < n; i++) printf "%s ", $i; print $n, $(n + 1), $(n + 2), $(n + 9), $(n + 11) }'
}
theirs callgrind ./program
ours callgrind ./program
costs theirs >expected
costs ours >actual
same_file "Ir Dr Dw Bc Bi of $(wc -l <actual) functions and calls" expected actual
same "there are some" yes "$([[ $(wc -l <actual) -ge 28 ]] && echo yes)"
same "callgrind_annotate has the total" "$(sed -n 's/^totals: \([0-9]*\) .*/\1/p' ours)" \
	"$(callgrind_annotate ours | sed -n 's/ (.*PROGRAM TOTALS$//p' | tr -d ', ')"
same "the summary has the totals" "$(sed -n 's/^totals: //p' ours)" "$(sed -n 's/^==[0-9]*== Collected : //p' ours.err)"

# cachegrind's programs.
ours cachegrind ./program
mv ours first
ours cachegrind ./program
same "cg_annotate has the total" "$(sed -n 's/^summary: \([0-9]*\) .*/\1/p' ours)" \
	"$(cg_annotate ours | sed -n 's/ (.*PROGRAM TOTALS *$//p' | tr -d ', ')"
same "cg_annotate has a line of the source" 1 "$(cg_annotate --auto=yes ours | grep -c 'Auto-annotated source: .*callgrind.c')"
expect "cg_diff" eval "cg_diff first ours >difference"
same "cg_diff: the same run differs in no instruction of main" 0 "$(awk '/^fn=.*:main$/ { at = 1; next } /^fn=/ { at = 0 } at { n += $2 } END { print n + 0 }' difference)"
same "the summary has the misses" "$(awk '/^summary:/ { print $3 }' ours)" "$(sed -n 's/^==[0-9]*== I1  misses: *//p' ours.err | tr -d ,)"

# The default: cachegrind counts misses, as in valgrind 3.19; without a simulation there are instructions alone.
run plain "$front" --tool=cachegrind --cachegrind-out-file=plain ./program
same "cachegrind's default" "events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw" "$(grep '^events:' plain)"
run plain "$front" --tool=cachegrind --cache-sim=no --cachegrind-out-file=plain ./program
same "cachegrind --cache-sim=no" "events: Ir" "$(grep '^events:' plain)"
run small "$front" --tool=cachegrind --D1=1024,2,64 --cachegrind-out-file=small ./program
expect "a smaller cache has more misses: $(awk '/^summary:/ { print $6 }' small)" \
	test "$(awk '/^summary:/ { print $6 }' small)" -gt "$(($(awk '/^summary:/ { print $6 }' ours) * 2))"
for option in --D1=1000,2,64 --D1=32K --D1=32768,8,32; do
	run refused "$front" --tool=cachegrind "$option" --I1=32768,8,64 ./program
	same "$option is refused" "1 1" "$status $(grep -c '^softpmu-valgrind: ' refused.err)"
done

# Start empties the caches, and toggling does not.  Dumps and zeroes divide the run.  In a request callgrind counts one
# instruction, and softpmu five.
expect "the program with requests" "$CC" -O1 -g -Wall -Werror -o requests "$ROOT/tests/programs/valgrind_costs.c"
# of FUNCTION COLUMN FILE
of() {
	lines "$3" | awk -v fn="$1" -v column="$2" '$1 == fn { n += $(column + 2) } END { print n + 0 }'
}
machine=("${machine[@]}" --instr-atstart=no)
theirs callgrind ./requests start
ours callgrind ./requests start
same "start: reads, and those that miss" "$(of touch 2 theirs) $(of touch 5 theirs)" "$(of touch 2 ours) $(of touch 5 ours)"
same "start: all lines miss after each" 512 "$(of touch 5 ours)"
machine[-1]=--toggle-collect=touch
theirs callgrind ./requests toggle
ours callgrind ./requests toggle
same "toggle: reads, and those that miss" "$(of touch 2 theirs) $(of touch 5 theirs)" "$(of touch 2 ours) $(of touch 5 ours)"
machine[-1]=--collect-atstart=yes
rm -f ours* theirs*
theirs callgrind ./requests dump
ours callgrind ./requests dump
same "dumps: files" "ours ours.1 ours.2" "$(echo ours ours.[0-9])"
for file in "" .1 .2; do
	same "dump '$file': work()" "$(of work 1 "theirs$file")" "$(of work 1 "ours$file")"
	extra=$(($(of main 1 "ours$file") + $(of inner 1 "ours$file") - $(of main 1 "theirs$file") - $(of inner 1 "theirs$file")))
	expect "dump '$file': $extra more in main() and inner(), for requests" test "${extra#-}" -le 16
done
same "dump .2: main() calls inner()" 1 "$(awk '/^fn=/ { at = $0 == "fn=main" } at && /^cfn=inner$/ { n++ } END { print n + 0 }' ours.2)"
finish
