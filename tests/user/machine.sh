#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine.sh: stat --machine, which counts events of caches and branch prediction by a model (docs/machine.md).
# With cachegrind's machine the counts are exactly those of cachegrind, for a program whose addresses do not
# change (machine-program.c).  Programs run as without the model.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
subjects=(walk chase splits strings forms calls conditions)
for subject in "${subjects[@]}"; do
	compile machine-program -O1 -static -nostdlib -fno-pie -fno-stack-protector -fcf-protection=none \
		-fno-builtin -mno-avx -Wno-unused-function -DSUBJECT="$subject"
	mv "$BUILT/machine-program" "$BUILT/$subject"
done
cd "$SCRATCH" || exit 1
SHAPE=("--I1=32768,8,64" "--D1=32768,8,64" "--LL=8388608,16,64")
EVENTS=mem_load_uops_retired.l1_miss:u,cache-misses:u,branch-misses:u

# modelled MACHINE EVENTS COMMAND...: the counts, one after the other
MODEL=haswell
modelled() {
	run counted "$SOFTPMU" stat -M "$MODEL" --machine="$1" -x, -o counts -e "$2" -- "${@:3}"
	sed '/^#/d; /^$/d; s/,.*//' counts | tr '\n' ' ' | sed 's/ $//'
}

# Repeated and locked instructions have branches of their own for cachegrind.
if have valgrind; then
	for subject in "${subjects[@]}"; do
		valgrind -q --tool=cachegrind --cache-sim=yes --branch-sim=yes "${SHAPE[@]}" --cachegrind-out-file=theirs \
			"$BUILT/$subject" >/dev/null 2>&1
		# Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim
		expected=$(awk '/^summary:/ { print $6, $4 + $7 + $10, $12 + $14 }' theirs)
		counted=$(modelled cachegrind "$EVENTS" "$BUILT/$subject")
		if [[ $subject == strings || $subject == forms ]]; then
			expected=${expected% *} counted=${counted% *}
		fi
		same "$subject: as cachegrind: D1mr, misses of the last level, mispredictions" "$expected" "$counted"
	done
else
	not_run "as cachegrind" "valgrind is not installed"
fi

# perf's names of cache events, by Linux's table of Skylake.
if have valgrind; then
	valgrind -q --tool=cachegrind --cache-sim=yes "${SHAPE[@]}" --cachegrind-out-file=theirs "$BUILT/chase" >/dev/null 2>&1
	run counted "$SOFTPMU" stat --machine=cachegrind -x, -o counts \
		-e L1-dcache-load-misses:u,L1-icache-load-misses:u,l1d.replacement:u -- "$BUILT/chase"
	same "L1-dcache-load-misses and L1-icache-load-misses" \
		"$(awk '/^events:/ { for (i = 2; i <= NF; i++) at[$i] = i } /^summary:/ { print $at["D1mr"] + $at["D1mw"], $at["I1mr"], $at["D1mr"] + $at["D1mw"] }' theirs)" \
		"$(sed '/^#/d; /^$/d; s/,.*//' counts | tr '\n' ' ' | sed 's/ $//')"
fi
read -r walks loads < <(MODEL=skylake modelled skylake dTLB-load-misses:u,mem_inst_retired.stlb_miss_loads:u "$BUILT/chase")
same "page walks of loads" "$loads" "$walks"

# What code counts is the same.
for subject in "${subjects[@]}"; do
	run plain "$SOFTPMU" stat -x, -o plain -e instructions:u,branches:u -- "$BUILT/$subject"
	same "$subject: instructions and branches" "$(sed '/^#/d; /^$/d; s/,.*//' plain | tr '\n' ' ' | sed 's/ $//')" \
		"$(modelled skylake instructions:u,branches:u "$BUILT/$subject")"
	# The same while every event of the model is wanted.
	same "$subject: the same with modelled events" "$(sed '/^#/d; /^$/d; s/,.*//' plain | tr '\n' ' ' | sed 's/ $//')" \
		"$(modelled skylake "instructions:u,branches:u,$EVENTS" "$BUILT/$subject" | cut -d' ' -f1,2)"
done

