#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# storm.sh: tests/user/storm.sh with a timer of 20 kHz for a minute under softpmu, and at least 200,000 signals.
STORM_SECONDS=${STORM_SECONDS:-60} STORM_SIGNALS=${STORM_SIGNALS:-200000} LIMIT=${LIMIT_LONG:-1200} \
	exec bash "$(dirname "$0")/../user/storm.sh"
