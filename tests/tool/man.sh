#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# man.sh: the manual pages, --help and the completion have the same options; the pages have the sections that
# a reader expects; the example of libsoftpmu(3) compiles.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
# shellcheck source=tools/completion/softpmu.bash
. "$ROOT/tools/completion/softpmu.bash"
pages=$ROOT/docs/man

# page_options PAGE: prints the options in the lists of a page: .Fl s Ar x , Fl -long Ar x
page_options() {
	sed -nE '/^\.It Fl/s/^\.It //p' "$1" | grep -oE 'Fl -?[A-Za-z-]+' |
		sed -E 's/^Fl /-/' | sort -u
}
# help_options TEXT: prints the options of a help text: the first words of its indented lines.
help_options() {
	grep -E '^ +-' <<<"$1" | sed -E 's/^ +//; s/  .*//' | grep -oE -- '(^|[ ,])-{1,2}[A-Za-z][A-Za-z-]*' |
		tr -d ' ,' | sort -u
}

run --help
commands=$(awk '/^Commands:/ { on = 1; next } /^$/ { on = 0 } on { print $1 }' <<<"$out")
same "commands" "annotate bench cache diff explain export list models profile record report run script stat trace vm" "$(sort <<<"$commands" | xargs)"
for command in $commands; do
	page=$pages/softpmu-$command.1
	[[ -f $page ]] || { fail "page of $command" "there is no $page" && continue; }
	run "$command" --help
	same "$command --help: status" 0 "$status"
	helped=$(help_options "$out")
	helped=$(sort -u <<<"$helped"$'\n'"-h"$'\n'"--help" | grep .)
	same "options of $command in its page" "$helped" "$(page_options "$page")"
	same "options of $command in the completion" "$helped" "$(_softpmu_options "$command" | tr -s "[:space:]" "\n" | sort -u)"
	has "$command is in softpmu(1)" "$(<"$pages/softpmu.1")" ".Xr softpmu-$command 1"
done

# The front end with valgrind's options.
helped=$(help_options "$("$(dirname "$SOFTPMU")/softpmu-valgrind" --help)")
same "options of softpmu-valgrind in its page" "$helped" "$(page_options "$pages/softpmu-valgrind.1")"
same "options of softpmu-valgrind in the completion" "$helped" \
	"$(declare -f _softpmu_valgrind | grep -oE -- '--tool= [^"]*' | grep -oE -- '-{1,2}[A-Za-z][A-Za-z-]*' | sort -u)"

for page in "$pages"/*.[13]; do
	name=$(basename "$page")
	sections=$(sed -nE 's/^\.S[hs] //p' "$page")
	for section in NAME SYNOPSIS DESCRIPTION "SEE ALSO"; do
		has_line "$name: $section" "$sections" "$section"
	done
	case $name in
	*.1)
		has_line "$name: exit status" "$sections" "EXIT STATUS"
		has_line "$name: errors" "$sections" "Errors"
		;;
	*.3)
		has_line "$name: return values" "$sections" "RETURN VALUES"
		has_line "$name: errors" "$sections" "ERRORS"
		;;
	esac
	# Every page that is referred to exists, except perf's.
	while read -r other; do
		if [[ -f $pages/$other ]]; then
			pass "$name: $other"
		else
			fail "$name: $other" "there is no such page"
		fi
	done < <(sed -nE 's/^\.Xr ((lib)?softpmu[a-z-]*) ([13]).*/\1.\3/p' "$page")
done

# The page has each status of base.h, and no other.
same "statuses" \
	"$(grep -oE 'SPMU_E_[A-Z]+' "$ROOT/include/softpmu/base.h" | sort -u)" \
	"$(sed -nE 's/^\.It Bq Er //p' "$pages/libsoftpmu.3" | sort -u)"
# The page's synopsis has each function of the headers, with the same types and parameters.  Functions
# that a header defines itself must be there, too.
inline_functions() { sed -nE 's/^static inline .*[ *](spmu_[a-z_]+)\(.*/\1/p' "$ROOT"/include/softpmu/*.h | sort; }
header_prototypes() {
	local header
	for header in "$ROOT"/include/softpmu/*.h; do
		printf '#define SPMU_API @\n#define SPMU_MUST_USE\n' |
			cat - <(sed '/^#/d' "$header") | "$CC" -E -P -x c -
	done | tr '\n' ' ' | tr ';' '\n' | sed -nE 's/.*@ *//p' | tr -s ' ' | sed 's/\* /*/' | sort
}
page_prototypes() {
	awk '
		/^\.Sh/ { on = /SYNOPSIS/ }
		!on { next }
		{ line = $0; sub(/^\.[A-Z][a-z] ?/, "", line) }
		/^\.Ft/ { gsub(/"/, "", line); type = line; if (type !~ /\*$/) type = type " " }
		/^\.Fn/ {
			name = line; sub(/ .*/, "", name); sub(/^[^ ]* /, "", line)
			gsub(/" "/, ", ", line); gsub(/"/, "", line)
			print type name "(" line ")"
		}
		/^\.Fo/ { name = line; list = "" }
		/^\.Fa/ { gsub(/"/, "", line); list = list (list == "" ? "" : ", ") line }
		/^\.Fc/ { print type name "(" list ")" }
	' "$1" | sort
}
page_prototypes "$pages/libsoftpmu.3" >"$SCRATCH/all"
grep -vwFf <(inline_functions) "$SCRATCH/all" >"$SCRATCH/page"
for name in $(inline_functions); do
	has_line "libsoftpmu(3) has $name" "$(<"$SCRATCH/all")" ".*[ *]$name\(.*"
done
header_prototypes >"$SCRATCH/headers"
same "functions of the headers" yes "$([[ $(grep -c '^.*spmu_.*(' "$SCRATCH/headers") -gt 60 ]] && echo yes)"
expect "libsoftpmu(3) and the headers declare the same" diff "$SCRATCH/headers" "$SCRATCH/page"
for header in "$ROOT"/include/softpmu/*.h; do
	name=$(basename "$header")
	[[ $name == softpmu.h ]] || has_line "libsoftpmu(3) has $name" "$(<"$pages/libsoftpmu.3")" "\.It Pa $name"
done
{
	printf '#include <softpmu/softpmu.h>\n#include <stdio.h>\n#include <stdlib.h>\n'
	printf 'void example(struct spmu_host host, size_t bytes);\n'
	printf 'void example(struct spmu_host host, size_t bytes)\n{\n'
	sed -n '/^\.Bd -literal/,/^\.Ed/p' "$pages/libsoftpmu.3" | sed '/^\./d; s/\\e/\\/g'
	printf 'free(memory);\n}\n'
} >"$SCRATCH/example.c"
if "$CC" -std=c11 -Wall -Wextra -Werror -I"$ROOT/include" -c -o "$SCRATCH/example.o" "$SCRATCH/example.c"; then
	pass "example"
else
	fail "example" "it does not compile"
fi
finish
