#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sanitizers.sh: programs that are built with a sanitizer of gcc or clang: in C, in C++ with exceptions, and with
# threads. Each sanitizer has a shadow at its own addresses, which the engine must not use. A clean program
# prints what it always prints, and a fault is found.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
# Another program finds the names of functions in reports, and takes long to start.
for tool in ASAN LSAN TSAN MSAN UBSAN; do
	export ${tool}_OPTIONS=symbolize=0
done

cat >plain.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With an argument: what the sanitizer that it names is to find. */
int main(int argc, char **argv)
{
	const char *fault = argc > 1 ? argv[1] : "";
	char *volatile block = malloc(40), *volatile lost = NULL;
	volatile int number = 0x7fffffff - (argc == 1);

	memset(block, 'x', 20);
	if (!strcmp(fault, "address")) {
		free(block);
		return block[3];
	}
	if (!strcmp(fault, "memory") && block[30] == 1)
		puts("one");
	if (!strcmp(fault, "undefined"))
		number++;
	if (!strcmp(fault, "leak")) {
		lost = malloc(77);
		lost = NULL;
	}
	printf("%c %d\n", block[7], number + (argc == 1));
	free(block);
	return lost == block;
}
C
cat >objects.cc <<'C'
#include <cstdio>
#include <stdexcept>
#include <vector>

int main()
{
	std::vector<std::vector<int>> lists(7);
	int sum = 0;

	for (int i = 0; i < 100; i++)
		lists[i % 7].push_back(i);
	for (unsigned i = 0; i < 9; i++) {
		try {
			for (int n : lists.at(i))
				sum += n;
		} catch (const std::out_of_range &) {
			sum += 1000;
		}
	}
	std::printf("%d\n", sum);
	return 0;
}
C
cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum, races;
static int locked = 1;

static void *work(void *unused)
{
	int *numbers = malloc(100 * sizeof(*numbers));

	for (int i = 0; i < 100; i++)
		numbers[i] = i;
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&mutex);
		sum += numbers[i];
		pthread_mutex_unlock(&mutex);
		if (!locked)
			races++;
	}
	free(numbers);
	return unused;
}

/* With an argument: they race. */
int main(int argc, char **argv)
{
	pthread_t thread[3];

	(void)argv;
	locked = argc == 1;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", sum);
	return 0;
}
C

# says NAME OUTPUT PROGRAM...: a clean program prints OUTPUT, and is counted.
says() {
	local name=$1 want=$2
	shift 2
	run said "$SOFTPMU" stat -j -o counts -e instructions:u -- "$@"
	same "$name" "$want" "$(<said.out)"
	same "$name: status" 0 "$status"
	same "$name: counted" yes "$([[ $(count_of counts 1) -gt 1000 ]] && echo yes)"
	[[ ! -s said.err ]] || fail "$name: complains" "$(head -n 3 said.err)"
}

# finds NAME WORDS PROGRAM...
finds() {
	local name=$1 words=$2
	shift 2
	run said "$SOFTPMU" stat -o counts -e instructions:u -- "$@"
	if grep -q "$words" said.err; then
		pass "$name"
	else
		fail "$name" "status $status, $(head -n 3 said.err)"
	fi
}

declare -A words=(
	[address]="ERROR: AddressSanitizer: heap-use-after-free"
	[leak]="ERROR: LeakSanitizer: detected memory leaks"
	[memory]="WARNING: MemorySanitizer: use-of-uninitialized-value"
	[thread]="WARNING: ThreadSanitizer: data race"
	[undefined]="runtime error: signed integer overflow"
)

# sanitize COMPILER C++-COMPILER SANITIZER
sanitize() {
	local c=$1 cxx=$2 kind=$3 name="$1 $3" faulty=(./plain "$3")
	local flags=(-g -O1 "-fsanitize=$kind")
	if ! "$c" "${flags[@]}" -o plain plain.c || ! "$cxx" "${flags[@]}" -o objects objects.cc ||
		! "$c" "${flags[@]}" -pthread -o threads threads.c; then
		fail "$name" "does not build"
		return
	fi
	says "$name: C" "x 2147483647" ./plain
	says "$name: C++" 6950 ./objects
	says "$name: threads" 14850 ./threads
	[[ $kind != thread ]] || faulty=(./threads race)
	finds "$name: finds a fault" "${words[$kind]}" "${faulty[@]}"
}

for compiler in "gcc g++" "clang clang++"; do
	read -r c cxx <<<"$compiler"
	have "$c" || {
		not_run "$c" "not installed"
		continue
	}
	for kind in address leak memory thread undefined; do
		[[ $c != gcc || $kind != memory ]] || continue # gcc has none
		sanitize "$c" "$cxx" "$kind"
	done
done
finish
