#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench.sh: `softpmu bench`: harnesses that measure time print instructions for each iteration, the same in each run, and a
# regression of 10 % shows as that.  Google Benchmark, Catch2, Go's testing and pytest-benchmark run unchanged.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# fixed(n) has 2 * n + 2 instructions.
cat >fixed.s <<'END'
	.globl fixed
	.type fixed, @function
fixed:	mov %edi, %eax
1:	dec %eax
	jnz 1b
	ret
	.size fixed, . - fixed
	.section .note.GNU-stack, "", @progbits
END
cat >google.cc <<'END'
#include <benchmark/benchmark.h>
extern "C" void fixed(unsigned n);
static void BM_Fixed(benchmark::State &state)
{
	for (auto _ : state)
		fixed(COUNT);
}
BENCHMARK(BM_Fixed);
BENCHMARK_MAIN();
END
cat >catch.cc <<'END'
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
extern "C" void fixed(unsigned n);
TEST_CASE("fixed")
{
	BENCHMARK("fixed")
	{
		fixed(COUNT);
		return 0;
	};
}
END
cat >fixed_test.go <<'END'
package fixed

import "os"
import "strconv"
import "testing"

var sink int

func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s ^= s<<1 + i
	}
	return s
}

func BenchmarkWork(b *testing.B) {
	n, _ := strconv.Atoi(os.Getenv("COUNT"))
	for i := 0; i < b.N; i++ {
		sink += work(n)
	}
}
END
cat >test_fixed.py <<'END'
import os

COUNT = int(os.environ["COUNT"])


def work():
    total = 0
    for i in range(COUNT):
        total += i
    return total


def test_work(benchmark):
    benchmark(work)
END

# measured NAME COMMAND...: prints the measured time in ns, from what the harness NAME says.
measured() {
	local name=$1
	shift
	run "$name" "$SOFTPMU" bench -q -- "$@"
	[[ $status == 0 ]] || {
		fail "$name" "status $status: $(tail -n 1 "$name.err" "$name.out")"
		return
	}
	case $name in
	google) awk '/^BM_Fixed/ { print $2 }' google.out ;;
	catch) awk '/low mean/ { at = 1 } at && $2 == "us" { print $1 * 1000; exit }' catch.out ;;
	go) awk '/^BenchmarkWork/ { print $3 }' go.out ;;
	pytest) awk '/"min":/ { printf "%.0f\n", $2 * 1e9; exit }' result.json ;;
	esac
}

# is_near NAME NUMBER EXPECTED PER-MILLE
is_near() {
	expect "$1: $2, expected $3" awk -v a="$2" -v b="$3" -v most="$4" \
		'BEGIN { d = (a - b) * 1000 / b; exit !(a > 0 && d <= most && d >= -most) }'
}

# is_measured NAME PER-MILLE BEFORE AGAIN AFTER GROWTH: the runs agree, and the regression has so many instructions.
is_measured() {
	is_near "$1: again" "$4" "$3" "$2"
	is_near "$1: the regression" "$5" "$(($(printf %.0f "$3") + $6))" "$2"
}

if [[ -f /usr/include/benchmark/benchmark.h ]]; then
	for count in 500 550; do
		mkdir $count
		expect "Google Benchmark, $count" g++ -O2 -DCOUNT=$count google.cc fixed.s -o $count/google -lbenchmark -lpthread
	done
	before=$(measured google 500/google)
	is_measured "Google Benchmark" 1 "$before" "$(measured google 500/google)" "$(measured google 550/google)" 100
	is_near "Google Benchmark: the instructions of fixed() and of the loop" "$before" 1006 3
	run branches "$SOFTPMU" bench -q -e branches:u -- 500/google
	is_near "Google Benchmark: branches" "$(awk '/^BM_Fixed/ { print $2 }' branches.out)" 503 3
	# Skylake takes a clock for each turn of fixed(), and a few for the call.
	for count in 500 550; do
		run clocks "$SOFTPMU" bench -q --static-clocks -- $count/google
		is_near "Google Benchmark: static clocks" "$(awk '/^BM_Fixed/ { print $2 }' clocks.out)" $((count + 4)) 8
	done
	run clocks "$SOFTPMU" bench --static-clocks --machine=zen4 -- 500/google
	expect "what a nanosecond is" grep -q 'a nanosecond is one of cycles:u' clocks.err
	for count in 500 550; do
		run profile "$SOFTPMU" profile -q -e instructions:u --deterministic=time -o $count.data -- $count/google \
			--benchmark_min_time=0.0001
	done
	run diff "$SOFTPMU" diff 500.data 550.data
	same "softpmu diff names the function first" fixed "$(awk '!/^#/ && NF { print $NF; exit }' diff.out)"
else
	not_run "Google Benchmark" "libbenchmark-dev is not installed"
fi

if [[ -f /usr/include/catch2/catch.hpp ]]; then
	for count in 500 550; do
		expect "Catch2, $count" g++ -O1 -DCOUNT=$count catch.cc fixed.s -o catch$count
	done
	is_measured "Catch2" 2 "$(measured catch ./catch500 --benchmark-samples 20)" \
		"$(measured catch ./catch500 --benchmark-samples 20)" "$(measured catch ./catch550 --benchmark-samples 20)" 100
else
	not_run "Catch2" "catch2 is not installed"
fi

if have go; then
	export GOCACHE=$SCRATCH/cache GO111MODULE=off
	expect "Go's testing" go test -c -o go.test fixed_test.go
	before=$(COUNT=500 measured go ./go.test -test.bench=Work)
	# Go's run time moves the benchmark between threads, and a clock shows what its reader has executed.
	is_measured "Go's testing" 60 "$before" "$(COUNT=500 measured go ./go.test -test.bench=Work)" \
		"$(COUNT=550 measured go ./go.test -test.bench=Work)" "$((before / 10))"
else
	not_run "Go's testing" "golang-go is not installed"
fi

python=/usr/bin/python3
if $python -c 'import pytest_benchmark' 2>/dev/null; then
	pytest=("$python" -m pytest -p no:cacheprovider --benchmark-json=result.json test_fixed.py)
	before=$(COUNT=500 measured pytest "${pytest[@]}")
	is_measured "pytest-benchmark" 5 "$before" "$(COUNT=500 measured pytest "${pytest[@]}")" \
		"$(COUNT=550 measured pytest "${pytest[@]}")" 19000
else
	not_run "pytest-benchmark" "python3-pytest-benchmark is not installed"
fi

run two "$SOFTPMU" bench -e instructions:u,branches:u -- true
same "two events" "129 1" "$status $(grep -c 'a clock counts one event, not 2' two.err)"
run modelled "$SOFTPMU" bench -e cache-misses:u -- true
same "an event that is not exact" 1 "$(grep -c 'so clocks cannot count it' modelled.err)"
run machine "$SOFTPMU" bench --machine=skylake -- true
same "a machine without static clocks" "129 1" "$status $(grep -c 'machine needs --static-clocks' machine.err)"
run modelled "$SOFTPMU" bench --static-clocks -e cache-misses:u -- true
same "static clocks, and a miss" 1 "$(grep -c 'so clocks cannot count it' modelled.err)"
run status "$SOFTPMU" bench -- sh -c 'exit 3'
same "the harness's status, and what a nanosecond is" "3 1" "$status $(grep -c 'a nanosecond is one of instructions:u' status.err)"
finish
