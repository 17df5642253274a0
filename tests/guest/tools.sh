#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools.sh FOLDER: makes FOLDER/tools, which follows the initramfs of image.sh: programs of Debian's
# packages that write the unit's registers directly, and their driver.
set -euo pipefail

out=$1
here=$(realpath "$(dirname "$0")")
# shellcheck source=tools/softpmu/vm/vm_packages.sh
. "$here/../../tools/softpmu/vm/vm_packages.sh"
mkdir -p "$out"
root=$out/tools-root
rm -rf "$root"
mkdir -p "$root/usr/share/likwid/perfgroups"

lists amd64
fetch_kernel amd64 linux-image-cloud-amd64
fetch tools amd64 install msr-tools likwid pcm papi-tools
from=$cache/tools
for program in usr/sbin/rdmsr usr/sbin/wrmsr usr/sbin/pcm-core usr/bin/lua5.3 \
	usr/bin/papi_command_line usr/sbin/likwid-accessD \
	usr/lib/x86_64-linux-gnu/liblikwid.so usr/lib/x86_64-linux-gnu/liblikwidpin.so; do
	put_program "$root" "$from" "/$program"
done
# likwid asks bash for the path of its daemon, without using it.
mkdir -p "$root/bin"
printf '#!/bin/sh\nexec sh "$@"\n' >"$root/bin/bash"
chmod 755 "$root/bin/bash"
install -D "$from/usr/bin/likwid-perfctr" "$root/usr/bin/likwid-perfctr"
install -D "$from/usr/share/lua/likwid.lua" "$root/usr/share/lua/likwid.lua"
cp -r "$from/usr/share/likwid/perfgroups/goldmont" "$root/usr/share/likwid/perfgroups/"
find "$kernel/lib/modules" -name msr.ko -exec install -D {} "$root/lib/msr.ko" \;
(cd "$root" && find . | cpio -o -H newc --quiet) >"$out/tools"
