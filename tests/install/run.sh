#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: install below a DESTDIR, use what is there through pkg-config, uninstall.
# Needs B, the build folder, and MAKE.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"

quiet_make() {
	"${MAKE:-make}" -s -C "$ROOT" B="$B" PREFIX=/opt/softpmu DESTDIR="$SCRATCH" "$@"
}

expect "make install" quiet_make install
root=$SCRATCH/opt/softpmu
for file in bin/softpmu lib/libsoftpmu.a lib/libsoftpmu.so lib/libsoftpmu.so.0 \
	lib/pkgconfig/softpmu.pc include/softpmu/softpmu.h include/softpmu/unit.h \
	share/man/man1/softpmu.1 share/bash-completion/completions/softpmu; do
	expect "$file is installed" test -e "$root/$file"
done

# pkg-config with the DESTDIR before the paths that the file names.
export PKG_CONFIG_PATH=$root/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$SCRATCH
expect "pkg-config finds it" pkg-config --exact-version=0.1.0 softpmu
expect "pkg-config names the prefix" grep -q '^prefix=/opt/softpmu$' "$root/lib/pkgconfig/softpmu.pc"
flags=$(pkg-config --cflags --libs softpmu)

# shellcheck disable=SC2086 # flags are words
expect "a program links the shared library" \
	gcc -std=c11 -Wall -Werror "$ROOT/examples/model.c" $flags -o "$SCRATCH/user"
expect "and runs with it" env LD_LIBRARY_PATH="$root/lib" "$SCRATCH/user"
expect "and asks for the soname" sh -c "objdump -p '$SCRATCH/user' | grep -q 'NEEDED.*libsoftpmu.so.0'"
expect "a program links the static library" \
	gcc -std=c11 "$ROOT/examples/model.c" -I"$root/include" "$root/lib/libsoftpmu.a" -o "$SCRATCH/user-static"
expect "and runs" "$SCRATCH/user-static"
expect "the installed tool runs" "$root/bin/softpmu" models

expect "make uninstall" quiet_make uninstall
expect "nothing is left" sh -c "! find '$root' -type f -o -type l | grep ."

# The build folder gets its own prefix back.
"${MAKE:-make}" -s -C "$ROOT" B="$B" "$B/softpmu.pc"
finish
