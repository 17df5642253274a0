#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine_front.sh: the front end of stat --machine and record --machine: sources of micro-operations, what
# FRONTEND_RETIRED counts (18.13.1.4), and machine clears.  tests/unit/uarch_front.c has known programs.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
for subject in walk chase calls; do
	compile machine-program -O1 -static -nostdlib -fno-pie -fno-stack-protector -fcf-protection=none \
		-fno-builtin -mno-avx -Wno-unused-function -DSUBJECT="$subject"
	mv "$BUILT/machine-program" "$BUILT/$subject"
done
cd "$SCRATCH" || exit 1

# counts MODEL EVENTS PROGRAM: one after the other
counts() {
	run counted "$SOFTPMU" stat --machine -M "$1" -x, -e "$2" -- "$BUILT/$3"
	cut -d, -f1 counted.err | tr '\n' ' '
}

# Each micro-operation has one source.
for subject in walk chase calls; do
	read -r dsb mite ms slots < <(counts skylake idq.dsb_uops:u,idq.mite_uops:u,idq.ms_uops:u,uops_retired.retire_slots:u "$subject")
	same "$subject: Skylake's sources" "$slots" $((dsb + mite + ms))
	expect "$subject: a loop is decoded once" test $((10 * mite)) -lt "$dsb"
	read -r lsd others slots < <(counts haswell lsd.uops:u,idq.mite_all_uops:u,uops_retired.retire_slots:u "$subject")
	same "$subject: Haswell's sources" "$slots" $((lsd + others))
	read -r lsd slots < <(counts icelake lsd.uops:u,uops_retired.slots:u walk)
	expect "$subject: a short loop is in Ice Lake's loop buffer" test $((2 * lsd)) -gt "$slots"
	same "$subject: the same again" "$dsb $mite $ms " "$(counts skylake idq.dsb_uops:u,idq.mite_uops:u,idq.ms_uops:u "$subject")"
	same "$subject: clocks do not change" "$(counts skylake cycles:u "$subject")" \
		"$(counts skylake cycles:u,idq.dsb_uops:u "$subject" | sed 's/[0-9]* $//')"
	same "$subject: no machine clear" "0 0 0 " \
		"$(counts skylake machine_clears.count:u,machine_clears.smc:u,machine_clears.memory_ordering:u "$subject")"
	same "$subject: each clear of the pipeline is a misprediction" "$(counts skylake branch-misses:u "$subject")" \
		"$(counts skylake int_misc.recovery_stalls_count:u "$subject")"
done

# FRONTEND_RETIRED counts what its register selects.
read -r misses < <(counts skylake icache_64b.iftag_miss:u calls)
expect "fetches miss" test "$misses" -gt 0
same "by Intel's name" "$misses " "$(counts skylake frontend_retired.l1i_miss:u calls)"
same "by Linux's term" "$misses " "$(counts skylake cpu/event=0xc6,umask=1,frontend=0x12/u calls)"
for model in graniterapids lunarlake; do # libpfm4 has no table of these
	read -r misses < <(counts $model frontend_retired.l1i_miss:u calls)
	expect "$model: fetches miss" test "$misses" -gt 0
	same "$model: by Linux's term" "$misses " "$(counts $model cpu/event=0xc6,umask=3,frontend=0x12/u calls)"
	same "$model: another condition" "$(counts $model cpu/event=0xc6,umask=3,frontend=1/u calls)" \
		"$(counts $model FRONTEND_RETIRED.ANY_DSB_MISS:u calls)"
done
read -r misses < <(counts skylake icache_64b.iftag_miss:u calls)
same "page walks" "$(counts skylake itlb_misses.walk_completed:u calls)" "$(counts skylake frontend_retired.stlb_miss:u calls)"
expect "the decoded instruction cache" test "$(counts skylake frontend_retired.any_dsb_miss:u calls)" -gt 0
run record "$SOFTPMU" record -q --machine -e frontend_retired.l1i_miss:upp -c 1 -o perf.data -- "$BUILT/calls"
same "record: status" 0 "$status"
if have perf; then
	# The overflow arms PEBS, and the next miss makes the record.
	same "every other miss is a sample" $((misses / 2)) "$(perf script -i perf.data -F ip | grep -c .)"
else
	not_run "every other miss is a sample" "perf is not installed"
fi

# What is absent says why.
why() {
	run absent "$SOFTPMU" stat --machine -e "$1" -- "$BUILT/walk"
	cat absent.err
}
why frontend_retired:u >text
expect "no condition" grep -qF "<not supported>" text
why frontend_retired.dsb_miss:u >text
expect "a condition that the model does not have" grep -qF "<not supported>" text
why frontend_retired.l1i_miss:u,frontend_retired.l2_miss:u >text
expect "two conditions" grep -qF "needs another condition of the front end than an earlier event" text
run absent "$SOFTPMU" list --machine -j -M skylake FRONTEND_RETIRED
expect "the list says why" grep -qF "it needs a condition of the front end: frontend=N" absent.out
finish
