#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# corners.sh: rare behaviour (corners.c), code that is written at another address than it runs (aliases.c) or that
# changes while it runs (jits.c; rings.c: written by the kernel), lists of mappings (lists.c), and filters of
# system calls (filters.c). Output and status are those of a native run, and there is a count.
# ROUNDS=N repeats it N times.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile corners -pthread
compile filters -pthread
compile aliases -pthread
compile lists -pthread
compile rings
compile jits -pthread
cd "$SCRATCH" || exit 1
ulimit -c 0

# like_native PROGRAM SUBJECT
like_native() {
	local name="$1 $2" native options count
	run "$SCRATCH/native" "$BUILT/$1" "$2"
	native=$status
	for options in "stat -j -o $SCRATCH/json" "record -q -c 10007 -o $SCRATCH/perf.data"; do
		# shellcheck disable=SC2086
		run "$SCRATCH/soft" "$SOFTPMU" $options -e instructions:u -- "$BUILT/$1" "$2"
		same "$name: ${options%% *}: status" "$native" "$status"
		same "$name: ${options%% *}: output" "$(<"$SCRATCH/native.out")" "$(<"$SCRATCH/soft.out")"
	done
	count=$(count_of "$SCRATCH/json" 1)
	if [[ $count =~ ^[1-9][0-9]*$ ]]; then
		pass "$name: counted"
	else
		fail "$name: counted" "$count: $(tail -n 1 "$SCRATCH/soft.err")"
	fi
}

for ((round = 0; round < ${ROUNDS:-1}; round++)); do
	for subject in killed clones elsewhere myself; do
		like_native corners "$subject"
	done
	for subject in two protected doubled moved open calls memory itself threads seen listed refused; do
		like_native aliases $subject
	done
	for subject in names memory rollup; do
		like_native lists $subject
	done
	for subject in flips patches reuse handlers forks threads published moved spawns across beside far plenty; do
		like_native jits $subject
	done
	if has_feature ospke && "$BUILT/aliases" keys >"$SCRATCH/said"; then
		like_native aliases keys
	else
		not_run "aliases: keys" "the machine has no protection keys"
	fi
	"$BUILT/rings" registered >"$SCRATCH/said"
	if (($? != 77)); then
		like_native rings registered
	else
		not_run "rings" "the kernel has no io_uring"
	fi
	if "$BUILT/filters" refused >"$SCRATCH/said"; then
		for subject in refused traps trap-default trap-blocked kills allowed threads strict executes \
			executes-not errors unprivileged long exits exits-by-status computed allows; do
			like_native filters $subject
		done
		# Ten long filters cost little where they allow a call by its number: without that, some 30 times as much.
		run "$SCRATCH/native" "$BUILT/filters" heavy
		run "$SCRATCH/soft" "$SOFTPMU" stat -o "$SCRATCH/stat" -e instructions:u -- "$BUILT/filters" heavy
		same "filters heavy: output" "calls 300000" "$(<"$SCRATCH/soft.out")"
		soft=$(<"$SCRATCH/soft.err") native=$(<"$SCRATCH/native.err")
		expect "filters heavy: $soft us of processor time, natively $native" test "$soft" -lt $((8 * native + 500000))
		# What has to stand at its end has no room.
		same "filters longest: natively" "getppid 66" "$("$BUILT/filters" longest | head -n 1)"
		run "$SCRATCH/soft" "$SOFTPMU" stat -o "$SCRATCH/stat" -e instructions:u -- "$BUILT/filters" longest
		same "filters longest" "125 1" "$status $(grep -c '^softpmu: .*a filter of system calls that is too long' "$SCRATCH/soft.err")"
	else
		not_run "filters" "the kernel has none"
	fi
done 2>/dev/null # what the shell says about signals
# Much code beside another thread is translated once: 240,000 blocks, however many jumps are linked.
run "$SCRATCH/plenty" "$SOFTPMU" stat -v --no-cache -e instructions:u -- "$BUILT/jits" plenty
blocks=$(cat "$SCRATCH/plenty.out" "$SCRATCH/plenty.err" | sed -n 's/.*, blocks: \([0-9]*\),.*/\1/p')
if ((blocks > 240000)); then
	same "much code is translated once" 1 $((blocks < 300000))
else
	fail "translated blocks are told" "${blocks:-nothing}"
fi
finish
