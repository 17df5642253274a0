#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# children.sh: processes that a program starts, and programs that it executes, behave as natively. Their
# counts are added to the program's (perf's inherited events). perf.data has
# their FORK, COMM and EXIT records. Counts are known by hand (children-program.S).
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2016,SC2154
. "$(dirname "$0")/lib.sh"
compile unusual -pthread
compile children

"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/program" "$ROOT/tests/user/children-program.S" ||
	stop "children-program" "does not build"

# counts NAME EVENT WANT OPTIONS... -- COMMAND...
counts() {
	local name=$1 event=$2 want=$3
	shift 3
	run "$SCRATCH/count" "$SOFTPMU" stat -x, -e "$event" -o "$SCRATCH/count.stat" "$@"
	((status)) && fail "$name" "status $status: $(head -n 1 "$SCRATCH/count.err")"
	same "$name" "$want" "$(grep -v '^#' "$SCRATCH/count.stat" | sed -n '/./{s/,.*//p;q;}')"
}
counts "instructions of 101 processes" instructions:u 2157 -- "$BUILT/program"
counts "branches of 101 processes" branches:u 752 -- "$BUILT/program"
counts "instructions without children" instructions:u 1207 --no-inherit -- "$BUILT/program"
counts "branches without children" branches:u 402 --no-inherit -- "$BUILT/program"
counts "20 processes at a time" instructions:u $((289 + 20 * 2000006)) -- "$BUILT/program" 1 2
counts "20 processes, many events" \
	instructions:u,branches:u,mem_inst_retired.all_loads:u,mem_inst_retired.all_stores:u,fp_arith_inst_retired.scalar_double:u \
	$((289 + 20 * 2000006)) -- "$BUILT/program" 1 2

# Each process has its own samples.
for period in 101 100003; do
	run "$SCRATCH/rec" "$SOFTPMU" record -e instructions:u -c $period -o "$SCRATCH/perf.data" -- "$BUILT/program" 1 2
	((status)) && fail "record -c $period" "status $status: $(head -n 1 "$SCRATCH/rec.err")"
	same "samples every $period of 20 processes" $((289 / period + 20 * (2000006 / period))) \
		"$("$SOFTPMU" report -i "$SCRATCH/perf.data" -n | awk '/^ /{n += $2} END {print n}')"
done

# records FILE: prints who began and ended, as perf shows it. Processes are numbered by first appearance.
records() {
	perf script --show-task-events -i "$1" 2>/dev/null |
		awk '/PERF_RECORD_(FORK|EXIT|COMM)/ {
			sub(/^.*PERF_RECORD_/, "")
			while (match($0, /[0-9]+\/[0-9]+|\([0-9]+:[0-9]+\)/)) {
				word = substr($0, RSTART, RLENGTH); gsub(/[()]/, "", word); sub(/[:\/].*/, "", word)
				if (!(word in name)) name[word] = "p" n++
				$0 = substr($0, 1, RSTART - 1) " " name[word] " " substr($0, RSTART + RLENGTH)
			}
			gsub(/ +/, " "); print
		}'
}
if have perf; then
	run "$SCRATCH/rec" "$SOFTPMU" record -e instructions:u -c 1009 -o "$SCRATCH/perf.data" -- \
		bash -c "$BUILT/program 1; (exit 3)"
	same "record: status" 3 "$status"
	same "FORK, COMM and EXIT" "COMM exec: bash: p0
FORK p1 : p0
COMM exec: program: p1
EXIT p1 : p0
FORK p2 : p0
EXIT p2 : p0
EXIT p0 : p3" "$(records "$SCRATCH/perf.data" | sed 's/ $//')"
	if perf script --show-mmap-events -i "$SCRATCH/perf.data" 2>/dev/null | grep -q "program .*MMAP2.*/program$"; then
		pass "MMAP2 of an executed program"
	else
		fail "MMAP2 of an executed program" "there is none"
	fi
	run "$SCRATCH/rec" "$SOFTPMU" record -i -e instructions:u -c 1009 -o "$SCRATCH/perf.data" -- \
		bash -c "$BUILT/program 1; (exit 3)"
	same "--no-inherit: FORK, COMM and EXIT" "COMM exec: bash: p0
EXIT p0 : p1" "$(records "$SCRATCH/perf.data" | sed 's/ $//')"
else
	not_run "FORK, COMM and EXIT" "no perf"
fi

# like_native NAME COMMAND...: output and status under `stat` and `record` are those of a native run.
like_native() {
	local name=$1 native options
	shift
	run "$SCRATCH/native" "$@"
	native=$status
	[[ -s $SCRATCH/native.out ]] || fail "$name" "the native run printed nothing"
	for options in "stat -o $SCRATCH/stat" "stat -i -o $SCRATCH/stat" "record -q -c 10007 -o $SCRATCH/perf.data"; do
		# shellcheck disable=SC2086
		run "$SCRATCH/soft" "$SOFTPMU" $options -e instructions:u -- "$@"
		if ((status != native)); then
			fail "$name: $options" "status $status, natively $native: $(head -n 2 "$SCRATCH/soft.err")"
		elif ! cmp -s "$SCRATCH/native.out" "$SCRATCH/soft.out"; then
			fail "$name: $options" "$(diff "$SCRATCH/native.out" "$SCRATCH/soft.out" | head -n 4)"
		elif [[ $(<"$SCRATCH/native.err") != "$(grep -v ': Aborted$\|^softpmu: .* missing$' "$SCRATCH/soft.err")" ]]; then
			fail "$name: $options" "$(diff "$SCRATCH/native.err" "$SCRATCH/soft.err" | head -n 4)"
		else
			pass "$name: ${options%% *}"
		fi
	done
}

