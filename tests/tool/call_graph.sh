#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# call_graph.sh: `softpmu report` on samples with call chains that are known, compared with perf's own report.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/profile.bash"
cd "$SCRATCH" || exit 1

hot=$(address hot hot) warm=$(address hot warm) label=$(address hot label) cold=$(address hot cold)
{
	echo "chains 1"
	echo "event instructions:u"
	echo "event branches:u"
	echo "comm 10 10 1 1 prog"
	echo "comm 10 11 1 0 worker"
	echo "comm 20 20 1 1 longer"
	map 10 2 "$SCRATCH/hot" 0
	map 20 2 "$SCRATCH/hot" 0
	echo "sample 0 10 10 100 600 $((hot + 7)) @$((warm + 1)) @$((label + 1))"
	echo "sample 0 10 10 101 100 $((hot + 7)) @$((label + 1))"
	echo "sample 0 10 10 102 200 $((warm + 1)) @$((label + 1))"
	# recursion
	echo "sample 0 10 10 103 50 $((hot + 1)) @$((hot + 2)) @$((hot + 3)) @$((warm + 1)) @$((label + 1))"
	echo "sample 0 10 11 104 2 $cold @$((hot + 2)) @$((warm + 1)) @$((label + 1))"
	# a chain that ends where others go on
	echo "sample 0 10 10 105 30 $label"
	echo "sample 0 20 20 106 70 $hot @$((warm + 2)) @$((warm + 1))"
	# an address outside of every file
	echo "sample 0 20 20 107 80 $((0x7000000)) @$((warm + 2)) @$((warm + 1))"
	echo "sample 1 10 10 108 30 $label @$((hot + 2))"
} | make_perfdata perf.data

# lines TEXT: prints the rows and the call graphs of a report, without the width of its columns.
lines() {
	grep -vE '^#|^$' <<<"$1" | sed -E 's/ +$//; /%  /s/ +/ /g'
}
# only TEXT: prints the lines that stand for hidden columns.
only() { grep -E '^# (comm|dso|symbol): ' <<<"$1"; }
perf_report() {
	perf report --stdio --no-inline -i perf.data "$@" 2>/dev/null
}
while read -ra options; do
	want=$(lines "$(perf_report "${options[@]}")")
	run report "${options[@]}"
	succeeds "report ${options[*]}"
	has "perf reports something, ${options[*]}" "$want" "%"
	same "perf says the same, ${options[*]}" "$want" "$(lines "$out")"
	same "and names what the filter takes, ${options[*]}" "$(only "$(perf_report "${options[@]}")")" "$(only "$out")"
done <<'EOF'

-n
--children -g callee
--children -g caller,10
--no-children
--no-children -G
--no-children -g caller
--no-children -g graph,5,callee
-g none
-g none --no-children
-s sym
-s sym --no-children
-s dso,sym -n
-s comm
-s pid,sym
-s cpu,comm -g none
-s srcline --no-children -g none --percent-limit 8
-s addr,sym --no-children -g none
--percent-limit 20
--no-children --percent-limit 20
-c prog,other
-c worker,longer --no-children
--comms prog,worker --percentage relative -g none
-d hot,other --no-children
-S hot,cold --no-children
--pid 10
--pid 10 --no-children --percentage relative -g none
--tid 11 --no-children
-c prog,other -S hot,other -s pid,sym --no-children -n
-c prog -g none
-c prog --no-children
-c prog -d hot --no-children -g none
-S hot --no-children -g none -n
-c worker -d hot -S cold --no-children -g none
-c prog -s pid,sym -g none
-d hot -s dso --no-children -g none
-f --force -g none
EOF

# The same, computed from the chains: the shares of a function with and without what it called.
run report -g none -s sym
has_line "shares of label" "$out" " +86\.75% +2\.65%  \[\.\] label"
has_line "shares of hot" "$out" " +72\.61% +72\.44%  \[\.\] hot"
run report -g
has "callers come first with --children" "$out" "---label"
run report -g --no-children
has "the function comes first with --no-children" "$out" "---hot"

# A filter leaves out whole samples. perf's callers also have the periods of samples that the filter leaves out, or none,
# if one of these came first.
run report -S hot -g none
has_line "-S hot: callers keep the column" "$out" " +66\.25% +0\.00%  prog +hot +\[\.\] label"
run report -S hot,other -g none
has_line "-S hot: label" "$out" " +66\.25% +0\.00%  prog +hot +\[\.\] label"
has_line "-S hot: warm" "$out" " +57\.42% +0\.00%  prog +hot +\[\.\] warm"
has_line "-S hot: warm of another command" "$out" " +6\.18% +0\.00%  longer +hot +\[\.\] warm"
run report --pid 20,30 -s sym -g none --percentage relative
has_line "--pid 20: warm" "$out" " +100\.00% +0\.00%  \[\.\] warm"
has_line "--pid 20: hot" "$out" " +46\.67% +46\.67%  \[\.\] hot"
run report --percentage half
refuses "a word for percentages" 129 "not 'half'"

# export and script take the same filters.
run export --to folded -c worker -i perf.data
same "export -c worker" "worker;label;warm;hot;cold 2" "$out"
run export --to folded -d hot -S label -i perf.data
same "export -d hot -S label" "prog;label 30" "$out"
run export --to folded --pid 99 -i perf.data
refuses "export of nothing" 1 "no samples that the filters take"
run script -i perf.data -d other
same "script -d other" "" "$out"
run script -i perf.data -d hot --tid 11 --max-stack 2 -F ip,sym
same "script --max-stack" "cold hot" "$(awk 'NF { print $2 }' <<<"$out" | xargs)"
run script -i perf.data --max-stack 0
refuses "script --max-stack 0" 129 "not '0'"

run report -g flat
refuses "a form of the graph that we do not have" 129 "not 'flat'"
run report -s comm,comm
refuses "a key twice" 129 "'comm' twice"
finish
