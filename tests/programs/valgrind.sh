#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# valgrind.sh: softpmu-valgrind in place of valgrind: client requests, options, files and summaries, compared with callgrind's.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need valgrind || finish
front=$(dirname "$SOFTPMU")/softpmu-valgrind
cd "$SCRATCH" || exit 1
expect "the program" "$CC" -O1 -g -Wall -Werror -o program "$ROOT/tests/programs/valgrind.c" -pthread

# total FILE: the total of a file of callgrind.
total() {
	sed -n 's/^totals: *//p' "$1"
}

# between NAME NUMBER LEAST MOST
between() {
	if [[ $2 =~ ^[0-9]+$ ]] && (($2 >= $3 && $2 <= $4)); then
		pass "$1"
	else
		fail "$1" "$2 is not from $3 to $4"
	fi
}

# both NAME ARGUMENT OPTIONS...: runs the program under both.
both() {
	local name=$1 argument=$2
	shift 2
	run theirs valgrind --tool=callgrind --callgrind-out-file=theirs.cg "$@" ./program "$argument"
	same "$name: valgrind's status" 3 "$status"
	run ours "$front" --tool=callgrind --callgrind-out-file=ours.cg "$@" ./program "$argument"
	same "$name: status" 3 "$status"
	same_file "$name: output" theirs.out ours.out
	# The summary has the total of the file in both forms.
	same "$name: the summary" "$(total ours.cg)" "$(sed -n 's/^==[0-9]*== Collected : \([0-9]*\)$/\1/p' ours.err)"
	same "$name: the summary with commas" "$(total ours.cg)" \
		"$(sed -n 's/^==[0-9]*== I   refs:      \([0-9,]*\)$/\1/p' ours.err | tr -d ,)"
}

# Natively a request has no effect.
run native ./program instrumentation
same "native" "0 3" "$(<native.out) $status"
run stat "$SOFTPMU" stat -e instructions:u -- ./program instrumentation
same "stat: a request has no effect" "0 3" "$(<stat.out) $status"

# callgrind counts a request as one instruction, softpmu its five; the words of the request are stored before it. So the
# region has at most 30 instructions more than the two parts that are known. callgrind also leaves out the block of code that
# ends with the request to stop.
for which in instrumentation collect; do
	case $which in
	instrumentation) options=(--instr-atstart=no) ;;
	collect) options=(--collect-atstart=no) ;;
	esac
	both "$which" "$which" "${options[@]}"
	theirs=$(total theirs.cg) ours=$(total ours.cg)
	if [[ $theirs =~ ^[0-9]+$ && $ours =~ ^[0-9]+$ ]] && ((ours >= 300002 && ours <= 300032 && ours - theirs >= 0 && ours - theirs <= 20)); then
		pass "$which: $ours, callgrind $theirs"
	else
		fail "$which" "callgrind counts '$theirs', softpmu-valgrind '$ours'"
	fi
done

# What is not done is said.
run dumps "$front" --tool=callgrind --callgrind-out-file=dumps.cg ./program dump
same "DUMP_STATS, ZERO_STATS" 1 "$(grep -c 'asked 2 times to zero or to dump counts' dumps.err)"

# A function alone: exactly the same.
both "--toggle-collect" function --toggle-collect=measured
same "--toggle-collect: the count" "$(total theirs.cg)" "$(total ours.cg)"
between "--toggle-collect: what it is" "$(total ours.cg)" 300004 300024
same "the file has valgrind's name of the event" "events: Ir" "$(grep '^events:' ours.cg)"
expect "callgrind_annotate reads the file" callgrind_annotate ours.cg
same "callgrind_annotate: the function" 1 "$(callgrind_annotate ours.cg | grep -c '^300,004 .*:fixed ')"

# Children are followed on request.
run alone "$front" --tool=callgrind --callgrind-out-file=alone.cg ./program child
run children "$front" --tool=callgrind --callgrind-out-file=children.cg --trace-children=yes ./program child
between "--trace-children" $(($(total children.cg) - $(total alone.cg))) 300002 310000

# Names of files, --log-file, -q, and what has no effect.
FROM=variable run named "$front" --tool=callgrind --callgrind-out-file='out.%q{FROM}.%p' --log-file=log.%p --dump-line=yes \
	--cache-sim=no --branch-sim=no --compress-strings=no --separate-threads=no ./program
same "names: the file" 1 "$(find . -name 'out.variable.[0-9]*' | wc -l)"
same "names: the log has its number" "$(find . -name 'log.*' | sed 's/.*log\.//')" "$(sed -n 's/^==\([0-9]*\)== Collected.*/\1/p' log.*)"
same "names: nothing on standard error" "" "$(<named.err)"
run quiet "$front" -q --tool=none ./program
same "-q --tool=none" "1 3 " "$(<quiet.out) $status $(<quiet.err)"

# What gungraun gives by default, to a harness that finds valgrind in PATH.
mkdir bin
printf '#!/bin/sh\nexec %s "$@"\n' "$front" >bin/valgrind
chmod +x bin/valgrind
PATH=$PWD/bin:$PATH run gungraun valgrind --tool=callgrind --trace-children=yes --fair-sched=try --separate-threads=yes \
	--cache-sim=yes --compress-strings=no --compress-pos=no --dump-line=yes --dump-instr=no --combine-dumps=no \
	--collect-atstart=no --toggle-collect=measured --callgrind-out-file=gungraun.out --log-file=gungraun.log ./program function
same "gungraun's options: status" 3 "$status"
same "gungraun's options: the file of the first thread" "$(total theirs.cg)" "$(sed -n 's/^totals: \([0-9]*\) .*/\1/p' gungraun.out-01)"
same "gungraun's options: a thread is said" 1 "$(grep -c 'has the sum of all threads' gungraun.err)"
run alone "$front" --tool=callgrind --separate-threads=yes --callgrind-out-file=alone.out ./program collect
same "one thread: nothing is said" "3 0" "$status $(grep -c 'all threads' alone.err)"
expect "one thread: the file" test -s alone.out-01

# One line for what is not done.
for option in --tool=massif --cacheuse=yes --combine-dumps=yes --dump-before=main --zero-before=main --dump-instr=yes --leak-check=full --instr-atstart=2; do
	run refused "$front" --tool=callgrind "$option" ./program
	same "$option is refused" "1 1 " "$status $(grep -c '^softpmu-valgrind: .' refused.err) $(<refused.out)"
done
run version "$front" --version
same "--version" "softpmu-valgrind-$("$SOFTPMU" --version | sed 's/.* //')" "$(<version.out)"
run nothing "$front" ./program
same "a tool is needed" "1 1" "$status $(grep -c '^softpmu-valgrind: --tool is missing' nothing.err)"
run missing "$front" --tool=callgrind ./no-program
same "no such program" 127 "$status"
finish
