#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# branches.sh: Debian's perf reads from perf.data the branch stacks and branch traces that were written
# into it (Vol. 3B 17.4.8, 17.4.9).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/profile.bash"
cd "$SCRATCH" || exit 1

hot=$(address hot hot) warm=$(address hot warm) label=$(address hot label)
ANY=$((1 << 0 | 1 << 3)) CALL_STACK=$((1 << 0 | 1 << 11 | 1 << 14 | 1 << 15))

# perf_quiet NAME ARGUMENT...: perf succeeds without a warning; its output is in out.
perf_quiet() {
	local name=$1
	shift
	perf "$@" >out 2>err </dev/null
	same "$name: status" 0 $?
	same "$name: standard error" "" "$(<err)"
	out=$(<out)
}

# --- branch stacks
{
	echo "branches $ANY"
	echo "event instructions:upp"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	# predicted, with 7 clocks; mispredicted
	echo "sample 0 10 10 100 1000 $((hot + 7)) $((warm + 1)):$hot:$((2 | 7 << 4)) $((label + 2)):$warm:1"
	echo "sample 0 10 10 101 1000 $((hot + 7))"
	samples 2 0 10 110 1000 "$warm"
	for i in {0..9}; do
		printf 'sample 0 10 10 %d 1000 %d' $((200 + i)) "$warm"
		for j in {0..31}; do
			printf ' %d:%d:2' $((hot + 1)) $((label + j % 2))
		done
		echo
	done
} | make_perfdata lbr.data
perf_quiet "perf script, branches" script -i lbr.data -F brstack
same "brstack of the first sample" \
	"$(printf '0x%x/0x%x/P/-/-/7 0x%x/0x%x/M/-/-/0' $((warm + 1)) "$hot" $((label + 2)) "$warm")" \
	"$(head -n 1 <<<"$out" | sed -E 's|/( +)| |g; s|/ *$||' | xargs)"
same "as many branches as were given" 322 "$(grep -o '/[PM]/' <<<"$out" | wc -l)"
perf_quiet "perf report, branches" report --stdio -i lbr.data -b -n
has "perf report counts branches" "$out" "# Samples: 322  of event 'instructions:upp'"
has_line "perf report: from hot to label" "$out" " +99\.38% +320 +prog +hot +\[\.\] hot +\[\.\] label .*"
perf_quiet "perf report, branch history" report --stdio -i lbr.data --branch-history --no-children
has "branch history has the branches" "$out" "label"
perf_quiet "perf evlist" evlist -v -i lbr.data
has "the event says what was kept" "$out" "branch_sample_type: USER|ANY"
perf_quiet "perf report takes branches by itself" report --stdio -i lbr.data
has "sorted by branches" "$out" "Source Symbol"

# Our own report has the same lines.
rows() { # without the layout and perf's clocks
	grep -E '^ +[0-9.]+%' <<<"$1" | sed -E 's/^ +//; s/ +(-|[0-9]+) *$//; s/ +/ /g' | sort
}
perf_quiet "perf report, branches once more" report --stdio -i lbr.data -b -n
want=$(rows "$out")
run report -b -n -i lbr.data
succeeds "report -b"
same "report -b is perf's" "$want" "$(grep -E '^ +[0-9.]+%' <<<"$out" | sed -E 's/^ +//; s/ +/ /g' | sort)"
has_line "branches of the event" "$out" "# Branches: 322 of event 'instructions:upp'"
run report -b --percent-limit 50 -i lbr.data
same "percent limit" 1 "$(grep -cE '^ +[0-9.]+%' <<<"$out")"

# (perf 6.1 crashes with most others.)
for keys in mispredict cycles dso_to,comm; do
	perf_quiet "perf report by $keys" report --stdio -i lbr.data -b -n -s "$keys"
	want=$(grep -E '^ +[0-9.]+%' <<<"$out" | sed -E 's/^ +//; s/ +/ /g; s/ $//' | sort)
	run report -b -n -i lbr.data -s "$keys"
	succeeds "branches by $keys"
	same "branches by $keys are perf's" "$want" "$(grep -E '^ +[0-9.]+%' <<<"$out" | sed -E 's/^ +//; s/ +/ /g' | sort)"
done
run report -b -n -i lbr.data -s symbol_from,symbol_to,mispredict
same "branches by function and prediction" "0.31% 1 [.] label [.] warm Y 0.31% 1 [.] warm [.] hot N 99.38% 320 [.] hot [.] label N" \
	"$(grep -E '^ +[0-9.]+%' <<<"$out" | sort | xargs)"
run report -b -n -i lbr.data -s cycles,addr_from,addr_to,srcline_to
has_line "branches by cycles and address" "$out" \
	" +0\.31% +1  7 +$(printf '0x%x +0x%x' $((warm + 1)) "$hot") +hot\.S:[0-9]+"
