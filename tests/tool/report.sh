#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# report.sh: `softpmu report` on files whose samples are known, compared with perf's own report of them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/profile.bash"
cd "$SCRATCH" || exit 1

hot=$(address hot hot) warm=$(address hot warm) label=$(address hot label)
{
	echo "event instructions:upp"
	echo "event branches:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	samples 60 0 10 100 1000 $((hot + 7))
	samples 30 0 10 200 1000 "$warm"
	samples 8 0 10 300 1000 $((label + 1))
	samples 2 0 10 400 1000 $((0x7000000))
	samples 5 1 10 500 100 $((hot + 0x14))
} | make_perfdata perf.data

# rows TEXT: prints the lines of a report without their layout.
rows() {
	grep -E '^ +[0-9.]+%' <<<"$1" | sed -E 's/^ +//; s/ +/ /g; s/ $//'
}

run report -n
succeeds "report"
same "functions, hottest first" "60.00% 60 prog hot [.] hot
30.00% 30 prog hot [.] warm
8.00% 8 prog hot [.] label
2.00% 2 prog [unknown] [.] 0x0000000007000000
100.00% 5 prog hot [.] hot" "$(rows "$out")"
has_line "samples of the first event" "$out" "# Samples: 100 of event 'instructions:upp'"
has_line "count of the first event" "$out" "# Event count \(approx\.\): 100000"
has_line "count of the second event" "$out" "# Event count \(approx\.\): 500"
has_line "titles" "$out" "# Overhead +Samples +Command +Shared Object +Symbol"
has_not "no escape sequence in a pipe" "$out" $'\e'
same "no blanks at the ends of lines" "" "$(grep -n ' $' <<<"$out")"

# perf's own report of the same file has the same lines.
perf_report() {
	perf report --stdio -n "$@" 2>/dev/null
}
same "perf says the same" "$(rows "$(perf_report -i perf.data)")" "$(rows "$out")"
for sort in comm dso sym dso,sym comm,sym sym,dso,comm; do
	run report -n --stdio --sort "$sort" -i perf.data
	same "perf says the same by $sort" "$(rows "$(perf_report -i perf.data --sort "$sort")")" "$(rows "$out")"
done
run report --percent-limit 10
same "percent limit" "60.00% 30.00% 100.00%" "$(rows "$out" | awk '{ print $1 }' | xargs)"
run report --header
has_line "header" "$out" "# cmdline : make_perfdata"

# Overhead is a share of the periods, not of the number of samples.
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	samples 9 0 10 100 1 "$hot"
	samples 1 0 10 200 91 "$warm"
} | make_perfdata periods.data
run report -n -i periods.data
same "overhead is a share of periods" "91.00% 1 prog hot [.] warm
9.00% 9 prog hot [.] hot" "$(rows "$out")"

# A position-independent file at another address, in two processes. One of them executes a second
# program. A mapping covers an older one, and a library has no sample.
build_hot "$SCRATCH/moved" -shared
bias=$((0x7f0000000000))
moved_hot=$(($(address moved hot) + bias)) moved_cold=$(($(address moved cold) + bias))
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 first"
	map 10 2 "$SCRATCH/moved" $bias
	samples 10 0 10 100 10 "$moved_hot"
	map 10 200 "$SCRATCH/hot" $((moved_hot - hot))
	samples 4 0 10 300 10 $((moved_hot + warm - hot))
	echo "comm 20 20 400 1 second"
	map 20 401 "$SCRATCH/moved" $bias
	samples 5 0 20 500 10 "$moved_cold"
	echo "comm 20 20 600 1 third"
	samples 1 0 20 700 10 "$moved_cold"
} | make_perfdata maps.data
run report -n -i maps.data
unmapped=$(printf '0x%016x' "$moved_cold")
same "mappings" "50.00% 10 first moved [.] hot
25.00% 5 second moved [.] cold
20.00% 4 first hot [.] warm
5.00% 1 third [unknown] [.] $unmapped" "$(rows "$out")"
# perf keeps the mappings from before exec; the rest is the same.
same "perf says the same of mappings" "$(rows "$(perf_report -i maps.data)" | grep -v third | sort)" \
	"$(rows "$out" | grep -v third | sort)"

# Records that are not in order of time: the mapping that a sample is in was recorded after it.
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	samples 2 0 10 300 10 "$warm"
	samples 3 0 10 100 10 "$((warm + 0x1000000))"
	map 10 200 "$SCRATCH/hot" 0
	map 10 50 "$SCRATCH/hot" $((0x1000000))
} | make_perfdata unordered.data
run report -n -i unordered.data
succeeds "records in another order"
same "records in another order" "100.00% 5 prog hot [.] warm" "$(rows "$out")"

