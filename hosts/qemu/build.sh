#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# build.sh LIBRARY_DIR RESULT [stock]: builds a QEMU whose virtual processors have the unit. With
# `stock` it builds the unchanged source in the same way, for comparison.
#
# It fetches Debian's source package of QEMU 10.0, applies hosts/qemu/patches, and adds
# hosts/qemu/glue.  It builds qemu-system-x86_64 with LIBRARY_DIR/libsoftpmu.a.  RESULT is a command
# that runs this program with its firmware.  Source and objects stay in a folder outside the
# checkout, so that another clone does not build again.  What changed is built again.
set -euo pipefail

library=$(realpath "$1")
result=$(realpath -m "$2")
here=$(realpath "$(dirname "$0")")
top=$(realpath "$here/../..")
kind=${3:-unit}
cache=${SOFTPMU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/softpmu}/qemu
mirror=${SOFTPMU_MIRROR:-http://deb.debian.org/debian}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
mkdir -p "$cache"

# One build at a time in one cache.
exec 9>"$cache/lock"
flock -n 9 || { echo "qemu: another build holds $cache; waiting" >&2; flock 9; }

say() { echo "qemu: $*"; }
fail() { echo "qemu: $*" >&2; exit 1; }

# run NAME COMMAND...: with its output in a log that is shown when it fails.
run() {
	local name=$1 log
	shift
	log=$cache/$name.log
	"$@" >"$log" 2>&1 </dev/null || { tail -n 25 "$log" >&2; fail "$name failed; all of it is in $log"; }
}

# private_apt NAME LINE COMMAND...: apt-get with one line of sources and lists of its own.
private_apt() {
	local dir=$cache/apt-$1 line=$2
	shift 2
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	echo "$line" >"$dir/sources.list"
	: >"$dir/status"
	apt-get -q -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=- \
		-o "Dir::State::lists=$dir/lists" -o "Dir::State::status=$dir/status" \
		-o "Dir::Cache::archives=$dir/archives" -o "APT::Sandbox::User=$(id -un)" \
		-o Acquire::Retries=5 "$@"
}

fetch_source() {
	[ -e "$cache/source.ready" ] && return
	say "fetching the source package of trixie (40 MB)"
	local line="deb-src [signed-by=$keyring] $mirror trixie main" work=$cache/fetch
	rm -rf "$work" && mkdir -p "$work" && cd "$work"
	run lists private_apt trixie "$line" update
	run source private_apt trixie "$line" source --download-only qemu
	local dsc
	dsc=$(ls qemu_*.dsc)
	case $dsc in
	qemu_10.0.*) ;;
	*) fail "trixie has $dsc; the patches are for 10.0" ;;
	esac
	run unpack dpkg-source --no-check -x "$dsc" tree
	rm -rf "$cache/stock" && mv tree "$cache/stock"
	cd "$cache" && rm -rf "$work"
	echo "${dsc%.dsc}" >"$cache/source.ready"
}

