#!/bin/sh
# SPDX-License-Identifier: MIT
# install-deps.sh PACKAGE...: makes sure that Debian packages are installed.
#
# Prints nothing if all are installed. Otherwise root installs the missing ones;
# other users see the command, and the status is 1. Several may run at once.
set -eu

if ! command -v dpkg-query >/dev/null 2>&1; then
	echo "note: this system has no dpkg; the build needs what Debian calls: $*" >&2
	exit 0
fi

# find_missing PACKAGE...: sets `missing` to those that are not installed, each after a space.
find_missing() {
	present=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true)"
	missing=
	for package in "$@"; do
		case "$present" in
		*" installed=$package "*) ;;
		*) missing="$missing $package" ;;
		esac
	done
}

find_missing "$@"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "missing packages; as root run:" >&2
	echo "  apt-get install -y --no-install-recommends$missing" >&2
	exit 1
fi

# `make -j` starts several of these, and apt-get fails while another one runs. So they install one
# after the other, with this file as the lock. Packages that an earlier one has installed are no
# longer missing.
exec 9<"$0"
flock 9
find_missing "$@"
[ -n "$missing" ] || exit 0

echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive

# Fetches the lists only if the packages are not in the existing ones. Waits for the package manager of
# somebody else, and tries a download again that fails.
options="-qq -o Acquire::Retries=5 -o DPkg::Lock::Timeout=600"
install_missing() {
	# shellcheck disable=SC2086 # one word for each package and option
	apt-get install $options -y --no-install-recommends $missing >"$log" 2>&1 </dev/null
}
if ! install_missing; then
	# shellcheck disable=SC2086 # one word for each option
	if ! apt-get update $options >"$log" 2>&1 </dev/null || ! install_missing; then
		cat "$log" >&2
		echo "could not install:$missing" >&2
		exit 1
	fi
fi
