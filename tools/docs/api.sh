#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# api.sh FOLDER PAGE: makes the API reference of the headers in include/softpmu as HTML and XML in FOLDER,
# and the manual page PAGE.  Fails if Doxygen has a warning.
set -euo pipefail
folder=$1 page=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$folder"
mkdir -p "$folder"
said=$({
	cat "$here/Doxyfile"
	echo "INPUT_FILTER = $here/comments.py"
	echo "OUTPUT_DIRECTORY = $folder"
} | doxygen - 2>&1)
if [[ -n $said ]]; then
	echo "$said" >&2
	exit 1
fi
"$here/manpage.py" "$folder/xml" "$here/libsoftpmu.3.in" >"$folder/page"
mv "$folder/page" "$page"
