#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# objects.sh [TREE [FOLDER]]: what the compiled files in FOLDER (the build folder) say about the
# structure of the sources of TREE: functions are named after their file, and no large group of files
# needs each other in a circle.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
folder=${2:-$build}

# Files that call each other in a circle can only be understood together.  For each part of the project:
# its name, where its objects are, how many files may be in a circle (1: no circles), and its sources.
parts='
tool   tool   4 ^(tools/softpmu/.*|hosts/user/[^/]*)\.c$
engine engine 1 ^hosts/user/engine/.*\.(c|S)$
unit   lib    1 ^src/(pmu|ds|lbr|driver)/.*\.c$
uarch  lib    1 ^src/uarch/.*\.c$
'

# symbols OBJECTS SOURCE...: "FILE D NAME" for each global name that a source defines, "FILE U NAME" for
# each that it needs.
symbols() {
	local objects=$1 source
	for source in "${@:2}"; do
		nm -g "$folder/$objects/${source%.*}.o" 2>/dev/null |
			awk -v file="$source" '{ print file, ($(NF - 1) == "U" ? "U" : "D"), $NF }'
	done
}

# Reads what symbols() prints.  Prints names that do not begin with their file's name; a file of
# commands/ defines the command alone, or is a part of one (stat_options.c of stat.c).  In the engine and in src/uarch a name may also begin with the
# singular, or with the words that the file's name begins with: region_end of regions.c, persist_open of
# persist_file.c.  In src/uarch it may also be public.  delayed_loading.c also defines functions of libraries, sys.c those that compilers call.
wrong_names() {
	awk '$2 == "D" {
		stem = $1
		sub(/.*\//, "", stem)
		sub(/\.c$/, "", stem)
		if ($1 ~ /\/commands\//)
			good = $3 == "cmd_" stem || (stem ~ /_/ && ($3 == stem || index($3, stem "_") == 1))
		else
			good = $3 == stem || index($3, stem "_") == 1
		if (stem == "delayed_loading" && $3 ~ /^(Zydis|dwarf_|dwelf_|elf_|gelf_|ZSTD_)/)
			good = 1
		if ($1 ~ /^src\/uarch\// && $3 ~ /^spmu_/)
			good = 1
		if ($1 ~ /^(hosts\/user\/engine|src\/uarch)\//) {
			singular = stem
			sub(/s$/, "", singular)
			good = good || $3 == singular || index($3, singular "_") == 1
			for (part = stem; sub(/_[^_]*$/, "", part);)
				good = good || index($3, part "_") == 1
			if (stem == "sys" && $3 ~ /^(memcpy|memmove|memset|memcmp|strlen)$/)
				good = 1
			if ($1 ~ /\.S$/ || $3 == "_start")
				good = 1
		}
		if (!good)
			print $1 " defines " $3 ", whose name does not begin with the file'"'"'s"
	}'
}

# circles MOST: reads what symbols() prints.  Prints the files that are in a circle of more files.
circles() {
	awk -v most="$1" '
	function visit(from, at,    next_file) {
		reached[from, at] = 1
		for (next_file in files)
			if ((at, next_file) in arrow && !((from, next_file) in reached))
				visit(from, next_file)
	}
	{
		files[$1] = 1
		if ($2 == "D")
			owner[$3] = $1
		else
			needed[$1, $3] = 1
	}
	END {
		for (pair in needed) {
			split(pair, part, SUBSEP)
			if (part[2] in owner && owner[part[2]] != part[1])
				arrow[part[1], owner[part[2]]] = 1
		}
		for (file in files)
			for (next_file in files)
				if ((file, next_file) in arrow && !((file, next_file) in reached))
					visit(file, next_file)
		for (file in files) {
			count = 0
			for (other in files)
				if ((file, other) in reached && (other, file) in reached)
					count++
			if (count > most)
				print file " is in a circle of " count " files, more than " most
		}
	}' | sort
}

# check_part PART OBJECTS MOST SOURCES
check_part() {
	local part=$1 objects=$2 most=$3 sources names source
	mapfile -t sources < <(files "$4")
	((${#sources[@]})) || return
	[[ -e $folder/$objects/${sources[0]%.*}.o ]] ||
		fail "there are no objects in $folder/$objects: run make first"
	names=$(symbols "$objects" "${sources[@]}" | grep -v ' main$')
	[[ $part == unit ]] || for source in "${sources[@]}"; do
		check "$source" "$(grep "^$source " <<<"$names" | wrong_names)"
	done
	check "$part" "$(circles "$most" <<<"$names")"
}

while read -r part objects most sources; do
	[[ -z $part ]] || check_part "$part" "$objects" "$most" "$sources"
done <<<"$parts"
finish
