#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# call_chains.sh: `softpmu record -g` and `--call-graph fp`: each sample of a program whose callers are known has the whole
# chain, and perf reads the same. In real programs the chains are those that last branch records in
# call-stack mode give (Vol. 3B 17.9).
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
FLAGS=(-std=gnu++17 -O2 -Wall -Wextra -Werror -pthread)
g++ "${FLAGS[@]}" -fomit-frame-pointer -o "$BUILT/without" "$ROOT/tests/user/call_chains.cc" &&
	g++ "${FLAGS[@]}" -fno-omit-frame-pointer -o "$BUILT/with" "$ROOT/tests/user/call_chains.cc" ||
	stop "call_chains.cc" "does not build"
cd "$SCRATCH" || exit 1

# chains COMMAND...: prints a line for each sample that the command lists: the functions, the innermost first.
chains() {
	"$@" 2>>script.err | awk '
		NF { line = line " " $2 }
		!NF { if (line != "") print substr(line, 2); line = "" }
		END { if (line != "") print substr(line, 2) }'
}
# records NAME PROGRAM OPTION...
records() {
	local name=$1 program=$2
	shift 2
	run record "$SOFTPMU" record -q -o perf.data "$@" -- "$BUILT/$program"
	same "$name: recorded" "0 0" "$status $(wc -l <record.err)"
	chains "$SOFTPMU" script -i perf.data -F ip,sym >chains
}

# known NAME LEAF...: every sample of these leaves has the chain of the table.
known() {
	local name=$1 leaf want n
	shift
	for leaf; do
		want=$(sed -n "s/^$leaf: //p" table)
		n=$(grep -c "^leaf_$leaf " chains)
		if ((n < 3)); then
			fail "$name: leaf_$leaf has samples" "$n"
		else
			same "$name: callers of leaf_$leaf" "" "$(grep "^leaf_$leaf " chains | grep -vE "^leaf_$leaf $want\$" | sort | uniq -c | head -n 3)"
		fi
	done
}
START="main __libc_start_call_main __libc_start_main[^ ]* _start"
cat >table <<END
recursion: recursion recursion recursion recursion recursion recursion $START
tail: $START
alloca: with_alloca $START
handler: handler [^ ]+ interrupted signals $START
other_stack: other_handler [^ ]+ interrupted signals $START
start: trap_handler [^ ]+ at_start signals $START
cleanup: cleanup thrower(\.cold)? catcher $START
catch: catcher(\.cold)? $START
longjmp: jumps $START
compare: compare .* sorter $START
context: in_context [^ ]+
thread: thread( [^ ]+)+
pointer: pointer $START
END
LEAVES="recursion tail alloca handler other_stack start cleanup catch longjmp compare context thread pointer"
# shellcheck disable=SC2086
for options in "-c 97" "-c 101 -e instructions:u" "-c 103 -M coreduo -e instructions:u" "-c 11 -e branches:upp" "-c 103 -M netburst -e memory_loads:upp" "-F 400000"; do
	records "-g $options" without -g $options
	known "-g $options" $LEAVES
done
records "frame pointers" with --call-graph fp -c 97
# The leaves have no frame, so their caller is missing. The C library has none either: the chain ends there.
cp table whole
sed -i -E 's/: [^ ]+/:/; s/ main __libc_start_call_main .*/ main __libc_start_call_main( .*)?/; s/^(tail:).*/\1 __libc_start_call_main( .*)?/; s/:  /: /' table
# shellcheck disable=SC2086
known "frame pointers" recursion tail alloca catch longjmp pointer
# A stack that is too large to be copied ends the chain early.
records "a small copy" without --call-graph dwarf,256 -c 97
same "a small copy: the chain ends early" "leaf_alloca with_alloca" "$(grep '^leaf_alloca' chains | sort -u)"

# As cargo-flamegraph and others call perf: -g leaves the mode, and what has no meaning here has no effect.
records "perf's options" without -F 400000 --call-graph dwarf,256 -g -T -P -R -N -m 16M -k mono --all-user --user-callchains \
	--sample-cpu --buildid-all --tail-synthesize
same "perf's options: -g leaves the size of the copy" "leaf_alloca with_alloca" "$(grep '^leaf_alloca' chains | sort -u)"
run wrong "$SOFTPMU" record -k tai true
same "another clock is refused" "129 1" "$status $(grep -c "not 'tai'" wrong.err)"

