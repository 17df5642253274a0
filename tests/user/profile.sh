#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# profile.sh: exact profiles. Their sums are what stat counts; calls of all kinds have the right caller, number and
# cost; the file is checked when it is read; what was counted survives the end of a program by a signal.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
events=instructions:u,branches:u,br_inst_retired.conditional:u,br_inst_retired.near_taken:u
events+=,mem_inst_retired.all_loads:u,mem_inst_retired.all_stores:u

# sums FILE: what all instructions of a profile cost, by event.
sums() { awk '/^event / { n++ } /^i / { for (e = 0; e < n; e++) s[e] += $(5 + e) } END { for (e = 0; e < n; e++) print s[e] }' "$1"; }

# digits: how many digits the number of the next process has.
digits() { (echo "${#BASHPID}"); }
# as_stat NAME COMMAND...: runs the same twice. A shell prints process numbers, so those of both runs need as many digits.
as_stat() {
	local name=$1 n before=
	shift
	while [[ $before != "$(digits)" ]]; do
		before=$(digits)
		run "$SCRATCH/stat" "$SOFTPMU" stat --deterministic -j -o "$SCRATCH/stat.json" -e "$events" -- "$@"
		run "$SCRATCH/run" "$SOFTPMU" profile --deterministic -q -o "$SCRATCH/as_stat.data" -e "$events" -- "$@"
	done
	same_file "$name: output" "$SCRATCH/stat.out" "$SCRATCH/run.out"
	same "$name: nothing is missing" "" "$(grep 'profile has' "$SCRATCH/run.err")"
	same "$name: counts" "$(for n in 1 2 3 4 5 6; do count_of "$SCRATCH/stat.json" $n; done)" \
		"$(sums "$SCRATCH/as_stat.data")"
}

seq 1 3000 | awk '{ print $1 * 7919 % 3001, "line", $1 }' >"$SCRATCH/text"
printf '%s\n' "$SCRATCH/text" "$ROOT/README.md" >"$SCRATCH/names"
as_stat ls ls "$ROOT/src"
as_stat awk awk '{ s += $1; t = t $2 } END { print s, length(t) }' "$SCRATCH/text"
as_stat sed sed 's/line/row/' "$SCRATCH/text"
as_stat gzip gzip -c "$SCRATCH/text"
as_stat xz xz -T1 -1 -c "$SCRATCH/text"
as_stat sort sort --parallel=1 "$SCRATCH/text"
as_stat grep grep -c 'e 1.*7' "$SCRATCH/text"
as_stat perl env PERL_HASH_SEED=0 perl -e 'my %h; $h{$_ % 97} .= $_ for 1 .. 3000; print join(",", map { length } sort values %h), "\n"'
as_stat bash bash -c 'i=0; while ((i < 300)); do ((i++)); done; echo $i'
# Several processes. A shell would not do: it runs more or less, depending on when a child's signal arrives.
as_stat xargs xargs -n 1 -a "$SCRATCH/names" cksum
# A program that another one replaces at the same addresses.
as_stat env env true
as_stat cksum cksum "$SCRATCH/text"

# Threads that wait for each other: the engine stops one in the middle of a trace.
seq 1 30000 | awk '{ print $1 * 7919 % 30011, "line", $1 }' >"$SCRATCH/long"
for _ in 1 2 3; do
	run "$SCRATCH/threads" "$SOFTPMU" profile -q -o "$SCRATCH/threads.data" -e "$events" -- \
		xz -T2 -c --block-size=100KiB "$SCRATCH/long"
	same "threads: status" 0 "$status"
	same "threads: messages" "" "$(<"$SCRATCH/threads.err")"
	xz -dc <"$SCRATCH/threads.out" >"$SCRATCH/threads.text"
	same_file "threads: output" "$SCRATCH/long" "$SCRATCH/threads.text"
done

# --- calls ------------------------------------------------------------------------------------------------------

"${CXX:-g++}" -O1 -g -no-pie -fcf-protection=none -Wl,-z,lazy -pthread -o "$BUILT/calls" \
	"$ROOT/tests/user/profile-program.cc" -foptimize-sibling-calls || stop "build of calls" "the compiler failed"
