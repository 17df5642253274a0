#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# same-run.sh: a program cannot detect from its surroundings that it is counted.
#
# Arguments, environment, standard streams, working directory, open files, signals, limits and
# exit status are those of a native run, under `stat` and under `record`.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
compile identity

stat=("$SOFTPMU" stat -e instructions:u -o "$SCRATCH/stat" --)
record=("$SOFTPMU" record -e instructions:upp -c 1009 -o "$SCRATCH/perf.data" --)

# alike NAME SHELL-CODE: the code runs "$@" somewhere. Natively and under both commands it gives
# the same output, error output and status.
alike() {
	local name=$1 code=$2 how
	shift 2
	bash -c "$code" code "$@" >"$SCRATCH/native.out" 2>"$SCRATCH/native.err"
	local native=$?
	for how in stat record; do
		local -n under=$how
		timeout -s KILL "$LIMIT" bash -c "$code" code "${under[@]}" "$@" >"$SCRATCH/soft.out" 2>"$SCRATCH/soft.err"
		status=$?
		# record prints on standard error what it recorded. And like perf, both
		# name a program that a signal ended.
		[[ $how == record ]] && sed -i '/^softpmu: \|^\[ /d' "$SCRATCH/soft.err"
		((native > 128)) && sed -i '\|^[^ ]*: [A-Z][a-z ]*$|d' "$SCRATCH/soft.err"
		same "$name under $how: status" $native $status
		if cmp -s "$SCRATCH/native.out" "$SCRATCH/soft.out"; then
			pass "$name under $how: output"
		else
			fail "$name under $how: output" $'\n'"$(diff "$SCRATCH/native.out" "$SCRATCH/soft.out" | head -n 12)"
		fi
		same_file "$name under $how: standard error" "$SCRATCH/native.err" "$SCRATCH/soft.err"
	done
}

ln -sf "$BUILT/identity" "$SCRATCH/link"
# shellcheck disable=SC2016 # the inner shell expands them
{
	alike "identity" '"$@" </dev/null' "$BUILT/identity" one "two words" "" $'new\nline'
	alike "no environment" 'env -i "$@" </dev/null' "$BUILT/identity"
	alike "large environment" 'export BIG=$(printf %0100000d 1); "$@" </dev/null' "$BUILT/identity"
	alike "many arguments" '"$@" $(seq 5000) </dev/null' "$BUILT/identity"
	alike "piped input" 'printf "a\nb\n" | "$@"' "$BUILT/identity"
	alike "another folder" 'cd /usr/lib && umask 027 && "$@" </dev/null' "$BUILT/identity"
	alike "relative path" 'cd "$BUILT" && "$@" </dev/null' ./identity
	alike "from PATH" 'PATH=$BUILT:$PATH; export PATH; "$@" </dev/null' identity
	alike "symbolic link" '"$@" </dev/null' "$SCRATCH/link"
	alike "inherited files" 'exec 5</dev/null 9>&1; "$@" </dev/null' "$BUILT/identity"
	alike "many inherited files" 'for n in {3..40}; do eval "exec $n</dev/null"; done; "$@" </dev/null' "$BUILT/identity"
	alike "limits" 'ulimit -c 0 -n 200 -s 4096; "$@" </dev/null' "$BUILT/identity"
	alike "ignored signals" 'trap "" HUP USR1 PIPE; "$@" </dev/null' "$BUILT/identity"
	alike "closed input" '"$@" <&-' "$BUILT/identity"
	alike "closed output" '"$@" >&-' /bin/echo hello
	alike "all streams closed" '"$@" <&- >&- 2>&-' "$BUILT/identity"
	alike "full output" '"$@" >/dev/full' /bin/echo hello
	alike "broken pipe" 'set -o pipefail; "$@" | head -n 1' /usr/bin/yes
	alike "address space is not randomized" 'setarch -R "$@" </dev/null' "$BUILT/identity"
}

# A script runs by its interpreter, which is counted.
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$0" "$@"\nread line; echo "$line"\nexit 9\n' >"$SCRATCH/script.sh"
printf '#!%s with\\ argument\n' "$BUILT/identity" >"$SCRATCH/own"
chmod +x "$SCRATCH"/script.sh "$SCRATCH"/own
# shellcheck disable=SC2016
{
	alike "script" 'echo input | "$@"' "$SCRATCH/script.sh" a b
	alike "script with its own interpreter" '"$@" </dev/null' "$SCRATCH/own" x
}

# A library next to the program, which the loader finds by $ORIGIN.
mkdir -p "$SCRATCH/origin"
printf 'int seven(void){return 7;}\n' >"$SCRATCH/origin/seven.c"
printf 'int seven(void);int main(void){return seven();}\n' >"$SCRATCH/origin/main.c"
# shellcheck disable=SC2016 # the loader expands it
if "$CC" -shared -fPIC -o "$SCRATCH/origin/libseven.so" "$SCRATCH/origin/seven.c" &&
	"$CC" -o "$SCRATCH/origin/main" "$SCRATCH/origin/main.c" -L"$SCRATCH/origin" -lseven \
		-Wl,-rpath,'$ORIGIN'; then
	# shellcheck disable=SC2016
	alike "library by \$ORIGIN" '"$@"' "$SCRATCH/origin/main"
else
	fail "library by \$ORIGIN" "does not build"
fi

# Every exit status.
# shellcheck disable=SC2016
printf '.globl _start\n_start: mov (%%rsp), %%edi\n dec %%edi\n mov $231, %%eax\n syscall\n' >"$SCRATCH/exit.S"
"$ASSEMBLER" -nostdlib -static -no-pie -o "$SCRATCH/exit" "$SCRATCH/exit.S" || stop "exit" "does not build"
wrong=
arguments=()
for want in {0..255}; do
	"${stat[@]}" "$SCRATCH/exit" "${arguments[@]}" >"$SCRATCH/out" 2>&1
	got=$?
	((got == want)) || wrong+=" $want:$got"
	arguments+=(x)
done
same "exit statuses 0 to 255" "" "$wrong"
"${record[@]}" "$SCRATCH/exit" a b c >"$SCRATCH/out" 2>&1
same "exit status under record" 3 $?
finish
