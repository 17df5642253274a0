#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# layering.sh [TREE]: the project's own rules: which folder may include which, licence lines, nothing
# left undone, no path of one machine.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"

# Folder, then what its files may include, as shell patterns; a system header stands in <>.
# The first row that matches a file decides; folders without a row (tests) are free.
free='<string.h> <stdint.h> <stddef.h> <stdbool.h>'
base='softpmu/* tools/softpmu/base/* <*>'
launch='hosts/user/+([^/]).h'
e=hosts/user/engine
# What makes system calls includes their numbers, <asm/unistd.h>.
inner="softpmu/* hosts/user/@(data_source|hash|link|link_open).h hosts/user/decode/* hosts/user/perf_event/* $free <linux/*>"
engine="$inner <asm/*> <elf.h> <stdarg.h>"
arrows="
include/softpmu/*         softpmu/* $free
data/*                    softpmu/* data/* $free
src/pmu/*                 softpmu/* data/* src/abi.h src/pmu/* $free
src/lbr/*                 softpmu/* data/* src/lbr/* $free
src/ds/*                  softpmu/* data/* src/ds/* $free
src/driver/*              softpmu/* data/* src/abi.h src/driver/* $free
src/uncore/*              softpmu/* data/* src/abi.h src/uncore/* $free
src/uarch/*               softpmu/* data/uarch/* src/abi.h src/uarch/* $free
src/perfdata/*            softpmu/* src/perfdata/* <*>
hosts/user/engine/rt/*        $engine $e/rt/*
hosts/user/engine/x86/*       $inner  $e/@(rt|x86)/*
hosts/user/engine/memory/*    $engine $e/@(rt|x86|memory)/*
hosts/user/engine/count/*     $engine $e/@(rt|x86|memory|count)/*
hosts/user/engine/cache/*     $inner  $e/@(rt|x86|memory|count|cache)/*
hosts/user/engine/persist/*   $engine hosts/user/@(checksum|cache_file).h $e/@(rt|x86|memory|count|cache|persist)/*
hosts/user/engine/watch/*     $inner  $e/@(rt|x86|memory|cache|watch)/*
hosts/user/engine/translate/* $inner  $e/@(rt|x86|memory|count|cache|persist|watch|translate)/*
hosts/user/engine/signal/*    $engine $e/@(rt|x86|memory|count|cache|persist|watch|translate|signal)/*
hosts/user/engine/linux/*     $engine $e/@(rt|x86|memory|count|cache|persist|watch|translate|signal|linux)/*
hosts/user/engine/run/*       $engine $e/*
hosts/user/engine/*       a-new-folder-needs-a-row
hosts/user/perf_event/*   softpmu/* hosts/user/perf_event/* <linux/perf_event.h> <asm/errno.h> $free
hosts/user/decode/decode* softpmu/* hosts/user/decode/* hosts/user/hash.h decode_table.inc $free
hosts/user/*              softpmu/* hosts/user/* src/perfdata/* <*>
hosts/qemu/*              softpmu/* hosts/qemu/* <*>
hosts/unicorn/*           softpmu/* hosts/unicorn/* <*>
examples/*                softpmu/* examples/* <*>
tools/softpmu/base/*      $base
tools/softpmu/disasm/*    $base tools/softpmu/disasm/*
tools/softpmu/events/*    $base tools/softpmu/events/* src/perfdata/* hosts/user/perf_event/perf_caches.h $launch
tools/softpmu/machine/*   $base tools/softpmu/machine/*
tools/softpmu/registers/* $base tools/softpmu/@(events|registers)/* $launch
tools/softpmu/counts/*    $base tools/softpmu/@(events|counts)/* $launch
tools/softpmu/symbols/*   $base tools/softpmu/symbols/* $launch
tools/softpmu/exact/*     $base tools/softpmu/exact/* src/perfdata/*
tools/softpmu/profile/*   $base tools/softpmu/@(symbols|exact|profile)/* src/perfdata/*
tools/softpmu/formats/*   $base tools/softpmu/@(symbols|disasm|exact|profile|formats)/* src/perfdata/*
tools/softpmu/run/*       $base tools/softpmu/@(events|machine|symbols|run)/* src/perfdata/* $launch
tools/softpmu/trace/*     $base tools/softpmu/@(symbols|trace)/* $launch
tools/softpmu/flow/*      $base tools/softpmu/@(symbols|exact|flow)/* hosts/user/decode/decode.h $launch
tools/softpmu/vm/*        $base tools/softpmu/vm/*
tools/softpmu/main.c      $base tools/softpmu/commands/*
tools/softpmu/*           $base tools/softpmu/* src/perfdata/* $launch
tools/costs/*             data/uarch/* hosts/user/decode/* tools/costs/* <*>
tools/*                   softpmu/* tools/+([^/])/* <*>
"
set -f # the patterns are not file names

# allowed TARGET PATTERN...
allowed() {
	local target=$1 pattern
	shift
	for pattern in "$@"; do
		# shellcheck disable=SC2053 # a pattern is meant
		[[ $target == $pattern ]] && return 0
	done
	return 1
}

# target_of FILE MARK NAME: what an #include of NAME means, MARK being its quote or bracket.
target_of() {
	local file=$1 mark=$2 name=$3
	case $name in
	softpmu/* | data/* | src/* | hosts/* | tools/* | decode_table.inc) echo "$name" ;;
	engine/*) echo "hosts/user/$name" ;;
	*)
		if [[ $mark == '<' ]]; then
			echo "<$name>"
		else
			realpath -m --relative-to=. "$(dirname "$file")/$name"
		fi
		;;
	esac
}

# Prints what is wrong with the includes of one file.
wrong_includes() {
	local file=$1 folder may mark name
	while read -r folder may; do
		# shellcheck disable=SC2053
		[[ -n $folder && $file == $folder ]] && break
	done <<<"$arrows"
	[[ -n $folder ]] || return 0
	sed -nE 's/^[ \t]*#[ \t]*include[ \t]*(["<])([^">]*)[">].*/\1 \2/p' "$file" |
		while read -r mark name; do
			# shellcheck disable=SC2086 # one word for each pattern
			allowed "$(target_of "$file" "$mark" "$name")" $may ||
				echo "$file must not include $name"
		done
}

for file in $(files '\.(c|h|inc|S)$'); do
	check "$file" "$(wrong_includes "$file")"
done
for file in $(sources); do
	check "$file" "$(head -n 2 "$file" | grep -q 'SPDX-License-Identifier: MIT' ||
		echo "no SPDX-License-Identifier: MIT in its first two lines")"
	check "$file" "$(grep -nEw 'TO[D]O|FIX[M]E|XX[X]|HAC[K]' "$file")"
done
for file in $(files '.'); do
	check "$file" "$(grep -InE '(^|[^A-Za-z0-9_.-])/(work|root|home)/' "$file")"
done
finish
