#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# known.sh [NAME...]: programs whose counts are known by hand (tests/user/known/*.S).
#
# The header comment of each program says what it does and how its counts follow:
#   expect: KEY=N ...   counts; keys as in steps.h. A key that is not named is still compared
#                       with the single-stepper.
#   status: N           exit status, 128 + signal for a signal; by default 0
#   build: FLAGS        flags in addition to -nostdlib -static -no-pie
#   needs: FEATURE      a flag of /proc/cpuinfo, or int80
#   may-refuse: TEXT    the tool may refuse the program: status 125 and one line with TEXT
#   refuse: KEY         the expectation is wrong on purpose; the check must fail for this key
# The program runs natively, under the single-stepper, and under `softpmu stat`. The expected numbers
# are compared with both, so an error in a derivation is found.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile singlestep -lZydis

keys=() events=()
while read -r key event; do
	keys+=("$key") events+=(-e "$event")
done < <("$BUILT/singlestep" -l)
((${#keys[@]} > 5)) || stop "event list" "the single-stepper knows no events"

header() {
	sed -n '/^#include/q; s/^ \* '"$2"': *//p' "$1"
}

# Returns success if the machine has a feature.
meets() {
	case $1 in
	"") true ;;
	int80) "$BUILT/int80" ;;
	syscall_without_stack) "$BUILT/$name" ;; # some virtual machines end a program that does that
	*) has_feature "$1" ;;
	esac
}

# Prints the value of KEY in a file of key=value lines; nothing if it is missing.
value() {
	sed -n "s/^$2=//p" "$1"
}

# Compares everything that is known about one program, and prints a line for each difference.
compare() {
	local name=$1 at=$SCRATCH/$1 key n=0 want step soft
	[[ $native_status == "$want_status" ]] || echo "status: native $native_status, expected $want_status"
	[[ $step_status == "$want_status" ]] || echo "status: single-step $step_status, expected $want_status"
	[[ $soft_status == "$want_status" ]] || echo "status: softpmu $soft_status, expected $want_status"
	cmp -s "$at.native.out" "$at.soft.out" || echo "stdout: differs from the native run"
	cmp -s "$at.native.err" "$at.soft.err" ||
		echo "stderr: differs from the native run: $(head -c 200 "$at.soft.err")"
	for key in "${keys[@]}"; do
		n=$((n + 1))
		want=$(value "$at.want" "$key")
		step=$(value "$at.step" "$key")
		soft=$(count_of "$at.json" $n)
		[[ ${want:-$step} == "$step" ]] || echo "$key: single-step $step, by hand $want"
		[[ ${want:-$step} == "$soft" ]] || echo "$key: softpmu '$soft', expected ${want:-$step}"
	done
}

check() {
	local source=$1 name at differences refuse native_status step_status soft_status want_status
	name=$(basename "$source" .S)
	at=$SCRATCH/$name
	read -ra flags <<<"$(header "$source" build)"
	"$ASSEMBLER" -nostdlib -static -no-pie "${flags[@]}" -Wl,--build-id=none -o "$BUILT/$name" "$source" || {
		fail "$name" "does not build"
		return
	}
	if ! meets "$(header "$source" needs)" 2>/dev/null; then
		not_run "$name" "the machine has no $(header "$source" needs)"
		return
	fi
	header "$source" expect | tr -s ' ' '\n' | sed '/^$/d' >"$at.want"
	grep -q '^instructions=[0-9]' "$at.want" || {
		fail "$name" "expects nothing"
		return
	}
	want_status=$(header "$source" status)
	want_status=${want_status:-0}
	{
		run "$at.native" "$BUILT/$name"
		native_status=$status
		run "$at.discard" "$BUILT/singlestep" -o "$at.step" -- "$BUILT/$name"
		step_status=$status
		run "$at.soft" "$SOFTPMU" stat -j -o "$at.json" "${events[@]}" -- "$BUILT/$name"
		soft_status=$status
	} 2>/dev/null # the shell's messages about signals
	[[ -e $at.json ]] || : >"$at.json"
	# As perf does, the tool names a program that a signal ended.
	((want_status > 128)) && sed -i '\|^'"$BUILT/$name"': [A-Z][a-z/ ]*$|d' "$at.soft.err"
	differences=$(compare "$name")
	refuse=$(header "$source" may-refuse)
	if [[ -n $refuse && $soft_status == 125 && $(grep -vc '^softpmu: .*'"$refuse" "$at.soft.err") == 0 &&
		$(wc -l <"$at.soft.err") == 1 ]]; then
		pass "$name is refused: $(cat "$at.soft.err")"
		return
	fi
	refuse=$(header "$source" refuse)
	if [[ -n $refuse ]]; then
		if [[ $(grep -c "^$refuse:" <<<"$differences") -gt 0 ]]; then
			pass "$name is refused"
		else
			fail "$name" "a wrong $refuse is not noticed"
		fi
	elif [[ -z $differences ]]; then
		pass "$name"
	else
		fail "$name" $'\n'"$differences"
	fi
}

if (($#)); then
	for name in "$@"; do
		check "$ROOT/tests/user/known/$name.S"
	done
else
	for source in "$ROOT"/tests/user/known/*.S; do
		check "$source"
	done
fi
finish
