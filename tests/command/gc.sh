#!/bin/bash
# SPDX-License-Identifier: MIT
# gc.sh - checks what sxsprof report shows of collections with known numbers (tests/profile/make_events.c).
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
$CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_events.c -o "$T/make_events" || exit 1
"$T/make_events" "$T/s" 0 gcs

try "$SXS" report "$T/s"
is "text: exit status 0" 0 "$status"
cat >"$T/expected" <<'E2'
collections: 23 [8.0.29]
       count                                paused  to suspend      median        95 %     longest
          20  generation 0               210.00 ms    21.00 ms    10.00 ms    19.00 ms    20.00 ms
           1  generation 1                 1.00 ms   100.00 us     1.00 ms     1.00 ms     1.00 ms
           1  generation 2                       -           -           -           -           -
           1  generation 2, background     4.00 ms   400.00 us     4.00 ms     4.00 ms     4.00 ms
          23  all                        215.00 ms    21.50 ms     9.00 ms    19.00 ms    20.00 ms
  reasons: 12 allocation; 10 induced; 1 large allocation
  longest pauses:
    20.00 ms  at 0.200 s, of it 2.00 ms to suspend: collection 20, generation 0, induced; freed 256.00 KiB
    19.00 ms  at 0.190 s, of it 1.90 ms to suspend: collection 19, generation 0, allocation; freed 256.00 KiB
    18.00 ms  at 0.180 s, of it 1.80 ms to suspend: collection 18, generation 0, induced; freed 256.00 KiB
                        freed     promoted      largest      at last  fragmentation
  generation 0       5.00 MiB    10.00 MiB    19.53 KiB          0 B            0 B
  generation 1            0 B          0 B          0 B          0 B            0 B
  generation 2       4.00 MiB     6.00 MiB     6.00 MiB          0 B            0 B
  large objects           0 B          0 B          0 B          0 B            0 B
  pinned objects          0 B     4.00 KiB          0 B          0 B            0 B
  at last: 0 pinned objects, 0 handles, 0 objects to finalize
  finalizers: 40 ran, in 20.00 ms
collections: 1 [9.0.18]
       count                                paused  to suspend      median        95 %     longest
           1  generation 0                 5.00 ms   500.00 us     5.00 ms     5.00 ms     5.00 ms
  reasons: 1 unknown
  longest pauses:
     5.00 ms  at 0.100 s, of it 500.00 us to suspend: collection 1, generation 0, unknown
E2
"$SXS" report --top 3 "$T/s" | sed -n '/^collections/,$p' >"$T/text"
diff "$T/expected" "$T/text" >"$T/diff"
is "text: sums, percentiles, reasons, the longest pauses and the heap" "" "$(cat "$T/diff")"

"$SXS" report --format json "$T/s" >"$T/json" && python3 - "$T/json" >"$T/said" 2>&1 <<'E2'
import json, sys
gcs = json.load(open(sys.argv[1]))["collections"]
assert len(gcs) == 24 and [g["runtime"] for g in gcs] == [1] * 23 + [2]
for i, g in enumerate(gcs[:20], 1):
    assert (g["number"], g["generation"], g["type"]) == (i, 0, "blocking"), g
    assert g["reason"] == ("allocation" if i % 2 else "induced"), g
    assert (g["pause_ns"], g["suspension_ns"]) == (i * 1000000, i * 100000), g
    assert g["pauses"] == [{"time_ns": 1000000000 + i * 9900000, "suspension_ns": i * 100000, "pause_ns": i * 1000000}], g
    assert g["at_ns"] == i * 10000000, g
    assert (g["heap_bytes"], g["freed_bytes"], g["promoted_bytes"]) == (1000 * i + (5 << 20), 1 << 18, 1 << 19), g
    assert (g["pinned_objects"], g["handles"], g["finalizable_objects"], g["finalized_objects"]) == (i, 30 + i, 2, 2), g
    assert g["compacting"] and not g["concurrent"] and g["duration_ns"] == i * 900000, g
    assert [v["name"] for v in g["generations"]] == ["0", "1", "2", "large", "pinned"], g
background, foreground, interrupted, by_callback = gcs[20:]
assert (background["type"], foreground["type"], interrupted["type"]) == ("background", "foreground", "blocking")
assert len(background["pauses"]) == 2 and background["freed_bytes"] == 4 << 20 and background["promoted_bytes"] == (6 << 20) + 4096
assert "duration_ns" not in interrupted and "heap_bytes" not in interrupted and interrupted["pause_ns"] == 0
assert (by_callback["reason"], by_callback["type"], by_callback["pause_ns"]) == ("unknown", "unknown", 5000000) and "heap_bytes" not in by_callback
E2
is "JSON: each collection has exactly what is known of it" "" "$(cat "$T/said")"

"$SXS" report --format chrome "$T/s" >"$T/trace"
is "the trace has every collection and every pause" "24 24" \
    "$(grep -c '"cat":"gc"' "$T/trace") $(grep -c '"cat":"suspension"' "$T/trace")"
"$SXS" report --format html -o "$T/page.html" "$T/s"
is "the page is written" 0 "$?"

cp -r "$T/s" "$T/more"
try "$SXS" diff --data gc "$T/s" "$T/more"
is "diff: exit status 0" 0 "$status"
has "diff: the names of both, and all collections" "$out" "before: $T/s
now:    $T/more
collections: 24 -> 24"
has "diff: each version and generation" "$out" "  [8.0.29] generation 0
    count              20 ->           20
    paused      210.00 ms ->    210.00 ms
    longest      20.00 ms ->     20.00 ms
    freed        5.00 MiB ->     5.00 MiB
    promoted    10.00 MiB ->    10.00 MiB"
mkdir -p "$T/none/4242" && cp "$T/s/4242/census" "$T/none/4242/"
try "$SXS" diff --data gc "$T/s" "$T/none"
is "diff: a session without collections is refused" 2 "$status"
has "diff: the message says what was expected" "$err" "expected folders made by sxsprof gc"

"$T/make_events" "$T/both"
is "beside the tool events, a collection is one event" 5 \
    "$("$SXS" report --format chrome "$T/both" | grep -c '"cat":"gc"')"
try "$SXS" report --runtime 2 "$T/s"
has "one runtime: its collections" "$out" "collections: 1 [9.0.18]"
lacks "one runtime: not those of others" "$out" "collections: 23"
exit $failed
