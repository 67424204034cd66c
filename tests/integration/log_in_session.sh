# SPDX-License-Identifier: MIT
# log_in_session.sh - checks on real runtimes that what a tool refuses, drops or does otherwise than asked for is in the
# session, and among the first lines of its text, page and JSON, however the program was started.
. "$(dirname "$0")/lib.sh"
need_real 2
[ -e "$BUILD/managed/hello/hello.dll" ] || skip_all "$0" "the app hello is not built"
first=$(echo "$versions" | head -n 1)
last=$(echo "$versions" | tail -n 1)

# in_first_lines SESSION TEXT: whether TEXT is in the first lines of the session's text, of its page, and in "missing" of
# its JSON, once each. A session without a profile has no page: then what "report" says instead.
in_first_lines() {
    rm -f "$tmp/page"
    "$sxsprof" report "$tmp/$1" >"$tmp/text" 2>"$tmp/why"
    "$sxsprof" report --format json "$tmp/$1" >"$tmp/json" 2>>"$tmp/why"
    "$sxsprof" report --format html -o "$tmp/page" "$tmp/$1" >"$tmp/said" 2>&1
    [ -e "$tmp/page" ] || cp "$tmp/said" "$tmp/page"
    python3 - "$2" "$tmp/text" "$tmp/json" "$tmp/page" >>"$tmp/why" 2>&1 <<'E'
import itertools, json, re, sys
want, text, data, page = sys.argv[1:5]
lines = itertools.takewhile(lambda l: "log: " in l, open(text))
items = [m["text"] for m in json.load(open(data)).get("missing", [])]
page = open(page).read()
data = re.search(r'"missing":(\[.*?\])[,}]\n?', page, re.S)
shown = json.loads(data.group(1)) if data else page.splitlines()
for name, found in (("text", lines), ("JSON", items), ("page", shown)):
    n = sum(want in l for l in found)
    assert n == 1, "%s: %d lines of %r" % (name, n, want)
E
}
shown_of() { # SESSION CLAIM TEXT
    in_first_lines "$1" "$3"
    check "$2: text, page and JSON say so in their first lines" $? "$tmp/why"
}
logs_of() { ls "$tmp/$1"/*/log 2>/dev/null; }

timeout -k 5 60 "$sxsprof" run --quiet --tool sample --tool wait -o "$tmp/refused" -- "$runsxs" --timeout 50 "$last" hello "" >"$tmp/log" 2>&1 &&
    grep -q '^sxsprof: tool wait is off' "$tmp/log"
check "a tool that is refused has its line on standard error" $? "$tmp/log"
shown_of refused "a tool that is refused" "tool wait is off for runtime 1"
[ "$(stat -c %a "$(logs_of refused)")" = 600 ] && [ "$(sort "$(logs_of refused)" | uniq -d | wc -l)" = 0 ] &&
    ! grep -qP '\0' "$(logs_of refused)"
check "the file of these lines is its owner's, and has each line once and nothing else" $? "$(logs_of refused)"

clsid=$(sed -n 's/.*SXSPROF_CLSID "\({.*}\)".*/\1/p' include/sxsprof.h)
begin='<?xml version="1.0"?><instrumentation xmlns="urn:sxsprof:instrumentation:1">'
echo "$begin<rule><match assembly=\"hello\"/><nonsense/></rule></instrumentation>" >"$tmp/rules.xml"
for level in '' error; do
    env ${level:+SXSPROF_LOG=$level} CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$clsid" \
        CORECLR_PROFILER_PATH="$(realpath "$BUILD")/libsxsprof.so" SXSPROF_OUT="$tmp/env$level" SXSPROF_PICK=nothing \
        SXSPROF_TOOLS="sample;nosuch;heap:collect=off,at-exit;instrument" SXSPROF_INSTRUMENT="$tmp/rules.xml" \
        timeout -k 5 60 "$runsxs" --timeout 50 "$first" hello "" >"$tmp/log" 2>&1
    check "a program with wrong settings in its environment runs${level:+ with SXSPROF_LOG=$level}" $? "$tmp/log"
    shown_of "env$level" "a setting that is wrong, before there is a session" "SXSPROF_PICK=nothing"
    shown_of "env$level" "a tool that does not exist" 'there is no tool "nosuch"'
    shown_of "env$level" "rules that cannot be read" "rules.xml:1"
    case $first in
    8.*) shown_of "env$level" "a heap that is collected against collect=off" "cannot read its heap without a collection"
        "$sxsprof" heap "$tmp/env$level" 2>&1 | sed '/log: /!Q' >"$tmp/why"
        grep -q "cannot read its heap without a collection" "$tmp/why"
        check "sxsprof heap says so in its first lines" $? "$tmp/why" ;;
    esac
done
! grep -q 'cannot read its heap' "$tmp/log"
check "SXSPROF_LOG=error keeps warnings from standard error" $? "$tmp/log"

timeout -k 5 60 "$sxsprof" run --quiet --tool sample -o "$tmp/plain" -- "$runsxs" --timeout 50 "$last" hello "" >"$tmp/log" 2>&1 &&
    [ -z "$(logs_of plain)" ]
check "a program without a line has no such file when it has ended" $? "$tmp/log"

# The runtime itself needs larger files for its code, unless code is mapped once only.
(ulimit -f 64 && DOTNET_EnableWriteXorExecute=0 exec timeout -k 5 60 "$sxsprof" run --quiet --tool sample -o "$tmp/small" -- \
    "$runsxs" --timeout 50 "$last" hello "") >"$tmp/log" 2>&1
check "a program that may write no larger files runs on" $? "$tmp/log"
shown_of small "a file that cannot be made" "the samples file cannot be made: File too large"
finish
