#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# branches_live.sh: record -b, -j, --call-graph lbr, intel_bts// and trace, on a program whose branches are
# known, with the engine (Vol. 3B 17.4.5, 17.4.8, 17.4.9, 17.7.2).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
export HOME=$SCRATCH
cd "$SCRATCH" || exit 1

cat >chain.S <<'END'
	.globl _start, one, two, three
	.type _start, @function
	.type one, @function
	.type two, @function
	.type three, @function
_start:	mov $3, %ebx
1:	call one
	dec %ebx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
	.size _start, . - _start
one:	call two
	ret
	.size one, . - one
two:	lea three(%rip), %rax
	call *%rax
	ret
	.size two, . - two
three:	mov $1000, %ecx
2:	dec %ecx
	jnz 2b
	ret
	.size three, . - three
END
"$CC" -nostdlib -static -no-pie -Wl,--build-id=sha1 -o chain chain.S || stop "build of chain" "$CC failed"

# The trace has every branch of the run, which follow from the program's text.
want() {
	local round
	for round in 1 2 3; do
		printf '%s\n' "_start one" "one two" "two three"
		for ((i = 0; i < 999; i++)); do echo "three three"; done
		printf '%s\n' "three two" "two one" "one _start"
		((round < 3)) && echo "_start _start"
	done
}
names() { # "from to" of a list's lines, without offsets
	awk '{ sub(/\+.*/, "", $2); sub(/\+.*/, "", $5); print $2, $5 }'
}
want >branches
run trace --list -o list -- ./chain
succeeds "trace --list"
names <list >got
same_file "every branch, in order" branches got
run trace -- ./chain
same "tree" "one
  two
    three
one
  two
    three
one
  two
    three" "$(grep -v '^#' <<<"$err" | sed -E 's/^ *[0-9]+\.[0-9]{3}  //')"
run trace --summary -- ./chain
has "summary" "$err" "# $(wc -l <branches) taken branches, 9 calls"

# A long run waits for its reader: there are as many branches as the counter says.
"$CC" -x assembler -nostdlib -static -no-pie -o long - <<'END'
	.globl _start
_start:	mov $3000000, %ecx
1:	dec %ecx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
END
run trace --summary -- ./long
has "many buffers" "$err" "# 2999999 taken branches, 0 calls"

# perf decodes the same list.
run record -q -o bts.data -e intel_bts//u -- ./chain
same "record a trace" 0 "$status"
perf script -i bts.data --itrace=be -F ip,addr 2>err | awk '{ print "0x" $1, "0x" $3 }' >perf.list
same "perf has nothing to say" "" "$(<err)"
awk '{ print $1, $4 }' list >own.list
same_file "perf decodes every branch" own.list perf.list

# Branch stacks have the newest branches before each sample, as many as the model has records.
run record -q -o lbr.data -b -e br_inst_retired.near_taken:upp -c 100 -- ./chain
same "record -b" 0 "$status"
perf script -i lbr.data -F ip,brstack 2>/dev/null | tail -n +12 | head -n 10 >stacks
same "32 branches of Skylake" 32 "$(head -n 1 stacks | grep -o 0x | wc -l | awk '{ print $1 / 2 }')"
address() { nm chain | awk -v name="$1" '$3 == name { print $1 }' | sed 's/^0*//'; }
three=$((0x$(address three)))
same "of the loop" "$(printf '0x%x/0x%x' $((three + 7)) $((three + 5)))" \
	"$(head -n 1 stacks | grep -oE '0x[0-9a-f]+/0x[0-9a-f]+' | sort -u)"
run record -q -o calls.data -j any_call -e br_inst_retired.near_taken:upp -c 100 -- ./chain
same "any_call: calls only" "_start one two" \
	"$(perf script -i calls.data -F brstacksym 2>/dev/null | tail -n 5 | grep -oE '[a-z_]+(\+0x[0-9a-f]+)?/[a-z_]+' | sed -E 's/(\+0x[0-9a-f]+)?\/.*//' | sort -u | xargs)"
