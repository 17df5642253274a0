#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compress.sh: xz, bzip2, gzip, zstd and pigz, both directions, with one thread and with several (zstd always has one
# more for its input and output).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# Text, machine code and noise.
{
	seq 1 150000
	head -c 1500000 "$(readlink -f "$(command -v bash)")"
	awk 'BEGIN { srand(1); for (i = 0; i < 60000; i++) printf "%c%d", 33 + int(rand() * 90), rand() * 1e6 }'
} >"$SCRATCH/input"

# both NAME EXTENSION COMPRESS... -- DECOMPRESS...
both() {
	local name=$1 extension=$2 compress=()
	shift 2
	need "${1}" || return
	while [[ $1 != -- ]]; do
		compress+=("$1")
		shift
	done
	shift
	FILES=("$SCRATCH/input")
	identical "$name" "${compress[@]}" input
	cp "$SCRATCH/native.files/input.$extension" "$SCRATCH/" || return
	FILES=("$SCRATCH/input.$extension")
	identical "$name, decompress" "$@" "input.$extension"
	same_file "$name: what comes back" "$SCRATCH/input" "$SCRATCH/record.files/input"
}

both "xz" xz xz -T1 -3 -- xz -d
both "bzip2" bz2 bzip2 -5 -- bzip2 -d
both "gzip" gz gzip -n -6 -- gzip -d
both "zstd" zst zstd -q --single-thread -7 -- zstd -q -d
both "xz, threads" xz xz -T2 -1 --block-size=256KiB -- xz -d -T2
both "zstd, threads" zst zstd -q -T2 -5 -- zstd -q -d
both "pigz" gz pigz -n -p 2 -- pigz -d
FILES=()
INPUT=$SCRATCH/input
identical "gzip as a filter" gzip -nc1
INPUT=$SCRATCH/nothing
: >"$INPUT"
need xz && identical "xz of nothing" xz -T1 -c
finish
