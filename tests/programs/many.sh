#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# many.sh: each program of many.list gives the same streams, exit status and files natively and
# under `stat`, which counts more than 0 instructions. Programs that the list says cannot be run end
# with the reason in the list. LIST=FILE takes another list; FILE.files makes its files. MANY=WORD runs only the lines with that word.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
LIST=${LIST:-$ROOT/tests/programs/many.list}
LEAST=${LEAST:-150} # programs that the list must have
export PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=$SCRATCH/home TZ=UTC TERM=dumb COLUMNS=80 MANWIDTH=80
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_DATE=@1000000000 GIT_COMMITTER_DATE=@1000000000
LIMIT=${LIMIT_MANY:-240}
mkdir -p "$HOME"

# --- the files that the programs work on
mkdir "$SCRATCH/fixture" && cd "$SCRATCH/fixture" || exit 1
awk 'BEGIN { srand(11); for (i = 0; i < 1000; i++) { s = ""; for (j = 0; j < 3 + rand() * 6; j++) { w = ""; for (k = 0; k < 1 + rand() * 7; k++) w = w sprintf("%c", 97 + rand() * 26); s = s w " " } print s } }' >lines
for ((i = 0; i < 200; i++)); do cat lines; done >many-lines
seq 1 7 700 >numbers
LC_ALL=C sort lines >sorted1
sed 's/e/E/' sorted1 | sort >sorted2
head -n 20 lines | tr -s ' ' '\n' | grep .. >words
awk '{ print NR "," substr($1, 1, 2) "," length($0) "," $2 }' lines >a.csv
awk 'NR % 2 { print NR "," $3 }' lines >b.csv
sort -t, -k1,1 -o a.csv a.csv && sort -t, -k1,1 -o b.csv b.csv
awk 'NR < 200 { print $1 "a " $1 "b"; print $1 "b " $1 "c" }' numbers >pairs
head -n 40 lines >a.txt
sed '7d; 20s/a/b/g; 33p' a.txt >b.txt
sed '9d; 21s/c/d/g' a.txt >c.txt
diff -u a.txt b.txt >a.patch
printf '1,3d\n/a/s//A/\nw\nq\n' >script.ed
printf 'scale=60\n4*a(1)\nsqrt(2)\n2^300 %% 1000007\n' >sums.bc
printf 'gr\303\274n \342\202\254 \320\226\n%.0s' {1..50} >utf8.txt
{
	printf '{"items": ['
	for i in {1..40}; do printf '%s{"name": "n%d", "n": %d}' "$([[ $i == 1 ]] || echo ,)" "$i" $((i * i)); done
	printf ']}\n'
} >a.json
{
	echo '<items>'
	for i in {1..40}; do echo "<item n=\"$((i % 7))\">text $i</item>"; done
	echo '</items>'
} >a.xml
mkdir -p tree/one/two tree/three empty
cp lines tree/one/a && cp numbers tree/one/two/b && cp a.txt tree/three/c && ln -s c tree/three/d
(cd tree && find . | sort | cpio -o --quiet -H newc) >tree.cpio
tar -czf tree.tar.gz tree
bzip2 -k lines && xz -k -T1 lines && mv lines.bz2 bz && mv lines.xz x
have zip && zip -qrX tree.zip tree
mv bz lines.bz2 && mv x lines.xz
cat >a.c <<'C'
#include <stdio.h>
#include <stdlib.h>

struct node { struct node *left, *right; int key; };

static struct node *add(struct node *n, int key)
{
	if (!n) {
		n = calloc(1, sizeof(*n));
		n->key = key;
	} else if (key < n->key) {
		n->left = add(n->left, key);
	} else {
		n->right = add(n->right, key);
	}
	return n;
}

static long sum(const struct node *n) { return n ? n->key + sum(n->left) + sum(n->right) : 0; }

int main(int argc, char **argv)
{
	struct node *root = NULL;
	unsigned x = 1;
	int c, i;
	long bytes = 0;
	FILE *file = argc > 2 ? fopen(argv[2], "r") : NULL;

	for (i = 0; i < (argc > 1 ? atoi(argv[1]) * 100 : 10); i++)
		root = add(root, (int)((x = x * 1103515245u + 12345u) >> 16 & 32767));
	while (file && (c = getc(file)) != EOF)
		bytes += c;
	printf("%ld %ld %.6f\n", sum(root), bytes, (double)sum(root) / 7);
	return 3;
}
C
cat >a.cc <<'C'
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

