#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: each checker of tools/lint refuses a bad input for the right reason, and accepts a similar good
# input.
set -u
lint=$(cd "$(dirname "$0")/../../tools/lint" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
licence='/* SPDX-License-Identifier: MIT */'
passed=0 failed=0

# put PATH LINE...: writes a file of the tree, with a licence line.
put() {
	local path=$tree/$1
	shift
	mkdir -p "$(dirname "$path")"
	printf '%s\n' "$licence" "$@" >"$path"
}

empty_tree() {
	rm -rf "${tree:?}"/*
}

outcome() {
	if [[ $1 == yes ]]; then
		((++passed))
	else
		((++failed))
		printf '%s\n' "$2" "${3:-}"
	fi
}

# refuses NAME TEXT CHECKER ARGUMENT...: the checker fails with a message that contains TEXT.
refuses() {
	local name=$1 text=$2 said status
	shift 2
	said=$("$lint/$1.sh" "$tree" "${@:2}" 2>&1)
	status=$?
	if ((status)) && grep -qF -- "$text" <<<"$said"; then
		outcome yes
	else
		outcome no "$1 does not refuse $name" "$said"
	fi
	empty_tree
}

# accepts NAME CHECKER ARGUMENT...: the checker passes.
accepts() {
	local name=$1 said
	shift
	if said=$("$lint/$1.sh" "$tree" "${@:2}" 2>&1); then
		outcome yes
	else
		outcome no "$1 refuses $name" "$said"
	fi
	empty_tree
}

formatting() {
	put src/pmu/a.c 'int f(void);'
	accepts 'a formatted file' format
	put src/pmu/a.c 'int   f( void ) ;'
	refuses 'a badly formatted file' 'should be clang-formatted' format
	put src/pmu/a.c '/*' ' * one	the first row of a table' ' * two	the second row' ' */' 'int f(void);'
	accepts 'a table in a comment' format
	put src/pmu/a.c "/* $(printf 'word %.0s' {1..30}) */" 'int f(void);'
	refuses 'a long line in a comment' 'longer than 100 columns' format
	refuses 'a tree without files' '0 passed' format
}

analysers() {
	put src/pmu/a.c 'int twice(int value);' 'int twice(int value)' '{' '	return value * 2;' '}'
	accepts 'a sound file' tidy
	put src/pmu/a.c 'int pick(int value);' 'int pick(int value)' '{' '	if (value)' '		return 1;' \
		'	else if (value)' '		return 1;' '	return *(int *)0;' '}'
	refuses 'a null dereference' 'clang-analyzer' tidy
	put src/pmu/a.c '#include <string.h>' 'int same(const char *a, const char *b);' \
		'int same(const char *a, const char *b)' '{' '	return strcmp(a, b) == 0 || strcmp(a, b) == 0;' '}'
	refuses 'an operand that is there twice' 'misc-redundant-expression' tidy
	put src/pmu/a.c 'int broken(' 
	refuses 'a file that does not compile' 'error' tidy
	put src/pmu/a.c 'int twice(int value);' 'int twice(int value)' '{' '	return value * 2;' '}'
	accepts 'a sound file' cppcheck
	put src/pmu/a.c 'int past(void);' 'int past(void)' '{' '	int four[4] = {0};' '	return four[4];' '}'
	refuses 'an index past the end' 'arrayIndexOutOfBounds' cppcheck
}

# arrow yes|no FILE INCLUDE: layering.sh lets the file include this, or not.
arrow() {
	put "$2" "#include $3"
	case $1 in
	yes) accepts "$2 that includes $3" layering ;;
	no) refuses "$2 that includes $3" 'must not include' layering ;;
	esac
}

