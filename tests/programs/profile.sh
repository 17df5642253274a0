#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# profile.sh: `perf report` and `perf annotate`, and softpmu's own report and annotate, show
# what is known by construction.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
kernels=$ROOT/tests/programs/kernels
data=$SCRATCH/perf.data
"$ASSEMBLER" -g -nostdlib -static -no-pie -o "$BUILT/hotspots" "$kernels/hotspots.S" || stop "hotspots" "does not build"
"$CC" -O2 -g -shared -fPIC -DLIBRARY -o "$BUILT/libspin.so" "$kernels/spin.c" || stop "libspin" "does not build"
"$CC" -O2 -g -o "$BUILT/spin" "$kernels/spin.c" -L"$BUILT" -lspin -Wl,-rpath,"$BUILT" || stop "spin" "does not build"

# record PERIOD PROGRAM [OPTIONS]
record() {
	run "$SCRATCH/record" "$SOFTPMU" record -e "${EVENT:-instructions:upp}" -c "$1" "${@:3}" -o "$data" -- "$2"
	((status == 0)) || stop "record of $2" "status $status: $(tail -n 1 "$SCRATCH/record.err")"
}

# The share of symbol $2 in a report's lines on standard input is $3 within 1 percent point.
share_is() {
	local share
	share=$(awk -v symbol="$2" '$NF == symbol { sub("%", "", $1); print $1; exit }')
	if awk -v is="${share:-200}" -v want="$3" 'BEGIN { exit !(is > want - 1 && is < want + 1) }'; then
		pass "$1: $2 has $share %"
	else
		fail "$1: $2" "has '$share' %, should have $3 %"
	fi
}

# quiet NAME COMMAND...: the command works and prints no warning.
quiet() {
	local name=$1
	shift
	run "$SCRATCH/quiet" "$@"
	if ((status == 0)) && [[ -s $SCRATCH/quiet.out && ! -s $SCRATCH/quiet.err ]]; then
		pass "$name"
	else
		fail "$name" "status $status: $(head -n 2 "$SCRATCH/quiet.err")"
	fi
}

for event in instructions:upp instructions:u MEM_INST_RETIRED.ALL_LOADS:upp branches:upp; do
	period=1009
	[[ $event == MEM* ]] && period=101
	EVENT=$event record $period "$BUILT/hotspots"
	for reader in "perf report --stdio -F overhead,sym" "softpmu report"; do
		read -ra command <<<"$reader"
		[[ ${command[0]} == softpmu ]] && command[0]=$SOFTPMU
		run "$SCRATCH/report" "${command[@]}" -i "$data"
		for want in "seventy 70" "twenty 20" "ten 10"; do
			read -r symbol percent <<<"$want"
			share_is "$event, $reader" "$symbol" "$percent" <"$SCRATCH/report.out"
		done
	done
done
share_is_refused=$(failed=0; share_is x seventy 75 <"$SCRATCH/report.out" | grep -c FAILED)
same "a wrong share is noticed" 1 "$share_is_refused"

# Every tool of perf reads the file without a warning.
record 1009 "$BUILT/hotspots" --intr-regs
for command in report annotate; do
	quiet "perf $command" perf $command -i "$data" --stdio
	quiet "softpmu $command" "$SOFTPMU" $command -i "$data"
done
quiet "perf script" perf script -i "$data"
quiet "perf evlist" perf evlist -v -i "$data"
quiet "perf buildid-list" perf buildid-list -i "$data"
quiet "perf report --header" perf report -i "$data" --header --stdio
quiet "perf report, sorted" perf report -i "$data" --stdio --sort comm,pid,cpu,dso,sym,srcline

# A library and the program, by file and by symbol, at randomized addresses.
record 1009 "$BUILT/spin"
run "$SCRATCH/report" perf report -i "$data" --stdio -F overhead,dso,sym
share_is "shared library" spin_library 59 <"$SCRATCH/report.out"
share_is "shared library" spin_program 39.5 <"$SCRATCH/report.out"
if grep 'spin_library' "$SCRATCH/report.out" | grep -q libspin.so; then
	pass "the library's function is in the library"
