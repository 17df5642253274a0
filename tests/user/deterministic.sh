#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# deterministic.sh: with --deterministic ten runs of a program give the same count to the
# instruction, also in environments of different sizes; without it they do not. With --deterministic=time the same
# holds for programs that read clocks.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
RUNS=${RUNS:-10}
unset PYTHONHASHSEED PERL_HASH_SEED
export PYTHONDONTWRITEBYTECODE=1
cd "$SCRATCH" || exit 1

# counts_of RUNS OPTIONS... -- PROGRAM...: prints how many different counts RUNS runs give. Each must be a number. If
# there are several, it prints them, too, and the last lines that the program wrote.
# A shell prints the process number of its parent, so runs are compared only if that has the same number of digits.
counts_of() {
	local runs=$1 different
	shift
	: >said
	for ((i = 0; i < runs; i++)); do
		(
			echo -n "${#BASHPID} "
			exec ${SOFTPMU_BEFORE-} "$SOFTPMU" stat -j -o json -e instructions:u "$@" >out 2>err </dev/null
		) || echo -n "status $?: $(tail -n 1 err) "
		count_of json 1
		tail -n 1 out | tr -cd '[:print:]\n' | cut -c1-80 >>said # in a pipeline: "_" of the environment stays
	done | sort -u >counts
	if grep -qvE '^[0-9]+ [1-9][0-9]*$' counts; then
		tr '\n' ';' <counts
	else
		different=$(cut -d' ' -f1 counts | uniq -c | sort -nr | awk '{ print $1; exit }')
		((different == 1)) || different+=": $(tr '\n' ';' <counts) $(sort said | uniq -c | tr '\n' ';')"
		echo "$different"
	fi
}

counts() {
	counts_of "$RUNS" "$@"
}

awk 'BEGIN { srand(7); for (i = 0; i < 20000; i++) print int(rand() * 1e9) }' >numbers
cat >unit.c <<'C'
struct list { struct list *next; int value; };
int sum(const struct list *l) { int s = 0; for (; l; l = l->next) s += l->value; return s; }
const char *name(int n) { static const char *const names[] = {"none", "one", "two"}; return names[n % 3]; }
C
# Where python3 is a script that starts another process, the process's number changes counts.
python=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))' 2>/dev/null)
cc1=$("$CC" -print-prog-name=cc1)
table="create table t(a,b); insert into t select value, random() from generate_series(1,2000); select count(*), max(a) from t where b % 7; select length(hex(randomblob(9)));"
# shellcheck disable=SC2016 # perl expands it
programs=(
	"xz|xz -1 -c numbers"
	"python3|${python:-python3} -c|import random, re; d = {str(i): i for i in range(3000)}; print(len({hash(k) % 97 for k in d}), random.random(), re.sub('[aeiou]', '', 'determinism'))"
	"perl|perl -e|my %h; \$h{\$_} = 1 for 1..3000; print join(',', keys %h), rand"
	"sqlite3|sqlite3 :memory:|$table"
	"cc1|$cc1 -quiet -O2 unit.c -o -"
	"bash|bash -c|declare -A a; for i in {1..300}; do a[k\$i]=\$i; done; echo \${!a[@]}"
)
moved=0
for entry in "${programs[@]}"; do
	IFS='|' read -r name words last <<<"$entry"
	read -ra command <<<"$words"
	have "${command[0]}" || {
		not_run "$name" "not installed"
		continue
	}
	same "$name: different counts of $RUNS runs" 1 "$(counts --deterministic -- "${command[@]}" ${last:+"$last"})"
	[[ $(counts_of 3 -- "${command[@]}" ${last:+"$last"}) == 1 ]] || moved=$((moved + 1))
done
# Without the option addresses and hash seeds are random, so the option is what fixes them.
randomized() {
	[[ $(grep -F '[stack]' /proc/self/maps) != "$(grep -F '[stack]' /proc/self/maps)" ]]
}
if ! randomized; then
	not_run "without the option counts move" "addresses are not at random here"
elif ((moved >= 2)); then
	pass "without the option counts move"
else
	fail "without the option counts move" "of $moved programs only"
fi

