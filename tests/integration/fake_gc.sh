# SPDX-License-Identifier: MIT
# fake_gc.sh - checks the tool "gc" on simulated runtimes, which have no EventPipe: callbacks report collections.
. "$(dirname "$0")/lib.sh"
default_preload=$([ "$SAN" = thread ] && echo --no-preload)
# Under the thread sanitizer, which intercepts sigaction(), the router has no handlers of the runtimes: no thread would
# answer the first one's suspension.
threads="threads 2; " join="; join"
[ "$SAN" = thread ] && threads= join=

# shellcheck disable=SC2086
timeout -k 5 120 "$sxsprof" run --quiet --tool gc $default_preload -o "$tmp/s" -- "$runsxs" --timeout 100 \
    fake:3.1 "!${threads}gc 7$join" "" fake:5.0 '!gc 3' "" fake:9.0 '!gc 4' "" >"$tmp/log" 2>&1 &&
    "$sxsprof" report --format json "$tmp/s" >"$tmp/s.json" 2>>"$tmp/log"
check "a run of three simulated runtimes ends with status 0 and can be reported" $? "$tmp/log"
python3 - "$tmp/s.json" >"$tmp/log" 2>&1 <<'E2'
import json, sys
gcs = json.load(open(sys.argv[1]))["collections"]
for version, n in (("3.1.0", 7), ("5.0.0", 3), ("9.0.0", 4)):
    of = [g for g in gcs if g["version"].startswith(version[:3])]
    assert [g["number"] for g in of] == list(range(1, n + 1)), (version, gcs)
    assert [g["generation"] for g in of] == [i % 3 for i in range(n)], of
    assert all(g["reason"] == "induced" and g["type"] == "unknown" for g in of), of
    assert all(len(g["pauses"]) == 1 and 0 < g["duration_ns"] <= g["pause_ns"] for g in of), of
    assert all("heap_bytes" not in g and "generations" not in g for g in of), of
assert len(gcs) == 14
E2
check "each collection has its generation, its reason and one pause; nothing else is known" $? "$tmp/log"
"$sxsprof" report "$tmp/s" >"$tmp/text" 2>&1 && [ "$(grep -c '^collections: ' "$tmp/text")" -eq 3 ]
check "the text has the collections of each" $? "$tmp/text"
finish
