#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: install below a DESTDIR, use what is there through pkg-config, uninstall.
# Needs B, the build folder, and MAKE.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
passed=0 failed=0

# expect NAME COMMAND...
expect() {
	local name=$1
	shift
	if "$@" >"$stage/said" 2>&1; then
		((++passed))
	else
		((++failed))
		echo "$name:"
		cat "$stage/said"
	fi
}

quiet_make() {
	"${MAKE:-make}" -s -C "$top" B="$B" PREFIX=/opt/softpmu DESTDIR="$stage" "$@"
}

expect "make install" quiet_make install
root=$stage/opt/softpmu
for file in bin/softpmu lib/libsoftpmu.a lib/libsoftpmu.so lib/libsoftpmu.so.0 \
	lib/pkgconfig/softpmu.pc include/softpmu/softpmu.h include/softpmu/unit.h \
	share/man/man1/softpmu.1 share/bash-completion/completions/softpmu; do
	expect "$file is installed" test -e "$root/$file"
done

# pkg-config with the DESTDIR before the paths that the file names.
export PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$stage
expect "pkg-config finds it" pkg-config --exact-version=0.1.0 softpmu
expect "pkg-config names the prefix" grep -q '^prefix=/opt/softpmu$' "$root/lib/pkgconfig/softpmu.pc"
flags=$(pkg-config --cflags --libs softpmu)

# shellcheck disable=SC2086 # flags are words
expect "a program links the shared library" \
	gcc -std=c11 -Wall -Werror "$top/examples/model.c" $flags -o "$stage/user"
expect "and runs with it" env LD_LIBRARY_PATH="$root/lib" "$stage/user"
expect "and asks for the soname" sh -c "objdump -p '$stage/user' | grep -q 'NEEDED.*libsoftpmu.so.0'"
expect "a program links the static library" \
	gcc -std=c11 "$top/examples/model.c" -I"$root/include" "$root/lib/libsoftpmu.a" -o "$stage/user-static"
expect "and runs" "$stage/user-static"
expect "the installed tool runs" "$root/bin/softpmu" models

expect "make uninstall" quiet_make uninstall
expect "nothing is left" sh -c "! find '$root' -type f -o -type l | grep ."

# The build folder gets its own prefix back.
"${MAKE:-make}" -s -C "$top" B="$B" "$B/softpmu.pc"
echo "$passed passed, $failed failed"
((failed == 0))
