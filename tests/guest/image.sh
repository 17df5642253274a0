#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# image.sh FOLDER [ARCHITECTURE [LOOPS]]: makes a Debian kernel and an initramfs with perf and the test programs,
# for amd64, i386, or amd64 with the newer kernel of bookworm-backports (`backports`).
#
# Kernel and busybox are Debian's, fetched once into the cache and unpacked, not installed. For
# amd64, perf and its libraries are this machine's; for i386 they are fetched too.
set -euo pipefail

out=$1
arch=${2:-amd64}
here=$(realpath "$(dirname "$0")")
# shellcheck source=tools/softpmu/vm/vm_packages.sh
. "$here/../../tools/softpmu/vm/vm_packages.sh"
mkdir -p "$out"
root=$out/root
rm -rf "$root"
mkdir -p "$root"/{bin,dev,proc,sys,tmp,usr/bin}

put_busybox() {
	cp "$cache/busybox-$arch/bin/busybox" "$root/bin/"
	for applet in sh mount dmesg grep cat cut tr awk wc ls sort uniq seq poweroff taskset \
		insmod head tail rm cp dd gzip readlink sed true; do
		ln -s busybox "$root/bin/$applet"
	done
}

# build NAME SOURCE OPTION...: a program without libraries.
build() {
	local name=$1 source=$2 bits=64
	shift 2
	[[ $arch == amd64 ]] || bits=32
	${CC:-gcc} -m$bits -nostdlib -static -o "$root/bin/$name" "$here/$source" "$@"
}

suite=
[[ $arch != backports ]] || suite=bookworm-backports arch=amd64
lists "$arch"
[[ $arch != amd64 ]] || fetch_kernel amd64 linux-image-cloud-amd64
if [[ $suite ]]; then
	suite=
	lists "$arch"
fi
case $arch in
amd64)
	perf=$(readlink -f "$(command -v perf)")
	put_program "$root" "" "$perf"
	# Programs that perf's own tests run: a sleep with a C library, a disassembler.
	put_program "$root" "" /usr/bin/sleep
	put_program "$root" "" "$(readlink -f /usr/bin/objdump)"
	ln -sf "$(readlink -f /usr/bin/objdump)" "$root/bin/objdump"
	;;
i386)
	fetch_kernel i386 linux-image-686
	fetch perf-i386 i386 install linux-perf
	ln -s busybox "$root/bin/sleep"
	perf=/usr/bin/perf
	put_program "$root" "$cache/perf-i386" "$perf"
	# With perf's libraries.
	fetch msr-tools-i386 i386 download msr-tools
	install "$cache"/msr-tools-i386/usr/sbin/{rd,wr}msr "$root/bin/"
	find "$kernel/lib/modules" -name msr.ko -exec install -D {} "$root/lib/msr.ko" \;
	;;
esac
fetch "busybox-$arch" "$arch" download busybox-static
cp "$kernel"/boot/vmlinuz-* "$out/vmlinuz"
put_busybox
[[ -e $root/usr/bin/perf ]] || ln -s "$perf" "$root/usr/bin/perf"
for form in known:1000000 known-short:20000 known-mid:100000000 known-pause:"${3:-150000000}"; do
	build "${form%:*}" known.S -DLOOPS="${form#*:}"
done
build memory memory.S -no-pie -Wl,--section-start=.bss=0x10000000
build realtime realtime.S
build endless endless.S
build faults faults.S -Wl,-N,--no-warn-rwx-segments
if [[ $arch == amd64 ]]; then
	build calls calls.S
	build splits splits.S -no-pie -Wl,--section-start=.bss=0x10000000
	build elements elements.S -no-pie -Wl,--section-start=.bss=0x10000000
	mkdir "$root/known"
	for program in forms memory rep repfault x87 stack gsaccess ripimplicit; do
		build "../known/$program" "../user/known/$program.S" -no-pie
	done
	for program in blocks caches traps; do
		${CC:-gcc} -O2 -static -o "$root/bin/$program" "$here/$program.c"
	done
fi
install -m 755 "$here/init.sh" "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet) >"$out/initrd"
