#!/bin/sh
# SPDX-License-Identifier: MIT
# wrong.sh - checks what becomes of a guest that breaks a rule, or cannot be used: one line says so, the other guest
# and the program go on.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3
three="8.0 profiled force=0 9.0 profiled force=0 $net10 profiled force=0"

# rows: state and reason of each row of the session that is not the census's, in order of the runtimes
rows() {
    python3 - "$tmp"/session/*/guests <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
n, = struct.unpack_from("<I", data, 20)
states = ["none", "starting", "active", "failed", "refused", "detached", "ended"]
text = lambda b: b.split(b"\0")[0].decode()
for at in range(32, 32 + n * 840, 840):
    state, runtime = struct.unpack_from("<II", data, at)
    path, why = text(data[at + 128:at + 640]), text(data[at + 640:at + 840])
    if "census" not in path:
        print(states[state], why)
PY
}
# breaks RULE DECLARATION VERSIONS...: run with this guest and the census; the census must see everything
breaks() {
    rule=$1
    local declared=$2 n
    shift 2
    rm -rf "$tmp/session" "$tmp/out"
    # env, because the command refuses declarations that cannot be right
    WRONG=$rule PROF_OUT=$tmp/out "$sxsprof" run --quiet -o "$tmp/session" -- \
        env SXSPROF_GUESTS="$declared;$(guest_list census)" "$runsxs" --timeout 120 "$@" >"$tmp/log" 2>&1
    check "$rule: the program ends with status 0" $? "$tmp/log"
    n=$(($# / 3))
    [ "$(grep -c '^census .* ExceptionThrown 10$' "$tmp/out")" -eq $n ]
    check "$rule: the other guest goes on" $? "$tmp/out"
    rows >"$tmp/rows" 2>>"$tmp/log"
    cat "$tmp/log" >>"$tmp/rows.all"
}
# says N TEXT: the library has written the line N times
says() { [ "$(grep -c "$2" "$tmp/log")" -eq "$1" ]; check "$rule: $1 line(s) say: $2" $? "$tmp/log"; }
rows_are() { # N STATE TEXT
    [ "$(grep -c "^$2.*$3" "$tmp/rows")" -eq "$1" ]
    check "$rule: the session has $1 row(s): $2 $3" $? "$tmp/rows"
}
wrong=$(guest_list wrong)

# shellcheck disable=SC2086 # versions and arguments are words
{
    breaks initialize "$wrong" $three
    rows_are 3 failed 'Initialize failed (E_FAIL'
    breaks second "$wrong" $three
    rows_are 1 ended ''
    rows_are 2 refused 'Initialize failed (E_FAIL'
    says 2 'goes on with the runtimes that it has'
    breaks refused-keeps "$wrong" $three
    rows_are 2 refused ''
    breaks global "$wrong" $three
    grep -q '^wrong .* own IDs answered yes, IDs of other runtimes refused yes, other answers 0' "$tmp/out"
    check "global: IDs of other runtimes are refused, all others answered" $? "$tmp/out"
    # Alone, because the census receives events with the same IDs.
    rm -f "$tmp/out"
    WRONG=global-hooks PROF_OUT=$tmp/out as_guests wrong -- $three >"$tmp/log" 2>&1
    check "global-hooks: the program ends with status 0" $? "$tmp/log"
    grep -q '^wrong .* own IDs answered yes, IDs of other runtimes refused yes, other answers 0' "$tmp/out"
    check "global-hooks: IDs of other runtimes that hooks have received are refused" $? "$tmp/out"
    breaks releases "$wrong" $three
    breaks no-addref "$wrong" $three
    rows_are 3 ended ''
    # The guest has one reference too few, so it may be freed, but not before its Shutdown has returned.
    [ "$(grep -c '^wrong .* loads seen' "$tmp/out")" -eq 3 ]
    check "$rule: the guest is served until its Shutdown" $? "$tmp/out"
    breaks keeps-info "$wrong" $three
    breaks failures "$wrong" $three
    rows_are 3 ended ''
    breaks class "{5E5C0001-0000-4000-8000-00000000FFFF}=$(library_of wrong)" $three
    rows_are 3 failed 'its library has no class {5E5C0001-.*CLASS_E_CLASSNOTAVAILABLE'
    breaks missing "$(id_of wrong)=$tmp/none.so" $three
    rows_are 3 failed 'its library is not loaded: .*none.so: No such file or directory; expected '
    says 3 'is not loaded: .*none.so'
    breaks 'no DllGetClassObject' "$(id_of wrong)=$PWD/$BUILD/libsxsbridge.so" $three
    rows_are 3 failed 'does not export DllGetClassObject'
    says 3 'does not export DllGetClassObject'
}
for version in 8.0 9.0 $net10; do
    for rule in late-flags bad-arguments; do
        rm -f "$tmp/direct" "$tmp/out"
        WRONG=$rule PROF_OUT=$tmp/direct directly wrong $version >"$tmp/log" 2>&1
        WRONG=$rule PROF_OUT=$tmp/out as_guests wrong -- $version profiled "" >"$tmp/log" 2>&1
        lines_of "$tmp/direct" wrong '' >"$tmp/expected"
        [ -s "$tmp/expected" ] && lines_of "$tmp/out" wrong '' | diff "$tmp/expected" - >"$tmp/diff"
        check "$rule on runtime $version: the same results as directly" $? "$tmp/diff"
    done
done
finish
