#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# older.sh: the families before architectural performance monitoring (Vol. 3B 18.15, 18.22, 18.23).
# Programs with known counts (tests/user/known/) count the same on each. Samples and PEBS
# records are those that the rules name. Branch traces are those of other families. What a
# family lacks is reported in one line.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile singlestep -lZydis
compile precise
compile precise-program -O1 -ffreestanding -fno-pie -nostdlib -static \
	-fno-stack-protector -fcf-protection=none

# events_of MODEL: prints lines of an event and the single-stepper's keys whose sum it is.
events_of() {
	case $1 in
	pentium*)
		printf '%s\n' "INSTRUCTIONS_EXECUTED instructions" "BRANCHES branches" \
			"DATA_READ loads" "DATA_WRITE stores" "LOCKED_BUS_CYCLE locks"
		;;&
	pentium-mmx) printf '%s\n' "TAKEN_BRANCHES taken far" "RETURNS ret" ;;
	esac
	case $1 in
	p6-*) printf '%s\n' "INST_RETIRED instructions" "BR_INST_RETIRED branches" "BR_TAKEN_RETIRED taken far" ;;
	netburst-*)
		printf '%s\n' "instr_retired:NBOGUSNTAG instructions" "branch_retired:MMNP:MMNM not_taken" \
			"branch_retired:MMNP:MMNM:MMTP:MMTM branches" "branch_retired:MMTM:MMTP taken far" \
			"retired_branch_type:CONDITIONAL cond" "retired_branch_type:CALL call" \
			"retired_branch_type:RETURN ret" "memory_loads loads" "memory_stores stores" \
			"front_end_event.NBOGUS:tag=uop_type.TAGSTORES stores"
		;;
	esac
}

# count MODEL KIND PROGRAM STATUS
count() {
	local events=() wants=() event keys key want n=0 got wrong=""
	while read -r event keys; do
		want=0
		for key in $keys; do
			want=$((want + $(sed -n "s/^$key=//p" "$SCRATCH/$3.step")))
		done
		events+=(-e "$event") wants+=("$event $want")
	done < <(events_of "$2")
	run "$SCRATCH/soft" "$SOFTPMU" stat -M "$1" -j -o "$SCRATCH/json" "${events[@]}" -- "$BUILT/$3"
	[[ $status == "$4" ]] || wrong="status $status, not $4; "
	for want in "${wants[@]}"; do
		n=$((n + 1))
		got=$(count_of "$SCRATCH/json" $n)
		[[ $got == "${want##* }" ]] || wrong+="${want% *}: $got, not ${want##* }; "
	done
	if ((n >= 3)) && [[ -z $wrong ]]; then
		pass "$1: $3"
	else
		fail "$1: $3" "$wrong"
	fi
}

for program in alignment blocks calls handler jcc jrcxz jumps loop memory nested redzone rep stack x87; do
	"$ASSEMBLER" -nostdlib -static -no-pie -Wl,--build-id=none -o "$BUILT/$program" \
		"$ROOT/tests/user/known/$program.S" || stop "$program" "does not build"
	run "$SCRATCH/native" "$BUILT/$program"
	native=$status
	run "$SCRATCH/discard" "$BUILT/singlestep" -o "$SCRATCH/$program.step" -- "$BUILT/$program"
	for model in pentium pentium-mmx; do
		count $model $model "$program" "$native"
	done
	for model in pentium-pro pentium-ii pentium-iii pentium-m; do
		count $model p6-like "$program" "$native"
	done
	for model in netburst prescott prescott-2m cedar-mill xeon-7100 xeon-mp-8m-l3; do
		count $model netburst-like "$program" "$native"
	done
done

# Samples: where the interrupt comes, and PEBS on MSR_IQ_COUNTER4 (18.15.7).
have perf || stop "perf" "is not installed"
trace=$SCRATCH/trace
run "$SCRATCH/step" "$BUILT/singlestep" -t "$trace" -o "$SCRATCH/counts" -- "$BUILT/precise-program"
# samples MODEL KEY EVENT PERIOD MODE [STARTER'S KEY AND EVENT]
samples() {
	local said after=${7:+--after=$7}
	run "$SCRATCH/record" "$SOFTPMU" record -M "$1" -e "$3" ${after:+"$after"} -c "$4" \
		-o "$SCRATCH/perf.data" -- "$BUILT/precise-program"
	run "$SCRATCH/script" perf script -i "$SCRATCH/perf.data" -F ip
	if said=$("$BUILT/precise" "$trace" "$2" "$4" "$5" ${6:+"$6"} <"$SCRATCH/script.out") &&
		[[ $said != "0 records"* ]]; then
		pass "$1: $3 $after -c $4: $said"
	else
		fail "$1: $3 $after -c $4" "$said $(head -n 1 "$SCRATCH/record.err")"
	fi
}
for period in 3 10 1009; do
	samples pentium-iii instructions instructions:u $period interrupt
	samples pentium-m branches branches:u $period interrupt
	for model in netburst prescott cedar-mill; do
		samples $model instructions instructions:u $period late
		samples $model cond retired_branch_type:CONDITIONAL $period late
		samples $model cond retired_branch_type:CONDITIONAL:u $period cascade \
			call retired_branch_type:CALL:u
		samples $model branches branch_retired:MMNP:MMNM:MMTP:MMTM:u $period cascade \
			instructions instructions:u
		samples $model loads memory_loads:upp $period next
		samples $model stores front_end_event.NBOGUS:tag=uop_type.TAGSTORES:pp $period next
	done
