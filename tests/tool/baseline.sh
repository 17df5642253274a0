#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# baseline.sh: stat compares counts with those of an earlier run, and its exit status says the result.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# build FOLDER N [S]: makes FOLDER/bench, a program of 2 * N + 4 instructions.  N of them are branches,
# without the system call.  It exits with S.
build() {
	mkdir -p "$1"
	sed -e "s/N/$2/; s/S/${3:-0}/" >"$1.S" <<'END'
	.globl _start
_start:
	mov $N, %ecx
1:	dec %ecx
	jnz 1b
	mov $60, %eax
	mov $S, %edi
	syscall
END
	"$CC" -nostdlib -static -o "$1/bench" "$1.S" || stop "building" "$1"
}
build same 1000
build more 1010
build less 990
build failing 1010 3
events=instructions:u,branches:u,cycles:u

run stat -e $events --write-baseline base.json -- same/bench
same "written: status" 0 "$status"
same "written: an object for each event" 3 "$(grep -c '^{.*}$' base.json)"
has "written: the count" "$(<base.json)" '"counter-value" : "2004.000000"'
has "written: the model" "$(<base.json)" '"model" : "skylake"'
same "nothing else is left" "" "$(compgen -G 'base.json?*')"
has "written: the program, the version" "$(<base.json)" '"version" : "0.1.0", "command" : "same/bench"}'
run stat -j -o other.json -e $events -- same/bench
# A baseline of a softpmu that did not write the program yet.
sed 's/, "version".*}/}/' base.json >old.json

# compared NAME STATUS OPTION... -- PROGRAM: runs the program and checks the status.
compared() {
	run stat -e $events "${@:3}"
	same "$1: status" "$2" "$status"
}
compared "the same" 0 --baseline base.json -- same/bench
has_line "the same: shown" "$err" " +2,004 +2,004 +instructions:u +0 +\+0\.0000 %"
has_line "the same: headings" "$err" ' +baseline +now +event +change +in percent'
has_not "the same: no mark" "$err" "beyond"
has "the file and the threshold" "$err" "Baseline base.json, threshold 0 %"
compared "an output of -j" 0 --baseline other.json -- same/bench
compared "more" 121 --baseline base.json -- more/bench
has_line "more: shown" "$err" " +2,004 +2,024 +instructions:u +\+20 +\+0\.9980 % +beyond the threshold"
compared "less" 121 --baseline base.json -- less/bench
has_line "less: shown" "$err" " +1,001 +991 +branches:u +-10 +-0\.9990 % +beyond the threshold"
compared "within" 0 --baseline base.json --threshold 1 -- more/bench
has_line "within: shown" "$err" " +2,004 +2,024 +instructions:u +\+20 +\+0\.9980 %"
compared "just beyond" 121 --baseline base.json --threshold 0.99 -- more/bench
compared "less, when only more matters" 0 --baseline base.json --threshold +0 -- less/bench
compared "more, when only more matters" 121 --baseline base.json --threshold +0 -- more/bench
compared "several runs" 121 --baseline base.json --threshold 0.5% -r 2 -- more/bench
compared "several runs, the same" 0 --baseline base.json -r 3 -- same/bench

# The program's own status comes first.
compared "the program failed" 3 --baseline base.json -- failing/bench
has "the program failed: the change is shown" "$err" "beyond the threshold"
compared "the program failed: no baseline" 3 --write-baseline new.json -- failing/bench
same "the program failed: nothing is written" no "$([[ -e new.json ]] && echo yes || echo no)"
# shellcheck disable=SC2016
compared "the first failure is the status" 7 --baseline old.json --threshold 1e9 -r 2 -- \
	sh -c '[ -e ran ] && exit 0; : >ran; exit 7'
compared "compared and written again" 121 --baseline base.json --write-baseline next.json -- more/bench
has "written again: the new count" "$(<next.json)" '"counter-value" : "2024.000000"'
compared "onto itself" 121 --baseline next.json --write-baseline next.json -- same/bench
compared "onto itself: then" 0 --baseline next.json -- same/bench

