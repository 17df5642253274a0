#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# kernels.sh: vector code, and unusual control flow in C and C++.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
kernels=$ROOT/tests/programs/kernels

# build NAME COMPILER SOURCE FLAGS...
build() {
	local name=$1 compiler=$2 source=$3
	shift 3
	"$compiler" -O2 -g -o "$BUILT/$name" "$kernels/$source" "$@" || {
		fail "$name" "does not build"
		return 1
	}
}

if has_feature avx2 && has_feature fma; then
	build avx2 "$CC" vector.c -mavx2 -mfma && identical "AVX2" "$BUILT/avx2"
	build avx2-static "$CC" vector.c -mavx2 -mfma -static && identical "AVX2, static" "$BUILT/avx2-static"
else
	not_run "AVX2" "the machine has none"
fi
if has_feature avx512f; then
	build avx512 "$CC" vector.c -mavx512f -DVECTOR_512 && identical "AVX-512" "$BUILT/avx512"
	build avx512-o0 "$CC" vector.c -mavx512f -DVECTOR_512 -O0 && identical "AVX-512, not optimized" "$BUILT/avx512-o0"
else
	not_run "AVX-512" "the machine has none"
fi
for level in O0 O2; do
	build control-$level "$CC" control.c -$level -ldl && identical "control flow, $level" "$BUILT/control-$level"
done
build control-nopie "$CC" control.c -no-pie -ldl && identical "control flow, no PIE" "$BUILT/control-nopie"
have g++ || not_run "C++" "g++ is not installed"
if have g++; then
	build exceptions g++ exceptions.cc -std=c++17 && identical "exceptions" "$BUILT/exceptions"
	build exceptions-static g++ exceptions.cc -std=c++17 -static &&
		identical "exceptions, static" "$BUILT/exceptions-static"
fi
finish
