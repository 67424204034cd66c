# SPDX-License-Identifier: MIT
# Time of the profiler's own, in profiles of real runtimes: it is below a frame [sxsprof] and nowhere else.
. "$(dirname "$0")/lib.sh"
need_real 3

own() { # session: of a collapsed report, what is the profiler's but not below that frame; "own N" as the last line
    "$sxsprof" report --format collapsed "$1" 2>>"$tmp/log" | awk '
        { below = $0 ~ /^[^;]*;\[sxsprof\]/ }
        below { own += $NF }
        !below && /\[native\] libsxsprof\.so!(cb_|elt_|sxs_)|ManifestBuilder|EventSource\.SendManifest/ { print "not below: " $0; bad = 1 }
        END { printf "own %.0f\n", own; exit bad }'
}

for v in 8 9 10.0.11; do
    # Callbacks of all tools; and the session that "events" starts in Initialize, which describes its events.
    timeout -k 5 100 "$sxsprof" run --quiet --tool sample:cpu=997 --tool events --tool calls -o "$tmp/all-$v" -- \
        "$runsxs" --timeout 90 $v hello "" >"$tmp/log" 2>&1
    check "$v: hello runs with sample, events and calls" $? "$tmp/log"
    own "$tmp/all-$v" >"$tmp/said"
    check "$v: the profiler's own time is below [sxsprof]" $? "$tmp/said"
    [ "$(sed -n 's/^own //p' "$tmp/said")" -gt 0 ]
    check "$v: and there is some" $? "$tmp/said"
    "$sxsprof" report "$tmp/all-$v" >"$tmp/text" 2>>"$tmp/log"
    grep -q '^ *[0-9.]* %  sxsprof itself$' "$tmp/text"
    check "$v: the text names its share" $? "$tmp/text"
done
finish
