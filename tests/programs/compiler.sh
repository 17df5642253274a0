#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# compiler.sh: gcc's cc1 and cc1plus on preprocessed source, the assembler and the linker.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

{
	for header in stdio stdlib string math time errno signal unistd pthread sys/socket netinet/in; do
		echo "#include <$header.h>"
	done
	cat "$ROOT/tests/user/precise-program.c"
} >"$SCRATCH/input.c"
cat >"$SCRATCH/input.cc" <<'CPP'
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>
int main()
{
	std::map<std::string, std::vector<int>> m;
	for (int i = 0; i < 10; i++)
		m[std::to_string(i % 3)].push_back(i);
	for (auto &[k, v] : m)
		std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });
	std::cout << m.size() << "\n";
}
CPP
cc1=$(gcc -print-prog-name=cc1)
if [[ -x $cc1 ]] && gcc -E "$SCRATCH/input.c" -o "$SCRATCH/input.i"; then
	FILES=("$SCRATCH/input.i")
	identical "cc1 -O2" "$cc1" -fpreprocessed -quiet -O2 input.i -o input.s
	identical "cc1 -O0 -g" "$cc1" -fpreprocessed -quiet -O0 -g input.i -o input.s
	cp "$SCRATCH/native.files/input.s" "$SCRATCH/input.s"
	FILES=("$SCRATCH/input.s")
	identical "as" as input.s -o input.o
	printf 'int f(int a) { return a +; }\n' >"$SCRATCH/wrong.i"
	FILES=("$SCRATCH/wrong.i")
	identical "cc1, an error" "$cc1" -fpreprocessed -quiet wrong.i -o wrong.s
else
	not_run cc1 "gcc is not installed"
fi
cc1plus=$(gcc -print-prog-name=cc1plus)
if [[ -x $cc1plus ]] && g++ -std=c++17 -E "$SCRATCH/input.cc" -o "$SCRATCH/input.ii"; then
	FILES=("$SCRATCH/input.ii")
	identical "cc1plus" "$cc1plus" -fpreprocessed -quiet -std=c++17 -O1 input.ii -o input.s
else
	not_run cc1plus "g++ is not installed"
fi
finish