run "$SCRATCH/calls" "$SOFTPMU" profile -q -o "$SCRATCH/calls.data" -- "$BUILT/calls"
same "calls: status" 0 "$status"
same "calls: messages" "" "$(<"$SCRATCH/calls.err")"
"$SOFTPMU" export --to callgrind -e instructions:u -i "$SCRATCH/calls.data" "$SCRATCH/calls.cg"
# "caller callee calls cost", with versions of symbols left out.
awk '/^fn=/ { fn = substr($0, 4) } /^cfn=/ { cfn = substr($0, 5) }
	/^calls=/ { split(substr($0, 7), a, " "); edge = fn " " cfn; getline; calls[edge] += a[1]; cost[edge] += $2 }
	END { for (edge in calls) print edge, calls[edge], cost[edge] }' "$SCRATCH/calls.cg" |
	sed 's/\.cold / /g; s/@@*[A-Z0-9_.]*//g' >"$SCRATCH/edges"

# times CALLER CALLEE, cost CALLER CALLEE
times() { awk -v a="$1" -v b="$2" '$1 == a && $2 == b { n += $3 } END { print n + 0 }' "$SCRATCH/edges"; }
cost() { awk -v a="$1" -v b="$2" '$1 == a && $2 == b { n += $4 } END { print n + 0 }' "$SCRATCH/edges"; }
callers() { awk -v b="$1" '$2 == b { print $1 }' "$SCRATCH/edges" | sort -u | tr '\n' ' '; }
# called N CALLER CALLEE
called() { same "$2 calls $3" "$1" "$(times "$2" "$3")"; }

called 1 main fibonacci
called 176 fibonacci fibonacci
called 4 even odd
called 3 odd even
called 3 main tail_first
called 3 tail_first tail_second
called 3 tail_second leaf
called 5 main jump_outer
called 5 jump_outer jump_inner
called 15 jump_inner jump_inner
called 5 jump_outer after_jump
called 4 main catch_outer
called 4 catch_outer throw_inner
called 12 throw_inner throw_inner
called 4 catch_outer after_catch
called 14 context_main context_deep
called 14 context_deep context_step
called 7 contexts leaf
called 8 signals signalled
called 6 signalled leaf
called 6 handler in_handler
called 2 leaving_handler in_handler
called 2 signals left
called 23 thread leaf
called 4 children in_child
called 1 busy_alone busy
called 10 busy_while_a_child_begins busy
called 10 busy_while_a_child_begins _exit
# A child is within the calls of its parent at the fork. What it costs is not a part of what the parent calls then.
same "a call costs the same while a child begins" $((10 * $(cost busy_alone busy))) \
	"$(cost busy_while_a_child_begins busy)"
called 13 msort_with_tmp.part.0 compare
called 13 linkage qsort
for function in fibonacci odd tail_second after_jump after_catch left context_deep in_child; do
	case $function in
	fibonacci) expected="fibonacci main " ;;
	odd) expected="even " ;;
	tail_second) expected="tail_first " ;;
	after_jump) expected="jump_outer " ;;
	after_catch) expected="catch_outer " ;;
	left) expected="signals " ;;
	context_deep) expected="context_main " ;;
	in_child) expected="children " ;;
	esac
	same "callers of $function" "$expected" "$(callers $function)"
done
same "no call of the linkage table" "" "$(grep -F .plt "$SCRATCH/edges" | head -n 1)"

# leaf(n) costs a + b * n.
each=$((($(cost after_jump leaf) / 5 - $(cost tail_second leaf) / 3) / (100 - 7)))
base=$(($(cost tail_second leaf) / 3 - 7 * each))
leaf() { echo $((base + $1 * each)); }
same "a leaf costs something" yes "$( ((each > 2 && base > 0)) && echo yes)"
same "cost: contexts" $((7 * $(leaf 5))) "$(cost contexts leaf)"
same "cost: steps of contexts" $((7 * $(leaf 10) + 7 * $(leaf 20))) "$(cost context_step leaf)"
same "cost: handlers" $((6 * $(leaf 20) + 2 * $(leaf 30))) "$(cost in_handler leaf)"
same "cost: threads" $((23 * $(leaf 7))) "$(cost thread leaf)"
same "cost: processes" $((4 * $(leaf 9))) "$(cost in_child leaf)"

# A function's cost is its own and that of its calls. In a recursion the calls of itself are its own.
awk '/^fn=/ { fn = substr($0, 4) } /^calls=/ { getline; next } /^[0-9]/ { self[fn] += $2 }
	END { for (fn in self) print fn, self[fn] }' "$SCRATCH/calls.cg" >"$SCRATCH/self"