for model in haswell skylake icelake; do
	run record -q -o graph.data -M "$model" --call-graph lbr -e br_inst_retired.near_taken:upp -c 100 -- ./chain
	same "call graph on $model: status" 0 "$status"
	# A sample in the loop: its address, then its callers.
	same "call graph on $model" "three two one _start" \
		"$(perf script -i graph.data -F ip,sym 2>/dev/null | awk '/^$/ { n++ } n == 5 && NF { print $2 }' | xargs)"
done

# report shows the tree of call chains, with perf's shares, and the branches of branch stacks.
run report -g -i graph.data
same "callers" "_start one two three" \
	"$(awk '/---/ { on = 1; sub(/.*---/, "") } on && !NF { exit } on { print $1 }' <<<"$out" | xargs)"
same "their share" "$(perf report -i graph.data --stdio --children -g none -s sym 2>/dev/null | awk '$4 == "two" { print $1; exit }')" \
	"$(awk '$6 == "two" { print $1; exit }' <<<"$out")"
run report -b -i graph.data
has "callers are no branches" "$out" "# The file has call chains, not branches: see softpmu report -g."
run report -g -i lbr.data
has "branches are no callers" "$out" "# The samples have no call chains: see softpmu record --call-graph."
same "no graph without them" "" "$(grep -e --- <<<"$out")"
run report -b -g -i lbr.data
refuses "both" 129 "-b and -g cannot be combined"

# Older models filter less or not at all, and have fewer records and no call stack.
run record -q -o core2.data -M core2 -j call -e instructions:upp -c 7 -- ./chain
same "core2 filters in software: status" 0 "$status"
same "core2 has direct calls only" "one _start" \
	"$(perf script -i core2.data -F brstacksym 2>/dev/null | grep -oE '[a-z_]+(\+0x[0-9a-f]+)?/[a-z_]+' | sed -E 's/(\+0x[0-9a-f]+)?\/.*//' | sort -ru | xargs)"
# Their records have no eventing IP: a sample is at the instruction after it, from Haswell on at it.
for model in core2 nehalem haswell; do
	run record -q -o ip.data -M "$model" -e instructions:upp -c 100 -- ./chain
	same "samples on $model" 100.00% "$("$SOFTPMU" report -s sym -i ip.data | awk '$3 == "three" { print $1 }')"
done
for model in core2 nehalem sandybridge; do
	run record -o no.data -M "$model" --call-graph lbr true
	refuses "no call stack on $model" 125 "no call-stack mode"
done
# The code between the branches: perf's lines, and the program's text.
run record -q -j any,cycles --static-clocks -e instructions:upp -c 1009 -o blocks.data -- ./chain
succeeds "record -j any,cycles"
run script -i blocks.data -F ip,sym,brstackinsn
succeeds "script -F brstackinsn"
same "brstackinsn: there are lines" 1 "$(($(wc -l <<<"$out") > 100))"
perf script -i blocks.data -F ip,sym,brstackinsn 2>/dev/null >perf.out
echo "$out" >ours
same "brstackinsn: as perf" "" "$(diff -B perf.out ours | head -n 5)"
run script -i blocks.data -F ip,sym,brstackdisasm
blocks=$(grep -vE '^ ' <<<"$out" | sed -E 's/^\t[0-9a-f]{16}\t//; s/ +\t#.*cycles.*/ #/; s/ 0x[0-9a-f]+//' | sort | uniq -c | sort -rn | awk '{ $1 = ""; print }')
same "brstackdisasm: the loop comes first" " dec %ecx| jne #" "$(head -n 2 <<<"$blocks" | sort | paste -sd'|')"
run record -q -j any_call -e instructions:upp -c 1009 -o calls.data -- ./chain
run script -i calls.data -F ip,brstackinsn
has "brstackinsn without all branches" "$err" "no samples with all branches"
finish
