#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vm.sh: `softpmu vm` with QEMU and Debian's kernel: a command's streams and status, exact counts by perf
# (Vol. 3B 18.2), time by instructions, the shared folder both ways, a shell on the console, Ctrl-C.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
export SOFTPMU_QEMU=${QEMU:-$B/softpmu-qemu-system-x86_64}
[[ -x $SOFTPMU_QEMU ]] || stop "QEMU" "there is no $SOFTPMU_QEMU"
SECONDS_MAX=${GUEST_SECONDS:-600}

vm() {
	timeout "$SECONDS_MAX" "$SOFTPMU" vm "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null
	status=$?
	# 125: there is no guest, and the messages say why.
	((status != 125)) || cat "$SCRATCH/err" >&2
}

# What known.S retires.
LOOPS=1000000 PAIRS=1000
INSNS=$((2 * LOOPS + 5 * PAIRS + 9))
BRANCHES=$((LOOPS + 3 * PAIRS + 1))
share=$SCRATCH/share
mkdir "$share"
expect "program" "$CC" -nostdlib -static -DLOOPS=$LOOPS -o "$share/known" "$ROOT/tests/guest/known.S"
cat >"$share/job" <<'END'
perf stat -x ' ' -o counts -e instructions:u,branches:u known
perf record -q -o data -c 9959 -e cpu/event=0xc4,umask=0x01/upp known
nproc
printf 'an odd\tline\r\n'
echo complaint >&2
exit 42
END
vm -M haswell --smp 2 --share "$share" -- sh -x job
same "status" 42 "$status"
same "standard output" "$(printf '2\nan odd\tline\r\n.' | od -c)" "$(cat "$SCRATCH/out" <(printf .) | od -c)"
same "standard error" 1 "$(grep -cx complaint "$SCRATCH/err")"
same "counts" "$INSNS $BRANCHES" "$(grep '^[0-9]' "$share/counts" | cut -d' ' -f1 | xargs)"
samples=$(perf script -i "$share/data" -F ip 2>/dev/null | grep -c .)
# A record comes one occurrence after each period.  100.5 periods pass.  The guest's kernel may lose
# a part of one when it moves the program to the other processor.  No record may be lost.
same "samples of the taken loop, read here" $(((LOOPS + PAIRS) / 9960)) "$samples"

# Time by instructions: there are as many reference cycles, however slow the guest is.
vm -M haswell --icount --share "$share" -- perf stat -x ' ' -o times -e instructions:u,ref-cycles:u known
same "--icount: status" 0 "$status"
read -r insns clocks <<<"$(grep '^[0-9]' "$share/times" | cut -d' ' -f1 | xargs)"
same "--icount: instructions" "$INSNS" "$insns"
expect "--icount: reference cycles ($clocks)" test "$clocks" -ge "$INSNS" -a "$clocks" -le $((INSNS * 6 / 5))

# A model of 32 bits: the kernel and perf of i386, and the unit before architectural performance
# monitoring (18.22).
expect "program of 32 bits" "$CC" -m32 -nostdlib -static -DLOOPS=$LOOPS -o "$share/known" \
	"$ROOT/tests/guest/known.S"
cat >"$share/job" <<'END'
for event in instructions branches; do perf stat -x ' ' -o $event -e $event:u known || exit; done
END
vm -M pentium-iii --append nmi_watchdog=0 --share "$share" -- sh job
same "32 bits: status" 0 "$status"
same "32 bits: counts" "$INSNS $BRANCHES" \
	"$(cat "$share/instructions" "$share/branches" | grep '^[0-9]' | cut -d' ' -f1 | xargs)"

# A shell: the prompt, a line, its answer, the end.
: >"$SCRATCH/console"
mkfifo "$SCRATCH/keys"
timeout "$SECONDS_MAX" "$SOFTPMU" vm <"$SCRATCH/keys" >"$SCRATCH/console" 2>&1 &
shell=$!
exec 7>"$SCRATCH/keys"
for ((i = 0; i < SECONDS_MAX; i++)); do
	! grep -q '~ # ' "$SCRATCH/console" || break
	sleep 1
done
printf 'echo answer $((6 * 7))\nexit\n' >&7
wait "$shell"
same "shell: status" 0 "$?"
same "shell: an answer" 1 "$(tr -d '\r' <"$SCRATCH/console" | grep -c '^answer 42$')"
exec 7>&-

# Ctrl-A x, as a terminal sends it, while the kernel boots.
(sleep 1 && printf '\001x') | timeout "$SECONDS_MAX" "$SOFTPMU" vm >"$SCRATCH/console" 2>&1
same "Ctrl-A x: status" 0 "$?"
same "Ctrl-A x ends the guest" 0 "$(grep -c 'a shell in the guest' "$SCRATCH/console")"

# An installed tool finds the QEMU that is installed with it.
quiet_make() { env -u MAKEFLAGS -u MFLAGS make -s -C "$ROOT" B="$B" PREFIX="$SCRATCH/usr" "$@"; }
expect "make install, install-qemu" quiet_make install install-qemu
unset SOFTPMU_QEMU
timeout 300 env PATH=/usr/bin:/bin "$SCRATCH/usr/bin/softpmu" vm -v --kernel "$B/bare-metal.bin" \
	--initrd none >"$SCRATCH/out" 2>&1 </dev/null
same "installed: a guest" "done" "$(tr -d '\r' <"$SCRATCH/out" | tail -n 1)"
same "installed: its QEMU" "$SCRATCH/usr/bin/softpmu-qemu-system-x86_64" \
	"$(head -n 1 "$SCRATCH/out" | cut -d' ' -f1)"
expect "make uninstall" quiet_make uninstall uninstall-qemu
same "nothing is left" "" "$(find "$SCRATCH/usr" -type f -o -type l)"
make -s -C "$ROOT" B="$B" "$B/softpmu.pc" # names its own prefix again
finish
