#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# opcodes.sh: tests/user/opcodes.sh with 6,000,000 forms of another seed.
MANY=${FORMS:-6000000} SEED=${SEED:-14} LIMIT=${LIMIT:-1200} exec "$(dirname "$0")/../user/opcodes.sh"
