#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# persist.sh: the persistent code cache changes nothing but the time: counts and samples are the same. The
# engine uses nothing that is damaged, of another file, or writable by others.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$SCRATCH/cache
saved=$XDG_CACHE_HOME/softpmu/translations
mkdir "$XDG_CACHE_HOME"

# count COMMAND...: sets $counts, and the numbers of $new and $old blocks.
count() {
	run "$SCRATCH/run" "$SOFTPMU" stat -v --deterministic -j -o "$SCRATCH/stat" \
		-e instructions:u,branches:u,mem_inst_retired.all_loads:u -- "$@"
	# shellcheck disable=SC2046
	counts=$(echo $(count_of "$SCRATCH/stat" 1,3))
	# shellcheck disable=SC2034 # in the arithmetic of yes_or_no
	new=$(sed -n 's/.*[^d] blocks: \([0-9]*\).*/\1/p' "$SCRATCH/stat")
	old=$(sed -n 's/.*saved blocks: \([0-9]*\).*/\1/p' "$SCRATCH/stat")
}

# cold COMMAND...: prints the counts without the cache.
cold() {
	run "$SCRATCH/cold" "$SOFTPMU" stat --no-cache --deterministic -j -o "$SCRATCH/stat" \
		-e instructions:u,branches:u,mem_inst_retired.all_loads:u -- "$@"
	# shellcheck disable=SC2046
	echo $(count_of "$SCRATCH/stat" 1,3)
}

# yes_or_no TEST...: prints yes or no, for `same`.
yes_or_no() {
	if (("$@")); then echo yes; else echo no; fi
}

# is_saved NAME COMMAND...: the second run translates almost nothing and counts the same, unless its
# counts vary by themselves (`moves`).
is_saved() {
	local name=$1 expected
	shift
	expected=$(cold "$@")
	count "$@"
	[[ -n ${moves:-} ]] || same "$name: counts of the first run" "$expected" "$counts"
	count "$@"
	[[ -n ${moves:-} ]] || same "$name: counts of the second run" "$expected" "$counts"
	same "$name: saved" yes "$(yes_or_no "old > 500 && new < old / 8")"
	same_file "$name: output" "$SCRATCH/cold.out" "$SCRATCH/run.out"
}

# is_not_used NAME COMMAND...: the run translates everything itself and counts the same.
is_not_used() {
	local name=$1 expected
	shift
	expected=$(cold "$@")
	count "$@"
	same "$name: counts" "$expected" "$counts"
	same "$name: not used" 0 "$old"
}

true=$(type -P true)
cold "$true" >/dev/null
same "--no-cache makes no folder" no "$([[ -e $saved ]] && echo yes || echo no)"
is_saved "true" "$true"
same "the folder is the user's alone" 700 "$(stat -c %a "$saved")"
same "its files, too" 600 "$(stat -c %a "$saved"/* | sort -u)"
is_saved "sort" sort -S 1M --parallel=1 /etc/services
moves=by_process_numbers is_saved "bash and what it starts" bash -c 'for i in 1 2 3; do ls / | sort -r | head -n 2; done'
have perl && is_saved "perl" perl -e 'my %h; $h{$_ % 97} .= "x$_" for 1 .. 5000; print length "@h{1 .. 90}"'