# The arguments must be the same, the folder need not be.
compared "other arguments" 125 --baseline base.json -- same/bench 1
has "other arguments" "$err" "base.json: its counts are of the program 'same/bench', not of 'same/bench 1'"
compared "without the program's name" 0 --baseline old.json -- same/bench 1
has_not "the same version is not told" "$err" "written by"
sed 's/"version" : "0.1.0"/"version" : "0.0.9"/' base.json >version.json
compared "another version" 0 --baseline version.json -- same/bench
has "another version" "$err" "threshold 0 % (written by softpmu 0.0.9, this is 0.1.0):"

# Several benchmarks in one file, with labels.
for each in same more; do
	compared "label $each: written" 0 --write-baseline all.json --label "$each" -- $each/bench
done
compared "label: onto another" 0 --write-baseline all.json --label more -- less/bench
same "label: lines" 6 "$(grep -c '"label" : "' all.json)"
compared "label: the same" 0 --baseline all.json --label same -- same/bench input
has "label: shown" "$err" "Baseline all.json, benchmark 'same', threshold 0 %:"
compared "label: the other" 121 --baseline all.json --label more -- same/bench
has_line "label: the other's count" "$err" ' +1,984 +2,004 +instructions:u +\+20 .*'
compared "label: another program" 125 --baseline all.json --label more -- sh -c :
has "label: another program" "$err" "all.json: its counts are of the program 'less/bench', not of 'sh -c :'"
compared "label: unknown" 125 --baseline all.json --label x -- same/bench
has "label: unknown" "$err" "all.json: has no benchmark 'x'; it has same, more"
compared "label: none given" 125 --baseline all.json -- same/bench
has "label: none given" "$err" "all.json: choose one of its benchmarks with --label: same, more"
compared "label: not in the file" 125 --baseline base.json --label x -- same/bench
has "label: not in the file" "$err" "base.json: has no benchmark 'x'; its counts were written without --label"
compared "without a label, too: written" 0 --write-baseline all.json -- same/bench
compared "without a label, too: compared" 0 --baseline all.json -- same/bench
same "without a label, too: lines" 9 "$(wc -l <all.json)"
for each in 1 2 3 4; do
	"$SOFTPMU" stat -e $events --write-baseline many.json --label $each -- same/bench 2>/dev/null &
done
wait
same "written at the same time" 12 "$(wc -l <many.json)"
ln -s all.json link.json
compared "through a link" 0 --write-baseline link.json --label x -- same/bench
same "through a link: it stays" yes "$([[ -L link.json ]] && grep -q '"label" : "x"' all.json && echo yes)"

# The other output formats.
run stat -j -e $events --baseline base.json -- more/bench
has "JSON" "$err" '"command" : "more/bench", "baseline-value" : "2004.000000", "change-percent" : 0.998004, "beyond-threshold" : true}'
has_line "JSON of what is absent" "$err" '.*"cycles:u".*"fidelity" : "absent", "model" : "skylake", .*"command" : "more/bench"\}'
run stat -x, -e $events --baseline base.json --threshold 5 -- more/bench
has_line "fields" "$err" '2024,,instructions:u,.*,exact,2004,0\.998004,within'
has_line "fields of what is absent" "$err" '<not supported>,,cycles:u,.*,absent,,,'
sed 's/2004/0/' base.json >zero.json
run stat -j -e $events --baseline zero.json -- same/bench
same "from none: status" 121 "$status"
has "from none" "$err" '"baseline-value" : "0.000000", "change-percent" : null, "beyond-threshold" : true}'
python3 -c 'import json, sys; [json.loads(l) for l in sys.stdin]' <<<"$err"
same "it is JSON" 0 $?

# perf's own lines have no model and other keys.  Their order and blanks do not matter.
cat >perf.json <<'END'
{"event":"branches:u","unit":"","counter-value":"1001.000000","pcnt-running":100.00,"metric-threshold":null}

  { "counter-value" : "2004.000000" , "event" : "instructio\u006es:u", "x" : -1e3 }
