#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vm.sh: what `softpmu vm` asks of QEMU, puts into the guest and takes out of it.  A script takes the place of
# QEMU, and small files that of Debian's packages; tests/guest/vm.sh uses the real ones.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# The cache as if everything had been fetched.
export SOFTPMU_CACHE=$SCRATCH/cache SOFTPMU_QEMU=$SCRATCH/qemu
packages=$SOFTPMU_CACHE/guest
kernel=linux-image-9.10.0-1-cloud-amd64
# fetched NAME PACKAGE COMMAND FILE: adds a package with FILE.
fetched() {
	mkdir -p "$(dirname "$packages/$1/$4")"
	echo "$2" >"$packages/$1/$4"
	echo "$3 $2" >"$packages/$1.ready"
}
for name in $kernel linux-image-9.9.0-1-cloud-amd64 linux-image-9.10.0-1-686; do
	fetched $name $name download "boot/vmlinuz-${name#linux-image-}"
done
fetched perf-i386 linux-perf install usr/bin/perf
for arch in amd64 i386; do
	fetched busybox-$arch busybox-static download bin/busybox
	printf '#!/bin/sh\ngrep -c . >%s/packed\necho base\n' "$SCRATCH" >"$packages/busybox-$arch/bin/busybox"
	chmod 755 "$packages/busybox-$arch/bin/busybox"
done

# The script in QEMU's place keeps its arguments and the initramfs, and does what $SCRATCH/guest says, with the
# three ports and the disk as files.
cat >"$SOFTPMU_QEMU" <<'END'
#!/bin/bash
cd "$(dirname "$0")" || exit
printf '%s\n' "$@" >words
console=/dev/null output=/dev/null end=/dev/null disk=/dev/null
for word in "$@"; do
	[[ $word =~ ^file,id=([a-z]+),path=(.*)$ ]] && declare "${BASH_REMATCH[1]}=${BASH_REMATCH[2]}"
	[[ $word =~ file.filename=(.*)$ ]] && disk=${BASH_REMATCH[1]}
	[[ $before != -initrd ]] || cat "$word" >initrd
	before=$word
done
[[ $disk == /dev/null ]] || stat -L -c %s "$disk" >disk-bytes
. ./guest
END
chmod 755 "$SOFTPMU_QEMU"

guest() { cat >"$SCRATCH/guest"; }
# word_after OPTION: prints the word after an option of QEMU's command line.
word_after() { grep -x -A 1 -e "$1" "$SCRATCH/words" | tail -n 1; }

