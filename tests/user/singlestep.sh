#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# singlestep.sh: counts of real programs equal those of an independent single-step of the same run.
#
# Both runs have the same arguments, no environment, and no address space randomization, so
# only the host can make them differ. If counts still differ, the two sequences
# of instructions are compared (explain.c). Each place where they differ must be one that
# singlestep-differences.md names as a cause, and the parts must add up to the whole difference.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile singlestep -lZydis
compile explain
compile singlestep-program
cp "$BUILT/singlestep-program" "$BUILT/dynamic"
"$CC" -O2 -static -o "$BUILT/static" "$ROOT/tests/user/singlestep-program.c" || stop "static program" "does not build"

keys=() events=()
while read -r key event; do
	keys+=("$key") events+=(-e "$event")
done < <("$BUILT/singlestep" -l)

alike=(env -i setarch -R)
"${alike[@]}" true 2>/dev/null || alike=(env -i)

# Returns success if the table of singlestep-differences.md (patterns in its first column) explains function $1.
explained() {
	local pattern
	# shellcheck disable=SC2016 # the quotes are the table's
	while read -r pattern; do
		# shellcheck disable=SC2053 # it is a pattern
		[[ $1 == $pattern ]] && return
	done < <(sed -n 's/^| `\([^`]*\)` |.*/\1/p' "$ROOT/tests/user/singlestep-differences.md")
	return 1
}

# Returns success if all differences of the last run are explained and add up to $1.
explain_difference() {
	local place
	run "$SCRATCH/record" "${alike[@]}" "$SOFTPMU" record -e instructions:upp -c 1 \
		-o "$SCRATCH/perf.data" -- "${@:2}"
	perf script -i "$SCRATCH/perf.data" --show-mmap-events -F ip,sym 2>/dev/null |
		"$BUILT/explain" "$SCRATCH/trace" "$SCRATCH/maps" >"$SCRATCH/why" || return 1
	[[ $(tail -n 1 "$SCRATCH/why") == "difference $1" ]] || return 1
	while read -r place; do
		explained "$place" || return 1
	done < <(sed -n 's/^instruction [0-9]*: in \([^ ]*\) at.*/\1/p' "$SCRATCH/why")
}

compare() {
	local name=$1 step_status n=0 key step soft wrong=
	shift
	run "$SCRATCH/step" "${alike[@]}" "$BUILT/singlestep" -o "$SCRATCH/counts" -t "$SCRATCH/trace" \
		-m "$SCRATCH/maps" -- "$@"
	step_status=$status
	run "$SCRATCH/soft" "${alike[@]}" "$SOFTPMU" stat -j -o "$SCRATCH/json" "${events[@]}" -- "$@"
	if ((status != step_status)) || ! cmp -s "$SCRATCH/step.out" "$SCRATCH/soft.out"; then
		fail "$name" "status $status, natively $step_status; $(tail -n 1 "$SCRATCH/soft.err")"
		return
	fi
	for key in "${keys[@]}"; do
		n=$((n + 1))
		step=$(sed -n "s/^$key=//p" "$SCRATCH/counts")
		soft=$(count_of "$SCRATCH/json" $n)
		[[ $step == "$soft" ]] || wrong+=" $key: single-step $step, softpmu $soft;"
	done
	step=$(sed -n 's/^instructions=//p' "$SCRATCH/counts")
	soft=$(count_of "$SCRATCH/json" 1)
	if [[ -z $step || $step -lt 1000 ]]; then
		fail "$name" "single-step counted '$step'"
	elif [[ -z $wrong ]]; then
		pass "$name: $step instructions"
	elif [[ $soft =~ ^[0-9]+$ ]] && explain_difference $((step - soft)) "$@"; then
		pass "$name: explained:$wrong"
		sed 's/^/    /' "$SCRATCH/why"
	else
		fail "$name" "$wrong"
		head -n 20 "$SCRATCH/why" 2>/dev/null | sed 's/^/    /'
	fi
	rm -f "$SCRATCH/why"
}

compare "static C program" "$BUILT/static" 3
compare "dynamic C program" "$BUILT/dynamic" 3
compare "true" /bin/true
compare "echo" /bin/echo one two three
compare "expr" /usr/bin/expr 6 '*' 7
# shellcheck disable=SC2016 # dash expands it
compare "dash" /bin/dash -c 'i=0; while [ $i -lt 5 ]; do i=$((i + 1)); done; echo $i'
compare "basename" /usr/bin/basename /a/b/c.txt .txt

# A difference that is not in the sequences must be refused.
run "$SCRATCH/step" "${alike[@]}" "$BUILT/singlestep" -o "$SCRATCH/counts" -t "$SCRATCH/trace" \
	-m "$SCRATCH/maps" -- "$BUILT/static" 1
if explain_difference 12345 "$BUILT/static" 1; then
	fail "an unexplained difference" "is accepted"
else
	pass "an unexplained difference is refused"
fi
# So must two programs that never meet again.
if explain_difference 0 "$BUILT/dynamic" 1; then
	fail "another program" "is accepted"
else
	pass "another program is refused"
fi
finish
