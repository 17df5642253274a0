#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# grub.sh: the boot loader GRUB of Debian's package as a guest. Its commands wrmsr, rdmsr, write_dword and
# hexdump program counters (Vol. 3B 18.2), last branch records (17.4.8), a DS save area, the
# branch trace store and PEBS (17.4.9, 18.4.4), without an operating system and without paging.
#
# With -icount the time-stamp counter follows QEMU's own count of instructions. So the fixed counter
# of reference clocks shows whether that of instructions is right.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $QEMU ]] || stop "QEMU" "there is no $QEMU"

# Below 640 KB, where GRUB has no heap: the management area, and the two buffers.
DS=0x80000 BTS=0x81000 PEBS=0x88000
BTS_RECORDS=256 PEBS_RECORDS=256
MEMORY=0x8000000

# shellcheck disable=SC2317 # called by expect
fetch_grub() (
	# shellcheck source=tools/softpmu/vm/vm_packages.sh
	. "$ROOT/tools/softpmu/vm/vm_packages.sh"
	lists amd64 && fetch grub amd64 install grub-common grub-pc-bin &&
		put_program "$SCRATCH/root" "$cache/grub" /usr/bin/grub-mkimage &&
		cp -r "$cache/grub/usr/lib/grub/i386-pc" "$SCRATCH/modules"
)

# image COMMANDS: boots them. lnxboot.img makes the image look like a Linux kernel to the loader.
# shellcheck disable=SC2317 # called by expect
image() {
	local libraries
	libraries=$(find "$SCRATCH/root" -name '*.so*' -printf '%h\n' | sort -u | paste -s -d:)
	LD_LIBRARY_PATH=$libraries "$SCRATCH/root/usr/bin/grub-mkimage" -O i386-pc -d "$SCRATCH/modules" \
		-o "$SCRATCH/core" -p / -c "$1" serial terminal echo rdmsr wrmsr halt memrw hexdump &&
		cat "$SCRATCH/modules/lnxboot.img" "$SCRATCH/core" >"$SCRATCH/kernel"
}

# show NAME REGISTER: prints a line "NAME value".
show() { printf 'echo -n "%s "\nrdmsr %#x\n' "$1" "$2"; }

# The management area (17.4.9.2): 64-bit fields, also outside IA-32e mode.
put_area() {
	local at=$DS value
	for value in "$@"; do
		printf 'write_dword %#x %#x\n' $((at)) $((value & 0xffffffff)) \
			$((at + 4)) $((value >> 32 & 0xffffffff))
		at=$((at + 8))
	done
}

# Buffers without a threshold interrupt (17.4.9.3).
put_buffers() {
	local bts_end=$((BTS + BTS_RECORDS * 24)) pebs_end=$((PEBS + PEBS_RECORDS * record))
	put_area $BTS $BTS $bts_end $((bts_end + 24)) $PEBS $PEBS $pebs_end $((pebs_end + record)) "-$period"
}

# The counters, then each recorder, while GRUB executes a command or two.
commands() {
	local i
	cat <<-END
		serial --unit=0 --speed=115200
		terminal_output serial
		echo
		wrmsr 0x38f 0
		wrmsr 0x38d 0x333
		wrmsr 0x186 0x4100c0
		wrmsr 0x187 0x4300c4
		wrmsr 0xc1 0
		wrmsr 0xc2 0xfffffc18
		wrmsr 0x38f 0x700000003
		echo counted
		wrmsr 0x38f 0
	END
	show insns 0x309
	show clocks 0x30a
	show reference 0x30b
	show user 0xc1
	show branches 0xc2
	show status 0x38e
	echo wrmsr 0x390 2
	show acknowledged 0x38e
	printf 'wrmsr 0x1d9 %d\n' 1 0
	show top 0x1c9
	for ((i = 0; i < depth; i++)); do
		show "from$i" $((lbr_from + i))
		show "to$i" $((lbr_to + i))
	done
	put_buffers
	echo wrmsr 0x600 $DS
	printf 'wrmsr 0x1d9 %#x\n' 0xc0 0
	cat <<-END
		wrmsr 0x186 $precise
		wrmsr 0x187 $precise
		wrmsr 0xc1 $((-period & 0xffffffff))
		wrmsr 0xc2 0
		wrmsr 0x3f1 1
		wrmsr 0x38f 3
		echo recorded
		wrmsr 0x38f 0
		wrmsr 0x3f1 0
	END
	show events 0xc2
	printf 'hexdump -s %d -n %d (mem)\n' $((DS)) 64 $((BTS)) $((BTS_RECORDS * 24)) \
		$((PEBS)) $((PEBS_RECORDS * record))
	echo halt
}

