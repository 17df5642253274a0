#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exchange.sh: a file is replaced by another at the same addresses (exchange.c). This happens
# between two runs and within one run. The persistent code cache has blocks that span two modules.
# The new file's code runs, and counts as without the cache.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
export XDG_CACHE_HOME=$SCRATCH/cache

# built NAME ADD FLAGS...
built() {
	"$CC" -O1 -DADD="$2" -o "$1" "$ROOT/tests/user/exchange.c" "${@:3}" || stop "exchange" "does not build"
}
for add in 3 50; do
	built program.$add $add -ldl
	built library.$add $add -DLIBRARY -shared -fPIC
done
cat library.3 >rewritten
same "the libraries are alike but for what they add" "$(stat -c %s library.3)" "$(stat -c %s library.50)"

# counted OPTIONS...: runs stat of ./program with the libraries in $libraries, and prints the count.
counted() {
	run run "$SOFTPMU" stat -v --deterministic -j -o stat -e instructions:u "$@" -- ./program "${libraries[@]}"
	count_of stat 1
}

# as_it_is NAME LIBRARY...: three runs behave as a native one, with the counts of a run without the
# cache. The last run finds its blocks in the cache.
as_it_is() {
	local name=$1 libraries=("${@:2}") expected turn
	./program "${libraries[@]}" >native || stop "$name" "the program failed"
	expected=$(counted --no-cache)
	same_file "$name: without the cache" native run.out
	for turn in first second third; do
		same "$name: count of the $turn run" "$expected" "$(counted)"
		same_file "$name: output of the $turn run" native run.out
	done
	expect "$name: kept" test "$(sed -n 's/.*saved blocks: \([0-9]*\).*/\1/p' stat)" -gt 500
}

ln program.3 program
ln -s library.3 library
sleep 4 # what has just been written is not kept
as_it_is "the first library" ./library
ln -sf library.50 library
as_it_is "another library" ./library
as_it_is "one after the other" ./library.3 ./library.50 ./library.3
as_it_is "in another order" ./library.50 ./library.3 ./library.50
as_it_is "one of them alone" ./library.3
as_it_is "a library before it is written in its place" ./rewritten
cat library.50 >rewritten
ln -f program.50 program
sleep 4
as_it_is "another program" ./library.3
as_it_is "a library written in its place" ./rewritten
finish
