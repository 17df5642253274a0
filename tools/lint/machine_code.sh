#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# machine_code.sh [TREE]: only x86/ of the engine knows machine code by its bytes.  Its other folders use
# the names, the recognisers and the emitters that x86/ has.
# shellcheck source=tools/lint/lib.sh
. "$(dirname "$0")/lib.sh"

# Bytes that are written one by one; a list of bytes; a comparison with a byte; CPUID.
bytes='\<emit(8|16|32|64|_bytes|_few)\(|uint8_t[^=;]*\[[^]]*\][^=;]*[=)][[:space:]]*\{0x|[=!]= 0x[0-9a-fA-F]{2}\>|case 0x[0-9a-fA-F]{2}:|"cpuid"|<cpuid\.h>'

for file in $(files '^hosts/user/engine/.*\.(c|h)$' | grep -v '/x86/'); do
	check "$file" "$(grep -nE "$bytes" "$file")"
done
finish
