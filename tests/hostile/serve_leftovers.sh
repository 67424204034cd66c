#!/bin/bash
# SPDX-License-Identifier: MIT
# serve_leftovers.sh - the process that the server starts to read a stranger's packed session is killed, as it is when the
# session makes it use up its limits: what it had unpacked does not stay.
. "$(dirname "$0")/lib.sh"
command -v curl >/dev/null || skip_all serve_leftovers "curl is missing"
"${CC:-cc}" -std=gnu11 -O1 -D_GNU_SOURCE -I. tests/profile/make_hostile.c -o "$tmp/make_hostile" &&
    "$tmp/make_hostile" "$tmp/s" chain && mkdir "$tmp/all" "$tmp/unpacked" || exit 1
"$sxsprof" pack -o "$tmp/all/p.sxsprof" "$tmp/s" >/dev/null 2>&1
[ -s "$tmp/all/p.sxsprof" ] || exit 1
export TMPDIR=$tmp/unpacked
"$sxsprof" serve "$tmp/all" >"$tmp/served" 2>"$tmp/err" </dev/null &
server=$!
trap 'kill $server 2>/dev/null; wait; rm -rf "$tmp"' EXIT
is_served() { grep -q token= "$tmp/served"; }
wait_until is_served
url=$(sed 's/?.*//' "$tmp/served") token=$(sed 's/.*token=//' "$tmp/served")
curl -s -o /dev/null -m 60 -H "Authorization: Bearer $token" "${url}session/p.sxsprof/report?format=pprof" &
client=$!
is_unpacked() { compgen -G "$TMPDIR/*/names" >/dev/null; }
n=0
until is_unpacked || [ $((n += 1)) -gt 300 ]; do sleep 0.02; done
is_unpacked
check "the server's process has unpacked the session" $? "$tmp/err"
kill -KILL $(pgrep -P $server)
is_clean() { [ -z "$(ls -A "$TMPDIR")" ]; }
for _ in $(seq 100); do is_clean && break; sleep 0.1; done
is_clean
check "after it was killed, nothing is left" $?
kill $client 2>/dev/null
finish
