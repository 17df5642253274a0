#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# baseline.sh: counts compared with those of an earlier run, and what the exit status says of it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# A program of 2 * N + 4 instructions, N of them branches besides the system call; its status is S.
# build NAME N [S]
build() {
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
	"$CC" -nostdlib -static -o "$1" "$1.S" || stop "building" "$1"
}
build same 1000
build more 1010
build less 990
build failing 1010 3
events=instructions:u,branches:u,cycles:u

run stat -e $events --write-baseline base.json -- ./same
same "written: status" 0 "$status"
same "written: an object for each event" 3 "$(grep -c '^{.*}$' base.json)"
has "written: the count" "$(<base.json)" '"counter-value" : "2004.000000"'
has "written: the model" "$(<base.json)" '"model" : "skylake"'
same "nothing else is left" "" "$(compgen -G 'base.json?*')"
run stat -j -o other.json -e $events -- ./same

# compared NAME STATUS OPTION... -- PROGRAM
compared() {
	run stat -e $events "${@:3}"
	same "$1: status" "$2" "$status"
}
compared "the same" 0 --baseline base.json -- ./same
has_line "the same: shown" "$err" " +2,004 +instructions:u +0 +\+0\.0000 %"
has_not "the same: no mark" "$err" "beyond"
has "the file and the threshold" "$err" "Baseline base.json, threshold 0 %"
compared "an output of -j" 0 --baseline other.json -- ./same
compared "more" 121 --baseline base.json -- ./more
has_line "more: shown" "$err" " +2,004 +instructions:u +\+20 +\+0\.9980 % +beyond the threshold"
compared "less" 121 --baseline base.json -- ./less
has_line "less: shown" "$err" " +1,001 +branches:u +-10 +-0\.9990 % +beyond the threshold"
compared "within" 0 --baseline base.json --threshold 1 -- ./more
has_line "within: shown" "$err" " +2,004 +instructions:u +\+20 +\+0\.9980 %"
compared "just beyond" 121 --baseline base.json --threshold 0.99 -- ./more
compared "less, when only more matters" 0 --baseline base.json --threshold +0 -- ./less
compared "more, when only more matters" 121 --baseline base.json --threshold +0 -- ./more
compared "several runs" 121 --baseline base.json --threshold 0.5% -r 2 -- ./more
compared "several runs, the same" 0 --baseline base.json -r 3 -- ./same

# The program's own end comes first.
compared "the program failed" 3 --baseline base.json -- ./failing
has "the program failed: the change is shown" "$err" "beyond the threshold"
compared "the program failed: no baseline" 3 --write-baseline new.json -- ./failing
same "the program failed: nothing is written" no "$([[ -e new.json ]] && echo yes || echo no)"
# shellcheck disable=SC2016
compared "the first failure is the status" 7 --baseline base.json --threshold 1e9 -r 2 -- \
	sh -c '[ -e ran ] && exit 0; : >ran; exit 7'
compared "compared and written again" 121 --baseline base.json --write-baseline next.json -- ./more
has "written again: the new count" "$(<next.json)" '"counter-value" : "2024.000000"'
compared "onto itself" 121 --baseline next.json --write-baseline next.json -- ./same
compared "onto itself: then" 0 --baseline next.json -- ./same

# The other forms.
run stat -j -e $events --baseline base.json -- ./more
has "JSON" "$err" '"model" : "skylake", "baseline-value" : "2004.000000", "change-percent" : 0.998004, "beyond-threshold" : true}'
has_line "JSON of what is absent" "$err" '.*"cycles:u".*"fidelity" : "absent", "model" : "skylake"\}'
run stat -x, -e $events --baseline base.json --threshold 5 -- ./more
has_line "fields" "$err" '2024,,instructions:u,.*,exact,2004,0\.998004,within'
has_line "fields of what is absent" "$err" '<not supported>,,cycles:u,.*,absent,,,'
sed 's/2004/0/' base.json >zero.json
run stat -j -e $events --baseline zero.json -- ./same
same "from none: status" 121 "$status"
has "from none" "$err" '"baseline-value" : "0.000000", "change-percent" : null, "beyond-threshold" : true}'
python3 -c 'import json, sys; [json.loads(l) for l in sys.stdin]' <<<"$err"
same "it is JSON" 0 $?

# perf's own lines have no model and other keys; their order and blanks do not matter.
cat >perf.json <<'END'
{"event":"branches:u","unit":"","counter-value":"1001.000000","pcnt-running":100.00,"metric-threshold":null}

  { "counter-value" : "2004.000000" , "event" : "instructio\u006es:u", "x" : -1e3 }
END
run stat -e instructions:u,branches:u --baseline perf.json -- ./same
same "lines as perf's" 0 "$status"

# Mistakes are said before the program runs.
# mistaken NAME STATUS PART OPTION...
mistaken() {
	run stat "${@:4}" -- sh -c ': >has-run'
	refuses "$1" "$2" "$3"
	same "$1: the program did not run" no "$([[ -e has-run ]] && echo yes || echo no)"
}
mistaken "no file" 125 "cannot read nosuch.json" --baseline nosuch.json
mistaken "a folder" 125 "cannot read ." --baseline .
mistaken "an event too many" 125 "base.json: has no count of 'br_inst_retired.near_call:u'" -e instructions:u,br_inst_retired.near_call:u --baseline base.json
mistaken "another model" 125 "counts of the model 'skylake', not of haswell" -M haswell -e $events --baseline base.json
sed 's/"cycles:u"/"instructions:k"/; s/<not supported>/12/' base.json >kernel.json
mistaken "a count of what is absent" 125 "has a count of 'instructions:k', which is absent now" -e instructions:u,instructions:k --baseline kernel.json
mistaken "absent events alone" 125 "nothing to compare" -e cycles:u --baseline base.json
for bad in '{' '[]' 'text' '{"event" : "instructions:u"}' '{"event" : "instructions:u", "counter-value" : "1"' \
	'{"event" : "instructions:u", "counter-value" : "1"} x' '{"event" "instructions:u"}' '{"event" : {"a" : 1}}' \
	'{"event" : "instructions:u", "counter-value" : "1}'; do
	printf '%s\n' "$bad" >bad.json
	mistaken "bad line $bad" 125 "bad.json:1: not a line of" -e instructions:u --baseline bad.json
done
mistaken "threshold alone" 129 "--threshold needs --baseline" --threshold 1
for bad in '' x -1 1x + nan inf; do
	mistaken "threshold '$bad'" 129 "is no threshold" --baseline base.json --threshold "$bad"
done
# The script of docs/ci.md: the first run writes the baseline, the next ones are compared with it.
sed -n '/^    #!\/bin\/sh$/,/^    exit /p' "$ROOT/docs/ci.md" | sed 's/^    //' >gate.sh
mkdir -p bin bench && ln -sf "$SOFTPMU" bin/softpmu
# gate NAME STATUS PROGRAM
gate() {
	PATH=$SCRATCH/bin:$PATH timeout "$LIMIT" sh gate.sh "$3" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
	same "gate: $1" "$2" $?
}
gate "the first run" 0 ./same
same "gate: a baseline" yes "$([[ -s bench/counts.json ]] && echo yes)"
gate "the same" 0 ./same
gate "more" 121 ./more
has "gate: what to do" "$(<err)" "remove bench/counts.json and run this again"
gate "a program that fails" 3 ./failing

run stat -e $events --write-baseline nosuch/base.json -- ./same
same "cannot be written: status" 125 "$status"
has "cannot be written" "$err" "cannot write nosuch/base.json"
finish
