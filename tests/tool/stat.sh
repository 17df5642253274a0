#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# stat.sh: lists of events, and the output formats of stat.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# A program of 1 + 1000 * 2 + 3 instructions, 1000 branches of which 999 are taken, and a system call.
cat >count.S <<'END'
	.globl _start
_start:
	mov $1000, %ecx
1:	dec %ecx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
END
"$CC" -nostdlib -static -o count count.S || stop "building" count.S

# counted NAME EVENT COUNT FIDELITY [SHOWN]: counts one event, with output as fields.
counted() {
	run stat -x, -e "$2" -- ./count
	same "$1" "$3,${5:-$2},$4" "$(awk -F, '{ print $1 "," $3 "," $NF }' <<<"$err")"
}
counted "generic name" instructions:u 2004 exact
counted "without a privilege letter" instructions 2004 exact instructions:u
counted "Intel's name" BR_INST_RETIRED.NEAR_TAKEN:u 999 exact
counted "Intel's name in small letters" br_inst_retired.near_taken:u 999 exact
counted "libpfm4's name" BR_INST_RETIRED:NEAR_TAKEN:u 999 exact
counted "libpfm4's full name" skl::BR_INST_RETIRED:NEAR_TAKEN:u 999 exact
counted "raw" r20c4:u 999 exact
counted "raw with all of the register" r5320c4:u 999 exact
counted "both sides of a branch" br_inst_retired.conditional:u 1000 exact
counted "letters for precision count the same" instructions:upp 2004 exact
counted "absent" cycles:u "<not supported>" absent
counted "the kernel's" instructions:k "<not supported>" absent
counted "the user's with the kernel's" instructions:uk "<not supported>" absent
counted "all levels" instructions:ukhp "<not supported>" absent
counted "the hypervisor's level is the kernel's" instructions:uh 2004 exact
counted "known to libpfm4 only" resource_stalls.all:u "<not supported>" absent
counted "a threshold depends on the clock" inst_retired.any_p:c=1:u 2004 modelled
counted "all 1s threshold" inst_retired.any_p:c=2:u 0 modelled

# counted_on MODEL NAME EVENT COUNT FIDELITY: the same on another family, with its own names, libpfm4's prefixes
# and codes (families.sh has all events of all families).
counted_on() {
	run stat -M "$1" -x, -e "$3" -- ./count
	same "$1: $2" "$4,$5" "$(awk -F, '{ print $1 "," $NF }' <<<"$err")"
}
counted_on core "the manual's name" BR_TAKEN_RET:u 1000 exact
counted_on core2 "libpfm4's prefix" core::INST_RETIRED:ANY_P:u 2004 exact
counted_on core2 "an architectural name of libpfm4" BRANCH_INSTRUCTIONS_RETIRED:u 1001 exact
counted_on core2-45nm "raw" r0cc4:u 1000 exact
counted_on bonnell "libpfm4's prefix" atom::BR_INST_RETIRED:ANY1:u 1001 exact
counted_on silvermont "a mask like no other family's" r7ec4:u 1000 exact
counted_on airmont "libpfm4's name" slm::MEM_UOP_RETIRED:ANY_LD:u 0 modelled
counted_on goldmont-plus "another name for a code" INST_RETIRED.PREC_DIST:u 2004 exact
counted_on nehalem "terms" cpu/event=0xc4,umask=0x01/u 1000 exact
counted_on nehalem "micro-operations" uops_retired.any:u 2004 modelled
counted_on skylake "micro-operations of top-down analysis" uops_issued.any:u 2004 modelled
counted_on skylake "slots that the front end left empty" idq_uops_not_delivered.core:u "<not supported>" absent
counted_on haswell "clocks with a micro-operation" uops_retired.all:c=1:u 2004 modelled
counted_on pentium-iii "micro-operations" uops_retired:u 2004 modelled
counted_on netburst "micro-operations" uops_retired.NBOGUS:u 2004 modelled
counted_on westmere "a code with two meanings" r00c5:u "<not supported>" absent
counted_on sandybridge "libpfm4's sense of a name" snb::BR_INST_RETIRED:NOT_TAKEN:u 1 exact
counted_on icelake "a fixed counter's second name" inst_retired.prec_dist:u 2004 exact
counted_on tigerlake "issue slots" topdown.slots:u "<not supported>" absent
run stat -M core2 -e MEM_INST_RETIRED.ALL_LOADS -- ./count
refuses "another family's name" 129 "unknown event 'MEM_INST_RETIRED.ALL_LOADS'"
run stat -M nehalem -e skl::INST_RETIRED:ANY_P -- ./count
refuses "another family's prefix" 129 "unknown event 'skl::INST_RETIRED:ANY_P'"

