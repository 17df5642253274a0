#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cut_off.sh: a run that ends early, by SIGKILL, a full disk or a limit. It leaves a perf.data that
# softpmu and perf can read, and no other file.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
mkdir "$SCRATCH/run" && cd "$SCRATCH/run" || exit 1
cat >"$SCRATCH/loop.S" <<'END'
	.globl _start
	.type _start, @function
_start:
1:	dec %rcx
	jmp 1b
	.size _start, . - _start
END
"$CC" -nostdlib -static -o "$SCRATCH/loop" "$SCRATCH/loop.S" || stop "building" "loop"

# wait_for COMMAND...: waits until the command succeeds.
wait_for() {
	local i
	for ((i = 0; i < 600; i++)); do
		"$@" && return
		sleep 0.1
	done
	fail "waiting" "$*"
}
has_samples() {
	[[ -e perf.data && $(perf script -i perf.data -F ip 2>/dev/null | grep -c .) -gt 5 ]]
}

# readable NAME: both tools can read perf.data.
readable() {
	run report
	same "$1: report: status" 0 "$status"
	has "$1: report" "$out" "${2:-loop}"
	expect "$1: perf" perf script -i perf.data -F ip,sym
	perf script -i perf.data -F ip >"$SCRATCH/ips" 2>"$SCRATCH/err"
	same "$1: perf says nothing" "" "$(<"$SCRATCH/err")"
	same "$1: perf's samples" yes "$([[ $(grep -c . "$SCRATCH/ips") -gt 5 ]] && echo yes)"
}

# end_both: kills the tool, then the program, which continues without the tool.
# shellcheck disable=SC2317
end_both() {
	local program
	program=$(<"/proc/$1/task/$1/children")
	kill -KILL "$1"
	wait "$1" 2>/dev/null
	kill -KILL $program
}

# killed NAME OPTION...: kills the tool while the program runs.
killed() {
	local name=$1 pid
	shift
	rm -f -- *
	echo old >perf.data
	"$SOFTPMU" record -q "$@" -- "$SCRATCH/loop" >/dev/null 2>&1 &
	pid=$!
	wait_for has_samples
	end_both $pid
	readable "$name"
	same "$name: files" "perf.data perf.data.old" "$(echo ./* | sed 's/\.\///g')"
	same "$name: the older file" old "$(<perf.data.old)"
}
killed "SIGKILL" -c 1000003
killed "SIGKILL, branches" -b -c 1000003
killed "SIGKILL, compressed" -z -c 100003

# SIGKILL to the tool and the program at once, as when a group of processes is killed.
rm -f -- *
setsid "$SOFTPMU" record -q -c 1000003 -- "$SCRATCH/loop" >/dev/null 2>&1 &
pid=$!
wait_for has_samples
kill -KILL -- -$pid
wait $pid 2>/dev/null
readable "SIGKILL to the group"
same "SIGKILL to the group: files" perf.data "$(echo *)"

# Without a record there is no file, and a run that cannot be counted leaves the older file.
rm -f -- *
echo old >perf.data
run record -- ./nosuch
same "no program" "perf.data old" "$(echo *) $(<perf.data)"

# A full disk: one of 512 KiB.
if mkdir disk && mount -t tmpfs -o size=512k tmpfs disk 2>/dev/null; then
	trap 'umount -l "$SCRATCH/run/disk"; rm -rf "$SCRATCH"' EXIT
	cd disk || exit 1
	run record -c 10 -- ls /usr/bin
	same "a full disk: status" 125 "$status"
	has "a full disk: it is said" "$err" "writing perf.data: No space left on device: kept "
	readable "a full disk" libc
	has "a full disk: names of events" "$(perf evlist 2>&1)" "instructions:upp"
	same "a full disk: files" perf.data "$(echo *)"
	rm -f perf.data
	"$SOFTPMU" record -q -c 50 -- "$SCRATCH/loop" >/dev/null 2>&1 &
	pid=$!
	is_full() {
		[[ $(df --output=avail . | tail -n 1) -eq 0 ]]
	}
	wait_for is_full
	wait_for has_samples
	end_both $pid
	readable "SIGKILL with a full disk"
	cd .. || exit 1
	umount -l disk # the killed program may still be in it
	trap 'rm -rf "$SCRATCH"' EXIT
else
	not_run "a full disk" "mounting a tmpfs needs root"
fi

# A limit on the size of files: 512 KiB.
mkdir limited && cd limited || exit 1
hard=$(ulimit -H -f)
ulimit -S -f 512
run record -c 10 -- ls /usr/bin
ulimit -S -f "$hard"
same "a limit: status" 125 "$status"
has "a limit: it is said" "$err" "writing perf.data: File too large: kept "
readable "a limit" libc
same "a limit: files" perf.data "$(echo *)"
cd .. || exit 1

mkdir packed && cd packed || exit 1
ulimit -S -f 64
run record -z -c 10 -- ls /usr/bin
ulimit -S -f "$hard"
same "a limit, compressed: status" 125 "$status"
has "a limit, compressed: it is said" "$err" "writing perf.data: File too large: kept "
kept=$(sed -n 's/.*kept \([0-9]*\) samples.*/\1/p' <<<"$err")
readable "a limit, compressed" libc
same "a limit, compressed: as many samples as it says" "$kept" "$(grep -c . "$SCRATCH/ips")"
same "a limit, compressed: files" perf.data "$(echo *)"
cd .. || exit 1

# A hard limit leaves no room for the engine, unless softpmu may lift it (CAP_SYS_RESOURCE).
expected="125 softpmu: cannot prepare the engine: File too large; raise the limit on the size of files (ulimit -f)"
if (ulimit -f 100 && ulimit -H -f 200) 2>/dev/null; then
	expected="0 "
fi
said=$(
	ulimit -f 100
	exec "$SOFTPMU" stat -e instructions:u -o counts -- true 2>&1
)
same "a hard limit" "$expected" "$? $said"

# A later run removes the translations that a killed process did not finish.
saved=$XDG_CACHE_HOME/softpmu/translations
mkdir -p "$saved"
: >"$saved/abandoned.1" && touch -d '-1 hour' "$saved/abandoned.1"
: >"$saved/fresh.1"
"$CC" -o new -x c - <<<'int main(void) { return 0; }'
run stat -e instructions:u -- ./new
same "an unfinished file of translations" "fresh.1" "$(cd "$saved" && echo *.1)"
rm -f "$saved/fresh.1"
finish
