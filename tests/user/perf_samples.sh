#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# perf_samples.sh: `softpmu run`: programs that sample by events that they open, and read their own rings: perf_samples.c,
# and perf_readers.c for rings of another process.
# All numbers are counted by hand: an instruction of its loop has a number, and each n-th is sampled.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile perf_samples -pthread
compile perf_readers
program=perf_samples
cd "$SCRATCH" || exit 1

# shows OPTION... -- CASE: what the program prints is on standard input
shows() {
	local options=()
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	cat >expected
	run said "$SOFTPMU" run "${options[@]}" -- "$BUILT/$program" "$2"
	((status)) && fail "$2" "status $status: $(head -n 1 said.err)"
	while IFS= read -r line; do
		same "${options[*]} $2: ${line%:*}" "$line" "$(grep -m 1 "^${line%:*}: " said.out)"
	done <expected
	same "$2: lines" "$(wc -l <expected)" "$(wc -l <said.out)"
}

# DEC has the numbers 2, 4 ..., JNZ 3, 5 ... of 2004.  A sample without PEBS is at the instruction after the one that
# overflows the counter. A sample with PEBS is of the instruction that follows the overflow, so it is each (n + 1)th.
# Branches: 1000 and SYSCALL; each 11th.
exact='each 100th: 0 20 0
each 101st: 10 9 0
precise: 9 10 0
one after: 10 9 0
branches: 0 90 1'
shows -- exact <<<"$exact"
shows -M tigerlake -- exact <<<"$exact"
shows -- fields <<'LIST'
fields: 20
wrong: 0
LIST
# The second sample, after 200 instructions: MOV, DEC 100 times, JNZ 99 times.  `sampled` has no frame of its own.
shows -- parts <<'LIST'
frames: 3
the first: 1
branches: 32
the newest: 1
turns to go: 900
registers: 1
stack: 32
return address: 1
all of it: 32
LIST
shows -- chains <<'LIST'
has callers: 1
LIST
# 10 samples of 15, then 20; then 20 more.
shows -- wakes <<'LIST'
without a ring it hangs: 1
nothing yet: 0
too few: 0
woken: 1
once: 0
epoll: nothing: 0
epoll: woken: 1
epoll: once: 0
LIST
# 200 samples for 170 places; then the record of the loss has one of them.
shows -- full <<'LIST'
a full ring: 170 0
a full ring that was read: 169 30
read: 1
all lost: 61
LIST
shows -- controls <<'LIST'
pause without a ring: EINVAL
pause: done
paused: 0 0
goes on: 20 20
no period: EINVAL
another period: done
each 500th: 4 0
all counted: 6012
LIST
shows -- outputs <<'LIST'
to one without a ring: EINVAL
to itself: EINVAL
to the other: done
of the first: 1
of the second: 10
to none: done
nothing more: 0 0
LIST
shows -- backward <<'LIST'
the newest: 2000
older ones that are wrong: 0
LIST
shows -- signals <<'LIST'
of one that counts: EINVAL
without a ring: 1
signals: 1
a signal for each sample: 1
at most three: 3
the last is POLL_HUP: 1
LIST
# 100 000 instructions of the thread, 200 000 of each of two others, 300 000 of a child: each 1000th, in tens.
shows -- inherited <<'LIST'
own: 10
of threads: 40
of a child: 30
LIST
program=perf_readers
shows -- others <<'LIST'
samples of another: 1
wrong: 0
it hangs at the end: 1
LIST
# A slow reader of a small ring: most rounds find that nothing was lost.
shows -- patient <<'LIST'
rounds without a loss: 1
LIST
finish
