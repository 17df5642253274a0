#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# symbols.sh [TREE [FOLDER]]: what the libraries in FOLDER (the build folder) export and need: the
# shared one exports exactly the functions that the headers of TREE declare, all spmu_; the static one
# needs nothing but mem*.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"
folder=${2:-$build}

exported=$(nm -D --defined-only "$folder/libsoftpmu.so" | awk '{ print $3 }' | sort)
check libsoftpmu.so "$(grep -v '^spmu_' <<<"$exported" | sed 's/$/ is exported and does not begin with spmu_/')"

# A declaration's name is the last word before a parenthesis that follows SPMU_API.
declared=$(cat include/softpmu/*.h | tr '\n' ' ' | grep -oE 'SPMU_API [^;(]*\(' |
	sed -E 's/SPMU_MUST_USE//; s/.*[ *]([a-z0-9_]+)\($/\1/' | sort -u)
for name in $declared; do
	check libsoftpmu.so "$(grep -qx "$name" <<<"$exported" ||
		echo "$name is declared in a public header and not exported")"
done
check libsoftpmu.so "$(comm -13 <(echo "$declared") <(echo "$exported") | grep . |
	sed 's/$/ is exported and no public header declares it/')"
check libsoftpmu.so "$(objdump -p "$folder/libsoftpmu.so" | grep -qE 'SONAME +libsoftpmu\.so\.[0-9]+$' ||
	echo "no versioned soname")"

defined=$(nm --defined-only "$folder/libsoftpmu.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u)
needed=$(nm -u "$folder/libsoftpmu.a" | awk '$1 == "U" { print $2 }' | sort -u)
check libsoftpmu.a "$(comm -13 <(echo "$defined") <(echo "$needed") |
	grep -vxE '|mem(cpy|move|set|cmp)|_GLOBAL_OFFSET_TABLE_' | sed 's/$/ is needed from outside/')"
# Data that can be written would be shared by all units of a process.
check libsoftpmu.a "$(nm --defined-only "$folder/libsoftpmu.a" | awk '$2 ~ /^[bBC]$/ { print $3 " is a variable" }')"
finish
