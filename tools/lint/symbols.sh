#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# symbols.sh [TREE [FOLDER]]: what the libraries in FOLDER (the build folder) export and need: the
# shared one exports exactly the functions that the headers of TREE declare, all spmu_; the static one
# defines the same, and needs nothing but mem*.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
folder=${2:-$build}
names=$(mktemp)
trap 'rm -f "$names"' EXIT

exported=$(nm -D --defined-only "$folder/libsoftpmu.so" | awk '$2 == "T" { sub(/@.*/, "", $3); print $3 }' | sort)
check libsoftpmu.so "$(grep -v '^spmu_' <<<"$exported" | sed 's/$/ is exported and does not begin with spmu_/')"

# The functions that the headers mark for export, as the preprocessor leaves them.
for header in include/softpmu/*.h; do
	gcc -E -P -Iinclude -x c "$header"
done | tr '\n' ' ' | grep -oE '__attribute__\(\(visibility\("default"\)\)\)[^;{]*;' |
	sed -E 's/__attribute__\(\(.*\)\) //; s/ *\(.*//; s/.*[ *]//' | sort -u >"$names"
declared=$(<"$names")
for name in $declared; do
	check libsoftpmu.so "$(grep -qx "$name" <<<"$exported" ||
		echo "$name is declared in a public header and not exported")"
done
check libsoftpmu.so "$(comm -13 <(echo "$declared") <(echo "$exported") | grep . |
	sed 's/$/ is exported and no public header declares it/')"
check libsoftpmu.so "$(nm -D --defined-only "$folder/libsoftpmu.so" |
	awk '$2 == "T" && $3 !~ /@@SOFTPMU_[0-9.]+$/ { print $3 " has no version in src/libsoftpmu.map" }')"
check libsoftpmu.so "$(objdump -p "$folder/libsoftpmu.so" | grep -qE 'SONAME +libsoftpmu\.so\.[0-9]+$' ||
	echo "no versioned soname")"

check libsoftpmu.a "$(nm -g --defined-only "$folder/libsoftpmu.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort |
	comm -3 <(echo "$declared") - | tr -d '\t' |
	sed 's/$/ is either defined for other files or declared in a public header, and not both/')"
defined=$(nm --defined-only "$folder/libsoftpmu.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u)
needed=$(nm -u "$folder/libsoftpmu.a" | awk '$1 == "U" { print $2 }' | sort -u)
check libsoftpmu.a "$(comm -13 <(echo "$defined") <(echo "$needed") |
	grep -vxE '|mem(cpy|move|set|cmp)|_GLOBAL_OFFSET_TABLE_' | sed 's/$/ is needed from outside/')"
# Data that can be written would be shared by all units of a process.
check libsoftpmu.a "$(nm --defined-only "$folder/libsoftpmu.a" | awk '$2 ~ /^[bBC]$/ { print $3 " is a variable" }')"
finish
