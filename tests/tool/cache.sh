#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# cache.sh: `softpmu cache` on saved translations that are good, damaged, unfinished and of another version.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

export XDG_CACHE_HOME=$SCRATCH/cache
folder=$XDG_CACHE_HOME/softpmu/translations
mkdir "$XDG_CACHE_HOME"
cache() { run cache "$@"; }

# saved: prints how many of the next run's blocks of ls were saved.
saved() {
	"$SOFTPMU" stat -v -o stat.txt -e instructions:u -- ls / >/dev/null
	sed -n 's/.*saved blocks: \([0-9]*\).*/\1/p' stat.txt
}

cache
same "an empty folder" "0 0 files, 0.0 MB in $folder" "$status $out"
same "the first run has nothing" 0 "$(saved)"
"$SOFTPMU" stat -o stat.txt -e instructions:u -- bash -c : # another program
cache list
same "list: status" 0 "$status"
same "list: programs" "$(realpath "$(type -P ls)" "$(type -P bash)" | sort)" \
	"$(awk 'NR > 1 && $5 ~ /^\// { print $5 }' <<<"$out" | sort)"
same "list: the sum" "2 files" "$(tail -n 1 <<<"$out" | cut -d, -f1)"
blocks=$(awk '$5 ~ /\/ls$/ { print $2 }' <<<"$out")
same "list: blocks are those of the run" "$blocks" "$(saved)"
cache verify
same "verify: status" 0 "$status"

# --- to another folder and back ---

cache export copy
same "export" "0 2 of 2 files copied to copy" "$status $out"
same "export: for the user alone" 600 "$(stat -c %a copy/* | sort -u)"
cache prune --all
same "prune --all" "0 2 of 2 files removed from $folder" "$status $out"
same "prune --all: nothing is left" 0 "$(find "$folder" -name '[0-9a-f]*' | wc -l)"
cache import copy
same "import" "0 2 of 2 files copied to $folder" "$status $out"
same "import: a run uses it" "$blocks" "$(saved)"
cache import copy
same "import again" "0 0 of 2 files copied to $folder, 2 already there" "$status $out"

# --- files that are not good ---

file=$(for f in copy/*; do strings -n 3 "$f" | head -n 20 | grep -q '/ls$' && basename "$f"; done)
same "a file of ls" yes "$([[ -n $file ]] && echo yes)"
size=$(stat -c %s "copy/$file")
for at in 9 2000 70000 $((size - 1)); do
	cp "copy/$file" "$folder/$file"
	printf '\x5a' | dd of="$folder/$file" bs=1 seek="$at" conv=notrunc status=none
	cmp -s "copy/$file" "$folder/$file" && printf '\xa5' | dd of="$folder/$file" bs=1 seek="$at" conv=notrunc status=none
	cache verify
	same "byte $at: verify" "1 1" "$status $(grep -c "$file (damaged)" <<<"$out")"
done
cache export good
same "export leaves out what is damaged" "0 1 of 2 files copied to good, 1 not usable (see softpmu cache verify)" \
	"$status $out"
cache import copy
same "import replaces what is damaged" "0 1 of 2 files copied to $folder, 1 already there" "$status $out"
head -c 500 "copy/$file" >"$folder/$file"
cp "copy/$file" "$folder/0123456789abcdef"
printf '\x01\x02\x03\x04' | dd of="$folder/0123456789abcdef" bs=1 seek=24 conv=notrunc status=none # the engine's sum
cp "copy/$file" "$folder/fedcba9876543210.7"
touch -d '1 hour ago' "$folder/fedcba9876543210.7"
echo mine >"$folder/notes"
cache
same "list: another version" 1 "$(grep -c '(of another version of softpmu)' <<<"$out")"
same "list: unfinished" 1 "$(grep -c 'fedcba9876543210.7 (unfinished)' <<<"$out")"
cache prune
same "prune" "0 3 of 4 files removed from $folder" "$status $out"
same "prune: other files stay" mine "$(<"$folder/notes")"
cache verify
same "verify after prune" 0 "$status"
cp "copy/$file" "$folder/fedcba9876543210.7"
cache prune
same "a file that is being written stays" "0 0 of 2 files removed from $folder" "$status $out"
ln -s "$SCRATCH/copy/$file" "$folder/0000000000000000"
cache verify
same "a symbolic link is not looked at" "0" "$status"

# --- errors ---

cache frob
same "an unknown word" "129 softpmu: 'frob' is not list, verify, prune, export or import (see softpmu cache --help)" \
	"$status $err"
cache import
same "import of nothing" "129 softpmu: import needs a folder (see softpmu cache --help)" "$status $err"
cache import missing
same "import of a missing folder" "1 softpmu: cache: missing: No such file or directory" "$status $err"
cache list more
same "too many words" "129 softpmu: unexpected argument 'more' (see softpmu cache --help)" "$status $err"
cache verify -a
same "--all without prune" "129 softpmu: --all belongs to prune (see softpmu cache --help)" "$status $err"
HOME='' XDG_CACHE_HOME='' cache
same "no folder" "1 softpmu: cache: there is no folder that only you can write to: set XDG_CACHE_HOME or HOME" \
	"$status $err"
# A full disk: a file system of 256 KB.
if ((EUID == 0)) && mkdir small && mount -t tmpfs -o size=256k none small 2>/dev/null; then
	cache export small
	same "a full disk" "1 1" "$status $(grep -c 'No space left on device' <<<"$err")"
	same "a full disk: nothing unfinished is left" 0 "$(find small -type f | wc -l)"
	umount small
else
	not_run "a full disk" "this user cannot mount"
fi
finish
