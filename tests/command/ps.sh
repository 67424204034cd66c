#!/bin/bash
# SPDX-License-Identifier: MIT
# ps.sh - checks which processes sxsprof ps lists, and what it says of them, on processes that only map the files
# of runtimes and profilers.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
pids=
trap 'kill $pids 2>/dev/null; rm -rf "$T"' EXIT

library() { # PATH SYMBOL...
    mkdir -p "$(dirname "$1")"
    # shellcheck disable=SC2086 # CC may be "gcc -m64"
    for symbol in "${@:2}"; do echo "int $symbol(void); int $symbol(void) { return 0; }"; done |
        $CC -shared -fPIC -x c - -o "$1"
}
row() { grep "^ *$1 " "$T/out"; }
# field PID EXPRESSION: a value of the JSON; p is the process
field() {
    python3 -c 'import json, sys
p = next(x for x in json.load(open(sys.argv[1]))["processes"] if x["pid"] == int(sys.argv[2]))
print(eval(sys.argv[3]))' "$T/out" "$1" "$2"
}

library "$T/a/8.0.29/libcoreclr.so" coreclr_initialize
library "$T/a/9.0.18/libcoreclr.so" coreclr_initialize
library "$T/a/9.0.18/libmscordbi.so" DllGetClassObject
library "$T/own/libcoreclr.so" coreclr_initialize
printf '@(#)Version 10.0.1126.37416 @Commit: 0' >>"$T/own/libcoreclr.so"
library "$T/their/libtheir.so" DllGetClassObject
library "$T/ours/libsxsprof.so" DllGetClassObject sxsprof_print_stack

maps plain
none=$pid
maps several "$T/a/8.0.29/libcoreclr.so" "$T/a/9.0.18/libcoreclr.so" "$T/a/9.0.18/libmscordbi.so"
several=$pid
maps self-contained "$T/own/libcoreclr.so" "$T/their/libtheir.so"
own=$pid
maps profiled "$T/a/8.0.29/libcoreclr.so" "$T/ours/libsxsprof.so"
ours=$pid

try "$SXS" ps
is "exit status 0" 0 "$status"
has "the table has a heading" "$(head -n 1 "$T/out")" PID USER SINCE RUNTIMES PROFILER CONTAINER COMMAND
is "a process without a runtime is not listed" "" "$(row $none)"
has "both runtimes of a process are listed" "$(row $several)" "8.0.29" "9.0.18" "several"
has "the version of a runtime comes from its file" "$(row $own)" "10.0.11"
has "a profiler of others is named by its file" "$(row $own)" "libtheir.so"
has "sxsprof is named" "$(row $ours)" " sxsprof "
has "the user is named" "$(row $ours)" "$(id -un)"

rm "$T/their/libtheir.so" "$T/own/libcoreclr.so"
try "$SXS" ps --format json
is "--format json: exit status 0" 0 "$status"
is "JSON: versions" "['8.0.29', '9.0.18']" "$(field $several "sorted(r['version'] for r in p['runtimes'])")"
is "JSON: a library of the runtime itself is no profiler" "[]" "$(field $several "p['profilers']")"
is "JSON: path and kind of a runtime" "$T/a/8.0.29/libcoreclr.so coreclr False" \
    "$(field $ours "' '.join(str(p['runtimes'][0][k]) for k in ('path', 'kind', 'deleted'))")"
is "JSON: a runtime whose file is gone" "[True]" "$(field $own "[r['deleted'] for r in p['runtimes']]")"
is "JSON: sxsprof is told from others" "[True]" "$(field $ours "[x['sxsprof'] for x in p['profilers']]")"
is "JSON: the user, the state, no container" "$(id -u) S ''" \
    "$(field $several "'%d %s %r' % (p['uid'], p['state'], p['container'])")"
is "JSON: the process has started a short time ago" True \
    "$(field $several "0 < __import__('time').time() - p['started_ns'] / 1e9 < 600")"
if [ "$(id -u)" = 0 ]; then
    is "JSON: root reads the version of a runtime whose file is gone" 10.0.11 \
        "$(field $own "p['runtimes'][0]['version']")"
    chmod 755 "$T" "$T/bin"
    try setpriv --reuid 65534 --regid 65534 --clear-groups "$SXS" ps
    is "another user: exit status 0" 0 "$status"
    is "another user: processes that may not be read and have no thread of a runtime are left out" "" "$(row $several)"
else
    skip "another user" "needs root"
fi

try "$SXS" ps --format xml
has "a wrong format is refused" "$status:$err" "2:" "'xml'" "expected text or json"
try "$SXS" ps 12
has "an argument is refused" "$status:$err" "2:" "'12'" "no argument"
finish
