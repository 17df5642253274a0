#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# regions.sh: regions of programs in other languages, which make the requests of softpmu/client.h by themselves: the
# examples in Python and Rust.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# told FILE: prints the output that the comment of an example promises.
told() {
	grep -A1 'Prints:$' "$1" | tail -n 1 | sed 's,^[/ ]*,,'
}

# check NAME FILE COMMAND...
check() {
	local name=$1 file=$2
	shift 2
	same "$name: output" "$(told "$file")" "$("$@" 2>&1)"
	run counted "$SOFTPMU" stat -x'|' -o fields -e instructions:u -- "$@"
	same "$name: output with softpmu" "$(told "$file" | sed 's/alone/with softpmu/')" "$(<counted.out)"
	# The loop of a million turns has at least one instruction in each, and the program has more.
	same "$name: the region" "sum 1 1000000 yes" "$(awk -F'|' 'NR == 1 { all = $1 }
		$1 == "region" && $2 == "sum" { print $2, $3, $4, ($5 > 1000000 && $5 < all ? "yes" : $5) }' fields)"
}

cd "$SCRATCH" || exit 1
need python3 && check "Python" "$ROOT/examples/client.py" python3 "$ROOT/examples/client.py"
if need rustc; then
	expect "Rust: the example is built" rustc -O -D warnings -o client-rust "$ROOT/examples/client.rs"
	check "Rust" "$ROOT/examples/client.rs" ./client-rust
fi
finish