cd "$SCRATCH" || exit 1
printf '#!/bin/sh\necho script "$0" "$@"; exit 9\n' >script
printf '#!%s/script  an argument \n' "$SCRATCH" >nested
printf 'echo no interpreter "$@"\n' >plain
printf '#!/nonexistent/interpreter\n' >bad
printf 'all: a b\na:\n\t@echo a $$((6 * 7))\nb: a\n\t@./nested x || echo failed $$?\n\t-nosuchcommand --option\n\t@./script | tr a-z A-Z\n' >makefile
chmod +x script nested plain bad
like_native "execve's errors and scripts" "$BUILT/children" exec
like_native "posix_spawn" "$BUILT/children" spawn
like_native "signals and children" "$BUILT/children" signals
like_native "clone" "$BUILT/children" clone
like_native "bash" bash -c 'echo hi | tr a-z A-Z | cat; x=$(echo sub); echo "$x"; (exit 4); echo $?
	./script 1; echo $?; ./nested 2; echo $?; ./plain 3; ./bad; echo $?; nosuch; echo $?
	for i in 1 2 3; do /bin/echo $i & wait; done; trap "echo term" TERM; kill $$; sleep 0.05
	f() { kill -9 $BASHPID; }; f & wait $! 2>/dev/null; echo $?; exec ./script end'
like_native "make" make -f makefile
like_native "make -j2" make -s -j2 -f makefile a
if have perl; then
	like_native "perl" perl -e '$| = 1; my $ended; $SIG{CHLD} = sub { print "child\n" if ($ended = waitpid(-1, 1)) > 0 };
		my $pid = fork; exit 7 unless $pid; select undef, undef, undef, 0.01 until $ended; print `echo back`; print system("exit 3") >> 8, "\n";'
else
	not_run "perl" "no perl"
fi
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null)
if [[ -n $python ]]; then
	like_native "python" "$python" -c '
import subprocess, os, sys
print(subprocess.run(["echo", "x"], capture_output=True).stdout, subprocess.run("exit 5", shell=True))
try: subprocess.run(["nosuch"])
except FileNotFoundError as e: print(e)
print(os.posix_spawn("/bin/true", ["true"], {}) > 0, os.wait()[1])
p = subprocess.Popen(["sleep", "100"]); p.terminate(); print(p.wait())
pid = os.fork()
if not pid: os.execv("/bin/sh", ["sh", "-c", "exit 6"])
print(os.waitpid(pid, 0)[1]); sys.stdout.flush(); os.abort()'
else
	not_run "python" "no python3"
fi

# The counts of a killed process are missing.
for options in "" -i; do
	# shellcheck disable=SC2086
	run "$SCRATCH/killed" "$SOFTPMU" stat $options -x, -e instructions:u -o "$SCRATCH/killed.stat" -- \
		bash -c 'kill -9 $BASHPID & wait'
	same "a killed process is told of ${options:-}" "$((${#options} ? 0 : 1))" "$(grep -c 'missing$' "$SCRATCH/killed.err")"
done

# A parent translates what its children run, so a later child finds it translated. The number of
# translated blocks does not grow with the number of children. blocks CHILDREN: prints how many
# blocks a run with that many forked children translates.
blocks() {
	run "$SCRATCH/blocks" "$SOFTPMU" stat -v --no-cache -e instructions:u -- \
		sh -c "i=0; while [ \$i -lt $1 ]; do (:); i=\$((i + 1)); done"
	cat "$SCRATCH/blocks.out" "$SCRATCH/blocks.err" | sed -n 's/.*, blocks: \([0-9]*\),.*/\1/p'
}
few=$(blocks 50) many=$(blocks 150)
if ((few > 0 && many > 0)); then
	same "100 more children need fewer than 100 more translations" 1 $((many - few < 100))
else
	fail "translated blocks are told" "$few, $many"
fi

# A set-user-ID file runs, and counts nowhere.
if [[ $(id -u) == 0 ]] && have setpriv; then
	cp /bin/true "$BUILT/suid" && chown 65534 "$BUILT/suid" && chmod 4755 "$BUILT/suid"
	run "$SCRATCH/suid" "$SOFTPMU" stat -x, -e instructions:u -o "$SCRATCH/suid.stat" -- \
		sh -c "$BUILT/suid; $BUILT/suid && echo ran"
	same "set-user-ID: runs" "0 ran" "$status $(cat "$SCRATCH/suid.out")"
else
	not_run "set-user-ID" "needs root"
fi
finish
