#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kernel-selftests.sh [FOLDER[/PROGRAM]]: what the Linux kernel's own tests of system calls pass
# natively, they also pass under `stat`. kernel-selftests.list has the folders, the programs, and
# the exceptions with their reasons. With an argument, or SELFTESTS=FOLDER[/PROGRAM], the script
# runs only these.
#
# The source is that of Debian's package linux-source-*; KERNEL=FOLDER takes another. The script compares the
# lines that say what passed ("ok 1 ...", "[OK] ..."), without their numbers, and the status 0. A program
# that natively runs longer than NATIVE_LIMIT seconds, or passes nothing, is not run.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
LIST=$ROOT/tests/programs/kernel-selftests.list
NATIVE_LIMIT=${NATIVE_LIMIT:-100}
only=${SELFTESTS:-${1:-}}

# The parts of the source that the self-tests need.
unpack() {
	local archive part parts=()
	archive=$(find /usr/src -maxdepth 1 -name 'linux-source-*.tar.*' | sort -V | tail -n 1)
	[[ -n $archive ]] || stop "the kernel's source" "there is no /usr/src/linux-source-*.tar.*; install linux-source-6.1"
	KERNEL=$BUILT/source
	[[ $KERNEL/unpacked -nt $archive && -e $KERNEL/mm/gup_test.h ]] && return
	rm -rf "$KERNEL" "$BUILT/built"
	mkdir -p "$KERNEL"
	for part in tools/testing/selftests tools/include tools/arch/x86 tools/scripts include/uapi include/vdso arch/x86/include scripts Makefile mm/gup_test.h lib/test_hmm_uapi.h; do
		parts+=("*/$part")
	done
	tar -C "$KERNEL" --strip-components=1 -xf "$archive" --wildcards "${parts[@]}" ||
		stop "the kernel's source" "$archive cannot be unpacked"
	touch "$KERNEL/unpacked"
}
[[ -n ${KERNEL:-} ]] || unpack
[[ -d $KERNEL/tools/testing/selftests/x86 ]] || stop "the kernel's source" "there are no self-tests in $KERNEL"

# Builds a folder, once. Its programs, scripts and sources are then in $BUILT/built/FOLDER. Not every
# program builds everywhere; run_one reports those that are missing.
build() {
	local to=$BUILT/built/$1 from=$KERNEL/tools/testing/selftests/$1
	[[ -d $to ]] && return
	mkdir -p "$to"
	make -s -k -C "$from" CC="$CC" OUTPUT="$to" CAN_BUILD_I386=0 >"$to.log" 2>&1
	cp -rn "$from/." "$to"
}

# Prints the lines of the list that begin with these words, without the words.
listed() {
	sed -n "s|^$* ||p" "$LIST"
}

# passed_in FOLDER PROGRAM OUTPUT: prints what passed, one in a line, without numbers, which differ between runs.
passed_in() {
	local pattern
	pattern=$(listed except "$1" "$2" | sed -n 's/^"\([^"]*\)".*/\1/p' | paste -s -d '|')
	sed -nE '/^[# \t]*(ok |\[[ \t]*OK[ \t]*\]|\[PASS\])|\[(OK|PASS)\]$/{s/0x[0-9a-f]+|[0-9]+/N/g;s/[ \t]+/ /g;p;}' "$3" |
		grep -avE "${pattern:-^$}"
}

# run_one FOLDER PROGRAM ARGUMENT...
run_one() {
	local folder=$1 program=$2 name="$*" native lost
	cd "$BUILT/built/$folder" || return
	if [[ ! -x $program ]]; then
		not_run "$name" "it does not build: $(grep -m 1 "error" "$BUILT/built/$folder.log")"
		return
	fi
	LIMIT=$NATIVE_LIMIT run "$SCRATCH/native" "./$program" "${@:3}" </dev/null
	native=$status
	passed_in "$folder" "$program" "$SCRATCH/native.out" >"$SCRATCH/native.passed"
	if ((native == 137)) || ((native != 0)) && [[ ! -s $SCRATCH/native.passed ]]; then
		not_run "$name" "natively it ends with status $native"
		return
	fi
	LIMIT=$((10 * NATIVE_LIMIT)) run "$SCRATCH/soft" "$SOFTPMU" stat -j -e instructions:u -o "$SCRATCH/json" -- \
		"./$program" "${@:3}" </dev/null
	passed_in "$folder" "$program" "$SCRATCH/soft.out" >"$SCRATCH/soft.passed"
	lost=$(diff "$SCRATCH/native.passed" "$SCRATCH/soft.passed" | sed -n 's/^< //p' | head -n 3)
	if ((native == 0 && status != 0)) && ! listed except "$folder" "$program" | grep -q '^"status[|"]'; then
		fail "$name" "status $status: $(grep -aE '^[# \t]*not ok|FAIL' "$SCRATCH/soft.out" | head -n 3)$(tail -n 2 "$SCRATCH/soft.err")"
	elif [[ -n $lost ]]; then
		fail "$name" "passes natively alone: $lost"
	else
		pass "$name"
	fi
}

# Each program that the folder builds, and each script, must run or be in the list of omitted ones.
complete() {
	local folder=$1 file name begin
	for file in "$BUILT/built/$folder"/*; do
		name=$(basename "$file")
		[[ -f $file && ! -L $file && $name != *.so ]] || continue
		begin=$(head -c 4 "$file" | tr -d '\0')
		[[ $begin == '#!'* || ($begin == $'\x7fELF' && -x $file) ]] || continue
		grep -qE "^(omit )?$folder $name( |\$)" "$LIST" || fail "$folder $name" "is not in $(basename "$LIST")"
	done
}

ran=0
mapfile -t folders < <(sed -E '/^#|^$/d;s/^(omit|except) //;s/ .*//' "$LIST" | sort -u)
for folder in "${folders[@]}"; do
	[[ -z $only || $only == "$folder" || $only == "$folder"/* ]] || continue
	build "$folder"
	complete "$folder"
	while read -ru 3 program arguments; do
		[[ $only != */* || $only == "$folder/$program" ]] || continue
		# shellcheck disable=SC2086 # words are meant
		run_one "$folder" "$program" $arguments
		ran=$((ran + 1))
	done 3< <(listed "$folder")
done 2>/dev/null # what the shell says about signals
expect "programs of '$only' are in the list" test "$ran" -gt 0
finish
