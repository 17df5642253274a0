#!/bin/sh
# SPDX-License-Identifier: MIT
# install-deps.sh PACKAGE...: see that Debian packages are there.
#
# Says nothing when all are installed.  Otherwise root installs the missing ones;
# anybody else is told the command, and the status is 1.
set -eu

if ! command -v dpkg-query >/dev/null 2>&1; then
	echo "note: this system has no dpkg; the build needs what Debian calls: $*" >&2
	exit 0
fi

present=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' "$@" 2>/dev/null || true)"
missing=
for package in "$@"; do
	case "$present" in
	*" installed=$package "*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "missing packages; as root run:" >&2
	echo "  apt-get install -y --no-install-recommends$missing" >&2
	exit 1
fi

echo "installing:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive

# The lists are fetched only when the packages cannot be had from those that are there.
install_missing() {
	# shellcheck disable=SC2086 # one word for each package
	apt-get install -y -qq --no-install-recommends $missing >"$log" 2>&1 </dev/null
}
if ! install_missing; then
	if ! apt-get update -qq >"$log" 2>&1 </dev/null || ! install_missing; then
		cat "$log" >&2
		echo "could not install:$missing" >&2
		exit 1
	fi
fi