# Damaged unwind tables shorten chains; no sample is lost.
g++ "${FLAGS[@]}" -fomit-frame-pointer -DWITHOUT_EXCEPTIONS -o damaged "$ROOT/tests/user/call_chains.cc" || stop "call_chains.cc" "does not build"
# samples: prints how many samples of the program were recorded
samples() {
	run said "$SOFTPMU" record --deterministic -g -c 10007 -o perf.data -- ./damaged
	sed -n 's/.*(\([0-9]* samples\)).*/\1/p' said.err
}
want=$(samples)
[[ $want == [1-9]* ]] || stop "samples of the undamaged program" "none"
read -r offset bytes < <(readelf -SW damaged | sed -nE 's/.* \.eh_frame +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+) .*/0x\1 0x\2/p')
RANDOM=7
for turn in {1..20}; do
	for ((i = 0; i < 10; i++)); do
		printf '%b' "\\x$(printf %x $((RANDOM % 256)))" |
			dd of=damaged bs=1 seek=$((offset + RANDOM % bytes)) conv=notrunc status=none
	done
	same "a damaged unwind table, $((turn * 10)) bytes" "$want" "$(samples)"
done

# What the options refuse.
for wrong in dwarf,255 dwarf,70000 dwarf,x fp,8 lbr,8 frames ""; do
	run wrong "$SOFTPMU" record --call-graph "$wrong" true
	same "--call-graph '$wrong' is refused" "129 1" "$status $(grep -c 'call-graph' wrong.err)"
done

if have perf; then
	records "for perf" without -g -c 97
	grep ^leaf_ chains | sed -E 's/ sub_[0-9a-f]+\b/ [unknown]/g' >leaves # that is how we call a function without a name
	chains perf script -i perf.data -F ip,sym | grep ^leaf_ >perfs
	same_file "perf reads the same chains" leaves perfs
	# perf unwinds by itself, from the registers, the copy of the stack and the mappings that programs of a run get. (Precise
	# samples have the registers after the instruction that they name. So from a RET perf would unwind wrongly.)
	sed 's/^thread: .*/thread: thread .*/' whole >table
	run said "$SOFTPMU" run -- perf record -q --call-graph dwarf -e instructions:u -c 997 -o perfs.data -- "$BUILT/without"
	chains perf script -i perfs.data -F ip,sym >chains
	known "perf record --call-graph dwarf in a run" recursion tail alloca handler start cleanup catch longjmp compare thread pointer
	run report perf report -i perf.data --stdio --no-children -g caller
	same "perf report: the tree" "0 1" "$status $(grep -c '^ *with_alloca$' report.out)"
else
	not_run "perf reads the same chains" "perf is not installed"
fi

# compare NAME PROGRAM...: the chains of a real program, against the last branch records. These are taken after the
# instruction: where it is a call, they have it too; where it is a return, they lack its caller.
compare() {
	local name=$1 result
	shift
	run dwarf "$SOFTPMU" record -q --deterministic -g -c 10007 -o dwarf.data -- "$@"
	run lbr "$SOFTPMU" record -q --deterministic --call-graph lbr -c 10007 -o lbr.data -- "$@"
	same "$name: status" "0 0" "$status $(grep -c . dwarf.err)"
	chains "$SOFTPMU" script -i dwarf.data -F ip,sym >dwarf.chains
	chains "$SOFTPMU" script -i lbr.data -F ip,sym >lbr.chains
	same "$name: samples" "$(wc -l <lbr.chains)" "$(wc -l <dwarf.chains)"
	result=$(paste -d'|' dwarf.chains lbr.chains | awk -F'|' '
		function agree(a, na, b, nb, i, n) {
			n = na < nb ? na : nb
			for (i = 2; i <= n && i <= 28; i++) if (a[i] != b[i]) return 0
			return n >= 28 || na == nb
		}
		{
			na = split($1, a, " "); nb = split($2, b, " ")
			if (a[1] != b[1]) { print "other sample: " $0; exit }
			if (agree(a, na, b, nb)) { same++; next }
			if (b[1] == b[2]) { # a call
				for (i = 2; i < nb; i++) c[i] = b[i + 1]
				if (agree(a, na, c, nb - 1)) { calls++; next }
			}
			for (i = 2; i < na; i++) c[i] = a[i + 1]
			if (agree(c, na - 1, b, nb)) { returns++; next }
			if (others++ < 2) print
		}
		END {
			if (same < NR * 0.8) print "same: " same + 0 " of " NR
			if (others) print others " differ"
		}')
	same "$name: chains" "" "$result"
}
head -c 300000 "$SOFTPMU" >data
have gzip && compare gzip gzip -c data
have sqlite3 && compare sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x + 1 from c where x < 9000) select sum(x * x % 7) from c'
have xz && compare xz xz -T1 -c data
have sort && compare sort sort data
finish
