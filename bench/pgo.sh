#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pgo.sh FOLDER: optimizes a real program by a profile of last branch records, and shows the
# gain (docs/pgo.md describes the same by hand).
#
# The program is the Lua interpreter of Debian's source package. For BOLT it is built with its
# relocations. It is recorded while it runs one script. perf2bolt converts the recording, and
# llvm-bolt makes a new layout. For AutoFDO clang builds it with line numbers. It is recorded,
# llvm-profgen converts the recording, and clang compiles it again with that sample profile. For
# each program the script prints the exact instructions and taken branches of another run. It also
# prints the minimum CPU time of RUNS runs that take turns. It ends with 1 if a step fails or an
# output differs.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
softpmu=${SOFTPMU:-${B:-$root/build}/softpmu}
folder=$1
runs=${RUNS:-7}
PATH=/usr/lib/llvm-16/bin:$PATH # perf2bolt goes by the name that it is called by
llvm=/usr/lib/llvm-14/bin	 # of Debian's clang
mkdir -p "$folder"

source=$("$root/tools/debian-source.sh" lua5.4)
echo '#define DEB_HOST_MULTIARCH "x86_64-linux-gnu"' >"$folder/lua5.4-deb-multiarch.h"
mapfile -t files < <(find "$source/src" -name '*.c' ! -name luac.c | sort)
build() { # COMPILER... -o OUTPUT
	"$@" -O2 -fno-pie -no-pie -DLUA_USE_LINUX -DLUA_COMPAT_5_3 -I"$folder" "${files[@]}" -lm -ldl \
		-Wl,-E
}
script=$root/bench/scripts/mix.lua

record() { # PROGRAM
	"$softpmu" record -q -b -e BR_INST_RETIRED.NEAR_TAKEN:upp -c 20011 -o "$folder/$1.data" -- \
		"$folder/$1" "$script" 1 >"$folder/expected"
}

build gcc -fno-reorder-blocks-and-partition -Wl,-q -o "$folder/lua"
record lua
perf2bolt -p "$folder/lua.data" -o "$folder/lua.fdata" "$folder/lua" >"$folder/perf2bolt.log" 2>&1
grep 'PERF2BOLT: traces mismatching' "$folder/perf2bolt.log"
llvm-bolt "$folder/lua" -o "$folder/lua.bolt" -data="$folder/lua.fdata" -reorder-blocks=ext-tsp \
	-reorder-functions=hfsort+ -split-functions -split-all-cold >"$folder/bolt.log" 2>&1

clang=("$llvm/clang" -g1 -fdebug-info-for-profiling -funique-internal-linkage-names)
build "${clang[@]}" -o "$folder/lua.clang"
record lua.clang
"$llvm/llvm-profgen" --binary="$folder/lua.clang" --perfdata="$folder/lua.clang.data" \
	--output="$folder/lua.prof" >"$folder/profgen.log" 2>&1
build "${clang[@]}" -fprofile-sample-use="$folder/lua.prof" -o "$folder/lua.afdo"

count() {
	"$softpmu" stat -x, -o "$folder/counts" -e instructions:u,BR_INST_RETIRED.NEAR_TAKEN:u -- \
		"$1" "$script" 1 >"$folder/output"
	cmp "$folder/expected" "$folder/output"
	grep -v '^#' "$folder/counts" | cut -d, -f1 | xargs printf '%s instructions, %s taken branches'
}

programs=(lua lua.bolt lua.clang lua.afdo)
for program in "${programs[@]}"; do
	echo "$program: $(count "$folder/$program")"
done
for ((run = 0; run < runs; run++)); do
	for program in "${programs[@]}"; do
		/usr/bin/time -a -o "$folder/$program.times" -f %U "$folder/$program" "$script" 9 >/dev/null
	done
done
((runs > 0)) || exit 0
for program in "${programs[@]}"; do
	echo "$program: $(sort -n "$folder/$program.times" | head -n 1) s at the least of $runs"
	rm "$folder/$program.times"
done
