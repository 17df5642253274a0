#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# addresses.sh: programs that depend on addresses (addresses.c) behave under the translator as
# natively. They map memory at fixed addresses, also where the code cache is. They call the
# vsyscall page and read the auxiliary vector in /proc. Others have a large alignment, or
# gigabytes of static data.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
compile addresses -pthread
cd "$SCRATCH" || exit 1

# as_native NAME PROGRAM...: output and status are the native ones, and the program is counted.
as_native() {
	local name=$1 want
	shift
	run native "$@"
	want=$status
	run said "$SOFTPMU" stat -j -o counts -e instructions:u -- "$@"
	same_file "$name" native.out said.out
	same "$name: status" "$want" "$status"
	same "$name: counted" yes "$([[ $(count_of counts 1) -gt 1000 ]] && echo yes)"
	[[ ! -s said.err ]] || fail "$name: complains" "$(<said.err)"
}
as_native "fixed addresses" "$BUILT/addresses" fixed
same "they are the program's" "fixed 1;no replacement 1;with threads 1;wrong 0;" "$(tr '\n' ';' <said.out)"
as_native "hints, moves, what is unmapped" "$BUILT/addresses" others
as_native "vsyscall" "$BUILT/addresses" vsyscall
as_native "auxv" "$BUILT/addresses" auxv
same "auxv is the program's" "auxv 1 1;words auxv;" "$(tr '\n' ';' <said.out)"
as_native "pages that the program supplies" "$BUILT/addresses" userfault
same "events that would wait for the engine's lock" "events refused" "$("$SOFTPMU" stat -o counts -- "$BUILT/addresses" events)"
# A sampled run makes precise steps, which have code of their own.
run said "$SOFTPMU" record -q -e instructions:upp -c 997 -o data -- "$BUILT/addresses" fixed
same "fixed addresses, sampled" "fixed 1;no replacement 1;with threads 1;wrong 0;" "$(tr '\n' ';' <said.out)"
run said "$SOFTPMU" record -q -e instructions:upp -c 997 -o data -- "$BUILT/addresses" vsyscall
same_file "vsyscall, sampled" <("$BUILT/addresses" vsyscall) said.out
# A mapping over the engine's own memory ends the run with one line.
run said "$SOFTPMU" stat -o counts -e instructions:u -- "$BUILT/addresses" engine
same "over softpmu's memory" "125 1" "$status $(grep -c 'at a fixed address where softpmu has its own' said.err)"

# softpmu under softpmu: the inner run is as without the outer one, which does not count it.
alone=$("$SOFTPMU" stat --deterministic -x, -e instructions:u -- true 2>&1 | cut -d, -f1)
run said "$SOFTPMU" stat -j -o counts -e instructions:u -- "$SOFTPMU" stat --deterministic -x, -e instructions:u -- true
same "softpmu under softpmu" "0 $alone" "$status $(cut -s -d, -f1 said.err)"
same "the inner run is told" 1 "$(grep -c 'ran natively and was not counted: .*softpmu itself is at the addresses' said.err)"
same "the outer run counts the inner tool" yes "$([[ $(count_of counts 1) -gt 1000 ]] && echo yes)"

# build NAME FLAGS...
build() {
	"$CC" -O1 -w -o "$1" "$ROOT/tests/user/addresses.c" -pthread "${@:2}" 2>err || stop "$1" "does not build: $(<err)"
}
build aligned -Wl,-z,max-page-size=0x1000000
as_native "an alignment of 16 MB" ./aligned alignment
# More data than fits below 2 GiB; data that leaves little space for the code cache; more than 2 GiB of data.
build position-independent -DDATA_BYTES=1900000000ul
build linked -no-pie -DDATA_BYTES=2080000000ul
build medium -mcmodel=medium -DDATA_BYTES=3000000000ul
build medium-linked -no-pie -mcmodel=medium -DDATA_BYTES=3000000000ul
for name in position-independent linked medium medium-linked; do
	as_native "static data: $name" ./$name data
	as_native "static data: $name: vsyscall" ./$name vsyscall
done
# So much code, in several threads, that the small cache of such a program is emptied repeatedly.
for ((i = 0; i < 6000; i++)); do
	echo "static unsigned f$i(unsigned n) { return n * ${i}u + (n >> 3 ^ ${i}u); }"
done >many.c
{
	echo '#include <pthread.h>'
	echo '#include <stdio.h>'
	echo 'static char data[3000000000ul];'
	echo 'static unsigned (*const f[])(unsigned) = {'
	for ((i = 0; i < 6000; i++)); do
		echo "f$i,"
	done
	echo '};'
	cat <<'C'
static void *run(void *sum)
{
	unsigned n = 1;

	for (int turn = 0; turn < 3; turn++)
		for (int i = 0; i < 6000; i++)
			n = f[i](n);
	data[(unsigned long)n % sizeof(data)] = 1;
	*(unsigned *)sum = n;
	return NULL;
}

int main(void)
{
	pthread_t thread[24];
	unsigned sum[24];

	for (int i = 0; i < 24; i++)
		pthread_create(&thread[i], NULL, run, &sum[i]);
	for (int i = 0; i < 24; i++) {
		pthread_join(thread[i], NULL);
		printf("%u\n", sum[i]);
	}
	return 0;
}
C
} >>many.c
"$CC" -O0 -w -no-pie -mcmodel=medium -o many many.c -pthread || stop "many" "does not build"
as_native "a small code cache" ./many
run said "$SOFTPMU" record -q -e instructions:upp -c 9973 -o data -- ./many
same_file "a small code cache, sampled" native.out said.out
finish
