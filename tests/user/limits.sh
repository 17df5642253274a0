#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# limits.sh: a limit of the address space (ulimit -v) is the program's. Where the kernel's limit can be raised, the
# program has as much as natively. Where it cannot, the engine keeps to the limit too, and small programs run.
# shellcheck source-path=SCRIPTDIR
# shellcheck disable=SC2154
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
cat >limits.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* How many MB can be mapped; with an argument, after the limit has been set to so many. */
int main(int argc, char **argv)
{
	struct rlimit limit;
	int n = 0;

	if (argc > 1) {
		limit.rlim_cur = limit.rlim_max = (rlim_t)atol(argv[1]) << 20;
		if (setrlimit(RLIMIT_AS, &limit))
			return 1;
	}
	getrlimit(RLIMIT_AS, &limit);
	while (n < 100000 && mmap(NULL, 1 << 20, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
		n++;
	printf("%ld %ld %d\n", (long)(limit.rlim_cur >> 20), (long)(limit.rlim_max >> 20), n);
	return 0;
}
C
"$CC" -O1 -o limits limits.c || stop "limits" "does not build"

# limited OPTION KB COMMAND...
limited() {
	(
		ulimit "$1" "$2" && shift 2 && "$@"
	)
}
soft() {
	"$SOFTPMU" stat -j -o counts -e instructions:u -- "$@" 2>&1
}
# about NAME NATIVE SOFT: the limits are the same, and the program can map as much, within 4 MB (alignment, the C library).
about() {
	local -a want got
	read -ra want <<<"$2"
	read -ra got <<<"$3"
	if [[ ${want[*]:0:2} == "${got[*]:0:2}" && ${got[2]:-x} =~ ^[0-9]+$ ]] && ((got[2] <= want[2] + 4 && got[2] >= want[2] - 4)); then
		pass "$1"
	else
		fail "$1" "natively $2, here $3"
	fi
}
about "the program's own limit" "$(./limits 200)" "$(soft ./limits 200)"
about "a limit of another program" "$(sh -c 'ulimit -v 100000; ./limits')" "$(soft sh -c 'ulimit -v 100000; ./limits')"
about "a limit that can be raised" "$(limited -Sv 100000 ./limits)" "$(limited -Sv 100000 soft ./limits)"
# Without the right to raise the limit (CAP_SYS_RESOURCE), the program has less, by what the engine needs.
left=$(limited -v 900000 soft ./limits 300 | sed 's/.* //')
same "a limit for the program and the engine" yes "$( ((left > 250 && left <= 300)) && echo yes)"
same "a low limit" "" "$(limited -v 60000 soft true)"
same "a low limit: counted" yes "$([[ $(count_of counts 1) -gt 1000 ]] && echo yes)"
same "a low limit: a larger program" 1 "$(limited -v 120000 soft perl -e 'print 1')"
finish
