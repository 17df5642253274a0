#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# languages.sh: perl and python3.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"

cat >"$SCRATCH/work.pl" <<'PERL'
use strict; use warnings;
my (%count, @words);
my $seed = 42;
for my $i (1 .. 40000) {
    $seed = ($seed * 1103515245 + 12345) % 2147483648;
    push @words, join '', map { chr(97 + ($seed >> $_) % 26) } 3, 7, 11, 15, 19;
}
$count{$_}++ for @words;
my @sorted = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
print "$_ $count{$_}\n" for @sorted[0 .. 9];
my $text = join ' ', @words;
my $vowels = () = $text =~ /[aeiou]{2,}/g;
(my $changed = $text) =~ s/\b(\w)(\w*?)e(\w+)\b/$1<$2>$3/g;
printf "%d %d %.6f %s\n", $vowels, length $changed, log(length $text), substr($changed, 0, 60);
my @matrix = map { my $r = $_; [ map { $r * $_ % 17 } 0 .. 59 ] } 0 .. 59;
my $trace = 0;
for my $i (0 .. 59) { for my $j (0 .. 59) { $trace += $matrix[$i][$_] * $matrix[$_][$j] for 0 .. 9 } }
print "$trace\n";
my $closure = do { my $n = 0; sub { $n += shift } };
$closure->($_) for 1 .. 1000;
print $closure->(0), "\n";
eval { die "thrown\n" }; print "caught $@";
printf STDERR "%s\n", scalar reverse "done";
exit 3;
PERL
cat >"$SCRATCH/work.py" <<'PYTHON'
import collections, functools, hashlib, json, math, re, sys

def primes(limit):
    sieve = bytearray([1]) * (limit + 1)
    for n in range(2, int(limit ** 0.5) + 1):
        if sieve[n]:
            sieve[n * n::n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n in range(2, limit + 1) if sieve[n]]

@functools.lru_cache(maxsize=None)
def partitions(n, largest):
    if n == 0:
        return 1
    return sum(partitions(n - k, min(n - k, k)) for k in range(1, min(n, largest) + 1))

class Body:
    def __init__(self, x, v, m):
        self.x, self.v, self.m = x, v, m

def simulate(steps):
    bodies = [Body(float(i), 0.1 * i, 1.0 + i) for i in range(5)]
    for _ in range(steps):
        for a in bodies:
            a.v += sum(b.m * (b.x - a.x) / (1 + abs(b.x - a.x) ** 3) for b in bodies if b is not a) * 1e-3
        for a in bodies:
            a.x += a.v * 1e-3
    return [round(a.x, 9) for a in bodies]

def numbers(n):
    while True:
        n = n * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        yield n >> 33

print(len(primes(200000)), partitions(60, 60))
print(simulate(800))
words = [format(n, 'x') for n, _ in zip(numbers(1), range(20000))]
print(collections.Counter(''.join(words)).most_common(4))
print(len(re.findall(r'(a|b)+[0-9]{2}c?', ' '.join(words))))
print(hashlib.sha256(json.dumps(sorted(words)).encode()).hexdigest())
print(math.factorial(300) % (10 ** 40 + 1), 3 ** 2000 % 1000003)
try:
    raise ValueError('thrown')
except ValueError as error:
    print('caught', error, file=sys.stderr)
sys.exit(4)
PYTHON
if need perl; then
	FILES=("$SCRATCH/work.pl")
	identical "perl" perl work.pl
	FILES=()
	identical "perl, start" perl -e 'print "$]\n"'
	identical "perl, a syntax error" perl -e 'if ('
fi
python=/usr/bin/python3
if [[ -x $python ]]; then
	FILES=("$SCRATCH/work.py")
	identical "python3" $python work.py
	FILES=()
	identical "python3, start" $python -c 'import sys; print(sys.version_info[0], sys.argv)'
	identical "python3, start without site" $python -I -S -c pass
	identical "python3, an exception" $python -c 'raise SystemExit("stopped")'
else
	not_run python3 "no $python"
fi
finish
