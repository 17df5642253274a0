#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# debian-source.sh PACKAGE [SUITE]: unpacks the source of a Debian package with Debian's patches,
# and prints its folder. SUITE is the running release by default.
#
# Lists and sources are in ${SOFTPMU_CACHE:-~/.cache/softpmu}/sources. So the system's own apt
# lists do not change, and a second call fetches nothing. Needs dpkg-dev.
set -euo pipefail
package=$1
suite=${2:-$(. /etc/os-release && echo "$VERSION_CODENAME")}
cache=${SOFTPMU_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/softpmu}/sources/$suite
mkdir -p "$cache/lists/partial"

find_source() {
	find "$cache/$package" -mindepth 1 -maxdepth 1 -type d 2>/dev/null | head -n 1 || true
}

folder=$(find_source)
if [[ -z $folder ]]; then
	echo "deb-src http://deb.debian.org/debian $suite main" >"$cache/sources.list"
	options=(-qq -o Acquire::Retries=5 -o "Dir::Etc::sourcelist=$cache/sources.list" -o Dir::Etc::sourceparts=-
		-o "Dir::State::lists=$cache/lists" -o APT::Sandbox::User=root)
	apt-get "${options[@]}" update >&2
	rm -rf "$cache/$package.new"
	mkdir "$cache/$package.new"
	(cd "$cache/$package.new" && apt-get "${options[@]}" source "$package" >&2)
	rm -rf "${cache:?}/$package"
	mv "$cache/$package.new" "$cache/$package"
	folder=$(find_source)
fi
echo "$folder"
