#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf_commands.sh: `softpmu run`: Debian's perf stat, record, annotate, top, mem, c2c and bench, as root and as a user
# in a namespace and a container that forbids perf_event_open(2), ptrace(2) and personality(2).
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
if ! have perf; then
	not_run perf "it is not installed"
	finish
fi
compile jail
compile perf_tasks -pthread
compile sharing -O1 -g -pthread -fno-pie -no-pie
compile machine-program -O1 -static -nostdlib -fno-pie -fno-stack-protector -fcf-protection=none \
	-fno-builtin -mno-avx -Wno-unused-function -DSUBJECT=chase
"$ASSEMBLER" -nostdlib -static -no-pie -o "$BUILT/program" "$ROOT/tests/user/perf_record-program.S" ||
	stop "perf_record-program" "does not build"

# Where another user can read and write.
chmod 755 "$SCRATCH"
SHARED=$SCRATCH/shared
mkdir -m 777 "$SHARED"
cp "$SOFTPMU" "$BUILT"/{jail,perf_tasks,program,machine-program} "$SHARED"
cd "$SHARED" || exit 1

# in_run SCRIPT: a shell in a run of $PLACE
in_run() {
	run said env HOME="$SHARED" "${PLACE[@]}" ./softpmu run -- sh -c "$1"
	((status)) && fail "$WHERE: $1" "status $status: $(head -n 3 said.err)"
	return 0
}
# loops NAME: the samples in the two loops of perf_tasks endless
loops() {
	same "$WHERE: $1" "endless spin_in_thread" "$(perf script -f -i data -F ip,sym 2>/dev/null | awk '{ print $2 }' |
		sort | uniq -c | awk '$1 > 10 { print $2 }' | xargs)"
}
commands() {
	rm -f data* counts top
	in_run "perf stat -x, -o counts -e instructions:u ./program"
	same "$WHERE: perf stat" 31004 "$(sed -n 's/,.*instructions.*//p' counts)"
	in_run "perf record -o data -e instructions:u -c 100 ./program"
	same "$WHERE: perf record" 310 "$(perf script -f -i data -F ip 2>/dev/null | wc -l)"
	in_run "perf annotate -f -i data --stdio -s g"
	same "$WHERE: perf annotate" 6 "$(grep -c '16.67.*:' said.out)"
	# Another process, which must be asked.
	in_run "./perf_tasks endless & perf stat -x, -o counts -e branches:u -p \$! sleep 0.3
		perf record -o data -e instructions:u -c 100000 -p \$! sleep 0.5; kill \$!"
	same "$WHERE: perf stat -p" 1 "$(awk -F, '/^[0-9]/ && $1 > 100000' counts | wc -l)"
	loops "perf record -p"
	# It ends when both loops have been seen, at the latest after a minute.
	in_run "./perf_tasks endless & program=\$!; : >top
		(for i in \$(seq 60); do grep -q '%.*endless' top && grep -q '%.*spin' top && break; sleep 1; done; echo q) |
			stdbuf -oL perf top --stdio -e instructions:u -c 100000 -d 1 -p \$program >top; kill \$program"
	same "$WHERE: perf top" "endless spin_in_thread" "$(awk '/%.*\[\.\]/ { print $NF }' top | sort -u | xargs)"
	# The tool asks it, too: events begin while the thread runs.
	run said env HOME="$SHARED" "${PLACE[@]}" ./softpmu stat -x, -D 200 -e branches:u -- timeout 1 ./perf_tasks endless
	same "$WHERE: softpmu stat -D" 1 "$(awk -F, '/branches/ && $1 > 100000' said.err | wc -l)"
	in_run "perf stat -I 50 -x, -o counts -e branches:u ./perf_tasks inheritance"
	same "$WHERE: perf stat -I" 9 "$(awk -F, '/^ *[0-9]/ { n += $2 } END { printf "%d", (n + 1e6) / 1e7 }' counts)"
	in_run "perf bench -f simple sched pipe -l 100"
	same "$WHERE: perf bench" 1 "$(grep -cE '^[0-9.]+$' said.out)"
}

