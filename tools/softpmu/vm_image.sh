#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck shell=dash
# vm_image.sh: what guests are made of, from Debian's packages, in the cache.
#
#	vm_image.sh fetch PACKAGE	the folder with the unpacked package
#	vm_image.sh kernel		the path of Debian's cloud kernel
#	vm_image.sh initramfs INIT	the path of an initramfs with busybox, perf (this machine's) and
#					INIT as first process
#
# Packages are fetched once and unpacked, not installed, so root is not needed.  Lists of packages come
# from the system or, where it has none, into the cache too.
set -eu

cache=${SOFTPMU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/softpmu}/guest
say() { echo "softpmu: $*" >&2; }
fail() {
	say "$*"
	exit 125
}
mkdir -p "$cache" 2>/dev/null || fail "cannot make $cache (SOFTPMU_CACHE names another folder)"

# apt TOOL ARGUMENT...: with the system's lists of packages, or with those of the cache.
apt() {
	tool=$1
	shift
	if [ -e "$cache/lists.ready" ]; then
		"$tool" -q -o "Dir::State::lists=$cache/lists" -o "Dir::Cache=$cache/lists" \
			-o "APT::Sandbox::User=$(id -un)" "$@"
	else
		"$tool" -q -o "APT::Sandbox::User=$(id -un)" "$@"
	fi
}

# The lists must know the package; otherwise they are fetched, once.
know() {
	command -v apt-get >/dev/null || fail "no apt here to fetch $1 with; give --kernel and --initrd"
	[ -z "$(apt apt-cache show "$1" 2>/dev/null)" ] || return 0
	if [ ! -e "$cache/lists.ready" ]; then
		say "fetching the lists of packages"
		mkdir -p "$cache/lists/partial" "$cache/lists/archives/partial"
		: >"$cache/lists.ready"
		if ! apt apt-get update >"$cache/lists.log" 2>&1; then
			rm -f "$cache/lists.ready"
			tail -n 3 "$cache/lists.log" >&2
			fail "cannot fetch the lists of packages (as root: apt-get update)"
		fi
	fi
	[ -n "$(apt apt-cache show "$1" 2>/dev/null)" ] || fail "Debian's package lists have no $1"
}

# Folder and mark of a package that is there.
fetch() {
	if [ ! -e "$cache/$1.ready" ]; then
		know "$1"
		say "fetching $1 (once, into $cache)"
		rm -rf "${cache:?}/$1"
		mkdir -p "$cache/$1/deb"
		if ! (cd "$cache/$1/deb" && apt apt-get download "$1") >"$cache/$1.log" 2>&1; then
			tail -n 3 "$cache/$1.log" >&2
			fail "cannot fetch $1 (see $cache/$1.log; as root: apt-get update)"
		fi
		for deb in "$cache/$1"/deb/*.deb; do
			dpkg-deb -x "$deb" "$cache/$1" || fail "cannot unpack $deb"
		done
		rm -rf "$cache/$1/deb"
		: >"$cache/$1.ready"
	fi
	echo "$cache/$1"
}

# The newest that is in the cache; else the one that Debian's newest depends on.
kernel_package() {
	for ready in "$cache"/linux-image-*-cloud-amd64.ready; do
		[ ! -e "$ready" ] || basename "$ready" .ready
	done | sort -V | tail -n 1
}
kernel() {
	package=$(kernel_package)
	if [ -z "$package" ]; then
		know linux-image-cloud-amd64
		package=$(apt apt-cache depends linux-image-cloud-amd64 |
			sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	fi
	folder=$(fetch "$package")
	for file in "$folder"/boot/vmlinuz-*; do echo "$file"; done
}

# Perf and the libraries that it asks for, as they lie here.
copy_perf() {
	perf=$(command -v perf) || {
		say "note: no perf here for the guest (as root: apt-get install linux-perf)"
		return 0
	}
	mkdir -p "$1/usr/bin"
	cp -L "$perf" "$1/usr/bin/perf"
	ldd "$perf" | grep -o '/[^ ]*' | while read -r library; do
		mkdir -p "$1/$(dirname "$library")"
		cp -L "$library" "$1/$library"
	done
}

build_root() {
	mkdir -p "$1/bin" "$1/etc" "$1/lib/modules"
	cp "$(fetch busybox-static)/bin/busybox" "$1/bin/"
	ln -s busybox "$1/bin/sh"
	echo "root:x:0:0:root:/root:/bin/sh" >"$1/etc/passwd"
	echo "root:x:0:" >"$1/etc/group"
	# /dev/cpu/*/msr and cpuid, for programs that look at the unit themselves, and the disk.
	for module in msr cpuid virtio virtio_ring virtio_pci virtio_pci_modern_dev virtio_pci_legacy_dev \
		virtio_blk; do
		find "$cache/$(kernel_package)/lib/modules" -name "$module.ko" \
			-exec cp {} "$1/lib/modules/" \; 2>/dev/null || :
	done
	copy_perf "$1"
	cp "$2" "$1/init"
	chmod 755 "$1/init"
}

# Made anew when what it is made of has changed.
initramfs() {
	perf=$(command -v perf || echo none)
	made_of=$(cat "$0" "$1" | cksum)$(stat -L -c '%n %s %Y' "$perf" 2>/dev/null || :)$(kernel_package)
	image=$cache/vm.cpio
	if [ ! -e "$image" ] || [ "$(cat "$image.of" 2>/dev/null)" != "$made_of" ]; then
		busybox=$(fetch busybox-static)/bin/busybox
		root=$cache/vm.root
		rm -rf "$root" "$image.of"
		build_root "$root" "$1"
		(cd "$root" && find . | "$busybox" cpio -o -H newc) >"$image.new" 2>/dev/null
		rm -rf "$root"
		mv "$image.new" "$image"
		echo "$made_of" >"$image.of"
	fi
	echo "$image"
}

exec 9>"$cache/lock"
flock 9
case ${1:-} in
fetch) fetch "$2" ;;
kernel) kernel ;;
initramfs) initramfs "$2" ;;
*) fail "vm_image.sh: what to do?" ;;
esac