# NetBurst counts misses by tags on replay (table 19-33).  A metric that the model cannot count is absent.
expected=$(modelled haswell mem_load_uops_retired.l1_miss:u "$BUILT/walk")
same "NetBurst's replays" "$expected" \
	"$(MODEL=netburst modelled haswell 1stL_cache_load_miss_retired:u "$BUILT/walk")"
same "replays that are absent" "<not supported>" \
	"$(MODEL=netburst modelled haswell split_load_retired:u "$BUILT/splits")"

# Counts repeat.
run first "$SOFTPMU" stat --deterministic --machine -x, -o first -e cache-misses:u,branch-misses:u -- sort --parallel=1 \
	"$ROOT/README.md"
for run in 2 3 4; do
	run again "$SOFTPMU" stat --deterministic --machine -x, -o again -e cache-misses:u,branch-misses:u -- \
		sort --parallel=1 "$ROOT/README.md"
	same "run $run: the same modelled counts" "$(cut -d, -f1,3 first)" "$(cut -d, -f1,3 again)"
done

# Threads, processes, signals and programs that write code do what they do natively.
# as_natively NAME COMMAND...
as_natively() {
	local name=$1 native
	shift
	run native "$@"
	native=$status
	run soft "$SOFTPMU" stat --machine -o stat -e instructions:u,cache-misses:u,branch-misses:u -- "$@"
	same "$name: status" "$native" "$status"
	same "$name: output" "$(<native.out)" "$(<soft.out)"
}
seq 20000 >numbers
as_natively "a pipeline" bash -c 'sort -R numbers | sort -n | gzip | gzip -d | md5sum; (exit 3); echo $?'
as_natively "threads" bash -c "xz -T2 --block-size=16KiB -0 -c numbers | md5sum"
as_natively "signals" bash -c 'trap "n=\$((n + 1))" USR1; for i in {1..200}; do kill -USR1 $$; done; echo $n'
if have perl; then
	as_natively "a timer" perl -e '
		use Time::HiRes "ualarm"; $SIG{ALRM} = sub { $n++ }; ualarm(2000, 2000);
		for (1 .. 300000) { $s = ($s * 31 + $_) % 1000003 } print "$s\n";
		$end = time + 20; 1 while $n <= 5 && time < $end; # a fast machine has had fewer ticks by now
		ualarm(0); print $n > 5 ? "ticks\n" : "none\n"'
fi

# What is absent without a model, and what is wrong.
run absent "$SOFTPMU" stat -e cache-misses:u true
same "without --machine: why it is absent" 1 "$(grep -c 'with --machine' absent.err)"
run wrong "$SOFTPMU" stat --machine=nothing true
same "an unknown machine" "129 1" "$status $(grep -c "no machine 'nothing'; there are: cachegrind, " wrong.err)"

# Without a name it is the machine of the processor: a Pentium's caches are smaller than those of a Coffee Lake.
misses() {
	run counted "$SOFTPMU" stat --machine "$@" -x, -o counts -e mem_load_retired.l1_miss:u,cache-misses:u -- "$BUILT/walk"
	sed -n 's/^\([0-9]*\),.*/\1/p' counts | tr '\n' ' '
}
same "two counts" 2 "$(misses -M skylake | wc -w)"
same "kabylake has the machine of skylake" "$(misses -M skylake)" "$(misses -M kabylake)"
run older "$SOFTPMU" stat --machine -M pentium -x, -o older -e DATA_READ:u -- "$BUILT/walk"
same "a Pentium has a machine" 0 "$status"

# Operands in GS: 10 loads, and 8 elements of REP MOVSB.
if has_feature fsgsbase; then
	"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/gsaccess" "$ROOT/tests/user/known/gsaccess.S"
	run counted "$SOFTPMU" stat --machine -x, -o counts -e mem_load_retired.l1_hit:u,mem_load_retired.l1_miss:u -- \
		"$BUILT/gsaccess"
	same "loads from GS" 18 "$(awk -F, '/^[0-9]/ { sum += $1 } END { print sum }' counts)"
else
	not_run "loads from GS" "the processor has no FSGSBASE"
fi
finish
