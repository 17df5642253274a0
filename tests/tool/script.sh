#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# script.sh: `softpmu script` writes the lines that `perf script` writes for the same file.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# All functions have symbols, so that perf knows them, too.
cat >work.c <<'END'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned long table[512];
__attribute__((noinline)) unsigned long leaf(unsigned long n) { return table[n % 512] += n * n; }
__attribute__((noinline)) unsigned long work(unsigned long n)
{
	unsigned long sum = 0;
	for (unsigned long i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}
int main(void)
{
	if (!fork()) {
		work(20000);
		_exit(0);
	}
	work(40000);
	wait(NULL);
	return 0;
}
END
"$CC" -O1 -g -static -o work work.c || stop "building" work.c

# named: leaves out lines with places that perf names otherwise, or not at all (softpmu-script(1)), and lines of the
# source that are not known, which perf shows as line 0 of an object.
named() { grep -Ev '_init|plt|unknown|sub_|^  .*:0$' || :; }

# same_as_perf WHAT FILE OPTION...: both write the same.
same_as_perf() {
	local what=$1 file=$2
	shift 2
	run script -i "$file" "$@"
	succeeds "$what"
	perf script -i "$file" "$@" 2>/dev/null | named >expected
	same "$what: lines" yes "$([[ $(wc -l <expected) -gt 9 ]] && echo yes)"
	same "$what: as perf" "" "$(diff expected <(named <<<"$out") | head -n 3)"
}
run record -q -c 10007 -o plain.data -- ./work
succeeds record
same_as_perf "usual fields" plain.data
same_as_perf "nanoseconds" plain.data --ns
same_as_perf "some fields" plain.data -F pid,tid,event,ip,sym
same_as_perf "addresses alone" plain.data -F ip
same_as_perf "without files" plain.data -F -dso,-cpu
same_as_perf "of a function" plain.data -S leaf
same_as_perf "of a command" plain.data -c work -F comm,time,period
run script -i plain.data -c nosuch
same "of no command" "0 " "$status $out"
child=$(perf script -i plain.data -F pid 2>/dev/null | sort | uniq -c | sort -n | awk 'NR == 1 { print $2 }')
same_as_perf "of the child" plain.data --pid "$child" -F pid,tid,ip,sym
run script -i plain.data --tid "1,$child"
same "of a thread" "$child" "$(awk '{ print $2 }' <<<"$out" | sort -u)"

run record -q -b -c 20011 -o branches.data -- ./work
same_as_perf "branches" branches.data -F brstack
same_as_perf "branches and the usual fields" branches.data -F +brstack
same_as_perf "branches with functions" branches.data -F ip,sym,brstacksym
same_as_perf "branches of files" branches.data -F ip,dso,brstacksym

run record -q -d -e mem_inst_retired.all_loads:upp,instructions:upp -c 5003 -o data.data -- ./work
same_as_perf "addresses of data, two events" data.data -F comm,tid,event,addr,ip,sym
same_as_perf "lines of the source" plain.data -F comm,ip,sym,srcline
expect "they are known" grep -q '^  work.c:[0-9]' <<<"$out"

# perf fills data_src up to a column.
run record -q --machine -M skylake -d -W -e cpu/mem-loads,ldlat=4/upp,cpu/mem-stores/upp -c 101 -o source.data -- ./work
squeezed() { tr -s ' ' | sed 's/ $//'; }
for fields in data_src weight event,addr,data_src,weight; do
	run script -i source.data -F "$fields"
	succeeds "$fields"
	perf script -i source.data -F "$fields" 2>/dev/null | squeezed >expected
	same "$fields: lines" yes "$([[ $(sort -u expected | wc -l) -gt 2 ]] && echo yes)"
	same "$fields: as perf" "" "$(diff expected <(squeezed <<<"$out") | head -n 3)"
done
# Every part of a data source, in the place of the one that most stores have.
cat >vary.pl <<'END'
my @sources = (0);
push @sources, 1 << $_ for 0 .. 4;
push @sources, 2 | 1 << 5 + $_ | 1 << 6, 2 | 1 << 5 + $_ | 1 << 7 for 0 .. 13;
push @sources, 2 | 1 << 6 | $_ << 33 for 0 .. 15;
push @sources, 2 | 1 << 37 | $_ << 33 for 0 .. 3;
push @sources, 2 | 1 << $_ for 19 .. 25, 38 .. 42;
push @sources, 2 | 1 << 26 + $_ | 1 << 27, 2 | 1 << 26 + $_ | 1 << 28 for 0 .. 6;
push @sources, 2 | 3 << 40, 2 | 6 << 40, 2 | 7 << 7 | 3 << 26 | 4 << 33, 2 | 31 << 19, 2 | 13 << 26, 2 | 13 << 5;
undef $/;
my $data = <STDIN>;
my $most = pack("Q<", 0x268000144);
my $n = 0;
$data =~ s/\Q$most\E/$n < @sources ? pack("Q<", $sources[$n++]) : $most/ge;
print $data;
print STDERR "left: ", @sources - $n, "\n";
END
perl vary.pl <source.data >varied.data 2>err
same "all sources are there" "left: 0" "$(cat err)"
run script -i varied.data -F data_src
same "all of them: as perf" "" \
	"$(diff <(perf script -i varied.data -F data_src 2>/dev/null | sed 's/ *$//') <(echo "$out") | head -n 3)"

# The chains are the same after their first line, except the addresses (softpmu-script(1)).
run record -q --call-graph lbr -c 10007 -o calls.data -- ./work
run script -i calls.data
echo "$out" >calls
echo >>calls # the line after the last chain
after_first() { awk '{ line = /^\t/ } line { $1 = "" } !line || before { print } { before = line }'; }
perf script -i calls.data 2>/dev/null | after_first >expected
after_first <calls >found
same "call chains: lines" yes "$([[ $(wc -l <expected) -gt 99 ]] && echo yes)"
same "call chains" "" "$(diff expected found | head -n 3)"
same "call chains begin with the sample" leaf "$(awk '/^\t/ && first && /leaf/ { print "leaf"; exit } { first = !/^\t/ }' <<<"$out")"

# A trace: perf makes events of another name.
run record -q -e intel_bts//u -o trace.data -- ./work
run script -i trace.data
perf script --itrace=b -i trace.data 2>/dev/null | sed 's,branches:uH:,intel_bts//u:,' >expected
same "trace: branches" "$(grep -c . expected)" "$(grep -c . <<<"$out")"
words() { named | awk '{ $1 = $1; print }' | sort; }
same "trace: most are compared" yes "$([[ $(words <expected | wc -l) -gt 100000 ]] && echo yes)"
same "trace" "" "$(diff <(words <expected) <(words <<<"$out") | head -n 3)"

# What perf itself has recorded. perf takes the stubs between _init, which has no size, and the next function for _init.
without_stubs() { sed -E 's/ (_init|\[unknown\])$//'; }
if perf record -q -e cpu-clock:u -c 3000 -o perf.data -- ./work >/dev/null 2>&1 && [[ -n $(perf script -i perf.data 2>/dev/null) ]]; then
	run script -i perf.data -F comm,tid,ip,sym
	same "a file of perf" "" \
		"$(diff <(perf script -i perf.data -F comm,tid,ip,sym 2>/dev/null | without_stubs) <(without_stubs <<<"$out") | head -n 3)"
else
	not_run "a file of perf" "perf cannot record here"
fi

# --- wrong usage
run script -F nosuch
refuses "no such field" 129 "-F has no field 'nosuch'; there are comm, pid, tid,"
run script -F ip,+sym
refuses "fields and changes" 129 "-F takes either fields or changes"
run script -F comm,sym
refuses "functions without addresses" 129 "sym, symoff and dso need the field ip"
run script -F comm,srcline
refuses "lines without addresses" 129 "srcline needs the field ip"
run script -F ip,symoff
refuses "distances without functions" 129 "symoff needs the field sym"
run script branches.data
refuses "an argument" 129 "unexpected argument 'branches.data'; name the file with -i"
run script -i nosuch.data
refuses "no such file" 1 "nosuch.data"
run profile -q -o exact.data -- true
run script -i exact.data
refuses "an exact profile" 1 "exact.data is an exact profile, which has no samples"
head -c 3000 plain.data >short.data
run script -i short.data
same "a file that ends early: status" 1 "$status"
timeout "$LIMIT" "$SOFTPMU" script -i plain.data >/dev/full 2>err
same "a full disk" "1 1" "$? $(grep -c 'cannot write the output' err)"
finish