# Reads the memory dump: mem[address] for each eight bytes. The dump leaves out lines that repeat the previous one.
read_memory() {
	local at b last=0 low=0 high=0
	mem=()
	while read -r at b; do
		for ((at = 16#$at; last + 16 < at && low + high == 0; last += 16)); do
			mem[last + 16]=0 mem[last + 24]=0
		done
		# shellcheck disable=SC2206 # words
		b=($b)
		low=$((16#${b[7]}${b[6]}${b[5]}${b[4]}${b[3]}${b[2]}${b[1]}${b[0]}))
		high=$((16#${b[15]}${b[14]}${b[13]}${b[12]}${b[11]}${b[10]}${b[9]}${b[8]}))
		mem[at]=$low mem[at + 8]=$high last=$at
	done < <(grep -a '^000[0-9a-f]\{5\}  ' "$SCRATCH/lines")
}

# of NAME: prints the value of a line.
of() { echo $(($(sed -n "s/^$1 //p" "$SCRATCH/lines"))); }

# within NAME LEAST MOST VALUE
within() {
	if (($4 >= $2 && $4 <= $3)); then
		pass "$1"
	else
		fail "$1" "expected $2 to $3, got '$4'"
	fi
}

# chained NAME "FROM TO"...: oldest first. The code from the target of a branch to the next branch
# has no taken branch. So the next FROM is a little after the last TO.
chained() {
	local name=$1 pair from to last=0 wrong=0
	shift
	for pair in "$@"; do
		read -r from to <<<"$pair"
		((from > 0 && to > 0 && from < MEMORY && to < MEMORY)) || wrong=$((wrong + 1))
		((last == 0 || (last <= from && from < last + 1024))) || wrong=$((wrong + 1))
		last=$to
	done
	same "$name: do not follow each other, of $#" 0 $wrong
}

check_branch_records() {
	local i at top records=()
	top=$(of top)
	for ((i = 1; i <= depth; i++)); do
		at=$(((top + i) % depth))
		records+=("$(of from$at) $(of to$at)")
	done
	chained "$name: last branch records" "${records[@]}"
}

# The buffer has wrapped at least once, so the entry at its index is the oldest.
check_branch_trace() {
	local i at records=()
	within "$name: BTS index" $((BTS)) $((BTS + (BTS_RECORDS - 1) * 24)) "${mem[DS + 8]}"
	for ((i = 0; i < BTS_RECORDS; i++)); do
		at=$((BTS + (mem[DS + 8] - BTS + i * 24) % (BTS_RECORDS * 24)))
		records+=("${mem[at]} ${mem[at + 8]}")
	done
	chained "$name: branch trace" "${records[@]}"
}

# A record for the event after each overflow (18.4.4.2). Its instruction pointer is in GRUB.
check_pebs() {
	local n=$(((mem[DS + 0x28] - PEBS) / record)) at wrong=0
	same "$name: PEBS records" $(($(of events) / (period + 1))) $n
	within "$name: PEBS records, some" 10 $PEBS_RECORDS $n
	for ((at = PEBS; at < mem[DS + 0x28]; at += record)); do
		((mem[at + 8] > 0 && mem[at + 8] < MEMORY)) || wrong=$((wrong + 1))
	done
	same "$name: PEBS records elsewhere than in GRUB" 0 $wrong
}

# check NAME CPU EVENT PERIOD RECORD DEPTH FROM TO: PEBS event, period, record size, number and registers of
# last branch records.
check() {
	local name=$1 cpu=$2 precise=$3 period=$4 record=$5 depth=$6 lbr_from=$7 lbr_to=$8 insns mem
	commands >"$SCRATCH/commands"
	expect "$name: image" image "$SCRATCH/commands"
	timeout "${GUEST_SECONDS:-600}" "$QEMU" -M q35 -m $((MEMORY >> 20)) -nodefaults -display none \
		-no-reboot -serial "file:$SCRATCH/said" -cpu "$cpu,pmu=on" -icount shift=0,sleep=off \
		-kernel "$SCRATCH/kernel" </dev/null 2>"$SCRATCH/complaint" &
	guest=$!
	wait $guest
	sed 's/\x1b\[[0-9;]*[A-Za-z]//g; s/\r//g' "$SCRATCH/said" >"$SCRATCH/lines"
	insns=$(of insns)
	within "$name: instructions" 10000 1000000 "$insns"
	same "$name: clocks" "$insns" "$(of clocks)"
	# QEMU counts each iteration of a repeated instruction.
	within "$name: instructions by QEMU's count" "$insns" $((insns + insns / 50)) "$(of reference)"
	same "$name: instructions of other rings" 0 "$(of user)"
	within "$name: branches" $((insns / 8)) $((insns / 2)) $(($(of branches) + 1000))
	# CondChgd (table 35-2) stays until software clears it.
	same "$name: overflow" $((1 << 63 | 2)) "$(of status)"
	same "$name: overflow, acknowledged" $((1 << 63)) "$(of acknowledged)"
	read_memory
	check_branch_records
	check_branch_trace
	check_pebs
}

expect "package" fetch_grub
check "Skylake" Skylake-Server 0x4320c4 31 200 32 0x680 0x6c0
check "Core 2" Penryn 0x4300c0 199 144 4 0x40 0x60
finish
