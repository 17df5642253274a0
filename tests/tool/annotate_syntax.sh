#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# annotate_syntax.sh: the AT&T syntax of `softpmu annotate` is objdump's, for forms.S and for all of the C
# library.  An instruction that is spelt in another way (vpcmpb $0 for vpcmpeqb) must assemble to the same
# bytes.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

expect "the disassembler" "$CC" -I"$ROOT" -I"$ROOT/include" "$ROOT/tests/tool/disasm.c" \
	"$ROOT/tools/softpmu/disasm/disasm.c" "$ROOT/tools/softpmu/disasm/disasm_att.c" \
	"$ROOT/tools/softpmu/disasm/disasm_att_names.c" -lZydis -o disasm

# Removes layout, names and notes.  objdump writes the target of a branch without 0x.
plain() {
	sed -E 's/ +#.*//; s/ *<[^>]*>//g; s/\t(.*)0x([0-9a-f]+)$/\t\1\2/; s/[[:blank:]]+$//; s/ +/ /g'
}
of_objdump() {
	objdump -d --no-show-raw-insn -j .text "$1" | sed -nE 's/^ *([0-9a-f]+):\t(.+)/\1\t\2/p' | plain
}

# agrees NAME FILE LEAST: both have the same text, for at least LEAST instructions.
agrees() {
	./disasm "$2" | plain >ours
	of_objdump "$2" >theirs
	# An address that only one of the two has is a byte of data, or FWAIT.
	awk -F'\t' 'NR == FNR { ours[$1] = $2; next }
		$1 in ours && $2 !~ /^(\(bad\)|\.byte|rex)/ && ours[$1] !~ /^(\.byte|fwait)/ {
			both++
			if (ours[$1] != $2)
				print $2 "\t" ours[$1]
		}
		END { print both + 0 >"both" }' ours theirs | sort -u >differ
	cut -f2 differ >again.s
	expect "$1: what is spelt differently can be assembled" "$CC" -c again.s -o again.o
	of_objdump again.o | cut -f2 | paste differ - | awk -F'\t' '$1 != $3' >wrong
	same "$1: instructions that differ from objdump's" "" "$(head -n 5 wrong)"
	same "$1: at least $3 instructions" yes "$([[ $(<both) -ge $3 ]] && echo yes)"
	same "$1: few are spelt differently" yes "$([[ $(grep -c '' differ) -le 200 ]] && echo yes)"
}

expect "forms.S" "$CC" -c "$ROOT/tests/tool/forms.S" -o forms.o
agrees "forms" forms.o "$(grep -cP '^(1:)?\t[a-z]' "$ROOT/tests/tool/forms.S")"
agrees "the C library" "$(realpath "$("$CC" -print-file-name=libc.so.6)")" 100000
finish
