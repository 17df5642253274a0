#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf_fuzz.sh: `softpmu run`: a program that opens events with random attributes and does random things with them:
# perf_fuzz.c.  It must not end, hang or disturb the count of another event.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile perf_fuzz
cd "$SCRATCH" || exit 1

for seed in ${PERF_SEEDS:-1 2 3}; do
	PERF_SEED=$seed run said "$SOFTPMU" run -- "$BUILT/perf_fuzz" 2000
	same "seed $seed: status" 0 "$status"
	same "seed $seed" "wrong counts: 0 many things worked: 1" "$(xargs <said.out)"
done
finish
