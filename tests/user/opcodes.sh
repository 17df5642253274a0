#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# opcodes.sh: single instructions of every opcode map (opcodes.c) do what they do natively:
# registers, flags, vector registers, memory, and the signal with its address. opcodes.md lists what
# is left out. Then instructions that the engine handles itself (instructions.c).
# FORMS=N tries N forms, SEED=N chooses others, MANY=N is the number without FORMS. opcodes.md
# names the processors on which the forms have been compared. On others only FORMS=N compares them.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
processor=$(awk -F '[\t ]*: ' '$1 == "vendor_id" || $1 == "cpu family" {key = key $2 " "} $1 == "model" {print key $2; exit}' /proc/cpuinfo)
case $processor in # vendor, family and model, of opcodes.md
"AuthenticAMD 25 1" | "AuthenticAMD 25 17" | "GenuineIntel 6 167" | "GenuineIntel 6 207") ;;
*)
	if [[ -z ${FORMS:-} ]]; then
		not_run "forms" "they have not been compared on a processor like this yet ($processor); FORMS=200000 does it"
		FORMS=0
	fi
	;;
esac
FORMS=${FORMS:-${MANY:-200000}}
SEED=${SEED:-1}
BATCH=512 # forms of one line of output
SHOWN=20
FIXED=(-fno-stack-protector -fcf-protection=none -mno-red-zone -static -no-pie)
compile opcodes "${FIXED[@]}" -mno-avx
compile instructions "${FIXED[@]}"
cd "$SCRATCH" || exit 1
ulimit -c 0

# Prints the forms of a batch that differ between a native run and the translator.
show_batch() {
	local batch=$1
	run listed-native "$BUILT/opcodes" -v native listed-skips "$SEED" "$batch" "$BATCH"
	run listed "$SOFTPMU" stat -o stat -e instructions:u -- "$BUILT/opcodes" -v again listed-skips "$SEED" "$batch" "$BATCH"
	diff listed-native.out listed.out | head -n "$SHOWN"
	grep -h '^softpmu:' soft.err listed.err | head -n 1
}

# batch_again BATCH: runs a batch on both sides again, three times.  Succeeds if they always agree.
batch_again() {
	local batch=$1 turn
	for turn in 1 2 3; do
		run again-native "$BUILT/opcodes" native again-skips "$SEED" "$batch" "$BATCH"
		run again "$SOFTPMU" stat -o stat -e instructions:u -- "$BUILT/opcodes" again again-skips "$SEED" "$batch" "$BATCH"
		cmp -s again-native.out again.out || return
		echo "forms from $batch, turn $turn: $(<again.out)"
	done
}

# A virtual machine can disturb either side, for example lose the bit of a single step in DR6. So a
# few differences must be seen again. One that is not is printed with both results.
compare_forms() {
	local first=$1 batch batches
	batches=$(diff native.out soft.out | sed -n 's/^[<>] \([0-9]*\) .*/\1/p' | sort -nu)
	for batch in $batches; do
		if (($(wc -w <<<"$batches") > 2)) || ! batch_again "$batch" >turns; then
			fail "forms from $first: as natively" "$(show_batch "$batch")"
			return
		fi
		echo "seen once: natively $(grep "^$batch " native.out), here $(grep "^$batch " soft.out)"
		cat turns
	done
	pass "forms from $first: as natively"
}

# forms FIRST COUNT
forms() {
	local first=$1 count=$2 lines=$((($2 + BATCH - 1) / BATCH)) native
	run native "$BUILT/opcodes" native skips "$SEED" "$first" "$count"
	native=$status
	same "forms from $first natively: all of them" "0 $lines" "$native $(wc -l <native.out)"
	# Few are left out, so this is a comparison.
	if (($(wc -l <skips) * 20 < count)); then
		pass "forms from $first: most of them are compared"
	else
		fail "forms from $first: most of them are compared" "$(wc -l <skips) of $count left out"
	fi
	run soft "$SOFTPMU" stat -o stat -e instructions:u -- "$BUILT/opcodes" again skips "$SEED" "$first" "$count"
	same "forms from $first: status" "$native" "$status"
	compare_forms "$first"
}

# A million at a time, so that a failure is reported soon.
for ((at = 0; at < FORMS; at += 1000000)); do
	forms $at $((FORMS - at < 1000000 ? FORMS - at : 1000000))
done

# A kernel may be built or started without 32-bit system calls.
calls=int80
timeout 10 "$BUILT/instructions" int80 >/dev/null 2>&1
if (($? != 3)); then
	calls=
	not_run int80 "the kernel has no system calls by INT 80H"
fi
in_gs="segments gs_operands"
if ! has_feature fsgsbase; then
	in_gs=
	not_run "segments gs_operands" "the kernel does not save the base of GS"
fi
for subject in $in_gs far $calls trap alignment crossing opening undefined reserved operands; do
	run native "$BUILT/instructions" "$subject"
	native=$status
	if [[ $subject == trap && $(<native.out) == *$'\n30 steps'* ]]; then
		not_run trap "natively one of 31 steps is lost"
		continue
	fi
	for options in "stat -o stat" "record -q -c 1009 -o perf.data"; do
		# shellcheck disable=SC2086
		run soft "$SOFTPMU" $options -e instructions:u -- "$BUILT/instructions" "$subject"
		same "$subject: ${options%% *}: status" "$native" "$status"
		same "$subject: ${options%% *}: output" "$(<native.out)" "$(<soft.out)"
	done
done
# Forms with fields that this processor ignores: their loads are known.
has_feature avx2 || not_run "reserved fields of VEX" "the processor has no AVX2"
has_feature avx512bw || not_run "reserved fields of EVEX" "the processor has no AVX-512"
run native "$BUILT/instructions" reserved
run soft "$SOFTPMU" stat -o stat -e instructions:u,mem_inst_retired.all_loads:u -- "$BUILT/instructions" reserved
same "reserved: loads are counted" "0 $(<native.out)" "$status $(<soft.out)"
if [[ $calls ]]; then
	run soft "$SOFTPMU" stat -o stat -e instructions:u -- "$BUILT/instructions" far32
	same "32-bit code" "125 1" "$status $(grep -c '^softpmu: .*32-bit code' soft.err)"
else
	not_run "32-bit code" "the kernel has no system calls by INT 80H"
fi
finish
