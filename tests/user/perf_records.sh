#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf_records.sh: `softpmu run`: records of mappings, names and tasks in rings: perf_records.c. The kernel's own are the
# same, if it serves users.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile perf_records -pthread
cd "$SCRATCH" || exit 1

run said "$SOFTPMU" run -- "$BUILT/perf_records"
same "status" 0 "$status"
sed 's/ld-linux[^ ]*/ld.so/' said.out >ours
# The program, its name, a mapping of it and one without a file; a thread; a child, which executes the program.
names=$(grep -v 'libc\|ld.so\|vdso' ours |
	sed 's/ offset.*prot/ prot/; s/ of .*//; s/ misc [0-9]*//; s/ size [0-9]*//; s/ a file//; s/another //')
same "records" "COMM 0/0 perf_records
MMAP2 0/0 prot 5 flags 2 perf_records
COMM 0/0 name
MMAP2 0/0 prot 5 flags 2 perf_records
MMAP2 0/0 prot 7 flags 2 //anon
FORK 0/1
COMM 0/1 thread
EXIT 0/1
FORK 3/3
COMM 3/3 child
COMM 3/3 perf_records
MMAP2 3/3 prot 5 flags 2 perf_records
EXIT 3/3
EXIT 0/0" "$names"
same "the loader, the C library, the vdso, twice" 6 "$(grep -c 'libc\|ld.so\|vdso' ours)"

if [[ $(id -u) == 0 ]]; then
	chmod 755 "$SCRATCH" && cp "$BUILT/perf_records" .
	run native setpriv --reuid=65534 --clear-groups ./perf_records
else
	run native "$BUILT/perf_records"
fi
if ((status)) || [[ ! -s native.out ]]; then
	not_run "records of the kernel" "$(head -n 1 native.out)"
else
	sed 's/ld-linux[^ ]*/ld.so/' native.out >kernels
	same_file "records of the kernel" kernels ours
fi
finish
