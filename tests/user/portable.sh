#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# portable.sh: the persistent code cache serves copies of a program and its libraries, and copies of its own
# files, as a container of another day has them. It is not used for a file with another content.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$SCRATCH/cache
saved=$XDG_CACHE_HOME/softpmu/translations
mkdir "$XDG_CACHE_HOME" "$SCRATCH/lib"

# count OPTION... -- COMMAND...: sets $counts, and the numbers of $new and $old blocks.
count() {
	run "$SCRATCH/run" "$SOFTPMU" stat -v --deterministic -j -o "$SCRATCH/stat" \
		-e instructions:u,branches:u,mem_inst_retired.all_loads:u "$@"
	# shellcheck disable=SC2046,SC2005 # on one line
	counts=$(echo $(count_of "$SCRATCH/stat" 1,3))
	new=$(sed -n 's/.*[^d] blocks: \([0-9]*\).*/\1/p' "$SCRATCH/stat")
	old=$(sed -n 's/.*saved blocks: \([0-9]*\).*/\1/p' "$SCRATCH/stat")
}

# is_used NAME, is_not_used NAME: runs the program, which has the saved translations of all its modules, or lacks
# those of the program itself.
is_used() {
	count -- "${program[@]}"
	same "$1: counts" "$expected" "$counts"
	same "$1: used" yes "$( ((old > 500 && new < old / 8)) && echo yes)"
}
is_not_used() {
	count --no-cache -- "${program[@]}"
	expected=$counts
	count -- "${program[@]}"
	same "$1: counts" "$expected" "$counts"
	same "$1: translated anew" yes "$( ((new >= own)) && echo yes)"
}

# A program with 300 functions of its own, and the libraries of this machine in a folder.
program=("$SCRATCH/program")
compile_program() { # compile_program OPERATOR
	{
		echo "#include <stdio.h>"
		echo "static volatile unsigned n;"
		for i in {1..300}; do echo "static __attribute__((noinline)) void f$i(unsigned k) { if (k % $((i % 7 + 2))) n $1= k; }"; done
		echo "int main(void) { for (unsigned k = 1; k < 100; k++) {"
		for i in {1..300}; do echo "f$i(k);"; done
		echo '} printf("%u", n); }'
	} >"$SCRATCH/program.c"
	"$CC" -O1 -o "$SCRATCH/$2" "$SCRATCH/program.c" || stop "build of the program" "the compiler failed"
}
own=300
compile_program + program
compile_program ^ other
same "both programs have the same size" "$(stat -c %s "$SCRATCH/program")" "$(stat -c %s "$SCRATCH/other")"
ldd "$SCRATCH/program" | sed -n 's/.*=> \(\/[^ ]*\).*/\1/p' | while read -r library; do cp "$library" "$SCRATCH/lib/"; done
export LD_LIBRARY_PATH=$SCRATCH/lib
sleep 4 # a file that has just been written is not saved
count --no-cache -- "${program[@]}"
expected=$counts
count -- "${program[@]}"
same "first run: counts" "$expected" "$counts"
same "first run: nothing is saved" 0 "$old"
is_used "second run"

# --- copies ---

# copy FILE: replaces it by a copy: another inode, other times.
copy() {
	cp "$1" "$1.copy"
	mv "$1.copy" "$1"
}
copy "$SCRATCH/program"
for library in "$SCRATCH"/lib/*; do copy "$library"; done
is_used "copies of the program and its libraries"
cp -r "$saved" "$SCRATCH/elsewhere"
rm -r "$saved"
mv "$SCRATCH/elsewhere" "$saved"
chmod 700 "$saved"
is_used "copies of the saved files"
rm "$saved/sums"
is_used "without the list of sums"

# --- other contents ---

touch -r "$SCRATCH/program" "$SCRATCH/other"
cp "$SCRATCH/program" "$SCRATCH/good"
mv "$SCRATCH/other" "$SCRATCH/program"
is_not_used "another program of the same size and time of writing"
mv "$SCRATCH/good" "$SCRATCH/program"
count -- "${program[@]}"
cp "$SCRATCH/program" "$SCRATCH/good"

# --- the list of sums ---

sleep 4
count -- "${program[@]}"
size=$(stat -c %s "$saved/sums")
same "the list has the modules" yes "$( ((size > 0 && size % 88 == 0)) && echo yes)"
count -- "${program[@]}"
same "what is known is not noted again" "$size" "$(stat -c %s "$saved/sums")"
expected=$counts
for at in 0 40 72 80; do # of each entry: the device, a time, the sum, the checksum
	cp "$saved/sums" "$SCRATCH/sums"
	for ((entry = 0; entry < size; entry += 88)); do
		printf '\x5a\xa5' | dd of="$saved/sums" bs=1 seek=$((entry + at)) conv=notrunc status=none
	done
	is_used "byte $at of each entry is damaged"
	cp "$SCRATCH/sums" "$saved/sums"
done
for _ in {1..400}; do cat "$SCRATCH/sums"; done >"$saved/sums"
is_used "a list that is too long"
copy "$SCRATCH/program"
sleep 4
is_used "a copy, and a list that is too long"
same "the list begins again" yes "$( (($(stat -c %s "$saved/sums") <= 512 * 88)) && echo yes)"
head -c 100 "$SCRATCH/sums" >"$saved/sums"
is_used "half of an entry"
chmod 666 "$saved/sums"
is_used "a list that others may write to"
rm "$saved/sums"
ln -s "$SCRATCH/target" "$saved/sums"
is_used "a symbolic link"
same "no file is made through the link" no "$([[ -e $SCRATCH/target ]] && echo yes || echo no)"
mkdir "$SCRATCH/empty"
rm "$saved/sums"
mkdir "$saved/sums"
is_used "a folder in place of the list"
finish
