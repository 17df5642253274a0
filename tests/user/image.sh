#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# image.sh: the engine's image as a file.  The tool executes the file beside it, or the installed one.
# It writes the image to a memory file if there is none, or one that is not its own: of another build,
# of another owner, or that others can write to.  The program sees neither, and rules of Landlock that
# forbid to execute files do not concern it.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

mkdir -p bin libexec
cp "$SOFTPMU" bin/softpmu

# uses WHAT EXPECTED: runs a program, which waits.  Its maps as the kernel has them name the image.
uses() {
	local pid map
	rm -f go seen
	mkfifo go
	bin/softpmu stat -x, -e instructions:u -o count -- sh -c 'cat /proc/self/maps >seen; read -r line <go' &
	pid=$!
	for ((i = 0; i < 500; i++)); do [[ -s seen ]] && break || sleep 0.02; done
	map=$(cat "/proc/$(pgrep -P $pid)/maps" 2>/dev/null)
	echo >go
	wait $pid
	same "$1: status" 0 $?
	same "$1: image" "$2" "$(grep -o 'memfd:softpmu \|softpmu\.engine' <<<"$map" | sort -u | xargs)"
	same "$1: the program does not see it" 0 "$(grep -c 'softpmu' seen)"
	same "$1: counted" 1 "$(grep -c '^[0-9][0-9]*,.*instructions:u' count)"
}

uses "no file" memfd:softpmu
cp "$SOFTPMU.engine" libexec/softpmu.engine
uses "installed" softpmu.engine
cp "$SOFTPMU.engine" bin/softpmu.engine
printf x >libexec/softpmu.engine
uses "beside the tool" softpmu.engine
chmod g+w bin/softpmu.engine
uses "others can write to it" memfd:softpmu
chmod 600 bin/softpmu.engine
uses "it cannot be executed" memfd:softpmu
chmod 755 bin/softpmu.engine
# The build-id is in the first page.
printf '\377' | dd of=bin/softpmu.engine bs=1 seek=$((0x200)) conv=notrunc 2>/dev/null
cmp -s "$SOFTPMU.engine" bin/softpmu.engine && fail "another build" "the byte was the same"
uses "another build" memfd:softpmu
cp "$SOFTPMU.engine" bin/softpmu.engine
truncate -s -1 bin/softpmu.engine
uses "cut off" memfd:softpmu
if ((EUID == 0)); then
	cp "$SOFTPMU.engine" bin/softpmu.engine
	chown nobody bin/softpmu.engine
	uses "another owner" memfd:softpmu
fi

# confined WHAT: /usr/bin/true is executed under rules that allow /usr alone, and is counted.
"$CC" -o confined "$ROOT/tests/user/confined.c" || stop "building" confined.c
confined() {
	bin/softpmu stat -x, -e instructions:u -o count -- ./confined /usr /usr/bin/true 2>err
	same "Landlock, $1: status" 0 $?
	same "Landlock, $1: no program ran natively" "" "$(cat err)"
	same "Landlock, $1: /usr/bin/true is counted, too" 1 \
		$(($(sed -n '/^[0-9]/s/,.*//p' count) > alone + 10000))
}
./confined /usr /usr/bin/true
if (($? == 77)); then
	not_run "Landlock" "the kernel does not have it"
else
	same "Landlock forbids what is not in the folder" 3 "$(./confined /usr "$PWD/confined" 2>/dev/null; echo $?)"
	rm -f bin/softpmu.engine
	bin/softpmu stat -x, -e instructions:u -o count -- ./confined /usr /nowhere 2>/dev/null
	alone=$(sed -n '/^[0-9]/s/,.*//p' count)
	confined "no file"
	cp "$SOFTPMU.engine" bin/softpmu.engine
	confined "a file"
fi
finish
