#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# unicorn.sh: the unit in Unicorn prints what its header comment says. The counts and the places of PEBS
# records (Vol. 3B 18.4.4, 18.13.1) are those that hosts/user finds in the same code.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
source=$ROOT/hosts/unicorn/unicorn.c

sed -nE '/^ \* Prints:$/,/^ \*\//s/^ \*\t//p' "$source" >"$SCRATCH/told"
expect "it says what it prints" test -s "$SCRATCH/told"
"$B/unicorn" >"$SCRATCH/printed" 2>&1
same "status" 0 "$?"
expect "output" diff -u "$SCRATCH/told" "$SCRATCH/printed"

# The same code as a Linux program: `mov`, `mov` and SYSCALL end it.
cat >"$SCRATCH/program.S" <<'END'
	.global _start
_start:
#include "hosts/unicorn/program.S"
	mov $231, %eax
	xor %edi, %edi
	syscall
END
expect "program" "$CC" -nostdlib -static -I"$ROOT" -o "$SCRATCH/program" "$SCRATCH/program.S"
counts=$("$SOFTPMU" stat -x , -e \
	instructions:u,branches:u,mem_inst_retired.all_loads:u,mem_inst_retired.all_stores:u \
	-- "$SCRATCH/program" 2>&1 | cut -d, -f1 | xargs)
read -r instructions branches loads stores <<<"$counts"
same "counts of the translator, less those of the end" \
	"$((instructions - 3)) $((branches - 1)) $loads $stores" \
	"$(sed -nE 's/^ *([0-9]+) .*/\1/p' "$SCRATCH/printed" | xargs)"
"$SOFTPMU" record -q -o "$SCRATCH/data" -c 1000 -e br_inst_retired.near_taken:upp -- "$SCRATCH/program" \
	>"$SCRATCH/said" 2>&1
start=$(nm "$SCRATCH/program" | awk '$3 == "program" { print $1 }')
same "places of its records" "$(sed -nE 's/^sample at program\+(0x[0-9a-f]+),.*/\1/p' "$SCRATCH/printed" | xargs)" \
	"$(perf script -i "$SCRATCH/data" -F ip 2>/dev/null | while read -r ip; do
		printf '0x%x ' $((16#$ip - 16#$start))
	done | xargs)"
finish
