#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# jit.sh: in a program with a just-in-time compiler, report shows the name of the hot function, from the perf
# map that the program writes.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
LIMIT=300
cd "$SCRATCH" || exit 1

# named NAME FUNCTION COMMAND...: at least a fifth of the samples are the function's.
named() {
	local share
	run "$SCRATCH/run" "$SOFTPMU" record -q -e instructions:upp -c 100003 -o data -- "${@:3}"
	same "$1: status" 0 "$status"
	share=$("$SOFTPMU" report -i data 2>/dev/null | awk -v wanted="$2" '$0 ~ wanted && /\[JIT\] tid/ { n += $1 } END { print int(n) }')
	if ((share >= 20)); then
		pass "$1: $share % in $2"
	else
		fail "$1" "$share % in $2: $("$SOFTPMU" report -i data 2>&1 | grep -v '^#' | head -n 4)"
	fi
	rm -f /tmp/perf-"$("$SOFTPMU" report -i data 2>/dev/null | sed -n 's/.*\[JIT\] tid \([0-9]*\).*/\1/p;T;q')".map
}

if need node; then
	cat >hot.js <<'J'
function hotspot(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
let t = 0;
for (let i = 0; i < 600; i++) t += hotspot(20000);
console.log(t);
J
	named node "JS:.hotspot" node --perf-basic-prof hot.js
fi
finish