run report -i lbr.data -s mispredict
refuses "a key of branches without -b" 129 "add -b"
run report -b -g -i lbr.data
refuses "branches and a call graph" 129 "-b and -g cannot be combined"

# Rows with equal counts and functions are in the order of their commands, in every run.
{
	echo "branches $ANY"
	echo "event instructions:upp"
	for i in {31..10}; do
		echo "comm $i $i 1 1 prog$i"
		map "$i" 2 "$SCRATCH/hot" 0
		echo "sample 0 $i $i 100 1000 $((hot + 7)) $((warm + 1)):$hot:2"
	done
} | make_perfdata equal.data
for option in -b -n; do
	run report $option -i equal.data
	same "report $option: order of equal rows" "$(printf 'prog%s ' {10..31})" \
		"$(grep -oE '\bprog[0-9]+' <<<"$out" | tr '\n' ' ')"
done

# --- the call chain of a call stack
{
	echo "branches $CALL_STACK"
	echo "event instructions:upp"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	# in hot, called by warm, called by label
	echo "sample 0 10 10 100 1000 $((hot + 7)) $((warm + 1)):$hot:0 $((label + 2)):$warm:0"
} | make_perfdata stack.data
perf_quiet "perf script, call stack" script -i stack.data -F ip,sym
same "callers, innermost first" "hot warm label" "$(awk '{ print $2 }' <<<"$out" | xargs)"
perf_quiet "perf report, call stack" report --stdio -i stack.data --no-children -G
has_line "perf report shows the callers" "$out" " +100\.00% +prog +hot +\[\.\] hot"

# --- branch traces
list() { # the branches of stretch $1, FROM:TO, no two alike
	local i
	for ((i = 0; i < $2; i++)); do
		echo -n " $((hot + i % 20)):$((warm + ($1 + i) % 3))"
	done
}
{
	echo "bts intel_bts//u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	for stretch in {0..4}; do
		echo "trace 10 10 $((1000 * (stretch + 1)))$(list "$stretch" $((stretch * 700 + 1)))"
	done
} >description
make_perfdata bts.data <description
grep ^trace description | cut -d' ' -f5- | tr ' ' '\n' |
	while IFS=: read -r from to; do printf '%x %x\n' "$from" "$to"; done >want
perf_quiet "perf script, trace" script -i bts.data --itrace=be -F ip,addr
same "perf decodes the list that the file was made from" "$(md5sum <want)" \
	"$(awk '{ print $1, $3 }' <<<"$out" | md5sum)"
perf_quiet "perf report, trace" report --stdio -i bts.data --itrace=be -n --sort sym
has "every branch is a sample" "$out" "# Samples: $(($(wc -l <want) / 1000))K of event 'branches:u"
# Our own report of the trace has the same lines.
perf_quiet "perf report, trace by symbol" report --stdio -i bts.data --itrace=be -n --sort dso,sym
want=$(grep -E '^ +[0-9.]+%' <<<"$out" | sed -E 's/^ +//; s/ +/ /g; s/ $//')
run report -n -s dso,sym -i bts.data
succeeds "report of a trace"
same "report of a trace is perf's" "$want" "$(grep -E '^ +[0-9.]+%' <<<"$out" | sed -E 's/^ +//; s/ +/ /g')"
run report -b -i bts.data
has_line "every branch, from hot to warm" "$out" "# Branches: $(wc -l <want) of event 'intel_bts//u'"
run annotate -i bts.data hot
succeeds "annotate of a trace"
has "annotate shows where branches are from" "$out" "call"
run report -b -i stack.data
has "a call stack has no branches" "$out" "# The file has call chains, not branches"
# graph TEXT: prints the rows and the call graphs of a report, without the width of its columns.
graph() {
	grep -vE '^#|^$' <<<"$1" | sed -E 's/ +$//; /%  /s/ +/ /g'
}
for options in "" "-g callee" "--no-children" "-G --no-children"; do
	# shellcheck disable=SC2086 # words
	perf_quiet "perf report $options" report --stdio --no-inline -i stack.data $options
	want=$(graph "$out")
	# shellcheck disable=SC2086
	run report -i stack.data $options
	succeeds "call stack, $options"
	same "the graph of a call stack is perf's, $options" "$want" "$(graph "$out")"
done
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	samples 1 0 10 100 1 "$hot"
} | make_perfdata none.data
run report -b -i none.data
same "no branches" "# The file has no branches." "$out"
perf_quiet "perf report -D" report -D -i bts.data
has "it is an Intel BTS trace" "$out" "PERF_RECORD_AUXTRACE_INFO type: 2"
has "AUX" "$out" "PERF_RECORD_AUX"
has "ITRACE_START" "$out" "PERF_RECORD_ITRACE_START pid: 10 tid: 10"
has_not "all records are known" "$out" "unhandled"
perf_quiet "perf report, header" report --header-only -i bts.data
has "the number of the event's unit" "$out" "# pmu mappings: intel_bts = 1000"
finish
