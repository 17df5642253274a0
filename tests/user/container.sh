#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# container.sh: the commands of docs/ci.md, exactly as printed, in a container with Docker's default filter of
# system calls (jail.c). And --deterministic without the right to call personality(2).
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile jail
JAIL=$BUILT/jail
PAGE=$ROOT/docs/ci.md
cd "$SCRATCH" || exit 1
mkdir bin
ln -s "$SOFTPMU" bin/softpmu
export PATH=$SCRATCH/bin:$PATH

if ! "$JAIL" true; then
	not_run "a container" "no filter of system calls can be installed here"
	finish
fi
for refused in "setarch -R true" "unshare -U true"; do
	# shellcheck disable=SC2086 # words are meant
	"$JAIL" $refused 2>err
	same "the jail refuses $refused" "1 yes" "$? $(grep -q 'not permitted' err && echo yes)"
done

# A program whose path depends on addresses: it sorts by them.
cat >bench.c <<'C'
#include <stdio.h>
#include <stdlib.h>

static int by_address(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

int main(void)
{
	char *block[300];
	unsigned sum = 0;

	for (int i = 0; i < 300; i++) {
		block[i] = malloc(i % 7 ? 100 : 200000);
		block[i] += (size_t)block[i] >> 12 & 15;
	}
	qsort(block, 300, sizeof(*block), by_address);
	for (int i = 0; i < 300; i++)
		for (size_t n = (size_t)block[i] >> 13 & 31; n; n--)
			sum += n;
	return sum == 1;
}
C
"$CC" -O1 -o bench bench.c || stop "bench" "does not build"

count() {
	softpmu stat -j -o json --deterministic -e instructions:u -- ./bench input || echo "status $?"
	count_of json 1
}
export -f count count_of
same "different counts in the jail and outside" 1 "$(for _ in 1 2 3; do
	"$JAIL" bash -c count
	count
done | sort -u | grep -c '^[0-9]*$')"
same "it says nothing" "" "$("$JAIL" softpmu stat -o json --deterministic -e instructions:u -- true 2>&1)"

# --- the page
mkdir ci
code() { # HEADING: the code of the page's section
	sed -n "/^## $1/,/^## /p" "$PAGE" | sed -n 's/^\(    \|      \)//p'
}
code "By hand" | grep '^softpmu stat' >hand
same "commands by hand" yes "$( (($(grep -c '' hand) >= 5)) && echo yes)"
while read -r line; do
	run said "$JAIL" sh -c "$line"
	same "by hand: $line" "0 " "$status $(grep -i 'softpmu: ' said.err)"
done <hand
change() {
	sed -i 's/return sum == 1/for (volatile int i = 0; i < 5000; i++) ; return sum == 1/' bench.c
	"$CC" -O1 -o bench bench.c
}
change
run said "$JAIL" sh -c "$(sed -n 2p hand)"
same "more than the threshold" 121 "$status"
same "the table" 2 "$(grep -c 'beyond the threshold' said.err)"

awk '/- run: \|/ { on = 1; next } /- if:/ { on = 0 } on' "$PAGE" | sed 's/^ *//' >step
same "the step of the workflow" yes "$(grep -q -- --write-baseline step && echo yes)"
# shellcheck disable=SC2016 # the shell that runs it expands it
code "By hand" | grep -m 1 -- --write-baseline |
	sed 's/branches:u/branches:u,mem_inst_retired.all_loads:u/; s/^/env -i PATH="$PATH" /' >first
expect "its baseline" "$JAIL" sh first
run said "$JAIL" sh step
same "the workflow" "0 yes" "$status $([[ -s counts.json && -s changes.json ]] && echo yes)"
same "its new baseline has three events" 3 "$(grep -c '"counter-value"' counts.json)"
rm -f ci/counts.json

code "Any other runner" >gate.sh
run said "$JAIL" sh gate.sh ./bench input
same "gate.sh, first" "0 yes" "$status $([[ -s ci/counts.json ]] && echo yes)"
run said "$JAIL" sh gate.sh ./bench input
same "gate.sh, nothing has moved" 0 "$status"
change
run said "$JAIL" sh gate.sh ./bench input
same "gate.sh, the program has changed" "121 1" "$status $(grep -c 'the counts have changed' said.err)"

# What the workflow installs, and where from.
install=$(sed -n 's/^ *- run: make -C softpmu //p' "$PAGE")
# shellcheck disable=SC2086 # words are meant
expect "targets: $install" make -n -C "$ROOT" B="$B" $install
while read -r ref; do
	[[ $ref == COMMIT ]] || expect "there is a $ref" git -C "$ROOT" rev-parse --verify "$ref^{commit}"
done < <(sed -n 's/^ *ref: \([^ ]*\).*/\1/p' "$PAGE")
finish