WHERE="as root" PLACE=()
[[ $(id -u) == 0 ]] || WHERE="as a user"
commands
WHERE="in a container" PLACE=("$SHARED/jail" --no-ptrace)
commands
if [[ $(id -u) == 0 ]] && have setpriv && unshare -U true 2>/dev/null; then
	WHERE="as a user in a container"
	PLACE=(setpriv --reuid=65534 --regid=65534 --clear-groups unshare -U "$SHARED/jail" --no-ptrace)
	commands
else
	not_run "a user in a container" "this needs root, setpriv and namespaces"
fi

# --- memory, of a modelled machine ---

PLACE=() WHERE="--machine"
modelled() {
	run said ./softpmu run --machine "$@"
	((status)) && fail "$WHERE: $*" "status $status: $(head -n 3 said.err)"
	return 0
}
modelled -- perf stat -x, -o counts -e cpu/mem-loads,ldlat=3/u,mem-stores:u ./machine-program
./softpmu stat --machine -x, -o ours -e cpu/mem-loads,ldlat=3/u,cpu/mem-stores/u -- ./machine-program
same "loads and stores" "$(cut -d, -f1 ours | xargs)" "$(sed -n 's/^\([0-9]*\),.*/\1/p' counts | xargs)"
modelled -- perf stat -x, -o counts -e mem_load_retired.l2_miss:u,cpu/mem-loads,ldlat=13/u ./machine-program
same "loads of 13 clocks" 1 "$(sed -n 's/^\([0-9]*\),.*/\1/p' counts | sort -u | wc -l)"
# A threshold counts for units and for a model that exist already, too.
# shellcheck disable=SC2016 # the shell of the run expands them
modelled -- sh -c 'sh -c "while :; do :; done" & program=$!
	perf stat -x, -o counts -e mem_load_retired.l1_hit:u -p $program sleep 2 & counting=$!; sleep 1
	perf stat -x, -o later -e cpu/mem-loads,ldlat=3/u -p $program sleep 0.5; wait $counting; kill $program'
same "of a process that counts already" 1 "$(awk -F, '/mem-loads/ && $1 > 1000' later | wc -l)"
# Before version 6 the kernel ignores bits 47:40 of config. From then on they are unit mask 2 (18.2.1.1).
run said "$SOFTPMU" run -M skylake -- perf stat -x, -o counts -e r100000000c4:u,r00c4:u true
same "no unit mask 2: events with a count, different counts" "2 1" \
	"$(grep -c '^[0-9]' counts) $(sed -n 's/^\([0-9]*\),.*/\1/p' counts | sort -u | grep -c .)"
run said "$SOFTPMU" run -M lunarlake -- perf stat -x, -o counts -e r100000000c4:u,r00c4:u true
same "unit mask 2" "<not supported>" "$(sed -n 's/^\(<[^,]*\),.*r100000000c4:u.*/\1/p' counts)"
run said ./softpmu run --machine -- perf stat -e cpu/mem-loads,ldlat=3/u,cpu/mem-loads,ldlat=4/u ./program
same "two thresholds" 1 "$(grep -c 'No space left' said.err)"
modelled -- perf mem record -o data -- -c 10 ./machine-program
run said perf mem -i data report --stdio
same "perf mem" 1 "$(grep -m 1 -c 'RAM hit *\[\.\] run' said.out)"
# The levels take 4, 12, 42 and 230 clocks.
same "latencies above the threshold" "42 230" "$(perf script -i data -F event,weight 2>/dev/null |
	awk '/mem-loads/ { print $NF }' | sort -un | xargs)"
modelled -M skylake -- perf record -o data -W -d --sample-cpu -e cpu/mem-loads,ldlat=30/Pu -c 2 "$BUILT/sharing" false
line=$(nm "$BUILT/sharing" | sed -n 's/^0*\([0-9a-f]*\) . shared$/0x\1/p')
run said perf c2c report -i data --stdio
same "perf c2c report finds the line" 1 "$(grep -cE "^ +[0-9]+ +$line +" said.out)"
finish
