#!/bin/bash
# SPDX-License-Identifier: MIT
# secure_program.sh - plays a user who starts a set-user-ID program of another user that hosts a runtime, with the
# profiler in its environment: records, rules, a guest's library, a log file and the control socket would be
# his way to the rights of that user. Nothing of it may have an effect; the program itself runs on.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root "a user with the environment of a set-user-ID program"
[ -e "$BUILD/fakeclr/8.0/libcoreclr.so" ] || skip_all "$0" "the simulated runtimes are not built"
clsid=$(sed -n 's/^#define SXSPROF_CLSID "\(.*\)"/\1/p' include/sxsprof.h)

# The program: the host of simulated runtimes, with the user ID of the victim.
mkdir "$tmp/build" "$tmp/build/fakeclr"
cp "$BUILD/runsxs" "$BUILD/libsxsprof.so" "$tmp/build" && cp -r "$BUILD/fakeclr/8.0" "$tmp/build/fakeclr/"
chown "$victim:$victim" "$tmp/build/runsxs" && chmod 6755 "$tmp/build/runsxs"
if findmnt -no OPTIONS -T "$tmp" 2>/dev/null | grep -qw nosuid; then skip_all "$0" "the file system ignores set-user-ID"; fi
secrets=$(lair "$victim" secrets)
open=$(lair "$attacker" open) && chmod 777 "$open"

cat >"$open/rules.xml" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="*" type="*" method="*"/><count/></rule>
</instrumentation>
X
run() { # NAME=VALUE...: start the program as the attacker
    as "$attacker" env CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$clsid" \
        CORECLR_PROFILER_PATH="$tmp/build/libsxsprof.so" "$@" timeout -k 5 60 "$tmp/build/runsxs" /st --timeout 50 \
        fake:8.0 '!modules 2; jit 3; gc 2; throw 1' "" >"$tmp/out" 2>"$tmp/err"
    status=$?
}
made() { find "$secrets" "$open" -mindepth 1 -user "$victim" | grep -v rules.xml; }

run SXSPROF_OUT="$secrets/session"
[ $status = 0 ]; check "the program runs as without the profiler" $? "$tmp/err"
[ -z "$(made)" ]; check "it records nothing into a folder that only its user can write to" $? <(made)
[ "$(grep -c 'runs with raised rights' "$tmp/err")" = 1 ]; check "one line says so" $? "$tmp/err"

run SXSPROF_OUT="$open/session" SXSPROF_TOOLS="calls;events;exceptions" SXSPROF_CALLS='*' SXSPROF_KEEP=1m
[ $status = 0 ] && [ -z "$(made)" ]; check "nothing is recorded into a folder of the attacker" $? "$tmp/err"

run SXSPROF_OUT="$open/session" SXSPROF_INSTRUMENT="$open/rules.xml" \
    SXSPROF_GUESTS="{11111111-2222-3333-4444-555555555555}=$open/guest.so" SXSPROF_METHODS="$open/methods.xml"
[ $status = 0 ] && [ -z "$(made)" ] && ! grep -qE 'guest|methods\.xml|rules\.xml' "$tmp/err"
check "rules, guests and plug-ins of the attacker are not loaded" $? "$tmp/err"

run MicrosoftInstrumentationEngine_LogLevel=All MicrosoftInstrumentationEngine_FileLogPath="$open/engine.log" \
    MicrosoftInstrumentationEngine_ConfigPath64_X="$open/methods.xml"
[ $status = 0 ] && [ -z "$(made)" ]; check "no log file of the engine is made" $? "$tmp/err"

run SXSPROF_LOG=debug
[ $status = 0 ] && [ "$(grep -c sxsprof "$tmp/err")" = 1 ]; check "no message tells how memory is laid out" $? "$tmp/err"

setpriv --reuid "$attacker" --regid "$attacker" --clear-groups env CORECLR_ENABLE_PROFILING=1 \
    CORECLR_PROFILER="$clsid" CORECLR_PROFILER_PATH="$tmp/build/libsxsprof.so" "$tmp/build/runsxs" /st --timeout 90 fake:8.0 '!sleep-ms 60000' "" \
    >"$tmp/out" 2>"$tmp/err" &
pid=$!
loaded() { grep -q 'runs with raised rights' "$tmp/err"; }
has_socket() { grep -q "@sxsprof/$pid/" /proc/net/unix; }
wait_until eval "loaded || has_socket"; sleep 0.3
! has_socket; check "it opens no control socket" $? "$tmp/err"
kill -9 "$pid" 2>/dev/null; wait "$pid" 2>/dev/null

# The same program without set-user-ID records as ever.
chmod 755 "$tmp/build/runsxs"
run SXSPROF_OUT="$open/own"
[ $status = 0 ] && ls "$open/own/"*/census >/dev/null 2>&1
check "without set-user-ID the same settings record" $? "$tmp/err"
finish
