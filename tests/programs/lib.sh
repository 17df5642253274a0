# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# lib.sh: run real programs natively, under `stat` and under `record`, and compare them byte by
# byte: both streams, exit status, and every file in the working directory.
#
# shellcheck source-path=SCRIPTDIR
. "$(dirname "${BASH_SOURCE[0]}")/../user/lib.sh"
LIMIT=${LIMIT_LONG:-1200}
PERIOD=10007
export PYTHONHASHSEED=0 PERL_HASH_SEED=0 PYTHONDONTWRITEBYTECODE=1
unset MAKEFLAGS

INPUT=/dev/null # standard input of what identical runs
FILES=()	# copied into the working directory first

# in_folder HOW COMMAND...: runs the command in a fresh folder, always of the same name, and keeps the
# folder as HOW.files. Sets status.
in_folder() {
	local how=$1
	shift
	rm -rf "$SCRATCH/work" "$SCRATCH/$how.files"
	mkdir "$SCRATCH/work"
	((${#FILES[@]} == 0)) || cp "${FILES[@]}" "$SCRATCH/work"
	{
		(cd "$SCRATCH/work" && timeout -s KILL "$LIMIT" "$@") <"$INPUT" >"$SCRATCH/$how.out" 2>"$SCRATCH/$how.err"
		status=$?
	} 2>/dev/null # what the shell says about signals
	mv "$SCRATCH/work" "$SCRATCH/$how.files"
}

# Prints what differs between two runs; nothing if they are the same.
differences() {
	local how=$1 native=$2 soft=$3
	((native == soft)) || echo "status $soft, natively $native: $(tail -n 1 "$SCRATCH/$how.err")"
	cmp -s "$SCRATCH/native.out" "$SCRATCH/$how.out" ||
		echo "stdout: $(cmp "$SCRATCH/native.out" "$SCRATCH/$how.out" 2>&1)"
	cmp -s "$SCRATCH/native.err" "$SCRATCH/$how.err" ||
		echo "stderr: $(diff "$SCRATCH/native.err" "$SCRATCH/$how.err" | head -n 4)"
	diff -qr "$SCRATCH/native.files" "$SCRATCH/$how.files"
}

# Returns whether there are as many samples as the count says, within one percent. The two runs differ a
# little (address space randomization); the period does not.
check_samples() {
	local name=$1 count=$2 samples expected
	samples=$(perf script -i "$SCRATCH/perf.data" -F ip 2>"$SCRATCH/script.err" | grep -c '[0-9a-f]')
	expected=$((count / (PERIOD + 1)))
	if [[ -s $SCRATCH/script.err ]]; then
		fail "$name: perf.data" "perf says: $(head -n 1 "$SCRATCH/script.err")"
	elif ((samples * 100 < expected * 99 - 200 || samples * 100 > expected * 101 + 200)); then
		fail "$name: perf.data" "$samples samples of $count instructions, expected $expected"
	else
		pass "$name: $samples samples of $count instructions"
	fi
}

# own_lines HOW STATUS: removes the tool's own lines from the error output: what record
# recorded, and, as with perf, the name of a program that a signal ended.
own_lines() {
	[[ $1 == record ]] && sed -i '/^softpmu: \|^\[ /d' "$SCRATCH/record.err"
	(($2 <= 128)) || sed -i '\|^[^ ]*: [A-Z][a-z/ ]*$|d' "$SCRATCH/$1.err"
}

# identical NAME COMMAND...
identical() {
	local name=$1 native soft said count last
	shift
	in_folder native "$@"
	native=$status
	in_folder stat "$SOFTPMU" stat -j -e instructions:u -o "$SCRATCH/json" -- "$@"
	own_lines stat "$native"
	said=$(differences stat "$native" "$status")
	if [[ -n $said ]]; then
		fail "$name under stat" "$said"
	else
		pass "$name under stat"
	fi
	count=$(count_of "$SCRATCH/json" 1 2>/dev/null)
	in_folder record "$SOFTPMU" record -e instructions:upp -c $PERIOD -o "$SCRATCH/perf.data" -- "$@"
	soft=$status
	last=$(tail -n 1 "$SCRATCH/record.err")
	own_lines record "$native"
	said=$(differences record "$native" "$soft")
	if [[ -n $said ]]; then
		fail "$name under record" "$said; $last"
	elif [[ ! $count =~ ^[0-9]+$ ]]; then
		fail "$name" "no count: '$count'"
	else
		pass "$name under record"
		check_samples "$name" "$count"
	fi
	rm -f "$SCRATCH/perf.data" "$SCRATCH/json"
}

# A program that is not installed is reported. If the whole script has nothing else, it fails.
need() {
	have "$1" || {
		not_run "$1" "not installed"
		return 1
	}
}
have perf || stop "perf" "is not installed"
