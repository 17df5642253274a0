#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# signals.sh: programs with handlers of their own behave as natively. Wherever a signal
# arrives, nothing is counted twice or lost. An interrupt is taken between two
# instructions (Vol. 3A 6.6), and the handler's instructions count like any others.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile signals-program
compile signals-corners -pthread

# like_native NAME COMMAND...: output and status under `stat` are those of a native run.
like_native() {
	local name=$1 native
	shift
	run "$SCRATCH/native" "$@"
	native=$status
	run "$SCRATCH/soft" "$SOFTPMU" stat -e instructions:u,mem_inst_retired.all_loads:u -o "$SCRATCH/stat" -- "$@"
	if [[ ! -s $SCRATCH/native.out && $native != 139 ]]; then
		fail "$name" "the native run printed nothing"
	elif ((status != native)); then
		fail "$name" "status $status, natively $native: $(head -n 2 "$SCRATCH/soft.err")"
	elif ! cmp -s "$SCRATCH/native.out" "$SCRATCH/soft.out"; then
		fail "$name" "$(diff "$SCRATCH/native.out" "$SCRATCH/soft.out" | head -n 4)"
	else
		pass "$name"
	fi
}

for mode in masks flags stacks faults nowhere state calls jumps altered profile dies; do
	like_native "$mode" "$BUILT/signals-program" $mode
done 2>/dev/null
for subject in frames pointers unwritable blocked inherited counter vanishes dispatched; do
	like_native "$subject" "$BUILT/signals-corners" $subject
done 2>/dev/null
# Natively the kernel ends it or not, depending on whether it writes to the area meanwhile.
run "$SCRATCH/soft" "$SOFTPMU" stat -e instructions:u -o "$SCRATCH/stat" -- "$BUILT/signals-corners" vanishes-registered 2>/dev/null
expect "vanishes-registered: ends as natively, not $status: $(head -n 1 "$SCRATCH/soft.err")" test "$status" = 0 -o "$status" = 139
if g++ -O1 -fnon-call-exceptions -o "$BUILT/exceptions" "$ROOT/tests/user/signals-program.cc" 2>/dev/null; then
	like_native "exceptions leave handlers" "$BUILT/exceptions"
else
	not_run "exceptions leave handlers" "no g++"
fi
if have perl; then
	# shellcheck disable=SC2016
	like_native "perl's %SIG" "$(command -v perl)" -e '$SIG{ALRM} = sub { die "alarm\n" };
		for (1 .. 3) { eval { alarm 1; 1 while 1; }; print "$_ $@"; }
		use Time::HiRes "ualarm"; my $n = 0; $SIG{ALRM} = sub { $n++ }; ualarm 1000, 1000;
		my $x = 0; while ($n < 200) { $x++ } ualarm 0; print "done\n";'
else
	not_run "perl's %SIG" "no perl"
fi
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null)
if [[ -n $python ]]; then
	like_native "python's signal" "$python" -c '
import signal, time, os
seen = []
signal.signal(signal.SIGALRM, lambda n, f: seen.append(n))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
while len(seen) < 200:
    pass
signal.setitimer(signal.ITIMER_REAL, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.sigwait({signal.SIGUSR1}), signal.sigpending())
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    print("interrupted")'
else
	not_run "python's signal" "no python3"
fi

# interrupted_counts EVENT ROUND HANDLER OTHERS [ODD]: with n rounds of the loop and h runs of the
# handler, expects ROUND * n + HANDLER * h + OTHERS, plus ODD for each odd round.
"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/interrupted" "$ROOT/tests/user/interrupted-program.S" ||
	stop "interrupted-program" "does not build"
interrupted_counts() {
	local event=$1 rounds handled want got
	run "$SCRATCH/int" "$SOFTPMU" stat -x, -e "$event" -o "$SCRATCH/int.stat" "${@:6}" -- "$BUILT/interrupted"
	read -r rounds handled < <(od -An -t u8 "$SCRATCH/int.out")
	got=$(grep -v '^#' "$SCRATCH/int.stat" | sed -n '/./{s/,.*//p;q;}')
	if ((status || handled < 400)); then
		fail "$event while a timer interrupts" "status $status: $(head -n 1 "$SCRATCH/int.err")"
		return
	fi
	want=$(($2 * rounds + $3 * handled + $4 + $5 * ((rounds + 1) / 2)))
	same "$event while a timer interrupts ($rounds rounds)" "$want" "$got"
}
# Outside the loop: 32 instructions, 5 of them far branches. Two loads and one store are in the sums
# below; loads of the handler (its CMPs, saved RIP, INCQ, RET) are in the handler's count.
interrupted_counts instructions:u 27 24 32 0
interrupted_counts branches:u 9 4 5 0
interrupted_counts BR_INST_RETIRED.CONDITIONAL:u 4 2 0 0
interrupted_counts BR_INST_RETIRED.NOT_TAKEN:u 2 2 1 1
interrupted_counts BR_INST_RETIRED.NEAR_RETURN:u 2 1 0 0
interrupted_counts BR_INST_RETIRED.FAR_BRANCH:u 0 1 5 0
interrupted_counts MEM_INST_RETIRED.ALL_LOADS:u 7 3 0 0
interrupted_counts MEM_INST_RETIRED.ALL_STORES:u 5 1 1 0
# Events that no instruction of the loop counts: the loop never returns to the engine.
interrupted_counts FP_ARITH_INST_RETIRED.SCALAR_DOUBLE:u 0 0 0 0
# Many events at a time; the first one is compared.
interrupted_counts instructions:u,branches:u,BR_INST_RETIRED.NOT_TAKEN:u,MEM_INST_RETIRED.ALL_LOADS:u,FP_ARITH_INST_RETIRED.SCALAR_DOUBLE:u 27 24 32 0

# Samples: every instruction at a multiple of the period, so their number follows from the count.
for period in 50 997 100003; do
	run "$SCRATCH/rec" timeout 100 "$SOFTPMU" record -e instructions:u -c $period -o "$SCRATCH/perf.data" -- \
		"$BUILT/interrupted"
	read -r rounds handled < <(od -An -t u8 "$SCRATCH/rec.out")
	want=$(((27 * rounds + 24 * handled + 32) / period))
	got=$("$SOFTPMU" report -i "$SCRATCH/perf.data" -n 2>/dev/null | awk '/^ /{n += $2} END {print n}')
	((status)) && fail "record -c $period" "status $status: $(head -n 1 "$SCRATCH/rec.err")"
	same "samples every $period while a timer interrupts" "$want" "$got"
done
finish