int main()
{
	std::map<std::string, int> seen;
	for (int i = 0; i < 3000; i++) {
		try {
			if (i % 3 == 0)
				throw std::runtime_error("n" + std::to_string(i % 11));
			seen["even"] += i % 2;
		} catch (const std::exception &e) {
			seen[e.what()]++;
		}
	}
	for (const auto &s : seen)
		std::cout << s.first << ' ' << s.second << '\n';
}
C
cat >jump.c <<'C'
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf back;
static void handler(int n) { siglongjmp(back, n); }

int main(void)
{
	volatile int rounds = 0;

	signal(SIGSEGV, handler);
	while (rounds < 500 && sigsetjmp(back, 1) != -1)
		if (rounds++ < 500)
			*(volatile int *)8 = 1;
	printf("%d\n", rounds);
	return 0;
}
C
# built COMMAND...
built() {
	"$@" || stop "fixture" "$*"
}
built "$CC" -O1 -g -o prog a.c
built "$CC" -O1 -c -o a.o a.c
built "$CC" -O1 -S -o a.s a.c
built ar rcsD lib.a a.o
built g++ -O1 -o made-exceptions a.cc
built "$CC" -O1 -o made-longjmp jump.c
! have clang || clang -O1 -S -emit-llvm -o a.ll a.c
printf 'all: one two\none two: ; @echo $@; sort -r numbers | head -n 2\n' >a.mk
printf 'public class A {\n    public static void main(String[] a) throws Exception {\n        Thread t = new Thread(() -> System.out.println("thread"));\n        t.start();\n        t.join();\n        long s = 0;\n        for (int i = 0; i < 100000; i++)\n            s += i %% 7;\n        System.out.println(s);\n    }\n}\n' >A.java
! have javac || built javac A.java
# shellcheck disable=SC2016 # the file's own
printf 'all: one two three\n%%: ; @for i in 1 2 3; do echo $@ $$i | tr a-z A-Z >>$@; done\n' >b.mk
printf '      program p\n      integer i\n      real(8) s\n      s = 0\n      do i = 1, 1000\n      s = s + 1d0/i\n      end do\n      print *, s\n      end\n' >a.f90
printf 'program a; var i, s: longint; begin s := 0; for i := 1 to 10 do s := s + i; writeln(s) end.\n' >a.pas
printf '       identification division.\n       program-id. a.\n       procedure division.\n           display "a".\n           stop run.\n' >a.cob
printf 'program P { version V { int F(int) = 1; } = 1; } = 0x20000001;\n' >a.x
# shellcheck disable=SC2016 # the file's own
printf '#!/bin/sh\nfor f in $(ls); do echo $f; done\n' >a.sh
printf 'import os\ndef f(x):\n    return y\n' >a.py
# shellcheck disable=SC2016 # the file's own
printf 'set s 0\nfor {set i 0} {$i < 3000} {incr i} {incr s [expr {$i %% 7}]}\nputs "$s [lsort -decreasing {b a c}] [string reverse hello]"\n' >a.tcl
printf 's = 0\ndo i = 1 to 500\n  s = s + i // 7\nend\nsay s\n' >a.rexx
printf '=head1 NAME\n\na page - of pod\n\n=over\n\n=item one\n\nB<bold> I<italic>\n\n=back\n' >page.pod
printf '.TH PAGE 1\n.SH NAME\npage \\- a page\n.SH TEXT\n%s\n' "$(cat a.txt)" >page.1
printf 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "a"\nmsgstr "b"\n' >a.po
! have openssl || openssl genrsa -out key.pem 1024 2>"$SCRATCH/said"
mkdir -m 700 gnupg
# The first run of gpg would make a file that holds the time.
! have gpg || built gpg --homedir gnupg --batch --quiet --list-keys
printf 'a\n' | gzip -n >sealed.gpg
(
	git init -q repository && cd repository && git config user.name n && git config user.email n@n &&
		cp ../a.c ../lines . && git add . && git commit -qm one && sed -i s/e/E/ lines && git commit -qam two
) || stop "fixture" "git"
# shellcheck source=/dev/null
[[ ! -f $LIST.files ]] || . "$LIST.files"
find . -exec touch -h -d @1000000000 {} +

# --- the runs

