#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# api.sh [TREE]: docs/man/libsoftpmu.3 is the page that `make docs` makes from the public headers, and
# Doxygen understands their comments.
# shellcheck source=tools/lint/lib.sh
docs=$(cd "$(dirname "$0")/../docs" && pwd)
. "$(dirname "$0")/lib.sh"
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
check include/softpmu "$("$docs/api.sh" "$made/api" "$made/page" 2>&1)"
check docs/man/libsoftpmu.3 "$(diff -u docs/man/libsoftpmu.3 "$made/page" 2>&1 | head -n 20)"
finish