# Code for one thread and code for several are in separate files. A program that starts threads begins with the
# latter once it exists. So what runs before the threads is in it from the second run on.
if have xz; then
	single=(xz -T1 -c /etc/services) several=(xz -T2 --block-size=16KiB -c /etc/services)
	rm -f "$saved"/*
	is_saved "one thread" "${single[@]}"
	same "one thread: files" 1 "$(find "$saved" -name "[0-9a-f]*" -type f | wc -l)"
	count "${several[@]}"
	same "threads come: what was saved for one is used" yes "$(yes_or_no "old > 500")"
	forms=$(grep -qE 'AuthenticAMD|HygonGenuine' /proc/cpuinfo && echo 2 || echo 1)
	same "threads come: files" "$forms" "$(find "$saved" -name "[0-9a-f]*" -type f | wc -l)"
	count "${several[@]}"
	moves=by_threads is_saved "two threads" "${several[@]}"
	is_saved "one thread, as others may come" "${single[@]}"
fi

# Samples: the same instructions, in the same order.
sampled() {
	run "$SCRATCH/record" "$SOFTPMU" record "$@" --deterministic -q -e instructions:upp -c 997 \
		-o "$SCRATCH/perf.data" -- sort -S 1M --parallel=1 /etc/services
	"$SOFTPMU" report -i "$SCRATCH/perf.data" 2>/dev/null | grep -v '^#'
}
expected=$(sampled --no-cache)
same "samples are there" yes "$(yes_or_no "$(wc -l <<<"$expected") > 5")"
for turn in first second third; do
	same "samples of the $turn run" "$expected" "$(sampled)"
done

# --- what must not be used ---

only() { # the one file of the program
	rm -f "$saved"/*
	count "$true"
	count "$true"
	same "saved again" yes "$(yes_or_no "old > 500")"
	file=$(echo "$saved"/[0-9a-f]*)
}

only
size=$(stat -c %s "$file")
for at in 100 4000 $((size / 2)) $((size - 9)); do
	cp "$file" "$SCRATCH/good"
	printf '\x5a' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
	cmp -s "$file" "$SCRATCH/good" && printf '\xa5' | dd of="$file" bs=1 seek="$at" conv=notrunc status=none
	is_not_used "byte $at changed" "$true"
	count "$true"
	same "byte $at changed: written anew" yes "$(yes_or_no "old > 500")"
done
touch "$file"
count "$true"
same "a file of another time: its sum is right" yes "$(yes_or_no "old > 500")"
truncate -s $((size / 2)) "$file"
is_not_used "half of the file" "$true"
: >"$file"
is_not_used "an empty file" "$true"
only
chmod 666 "$file"
is_not_used "a file that others may write to" "$true"
only
chmod 777 "$saved"
is_not_used "a folder that others may write to" "$true"
chmod 700 "$saved"
mv "$file" "$SCRATCH/elsewhere"
ln -s "$SCRATCH/elsewhere" "$file"
is_not_used "a symbolic link" "$true"
if ((EUID == 0)); then
	only
	chown 65534 "$file"
	is_not_used "a file of another user" "$true"
	only
	chown 65534 "$saved"
	is_not_used "a folder of another user" "$true"
	chown 0 "$saved"
fi

# --- programs that change ---

program() { # program WORK: prints a number; its file is rewritten in place
	cat >"$SCRATCH/program.c" <<END
#include <stdio.h>
int main(void)
{
	volatile unsigned n = 0;
	for (unsigned i = 0; i < 1000; i++)
		n $1 i;
	printf("%u\\n", n);
}
END
	"$CC" -O1 -static -o "$SCRATCH/new" "$SCRATCH/program.c"
	cat "$SCRATCH/new" >"$SCRATCH/program"
	chmod +x "$SCRATCH/program"
}
rm -f "$saved"/*
for turn in {1..20}; do # within the time of "just"
	program "+="
	began=$EPOCHSECONDS
	count "$SCRATCH/program"
	count "$SCRATCH/program"
	((EPOCHSECONDS - began > 2)) || break
done
if ((turn < 20)); then
	same "a file that has just been written is not saved" 0 "$old"
else
	not_run "a file that has just been written" "two runs take more than two seconds here"
fi
sleep 4
is_saved "a program" "$SCRATCH/program"
program "^="
is_not_used "the program, changed in place" "$SCRATCH/program"
same_file "the program, changed in place: output" "$SCRATCH/cold.out" "$SCRATCH/run.out"
compile plenty -pthread
sleep 4
is_saved "the changed program" "$SCRATCH/program"

# Two threads and more jumps than there are exit stubs (2^18): linked ones are freed, also those that came from
# the file. 120,000 blocks, then 240,000; each is translated once.
rm -f "$saved"/*
# more_code NAME ARGUMENT LEAST_NEW MOST_NEW LEAST_OLD
more_code() {
	local expected
	expected=$(cold "$BUILT/plenty" "$2")
	count "$BUILT/plenty" "$2"
	same_file "much code, $1: output" "$SCRATCH/cold.out" "$SCRATCH/run.out"
	# The end of the other thread takes more or less instructions.
	same "much code, $1: instructions" yes "$(yes_or_no "${counts%% *} - ${expected%% *} < 5000 && ${expected%% *} - ${counts%% *} < 5000")"
	same "much code, $1: new blocks" yes "$(yes_or_no "new >= $3 && new <= $4")"
	same "much code, $1: saved blocks" yes "$(yes_or_no "old >= $5")"
}
more_code "a half" half 120000 130000 0
more_code "all of it" all 120000 130000 120000
more_code "all of it again" all 0 5000 240000
more_code "a half again" half 0 5000 240000

# Modules at other places.
expected=$(cold sort -S 1M /etc/services)
count sort -S 1M /etc/services
count sort -S 1M /etc/services
same "sort: counts" "$expected" "$counts"
library=$(ldd "$(type -P perl || type -P bash)" | sed -n 's/.*=> \(\/[^ ]*libm\?[a-z]*\.so[^ ]*\).*/\1/p' | head -n 1)
export LD_PRELOAD=$library
expected=$(cold sort -S 1M /etc/services)
for turn in first second; do
	count sort -S 1M /etc/services
	same "sort with $(basename "$library") before the others, $turn run: counts" "$expected" "$counts"
done
unset LD_PRELOAD

# The program's own mappings (proc(5)) do not show whether the cache was used.
expected=$("$SOFTPMU" stat --no-cache -o "$SCRATCH/stat" wc -l /proc/self/maps)
for turn in first second; do
	same "the list of mappings, $turn run" "$expected" "$("$SOFTPMU" stat -o "$SCRATCH/stat" wc -l /proc/self/maps)"
done

# The folder has a limited size.
rm -f "$saved"/*
truncate -s 600M "$saved/old"
touch -d 2001-01-01 "$saved/old"
count "$true"
same "what was written longest ago goes" no "$([[ -e $saved/old ]] && echo yes || echo no)"
same "and nothing else" 1 "$(find "$saved" -name "[0-9a-f]*" -type f | wc -l)"
finish