# The parts: addresses, random numbers by call, by file and in the auxiliary vector, no vDSO.
cat >what.c <<'C'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
	uint64_t words[4] = {0};
	int flags = MAP_PRIVATE | MAP_ANONYMOUS, c;
	char *grown = mmap(NULL, 40960, PROT_READ, flags, -1, 0);
	char *shared;
	int segment = shmget(IPC_PRIVATE, 12345, 0600);
	FILE *file = fopen("/dev/urandom", "r");

	(void)argc;
	printf("stack %p page %p heap %p text %p\n", (void *)argv,
	       mmap(NULL, 4096, PROT_READ, flags, -1, 0), sbrk(0), (void *)main);
	printf("low %p hint %p moved %p\n", mmap(NULL, 4096, PROT_READ, flags | MAP_32BIT, -1, 0),
	       mmap(argv, 4096, PROT_READ, flags, -1, 0),
	       mremap(grown, 40960, 3 << 20, MREMAP_MAYMOVE));
	shared = shmat(segment, NULL, 0);
	printf("segment %p large %p\n", (void *)shared,
	       mmap(NULL, 1ul << 40, PROT_NONE, flags | MAP_NORESERVE, -1, 0));
	shmctl(segment, IPC_RMID, NULL);
	shmdt(shared); /* the list of mappings has its number */
	for (int i = 0; i < 3000; i++)
		if (munmap(mmap(NULL, 400ul << 20, PROT_NONE, flags | MAP_NORESERVE, -1, 0), 400ul << 20))
			return 2;
	printf("after many %p\n", mmap(NULL, 4096, PROT_READ, flags, -1, 0));
	memcpy(words, (void *)getauxval(AT_RANDOM), 16);
	if (getrandom(words + 2, 8, 0) != 8 || !file || fread(words + 3, 8, 1, file) != 1)
		return 1;
	printf("random %lx %lx %lx %lx vdso %lx\n", words[0], words[1], words[2], words[3],
	       getauxval(AT_SYSINFO_EHDR));
	printf("PATH %s, last %s\n", getenv("PATH"), argv[argc - 1]);
	file = fopen("/proc/self/maps", "r");
	while ((c = getc(file)) != EOF)
		putchar(c);
	return 0;
}
C
"$CC" -O1 -o what what.c || stop "what" "does not build"
what() {
	env -i PATH=/bin "$@" "$SOFTPMU" stat -o json --deterministic -- ./what last 2>&1
}
what >first
what >second
same_file "the same to the byte" first second
what HERE="$(printf '%02000d' 1)" >second
same_file "in a larger environment" first second
same "its words" "PATH /bin, last last" "$(grep ^PATH first)"
same "no vDSO" 0 "$(sed -n 's/.* vdso //p' first)"
same "the random numbers are not all alike" 4 "$(sed -n 's/^random \(.*\) vdso.*/\1/p' first | tr ' ' '\n' | sort -u | grep -vc '^0$')"
for part in stack page heap; do
	randomized || break
	for ((i = 0; i < 2; i++)); do
		"$SOFTPMU" stat -o json -- ./what last | grep -o "$part [^ ]*"
	done | sort -u >"$part"
	same "$part: at random without the option" 2 "$(grep -c '' "$part")"
done

# The time of last access, as each system call reports it: the time of modification. The first listing of a folder
# changes it, so Python, which looks for modules in the folder, would execute another number of instructions then.
cat >times.c <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void show(const char *call, struct timespec access, struct timespec modified)
{
	printf("%s %d%d\n", call, access.tv_sec == modified.tv_sec, access.tv_nsec == modified.tv_nsec);
}

