#!/bin/sh
# SPDX-License-Identifier: MIT
# bench.sh - `make bench-fleet`: records sessions, starts a ClickHouse server of its own, measures
# (tests/bench/fleet.py), and removes everything. DIR: where the data are (default: below TMPDIR).
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
export BUILD
dir=$(mktemp -d "${DIR:-${TMPDIR:-/tmp}}/sxsprof-fleet.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
sh tests/fleet/sessions.sh "$dir/sessions" 6 || exit 1
export dir
# shellcheck disable=SC2016 # the inner shell knows the port
sh tests/fleet/clickhouse.sh "$dir/server" sh -c \
    'python3 -B tests/bench/fleet.py "$BUILD" "$CLICKHOUSE_PORT" "$dir" "$dir/sessions"'