arrows() {
	arrow yes src/pmu/a.c '"counter.h"'
	arrow yes src/pmu/a.c '<softpmu/unit.h>'
	arrow yes src/pmu/a.c '<string.h>'
	arrow yes src/driver/a.c '"data/msr.h"'
	arrow yes hosts/user/engine/rt/a.c '<linux/mman.h>'
	arrow yes hosts/user/engine/cache/a.c '"engine/memory/pages.h"'
	arrow yes hosts/user/engine/run/a.c '"engine/linux/syscalls.h"'
	arrow yes tools/softpmu/run/a.c '<hosts/user/link.h>'
	arrow yes tools/softpmu/base/a.c '<stdio.h>'
	arrow yes tools/softpmu/commands/a.c '"tools/softpmu/symbols/symbols.h"'
	arrow no src/pmu/a.c '<stdio.h>'
	arrow no src/pmu/a.c '"src/driver/driver.h"'
	arrow no src/pmu/a.c '"../../hosts/user/link.h"'
	arrow no src/ds/a.c '<stdlib.h>'
	arrow no src/ds/a.c '"../pmu/counter.h"'
	arrow no src/driver/a.c '"src/pmu/core.h"'
	arrow no src/driver/a.c '<src/pmu/core.h>'
	arrow no src/perfdata/a.c '"hosts/user/link.h"'
	arrow no include/softpmu/a.h '"src/pmu/core.h"'
	arrow no include/softpmu/a.h '<stdio.h>'
	arrow no hosts/user/a.c '"src/pmu/core.h"'
	arrow yes hosts/user/engine/linux/a.c '<asm/unistd.h>'
	arrow no hosts/user/engine/translate/a.c '<asm/unistd.h>'
	arrow no hosts/user/engine/rt/a.c '<unistd.h>'
	arrow no hosts/user/engine/rt/a.c '"engine/memory/pages.h"'
	arrow no hosts/user/engine/cache/a.c '"engine/translate/path.h"'
	arrow no hosts/user/engine/linux/a.c '"engine/run/run.h"'
	arrow no hosts/user/engine/new/a.c '"engine/rt/engine.h"'
	arrow no hosts/user/decode/decode.c '<Zydis/Zydis.h>'
	arrow no examples/a.c '"src/pmu/core.h"'
	arrow no tools/softpmu/commands/a.c '"src/pmu/core.h"'
	arrow no tools/softpmu/run/a.c '"hosts/user/engine/engine.h"'
	arrow no tools/softpmu/base/a.c '"tools/softpmu/events/events.h"'
	arrow no tools/softpmu/symbols/a.c '"src/perfdata/perfdata.h"'
	arrow no tools/softpmu/formats/a.c '"tools/softpmu/commands/commands.h"'
}

machine_code() {
	put hosts/user/engine/x86/a.c 'int a(int byte) { return byte == 0xe9; }'
	put hosts/user/engine/run/a.c 'int a(int mask) { return (mask & 0xff) == 3; }'
	accepts 'machine code in x86/' machine_code
	put hosts/user/engine/run/a.c 'int a(int byte) { return byte == 0xe9; }'
	refuses 'a comparison with an opcode' 'run/a.c' machine_code
	put hosts/user/engine/run/a.c 'int a(int byte)' '{' '	switch (byte) {' '	case 0xe9:' '		return 1;' '	}' '	return 0;' '}'
	refuses 'a case of an opcode' 'case 0xe9' machine_code
	put hosts/user/engine/signal/a.c 'static const uint8_t rdtsc[] = {0x0f, 0x31};'
	refuses 'bytes of an instruction' 'rdtsc' machine_code
	put hosts/user/engine/translate/a.c 'void a(struct emit *e) { emit8(e, 144); }'
	refuses 'bytes that are written' 'emit8' machine_code
	put hosts/user/engine/count/a.c '#include <cpuid.h>'
	refuses 'the header for CPUID' 'cpuid.h' machine_code
}

words() {
	licence='' put src/pmu/a.c '' 'int a;'
	refuses 'a file without a licence line' 'SPDX' layering
	put src/pmu/a.c '/* TO''DO */'
	refuses 'something left undone' 'src/pmu/a.c' layering
	put docs/a.md "see /wo""rk/notes"
	refuses 'a path of one machine' 'docs/a.md' layering
}

# libraries LINE...: a pair made from the one source given; `version` is the map of the shared one.
version='SOFTPMU_0.1 { *; };'
libraries() {
	mkdir -p "$tree/include/softpmu" "$tree/build"
	put include/softpmu/a.h '__attribute__((visibility("default"))) int spmu_a(void);'
	printf '%s\n' "$@" >"$tree/build/a.c"
	echo "$version" >"$tree/build/map"
	(cd "$tree/build" && gcc -fPIC -c a.c && ar rc libsoftpmu.a a.o && gcc -shared -nostartfiles \
		-Wl,-soname,libsoftpmu.so.0 -Wl,--version-script=map -o libsoftpmu.so a.o)
}

symbols() {
	libraries 'int spmu_a(void) { return 1; }'
	accepts 'a library that exports what it declares' symbols "$tree/build"
	libraries 'int spmu_a(void) { return 1; }' 'int helper(void) { return 2; }'
	refuses 'an export without prefix' 'helper is exported' symbols "$tree/build"
	libraries 'int spmu_b(void) { return 1; }'
	refuses 'a declaration without definition' 'spmu_a is declared' symbols "$tree/build"
	libraries 'int spmu_a(void) { return 1; }' 'int spmu_b(void) { return 1; }'
	refuses 'an undeclared export' 'spmu_b is exported' symbols "$tree/build"
	version='{ *; };' libraries 'int spmu_a(void) { return 1; }'
	refuses 'an export without a version' 'spmu_a has no version' symbols "$tree/build"
	libraries '__attribute__((visibility("hidden"))) int helper(void) { return 2; }' \
		'int spmu_a(void) { return helper(); }'
	refuses 'a name of the static library without prefix' 'helper is either' symbols "$tree/build"
	libraries 'int puts(const char *);' 'int spmu_a(void) { return puts(""); }'
	refuses 'a use of libc' 'puts is needed' symbols "$tree/build"
	libraries 'static int count;' 'int spmu_a(void) { return ++count; }'
	refuses 'a variable' 'count is a variable' symbols "$tree/build"
}

