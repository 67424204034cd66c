#!/bin/bash
# SPDX-License-Identifier: MIT
# attach_many.sh - plays a user with many processes that have the name of another user's service, and never answer an
# attach. The one who attaches to all processes of that name waits for one of them, and reaches the service.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root attach_many
own_pids
. tests/hostile/target.inc
hidden=$(lair $victim hidden)
for n in $(seq 4); do
    # shellcheck disable=SC2046 # a command and its arguments
    target $(user $attacker) env "TMPDIR=$(lair $attacker "late-$n")" -- late
done
# shellcheck disable=SC2046
target $(user $victim) env TMPDIR="$hidden" -- answer "$hidden"
cost "$sxsprof" attach --all --duration 1s -o "$tmp/session" python3
# Eight seconds for the first one, a second for each attach to the others, and what is removed.
at_most "four processes that never answer cost the time of one" 15 262144
[ "$(grep -c 'did not answer in time' "$tmp/err")" = 4 ]; check "each of them is named" $? "$tmp/err"
# The process answers, and refuses the attach with a reason of its own.
grep -q CONCURRENT_GC_NOT_PROFILABLE "$tmp/err"; check "the service is reached" $? "$tmp/err"

# The machine becomes busy while the first of two is waited for: the second one still has a second, which passes as
# 2.5 s then.
claim="two processes, and processors that become busy, cost the time of one"
# shellcheck disable=SC2086 # PIDs
kill $pids
echo "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000" >"$tmp/pressure"
chown "$attacker" "$tmp/pressure"
if [ -n "${OWN_PIDS:-}" ] && mount --bind "$tmp/pressure" /proc/pressure/cpu 2>/dev/null; then
    for n in 1 2; do
        # shellcheck disable=SC2046
        target $(user $attacker) env "TMPDIR=$(lair $attacker "busy-$n")" -- late "$tmp/pressure"
    done
    cost "$sxsprof" attach --all --duration 1s -o "$tmp/busy" python3
    [ "$(grep -c 'did not answer in time' "$tmp/err")" = 2 ]; check "each of two is named" $? "$tmp/err"
    [ "${seconds%.*}" -lt 20 ]; check "$claim (measured: $seconds s)" $? "$tmp/err"
else
    skip "$claim" "the pressure of this machine cannot be covered"
fi
finish
