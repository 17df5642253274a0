#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# image.sh FOLDER: a Debian kernel and an initramfs with perf and the test program.
#
# The kernel (linux-image-cloud-amd64) and busybox are fetched once into the cache and unpacked, not
# installed; perf and its libraries are this machine's.
set -euo pipefail

out=$1
here=$(realpath "$(dirname "$0")")
cache=${SOFTPMU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/softpmu}/guest
mkdir -p "$out" "$cache"
exec 9>"$cache/lock"
flock 9

fetch() {
	local name=$1
	shift
	[ ! -e "$cache/$name.ready" ] || return 0
	rm -rf "${cache:?}/$name" && mkdir -p "$cache/$name/deb"
	(cd "$cache/$name/deb" && apt-get -q -o "APT::Sandbox::User=$(id -un)" download "$@") \
		>"$cache/$name.log" 2>&1 || { tail -n 3 "$cache/$name.log" >&2; exit 1; }
	for deb in "$cache/$name"/deb/*.deb; do dpkg-deb -x "$deb" "$cache/$name"; done
	: >"$cache/$name.ready"
}

# The package of the newest kernel is a name that depends on the real one.
newest_kernel() {
	apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' |
		head -n 1
}

kernel=$(newest_kernel)
[ -n "$kernel" ] || { echo "image.sh: no linux-image-cloud-amd64 in the package lists" >&2; exit 1; }
fetch "$kernel" "$kernel"
fetch busybox busybox-static
cp "$cache/$kernel"/boot/vmlinuz-* "$out/vmlinuz"

root=$out/root
rm -rf "$root"
mkdir -p "$root"/{bin,dev,proc,sys,tmp,usr/bin}
cp "$cache/busybox/bin/busybox" "$root/bin/"
for applet in sh mount dmesg grep cat cut tr awk wc ls sleep sort uniq seq poweroff taskset; do
	ln -s busybox "$root/bin/$applet"
done
perf=$(command -v perf)
cp -L "$perf" "$root/usr/bin/perf"
ldd "$perf" | grep -o '/[^ ]*' | while read -r library; do
	mkdir -p "$root/$(dirname "$library")"
	cp -L "$library" "$root/$library"
done
for form in known:1000000 known-short:20000 known-long:2000000000; do
	${CC:-gcc} -nostdlib -static -DLOOPS=${form#*:} -o "$root/bin/${form%:*}" "$here/known.S"
done
${CC:-gcc} -nostdlib -static -Wl,-N,--no-warn-rwx-segments -o "$root/bin/faults" "$here/faults.S"
${CC:-gcc} -O2 -static -o "$root/bin/blocks" "$here/blocks.c"
install -m 755 "$here/init.sh" "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet) >"$out/initrd"
