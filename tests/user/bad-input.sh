#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bad-input.sh: a request that cannot be met ends with one clear line and the documented status, and
# leaves nothing on disk.
#
# Statuses: 125 the tool cannot do it, 126 the file cannot be run, 127 there is no such program,
# 129 wrong usage; 1 from report and annotate, which run nothing.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile unusual -pthread -z execstack

mkdir "$SCRATCH/empty"
cd "$SCRATCH/empty" || exit 1
true_program=$(command -v true)
[[ $true_program == /* ]] || true_program=/bin/true

# refuses NAME STATUS TEXT COMMAND...: the tool ends with this status and one line that contains TEXT.
refuses() {
	local name=$1 want=$2 text=$3
	shift 3
	run "$SCRATCH/refused" "$SOFTPMU" "$@"
	if ((status != want)); then
		fail "$name" "status $status, expected $want: $(head -n 2 "$SCRATCH/refused.err")"
	elif [[ $(wc -l <"$SCRATCH/refused.err") != 1 ]] || ! grep -q '^softpmu: ' "$SCRATCH/refused.err"; then
		fail "$name" "not one line of its own: $(head -n 3 "$SCRATCH/refused.err")"
	elif ! grep -qiF -- "$text" "$SCRATCH/refused.err"; then
		fail "$name" "no '$text' in: $(cat "$SCRATCH/refused.err")"
	elif [[ -s $SCRATCH/refused.out ]]; then
		fail "$name" "something on standard output: $(head -n 1 "$SCRATCH/refused.out")"
	elif [[ -n $(ls -A "$SCRATCH/empty") ]]; then
		fail "$name" "left behind: $(ls -A "$SCRATCH/empty")"
		rm -f "$SCRATCH"/empty/*
	else
		pass "$name"
	fi
}

# Files that are not programs.
printf 'echo from a shell\n' >"$SCRATCH/text"
: >"$SCRATCH/nothing"
printf 'a\0b\n' >"$SCRATCH/binary"
printf '#!/nonexistent/interpreter\n' >"$SCRATCH/no-interpreter"
printf '\177ELF' >"$SCRATCH/four-bytes"
head -c 40 "$true_program" >"$SCRATCH/in-header"
head -c 64 "$true_program" >"$SCRATCH/header-only"
head -c 5000 "$true_program" >"$SCRATCH/in-segments"
# e_machine (bytes 18, 19) of another processor, class and data order of e_ident, e_type.
patched() {
	cp "$true_program" "$SCRATCH/$1"
	printf '%b' "$3" | dd of="$SCRATCH/$1" bs=1 seek="$2" conv=notrunc status=none
}
patched aarch64 18 '\0267\0000'
patched big-endian 5 '\0002'
patched object 16 '\0001\0000'
patched no-headers 56 '\0000\0000'
patched many-headers 56 '\0377\0377'
patched headers-outside 32 '\0377\0377\0377\0377\0377\0377\0377\0177'
printf 'int main(void){return 0;}\nvoid _start(void){}\n' >"$SCRATCH/m32.c"
if "$CC" -m32 -nostdlib -static -fno-pie -no-pie -o "$SCRATCH/elf32" "$SCRATCH/m32.c" 2>/dev/null; then
	:
else
	patched elf32 4 '\0001'
fi
sed 's|/lib64/ld-linux-x86-64.so.2|/lib64/ld-linux-missing.s.2|' "$true_program" >"$SCRATCH/no-loader"
chmod +x "$SCRATCH"/{text,nothing,binary,no-interpreter,four-bytes,in-header,header-only,in-segments,no-loader,elf32}
cp "$true_program" "$SCRATCH/not-executable"
chmod 644 "$SCRATCH/not-executable"

for command in "stat" "record -c 1000"; do
	read -ra with <<<"$command"
	refuses "$command: unknown event" 129 no-such-event "${with[@]}" -e no-such-event -- "$true_program"
	refuses "$command: unknown event among known" 129 nope "${with[@]}" -e instructions:u,nope -- "$true_program"
	refuses "$command: unknown modifier" 129 "" "${with[@]}" -e instructions:q -- "$true_program"
	refuses "$command: unknown unit mask" 129 "" "${with[@]}" -e BR_INST_RETIRED.SIDEWAYS -- "$true_program"
	refuses "$command: bad raw event" 129 rxyz "${with[@]}" -e rxyz -- "$true_program"
	refuses "$command: empty event" 129 "" "${with[@]}" -e '' -- "$true_program"
	refuses "$command: unknown model" 129 pentium-9 "${with[@]}" -M pentium-9 -e instructions:u -- "$true_program"
	refuses "$command: unknown option" 129 "--frobnicate" "${with[@]}" --frobnicate -- "$true_program"
	refuses "$command: no program" 129 "" "${with[@]}" -e instructions:u
	with+=(-e instructions:u)
	refuses "$command: missing program" 127 no-such-program "${with[@]}" -- no-such-program
	refuses "$command: missing path" 127 /no/such "${with[@]}" -- /no/such
	refuses "$command: directory" 126 "$SCRATCH" "${with[@]}" -- "$SCRATCH"
	refuses "$command: not executable" 126 not-executable "${with[@]}" -- "$SCRATCH/not-executable"
	refuses "$command: 32-bit program" 126 32-bit "${with[@]}" -- "$SCRATCH/elf32"
	for file in binary four-bytes in-header header-only in-segments aarch64 big-endian object \
		no-headers many-headers headers-outside; do
		refuses "$command: $file" 126 "$file" "${with[@]}" -- "$SCRATCH/$file"
	done
	for file in no-interpreter no-loader; do
		refuses "$command: $file" 127 "" "${with[@]}" -- "$SCRATCH/$file"
	done
done

refuses "period 0" 129 "" record -e instructions:u -c 0 -- "$true_program"
refuses "period of nothing" 129 "" record -e instructions:u -c '' -- "$true_program"
refuses "period of letters" 129 ten record -e instructions:u -c ten -- "$true_program"
refuses "negative period" 129 -5 record -e instructions:u -c -5 -- "$true_program"
refuses "period too large" 129 "" record -e instructions:upp -c 99999999999999999999 -- "$true_program"
refuses "frequency 0" 129 "" record -e instructions:u -F 0 -- "$true_program"
refuses "too precise" 129 "" record -e instructions:upppp -c 10 -- "$true_program"
refuses "absent event" 125 "" record -e cycles:upp -c 1000 -- "$true_program"
refuses "repeat 0 times" 129 "" stat -r 0 -e instructions:u -- "$true_program"
refuses "unknown command" 129 frob frob
refuses "unwritable folder" 125 /no/such/folder record -e instructions:u -c 10 -o /no/such/folder/x -- "$true_program"
refuses "output is a folder" 125 "$SCRATCH" record -e instructions:u -c 10 -o "$SCRATCH" -- "$true_program"
refuses "stat: unwritable folder" 125 /no/such/folder stat -e instructions:u -o /no/such/folder/x -- "$true_program"
refuses "report: no file" 1 missing.data report -i missing.data
refuses "report: no perf.data" 1 text report -i "$SCRATCH/text"
refuses "report: empty file" 1 nothing report -i "$SCRATCH/nothing"
refuses "annotate: no file" 1 missing.data annotate -i missing.data

# The shell runs a script without #!, as under perf. It also runs an empty file.
printf 'echo "$0:$*:$(cat /proc/$$/comm)"\nexit 3\n' >"$SCRATCH/text"
run "$SCRATCH/script" "$SOFTPMU" stat -e instructions:u -o "$SCRATCH/counts" -- "$SCRATCH/text" a 'b c'
same "script without #!: status" 3 "$status"
same "script without #!" "$SCRATCH/text:a b c:sh" "$(<"$SCRATCH/script.out")"
run "$SCRATCH/script" "$SOFTPMU" stat -e instructions:u -o "$SCRATCH/counts" -- "$SCRATCH/nothing"
same "an empty script: status" 0 "$status"

# A program that softpmu refuses must not have run.
run "$SCRATCH/marker" "$SOFTPMU" record -e instructions:u -c 10 -o /no/such/folder/x -- \
	/usr/bin/touch "$SCRATCH/touched"
same "an output that cannot be opened is found before the program runs" no \
	"$([[ -e $SCRATCH/touched ]] && echo yes || echo no)"

# A full disk: the tool says so, and what was written can be read.
if mkdir "$SCRATCH/disk" && mount -t tmpfs -o size=128k tmpfs "$SCRATCH/disk" 2>/dev/null; then
	trap 'umount "$SCRATCH/disk"; rm -rf "$SCRATCH"' EXIT
	run "$SCRATCH/full" "$SOFTPMU" record -e instructions:upp -c 10 -o "$SCRATCH/disk/perf.data" -- \
		"$true_program"
	if ((status != 0)) && grep -qi 'space\|full' "$SCRATCH/full.err"; then
		pass "full disk is reported"
	else
		fail "full disk is reported" "status $status: $(head -n 2 "$SCRATCH/full.err")"
	fi
	run "$SCRATCH/script" perf script -i "$SCRATCH/disk/perf.data" -F ip
	lines=$(grep -c '[0-9a-f]' "$SCRATCH/script.out")
	if ((status == 0 && lines > 50)) && [[ ! -s $SCRATCH/script.err ]]; then
		pass "full disk leaves a readable file"
	else
		fail "full disk leaves a readable file" "perf script: status $status, $lines samples, $(head -n 1 "$SCRATCH/script.err")"
	fi
	umount "$SCRATCH/disk"
	trap 'rm -rf "$SCRATCH"' EXIT
else
	not_run "full disk" "mounting a tmpfs needs root"
fi
run "$SCRATCH/full" "$SOFTPMU" stat -e instructions:u -o /dev/full -- "$true_program"
if ((status)) && grep -q '^softpmu: ' "$SCRATCH/full.err"; then
	pass "stat to a full device"
else
	fail "stat to a full device" "status $status: $(cat "$SCRATCH/full.err")"
fi

# Ctrl-C reaches tool and program. What was recorded is kept.
setsid env --default-signal=INT "$SOFTPMU" record -e instructions:upp -c 1000003 -o "$SCRATCH/interrupted" -- \
	"$BUILT/unusual" forever >"$SCRATCH/int.out" 2>"$SCRATCH/int.err" </dev/null &
group=$!
for _ in {1..600}; do
	sleep 0.1
	grep -qx on "$SCRATCH/int.out" && break
done
kill -INT -- -$group
for _ in {1..600}; do
	kill -0 $group 2>/dev/null || break
	sleep 0.1
done
kill -KILL -- -$group 2>/dev/null
wait $group 2>/dev/null
same "Ctrl-C: status" 130 $?
run "$SCRATCH/script" perf script -i "$SCRATCH/interrupted" -F ip,sym
lines=$(grep -c forever "$SCRATCH/script.out")
if ((status == 0 && lines > 10)) && [[ ! -s $SCRATCH/script.err ]]; then
	pass "Ctrl-C: perf.data is readable ($lines samples)"
else
	fail "Ctrl-C: perf.data is readable" "perf script: status $status, $lines samples, $(head -n 1 "$SCRATCH/script.err")"
fi

# What cannot be followed yet says so. What can be followed behaves as natively.
for mode in threads forks spawns executes handles faults timers rewrites remaps ignores stack-code \
	aliases reads-code moves-code rewrites-loop rewrites-flags rewrites-return; do
	run "$SCRATCH/native" "$BUILT/unusual" $mode
	native=$status
	run "$SCRATCH/soft" "$SOFTPMU" stat -e instructions:u -o "$SCRATCH/stat" -- "$BUILT/unusual" $mode
	if ((status == 125)) && [[ $mode != @(threads|forks|spawns|executes|handles|faults|timers|stack-code|aliases) ]] && [[ $(wc -l <"$SCRATCH/soft.err") == 1 ]] && grep -q '^softpmu: ' "$SCRATCH/soft.err"; then
		pass "$mode: $(cat "$SCRATCH/soft.err")"
	elif ((status == native)) && cmp -s "$SCRATCH/native.out" "$SCRATCH/soft.out" &&
		! grep -qv ': Terminated$' "$SCRATCH/soft.err"; then
		pass "$mode: runs as natively"
	else
		fail "$mode" "status $status, natively $native; $(head -n 2 "$SCRATCH/soft.err")"
	fi
done 2>/dev/null
finish