# Commas between slashes are not separators of -x.
run stat -x';' -e 'cpu/event=0xc4,umask=0x20/u,cpu/inst_retired.any_p,name=mine/,{branches,instructions}:u' -- ./count
same "terms, names and groups" "999;cpu/event=0xc4,umask=0x20/u 2004;mine 1001;branches:u 2004;instructions:u" \
	"$(awk -F';' '{ print $1 ";" $3 }' <<<"$err" | xargs)"

# More events than a unit has counters.
list=instructions:u
for _ in {1..20}; do
	list+=,br_inst_retired.near_taken:u
done
run stat -x, -e "$list" -- ./count
same "21 events: numbers" "1 2004 20 999" "$(cut -d, -f1 <<<"$err" | sort -nr | uniq -c | xargs)"

# Wrong lists are refused with one line that says what is wrong.
for bad in '' ',' 'instructions,,branches' '{instructions' 'instructions}' 'cpu/' 'cpu//' 'cpu/event=0x100/' \
	'cpu/event=1,instructions/' 'cpu/name=x/' 'other/event=1/' 'instructions:' 'instructions:upppp' \
	'instructions/period=0/' 'inst_retired.any_p:c=256' 'nosuch::INST_RETIRED' rffffffffff; do
	run stat -e "$bad" -- ./count
	refuses "list '$bad'" 129 "softpmu: "
done
run stat -e br_inst_retired.near_takn ./count
refuses "typing error" 129 "similar: BR_INST_RETIRED.NEAR_TAKEN"
run stat -e near_taken ./count
refuses "part of a name" 129 "BR_INST_RETIRED.NEAR_TAKEN"

# Text.
run stat -- ./count
same "status" 0 "$status"
has_line "heading" "$err" " Performance counter stats for './count':"
has_line "count with its separator" "$err" " +2,004 +instructions:u +exact *"
has_line "metric" "$err" " +1,000 +br_inst_retired.conditional:u exact +# +99.900 % of all branches *"
has_line "absent" "$err" " +<not supported> +cycles:u +absent *"
has_line "time" "$err" " +[0-9.]+ seconds time elapsed"
has "what counts clocks" "$err" " absent: cycles:u (--static-clocks, or --machine of stat and profile, counts it by a model)"
has "what counts it" "$err" " absent: branch-misses:u (with --machine a model counts it)"

# JSON, with perf's keys.
run stat -j -e instructions:u,cycles:u -- ./count
number='[0-9]+(\.[0-9]+)?'
tail="\"event-runtime\" : $number, \"pcnt-running\" : 100\.00, \"metric-value\" : $number, \"metric-unit\" : \"[a-z %]*\""
has_line "JSON" "$err" \
	"\{\"counter-value\" : \"2004\.000000\", \"unit\" : \"\", \"event\" : \"instructions:u\", $tail, \"fidelity\" : \"exact\", \"model\" : \"skylake\", \"version\" : \"[0-9.]+\", \"command\" : \"./count\"\}"
has_line "JSON of what is absent" "$err" \
	"\{\"counter-value\" : \"<not supported>\", \"unit\" : \"\", \"event\" : \"cycles:u\", $tail, \"fidelity\" : \"absent\", \"model\" : \"skylake\", \"version\" : \"[0-9.]+\", \"command\" : \"./count\"\}"
same "JSON: an object a line" 2 "$(grep -c '^{.*}$' <<<"$err")"

# Repeated runs, written to a file, and added to it.
run stat -r 3 -e instructions:u -- ./count
has "runs in the heading" "$err" "'./count' (3 runs):"
has_line "mean and spread" "$err" " +2,004 +instructions:u +exact .*\( \+-  0\.00% \)"
run stat -o file -x, -e instructions:u -- ./count
succeeds "-o"
run stat -o file --append -x, -e branches:u -- ./count
succeeds "--append"
same "both are in the file" "instructions:u branches:u" "$(cut -d, -f3 file | xargs)"
run stat -o file -x, -e branches:u -- ./count
same "without --append only the last" "branches:u" "$(cut -d, -f3 file | xargs)"
run stat -o new -- ./nosuch
refuses "missing program" 127 "nosuch"
same "no file is left" no "$([[ -e new ]] && echo yes || echo no)"

# The program's status is passed on.
run stat -x, -e instructions:u -- sh -c 'exit 42'
same "status of the program" 42 "$status"
# shellcheck disable=SC2016
run stat -e instructions:u -- sh -c 'kill -9 $$'
same "killed: status" 137 "$status"
has "killed: no count is made up" "$err" "<not counted>"
has "killed: said" "$err" "sh: Killed"
out=$(echo hello | "$SOFTPMU" stat -x, -e instructions:u -o file -- cat)
same "standard input and output are the program's" hello "$out"

