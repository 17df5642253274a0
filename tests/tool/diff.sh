#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# diff.sh: `softpmu diff` on pairs of files whose samples are known.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/profile.bash"
cd "$SCRATCH" || exit 1

# The second program is another build: at another path, with another build-id and other addresses.
mkdir again
build_hot "$SCRATCH/again/hot" -static -no-pie -Wl,-Ttext=0x500000
same "the builds differ" yes "$([[ $(build_id hot) != "$(build_id again/hot)" ]] && echo yes)"

# describe FILE HOT WARM LABEL: prints a profile in which these functions have these counts.
describe() {
	local file=$1
	echo "chains 1"
	echo "event instructions:u"
	echo "event branches:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/$file" 0
	(($2 == 0)) || echo "sample 0 10 10 100 $2 $(($(address "$file" hot) + 7)) @$(($(address "$file" warm) + 1))"
	(($3 == 0)) || echo "sample 0 10 10 101 $3 $(address "$file" warm)"
	(($4 == 0)) || echo "sample 0 10 10 102 $4 $(address "$file" label)"
	echo "sample 1 10 10 103 7 $(address "$file" hot)"
}
describe hot 600 300 0 | make_perfdata perf.data.old
describe again/hot 600 330 5 | make_perfdata perf.data
rows() {
	grep -v '^#' <<<"$out" | sed -E 's/^ +//; s/ +/ /g' | grep .
}

run diff
succeeds "diff"
same "changes, the largest first; matched by name" "300 330 +30 +10.00% hot [.] warm
0 5 +5 new hot [.] label" "$(rows)"
has_line "the event's counts" "$out" "# Event 'instructions:u': 900 before, 935 after, \+3\.89%"
has_line "an event without a change" "$out" "# Nothing has changed\."
run diff perf.data perf.data.old
same "the other way round" "330 300 -30 -9.09% hot [.] warm
5 0 -5 gone hot [.] label" "$(rows)"
run diff --children
same "with what was called" "900 930 +30 +3.33% hot [.] warm
0 5 +5 new hot [.] label" "$(rows)"
run diff --percent-limit 1
same "percent limit" "300 330 +30 +10.00% hot [.] warm" "$(rows)"
run diff -s srcline
has_line "lines" "$out" " +300 +330 +\+30 +\+10\.00%  hot\.S:[0-9]+"
run diff perf.data perf.data
same "the same file" "" "$(rows)"

{
	echo "event cycles:u"
	echo "comm 10 10 1 1 prog"
	samples 1 0 10 100 10 $((0x1000))
} | make_perfdata other.data
run diff perf.data other.data
refuses "no event in common" 1 "have no event in common"
run diff perf.data nothing.data
refuses "missing file" 1 "nothing.data"
run diff -s mispredict
refuses "a key of branches" 129 "mispredict"
run diff 1 2 3
refuses "too many files" 129 "'3'"
finish
