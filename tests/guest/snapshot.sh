#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# snapshot.sh [NAME...]: guests that are suspended in the middle of a count and restored continue to the exact
# numbers (Vol. 3B 18.2, 18.15, 18.22, 18.23), one for each kind of unit: by migration to a file and to
# a program, into another process, and by savevm and loadvm.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
here=$ROOT/tests/guest
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $QEMU ]] || stop "QEMU" "there is no $QEMU"

LOOPS=150000000 PAIRS=1000
COUNTS="$((2 * LOOPS + 5 * PAIRS + 9)) $((LOOPS + 3 * PAIRS + 1))"
LEGACY_LOOPS=100000000
SECONDS_MAX=${GUEST_SECONDS:-900}

# An empty disk for savevm: a qcow2 header and its tables of used clusters and of contents.
put_disk() {
	local cluster=65536
	truncate -s 0 "$1" && truncate -s $((4 * cluster)) "$1"
	put() { printf "%b" "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none; }
	put "$1" 0 'QFI\xfb\0\0\0\2' # version 2
	put "$1" 20 '\0\0\0\20'      # clusters of 2^16 bytes
	put "$1" 28 '\0\0\1\0'       # 2^24 bytes
	put "$1" 36 '\0\0\0\1\0\0\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\0\0\1'
	put "$1" $cluster '\0\0\0\0\0\2\0\0'
	put "$1" $((2 * cluster)) '\0\1\0\1\0\1\0\1'
}

# tell WORDS: sends a command to the monitor of the guest in the current folder.
tell() { echo "$*" >&7; }

# Returns whether the processor is between two addresses.
stands_in() {
	local lines ip i
	lines=$(grep -c 'R\?IP=' monitor)
	tell info registers
	for ((i = 0; i < 10 * SECONDS_MAX; i++)); do
		(($(grep -c 'R\?IP=' monitor) == lines)) || break
		kill -0 "$guest" 2>/dev/null || return
		sleep 0.1
	done
	ip=$(grep -o 'IP=[0-9a-f]*' monitor | tail -n 1)
	((16#${ip#IP=} >= $1 && 16#${ip#IP=} < $2))
}

# Stops the guest while it counts.
stop_in() {
	local i
	for ((i = 0; i < 10 * SECONDS_MAX; i++)); do
		kill -0 "$guest" 2>/dev/null || return
		tell stop
		! stands_in "$1" "$2" || return 0
		tell cont
		sleep 0.1
	done
	return 1
}

# On a loaded machine the guest gets less processor time than the script that must stop it.
start() {
	local serial=$1
	shift
	rm -f keys && mkfifo keys && : >monitor
	timeout "$SECONDS_MAX" nice -n 10 "${machine[@]}" -serial "file:$serial" -monitor stdio "$@" <keys >monitor 2>&1 &
	guest=$!
	exec 7>keys
}

# missed: the guest ended before it was suspended. Fails if it ended by itself.
missed() {
	local status=0
	wait "$guest" || status=$?
	exec 7>&-
	((status)) && cat monitor >>said
}

# suspended HOW FROM TO: the guest is stopped between the addresses, saved and restored, and ends. Fails if it was
# too late for that.
suspended() {
	local how=$1 from=$2 to=$3
	trap '' PIPE
	rm -f forgotten
	start before -drive if=none,format=qcow2,file=disk
	stop_in "$from" "$to" || { missed; return; }
	cp before mid
	case $how in
	loadvm) # what it counts, and perhaps says, after savevm is to be forgotten
		tell savevm here
		tell cont
		sleep 0.3
		tell stop
		stands_in 0 0 # has stopped
		kill -0 "$guest" 2>/dev/null || { missed; return; }
		wc -c <before >forgotten
		tell loadvm here
		;;
	*)
		tell migrate "$([[ $how == exec ]] && echo '"exec:gzip -1 >state"' || echo file:state)"
		until grep -q 'igration status: completed' monitor; do
			kill -0 "$guest" 2>/dev/null || { cat monitor >>said; return 0; }
			sleep 0.2
			tell info migrate
		done
		tell quit
		wait "$guest"
		start after -drive if=none,format=qcow2,file=disk -incoming \
			"$([[ $how == exec ]] && echo 'exec:gzip -dc state' || echo file:state)"
		;;
	esac
	while kill -0 "$guest" 2>/dev/null; do
		tell cont 2>/dev/null
		sleep 0.3
	done
	wait "$guest" || cat monitor >>said
	exec 7>&-
}

# later NAME HOW FROM TO MACHINE...
later() {
	local name=$1 how=$2 from=$3 to=$4 i
	[[ -z $chosen || $chosen == *" $name "* ]] || return
	shift 4
	while (($(jobs -pr | wc -l) >= JOBS)); do wait -n; done
	{
		local machine=("$QEMU" -M q35 -m 256 -nodefaults -display none -no-reboot "$@")
		mkdir -p "$SCRATCH/$name"
		cd "$SCRATCH/$name" || exit
		for ((i = 0; i < 5; i++)); do
			put_disk disk && ! suspended "$how" $((from)) $((to)) || break
		done
		((i < 5)) || echo "it was not stopped in time" >>said
	} &
	names+=("$name")
}

# symbol ELF NAME: prints its address.
symbol() { readelf -sW "$1" | awk -v name="$2" '$8 == name { print "0x" $2 }'; }

# linux NAME HOW ARCHITECTURE CPU [JOB PROGRAM FROM TO]: suspends it in the program that perf stat counts.
linux() {
	local program=$SCRATCH/$3/root/bin/${6:-known-pause}
	later "$1" "$2" "$(symbol "$program" "${7:-_start}")" "$(symbol "$program" "${8:-pairs}")" -cpu "$4" \
		-kernel "$SCRATCH/$3/vmlinuz" -initrd "$SCRATCH/$3/initrd" \
		-append "console=ttyS0 loglevel=7 panic=-1 $SLOW_MACHINE watchdog=0 job=${5:-pause}"
}

# legacy NAME HOW CPU: suspends it in its function of three instructions.
legacy() {
	local loop
	loop=$(symbol "$SCRATCH/legacy.elf" loop)
	later "$1" "$2" "$loop" "$loop + 16" -cpu "$3" -kernel "$SCRATCH/legacy.bin"
}

# Prints the guest's output, from its memory.
said() {
	local at=$SCRATCH/$1
	if [[ -e $at/forgotten ]]; then
		cat "$at/said" "$at/mid" 2>/dev/null
		tail -c +$(($(<"$at/forgotten") + 1)) "$at/before"
	else
		cat "$at"/{said,before,after} 2>/dev/null
	fi | tr -d '\r'
}

check_linux() {
	[[ " ${names[*]} " == *" $1 "* ]] || return
	same "$1: suspended in mid-count" "" "$(sed -n 's/.*RESULT counts//p' "$SCRATCH/$1/mid")"
	same "$1: counts" "$COUNTS" "$(said "$1" | sed -n 's/.*RESULT counts: //p' | sed 's/ *$//')"
	same "$1: the guest ends" pause "$(said "$1" | sed -n 's/.*RESULT end: //p')"
	same "$1: no complaint of the kernel" "" "$(said "$1" | grep 'RESULT complaint')"
}

# Caches are empty after the snapshot, but what they counted before is not lost: 20 million loads that miss.
check_machine() {
	[[ " ${names[*]} " == *" machine "* ]] || return
	local loads misses
	read -r loads misses <<<"$(said machine | sed -n 's/.*RESULT counts: //p')"
	same "machine: suspended in mid-count" "" "$(sed -n 's/.*RESULT counts//p' "$SCRATCH/machine/mid")"
	expect "machine: loads ($loads)" test "${loads:-0}" -ge 20000000 -a "${loads:-0}" -le 20100000
	expect "machine: misses ($misses)" test "${misses:-0}" -ge 19990000 -a "${misses:-0}" -le 20100000
	same "machine: the guest ends" pause-machine "$(said machine | sed -n 's/.*RESULT end: //p')"
}

check_legacy() {
	[[ " ${names[*]} " == *" $1 "* ]] || return
	same "$1: suspended in mid-count" "" "$(grep -a 'RDPMC' "$SCRATCH/$1/mid")"
	same "$1: counts" "RDMSR: $((2 * LEGACY_LOOPS)) $LEGACY_LOOPS" "$(said "$1" | grep -a RDMSR)"
	same "$1: RDPMC" "RDPMC: $((2 * LEGACY_LOOPS + 2)) $LEGACY_LOOPS" "$(said "$1" | grep -a RDPMC)"
	same "$1: the guest ends" "done" "$(said "$1" | tail -n 1)"
}

chosen=${*:+" $* "}
names=()
JOBS=${GUEST_JOBS:-$(nproc)}
for arch in amd64 i386; do
	"$here/image.sh" "$SCRATCH/$arch" $arch $LOOPS || stop "image" "$arch"
done
expect "guest without a system" "$here/legacy_image.sh" "$SCRATCH/legacy" legacy.c -DLOOPS=$LEGACY_LOOPS
linux core2 file amd64 Penryn,pmu=on
linux nehalem exec amd64 Nehalem,pmu=on
linux skylake loadvm amd64 Skylake-Server,pmu=on
linux machine loadvm amd64 Skylake-Server,pmu=on,pmu-machine=on pause-machine caches walk branch
linux goldmont file amd64 Denverton,pmu=on
linux icelake file amd64 Icelake-Server,pmu=on
linux core file i386 coreduo,pmu=on
linux pentium3 file i386 pentium3,pmu=on
legacy pentium file pentium,pmu=on
legacy p6 exec pentium2,pmu=on
legacy netburst loadvm kvm32,pmu=on,pmu-model=netburst
legacy prescott file kvm32,pmu=on,pmu-model=prescott
wait
for name in core2 nehalem skylake goldmont icelake core pentium3; do check_linux $name; done
check_machine
for name in pentium p6 netburst prescott; do check_legacy $name; done
finish