self() { awk -v f="$1" '$1 == f { print $2 }' "$SCRATCH/self"; }
same "a recursion costs what it runs itself" "$(self fibonacci)" "$(cost main fibonacci)"
same "functions that call each other" $(($(self even) + $(self odd) + $(cost even leaf) + $(cost odd leaf))) "$(cost main even)"
same "a function left by longjmp" $(($(self jump_inner) + $(awk '$1 == "jump_inner" && $2 != $1 { n += $4 } END { print n }' \
	"$SCRATCH/edges"))) "$(cost jump_outer jump_inner)"
same "a jump to a function" $(($(self tail_first) + $(self tail_second) + $(cost tail_second leaf))) "$(cost main tail_first)"
same "an interrupted function does not pay for the handler" yes \
	"$( (($(cost signals signalled) < $(cost signalled raise) + 100 * 8 + 4000)) && echo yes)"

# A repetition of length 0 has no store: 5 of 3 bytes each count as one.
"$SOFTPMU" export --to callgrind -e mem_inst_retired.all_stores:u -i "$SCRATCH/calls.data" "$SCRATCH/stores.cg"
same "stores of REP instructions" 5 "$(awk '/^fn=/ { on = $0 == "fn=repeated" } /^calls=/ { getline; next }
	on && /^[0-9]/ { n += $2 } END { print n + 0 }' "$SCRATCH/stores.cg")"

# Without -e the file has all events.
"$SOFTPMU" export --to callgrind -i "$SCRATCH/calls.data" "$SCRATCH/all.cg"
same "all events" "events: Ir branches_u mem_inst_retired_all_loads_u mem_inst_retired_all_stores_u" \
	"$(grep '^events:' "$SCRATCH/all.cg")"
same "all events: totals" "$(sums "$SCRATCH/calls.data" | xargs)" "$(sed -n 's/^totals: //p' "$SCRATCH/all.cg")"
same "all events: lines" "$(sums "$SCRATCH/calls.data" | xargs)" "$(awk '/^calls=/ { getline; next }
	/^[0-9]/ { for (e = 2; e <= 5; e++) n[e] += $e } END { print n[2], n[3], n[4], n[5] }' "$SCRATCH/all.cg")"
same "all events: calls" 13 "$(sed -n '/^cfn=compare/{n;s/^calls=\([0-9]*\) .*/\1/p;}' "$SCRATCH/all.cg")"

# --- the same again and again ------------------------------------------------------------------------------------
# Calls are counted in the process once they are known. Each round has the same calls at the same cost, whether they
# are counted there or by the tool.

# rounds N: N rounds; their calls to rounds.N, "caller callee calls cost".
rounds() {
	run "$SCRATCH/rounds" "$SOFTPMU" profile --deterministic=time -v -o "$SCRATCH/rounds.data" -- "$BUILT/calls" "$1"
	same "rounds: status" 0 "$status"
	same "rounds: nothing is missing" "" "$(grep 'profile has' "$SCRATCH/rounds.err")"
	"$SOFTPMU" export --to callgrind -e instructions:u -i "$SCRATCH/rounds.data" "$SCRATCH/rounds.cg"
	awk '/^fn=/ { fn = substr($0, 4) } /^cfn=/ { cfn = substr($0, 5) }
		/^calls=/ { split(substr($0, 7), a, " "); edge = fn " " cfn; getline; calls[edge] += a[1]; cost[edge] += $2 }
		END { for (edge in calls) print edge, calls[edge], cost[edge] }' "$SCRATCH/rounds.cg" >"$SCRATCH/rounds.$1"
}
rounds 0020
rounds 0040
rounds 4020
same "rounds: calls and costs grow by the same each time" "" "$(awk '{ edge = $1 " " $2 }
	FNR == 1 { file++ } file == 1 { calls[edge] = $3; cost[edge] = $4 }
	file == 2 { more_calls[edge] = $3 - calls[edge]; more_cost[edge] = $4 - cost[edge] }
	file == 3 && ($3 - calls[edge] != 200 * more_calls[edge] || $4 - cost[edge] != 200 * more_cost[edge]) { print }' \
	"$SCRATCH/rounds.0020" "$SCRATCH/rounds.0040" "$SCRATCH/rounds.4020")"
expect "rounds: there are many" awk '{ n += $3 } END { exit n < 1000000 }' "$SCRATCH/rounds.4020"
records=$(sed -n 's/.*: \([0-9]*\) branches, .*/\1/p' "$SCRATCH/rounds.err")
expect "rounds: fewer than half of calls and returns leave the process" \
	awk -v r="${records:-9999999999}" '{ n += $3 } END { exit r > n }' "$SCRATCH/rounds.4020"

