#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pgo.sh FOLDER: optimise a real program by a profile of last branch records, and show what that
# is worth (docs/pgo.md is the same by hand).
#
# The Lua interpreter, from Debian's source package, is built with its relocations kept, recorded
# while it runs one script, converted by perf2bolt and laid out anew by llvm-bolt.  Prints, for
# both programs, the instructions and taken branches of another run, exactly, and the least CPU
# time of RUNS runs that take turns.  Ends with 1 when a step fails or an output differs.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
softpmu=${SOFTPMU:-${B:-$root/build}/softpmu}
folder=$1
runs=${RUNS:-7}
PATH=/usr/lib/llvm-16/bin:$PATH # perf2bolt goes by the name that it is called by
mkdir -p "$folder"

source=$("$root/tools/debian-source.sh" lua5.4)
echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >"$folder/lua5.4-deb-multiarch.h"
mapfile -t files < <(find "$source/src" -name '*.c' ! -name luac.c | sort)
gcc -O2 -fno-pie -no-pie -fno-reorder-blocks-and-partition -Wl,-q -DLUA_USE_LINUX \
	-DLUA_COMPAT_5_3 -I"$folder" -o "$folder/lua" "${files[@]}" -lm -ldl -Wl,-E
script=$root/bench/scripts/mix.lua

"$softpmu" record -q -b -e BR_INST_RETIRED.NEAR_TAKEN:upp -c 20011 -o "$folder/perf.data" -- \
	"$folder/lua" "$script" 1 >"$folder/expected"
perf2bolt -p "$folder/perf.data" -o "$folder/lua.fdata" "$folder/lua" >"$folder/perf2bolt.log" 2>&1
grep 'PERF2BOLT: traces mismatching' "$folder/perf2bolt.log"
llvm-bolt "$folder/lua" -o "$folder/lua.bolt" -data="$folder/lua.fdata" -reorder-blocks=ext-tsp \
	-reorder-functions=hfsort+ -split-functions -split-all-cold >"$folder/bolt.log" 2>&1

count() {
	"$softpmu" stat -x, -o "$folder/counts" -e instructions:u,BR_INST_RETIRED.NEAR_TAKEN:u -- \
		"$1" "$script" 1 >"$folder/output"
	cmp "$folder/expected" "$folder/output"
	grep -v '^#' "$folder/counts" | cut -d, -f1 | xargs printf '%s instructions, %s taken branches'
}

echo "lua: $(count "$folder/lua")"
echo "lua.bolt: $(count "$folder/lua.bolt")"
for ((run = 0; run < runs; run++)); do
	for program in lua lua.bolt; do
		/usr/bin/time -a -o "$folder/$program.times" -f %U "$folder/$program" "$script" 9 >/dev/null
	done
done
((runs > 0)) || exit 0
for program in lua lua.bolt; do
	echo "$program: $(sort -n "$folder/$program.times" | head -n 1) s at the least of $runs"
	rm "$folder/$program.times"
done
