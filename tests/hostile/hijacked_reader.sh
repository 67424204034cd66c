#!/bin/bash
# SPDX-License-Identifier: MIT
# hijacked_reader.sh - plays a stranger whose session, assembly or file makes a verb run his code: a preloaded library
# stands for the mistake in a reader. Whatever the code tries, nothing outside of the verb's own output changes.
. "$(dirname "$0")/lib.sh"
[ -n "$SAN" ] && skip_all hijacked_reader "a sanitizer wants to be the first library"
cc=${CC:-cc}
$cc -shared -fPIC -o "$tmp/hijack.so" tests/hostile/hijack.c -ldl || exit 1
$cc -std=gnu11 -D_GNU_SOURCE -I. tests/command/make_census.c -o "$tmp/make_census" || exit 1
landlock=$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))')
mkdir "$tmp/outside" "$tmp/session" "$tmp/tmp"
sleep 600 & # what the code tries to end
other=$!
trap 'kill $other; rm -rf "$tmp"' EXIT
"$tmp/make_census" "$tmp/session" 123 command=app runtime=1,8.0.29,1,12,100,3,2,1,0 || exit 1

# hijacked NAME AT COMMAND...: run a verb with the stranger's code, which runs when the file AT is opened, in $runs
# processes at least. $written: what the verb writes to the folder outside
runs=1 written=
hijacked() {
    local name=$1 at=$2
    shift 2
    rm -rf "$tmp/outside" "$tmp/raw"
    mkdir "$tmp/outside"
    echo kept >"$tmp/outside/kept"
    LD_PRELOAD=$tmp/hijack.so HIJACK_AT=$at HIJACK_LOG=$tmp/raw HIJACK_OUTSIDE=$tmp/outside HIJACK_PID=$other TMPDIR=$tmp/tmp \
        timeout -k 5 60 "$@" >"$tmp/out" 2>"$tmp/err"
    tr -d '\0' <"$tmp/raw" >"$tmp/log"
    [ "$(grep -c '^make=' "$tmp/log")" -ge "$runs" ]
    check "$name: the stranger's code has run" $? "$tmp/err"
    if [ "$landlock" -ge 1 ]; then
        ! grep -E '^(make|change|remove|folder)=yes' "$tmp/log" >>"$tmp/err" && [ "$(cat "$tmp/outside/kept")" = kept ] &&
            [ "$(ls -A "$tmp/outside")" = kept${written:+$'\n'$written} ]
        check "$name: no file outside of the output is made, changed or removed" $? "$tmp/err"
    else
        ok "$name: no file outside of the output is made, changed or removed # SKIP this kernel has no Landlock"
    fi
    ! grep -E '^(device|mode|owner|user|process|execute|socket|network|look)=yes' "$tmp/log" >>"$tmp/err"
    check "$name: no device, no other mode, owner or user, no process, no program, no socket, no look into a process" $? "$tmp/err"
    ! grep -q '^kill.*=yes' "$tmp/log" && kill -0 $other
    check "$name: no signal to another process" $? "$tmp/log"
}
hijacked report census "$sxsprof" report "$tmp/session"
"$sxsprof" report "$tmp/session" >"$tmp/plain" 2>&1
cmp -s "$tmp/plain" "$tmp/out"
check "report: its own work is done all the same" $? "$tmp/out"
mkdir "$tmp/reports"
hijacked "report -o" census "$sxsprof" report --format json -o "$tmp/reports/r.json" "$tmp/session"
[ -s "$tmp/reports/r.json" ]
check "report -o: the output is written" $? "$tmp/err"
written=r.json
hijacked "report -o here" census "$sxsprof" report --format json -o "$tmp/outside/r.json" "$tmp/session"
written=
hijacked diff census "$sxsprof" diff "$tmp/session" "$tmp/session"
hijacked pack census "$sxsprof" pack -o "$tmp/reports/p.sxsprof" "$tmp/session"
[ -s "$tmp/reports/p.sxsprof" ]
check "pack: the file is written" $? "$tmp/err"
hijacked heap census "$sxsprof" heap "$tmp/session"
hijacked top census "$sxsprof" top --batch -n 1 "$tmp/session"
SXSPROF_CONFINE=off "$sxsprof" top --batch -n 1 "$tmp/session" >"$tmp/plain" 2>&1
grep -q '8\.0\.29' "$tmp/out" && cmp -s <(sed 1d "$tmp/plain") <(sed 1d "$tmp/out")
check "top: its own work is done all the same" $? "$tmp/out"
if command -v curl >/dev/null; then
    mkdir "$tmp/all"
    cp -r "$tmp/session" "$tmp/all/s"
    # served COMMAND...: run the server, and ask for the list, the data of a page and a report
    cat >"$tmp/served" <<'X'
exec 3< <("$@" </dev/null)
server=$!
read -r url <&3
for at in sessions session/s/data "session/s/report?format=json"; do
    curl -s -m 30 -H "Authorization: Bearer ${url##*token=}" "${url%%\?*}$at"
    echo
done
kill $server
X
    runs=3 # for the list, the data and the report
    hijacked serve census bash "$tmp/served" "$sxsprof" serve "$tmp/all"
    [ "$(grep -c '8\.0\.29' "$tmp/out")" -ge 2 ]
    check "serve: its own work is done all the same" $? "$tmp/out"
    runs=1 # before it serves
    hijacked "serve of one session" census bash -c '"$@" >"$0.served" </dev/null &
        for _ in $(seq 300); do grep -q token= "$0.served" && break; sleep 0.1; done; kill $!' "$tmp/out" "$sxsprof" serve "$tmp/session"
else
    skip "serve" "curl is missing"
fi
finish