END
run stat -e instructions:u,branches:u --baseline perf.json -- same/bench
same "lines as perf's" 0 "$status"

# mistaken NAME STATUS PART OPTION...: an error is reported before the program runs.
mistaken() {
	run stat "${@:4}" -- sh -c ': >has-run'
	refuses "$1" "$2" "$3"
	same "$1: the program did not run" no "$([[ -e has-run ]] && echo yes || echo no)"
}
mistaken "no file" 125 "cannot read nosuch.json" --baseline nosuch.json
mistaken "a folder" 125 "cannot read ." --baseline .
mistaken "an event too many" 125 "old.json: has no count of 'br_inst_retired.near_call:u'" -e instructions:u,br_inst_retired.near_call:u --baseline old.json
mistaken "another model" 125 "its counts are of the model 'skylake', not of haswell" -M haswell -e $events --baseline base.json
sed 's/"cycles:u"/"instructions:k"/; s/<not supported>/12/' old.json >kernel.json
mistaken "a count of what is absent" 125 "has a count of 'instructions:k', which is absent now" -e instructions:u,instructions:k --baseline kernel.json
mistaken "absent events alone" 125 "nothing to compare" -e cycles:u --baseline old.json
mistaken "another program" 125 "base.json: its counts are of the program 'same/bench', not of 'sh -c : >has-run'" -e $events --baseline base.json
: >empty.json
mistaken "an empty file" 125 "empty.json: there are no counts in it" -e $events --baseline empty.json
mistaken "no folder to write to" 125 "cannot write nosuch/base.json: No such file" -e $events --write-baseline nosuch/base.json
mistaken "a folder to write to" 125 "cannot write .: not a regular file" -e $events --write-baseline .
mistaken "a device to write to" 125 "cannot write /dev/null: not a regular file" -e $events --write-baseline /dev/null
echo text >text
mistaken "something else to write over" 125 "text:1: not a line of" -e $events --write-baseline text
same "something else is left" text "$(<text)"
mistaken "no folder for the output" 125 "cannot write nosuch/out: No such file" -e $events -o nosuch/out
mistaken "label alone" 129 "--label needs" --label a
for bad in '{' '[]' 'text' '{"event" : "instructions:u"}' '{"event" : "instructions:u", "counter-value" : "1"' \
	'{"event" : "instructions:u", "counter-value" : "1"} x' '{"event" "instructions:u"}' '{"event" : {"a" : 1}}' \
	'{"event" : "instructions:u", "counter-value" : "1}'; do
	printf '%s\n' "$bad" >bad.json
	mistaken "bad line $bad" 125 "bad.json:1: not a line of" -e instructions:u --baseline bad.json
done
mistaken "threshold alone" 129 "--threshold needs --baseline" --threshold 1
for bad in '' x -1 1x + nan inf; do
	mistaken "threshold '$bad'" 129 "--threshold needs a number of percent, not" --baseline base.json --threshold "$bad"
done
# The script of docs/ci.md: the first run writes the baseline, later runs are compared with it.
sed -n '/^    #!\/bin\/sh$/,/^    exit /p' "$ROOT/docs/ci.md" | sed 's/^    //' >gate.sh
mkdir -p bin ci && ln -sf "$SOFTPMU" bin/softpmu
# gate NAME STATUS PROGRAM: runs that script.
gate() {
	PATH=$SCRATCH/bin:$PATH timeout "$LIMIT" sh gate.sh "$3" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
	same "gate: $1" "$2" $?
}
gate "the first run" 0 same/bench
same "gate: a baseline" yes "$([[ -s ci/counts.json ]] && echo yes)"
gate "the same" 0 same/bench
gate "more" 121 more/bench
has "gate: what to do" "$(<err)" "remove ci/counts.json and run this again"
gate "a program that fails" 3 failing/bench

finish
