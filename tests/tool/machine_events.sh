#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine_events.sh: how many events of each family a model of the machine counts: docs/machine.md says the same as
# `softpmu list --machine`.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

# The rows of the table: a family, and four numbers.
rows=$(sed -n 's/^| `\([a-z0-9-]*\)` | \([0-9]*\) | \([0-9]*\) | \([0-9]*\) | \([0-9]*\) |$/\1 \2 \3 \4 \5/p' "$ROOT/docs/machine.md")
expect "the table has families" test "$(grep -c . <<<"$rows")" -ge 10
while read -r family codes exact modelled absent; do
	run list --machine -M "$family"
	has_line "$family" "$out" "$codes codes: $exact exact, $modelled modelled, $absent absent"
	same "$family: the sum" "$codes" $((exact + modelled + absent))
done <<<"$rows"

# An absent event has a reason, and no other one has.
run list --machine -j -M skylake
same "each absent event has a reason" "$(grep -c '"fidelity": "absent"' <<<"$out")" "$(grep -c '"absent-because"' <<<"$out")"
same "each other one says how it is computed, except libpfm4's names of thresholds" 0 \
	"$(grep -v '"fidelity": "absent"' <<<"$out" | grep '"group": "model"' | grep -vc '"computed"')"
finish
