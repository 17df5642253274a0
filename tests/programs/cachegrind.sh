#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cachegrind.sh: the model of machines (uarch.h), with cachegrind's shape and the same addresses, counts exactly
# what cachegrind counts: references, first-level misses and last-level misses of fetches, reads and writes.
#
# The addresses come from valgrind's lackey, which runs the same program in the same way.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
need valgrind || finish
machine=("--I1=32768,8,64" "--D1=32768,8,64" "--LL=8388608,16,64")
expect "the program that uses the model" "$CC" -O2 -I"$ROOT/include" "$ROOT/tests/programs/cachegrind.c" \
	"$B/libsoftpmu.a" -o "$SCRATCH/model"
seq 2000 | awk '{ print $1 * 7919 % 2003, "line", $1 }' >"$SCRATCH/text"

# alone COMMAND...: runs it so that each run executes the same instructions.
alone() { setarch -R env -i PATH="$PATH" LC_ALL=C PERL_HASH_SEED=0 "$@" </dev/null; }

# counts_as_cachegrind COMMAND...
counts_as_cachegrind() {
	need "$1" || return
	alone valgrind -q --tool=cachegrind --cache-sim=yes "${machine[@]}" --cachegrind-out-file="$SCRATCH/counts" "$@" \
		>"$SCRATCH/output" 2>/dev/null
	# The trace goes through a pipe, because it can be long.
	alone valgrind --tool=lackey --trace-mem=yes --log-fd=9 "$@" 9>&1 >"$SCRATCH/output" 2>/dev/null |
		"$SCRATCH/model" >"$SCRATCH/model.out"
	same "$1: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw" "$(sed -n 's/^summary: *//p' "$SCRATCH/counts")" "$(<"$SCRATCH/model.out")"
}

counts_as_cachegrind true
counts_as_cachegrind seq 300
counts_as_cachegrind sort "$SCRATCH/text"
counts_as_cachegrind gzip -c "$SCRATCH/text"
counts_as_cachegrind xz -T1 -0 -c "$SCRATCH/text"
counts_as_cachegrind bzip2 -1 -c "$SCRATCH/text"
counts_as_cachegrind awk '{ s += $1 } END { print s }' "$SCRATCH/text"
counts_as_cachegrind sed 's/line/row/' "$SCRATCH/text"
counts_as_cachegrind sha256sum "$SCRATCH/text"
counts_as_cachegrind cut -d' ' -f3,1 "$SCRATCH/text"
finish
