#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# glibc.sh: the C library's own tests of threads, cancellation, signals, jumps, timers and posix_spawn end
# with the same status natively and under `stat`. The source is Debian's, with what it needs besides
# the installed headers; GLIBC=FOLDER takes another. Two kinds of tests are left out: those that
# need a build of the library (its private headers, its loader), and those that natively take more
# than 15 s. GLIBC_TESTS=PATTERN runs only these.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"
LEAST=${GLIBC_TESTS:+1}
LEAST=${LEAST:-300}
# These race with the shell of system(3): natively they end with 0 or 1.
RACES="tst-cancel7 tst-cancelx7"

export GLIBC=${GLIBC:-$("$ROOT/tools/debian-source.sh" glibc 2>"$SCRATCH/said")}
[[ -d $GLIBC/nptl ]] || stop "the C library's source" "cannot be had: $(tail -n 1 "$SCRATCH/said")"
export INCLUDE=$SCRATCH/include
mkdir -p "$INCLUDE" "$SCRATCH/objects" "$SCRATCH/tests"
ln -s "$GLIBC/support" "$INCLUDE/support"
ln -s "$GLIBC/sysdeps/x86_64/stackinfo.h" "$INCLUDE"
for header in array_length allocate_once intprops intprops-internal scratch_buffer; do
	ln -s "$GLIBC/include/$header.h" "$INCLUDE"
done
: >"$INCLUDE/config.h"

# The libraries that a test is linked with. The few that need more than headers are left out.
compile_support() {
	local folder=/usr name=$1
	"$CC" -std=gnu11 -O1 -w -D_GNU_SOURCE -DTIMEOUTFACTOR=5 -include limits.h \
		-D{SRCDIR,OBJDIR,INSTDIR,LIBDIR,BINDIR,SBINDIR,SLIBDIR,ROOTSBINDIR,COMPLOCALEDIR,SYSCONFDIR,ROOTDIR}_PATH="\"$folder\"" \
		-DOBJDIR_ELF_LDSO_PATH="\"/lib64/ld-linux-x86-64.so.2\"" -I"$INCLUDE" -I"$GLIBC/support" \
		-idirafter "$GLIBC" -idirafter "$GLIBC/include" -c "$name" \
		-o "$SCRATCH/objects/$(basename "$name" .c).o" 2>/dev/null
}
compile_test() {
	local name=$1
	"$CC" -std=gnu11 -O1 -w -D_GNU_SOURCE -DTIMEOUTFACTOR=5 -DOBJPFX="\"$SCRATCH/\"" -I"$INCLUDE" -I"$GLIBC/support" \
		-I"$(dirname "$name")" -I"$GLIBC/sysdeps/pthread" -I"$GLIBC/nptl" "$name" \
		-o "$SCRATCH/tests/$(basename "$name" .c)" "$SCRATCH/libsupport.a" -pthread -lrt -lm -ldl 2>/dev/null
}
export SCRATCH CC
export -f compile_support compile_test
find "$GLIBC/support" -name '[a-z]*.c' ! -name 'tst-*' ! -name 'test-*' ! -name '*time64.c' \
	! -name 'shell-*' ! -name 'echo-*' ! -name 'links-dso*' ! -name 'true-*' -print0 |
	xargs -0 -P "$(nproc)" -I{} bash -c 'compile_support {}'
ar rcs "$SCRATCH/libsupport.a" "$SCRATCH"/objects/*.o || stop "the tests' library" "does not build"
for folder in sysdeps/pthread nptl signal setjmp rt; do
	find "$GLIBC/$folder" -maxdepth 1 -name "${GLIBC_TESTS:-*tst*}.c" -print0
done | xargs -0 -P "$(nproc)" -I{} bash -c 'compile_test {}'
find "$GLIBC/posix" -name 'tst-spawn*.c' -name "${GLIBC_TESTS:-*}.c" -print0 |
	xargs -0 -P "$(nproc)" -I{} bash -c 'compile_test {}'

ran=0
cd "$SCRATCH" || exit 1
for test in "$SCRATCH"/tests/*; do
	name=$(basename "$test")
	[[ " $RACES " == *" $name "* ]] && continue
	LIMIT=15 run "$SCRATCH/native" "$test" </dev/null
	native=$status
	if ((native == 137)); then
		not_run "$name" "more than 15 s"
		continue
	fi
	LIMIT=300 run "$SCRATCH/soft" "$SOFTPMU" stat -j -e instructions:u -o "$SCRATCH/json" -- "$test" </dev/null
	same "$name: status" "$native" "$status"
	[[ $(count_of "$SCRATCH/json" 1) =~ ^[1-9][0-9]+$ ]] || fail "$name" "no count"
	ran=$((ran + 1))
done 2>/dev/null # what the shell says about signals
expect "at least $LEAST tests" test "$ran" -ge "$LEAST"
finish