int main(void)
{
	struct stat s;
	struct statx x;
	int file = open("folder", O_RDONLY);

	if (syscall(SYS_stat, "folder", &s))
		return 1;
	show("stat", s.st_atim, s.st_mtim);
	if (syscall(SYS_lstat, "folder", &s))
		return 1;
	show("lstat", s.st_atim, s.st_mtim);
	if (syscall(SYS_fstat, file, &s))
		return 1;
	show("fstat", s.st_atim, s.st_mtim);
	if (syscall(SYS_newfstatat, AT_FDCWD, "folder", &s, 0))
		return 1;
	show("newfstatat", s.st_atim, s.st_mtim);
	if (statx(AT_FDCWD, "folder", 0, STATX_ATIME | STATX_MTIME, &x))
		return 1;
	printf("statx %d%d\n", x.stx_atime.tv_sec == x.stx_mtime.tv_sec,
	       x.stx_atime.tv_nsec == x.stx_mtime.tv_nsec);
	return 0;
}
C
"$CC" -O1 -o times times.c || stop "times" "does not build"
calls="stat lstat fstat newfstatat statx"
mkdir folder
: >folder/module.py
touch -a -d '2020-01-02 03:04:05.6' folder
same "access times: the file's own" "$(printf '%s 00 ' $calls)" "$("$SOFTPMU" stat -o json -- ./times | tr '\n' ' ')"
same "access times: hidden" "$(printf '%s 11 ' $calls)" "$("$SOFTPMU" stat -o json --deterministic -- ./times | tr '\n' ' ')"
if have "${python:-python3}"; then
	same "access times: counts of runs after the access times 0.6 s, 0 s and now" 1 "$(
		for moment in 05.6 05 ''; do
			[[ -z $moment ]] || touch -a -d "2020-01-02 03:04:$moment" folder
			PYTHONPATH=folder "$SOFTPMU" stat -j -o json -e instructions:u --deterministic -- \
				"${python:-python3}" -c 'import module' || echo failed
			count_of json 1
		done | sort -u | wc -l
	)"
else
	not_run "access times: python3" "not installed"
fi

# A program that the program executes, and a child, are fixed too. Perl waits without a handler: a
# shell that its child's end interrupts takes another path when the child is quick.
executes='system("perl", "-e", "print rand"); exec("perl", "-e", "print rand")'
same "a program that the program executes" 1 "$(counts --deterministic -- perl -e "$executes")"

# With the tunables of docs/ci.md the C library has no function left that is chosen for the processor.
vector() {
	"$SOFTPMU" trace --deterministic --summary -o sums -- ls /usr/bin >/dev/null
	awk '$3 ~ /(evex|avx|sse4|ssse3|erms)/ { print $3 }' sums | grep -cv '_sse2_'
}
tunables=$(sed -n 's/^    GLIBC_TUNABLES=//p' "$ROOT/docs/ci.md")
if (($(vector) > 0)); then
	same "functions for the processor with the tunables of ci.md" 0 "$(GLIBC_TUNABLES=${tunables:-none} vector)"
else
	not_run "tunables" "nothing is chosen for this processor"
fi

# --- clocks. A shell seeds its random numbers from the time and from process numbers.
# shellcheck disable=SC2016 # bash expands it
timed=( # name|words of the command|last word
	"python3|${python:-python3} -I -c|import time; print(time.time(), time.monotonic(), time.process_time())"
	"python3's timeit|${python:-python3} -I -m timeit -r 2 -s|pass"
	"bash|unshare -pf bash -c|for i in {1..300}; do ((RANDOM > 16000)) && x=\$i\$x; done; echo \${#x} \$EPOCHREALTIME"
	"perl|perl -e|use Time::HiRes 'time'; my \$t = time; select undef, undef, undef, .01; print time - \$t, ' ', time"
)
for entry in "${timed[@]}"; do
	IFS='|' read -r name words last <<<"$entry"
	read -ra command <<<"$words"
	before=()
	if [[ ${command[0]} == unshare ]]; then
		before=(unshare -Urpf)
		command=("${command[@]:2}")
		"${before[@]}" true 2>err || {
			not_run "clocks: $name" "no namespace for numbers of processes"
			continue
		}
	fi
	have "${command[0]}" || {
		not_run "clocks: $name" "not installed"
		continue
	}
	same "clocks: $name: different counts of $RUNS runs" 1 "$(
		SOFTPMU_BEFORE="${before[*]}" counts --deterministic=time -- "${command[@]}" "$last"
	)"
done

# What clocks show, and how waits advance them.
cat >clocks.c <<'C'
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static long long ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static long long began;

static void begin(void)
{
	began = ns_of(CLOCK_MONOTONIC);
}

/* Within the time that the wait was to take, and a millisecond. */
static void end(const char *name, long long least)
{
	long long took = ns_of(CLOCK_MONOTONIC) - began;

	printf("%s %s\n", name, took >= least && took < least + 1000000 ? "right" : "wrong");
}