# Debian 12 has an older meson; newer ones run from where they lie.
make_venv() {
	[ -e "$cache/venv.ready" ] && return
	say "fetching meson"
	local line="deb [signed-by=$keyring] $mirror bookworm-backports main" work=$cache/fetch
	local site
	rm -rf "$work" "$cache/venv" && mkdir -p "$work" && cd "$work"
	run lists private_apt backports "$line" update
	run meson private_apt backports "$line" download meson python3-pycotap
	run venv "$python" -m venv "$cache/venv"
	for deb in *.deb; do run unpack dpkg-deb -x "$deb" root; done
	site=$("$cache/venv/bin/python" -c 'import site; print(site.getsitepackages()[0])')
	cp -r root/usr/lib/python3/dist-packages/* "$site/"
	cd "$cache" && rm -rf "$work"
	: >"$cache/venv.ready"
}

# Firmware: those of Debian's packages that a PC without graphics needs.
make_firmware() {
	[ -e "$cache/firmware.ready" ] && return
	say "fetching firmware"
	local work=$cache/fetch file
	rm -rf "$work" && mkdir -p "$work" "$cache/firmware" && cd "$work"
	run firmware apt-get -q -o Acquire::Retries=5 -o "APT::Sandbox::User=$(id -un)" download seabios qemu-system-data
	for deb in *.deb; do run unpack dpkg-deb -x "$deb" root; done
	for file in bios-256k.bin bios.bin linuxboot_dma.bin linuxboot.bin multiboot_dma.bin \
		multiboot.bin pvh.bin kvmvapic.bin bios-microvm.bin; do
		find root -name "$file" -exec cp -L {} "$cache/firmware/" \; 2>/dev/null
	done
	[ -e "$cache/firmware/bios-256k.bin" ] || fail "no bios-256k.bin in Debian's seabios"
	cd "$cache" && rm -rf "$work"
	: >"$cache/firmware.ready"
}

# put FILE TO: unless it is the same already, so that nothing is built without need.
put() { cmp -s "$1" "$2" || { mkdir -p "$(dirname "$2")" && cp "$1" "$2"; }; }

put_library() {
	local prefix=$cache/prefix bare
	bare=$(mktemp)
	objcopy --strip-debug --enable-deterministic-archives "$library/libsoftpmu.a" "$bare"
	put "$bare" "$prefix/lib/libsoftpmu.a"
	for header in "$top"/include/softpmu/*.h; do
		put "$header" "$prefix/include/softpmu/$(basename "$header")"
	done
	sed -e "s|^prefix=.*|prefix=$prefix|" -e "s|^libdir=.*|libdir=$prefix/lib|" \
		"$library/softpmu.pc" >"$bare"
	put "$bare" "$prefix/lib/pkgconfig/softpmu.pc"
	rm -f "$bare"
}

# The patched tree: files that a patch touches are made from the stock ones in a scratch folder, and
# replaced where they differ.
put_source() {
	local unit=$cache/unit scratch file
	if [ ! -e "$unit/source.ready" ] || ! cmp -s "$cache/source.ready" "$unit/source.ready"; then
		say "unpacking"
		rm -rf "$unit" && mkdir -p "$unit"
		cp -a "$cache/stock" "$unit/source"
		cp "$cache/source.ready" "$unit/source.ready"
	fi
	scratch=$(mktemp -d)
	sed -n 's|^--- a/||p' "$here"/patches/*.patch | sort -u >"$scratch/files"
	# What an earlier patch touched and none does now goes back to what it was.
	touch "$unit/touched"
	cat "$unit/touched" "$scratch/files" | sort -u | while read -r file; do
		mkdir -p "$scratch/tree/$(dirname "$file")"
		cp "$cache/stock/$file" "$scratch/tree/$file"
	done
	for patch in "$here"/patches/*.patch; do
		run "$(basename "$patch" .patch)" patch -d "$scratch/tree" -p1 --no-backup-if-mismatch -i "$patch"
	done
	(cd "$scratch/tree" && find . -type f) | while read -r file; do
		put "$scratch/tree/$file" "$unit/source/$file"
	done
	cp "$scratch/files" "$unit/touched"
	for file in "$here"/glue/*.c "$here"/glue/*.h; do
		put "$file" "$unit/source/target/i386/$(basename "$file")"
	done
	for file in "$here"/glue/*.c.inc; do
		put "$file" "$unit/source/target/i386/tcg/$(basename "$file")"
	done
	rm -rf "$scratch"
}

configure() {
	put "$here/devices.mak" "$tree/configs/devices/x86_64-softmmu/softpmu.mak"
	[ -e "$objects/configured" ] && return
	say "configuring"
	rm -rf "$objects" && mkdir -p "$objects" && cd "$objects"
	run configure "$tree/configure" --python="$cache/venv/bin/python" \
		--target-list=x86_64-softmmu --without-default-features --enable-system --enable-tcg \
		--enable-fdt=system --without-default-devices --with-devices-x86_64=softpmu \
		--disable-docs --disable-download --disable-install-blobs --disable-werror \
		-Dpkg_config_path="$cache/prefix/lib/pkgconfig"
	: >configured
}

# Progress on one line for a terminal, one line in fifty for a log.
build() {
	cd "$objects"
	local log=$cache/ninja.log every=50
	[ -t 1 ] && every=1
	set +e
	ninja ${JOBS:+-j "$JOBS"} qemu-system-x86_64 2>&1 </dev/null | tee "$log" |
		awk -v every=$every -v end="$([ -t 1 ] && echo '\r' || echo '\n')" \
			'/^\[[0-9]+\/[0-9]+\]/ && ++n % every == 0 { printf "qemu: building %s" end, $1; fflush() }'
	local status=${PIPESTATUS[0]}
	set -e
	[ "$status" -eq 0 ] || { grep -A12 -m3 -e FAILED -e error "$log" >&2; fail "build failed; see $log"; }
}

python=/usr/bin/python3
[ -x "$python" ] || python=python3
fetch_source
make_venv
make_firmware
if [ "$kind" = stock ]; then
	tree=$cache/stock objects=$cache/build-stock
else
	tree=$cache/unit/source objects=$cache/unit/build
	put_library
	put_source
fi
configure
build

wrapper=$(mktemp)
cat >"$wrapper" <<END
#!/bin/sh
# QEMU and its firmware.
exec '$objects/qemu-system-x86_64' -L '$cache/firmware' "\$@"
END
chmod 755 "$wrapper"
mkdir -p "$(dirname "$result")"
put "$wrapper" "$result"
chmod 755 "$result"
rm -f "$wrapper"
say "$("$result" --version | head -n 1): $result"
