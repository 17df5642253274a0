#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf_open.sh: `softpmu run`: programs that open events themselves (perf_event_open(2)): perf_open.c, perf_tasks.c,
# errors of wrong calls, compared with the kernel's own, and Debian's perf.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile perf_open
compile perf_tasks -pthread
compile perf_open_errors
compile jail
"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/program" "$ROOT/tests/user/perf_open-program.S" ||
	stop "perf_open-program" "does not build"
cd "$SCRATCH" || exit 1

# says PROGRAM CASE [ARGUMENT...]: what the program prints is on standard input
says() {
	local program=$1
	shift
	cat >expected
	run said "$SOFTPMU" run -- "$BUILT/$program" "$@"
	((status)) && fail "$1" "status $status: $(head -n 1 said.err)"
	while IFS= read -r line; do
		same "$1: ${line%%:*}" "$line" "$(grep -m 1 "^${line%%:*}: " said.out)"
	done <expected
	same "$1: lines" "$(wc -l <expected)" "$(wc -l <said.out)"
}
opens() {
	says perf_open "$@"
}
tasks() {
	says perf_tasks "$@"
}

# --- one thread: to the instruction ---

opens exact <<'LIST'
nothing yet: 0
exact: 2004
and 6 more: 2010
reset: 0
after reset: 0
branches: 1001
the other is not disturbed: 1001
LIST
# SYSCALL, MOV and LEA are between the two.
opens running <<'LIST'
between two reads: 3
LIST
opens descriptors <<'LIST'
numbers: 1
close on exec: 1
not on exec: 0
by a copy: 2004
closed: EBADF
too short: ENOSPC
nowhere: EFAULT
poll: 1
at last: EBADF
by another number: 2004
another file in its place: done
that is no event: ENOTTY
LIST
opens messages <<'LIST'
in a message: 2004
LIST
opens groups <<'LIST'
bytes of a group: 56
events of a group: 3
leader: 2004
first: 1001
second: 0
its number: 1
a sibling alone: 1001
all by one call: 2004
all branches by one call: 1001
no room: ENOSPC
without the leader: 1001
LIST
opens counters <<'LIST'
one too many: EINVAL
in a group: 8
twenty at a time: 20
LIST
opens times <<'LIST'
time before: 0
time runs: 1
all the time: 1
time stands: 1
time remains: 1
LIST

opens mapped <<'LIST'
without a use: 0
three pages of a ring: 0
off: 0
what it has counted: 2004
by RDPMC: 2003
the same count: 1
nearly: 1
from 0: 1
off again: 0
its count: 0
branches: 1000
a ring: 4096
without records: 0
an inherited one: 0
not mapped any more: 1
LIST

# --- threads and processes ---

# The thread has 4 of these units, the other thread 1, the child 2.
tasks inheritance <<'LIST'
the thread's own: 4
with all: 7
with threads: 5
after reset: 3
off in children: 3
LIST
tasks borrowed <<'LIST'
without the vfork child: 1
with the vfork child: 3
without the killed child: 2
LIST
tasks others <<'LIST'
another thread counts: 1
and goes on: 1
until it is off: 0
it remains when the thread has ended: 0
no such task: ESRCH
not of the run: ESRCH
LIST
tasks waiting <<'LIST'
while it waits: 1
LIST
tasks executes "$BUILT/program" <<'LIST'
executed: 2004
never enabled: 0
LIST
tasks many <<'LIST'
wrong: 0
undisturbed: 7200
LIST
for seed in 1 2 3; do
	PERF_SEED=$seed tasks random <<'LIST'
wrong counts: 0
LIST
done
tasks leavers <<'LIST'
left: 30
LIST

# --- errors ---

run said "$SOFTPMU" run -- "$BUILT/perf_open_errors"
same_file "errors" "$ROOT/tests/user/perf_open_errors.expected" said.out
# The kernel makes the same checks for its own events, if it serves them for a user and is as new.
version=$(uname -r)
if ((${version%%.*} < 6)) || [[ $version == 6.0* ]]; then
	not_run "errors of the kernel" "Linux $version has fewer checks"
elif [[ $(</proc/sys/kernel/perf_event_paranoid) != [-012]* ]]; then
	not_run "errors of the kernel" "it does not serve users"
else
	if [[ $(id -u) == 0 ]]; then
		chmod 755 "$SCRATCH" && cp "$BUILT/perf_open_errors" .
		run native setpriv --reuid=65534 --clear-groups ./perf_open_errors software
	else
		run native "$BUILT/perf_open_errors" software
	fi
	if grep -q '^no event' native.out; then
		not_run "errors of the kernel" "$(<native.out)"
	else
		# A user of the run may open events of all its tasks.
		all='c.pid = -1; c.cpu = 0: '
		head -n "$(wc -l <native.out)" said.out | grep -v "^$all" >ours
		grep -v "^$all" native.out >kernels
		same_file "errors of the kernel" kernels ours
	fi
