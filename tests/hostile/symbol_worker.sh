#!/bin/bash
# SPDX-License-Identifier: MIT
# symbol_worker.sh - plays a stranger whose session names a file that takes over the worker for symbols: a preloaded
# library stands for the mistake in libdw. Whatever its code tries, the worker stays alone and ends, at the latest with
# the command; a plain user's command holds the same as root's.
. "$(dirname "$0")/lib.sh"
needs_root symbol_worker
[ -n "$SAN" ] && skip_all symbol_worker "a sanitizer wants to be the first library"
cc=${CC:-cc}
$cc -O1 -shared -fPIC -o "$tmp/hijack.so" tests/hostile/hijack_worker.c -ldl || exit 1
$cc -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_symbols.c -o "$tmp/make_symbols" -lz || exit 1
home=$(lair $attacker home)
echo 'int entry(int n); int entry(int n) { return n + 1; }' >"$tmp/lib.c"
$cc -O1 -fPIC -shared -Wl,--build-id=sha1 -o "$home/lib.so" "$tmp/lib.c" && chown $attacker "$home/lib.so" || exit 1
id=$(readelf -n "$home/lib.so" | sed -n 's/.*Build ID: //p')
"$tmp/make_symbols" "$tmp/session" "$home/lib.so" "$id" "$(nm "$home/lib.so" | awk '$3 == "entry" { print $1 }')" /gone/App.dll &&
    chown -R "$attacker:$attacker" "$tmp/session" || exit 1
sleep 600 &
other=$!
trap 'kill $other $command 2>/dev/null; rm -rf "$tmp"' EXIT

# hijacked WHAT [VARIABLE=VALUE]...: begin a report whose worker does this; sets $command and, from the first report of
# a worker, $worker
hijacked() {
    local what=$1
    shift
    rm -f "$tmp/go"
    head -c 4096 /dev/zero >"$tmp/log"
    chmod 666 "$tmp/log"
    env "$@" LD_PRELOAD="$tmp/hijack.so" HIJACK_LOG="$tmp/log" HIJACK_DO="$what" HIJACK_PID=$other \
        "$sxsprof" report "$tmp/session" >"$tmp/out" 2>"$tmp/err" &
    command=$!
    wait_until grep -qa worker= "$tmp/log"
    worker=$(tr -d '\0' <"$tmp/log" | sed -n 's/^worker=//p' | head -1)
    [ -n "$worker" ]
    check "$what: the stranger's code runs in the worker" $? "$tmp/err"
}
# A process that has ended but was not waited for is no process any more.
lives() { [ "$1" ] && grep -q '^State:	[^ZX]' "/proc/$1/status" 2>/dev/null; }
gone() { ! lives "$1"; }
holds() { grep -qa '^holds' "$tmp/log"; }

for confine in on off; do
    hijacked try SXSPROF_CONFINE=$confine
    wait $command
    check "confinement $confine: the report is written" $? "$tmp/err"
    tr -d '\0' <"$tmp/log" >"$tmp/tried"
    [ "$(grep -c '=no' "$tmp/tried")" = 11 ] && ! grep '=yes' "$tmp/tried"
    check "no process, thread, signal, program, socket, file or limit, and no life without its parent" $? "$tmp/tried"

    # The verb holds before it writes, so that the end of the worker is not that of the verb.
    for what in spin sleep; do
        hijacked $what SXSPROF_CONFINE=$confine HIJACK_HOLD="$tmp/go"
        wait_until holds
        holds && lives $command
        check "$what: the verb has given the worker up" $? "$tmp/err"
        gone "$worker" || sleep 1
        gone "$worker"
        check "$what: the worker is ended while the verb goes on" $? "/proc/$worker/status"
        touch "$tmp/go"
        wait $command
        check "$what: the report is written" $? "$tmp/err"
        grep -q "lib.so: it could not be read in time" "$tmp/err"
        check "$what: a line says why there are no names" $? "$tmp/err"
    done

    hijacked spin SXSPROF_CONFINE=$confine
    kill -9 $command
    wait $command 2>/dev/null
    wait_until gone "$worker"
    gone "$worker"
    check "a worker ends with the command" $? "/proc/$worker/status"
done

# Nobody ends the worker when all others are stopped: its own limit does.
hijacked spin SXSPROF_CONFINE=off
kill -STOP $command
for _ in $(seq 120); do gone "$worker" && break; sleep 0.5; done
gone "$worker"
check "a worker that nobody ends does not take a processor for longer than files of others may" $? "/proc/$worker/status"
kill -CONT $command
wait $command
check "the report is written all the same" $? "$tmp/err"
finish