static void deadline(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	struct timespec t;
	int status = 0;

	pthread_mutex_lock(&mutex);
	begin();
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += 100;
	while (!status)
		status = pthread_cond_timedwait(&condition, &mutex, &t);
	end("condition", 100000000000ll);
	begin();
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += 50;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	end("deadline", 50000000000ll);
}

static void waits(void)
{
	struct timespec t = {0, 10000000};
	struct timeval v = {0, 20000};
	struct epoll_event event;

	begin();
	nanosleep(&t, NULL);
	end("nanosleep", 10000000);
	begin();
	select(0, NULL, NULL, NULL, &v);
	end("select", 20000000);
	begin();
	poll(NULL, 0, 30);
	end("poll", 30000000);
	begin();
	ppoll(NULL, 0, &t, NULL);
	end("ppoll", 10000000);
	begin();
	epoll_wait(epoll_create1(0), &event, 1, 15);
	end("epoll", 15000000);
	begin();
	for (int i = 0; i < 1000; i++)
		poll(NULL, 0, 0);
	end("no wait", 0);
}

/* The time-stamp counter (Vol. 2B, RDTSC): how often a loop until some ticks have passed turns. */
static void ticks(void)
{
	unsigned processor;
	unsigned long long first = _rdtsc(), last, turns = 0;

	while ((last = __rdtscp(&processor)) - first < 200000)
		turns++;
	printf("%llu turns, %llu ticks, processor %u\n", turns, last - first, processor);
	printf("ticks %s\n", ns_of(CLOCK_MONOTONIC) - last < 100000 ? "right" : "wrong");
}

int main(void)
{
	struct timeval v;
	long long t = ns_of(CLOCK_REALTIME);
	int status = 0;

	printf("%ld %lld\n", (long)time(NULL), ns_of(CLOCK_PROCESS_CPUTIME_ID) / 1000000000);
	gettimeofday(&v, NULL);
	printf("gettimeofday %s\n", v.tv_sec * 1000000ll + v.tv_usec >= t / 1000 ? "right" : "wrong");
	waits();
	deadline();
	ticks();
	fflush(stdout);
	/* A million instructions are a millisecond, and a child's time is not before its parent's. */
	begin();
	for (volatile int i = 0; i < 1000000; i++)
		;
	printf("loop %s\n", ns_of(CLOCK_MONOTONIC) - began > 3000000 ? "right" : "wrong");
	t = ns_of(CLOCK_REALTIME);
	if (!fork())
		_exit(ns_of(CLOCK_REALTIME) < t);
	wait(&status);
	printf("child %s\n", status ? "wrong" : "right");
	return 0;
}
C
"$CC" -O1 -o clocks clocks.c -pthread || stop "clocks" "does not build"
clocks() {
	timeout 60 "$SOFTPMU" stat -o json "$@" -- ./clocks 2>&1
}
same "clocks: the beginning" "1577836800 0" "$(clocks --deterministic=time | head -n 1)"
same "clocks: readings and waits" "gettimeofday nanosleep select poll ppoll epoll no wait condition deadline ticks loop child" \
	"$(clocks --deterministic=time | sed -n 's/ right$//p' | tr '\n' ' ' | sed 's/ $//')"
same "clocks: different outputs of 3 runs" 1 \
	"$(for _ in 1 2 3; do clocks --deterministic=time | cksum; done | sort -u | wc -l)"
same "clocks: turns until ticks have passed" yes "$(clocks --deterministic=time | grep -q '^[1-9][0-9]* turns, 2000.. ticks, processor 0$' && echo yes)"
same "clocks: different counts of 3 runs" 1 "$(counts_of 3 --deterministic=time -- ./clocks)"
"$SOFTPMU" stat -o json --deterministic=date -- true 2>err
same "no other word" 129 $?

# All of record and trace.
for ((i = 0; i < 2; i++)); do
	"$SOFTPMU" record -q --deterministic -e instructions:upp -c 997 -o data -- ./what last >/dev/null
	"$SOFTPMU" report -i data | grep -v '^#' >report.$i
	"$SOFTPMU" trace --deterministic --list -o list.$i -- ./what last >/dev/null
done
same_file "record" report.0 report.1
same_file "trace" list.0 list.1
same "there are samples and branches" yes "$([[ -s report.0 && -s list.0 ]] && echo yes)"
finish
