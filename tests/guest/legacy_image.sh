#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# legacy_image.sh NAME SOURCE OPTION...: builds NAME.elf and NAME.bin, the guest of legacy.c or probe.c.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
name=$1 source=$2
shift 2
${CC:-gcc} -m32 -O2 -std=gnu11 -Wall -Wextra -ffreestanding -fno-pic -fno-stack-protector \
	-fcf-protection=none -mgeneral-regs-only -fno-asynchronous-unwind-tables -nostdlib -static \
	-Wl,-T,"$here/../../examples/bare-metal/bare-metal.ld",--build-id=none,--no-warn-rwx-segments \
	"$@" -o "$name.elf" "$here/legacy_start.S" "$here/$source"
objcopy -O binary "$name.elf" "$name.bin"
