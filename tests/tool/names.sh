#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# names.sh: names of C++, Rust and D functions are shown as their source has them, and found in each of their forms.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/profile.bash"
cd "$SCRATCH" || exit 1
g++ -O1 -g -o names "$ROOT/tests/tool/names.cc" || stop "build of names" "g++ failed"
box='shapes::box<int>'

# rows TEXT: prints share and symbol of the lines of a report.
rows() {
	grep -E '^ +[0-9.]+%' <<<"$1" | sed -E 's/^ +//; s/ +/ /g; s/ $//'
}

# own_rows TEXT: those of the functions of this program. The linker's code between functions is left out: perf adds it to
# the function before it (_init), and softpmu names its section.
own_rows() {
	rows "$1" | grep ' names ' | grep -vE ' (_init|\.plt(\.got)?)$'
}

# --- report and annotate, next to perf, which decodes by another library
run record -q -e instructions:upp -c 501 -- ./names
same "record" 0 "$status"
for options in "" --no-demangle; do
	# shellcheck disable=SC2086 # no word if it is empty
	run report --sort dso,sym $options
	succeeds "report $options"
	# shellcheck disable=SC2086
	same "perf report says the same $options" \
		"$(own_rows "$(perf report --stdio --sort dso,sym $options 2>/dev/null)")" "$(own_rows "$out")"
	has "report $options" "$out" "$([[ $options ]] && echo '[.] _ZNK6shapes3boxIiE4areaEi' || echo "[.] $box::area")"
done
run report
has_not "nothing is encoded in a report" "$out" _Z
run annotate "$box::area"
succeeds "annotate"
by_name=$out
has "annotate" "$by_name" " $box::area in names for "
for name in _ZNK6shapes3boxIiE4areaEi "$box::area(int) const" "*box<int>::a*"; do
	run annotate "$name"
	same "annotate $name" "$by_name" "$out"
done
run annotate --no-demangle "$box::area"
has "annotate --no-demangle finds it, too" "$out" " _ZNK6shapes3boxIiE4areaEi in names for "
run annotate "$box::aera"
refuses "annotate, misspelt" 1 "no samples in '$box::aera'; did you mean '$box::area'?"

# --- trace
# calls FUNCTION...: prints number and name of the functions that -F selects.
calls() {
	local options=() name
	for name in "$@"; do options+=(-F "$name"); done
	run trace --summary -o trace.out "${options[@]}" -- ./names
	[[ -z $err ]] || echo "$err"
	awk '!/^#/ { n = $1; $1 = $2 = ""; print n, $0 }' trace.out | sed -E 's/ +/ /g; s/ \(names\)$//' | sort
}
same "trace: by name" "100 $box::area
100 $box::operator*" "$(calls "$box::area" "$box::operator*")"
same "trace: a pattern" "1 shapes::box<long>::area
100 $box::area" "$(calls 'shapes::*::area')"
same "trace: the compiler's name" "100 $box::area" "$(calls '_ZNK6shapes3boxIiE4areaEi')"
same "trace: one of two overloads" "1 twice" "$(calls 'twice(long)')"
same "trace: both" "1 twice 1 twice" "$(calls 'twice' | xargs)"
same "trace: no such function" "softpmu: no call of 'twice(char)' in this run" "$(calls 'twice(char)')"
same "trace: misspelt" "softpmu: no call of 'twixe' in this run; did you mean 'twice'?" "$(calls twixe)"
run trace -F twice -o trace.out -- ./names
has "trace: the tree" "$(<trace.out)" "    $box::operator*"
run trace -F twice --no-demangle -o trace.out -- ./names
has "trace --no-demangle" "$(<trace.out)" "    _ZNK6shapes3boxIiEmlEi"
run trace --list -F twice -o trace.out -- ./names
has "trace --list" "$(<trace.out)" " $box::area+0x"
run trace --caller -F "$box::area" -o trace.out -- ./names
has "trace --caller" "$(<trace.out)" "100  twice -> $box::area"

# --- Rust, D, versions, and names that only look encoded
"$CC" -shared -nostdlib -o forms -Wl,--version-script=<(echo 'VERS_1.0 { *; };') "$ROOT/tests/tool/names.S" ||
	stop "build of forms" "$CC failed"
{
	echo "event instructions:u"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/forms" 0
	nm forms | awk '$2 == "T" { print $1 }' | while read -r at; do samples 1 0 10 100 10 $((0x$at)); done
} | make_perfdata forms.data
run report -i forms.data --sort sym
succeeds "other languages"
same "other languages" "[.] 123foo::bar
[.] _D
[.] _Znothing
[.] core::fmt::Formatter::pad
[.] operator+
[.] plain
[.] std::vector<int>::add@@VERS_1.0
[.] test.foo(immutable(char)[])" "$(rows "$out" | sed 's/^[^ ]* //' | sort)"
for name in 123foo::bar 'std::vector<int>::add' 'std::vector<int>::add()' 'operator+(box const&, box const&)' 'test.foo(immutable(char)[])'; do
	run annotate -i forms.data "$name"
	succeeds "annotate $name"
done
finish
