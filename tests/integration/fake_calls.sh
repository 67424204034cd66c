# SPDX-License-Identifier: MIT
# The tool "calls" on simulated runtimes, sanitizers included: hooks called as compiled code calls them, on
# good and bad days; each count is the known one.
. "$(dirname "$0")/lib.sh"
here=tests/integration
# As in fake_pick.sh: the thread sanitizer knows neither the preloaded mmap nor the kernel's actions.
preload=$([ "$SAN" = thread ] && echo --no-preload)
[ "$SAN" = thread ] && export FAKECLR_SIGNALS=off
export FAKECLR_STRICT=1
# Sanitizers take their time: fewer rounds then, and threads.
big=64 ons=200 wides=2400 wide_threads=16
[ -n "$SAN" ] && big=16 ons=20 wides=600 wide_threads=64

run() { # mode scenario versions
    rm -rf "${tmp:?}/s" "$tmp/known"
    : >"$tmp/known"
    apps=()
    for v in $3; do apps+=("fake:$v" "!known $tmp/known; $2" ""); done
    # shellcheck disable=SC2086
    timeout -k 5 120 "$sxsprof" run --quiet $preload --tool "calls:$1" -o "$tmp/s" -- "$runsxs" --bridge --timeout 100 "${apps[@]}" >"$tmp/log" 2>&1
}
report() {
    "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>>"$tmp/log" &&
        "$sxsprof" report "$tmp/s" >"$tmp/text" 2>>"$tmp/log" && ! grep -q garbled "$tmp/log"
}
known() { # mode [lost]
    python3 $here/fake_calls_expected.py "$tmp/known" "$tmp/json" "$1" ${2:-} >"$tmp/said" 2>>"$tmp/log"
}
# said TEXT: the number before it in the report, 0 without
said() { n=$(sed -n "s/^ *\([0-9]*\) $1\$/\1/p" "$tmp/text"); echo "${n:-0}"; }
# Threads that begin within the same milliseconds may find no room: that is said, too.
elsewhere() {
    echo $(($(said 'calls counted at their callers: no room for their paths') +
        $(said 'calls on threads without room')))
}
same() { # claim mode versions scenario
    run "$2,backoff=off" "$4" "$3" && report && known "$2" "$(elsewhere)"
    status=$?
    cat "$tmp/log" >>"$tmp/said"
    check "$1, $2: $(grep differ "$tmp/said" | tail -n 1)" $status "$tmp/said"
}

# ---- each kind of day, in every mode --------------------------------------------------------------
all="calls fib 10 4; calls even 50 2; calls tail 101 4; calls throw 30 4; calls stale 20 3"
all="$all; calls unmatched 10 3; calls ends 5 4; calls unload 5; calls wide 64 4; calls inline 20 4"
all="$all; calls rejit 5; calls native 9 8; calls late 5 4; calls fork 3; calls on 20 3; calls hop 8"
for mode in count time tree trace; do
    same "three runtimes at once, all of it" $mode "8.0 9.0 10.0" "$all"
    [ $mode = count ] && continue
    # each of three: 3 threads x 20 x 2 frames, and 3 threads x 10 leaves
    [ "$(said 'calls that ended without a word')" -eq 360 ] &&
        [ "$(said 'leaves of calls not seen to begin')" -eq 90 ]
    check "nothing is dropped or unmatched but what was to be, $mode" $? "$tmp/text"
done
for mode in count time tree; do
    same "one thread after the other begins within a hook" $mode 8.0 \
        "calls native 6 $big; calls native 6 $big; calls late 3 $big; calls ends 3 $big"
    same "exceptions of all kinds" $mode "8.0 9.0" "calls throw 60 4"
    same "a runtime ends while threads go on" $mode "8.0 9.0" "calls on $ons 4; calls fib 8"
done
same "what is inlined is not seen, and nothing else is missed" tree,inline=on 9.0 "calls inline 30 3"
python3 -c 'import json,sys; sys.exit("Fake.Calls.Work.Leaf" in {f["name"] for f in json.load(open(sys.argv[1]))["functions"] if f["calls"]})' "$tmp/json"
check "with inline=on the runtime may inline" $? "$tmp/json"
run tree "calls fib 17 2" 8.0 && report && known tree
status=$?
check "with back-off counts are the same: $(tail -n 1 "$tmp/said")" $status "$tmp/said"

# ---- a child counts nothing, and hangs on nothing ---------------------------------------------------
for mode in count time tree; do
    same "forked while others compile and call" $mode "8.0 9.0" \
        "calls on 50 3; calls fork 10; calls wide 160 4; calls fork 10"
done

# ---- the end of room --------------------------------------------------------------------------------
# The file may be 7 MiB: of them 6 are there at the start, so it begins well and ends badly. Both
# runtimes are there before (they meet in `hop`), for theirs may grow no more either.
for mode in count time tree; do
    run $mode,backoff=off "calls hop 3; files 7; calls wide $wides $wide_threads; calls fib 8 4; calls throw 6 2" "8.0 9.0"
    status=$?
    report || status=98
    lost=$(elsewhere)
    unhooked=$(said 'functions not hooked: no memory')
    [ $status -eq 0 ] && [ "$lost" -gt 0 ] && [ "$unhooked" -gt 0 ] && known $mode "$lost"
    check "a full file, $mode: $lost calls not at their place, $unhooked functions not hooked, none lost" $? "$tmp/log"
done

# ---- whatever ends the process ----------------------------------------------------------------------
for mode in count tree trace; do
    ( run $mode "calls on 1000 3; sleep-ms 50; abort" "8.0 9.0" ) 2>/dev/null
    report && python3 -c 'import json,sys; sys.exit(not sum(f["calls"] for f in json.load(open(sys.argv[1]))["functions"]))' "$tmp/json"
    check "aborted among running hooks, $mode: the file can be read" $? "$tmp/log"
done
finish
