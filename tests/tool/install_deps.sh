#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# install_deps.sh: several installations of packages at once, as `make -j` starts them, and what is printed
# where one is impossible. Stand-ins for dpkg-query and apt-get are in $PATH: nothing is installed.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
export PACKAGES=$SCRATCH/packages # one file for each package that is "installed"
mkdir "$PACKAGES" "$SCRATCH/bin"
PATH=$SCRATCH/bin:$PATH

cat >"$SCRATCH/bin/dpkg-query" <<'END'
#!/bin/sh
for word in "$@"; do [ ! -e "$PACKAGES/$word" ] || printf 'installed=%s ' "$word"; done
END
# As the real one, it fails while another one runs.
cat >"$SCRATCH/bin/apt-get" <<'END'
#!/bin/sh
mkdir "$PACKAGES/.lock" || exit 100
for word in "$@"; do
	case $word in
	first|second|both) sleep 1; echo "$word" >>"$PACKAGES/.order"; : >"$PACKAGES/$word" ;;
	absent) rmdir "$PACKAGES/.lock"; echo "E: Unable to locate package absent"; exit 100 ;;
	esac
done
rmdir "$PACKAGES/.lock"
END
# user NUMBER: the user that the script believes to be.
user() { printf '#!/bin/sh\necho %s\n' "$1" >"$SCRATCH/bin/id" && chmod +x "$SCRATCH"/bin/*; }
install_deps() { "$ROOT/tools/install-deps.sh" "$@"; }

user 0
install_deps first both >"$SCRATCH/1" 2>&1 &
one=$!
install_deps second both >"$SCRATCH/2" 2>&1 &
two=$!
wait "$one"
same "the first of two at once" 0 $?
wait "$two"
same "the second of two at once" 0 $?
same "each package is installed once" "both first second" "$(sort "$PACKAGES/.order" | xargs)"
same "nothing is printed where nothing is missing" "" "$(install_deps first second both 2>&1)"

said=$(install_deps absent first 2>&1)
same "a package that does not exist: status" 1 $?
has "a package that does not exist: apt's reason" "$said" "Unable to locate package absent"
has "a package that does not exist: its name" "$said" "could not install: absent"

user 1000
said=$(install_deps absent first 2>&1)
same "not root: status" 1 $?
has "not root: the command" "$said" "apt-get install -y --no-install-recommends absent"
has_not "not root: only what is missing" "$said" first
finish