# Prints what the initramfs has after its first archive: mode, size, time and name, one entry on each line; with
# a name, the contents of that file.
archive() {
	python3 - "$SCRATCH/initrd" "${1-}" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
at = 8  # "base\n" and what pads it
while at < len(data):
    assert data[at:at + 6] == b"070701", data[at:at + 6]
    number = [int(data[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
    name = data[at + 110:at + 110 + number[11] - 1].decode()
    at = at + 110 + number[11] + 3 & ~3
    contents = data[at:at + number[6]]
    at = at + number[6] + 3 & ~3
    if name == "TRAILER!!!":
        break
    if not sys.argv[2]:
        print("%o" % number[1], number[6], number[5], name)
    elif name == sys.argv[2]:
        sys.stdout.buffer.write(contents)
assert name == "TRAILER!!!" and at == len(data)
END
}

# --- a command's output, errors and status ---
guest <<'END'
printf 'to stdout\r\n\n' >"$output"
printf 'a complaint\r\nto stderr\n' >"$console"
echo "qemu: warning: TCG doesn't support requested feature: CPUID.01H:ECX.x [bit 1]" >&2
echo "qemu: something else" >&2
cat >input
echo '7 0' >"$end"
END
run vm -M haswell --smp 3 --mem 512M --append 'one two' -- tool "it's" '' '$x *'
same "status" 7 "$status"
printf 'to stdout\r\n\n' >"$SCRATCH/told"
same_file "standard output is the guest's" "$SCRATCH/told" "$SCRATCH/out"
has_line "console" "$err" "a complaint"
has_line "standard error" "$err" "to stderr"
has_not "no carriage returns on standard error" "$err" $'\r'
has_line "QEMU's own errors" "$err" "qemu: something else"
has_not "not what TCG lacks" "$err" "TCG"
same "no input" 0 "$(stat -c %s "$SCRATCH/input")"
same "-cpu" "Haswell,pmu=on,pmu-model=haswell" "$(word_after -cpu)"
same "-smp" 3 "$(word_after -smp)"
same "-m" 512M "$(word_after -m)"
same "the newest kernel of the cache" "$packages/$kernel/boot/vmlinuz-9.10.0-1-cloud-amd64" \
	"$(word_after -kernel)"
has "kernel's command line" "$(word_after -append)" "quiet one two"
has "console" "$(word_after -append)" "console=ttyS0"
same "files of the guest" "softpmu softpmu/command softpmu/terminal" \
	"$(archive | cut -d' ' -f4 | sort | xargs)"
same "the command as words" "<tool><it's><><\$x *>" \
	"$(archive softpmu/command | sed 's/^exec/printf "<%s>"/' | sh)"
packed=$(<"$SCRATCH/packed")
rm "$SCRATCH/packed"
run vm -- true
same "the initramfs is made once" "" "$(cat "$SCRATCH/packed" 2>&1 | grep -v 'No such file')"
expect "and holds init and busybox" test "$packed" -ge 5
has_not "time is the machine's" "$(<"$SCRATCH/words")" -icount
run vm --icount -- true
same "--icount" shift=0,sleep=off "$(word_after -icount)"
run vm -v -- true
has "-v: QEMU's command line" "$err" "$SOFTPMU_QEMU -cpu Skylake-Client,pmu=on,pmu-model=skylake"
has "-v: all of QEMU's lines" "$err" "TCG doesn't"
has "-v: all of the kernel's" "$(word_after -append)" "loglevel=7"

# --- a shared folder, there and back, by the disk and by the port ---
share=$SCRATCH/share
mkdir -p "$share/below"
echo text >"$share/file"
touch -d 2020-01-01T00:00:00Z "$share/file"
printf '#!/bin/sh\n' >"$share/below/program"
chmod 755 "$share/below/program"
ln -s file "$share/link"
for way in disk port; do
	guest <<END
mkdir -p more/deep && echo from the guest >more/deep/file && echo changed >more/file
echo early >"\$output"
way=$way
END
	cat >>"$SCRATCH/guest" <<'END'
if [[ $way == disk ]]; then
	{ tar -C more -c ./deep/file; tar -C more -c ./file; } >tar
	dd if=tar of="$disk" conv=notrunc 2>/dev/null
	echo "3 $(stat -c %s tar)" >"$end"
else
	{ printf '3 0\r\n'; tar -C more -c ./deep/file ./file; } >"$end"
fi
END
	echo text >"$share/file"
	touch -d 2020-01-01T00:00:00Z "$share/file"
	rm -rf "$share/deep"
	run vm --share "$share/" --mem 300M -- true
	same "$way: status" 3 "$status"
	same "$way: errors" "" "$err"
	same "$way: output" early "$out"
	same "$way: a new file" "from the guest" "$(<"$share/deep/file")"
	same "$way: a changed file" changed "$(<"$share/file")"
	expect "$way: others stay" test -x "$share/below/program" -a -L "$share/link"
done
same "a disk of the memory's size" $((300 << 20)) "$(<"$SCRATCH/disk-bytes")"
same "modes and names" "40755 share 100755 share/below/program 100644 share/file 120777 share/link" \
	"$(archive | grep -E ' share(/link|/file|/below/program)?$' | cut -d' ' -f1,4 | sort -k 2 | xargs)"
same "times" 1577836800 "$(archive | awk '$4 == "share/file" { print $3 }')"
same "contents" text "$(archive share/file)"
now=$(date +%s)
newest=$(archive | awk '$4 == "softpmu/command" { print $3 }')
expect "nothing is as new as what the command writes" test "$newest" -lt $((now - 1))
same "no file is newer than the command's" 0 \
	"$(archive | awk -v newest="$newest" '$3 > newest' | wc -l)"

# --- without a command the console is QEMU's own ---
guest <<'END'
if read -r line; then echo "console: $line"; fi
END
echo hello | timeout "$LIMIT" "$SOFTPMU" vm >"$SCRATCH/out" 2>&1
same "shell: status" 0 "$?"
same "shell: standard input and output" "console: hello" "$(<"$SCRATCH/out")"
same "shell: the console with QEMU's keys" mon:stdio "$(word_after -serial)"
same "shell: no command" "" "$(archive | grep command)"
run vm --kernel "$SCRATCH/guest" --initrd none
same "a kernel alone: status" 0 "$status"
same "a kernel alone" "$SCRATCH/guest" "$(word_after -kernel)"
has_not "a kernel alone: no initramfs" "$(<"$SCRATCH/words")" -initrd
run vm --initrd "$SCRATCH/guest" --cpu Nehalem,pmu=on
same "an initramfs of one's own" "$SCRATCH/guest" "$(word_after -initrd)"
same "a processor of one's own" Nehalem,pmu=on "$(word_after -cpu)"

# --- guests that end too early ---
guest <<<'true'
run vm -- true
refuses "a guest that stops" 125 "the guest ended before the command did"
guest <<<'echo "qemu: no such thing" >&2; exit 1'
run vm -- true
refuses "a QEMU that fails" 125 "qemu: no such thing"
guest <<<'kill -KILL $$'
run vm -- true
refuses "a QEMU that is killed" 125 "signal 9"
# ended_by SIGNAL: sends it to the tool while QEMU runs, and prints the tool's status.
guest <<<'echo $$ >pid; exec sleep 200'
ended_by() {
	local tool i
	rm -f "$SCRATCH/pid"
	"$SOFTPMU" vm -- true &
	tool=$!
	for ((i = 0; i < 600; i++)); do
		[[ ! -s $SCRATCH/pid ]] || break
		sleep 0.1
	done
	kill "-$1" "$tool"
	wait "$tool" 2>/dev/null
	status=$?
	for ((i = 0; i < 600; i++)); do
		[[ -e /proc/$(<"$SCRATCH/pid")/exe ]] || break
		sleep 0.1
	done
	expect "the tool gets SIG$1: QEMU ends" test ! -e "/proc/$(<"$SCRATCH/pid")/exe"
}
ended_by TERM
same "the tool gets SIGTERM: status" 143 "$status"
ended_by KILL

# --- refusals ---
rm -f "$SCRATCH/words"
run vm --smp 0
refuses "no processors" 129 "--smp must be 1 to 255, not '0'"
run vm --mem much
refuses "memory" 129 "--mem needs a size such as 512M or 2G, not 'much'"
run vm -M haswell --cpu Haswell
refuses "two processors" 129 "--model and --cpu cannot be combined"
run vm --initrd "$SCRATCH/guest" -- true
refuses "a command in a foreign initramfs" 129 "--initrd cannot be combined with a command or --share"
run vm --nothing
refuses "an option" 129 "unknown option '--nothing'"
run vm -M nothing -- true
refuses "a model" 125 "unknown model 'nothing'"
run vm --share "$SCRATCH/guest" -- true
refuses "a share that is a file" 125 "is not a folder"
run vm --kernel "$SCRATCH/none" -- true
refuses "a kernel" 125 "cannot read $SCRATCH/none"
run vm --mem 100 -- true
refuses "too little memory" 125 "give more with --mem"
SOFTPMU_QEMU=$SCRATCH/none run vm -- true
refuses "a QEMU that is not there" 125 "SOFTPMU_QEMU names $SCRATCH/none"
same "QEMU was not started by any of them" "" "$(cat "$SCRATCH/words" 2>/dev/null)"
cp "$SOFTPMU" "$SCRATCH/softpmu"
(
	unset SOFTPMU_QEMU
	PATH=/usr/bin:/bin "$SCRATCH/softpmu" vm -- true
) >"$SCRATCH/out" 2>"$SCRATCH/err"
same "no QEMU: status" 125 "$?"
has "no QEMU: says how to get one" "$(<"$SCRATCH/err")" "make qemu"
cp "$SOFTPMU_QEMU" "$SCRATCH/softpmu-qemu-system-x86_64"
guest <<<'echo "0 0" >"$end"; echo beside >which'
(
	unset SOFTPMU_QEMU
	PATH=/usr/bin:/bin "$SCRATCH/softpmu" vm -- true
)
same "QEMU next to the tool" "0 beside" "$? $(<"$SCRATCH/which")"

# --- every model has a similar processor of QEMU's, and a 32-bit model a 32-bit kernel ---
small=()
for model in $("$SOFTPMU" models | awk 'NR > 1 && $0 !~ / absent / { print $1 }'); do
	run vm -M "$model" -- true
	same "$model: status" 0 "$status"
	has "$model: -cpu" "$(word_after -cpu)" ",pmu=on,pmu-model=$model"
	[[ $(word_after -kernel) != *-686 ]] || small+=("$model")
done
same "models of 32 bits" "core netburst pentium pentium-ii pentium-iii pentium-m pentium-mmx pentium-pro" \
	"$(printf '%s\n' "${small[@]}" | sort | xargs)"
finish
