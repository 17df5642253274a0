#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vm_image.sh: makes the kernel and the initramfs of `softpmu vm`, and keeps them in the cache.  The tool runs
# it together with vm_packages.sh, which comes before it.
#
#	vm_image.sh kernel ARCHITECTURE			prints the path of Debian's kernel
#	vm_image.sh initramfs ARCHITECTURE INIT		prints the path of an initramfs with busybox,
#							perf, and INIT as the first process
#
# ARCHITECTURE: amd64 or i386.  For amd64, perf is this machine's.
set -eu
# shellcheck source=tools/softpmu/vm/vm_packages.sh
declare -F put_program >/dev/null || . "$(dirname "$0")/vm_packages.sh"

say() { echo "softpmu: $*" >&2; }
fail() {
	say "$*"
	exit 125
}

need_lists() {
	command -v apt-get >/dev/null ||
		fail "no apt here to fetch Debian's packages with; give --kernel and --initrd"
	lists "$arch" || fail "cannot fetch Debian's lists of packages (see $cache/lists-$arch.log)"
}

# need NAME COMMAND PACKAGE: does `fetch` of vm_packages.sh if the package is not in the cache.
need() {
	[[ $(cat "$cache/$1.ready" 2>/dev/null) != "$2 $3" ]] || return 0
	need_lists
	say "fetching $3 (once, into $cache)"
	fetch "$1" "$arch" "$2" "$3" || fail "cannot fetch $3 (see $cache/$1.log)"
}

# Prints the newest kernel in the cache.
cached_kernel() {
	local ready
	for ready in "$cache"/linux-image-*-"$flavour".ready; do
		[[ ! -s $ready ]] || basename "$ready" .ready
	done | sort -V | tail -n 1
}

make_kernel() {
	local name file
	name=$(cached_kernel)
	if [[ -z $name ]]; then
		need_lists
		name=$(real_kernel "$arch" "linux-image-$flavour")
		[[ -n $name ]] || fail "Debian's package lists have no linux-image-$flavour"
	fi
	need "$name" download "$name"
	for file in "$cache/$name"/boot/vmlinuz-*; do echo "$file"; done
}

# Copies this machine's perf and its libraries to the same places.
put_native_perf() {
	local root=$1 file
	[[ -n $perf ]] || {
		say "note: no perf here for the guest (as root: apt-get install linux-perf)"
		return 0
	}
	install -D "$perf" "$root/usr/bin/perf"
	ldd "$perf" | grep -o '/[^ ]*' | while read -r file; do install -D "$file" "$root$file"; done
}

put_perf() {
	if [[ $arch == amd64 ]]; then
		put_native_perf "$1"
	elif command -v readelf >/dev/null; then
		need "perf-$arch" install linux-perf
		put_program "$1" "$cache/perf-$arch" /usr/bin/perf
	else
		say "note: no readelf here to find perf's libraries (as root: apt-get install binutils)"
	fi
}

# Adds modules for /dev/cpu/*/msr and cpuid, which programs use to read the unit, and for the disk.
put_modules() {
	local module
	mkdir -p "$1/lib/modules"
	for module in msr cpuid virtio virtio_ring virtio_pci virtio_pci_modern_dev virtio_pci_legacy_dev \
		virtio_blk; do
		find "$cache/$(cached_kernel)/lib/modules" -name "$module.ko" \
			-exec cp {} "$1/lib/modules/" \; 2>/dev/null || :
	done
}

make_root() {
	local root=$1 init=$2
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/etc"
	install "$busybox" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	echo "root:x:0:0:root:/root:/bin/sh" >"$root/etc/passwd"
	echo "root:x:0:" >"$root/etc/group"
	put_modules "$root"
	put_perf "$root"
	install "$init" "$root/init"
}

# Makes the initramfs again if any of its parts has changed.
make_initramfs() {
	local init=$1 image=$cache/vm-$arch.cpio perf made_of busybox
	perf=$(command -v perf || :)
	made_of="$(cat "$0" "$init" | cksum) $(cached_kernel) $(stat -L -c '%n %s %Y' "$perf" 2>/dev/null || :)"
	if [[ ! -e $image || $(cat "$image.of" 2>/dev/null) != "$made_of" ]]; then
		need "busybox-$arch" download busybox-static
		busybox=$cache/busybox-$arch/bin/busybox
		# This machine may not run programs of 32 bits, so it has a busybox of its own.
		arch=amd64 need busybox-amd64 download busybox-static
		rm -f "$image.of"
		make_root "$cache/vm.root" "$init"
		(cd "$cache/vm.root" && find . | "$cache/busybox-amd64/bin/busybox" cpio -o -H newc) \
			>"$image.new" 2>/dev/null
		rm -rf "$cache/vm.root"
		mv "$image.new" "$image"
		echo "$made_of" >"$image.of"
	fi
	echo "$image"
}

arch=$2 flavour=cloud-amd64
[[ $arch == amd64 ]] || flavour=686
case $1 in
kernel) make_kernel ;;
initramfs) make_initramfs "$3" ;;
esac