# --timeout
run stat --timeout 2000 -x, -e instructions:u -o file -- sleep 100
same "--timeout: status" 143 "$status"
same "--timeout: what was counted until then" 1 "$(($(cut -d, -f1 file) > 1000))"
run stat --timeout 100000 -x, -e instructions:u -- ./count
same "--timeout: a program that ends before" "0 2004" "$status $(cut -d, -f1 <<<"$err")"
run stat --timeout 2000 -D -1 -x, -e instructions:u -o file -- sleep 100
same "--timeout: with -D" "143 0" "$status $(cut -d, -f1 file)"
for bad in 0 x -1; do
	run stat --timeout "$bad" -- ./count
	refuses "--timeout $bad" 129 "--timeout takes a number of milliseconds, not '$bad'"
done

# The kernel's events are measured: of the program and the engine together.
kernels=task-clock,cpu-clock,page-faults,faults,minor-faults,major-faults,context-switches,cs,duration_time,user_time,system_time
run stat -j -e "$kernels,cpu-migrations,branches:u" -o file -- ./count
succeeds "the kernel's events"
same "the kernel's events: units, sums and fidelity" "msec ns measured True True True True True True branches:u exact" "$(python3 -c '
import json
rows = [json.loads(line) for line in open("file")]
value = {r["event"]: float(r["counter-value"]) for r in rows if r["fidelity"] != "absent"}
print(rows[0]["unit"], rows[8]["unit"], *{r["fidelity"] for r in rows[:11]},
      abs(value["task-clock"] * 1e6 - value["user_time"] - value["system_time"]) < 2,
      value["page-faults"] == value["faults"] == value["minor-faults"] + value["major-faults"] > 0,
      value["context-switches"] == value["cs"], value["cpu-clock"] == value["task-clock"],
      rows[11]["counter-value"] == "<not supported>", value["duration_time"] > 0,
      rows[12]["event"], rows[12]["fidelity"])')"
run stat -x, -e task-clock,cpu-migrations,page-faults -o file -- ./count
same "the kernel's events: fields" "msec,task-clock,CPUs utilized,measured ,cpu-migrations,,absent ,page-faults,,measured" \
	"$(cut -d, -f2,3,7,8 file | xargs -d '\n')"
run stat -e task-clock,page-faults -r 2 -- ./count
has_line "the kernel's events: text" "$err" ' +[0-9]+\.[0-9][0-9] msec task-clock +measured  # +[0-9.]+ CPUs utilized .*'
has_line "the kernel's events: counts in text" "$err" ' +[0-9,]+      page-faults +measured .*'
run stat -e cpu-migrations -- ./count
has "an absent one: why" "$err" "absent: cpu-migrations (the kernel tells it only to those who open the event)"
for option in --per-thread "--sweep l2.size=256K,512K"; do
	# shellcheck disable=SC2086 # several words
	run stat $option -e page-faults -- ./count
	refuses "$option with the kernel's events" 129 "page-faults cannot be combined with --sweep, --per-thread or -I"
done
run stat --write-baseline base -e page-faults -- ./count
refuses "a baseline with the kernel's events" 129 "page-faults differs from run to run"

# As with perf, "-" is standard error.
run stat -o - -x, -e branches:u -- ./count
same "-o -" "branches:u" "$(cut -d, -f3 <<<"$err")"
same "-o -: no file has this name" no "$([[ -e - ]] && echo yes || echo no)"

# Commands around each run, and a descriptor for the counts.
run stat -r 2 --pre 'echo before' --post 'echo after' -S -B -c --no-scale --no-merge --all-user -x, -e branches:u -o file -- ./count
succeeds "--pre and --post"
same "--pre and --post: each time" "before after before after" "$(xargs <<<"$out")"
run stat -x, -e branches:u -- ./count
same "--pre and --post: they are not counted" "$(cut -d, -f1 <<<"$err")" "$(cut -d, -f1 file)"
run stat --pre 'exit 3' -x, -e branches:u -- ./count
refuses "--pre fails" 125 "--pre: 'exit 3' ended with status 3"
run stat -r 3 --post 'kill $$' -x, -e branches:u -- ./count
same "--post fails: status" 125 "$status"
same "--post fails: the counts of one run, and why" "branches:u 1" \
	"$(grep -v ^softpmu <<<"$err" | cut -d, -f3) $(grep -c "^softpmu: --post: 'kill .*' was ended by signal 15" <<<"$err")"
"$SOFTPMU" stat --log-fd 5 -x, -e instructions:u -- ./count 5>file 2>other
same "--log-fd" "2004 instructions:u 0" "$(cut -d, -f1,3 --output-delimiter=' ' file) $(wc -l <other)"
run stat --log-fd 77 -e branches:u -- ./count
refuses "--log-fd: no such descriptor" 125 "cannot write to file descriptor 77"
run stat --log-fd 5 -o file -e branches:u -- ./count
refuses "--log-fd and -o" 129 "cannot be combined"

# If standard error is closed, no file of the tool may get its number.
"$SOFTPMU" stat -x, -e instructions:u -o file -- ./count 0<&- 1>&- 2>&-
same "closed descriptors: status" 0 $?
same "closed descriptors: count" 2004 "$(cut -d, -f1 file)"
finish
