#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# descriptors.sh: a program uses the numbers of the translator's descriptors, and shares
# descriptors or not (descriptors.c). Output and status are as in a native run, and what it
# executes is counted.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile descriptors -pthread
cd "$SCRATCH" || exit 1
exec 3>&- 4>&- 5>&-

for subject in alone with-files without-files vfork vfork-with-files fork-of-vfork thread-apart \
	thread-closes closes found; do
	run "$SCRATCH/native" "$BUILT/descriptors" $subject
	native=$status
	# --strict: it is an error if a program that it executes runs natively.
	run "$SCRATCH/soft" "$SOFTPMU" stat --strict -o "$SCRATCH/stat" -e instructions:u -- "$BUILT/descriptors" $subject
	same "$subject: status" "$native" "$status"
	same "$subject: output" "$(<"$SCRATCH/native.out")" "$(<"$SCRATCH/soft.out")"
	same "$subject: messages" "" "$(<"$SCRATCH/soft.err")"
done
finish