done
samples netburst loads memory_loads:upp 1 next
"$SOFTPMU" record -q -M netburst -e memory_loads:upp -c 99 -o "$SCRATCH/perf.data" -- "$BUILT/precise-program"
if perf script -i "$SCRATCH/perf.data" -F ip | "$BUILT/precise" "$trace" loads 98 next >/dev/null; then
	fail "another period" "is not noticed"
else
	pass "another period is noticed"
fi

# The branches are those of a family with 64-bit records.
"$SOFTPMU" record -q -M skylake -e intel_bts//u -o "$SCRATCH/bts" -- "$BUILT/precise-program"
perf script -i "$SCRATCH/bts" --itrace=b -F ip,addr >"$SCRATCH/branches"
(($(wc -l <"$SCRATCH/branches") > 10000)) || fail "branches" "$(wc -l <"$SCRATCH/branches")"
for model in pentium-m netburst prescott prescott-2m; do
	"$SOFTPMU" record -q -M $model -e intel_bts//u -o "$SCRATCH/bts" -- "$BUILT/precise-program"
	perf script -i "$SCRATCH/bts" --itrace=b -F ip,addr >"$SCRATCH/traced"
	if cmp -s "$SCRATCH/branches" "$SCRATCH/traced"; then
		pass "$model: branch trace"
	else
		fail "$model: branch trace" "$(diff "$SCRATCH/branches" "$SCRATCH/traced" | head -n 3)"
	fi
done

# The stacks of last branch records: one, four, eight, sixteen (17.11.2, 17.13, 17.14.2).
while read -r model depth; do
	"$SOFTPMU" record -q -M "$model" -b -e branches:u -c 1009 -o "$SCRATCH/perf.data" -- "$BUILT/precise-program"
	most=$(perf script -i "$SCRATCH/perf.data" -F brstack | awk '{ if (NF > most) most = NF } END { print most }')
	if [[ $most == "$depth" ]]; then
		pass "$model: $depth last branches"
	else
		fail "$model: last branches" "$most, not $depth"
	fi
done <<'END'
pentium-pro 1
pentium-m 8
netburst 4
prescott 16
END

# refuses NAME LINE ARGUMENTS: status and one line.
refuses() {
	run "$SCRATCH/refused" "$SOFTPMU" "${@:3}"
	if ((status)) && [[ $(<"$SCRATCH/refused.err") == "softpmu: $2" ]]; then
		pass "$1"
	else
		fail "$1" "status $status: $(<"$SCRATCH/refused.err")"
	fi
}
cd "$SCRATCH" || exit 1
refuses "Pentium has no interrupt" "pentium has no interrupt at a counter's overflow: its events can be counted (softpmu stat) but not sampled" \
	record -M pentium true
refuses "P6 has no cascades" "--after: pentium-iii has no counters that cascade" \
	record -M p6 -e branches:u --after instructions:u -c 100 true
refuses "counters that do not cascade" "no counter that can count the one event starts one that can count the other" \
	record -M netburst -e retired_branch_type:CALL:u --after instructions:u -c 100 true
refuses "a cascade has a period" "--after needs -c: the occurrences of 'instructions:u' from one start to the next (see softpmu record --help)" \
	record -M netburst -e branches:u --after instructions:u true
refuses "a cascade interrupts" "--after takes no precise events: the sample is where the interrupt comes (see softpmu record --help)" \
	record -M netburst -e memory_loads:upp --after instructions:u -c 100 true
refuses "P6 has no PEBS" "event 'instructions:upp' cannot be sampled precisely on pentium-iii" \
	record -M p6 -e instructions:upp true
refuses "P6 has no branch trace" "event 'intel_bts//u' is absent: pentium-iii has no branch trace store" \
	record -M p6 -e intel_bts//u true
refuses "nothing tags" "event 'front_end_event.NBOGUS:u' is absent: it counts tags; name the event that sets them with tag=EVENT, or use a metric such as memory_loads (see softpmu list)" \
	record -M netburst -e front_end_event.NBOGUS true
run "$SCRATCH/stat" "$SOFTPMU" stat -M pentium-mmx -e DATA_READ:c=2,DATA_READ:c=1 true
if grep -q '<not supported> *DATA_READ:c=2:u *absent' "$SCRATCH/stat.err" &&
	grep -q '[1-9][0-9,]* *DATA_READ:c=1:u *modelled' "$SCRATCH/stat.err" &&
	grep -q 'absent: .*no threshold but c=1, and no other modifier' "$SCRATCH/stat.err"; then
	pass "a threshold that Pentium lacks"
else
	fail "a threshold that Pentium lacks" "$(<"$SCRATCH/stat.err")"
fi
refuses "unit masks" "event 'cpu/event=2,umask=4/': the family has no unit masks; use config=CODE with a code from softpmu list" \
	stat -M netburst -e cpu/event=2,umask=4/ true
refuses "tags of another family" "event 'instructions:tag=branches': only front_end_event and execution_event of NetBurst take tag=" \
	stat -M p6 -e instructions:tag=branches true
finish
