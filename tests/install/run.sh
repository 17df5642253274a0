#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: an installation below a DESTDIR can be used through pkg-config (from C, C++ and Python) and removed.
# Needs B, the build folder, and MAKE.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"

quiet_make() {
	"${MAKE:-make}" -s -C "$ROOT" B="$B" PREFIX=/opt/softpmu DESTDIR="$SCRATCH" "$@"
}

expect "make install" quiet_make install
root=$SCRATCH/opt/softpmu
for file in bin/softpmu bin/softpmu-valgrind libexec/softpmu.engine lib/libsoftpmu.a lib/libsoftpmu.so lib/libsoftpmu.so.0 \
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
expect "a program asks for versions of symbols" \
	sh -c "objdump -T '$SCRATCH/user' | grep -q 'SOFTPMU_0.1.*spmu_model_find'"

# told FILE: prints the output that the comment of an example promises.
told() {
	sed -nE '/^ ?\*? ?Prints:$/,/^( \*\/|""")$/s/^( \*\t|    )//p' "$1"
}

# Each example, and a host in C++, with the installed headers and the shared library.
export LD_LIBRARY_PATH=$root/lib
for source in "$ROOT"/examples/*.c "$ROOT/tests/examples/host.cc"; do
	name=$(basename "$source")
	compiler=(gcc -std=c11)
	[[ $name == *.cc ]] && compiler=(g++ -std=c++11)
	# shellcheck disable=SC2086 # flags are words
	expect "$name is compiled" "${compiler[@]}" -Wall -Wextra -Werror "$source" $flags -o "$SCRATCH/example"
	same "$name: output" "$(told "$source")" "$("$SCRATCH/example" 2>&1)"
done

# A host in Python through ctypes.  Its structures are the same as those of the headers.
same "host.py: output" "$(told "$ROOT/examples/host.py")" "$(python3 "$ROOT/examples/host.py" 2>&1)"
same "client.py: output" "$(told "$ROOT/examples/client.py")" "$(python3 "$ROOT/examples/client.py" 2>&1)"
cat >"$SCRATCH/sizes.c" <<-'END'
	#include <softpmu/softpmu.h>
	#include <stdio.h>
	int main(void)
	{
		printf("%zu\n%zu\n%zu\n%zu\n%zu\n%zu\n", sizeof(struct spmu_host),
		       sizeof(struct spmu_core_config), sizeof(struct spmu_supply), sizeof(struct spmu_meters),
		       sizeof(struct spmu_memory_access), sizeof(struct spmu_insn));
		return 0;
	}
END
expect "sizes.c is compiled" gcc "$SCRATCH/sizes.c" -I"$root/include" -o "$SCRATCH/sizes"
same "host.py: sizes of structures" "$("$SCRATCH/sizes")" "$(python3 "$ROOT/examples/host.py" --sizes)"
unset LD_LIBRARY_PATH

expect "make uninstall" quiet_make uninstall
expect "nothing is left" sh -c "! find '$root' -type f -o -type l | grep ."

# Configures the build folder with its own prefix again.
"${MAKE:-make}" -s -C "$ROOT" B="$B" "$B/softpmu.pc"
finish
