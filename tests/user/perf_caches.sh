#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf_caches.sh: perf's events of caches on a machine.  The tool and a program that opens them count the same on each
# family, and what one of them cannot count the other cannot, either (docs/machine.md).
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
head -c 20000 "$(command -v bash)" >text
names="L1-dcache-loads L1-dcache-load-misses L1-dcache-stores L1-icache-load-misses LLC-loads LLC-load-misses LLC-stores"
names+=" LLC-store-misses dTLB-loads dTLB-load-misses dTLB-stores dTLB-store-misses iTLB-loads iTLB-load-misses branch-loads"
names+=" branch-load-misses"

# counts COMMAND...: the counts of all events, one after the other; x for one that is not supported
counts() {
	local name known=
	for name in $names; do
		known+=,$name:u
	done
	run counted "$@" -x, -o counts -e "${known#,}" -- gzip -c text
	sed '/^#/d; /^$/d; s/,.*//; s/<.*/x/' counts | tr '\n' ' '
}

# known MODEL: the names that the tool knows for a model
known() {
	local name
	for name in $names; do
		"$SOFTPMU" stat -M "$1" --machine -e "$name" -- true >/dev/null 2>&1 && echo "$name"
	done
}

all=$names
for model in core2 nehalem sandybridge ivybridge haswell skylake icelake alderlake sapphirerapids goldmont; do
	names=$all
	perf=$(counts "$SOFTPMU" run -M "$model" --machine -- perf stat)
	names=$(known "$model" | xargs)
	tool=$(counts "$SOFTPMU" stat -M "$model" --machine)
	read -ra perf <<<"$perf"
	read -ra tool <<<"$tool"
	n=0 i=0
	for name in $all; do
		count=x
		[[ " $names " == *" $name "* ]] && count=${tool[i]} && i=$((i + 1))
		if [[ $count == x || ${perf[n]} == x ]]; then
			same "$model: $name" "$count" "${perf[n]}"
		else
			expect "$model: $name: ${perf[n]}, not $count" \
				test $((perf[n] - count)) -le $((10 + count / 20)) -a $((count - perf[n])) -le $((10 + count / 20))
		fi
		n=$((n + 1))
	done
	case $model in
	core2 | nehalem | goldmont) ;;
	*) same "$model: all are counted" "$all" "$names" ;;
	esac
done

# The events are those of Linux's tables: in one run they count the same as its codes.
while read -r model pairs; do
	known=""
	codes=""
	for pair in $pairs; do
		known+=${pair%=*}:u,
		codes+=,${pair#*=}:u
	done
	run counted "$SOFTPMU" stat -M "$model" --machine -x, -o counts -e "${known%,}$codes" -- gzip -c text
	mapfile -t all < <(sed '/^#/d; /^$/d; s/,.*//' counts)
	n=$((${#all[@]} / 2)) i=0
	expect "$model: codes" test "$n" -eq "$(wc -w <<<"$pairs")"
	for pair in $pairs; do
		same "$model: $pair" "${all[n + i]}" "${all[i]}"
		i=$((i + 1))
	done
done <<'END'
skylake L1-dcache-loads=r81d0 L1-dcache-load-misses=r0151 L1-dcache-stores=r82d0 L1-icache-load-misses=r0283 dTLB-loads=r81d0 dTLB-load-misses=r0e08 dTLB-stores=r82d0 dTLB-store-misses=r0e49 iTLB-loads=r2085 iTLB-load-misses=r0e85 branch-loads=r00c4 branch-load-misses=r00c5
haswell L1-dcache-loads=r81d0 L1-dcache-load-misses=r0151 L1-icache-load-misses=r0280 dTLB-load-misses=r0108 dTLB-store-misses=r0149 iTLB-loads=r6085 iTLB-load-misses=r0185
alderlake L1-dcache-loads=r81d0 L1-icache-load-misses=re424 dTLB-load-misses=r0e12 dTLB-store-misses=r0e13 iTLB-load-misses=r0e11
nehalem L1-dcache-loads=r010b L1-dcache-load-misses=r0151 L1-dcache-stores=r020b L1-icache-load-misses=r0280
core2 L1-icache-load-misses=r0081 dTLB-load-misses=r0208 dTLB-store-misses=r0808 branch-loads=r00c4 branch-load-misses=r00c5
END
finish
