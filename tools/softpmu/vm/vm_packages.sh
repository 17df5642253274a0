# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# vm_packages.sh: fetches packages of Debian 12, of any architecture, once into the cache and unpacks them
# without installing.  vm_image.sh and the scripts of tests/guest use it.  `suite` is another suite than
# bookworm.
cache=${SOFTPMU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/softpmu}/guest
mkdir -p "$cache"

# Only one script at a time may write to a cache.
exec 9>"$cache/lock"
flock 9

# apt ARCHITECTURE TOOL WORD...: runs apt-get or apt-cache with the lists of that architecture, as
# if nothing were installed.  So apt fetches a package with all its dependencies.  It tries a download
# again that fails, and fails if a list is still missing.
apt() {
	local arch=$1 dir=$cache/apt-$1${suite:+-$suite} tool=$2
	shift 2
	mkdir -p "$dir/lists/partial" "$dir/archives/partial"
	: >"$dir/status"
	echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
		"${SOFTPMU_MIRROR:-http://deb.debian.org/debian} ${suite:-bookworm} main" >"$dir/sources.list"
	"$tool" -q -o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=- \
		-o "APT::Architecture=$arch" -o "APT::Architectures=$arch" \
		-o "Dir::State::lists=$dir/lists" -o "Dir::State::status=$dir/status" \
		-o "Dir::Cache=$dir" -o APT::Install-Recommends=false \
		-o Acquire::Retries=5 -o APT::Update::Error-Mode=any \
		-o "APT::Sandbox::User=$(id -un)" "$@"
}

# logged NAME COMMAND...: runs the command, and shows its output if it fails.
logged() {
	local log=$cache/$1.log
	shift
	"$@" >"$log" 2>&1 </dev/null || { tail -n 5 "$log" >&2; return 1; }
}

# fetch NAME ARCHITECTURE COMMAND PACKAGE...: unpacks packages into $cache/NAME.  COMMAND: `download` for the
# packages alone, `install` to include their dependencies.
fetch() {
	local name=$1 arch=$2 command=$3 dir=$cache/$1 archives=$cache/apt-$2${suite:+-$suite}/archives deb
	shift 3
	[[ $(cat "$dir.ready" 2>/dev/null) != "$command $*" ]] || return 0
	rm -rf "${cache:?}/$name" "$archives"
	mkdir -p "$dir" "$archives/partial"
	if [[ $command == install ]]; then
		logged "$name" apt "$arch" apt-get --yes --download-only install "$@" || return
	else
		(cd "$archives" && logged "$name" apt "$arch" apt-get download "$@") || return
	fi
	for deb in "$archives"/*.deb; do
		logged "$name" dpkg-deb -x "$deb" "$dir" || return
	done
	rm -rf "$archives"
	echo "$command $*" >"$dir.ready"
}

# Fetches the lists if there are none, or if they are older than a day.
lists() {
	local name=$1${suite:+-$suite}
	[[ -z $(find "$cache/apt-$name.lists" -mmin -1440 2>/dev/null) ]] || return 0
	logged "lists-$name" apt "$1" apt-get update || return
	: >"$cache/apt-$name.lists"
}

# The package of the newest kernel is a dependency of a package without a version.
real_kernel() {
	apt "$1" apt-cache depends "$2" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
}

# fetch_kernel ARCHITECTURE PACKAGE: fetches a kernel and sets `kernel` to its folder.
fetch_kernel() {
	local package
	package=$(real_kernel "$1" "$2")
	[[ -n $package ]] || { echo "there is no $2 in the package lists" >&2; return 1; }
	fetch "$package" "$1" download "$package" || return
	# shellcheck disable=SC2034 # for the caller
	kernel=$cache/$package
}

# Prints the file of a shared library below a folder.
find_library() {
	find "$1"/lib/*-linux-gnu "$1"/usr/lib/*-linux-gnu "$1"/usr/lib "$1"/lib -maxdepth 1 \
		-name "$2" 2>/dev/null | head -n 1
}

# put_program ROOT FROM PROGRAM: copies a program and the libraries that it needs from below FROM to the same
# places below ROOT.
put_program() {
	local root=$1 from=$2 file=$3 name library
	[[ ! -e $root$file ]] || return 0
	mkdir -p "$root$(dirname "$file")"
	cp -L "$from$file" "$root$file"
	readelf -ld "$from$file" 2>/dev/null |
		sed -n -e 's/.*(NEEDED).*\[\(.*\)\]/\1/p' -e 's/.*program interpreter: \(.*\)\]/\1/p' |
		while read -r name; do
			case $name in
			/*) library=$from$name ;;
			*) library=$(find_library "$from" "$name") ;;
			esac
			[[ -e $library ]] || { echo "$file needs $name" >&2; return 1; }
			put_program "$root" "$from" "${library#"$from"}" || return
		done
}
