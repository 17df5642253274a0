#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# probe.sh: what a guest finds of its unit before it counts anything (probe.c), and what the monitor shows:
# vendor, family, model and frequency (CPUID, Vol. 2A), addresses of last branch records (17.5), absent
# events, and that last branch records, call stacks and branch traces need no single instructions.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $QEMU ]] || stop "QEMU" "there is no $QEMU"

image=$SCRATCH/probe
expect "build" "$ROOT/tests/guest/legacy_image.sh" "$image" probe.c

# probe CPU OPTION...: runs the guest, and queries the monitor when it is done.
probe() {
	local cpu=$1 tries=0
	shift
	: >"$SCRATCH/said"
	rm -f "$SCRATCH/log"
	mkfifo "$SCRATCH/monitor"
	timeout 300 "$QEMU" -M q35 -m 64 -nodefaults -display none -serial "file:$SCRATCH/said" \
		-monitor stdio -kernel "$image.bin" -cpu "$cpu" -d unimp -D "$SCRATCH/log" "$@" \
		<"$SCRATCH/monitor" >"$SCRATCH/answers" 2>&1 &
	exec 7>"$SCRATCH/monitor"
	rm "$SCRATCH/monitor"
	until grep -q '^done' "$SCRATCH/said" || ((tries++ > 600)); do sleep 0.1; done
	printf 'info pmu\nquit\n' >&7 2>/dev/null
	wait $!
	exec 7>&-
	sed -i 's/\r//g' "$SCRATCH/said" "$SCRATCH/answers"
}

of() { sed -n "s/^$1: //p" "$SCRATCH/said"; }

# named CPU FAMILY-AND-MODEL NAME
named() {
	probe "$1"
	same "$1: vendor" GenuineIntel "$(of vendor)"
	same "$1: family and model" "$2" "$(of "family and model")"
	same "$1: name" "$3" "$(of name | sed -E 's/ @ [0-9]+[.][0-9]{2}GHz$/ @/')"
}

named max,pmu-model=skylake "6 94" "Intel Processor (skylake) @"
named EPYC,pmu-model=haswell "6 60" "Intel Processor (haswell) @"
named Skylake-Client,pmu=on "6 94" "Intel Core Processor (Skylake) @"
named Broadwell-noTSX-IBRS,pmu=on "6 61" "Intel Core Processor @" # the rest has no room
named "Haswell,pmu=on,model-id=Mine @ 3GHz" "6 60" "Mine @ 3GHz"
probe max
same "-cpu max without a unit: vendor" AuthenticAMD "$(of vendor)"
same "-cpu max without a unit" 1 "$(grep -c '^CPU 0: no unit$' "$SCRATCH/answers")"
probe Haswell,pmu=on -icount shift=0
same "-icount: the time-stamp counter counts nanoseconds" "1.00GHz" "$(of name | sed 's/.* //')"
same "-icount: last branch records of a loop" "15 0" "$(of 'last branch records of the loop')"

# An absent event that is enabled twice, and one that is not absent.
probe Skylake-Client,pmu=on
same "absent events: log" "pmu: CPU 0 enables event r412e (LONGEST_LAT_CACHE.MISS), which is absent: it counts 0" \
	"$(grep '^pmu' "$SCRATCH/log")"
same "absent events: monitor" "  absent: event r412e (LONGEST_LAT_CACHE.MISS), enabled 2 times" \
	"$(grep '^ *absent' "$SCRATCH/answers")"
same "last branch records of a loop, and their clocks" "31 31" "$(of 'last branch records of the loop')"
same "call stack: the nested calls" 7 "$(of 'call stack: nested calls, others' | cut -d' ' -f1)"
same "branch trace of the loop, and its return" "1023 1" "$(of 'branch trace: records of the loop, others')"
# Of 400,000 instructions these are few: the last ones before the end of the trace's buffer.
singly=$(sed -n 's/^CPU 0: skylake, \([0-9]*\) instructions retired one by one$/\1/p' "$SCRATCH/answers")
if ((${singly:-400000} < 2000)); then
	pass "retired one by one"
else
	fail "retired one by one" "${singly:-no answer}"
fi

# Eight entries at the lower addresses, or none.
for model in silvermont airmont; do
	probe "Westmere,pmu-model=$model"
	same "$model: addresses of last branch records" "8 0 8 0" "$(of 'from 40H') $(of 'from 60H')"
done
probe Nehalem,pmu=on
same "nehalem: no last branch records there" "0 0" "$(of 'from 40H' | cut -d' ' -f1) $(of 'from 60H' | cut -d' ' -f1)"

# refused CPU TEXT
refused() {
	local said
	said=$("$QEMU" -M q35 -display none -kernel "$image.bin" -cpu "$1" 2>&1 </dev/null) && said=started
	same "$1: is refused" 1 "$(grep -c -- "$2" <<<"$said")"
}
refused ClearwaterForest,pmu=on "the nearest is pmu-model=sierraforest"
refused Snowridge,pmu=on "the nearest is pmu-model=goldmont-plus"
refused KnightsMill,pmu=on "the nearest is pmu-model=knightslanding"
refused EPYC,pmu=on "name one with pmu-model="
refused Haswell,pmu-model=none "there is no unit named 'none'"
finish