# A long file needs hardly more memory than a short one.
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	awk -v hot="$hot" 'BEGIN { for (i = 0; i < 600000; i++) print "sample 0 10 10 " 100 + i " 1000 " hot + i % 20 }'
} | make_perfdata long.data
peak() { # prints the most memory that a run of the tool needed, in KB
	python3 -c "import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)" "$SOFTPMU" "$@"
}
short_kb=$(peak report -i perf.data) long_kb=$(peak report -i long.data)
if ((long_kb - short_kb < 20000)); then
	pass "memory for a file of 34 MB"
else
	fail "memory for a file of 34 MB" "$long_kb KB instead of $short_kb KB"
fi

# A stripped file has no names, unless its debug file is below --symfs.
mkdir -p symfs/bin
build_hot "$SCRATCH/symfs/bin/stripped" -static -no-pie
id=$(build_id symfs/bin/stripped)
mkdir -p "symfs/usr/lib/debug/.build-id/${id:0:2}"
objcopy --only-keep-debug symfs/bin/stripped "symfs/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
strip symfs/bin/stripped
stripped_warm=$warm
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/symfs/bin/stripped" 0 | sed "s|$SCRATCH/symfs||"
	samples 3 0 10 100 10 "$stripped_warm"
} | make_perfdata stripped.data
run report -i stripped.data --symfs "$SCRATCH/symfs"
succeeds "debug file by build-id"
same "debug file by build-id" "100.00% prog stripped [.] warm" "$(rows "$out")"
rm -r symfs/usr
run report -i stripped.data --symfs "$SCRATCH/symfs"
same "no debug file: the address" "100.00% prog stripped [.] $(printf '0x%016x' "$stripped_warm")" "$(rows "$out")"
run report -i stripped.data
same "no such file: the address" "100.00% prog stripped [.] $(printf '0x%016x' "$stripped_warm")" "$(rows "$out")"
has "no such file: said" "$err" "softpmu: no symbols of /bin/stripped: it no longer exists"
# If a stripped file has an unwind table, its functions are named after their addresses.
cat >frames.c <<'EOF'
int start(int x);
__attribute__((noinline)) static int twice(int x) { __asm__(""); return 2 * x + 1; }
int start(int x) { return twice(x) + twice(x + 1); }
EOF
"$CC" -O1 -nostdlib -static -no-pie -fasynchronous-unwind-tables -Wl,-e,start,--eh-frame-hdr,--build-id=sha1 \
	-o frames frames.c || stop "build of frames" "$CC failed"
twice=$(address frames twice) start=$(address frames start)
strip frames
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/frames" 0
	samples 3 0 10 100 10 "$twice"
	samples 2 0 10 200 10 $((twice + 1))
	samples 4 0 10 300 10 $((start + 1))
} | make_perfdata frames.data
run report -n -i frames.data
same "functions of a stripped file" "55.56% 5 prog frames [.] sub_$(printf %x "$twice")
44.44% 4 prog frames [.] sub_$(printf %x "$start")" "$(rows "$out")"
run annotate -i frames.data "sub_$(printf %x "$twice")"
succeeds "annotate of a stripped file"
has "annotate of a stripped file" "$out" "(5 samples, 55.56% of all"

# A file that was built again has other addresses: its names must not be used.
cp hot again
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/again" 0
	samples 3 0 10 100 10 "$warm"
} | make_perfdata again.data
build_hot "$SCRATCH/again" -static -no-pie -Wl,-Ttext=0x500000
run report -i again.data
has "changed file: said" "$err" "it has changed since it was recorded"
has_not "changed file: no names" "$out" "warm"

# Files that are not perf.data.
run report -i nothing.data
refuses "missing file" 1 "nothing.data"
echo "PERFILE1 is something else, and this is text" >text.data
run report -i text.data
refuses "not a perf.data" 1 "text.data"
: >empty.data
run report -i empty.data
refuses "empty file" 1 "empty.data"
run report -i "$SCRATCH"
refuses "a folder" 1 "$SCRATCH"
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
} | make_perfdata idle.data
run report -i idle.data
succeeds "no samples"
has_line "no samples" "$out" "# The file has no samples\."
# A file that ends within the records: the records before are shown, and the place is named.
read -r data size < <(od -A n -t u8 -j 40 -N 16 perf.data) # the header's data section
head -c $((data + size * 2 / 3)) perf.data >cut.data
run report -n -i cut.data
same "cut file: status" 1 "$status"
has "cut file: where" "$err" "at byte "
has_line "cut file: the records before" "$out" ' +[0-9.]+% +60  prog +hot +\[\.\] hot'
same "cut file: one line" 1 "$(grep -c '' <<<"$err")"

run report --sort comm,size
refuses "unknown key" 129 "cannot sort by 'size'"
run report --percent-limit much
refuses "percent limit that is none" 129 "not 'much'"
run report --frobnicate
refuses "unknown option" 129 "--frobnicate"
run report perf.data
refuses "argument" 129 "unexpected argument 'perf.data'"
finish
