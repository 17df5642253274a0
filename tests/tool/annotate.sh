#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# annotate.sh: `softpmu annotate` shows every sample at its instruction and source line.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/profile.bash"
cd "$SCRATCH" || exit 1

hot=$(address hot hot) warm=$(address hot warm) cold=$(address hot cold) label=$(address hot label)
{
	echo "event instructions:upp"
	echo "event branches:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	samples 45 0 10 100 1000 $((hot + 7))
	samples 15 0 10 200 1000 $((hot + 0x12))
	samples 30 0 10 300 1000 "$warm"
	samples 9 0 10 400 1000 $((label + 1))
	samples 1 0 10 500 1000 "$cold"
	samples 5 1 10 600 100 $((hot + 0x14))
} | make_perfdata perf.data

# Prints percent, address and text of instructions, without the layout.
instructions() {
	sed -nE 's/^ +([0-9.]+) : +([0-9a-f]+):  (.*)$/\1 \2 \3/p' <<<"$1"
}

run annotate hot
succeeds "annotate"
first=$(sed '/^$/,$d' <<<"$out")
# Prints the instructions as for an assembler, with their addresses (hot.S).
same "instructions of hot" "0.00 $(printf %x "$hot") xor %eax,%eax
0.00 $(printf %x $((hot + 2))) mov \$0x3e8,%ecx
75.00 $(printf %x $((hot + 7))) add \$0x1,%rax
0.00 $(printf %x $((hot + 0xb))) lea 0xfee(%rip),%rdx  # $(printf %x "$(address hot table)")
25.00 $(printf %x $((hot + 0x12))) dec %ecx
0.00 $(printf %x $((hot + 0x14))) jne $(printf 0x%x $((hot + 7))) <hot+0x7>
0.00 $(printf %x $((hot + 0x16))) call $(printf 0x%x "$warm") <warm>
0.00 $(printf %x $((hot + 0x1b))) ret" "$(instructions "$first")"
has "heading" "$first" "hot in hot for instructions:upp (60 samples, 60.00% of all"
has_line "source file" "$first" " +: $ROOT/tests/tool/hot\.S"
line=$(grep -n 'add.*1, %rax' "$ROOT/tests/tool/hot.S" | cut -d: -f1)
has_line "source line" "$first" " +: +$line  1:.*add.*\\\$1, %rax"
same "source lines stand before their instruction" "$line" \
	"$(grep -B 1 -E '^ +75\.00' <<<"$first" | sed -nE 's/^ +: +([0-9]+) .*/\1/p')"
second=$(sed '1,/^$/d' <<<"$out")
has "the other event" "$second" "hot in hot for branches:u (5 samples, 100.00% of all"
has_line "its sample" "$(instructions "$second")" "100\.00 $(printf %x $((hot + 0x14))) jne .*"

# perf has the same shares at the same addresses.
perf annotate --stdio -i perf.data hot 2>/dev/null >perf.out
same "perf says the same" "$(sed -nE 's/^ +([0-9.]+) : +([0-9a-f]+): .*/\1 \2/p' perf.out | head -n 8)" \
	"$(instructions "$first" | cut -d' ' -f1,2)"

# The filters, and the function as an option.
run annotate -f -c prog,other --pid 10 -d hot -s hot
same "annotate with filters" "$first" "$(sed '/^$/,$d' <<<"$out")"
run annotate -c other hot
refuses "filters that take nothing" 1 "perf.data has no samples that the filters take"
run annotate -s hot warm
refuses "two functions" 129 "unexpected argument 'warm'"

run annotate --intel hot
by_long=$out
run annotate -M intel hot
same "-M intel" "$by_long" "$out"
run annotate --disassembler-style att hot
same "--disassembler-style att" "$first" "$(sed '/^$/,$d' <<<"$out")"
run annotate -M nasm hot
refuses "another syntax" 129 "-M is att or intel, not 'nasm'"
run annotate --intel hot
has "Intel's syntax" "$out" "add rax, 0x1"
has "Intel's syntax, relative" "$out" "lea rdx, [rip+0xfee]  # $(printf %x "$(address hot table)")"

# Without a name, functions with at least a tenth of the count are shown.
run annotate
same "hottest functions" "hot warm hot" "$(sed -nE 's/^ Percent \|  ([^ ]+) in .*/\1/p' <<<"$out" | xargs)"
run annotate --percent-limit 1
same "down to one percent" "hot warm label cold hot" "$(sed -nE 's/^ Percent \|  ([^ ]+) in .*/\1/p' <<<"$out" | xargs)"
has_not "no escape sequence in a pipe" "$out" $'\e'

# Bytes that are not an instruction; a label without a size ends at the next symbol.
run annotate label
same "bytes that are none" "0.00 nop 100.00 .byte 0x06 0.00 nop 0.00 ret" \
	"$(instructions "$out" | cut -d' ' -f1,3- | head -n 4 | xargs)"

# Without debug information, only instructions are shown.
strip -g -o plain hot
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/plain" 0
	samples 2 0 10 100 1 "$warm"
} | make_perfdata plain.data
run annotate -i plain.data
succeeds "no debug information"
same "no debug information" "100.00 $(printf %x "$warm") imul %rax,%rax
0.00 $(printf %x $((warm + 4))) ret" "$(instructions "$out")"
has_not "no source lines" "$out" "hot.S"

# Debug information in its own file, which the build-id names.
id=$(build_id hot)
mkdir -p "symfs/bin" "symfs/usr/lib/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug hot "symfs/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
strip -o symfs/bin/hot hot
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0 | sed "s|$SCRATCH|/bin|"
	samples 2 0 10 100 1 $((hot + 7))
} | make_perfdata apart.data
run annotate -i apart.data --symfs "$SCRATCH/symfs"
succeeds "debug file"
has_line "debug file: source line" "$out" " +: +$line  1:.*add.*\\\$1, %rax"
has_line "debug file: instruction" "$(instructions "$out")" "100\.00 $(printf %x $((hot + 7))) add .*"

run annotate hit
refuses "misspelt function" 1 "no samples in 'hit'; did you mean 'hot'?"
run annotate other_function
refuses "function without samples" 1 "no samples in 'other_function'"
run annotate -i nothing.data
refuses "missing file" 1 "nothing.data"
{
	echo "event instructions:u"
	samples 2 0 10 100 1 4096
} | make_perfdata nowhere.data
run annotate -i nowhere.data
refuses "no names at all" 1 "nowhere.data has no sample in a function whose name is known"
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
} | make_perfdata idle.data
run annotate -i idle.data
refuses "no samples" 1 "idle.data has no samples"
run annotate hot warm
refuses "two functions" 129 "unexpected argument 'warm'"
run annotate --frobnicate
refuses "unknown option" 129 "--frobnicate"
finish