fi

# --- what the tool says ---

run said "$SOFTPMU" run
same "no command" "129" "$status"
run said "$SOFTPMU" run -- "$BUILT/no-such-program"
same "no such command" "127" "$status"
run said "$SOFTPMU" run -M nehalem -- sh -c 'exit 3'
same "the command's status" "3  " "$status $(<said.out) $(<said.err)"
# In other runs the kernel answers.
run said "$SOFTPMU" stat -- "$BUILT/perf_open" counters
same "without run there are no counters" 0 "$(sed -n 's/^in a group: //p' said.out | grep -c 8)"
# Of another family: two counters.
run said "$SOFTPMU" run -M pentium-iii -- "$BUILT/perf_open" exact
same "Pentium III" "exact: 2004" "$(grep '^exact' said.out)"
run said "$SOFTPMU" run -M pentium-iii -- "$BUILT/perf_open" mapped
same "Pentium III's RDPMC" "by RDPMC: 2003" "$(grep '^by RDPMC' said.out)"
run said "$SOFTPMU" run -M nehalem -- "$BUILT/perf_open" counters
same "Nehalem's group" "in a group: 4" "$(grep '^in a group' said.out)"

# --- what programs see of the unit ---

# sees NAME EXPECTED OPTION... -- COMMAND...: what the command prints, on one line
sees() {
	local name=$1 expected=$2
	shift 2
	run said "$SOFTPMU" run "$@"
	same "$name" "$(one_line <<<"$expected")" "$(one_line <said.out)"
}
one_line() {
	tr -s '\n ' ' ' | sed 's/ $//'
}
cpu=/sys/bus/event_source/devices/cpu
sees "type" 4 -- cat $cpu/type
sees "type by another path" 4 -- cat /sys/devices/cpu/type
sees "a field" config:8-15 -- cat $cpu/format/umask
sees "an event" event=0xc4 -- cat $cpu/events/branch-instructions
sees "nothing that is absent" "branch-instructions instructions mem-stores" -- ls $cpu/events
sees "with a machine" event=0x2e,umask=0x41 --machine -- cat $cpu/events/cache-misses
sees "the folder" "1 directory" -- sh -c "ls -d $cpu/ | wc -l; stat -c %F $cpu"
sees "its entries" "caps events format rdpmc type" -- ls $cpu
sees "by a shell's pattern" "4" -- sh -c "cat $cpu/typ?"
sees "after chdir" "4" -- sh -c "cd $cpu && cat type"
sees "other PMUs" "$(cat /sys/bus/event_source/devices/software/type)" -- \
	cat /sys/bus/event_source/devices/software/type
sees "no such file" "no" -- sh -c "test -e $cpu/nothing || echo no"
sees "a file next to it" "$(cat /sys/devices/system/cpu/possible)" -- cat /sys/devices/system/cpu/possible
sees "paranoid" 2 -- cat /proc/sys/kernel/perf_event_paranoid
# Signatures of CPUID.01H:EAX: 506E3H, 106A4H.
sees "Skylake" "GenuineIntel 6 94" -- sh -c \
	"sed -n '/^vendor_id/p; /^cpu family/p; /^model\t/p' /proc/cpuinfo | head -n 3 | sed 's/.*: //'"
sees "Nehalem" "6 26 4" -M nehalem -- sh -c \
	"sed -n '/^cpu family/p; /^model\t/p; /^stepping/p' /proc/cpuinfo | head -n 3 | sed 's/.*: //'"
sees "CPUID" "GenuineIntel 506e3 softpmu skylake" -- "$BUILT/perf_open" cpuid
sees "features remain" "$("$BUILT/perf_open" features)" -- "$BUILT/perf_open" features
sees "the machine's own" "$("$BUILT/perf_open" cpuid)" --no-identity -- "$BUILT/perf_open" cpuid
sees "its /proc/cpuinfo" "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
	--no-identity -- sh -c "sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1"
TMPDIR=$SCRATCH sees "while it runs" 1 -- sh -c "ls -d '$SCRATCH'/softpmu-run.* | wc -l"
same "afterwards" 0 "$(find "$SCRATCH" -name 'softpmu-run.*' | wc -l)"

# --- perf ---

if ! have perf; then
	not_run perf "it is not installed"
	finish
