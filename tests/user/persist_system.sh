#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# persist_system.sh: runs of other users use the translations in the system's folder, if only root can write to it.
# It runs in a mount namespace of its own, with an empty /var/cache.
if ((EUID == 0)) && [[ -z ${NAMESPACE:-} ]] && unshare -m true 2>/dev/null; then
	NAMESPACE=own exec unshare -m "$0" "$@"
fi
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

chmod 755 .
user=(setpriv --reuid=65534 --regid=65534 --clear-groups env -u XDG_CACHE_HOME)
if [[ -z ${NAMESPACE:-} ]] || ! mount -t tmpfs none /var/cache || ! "${user[@]}" test -x "$SOFTPMU" ||
	! mkdir users || ! mount -t tmpfs none users; then
	not_run "the system's folder" "it needs root, a mount namespace, and a tool that other users can execute"
	finish
	exit
fi

system=/var/cache/softpmu/translations
stat_true=("$SOFTPMU" stat -v --deterministic -j -o stat -e "instructions:u,branches:u" -- /bin/true)
chmod 777 users && cd users || exit 1

# as_user HOME: counts /bin/true as another user; sets $counts and the number of $old blocks.
as_user() {
	rm -f stat
	run said "${user[@]}" HOME="$1" "${stat_true[@]}"
	# shellcheck disable=SC2046
	counts=$(echo $(count_of stat 1,2))
	old=$(sed -n 's/.*saved blocks: \([0-9]*\).*/\1/p' stat)
}
# new_home: makes an empty home of that user, $home.
new_home() {
	home=$(mktemp -d "$SCRATCH/users/home.XXXXXX")
	chown 65534:65534 "$home"
}
# uses NAME yes|no: whether a first run of the user uses saved blocks; it counts the same in both cases.
uses() {
	new_home
	as_user "$home"
	same "$1: counts" "$expected" "$counts"
	same "$1: used" "$2" "$( ((old > 500)) && echo yes || echo no)"
}

new_home
as_user "$home"
expected=$counts
same "without the folder: used" 0 "$old"

export XDG_CACHE_HOME=$SCRATCH/users/root
mkdir -m 700 "$XDG_CACHE_HOME"
own=$XDG_CACHE_HOME/softpmu/translations
"${stat_true[@]}"
run said "$SOFTPMU" cache --system import "$own"
same "import" "0 1 of 1 file copied to $system" "$status $(<said.out)"
same "import: modes" "755 755 644" "$(stat -c %a /var/cache/softpmu "$system" "$system"/* | xargs)"
file=$(echo "$system"/*)

before=$(stat -c %y "$file")
XDG_CACHE_HOME=$SCRATCH/users/empty "${stat_true[@]}"
same "import has marked the sum as compared" "$before" "$(stat -c %y "$file")"

uses "another user" yes
same "another user: only what is new would be saved" 0 "$(find "$home" -name '[0-9a-f]*' -size +0 -path '*translations*' | wc -l)"
as_user ""
same "a user without a home: used" yes "$( ((old > 500)) && echo yes)"
before=$(stat -c '%y %s' "$file")
run said "${user[@]}" HOME="$home" "$SOFTPMU" stat -o stat -e instructions:u,branches:u -- bash -c :
same "the system's folder stays as it is" "$before" "$(stat -c '%y %s' "$system"/*)"
run said "${user[@]}" HOME="$home" "$SOFTPMU" cache -s
same "list" "0 1" "$status $(grep -c ' /usr/bin/true$' said.out)"
run said "${user[@]}" HOME="$home" "$SOFTPMU" cache --system import "$own"
same "another user cannot import" "1" "$status"

# --- what must not be used ---

chmod 775 "$system"
uses "a folder that a group may write to" no
chmod 755 "$system"
chown 65534 /var/cache/softpmu
uses "a folder in another user's folder" no
run said "${user[@]}" HOME="$home" "$SOFTPMU" cache --system
same "a folder in another user's folder: list" \
	"1 softpmu: cache: there is no $system that only root can write to: make it by softpmu cache --system import FOLDER as root" \
	"$status $(<said.err)"
chown 0 /var/cache/softpmu
chmod 666 "$file"
uses "a file that others may write to" no
chmod 644 "$file"
chown 65533 "$file"
uses "a file of a third user" no
chown 0 "$file"
uses "as it was" yes
cp -p "$file" good
printf '\x5a' | dd of="$file" bs=1 seek=70000 conv=notrunc status=none
cmp -s "$file" good && printf '\xa5' | dd of="$file" bs=1 seek=70000 conv=notrunc status=none
uses "a damaged file" no
same "a damaged file: verify" 1 "$("$SOFTPMU" cache -s verify >/dev/null; echo $?)"
run said "$SOFTPMU" cache -s prune
same "prune" "0 1 of 1 file removed from $system" "$status $(<said.out)"
cd "$SCRATCH" && umount users
finish