# in_fixture HOW COMMAND...: runs the command in a fresh copy of the files, in a folder with a fixed name, kept as
# HOW.files. Sets status.
in_fixture() {
	local how=$1
	rm -rf "$SCRATCH/work" "$SCRATCH/$how.files"
	cp -a "$SCRATCH/fixture" "$SCRATCH/work"
	cd "$SCRATCH/work" || exit 1
	timeout -s KILL "$LIMIT" "${@:2}" <"$INPUT" >"$SCRATCH/$how.out" 2>"$SCRATCH/$how.err"
	status=$?
	cd "$SCRATCH" || exit 1
	mv "$SCRATCH/work" "$SCRATCH/$how.files"
	find "$SCRATCH/$how.files" -printf '%P %y %m %l\n' | sort >"$SCRATCH/$how.names"
}

counted=("$SOFTPMU" stat -j -e instructions:u -o "$SCRATCH/json" --)

# alike NAME COMMAND...
alike() {
	local name=$1 native said count
	shift
	in_fixture native "$@"
	native=$status
	rm -f "$SCRATCH/json"
	in_fixture stat "${counted[@]}" "$@"
	own_lines stat "$native"
	# The tool's lines about children that a signal ended, if the list has such programs.
	[[ -z ${KILLED:-} ]] || sed -i '/^softpmu: [0-9]* process.* had been killed; .* missing$/d' "$SCRATCH/stat.err"
	said=$(differences stat "$native" "$status" && diff "$SCRATCH/native.names" "$SCRATCH/stat.names")
	count=$(count_of "$SCRATCH/json" 1 2>/dev/null)
	if [[ -n $said ]]; then
		fail "$name" "$said"
	elif [[ ! $count =~ ^[1-9][0-9]*$ ]]; then
		fail "$name" "its count is '$count'"
	else
		pass "$name"
	fi
}

# impossible REASON NAME COMMAND...
impossible() {
	local reason=$1 name=$2
	shift 2
	in_fixture stat "${counted[@]}" "$@"
	if ((status == 125)) && grep -q "^softpmu: .*$reason" "$SCRATCH/stat.err"; then
		pass "$name: $reason"
	else
		fail "$name" "is listed as '$reason', and ended with $status: $(tail -n 1 "$SCRATCH/stat.err")"
	fi
}

programs=0
while IFS= read -r line <&3; do
	[[ -n $line && $line != '#'* ]] || continue
	[[ -z ${MANY:-} || " $line " == *" $MANY "* ]] || continue
	reason=''
	if [[ $line == '! '* ]]; then
		reason=${line#! } line=${reason#* ! } reason=${reason%% ! *}
	fi
	INPUT=/dev/null
	if [[ $line == '<'* ]]; then
		INPUT=$SCRATCH/fixture/${line%% *} line=${line#* }
		INPUT=${INPUT/<}
	fi
	eval "command=($line)"
	if [[ ${command[0]} != ./* ]] && ! have "$(type -P "${command[0]}")"; then
		not_run "${command[0]}" "not installed"
	elif [[ ${command[0]} == ./* && ! -x $SCRATCH/fixture/${command[0]} ]]; then
		not_run "${command[0]}" "what makes it is not installed"
	elif [[ -n $reason ]]; then
		impossible "$reason" "$line" "$(type -P "${command[0]}")" "${command[@]:1}"
	else
		programs=$((programs + 1))
		[[ ${command[0]} == ./* ]] || command[0]=$(type -P "${command[0]}")
		alike "$line" "${command[@]}"
	fi
done 3<"$LIST"
[[ -n ${MANY:-} ]] || same "programs in the list: at least $LEAST" yes "$( ((programs >= LEAST)) && echo yes || echo "$programs")"

# The comparison must find a difference, and a listed reason that is wrong.
# refused NAME CHECK ARGUMENT...
refused() {
	local before=$failed now
	"${@:2}" >"$SCRATCH/said"
	now=$failed failed=$before
	same "$1 is noticed" 1 $((now - before))
}
INPUT=/dev/null
refused "another output" alike clock "$(type -P date)" +%N
refused "another file" alike file "$(type -P sh)" -c 'date +%N >file'
# shellcheck disable=SC2016 # the inner shell expands it
refused "another mode" alike mode "$(type -P bash)" -c ': >file; [[ $(</proc/$PPID/comm) == timeout ]] || chmod 600 file'
refused "a program that runs" impossible "cannot be handed" "true" "$(type -P true)"
finish