# --- code that is not always at the same place --------------------------------------------------------------------

"${CC:-gcc}" -O1 -pthread -o "$BUILT/code" "$ROOT/tests/user/profile-code.c" -ldl || stop "build of code" "the compiler failed"
"${CC:-gcc}" -O1 -fPIC -shared -o "$BUILT/one.so" "$ROOT/tests/user/profile-library.c" || stop "build of one.so" "the compiler failed"
"${CC:-gcc}" -O1 -fPIC -shared -DOTHER -o "$BUILT/two.so" "$ROOT/tests/user/profile-library.c" ||
	stop "build of two.so" "the compiler failed"
run "$SCRATCH/code" "$SOFTPMU" profile -q -o "$SCRATCH/code.data" -e "$events" -- "$BUILT/code" "$BUILT/one.so" "$BUILT/two.so"
same "code: status" 0 "$status"
same "code: messages" "" "$(<"$SCRATCH/code.err")"
same "code: nothing is missing" "$(awk '/^event / { print $2 }' "$SCRATCH/code.data")" "$(sums "$SCRATCH/code.data")"
"$SOFTPMU" export --to callgrind -e instructions:u -i "$SCRATCH/code.data" "$SCRATCH/code.cg"
calls_of() { sed -n "/^cfn=$1\$/{n;s/^calls=\([0-9]*\) .*/\1/p;}" "$SCRATCH/code.cg" | sort -n | xargs; }
same "code: calls of libraries at one place" "30 30" "$(calls_of run)"
# Threads call it so often that the calls are in traces.
same "code: calls cost what the function does" \
	"$(awk '/^fn=/ { on = $0 == "fn=leaf" } /^calls=/ { getline; next } on && /^[0-9]/ { n += $2 } END { print n + 0 }' "$SCRATCH/code.cg")" \
	"$(awk '/^cfn=/ { on = $0 == "cfn=leaf" } on && /^calls=/ { getline; n += $2 } END { print n + 0 }' "$SCRATCH/code.cg")"
same "code: calls by written code" "30 30" "$(calls_of leaf | cut -d ' ' -f 1-2)"

# --- the readers ------------------------------------------------------------------------------------------------

"$SOFTPMU" report -i "$SCRATCH/calls.data" >"$SCRATCH/report"
expect "report: exact counts" grep -q "^# Exact counts of event 'instructions:u'" "$SCRATCH/report"
expect "report: a function with what it calls" grep -Eq '^ +[0-9.]+% +[0-9.]+%  calls +calls +\[\.\] main$' "$SCRATCH/report"
expect "report: a recursion is there once" awk '/%.*\] fibonacci$/ { n++; bad += $1 != $2 } END { exit !n || bad }' "$SCRATCH/report"
"$SOFTPMU" report -i "$SCRATCH/calls.data" --no-children -s tid,sym -n >"$SCRATCH/threads"
same "report: threads" 2 "$(sed -n '/instructions:u/,/^# Exact counts of event .b/p' "$SCRATCH/threads" | grep -c '\] thread$')"
"$SOFTPMU" annotate -i "$SCRATCH/calls.data" fibonacci >"$SCRATCH/annotate"
expect "annotate: source lines" grep -q 'sum += fibonacci' "$SCRATCH/annotate"
expect "annotate: shares" grep -Eq '^ +[1-9][0-9.]+ : +[0-9a-f]+:' "$SCRATCH/annotate"
"$SOFTPMU" diff "$SCRATCH/calls.data" "$SCRATCH/calls.data" >"$SCRATCH/diff"
expect "diff" grep -q 'Nothing has changed' "$SCRATCH/diff"
expect "folded" grep -q '^calls;fibonacci [1-9]' <("$SOFTPMU" export --to folded -e instructions:u -i "$SCRATCH/calls.data")

