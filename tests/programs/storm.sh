#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# storm.sh: tests/user/storm.sh with so many signals that each run takes more than a minute under softpmu.
# STORM_SIGNALS=1200000 is what a timer of 20 kHz sends in a minute natively.
STORM_SIGNALS=${STORM_SIGNALS:-200000} LIMIT=${LIMIT_LONG:-1200} exec bash "$(dirname "$0")/../user/storm.sh"
