# SPDX-License-Identifier: MIT
# Counts and rewrites the words of a text: hashes, regular expressions, sorting.
use strict;
use warnings;

my (%count, $changed);
while (my $line = <>) {
    $changed += ($line =~ s/\b(\w)(\w*)ing\b/$2$1ed/g);
    $count{lc $1}++ while $line =~ /(\w+)/g;
}
my @top = (sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count)[0 .. 9];
print "$changed: ", join(", ", map { "$_ $count{$_}" } @top), "\n";
