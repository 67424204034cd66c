# SPDX-License-Identifier: MIT
# own_time.sh - checks that profiles of real runtimes show the profiler's own time only below [sxsprof].
. "$(dirname "$0")/lib.sh"
need_real 3

# own SESSION: print the stacks of the collapsed report that have frames of the profiler but no frame
# [sxsprof], and a last line "own N" with the time below [sxsprof]. Fails when there is such a stack.
own() {
    "$sxsprof" report --format collapsed "$1" 2>>"$tmp/log" | awk '
        { below = $0 ~ /^[^;]*;\[sxsprof\]/ }
        below { own += $NF }
        !below && /\[native\] libsxsprof\.so!(cb_|elt_|sxs_)|ManifestBuilder|EventSource\.SendManifest/ { print "not below: " $0; bad = 1 }
        END { printf "own %.0f\n", own; exit bad }'
}

for v in 8 9 $net10; do
    # The own time is the time of the callbacks of all tools, and of the session that the tool events starts
    # in Initialize: event sources describe their events for this session.
    timeout -k 5 100 "$sxsprof" run --quiet --tool sample:cpu=997 --tool events --tool calls -o "$tmp/all-$v" -- \
        "$runsxs" --timeout 90 $v hello "" >"$tmp/log" 2>&1
    check "$v: hello runs with sample, events and calls" $? "$tmp/log"
    own "$tmp/all-$v" >"$tmp/said"
    check "$v: the profiler's own time is below [sxsprof]" $? "$tmp/said"
    [ "$(sed -n 's/^own //p' "$tmp/said")" -gt 0 ]
    check "$v: there is time below [sxsprof]" $? "$tmp/said"
    "$sxsprof" report "$tmp/all-$v" >"$tmp/text" 2>>"$tmp/log"
    grep -q '^ *[0-9.]* %  sxsprof itself$' "$tmp/text"
    check "$v: the text report shows the share of the profiler's own time" $? "$tmp/text"
done
finish