fi
# counts NAME EXPECTED perf's options...: counts of a `perf stat -x,`
counts() {
	local name=$1 expected=$2
	shift 2
	run said "$SOFTPMU" run -- perf stat -x, -o counts "$@"
	same "$name" "$expected" "$(sed -n 's/^\([0-9<][^,]*\),.*/\1/p' counts | tr '\n' ' ' | sed 's/ $//')"
}
counts "perf stat" "2004 1001" -e instructions:u,branches:u "$BUILT/program"
counts "perf stat of a group" "2004 1001 0" -e '{instructions:u,branches:u,r82d0:u}' "$BUILT/program"
counts "perf stat by the PMU's fields" "1001 2004" -e cpu/event=0xc4,umask=0/u,cpu/instructions/u "$BUILT/program"
# perf has Intel's names for the processor that it finds.
counts "perf stat by Intel's names" "999 0 2004" \
	-e br_inst_retired.near_taken:u,mem_inst_retired.all_stores:u,inst_retired.any:u "$BUILT/program"
run said "$SOFTPMU" run -- perf stat -x, -o counts -e '{instructions:u,task-clock:u,branches:u}' "$BUILT/program"
same "perf stat of a group with a clock" "2004 1001" "$(sed -n '/task-clock/d; s/^\([0-9]*\),.*/\1/p' counts | one_line)"
same "its clock runs" 1 "$(awk -F, '$3 ~ /task-clock/ && $1 > 0 && $1 < 10000' counts | wc -l)"
# perf asks again without the kernel's part.
counts "perf stat without :u" "2004" -e instructions "$BUILT/program"
counts "an event that nothing supplies" "<not supported> 2004" -e cycles:u,instructions:u "$BUILT/program"
"$SOFTPMU" stat -x, -o own -e instructions:u -- "$BUILT/program"
same "as softpmu stat" "$(sed -n 's/,.*instructions.*//p' own)" 2004

# tens NAME EXPECTED OPTION...: the same in tens of millions
tens() {
	local name=$1 expected=$2
	shift 2
	run said "$SOFTPMU" run -- perf stat -x, -o counts -e branches:u "$@"
	same "$name" "$expected" "$(awk -F, '/^[0-9]/ { printf "%s%d", n++ ? " " : "", ($1 + 1e6) / 1e7 }' counts)"
}
# The first thread has 4, another 1, two children 2 each.  Then two vfork children 2 each, their parent 2.
tens "perf stat of threads and children" 9 "$BUILT/perf_tasks" inheritance
tens "perf stat without them" 4 -i "$BUILT/perf_tasks" inheritance
tens "perf stat of vfork children" 6 "$BUILT/perf_tasks" borrowed
tens "perf stat of a shell's children" 18 sh -c "'$BUILT/perf_tasks' inheritance | cat; '$BUILT/perf_tasks' inheritance"

# --- a container, which forbids perf_event_open(2): software events are counted here, too ---

run said "$BUILT/jail" "$SOFTPMU" run -- perf stat -x, -o counts \
	-e instructions:u,task-clock:u,page-faults:u,context-switches:u,dummy:u,cpu-migrations:u "$BUILT/program"
same "in a container" 2004 "$(sed -n 's/,.*instructions.*//p' counts)"
same "time and faults" "1 1" "$(awk -F, '$3 ~ /task-clock/ && $1 > 0 || $3 ~ /page-faults/ && $1 > 0 && $1 < 1000 {
	printf "%s%d", n++ ? " " : "", 1 }' counts)"
same "what never happens" 0 "$(sed -n 's/,.*dummy.*//p' counts)"
same "what is not known" "<not supported>" "$(sed -n 's/,.*cpu-migrations.*//p' counts)"
run said "$BUILT/jail" "$SOFTPMU" run -- "$BUILT/perf_open" faults
same "page faults" "page faults: 100 off: 0" "$(one_line <said.out)"
# A process that runs already, and threads of it, by their own events.
run said "$SOFTPMU" run -- sh -c "'$BUILT/perf_tasks' endless & perf stat -x, -o counts -e branches:u -p \$! sleep 0.3; \
	perf stat -x, -o threads --per-thread -e branches:u -p \$! sleep 0.3; kill \$!"
same "perf stat -p" 1 "$(awk -F, '/^[0-9]/ && $1 > 100000' counts | wc -l)"
same "perf stat --per-thread" 2 "$(awk -F, '/^perf_tasks-/ && $2 > 100000' threads | wc -l)"
run said "$SOFTPMU" run -- perf stat -I 50 -x, -o counts -e branches:u "$BUILT/perf_tasks" inheritance
same "perf stat -I" 9 "$(awk -F, '/^ *[0-9]/ { n += $2 } END { printf "%d", (n + 1e6) / 1e7 }' counts)"
finish
