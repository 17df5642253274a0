# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# execs.sh: a shell that starts a short program many times.
i=0
while [ "$i" -lt 500 ]; do
	/bin/true
	i=$((i + 1))
done