# refused NAME SED: a file that was changed in this way is refused.
refused() {
	sed "$2" "$SCRATCH/calls.data" >"$SCRATCH/changed"
	"$SOFTPMU" report -i "$SCRATCH/changed" >"$SCRATCH/out" 2>"$SCRATCH/err"
	same "$1: status" 1 "$?"
	expect "$1: message" grep -q "$3" "$SCRATCH/err"
}
insn=$(grep -n "^i " "$SCRATCH/calls.data" | head -n 1 | cut -d: -f1)
name=$(grep -n "^n " "$SCRATCH/calls.data" | head -n 1 | cut -d: -f1)
refused "another version" '1s/2$/3/' 'has version 3 of the format'
refused "cut off" '$d' 'its end is missing'
refused "a missing line" "${insn}d" 'is wrong'
refused "a missing cost" "${insn}s/ [0-9]*\$//" "line $insn is wrong"
refused "a cost too many" "${insn}s/\$/ 1/" "line $insn is wrong"
refused "a number that is none" "${insn}s/[0-9]*\$/x/" "line $insn is wrong"
refused "an object that is not there" '/^i /{s/^i [0-9]*/i 99/;}' 'is wrong'
refused "an unknown word" "${insn}s/^i/z/" "line $insn is wrong"
refused "a name without an end" "${name}s/ [0-9a-f]* [^ ]*\$//" "line $name is wrong"
refused "a name of nothing" "${name}s/^n 0 \([0-9a-f]*\) [0-9a-f]*/n 0 \1 \1/" "line $name is wrong"
refused "names out of order" "${name}{p;}" "line $((name + 1)) is wrong"
refused "no event" '/^event/d' 'is wrong'

# --- ends and errors --------------------------------------------------------------------------------------------

run "$SCRATCH/killed" "$SOFTPMU" profile -q -o "$SCRATCH/killed.data" -- bash -c 'i=0; while ((i < 500)); do ((i++)); done; kill -INT $$; exit 5'
same "ended by a signal: status" 130 "$status"
same "ended by a signal: nothing is missing" "$(awk '/^event / { print $2 }' "$SCRATCH/killed.data")" "$(sums "$SCRATCH/killed.data")"

# SIGKILL leaves no time to hand over the last records. The file has what was complete before, and nothing else. Between system
# calls the records are handed over at times that double, up to a tenth of a second.
loop='i=0; while ((i < 10000)); do ((i++)); echo $i; done'
run "$SCRATCH/kept" "$SOFTPMU" profile -q -o "$SCRATCH/whole.data" -e instructions:u -- bash -c "$loop; kill -CONT \$\$; exit 5"
run "$SCRATCH/lost" "$SOFTPMU" profile -q -o "$SCRATCH/lost.data" -- bash -c "$loop; kill -KILL \$\$"
same "killed: status" 137 "$status"
expect "killed: a message" grep -q 'counts are not available' "$SCRATCH/lost.err"
expect "killed: a quarter is there" test "$(sums "$SCRATCH/lost.data" | head -n 1)" -gt "$(($(sums "$SCRATCH/whole.data") / 4))"
# times_of FILE: "address-in-file times", by address.
times_of() { awk '/^object / { path[n++] = $3 } /^i / { times[path[$2] " " $3] += $4 } END { for (i in times) print i, times[i] }' "$1" | sort; }
same "killed: nothing ran more often than it did" "" \
	"$(join <(times_of "$SCRATCH/whole.data" | sed 's/ /:/') <(times_of "$SCRATCH/lost.data" | sed 's/ /:/') |
		awk '$3 > $2 && $1 ~ /bash:/' | head -n 3)"
expect "killed: the file is complete" "$SOFTPMU" report -i "$SCRATCH/lost.data"

run "$SCRATCH/status" "$SOFTPMU" profile -q -o "$SCRATCH/status.data" -- bash -c 'exit 7'
same "the program's status" 7 "$status"
run "$SCRATCH/absent" "$SOFTPMU" profile -o "$SCRATCH/absent.data" -e cycles:u -- true
same "an event that nothing supplies: status" 125 "$status"
expect "an event that nothing supplies: message" grep -q "is absent" "$SCRATCH/absent.err"
same "an event that nothing supplies: no file" "" "$(ls "$SCRATCH/absent.data" 2>/dev/null)"
run "$SCRATCH/modelled" "$SOFTPMU" profile -e uops_retired.all:u -M ivybridge -o "$SCRATCH/absent.data" -- true
expect "an event of tallies: message" grep -q "does not follow from the instructions" "$SCRATCH/modelled.err"
run "$SCRATCH/write" "$SOFTPMU" profile -o "$SCRATCH/none/x.data" -- true
same "a file that cannot be written: status" 125 "$status"
run "$SCRATCH/old" "$SOFTPMU" profile -q -M pentium-pro -o "$SCRATCH/old.data" -- true
same "a model without loads and stores" "instructions:u branches:u " "$(awk '/^event/ { printf "%s ", $3 }' "$SCRATCH/old.data")"
finish