else
	fail "the library's function is in the library" "$(grep spin_library "$SCRATCH/report.out")"
fi

# Where in the loop: `seventy` is a MOV, a loop of 10 and a RET. The number of records on each of
# the 12 follows from the program's sequence, computed here, and from the arming rule. With a distance of
# 10011 between records all are on one instruction, with 10021 on ten, with 1004 on all.
expected() {
	awk -v distance=$(($1 + 1)) 'BEGIN {
		# Offsets of a round: three calls with their loops, then dec and jnz.
		n = split("seventy 700 twenty 200 ten 100", part, " ")
		total = 0
		for (f = 1; f < n; f += 2) {
			at[total++] = "_start"	# call
			at[total++] = part[f] " 0"	# mov
			for (i = 0; i < part[f + 1]; i++)
				for (k = 1; k <= 10; k++)
					at[total++] = part[f] " " k
			at[total++] = part[f] " 11"	# ret
		}
		at[total++] = "_start"	# dec
		at[total++] = "_start"	# jnz
		before = 2			# mov mov
		last = before + 1000 * total
		for (i = distance; i <= last; i += distance)
			if (i > before)
				seen[at[(i - before - 1) % total]]++
		for (k = 0; k <= 11; k++)
			print k, seen["seventy " k] + 0
	}'
}

# Samples on each instruction of `seventy`, first to last.
measured() {
	local start
	start=$((16#$(nm "$BUILT/hotspots" | sed -n 's/ . seventy$//p')))
	objdump -d --disassemble=seventy --no-show-raw-insn "$BUILT/hotspots" |
		sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >"$SCRATCH/addresses"
	((start > 0)) && perf script -i "$data" -F ip 2>/dev/null | awk '
		FNR == NR { index_of[$1] = n++; next }
		$1 in index_of { seen[index_of[$1]]++ }
		END { for (k = 0; k < n; k++) print k, seen[k] + 0 }' "$SCRATCH/addresses" -
}
for period in 9 99 1009 1003 10010 10020; do
	record $period "$BUILT/hotspots"
	expected $period >"$SCRATCH/expected"
	measured >"$SCRATCH/measured"
	if cmp -s "$SCRATCH/expected" "$SCRATCH/measured"; then
		pass "period $period: $(awk '{ s += $2 } END { print s }' "$SCRATCH/measured") samples of seventy are where the rule puts them"
	else
		fail "period $period" $'\n'"$(diff "$SCRATCH/expected" "$SCRATCH/measured" | head -n 20)"
	fi
done

# annotate shows the same: ten instructions with a tenth each, none after the loop.
record 1009 "$BUILT/hotspots"
for reader in "perf annotate --stdio -s seventy" "softpmu annotate seventy"; do
	read -ra command <<<"$reader"
	[[ ${command[0]} == softpmu ]] && command[0]=$SOFTPMU
	run "$SCRATCH/annotate" "${command[@]}" -i "$data"
	shares=$(sed -n 's/^ *\([0-9.]*\) : *[0-9a-f]\{6\}: .*/\1/p' "$SCRATCH/annotate.out" | tr '\n' ' ')
	if awk -v shares="$shares" 'BEGIN {
		n = split(shares, s, " ")
		for (i = 2; i <= 11; i++) if (s[i] < 9.9 || s[i] > 10.1) exit 1
		exit !(n == 12 && s[1] < 0.1 && s[12] < 0.1)
	}'; then
		pass "$reader: $shares"
	else
		fail "$reader" "$shares"
	fi
done
# A load is sampled at the load, a store at the store, a taken branch at the branch.
for event in MEM_INST_RETIRED.ALL_LOADS MEM_INST_RETIRED.ALL_STORES BR_INST_RETIRED.CONDITIONAL; do
	EVENT=$event:upp record 7 "$BUILT/hotspots"
	case $event in
	*LOADS) want=5 ;;
	*STORES) want=4 ;;
	*) want=10 ;;
	esac
	same "$event: the instruction" $want "$(measured | awk '$2 > 1000 { print $1 }' | tr '\n' ' ' | sed 's/ $//')"
done
finish
