#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tools.sh: openssl, sort and other common tools.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

awk 'BEGIN { srand(7); for (i = 0; i < 100000; i++) printf "%d %c%c %.4f\n", rand() * 1e6, 97 + rand() * 26, 97 + rand() * 26, rand() }' >"$SCRATCH/lines"
FILES=("$SCRATCH/lines")
if need openssl; then
	identical "openssl sha256" openssl dgst -sha256 lines
	identical "openssl sha3-512" openssl dgst -sha3-512 lines
	identical "openssl aes" openssl enc -aes-256-ctr -K 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff -iv 0123456789abcdef0123456789abcdef -in lines -out sealed
	identical "openssl base64" openssl base64 -in lines
	identical "openssl prime" openssl prime 1000000000000000000000000000057
fi
identical "sort" sort --parallel=1 lines
identical "sort -n" sort --parallel=1 -n -k1,1 lines
identical "sort -k3g" sort --parallel=1 -k3,3gr -k2,2 -o sorted lines
identical "sha256sum" sha256sum lines
identical "grep" grep -cE '^[0-9]*(12|34)5.*[aeiou]{2}' lines
identical "sed" sed -nE 's/([0-9]+) ([a-z])([a-z])/\3\2 \1/;/^z/p' lines
# shellcheck disable=SC2016 # awk expands it
identical "awk, sums" awk '{ n[length($1)]++; s += $3 } END { printf "%.4f\n", s; for (i = 1; i < 7; i++) print n[i] }' lines
identical "wc" wc lines
identical "od" od -A x -t x1z -N 200000 lines
identical "ls" ls -la /usr/bin
identical "find" find /usr/share/perl -newer /nonexistent -name '*.pm'
identical "date" date -u -d @1000000000
identical "expr" expr 123456789 '*' 987654321
identical "dd" dd if=lines of=copy bs=1000 count=500 status=none
identical "cp" cp -p lines copy
INPUT=$SCRATCH/lines
identical "tr" tr a-z A-Z
INPUT=/dev/null
identical "diff" diff lines /dev/null
identical "factor" factor 18446744073709551557 1000000007000000049

# The comparison must find a program that behaves differently the second time.
refused() {
	local said
	in_folder native "${@:2}"
	local native=$status
	in_folder stat "${@:2}"
	said=$(differences stat $native $status)
	if [[ -n $said ]]; then
		pass "$1 is noticed"
	else
		fail "$1" "is not noticed"
	fi
}
refused "another output" date +%N
refused "another file" sh -c 'date +%N >file'
refused "another error output" sh -c 'date +%N >&2'
refused "another file name" mktemp file.XXXXXX
# shellcheck disable=SC2016 # the inner shell expands it
refused "another status" sh -c '[ -e "$0" ] && exit 5; : >"$0"' "$SCRATCH/second"
finish
