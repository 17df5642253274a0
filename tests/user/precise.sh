#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# precise.sh: the k-th record of a sampled run is the one that the arming rule names.
#
# The program is at fixed addresses, so the single-stepper's sequence of addresses equals that of
# the run under softpmu. precise.c compares every record of `perf script` with it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile singlestep -lZydis
compile precise
compile precise-program -O1 -ffreestanding -fno-pie -nostdlib -static \
	-fno-stack-protector -fcf-protection=none
have perf || stop "perf" "is not installed"

program=$BUILT/precise-program
trace=$SCRATCH/trace
run "$SCRATCH/step" "$BUILT/singlestep" -t "$trace" -r "$trace.registers" -o "$SCRATCH/counts" -- "$program"
expected_status=$status
declare -A event
while read -r key name; do
	event[$key]=$name
done < <("$BUILT/singlestep" -l)
grep -q '^instructions=[0-9]\{5\}' "$SCRATCH/counts" || stop "single-step" "counted nothing"

# samples KEY MODIFIERS PERIOD MODE [OPTIONS]
samples() {
	local key=$1 name="$1:u$2 -c $3 $4" fields=ip said
	[[ $4 == *address ]] && fields=ip,addr
	[[ $4 == *registers ]] && fields=ip,iregs
	run "$SCRATCH/record" "$SOFTPMU" record -e "${event[$key]}$2" -c "$3" "${@:5}" \
		-o "$SCRATCH/perf.data" -- "$program"
	if ((status != expected_status)); then
		fail "$name" "exit status $status, expected $expected_status: $(tail -n 1 "$SCRATCH/record.err")"
		return
	fi
	# A run too short for one record leaves a file without samples.
	run "$SCRATCH/script" perf script -i "$SCRATCH/perf.data" -F "$fields"
	if ((status)) || [[ -s $SCRATCH/script.err ]]; then
		fail "$name" "perf script: $status $(head -n 1 "$SCRATCH/script.err")"
		return
	fi
	if said=$("$BUILT/precise" "$trace" "$key" "$3" "$4" <"$SCRATCH/script.out"); then
		pass "$name: $said"
	else
		fail "$name" "$said"
	fi
}

for period in 1 2 3 7 100 1009 100003; do
	samples instructions pp $period pebs
done
samples instructions p 7 pebs
samples instructions ppp 7 pebs
for period in 1 2 13 1009; do
	samples branches pp $period pebs
done
for key in cond not_taken taken call ret far; do
	samples "$key" pp 1 pebs
	samples "$key" pp 5 pebs
done
for key in loads stores; do
	for period in 1 3 101; do
		samples $key pp $period address -d
	done
done
samples locks pp 1 address -d
# Precise store (18.9.4.3): format 1 has the next instruction and the store's address.
later_stores=${event[stores]}
event[stores]=mem_trans_retired.precise_store:u
for period in 1 3 101; do
	samples stores pp $period next-address -d -M sandybridge
done
event[stores]=$later_stores
samples instructions pp 7 pebs -M icelake
samples instructions ppp 7 pdir-pebs -M icelake
for period in 1 2 10; do
	samples instructions pp $period registers --intr-regs
done
samples taken pp 3 registers --intr-regs
samples stores pp 1 registers --intr-regs
for period in 10 101 1009; do
	samples instructions "" $period interrupt
done
samples taken "" 50 interrupt
# Precise distribution (18.9.4.4): the record is of the instruction that overflows.
later_instructions=${event[instructions]}
event[instructions]=inst_retired.prec_dist:u
for period in 1 2 3 7 100 1009 100003; do
	samples instructions pp $period pdir-pebs -M skylake
done
for model in ivybridge haswell icelake; do
	mode=pdir-pebs
	[[ $model == ivybridge ]] && mode=pdir-next
	samples instructions pp 1 $mode -M $model
	samples instructions pp 101 $mode -M $model
done
for period in 2 3 10; do
	samples instructions pp $period pdir-registers --intr-regs -M skylake
done
event[instructions]=$later_instructions

# Several events at once, each with its own counter. Five and more need more than one unit. Where one
# record can belong to several counters (18.8.1.1), each has its own unit.
model=skylake
together() {
	local key options=(-M "$model")
	for key in "$@"; do
		options+=(-e "${event[$key]}pp")
	done
	run "$SCRATCH/record" "$SOFTPMU" record "${options[@]}" -c 101 -o "$SCRATCH/perf.data" -- "$program"
	run "$SCRATCH/script" perf script -i "$SCRATCH/perf.data" -F event,ip
	for key in "$@"; do
		# The event's name comes first, as it was given. Case and modifiers are perf's.
		awk -v name="${event[$key]}pp:" 'tolower($1) == tolower(name) { print $2 }' \
			"$SCRATCH/script.out" >"$SCRATCH/one"
		if said=$("$BUILT/precise" "$trace" "$key" 101 pebs <"$SCRATCH/one"); then
			pass "$key of $# events on $model: $said"
		else
			fail "$key of $# events on $model" "$said"
		fi
	done
}
together instructions branches
together instructions taken loads stores
together branches cond not_taken taken call ret loads stores locks
# Reduced skid (18.7.1.2): the record is of the instruction that overflows, for each precise event.
for period in 1 2 3 7 100 1009; do
	samples instructions pp $period pdir-pebs -M goldmont
done
later_loads=${event[loads]}
event[loads]=mem_uops_retired.all_loads:u
samples loads pp 101 pdir-address -d -M goldmont
event[loads]=$later_loads
for period in 2 101; do
	samples instructions ppp $period pdir-pebs -M goldmont-plus
	samples branches ppp $period pdir-pebs -M goldmont-plus
done
model=haswell
event[branches]=br_inst_retired.all_branches_pebs:u
together branches taken cond call ret

# The comparison must find a record that is off by one instruction, a missing one and an
# additional one.
run "$SCRATCH/record" "$SOFTPMU" record -e instructions:upp -c 99 -o "$SCRATCH/perf.data" -- "$program"
perf script -i "$SCRATCH/perf.data" -F ip >"$SCRATCH/good" 2>/dev/null
refused() {
	if "$BUILT/precise" "$trace" instructions "$2" pebs >/dev/null; then
		fail "$1" "is not noticed"
	else
		pass "$1"
	fi
}
refused "another period" 98 <"$SCRATCH/good"
refused "a missing record" 99 < <(sed '$d' "$SCRATCH/good")
refused "one record too many" 99 < <(sed 'p;$p' "$SCRATCH/good")
refused "a wrong address" 99 < <(sed '20s/[0-9a-f]\{1,\}/&0/' "$SCRATCH/good")
run "$SCRATCH/record" "$SOFTPMU" record -e instructions:u -c 100 -o "$SCRATCH/perf.data" -- "$program"
perf script -i "$SCRATCH/perf.data" -F ip >"$SCRATCH/skid" 2>/dev/null
refused "skid by one instruction" 99 <"$SCRATCH/skid"
run "$SCRATCH/record" "$SOFTPMU" record -e inst_retired.prec_dist:upp -c 100 -o "$SCRATCH/perf.data" -- "$program"
perf script -i "$SCRATCH/perf.data" -F ip >"$SCRATCH/overflowing" 2>/dev/null
refused "precise distribution" 100 <"$SCRATCH/overflowing"
if "$BUILT/precise" "$trace" instructions 99 pdir-pebs <"$SCRATCH/good" >/dev/null; then
	fail "the general rule" "is taken for precise distribution"
else
	pass "the general rule is not precise distribution"
fi
finish
