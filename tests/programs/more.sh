#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# more.sh: the programs of more.list as many.sh runs them.
here=$(cd "$(dirname "$0")" && pwd)
LIST=$here/more.list LEAST=20 KILLED=1 LIMIT_MANY=600 exec "$here/many.sh"
