#!/bin/bash
# SPDX-License-Identifier: MIT
# out_links.sh - plays a user who puts symbolic links where a service of root, or root's command, records: in a folder of
# his own and in one that everybody may write to. No record may go where the link leads.
. "$(dirname "$0")/lib.sh"
needs_root "links of another user"
[ -e "$BUILD/fakeclr/8.0/libcoreclr.so" ] || skip_all "$0" "the simulated runtimes are not built"
clsid=$(sed -n 's/^#define SXSPROF_CLSID "\(.*\)"/\1/p' include/sxsprof.h)
library=$(realpath "$BUILD/libsxsprof.so") runsxs=$(realpath "$runsxs")

host() { # OUT [NAME=VALUE...]: run a program of root that records into OUT
    local out=$1; shift
    env CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$clsid" CORECLR_PROFILER_PATH="$library" SXSPROF_OUT="$out" "$@" \
        timeout -k 5 60 "$runsxs" /st --timeout 50 fake:8.0 '!modules 1; jit 1' "" >"$tmp/out" 2>"$tmp/err"
    status=$?
}
goal=$tmp/goal; mkdir -m 700 "$goal"
bait=$(lair "$attacker" bait)
mkdir -m 1777 "$tmp/sticky" && mkdir -m 777 "$tmp/volume" && chmod 1777 "$tmp/sticky" && chmod 777 "$tmp/volume"
for dir in "$bait" "$tmp/sticky" "$tmp/volume"; do as "$attacker" ln -s "$goal" "$dir/link"; done
# A link of root that the attacker has moved to his folder.
ln -s "$goal" "$tmp/volume/root" && as "$attacker" mv "$tmp/volume/root" "$bait/root"

not_followed() { # CLAIM OUT [NAME=VALUE]
    host "$2" ${3:+"$3"}
    [ $status = 0 ] && [ -z "$(ls -A "$goal")" ] && [ "$(grep -c 'nothing is recorded' "$tmp/err")" = 1 ]
    check "$1" $? "$tmp/err"
    find "$goal" -mindepth 1 -delete
}
for dir in bait sticky volume; do
    not_followed "a link in the middle of the path is not followed: $dir" "$tmp/$dir/link/session"
    not_followed "nor for segments: $dir" "$tmp/$dir/link/session" SXSPROF_KEEP=1m
    not_followed "a link as the last name is not followed: $dir" "$tmp/$dir/link"
    not_followed "nor with slashes behind it: $dir" "$tmp/$dir/link///"
done
not_followed "a link of root in a folder of another user is not followed" "$bait/root/session"
ln -s "$bait/link" "$tmp/chain"
not_followed "a link of root that leads to a link of another user is not followed" "$tmp/chain/session"
(cd "$tmp/sticky" && not_followed "nor in a path from the working folder" link/session; exit $any_failed) || any_failed=1
n_test=$((n_test + 1))
mkdir "$tmp/a" && ln -s b "$tmp/a/b"
not_followed "a link to itself is refused" "$tmp/a/b/session"

# The log of the instrumentation engine.
touch "$tmp/passwd"; chmod 644 "$tmp/passwd"
as "$attacker" ln -s "$tmp/passwd" "$tmp/sticky/log"
as "$attacker" touch "$tmp/volume/log" && as "$attacker" chmod 666 "$tmp/volume/log"
host "$tmp/logged" MicrosoftInstrumentationEngine_LogLevel=All SXSPROF_METHODS=/nowhere \
    MicrosoftInstrumentationEngine_FileLogPath="$tmp/own.log"
[ -s "$tmp/own.log" ] && [ "$(stat -c %a "$tmp/own.log")" = 600 ]
check "the engine logs to a file of its own, which nobody else can read" $? "$tmp/err"
rm -rf "$tmp/logged"
for name in sticky/log volume/log bait/link/log; do
    log=$tmp/$name
    host "$tmp/logged" MicrosoftInstrumentationEngine_LogLevel=All SXSPROF_METHODS=/nowhere \
        MicrosoftInstrumentationEngine_FileLogPath="$log"
    [ $status = 0 ] && ! [ -s "$tmp/passwd" ] && ! [ -s "$log" ]
    check "the engine does not log to $name of another user" $? "$tmp/err"
    rm -rf "$tmp/logged" "$goal/log"; : >"$tmp/passwd"
done

# The command of root.
cannot() { # CLAIM DIR
    "$sxsprof" run --quiet -o "$2" -- touch "$tmp/ran" >"$tmp/out" 2>"$tmp/err"
    [ $? = 2 ] && [ ! -e "$tmp/ran" ] && [ -z "$(ls -A "$goal")" ] && grep -q expected "$tmp/err"
    check "$1" $? "$tmp/err"
    rm -f "$tmp/ran"; find "$goal" -mindepth 1 -delete
}
cannot "-o does not follow his link as the last name" "$tmp/sticky/link"
cannot "-o does not follow his link in the middle" "$tmp/volume/link/session"
mkdir -m 777 "$bait/session" && chown "$attacker" "$bait/session"
cannot "-o does not take his folder" "$bait/session"

# What works as before.
works() { # CLAIM OUT FOUND
    host "$2"
    [ $status = 0 ] && find "$3" -name census | grep -q . && ! [ -s "$tmp/err" ]
    check "$1" $? "$tmp/err"
    rm -rf "$3"
}
mkdir "$tmp/run" "$tmp/private" && ln -s run "$tmp/var_run" && ln -s ../private "$tmp/run/state"
works "links of root are followed: /var/run" "$tmp/var_run/session" "$tmp/run/session"
works "and one after the other: DynamicUser" "$tmp/var_run/state/../private//./session/" "$tmp/private/session"
works "a volume that everybody may write to" "$tmp/volume/session" "$tmp/volume/session"
works "a folder with the sticky bit, as /tmp" "$tmp/sticky/session" "$tmp/sticky/session"
ln -s "$tmp/private" "$tmp/sticky/own"
works "a link of one's own there" "$tmp/sticky/own/session" "$tmp/private/session"
works "a folder below one of another user" "$bait/own" "$bait/own"
"$sxsprof" run --quiet -o "$tmp/var_run/new" -- true 2>"$tmp/err"; check "-o follows links of root" $? "$tmp/err"
finish
