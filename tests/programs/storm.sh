#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# storm.sh: tests/user/storm.sh with as many signals as a timer of 20 kHz sends in a minute.
STORM_SIGNALS=${STORM_SIGNALS:-1200000} LIMIT=${LIMIT_LONG:-1200} exec bash "$(dirname "$0")/../user/storm.sh"