# object FILE LINE...: writes a source file and compiles it.
object() {
	local source=$1 part=tool object
	[[ $source == hosts/user/engine/* ]] && part=engine
	[[ $source == src/* ]] && part=lib
	object=$tree/build/$part/${source%.c}.o
	put "$@"
	mkdir -p "$(dirname "$object")"
	gcc -c "$tree/$source" -o "$object"
}

objects() {
	object tools/softpmu/base/a.c 'int a_one(void) { return 1; }' 'static int help(void) { return a_one(); }' \
		'int a(void) { return help(); }'
	object tools/softpmu/commands/b.c 'int a(void);' 'int cmd_b(void) { return a(); }'
	accepts 'functions with the names of their files' objects "$tree/build"
	object tools/softpmu/base/a.c 'int b_one(void) { return 1; }'
	refuses 'a function with the name of another file' 'defines b_one' objects "$tree/build"
	object tools/softpmu/commands/b.c 'int b_help(void) { return 1; }'
	refuses 'a helper that a command shares' 'defines b_help' objects "$tree/build"
	circle 4
	accepts 'a circle of 4 files' objects "$tree/build"
	circle 5
	refuses 'a circle of 5 files' 'a circle of 5 files' objects "$tree/build"
	for folder in hosts/user/engine/rt src/pmu src/uarch; do
		object "$folder/a.c" 'int b(void);' 'int a(void) { return b(); }'
		object "$folder/b.c" 'int b(void) { return 1; }'
		accepts "a file of $folder that needs another" objects "$tree/build"
		object "$folder/a.c" 'int b(void);' 'int a(void) { return b(); }'
		object "$folder/b.c" 'extern int c;' 'int b(void) { return c; }'
		object "$folder/c.c" 'int a(void);' 'int c;' 'int c_call(void) { return a(); }'
		refuses "three files of $folder in a circle" 'a circle of 3 files' objects "$tree/build"
	done
	object hosts/user/engine/rt/things.c 'int thing_one(void) { return 1; }' 'int things_two(void) { return 2; }'
	object hosts/user/engine/rt/things_kept.c 'int things_three(void) { return 3; }'
	accepts 'functions of the engine with the names of their files' objects "$tree/build"
	object hosts/user/engine/rt/things.c 'int kept_one(void) { return 1; }'
	refuses 'a function of the engine with another name' 'defines kept_one' objects "$tree/build"
	object src/uarch/tables.c 'int table_one(void) { return 1; }' 'int spmu_two(void) { return 2; }'
	accepts 'functions of src/uarch with the names of their files' objects "$tree/build"
	object src/uarch/tables.c 'int cache_one(void) { return 1; }'
	refuses 'a function of src/uarch with another name' 'defines cache_one' objects "$tree/build"
	put tools/softpmu/base/a.c 'int a_one(void) { return 1; }'
	refuses 'a tree that is not built' 'run make first' objects "$tree/build"
}

# circle COUNT: writes files of which each calls the next, and the last one the first.
circle() {
	local i
	for ((i = 0; i < $1; i++)); do
		object "tools/softpmu/base/f$i.c" "int f$((((i + 1) % $1)))(void);" \
			"int f$i(void) { return f$((((i + 1) % $1)))(); }"
	done
}

# one_register FIELD...: writes a library whose only model has one register with these fields.
one_register() {
	put one.c '#include <softpmu/registers.h>' "static const struct spmu_field fields[] = { $* };" \
		'size_t spmu_model_count(void) { return 1; }' \
		'const struct spmu_model *spmu_model_at(size_t i) { (void)i; return NULL; }' \
		'enum spmu_status spmu_model_get_info(const struct spmu_model *m, struct spmu_model_info *info)' \
		'{ (void)m; info->name = "m"; return SPMU_OK; }' \
		'bool spmu_register_at(const struct spmu_model *m, size_t i, struct spmu_register *out)' \
		'{ (void)m; *out = (struct spmu_register){"R", 1, 1, fields, sizeof(fields) / sizeof(*fields), "s"};' \
		'return i == 0; }'
}

registers() {
	one_register '{"A", 0, 8, SPMU_RW}, {NULL, 8, 56, SPMU_RESERVED}'
	accepts 'a list of 64 bits' registers "$tree/one.c"
	one_register '{"A", 0, 8, SPMU_RW}, {NULL, 8, 55, SPMU_RESERVED}'
	refuses 'a list of 63 bits' 'bit 63' registers "$tree/one.c"
	one_register '{"A", 0, 8, SPMU_RW}, {NULL, 9, 55, SPMU_RESERVED}'
	refuses 'a gap' 'gap or overlap' registers "$tree/one.c"
	one_register '{"A", 0, 8, SPMU_RW}, {NULL, 7, 57, SPMU_RESERVED}'
	refuses 'an overlap' 'gap or overlap' registers "$tree/one.c"
	one_register '{NULL, 0, 8, SPMU_RESERVED}, {"A", 8, 56, SPMU_RW}'
	refuses 'a reset value in reserved bits' 'reset value' registers "$tree/one.c"
	put one.c '#include <softpmu/registers.h>' 'size_t spmu_model_count(void) { return 0; }' \
		'const struct spmu_model *spmu_model_at(size_t i) { (void)i; return NULL; }' \
		'enum spmu_status spmu_model_get_info(const struct spmu_model *m, struct spmu_model_info *info)' \
		'{ (void)m; info->name = "m"; return SPMU_OK; }' \
		'bool spmu_register_at(const struct spmu_model *m, size_t i, struct spmu_register *out)' \
		'{ (void)m; (void)i; (void)out; return false; }'
	refuses 'a library without registers' '0 passed' registers "$tree/one.c"
}

others() {
	put include/softpmu/a.h '#include <stdint.h>' 'uint32_t spmu_a(uint32_t bits);'
	accepts 'a header that includes what it needs' headers
	put include/softpmu/a.h 'uint32_t spmu_a(uint32_t bits);'
	refuses 'a header that needs another' 'uint32_t' headers
	put include/softpmu/a.h 'int spmu_a(int class, int new);' 'struct spmu_b { int private; };'
	refuses 'a header that C++ cannot read' 'in c++11' headers
	put include/softpmu/a.h 'struct spmu_a {' '	int b;' '};' 'struct spmu_a spmu_a(void);'
	refuses 'a name with two meanings' 'spmu_a is a structure and a function' headers

	licence='#!/bin/bash' put a.sh "printf '%s\n' \"\$1\""
	accepts 'a sound script' shell
	licence='#!/bin/bash' put a.sh 'for a in $(ls *.c); do rm -rf $b/*; done; unused=1'
	refuses 'an unsound script' 'SC2' shell

	put a.js '"use strict";' 'const a = 1;'
	accepts 'a sound script of a page' script
	put a.js '"use strict";' 'const a = ;'
	refuses 'a script that is no JavaScript' 'SyntaxError' script
	put a.js "// $(printf 'word %.0s' {1..30})"
	refuses 'a long line of a script' 'word word' script

	licence='.\" SPDX-License-Identifier: MIT' put docs/man/a.1 '.Dd November 21, 2026' '.Dt A 1' '.Os' \
		'.Sh NAME' '.Nm a' '.Nd an example'
	accepts 'a sound page' man
	licence='.\" SPDX-License-Identifier: MIT' put docs/man/a.1 '.Dd November 21, 2026' '.Dt A 1' '.Os' \
		'.Sh NAME' '.Nm a' '.Nd an example' '.Bogus'
	refuses 'an unknown macro' 'Bogus' man
}

# pages: makes the project's pages.
pages() {
	mkdir -p "$tree/docs/reference"
	"${B:-$lint/../../build}/reference" "$tree/docs/reference"
}

reference() {
	pages
	accepts 'pages just made' reference
	pages
	sed -i 's/exact/modelled/' "$tree/docs/reference/skylake.md"
	refuses 'a page that says something else' 'docs/reference/skylake.md' reference
	pages
	rm "$tree/docs/reference/skylake.md"
	refuses 'a missing page' 'No such file' reference
	pages
	touch "$tree/docs/reference/old.md"
	refuses 'a page that nothing makes' 'docs/reference/old.md' reference
}

# headers: those of the project, and the manual page that is made from them.
headers() {
	mkdir -p "$tree/include" "$tree/docs/man"
	cp -r "$lint/../../include/softpmu" "$tree/include/"
	cp "$lint/../../docs/man/libsoftpmu.3" "$tree/docs/man/"
}

api() {
	headers
	accepts 'the page of the headers' api
	headers
	sed -i 's/Reports one retired/Ignores one retired/' "$tree/include/softpmu/unit.h"
	refuses 'a page that says something else' 'Ignores one retired' api
	headers
	sed -i 's/^ \* Reports one retired/ * \\bogus Reports one retired/' "$tree/include/softpmu/unit.h"
	refuses 'a comment that Doxygen does not understand' 'bogus' api
}

formatting
analysers
arrows
machine_code
words
symbols
objects
registers
reference
api
others
echo "$passed passed, $failed failed"
((failed == 0))
