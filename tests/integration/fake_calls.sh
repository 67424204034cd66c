# SPDX-License-Identifier: MIT
# fake_calls.sh - checks the counts of the tool "calls" on simulated runtimes, also under sanitizers.
# The simulated runtimes call the hooks as compiled code does, in ordinary and unusual cases, and write the
# numbers of calls to a file. docs/internals/fakeclr.md describes the scenarios.
. "$(dirname "$0")/lib.sh"
here=tests/integration
# As in fake_pick.sh: the preloaded mmap and the signal actions of the kernel bypass the thread sanitizer.
preload=$([ "$SAN" = thread ] && echo --no-preload)
[ "$SAN" = thread ] && export FAKECLR_SIGNALS=off
export FAKECLR_STRICT=1
# Sanitizers are slow, so most numbers are smaller with them.
big=64 ons=200 wides=2400 wide_threads=16
[ -n "$SAN" ] && big=16 ons=20 wides=600 wide_threads=64

run() { # MODE SCENARIO VERSIONS
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
known() { # MODE [LOST]
    [ -z "${SXSPROF_GUESTS:-}" ] || sed -i '/System\.Quiet\.Quiet/d' "$tmp/known"
    python3 $here/fake_calls_expected.py "$tmp/known" "$tmp/json" "$1" ${2:-} >"$tmp/said" 2>>"$tmp/log"
}
# said TEXT: prints the number before TEXT in the report, or 0 if the report has no such line
said() { n=$(sed -n "s/^ *\([0-9]*\) $1\$/\1/p" "$tmp/text"); echo "${n:-0}"; }
# Prints the number of calls without a call path. The report counts them separately: threads that start within
# the same milliseconds may find no room.
elsewhere() {
    echo $(($(said 'calls counted at their callers: no room for their paths') +
        $(said 'calls on threads without room')))
}
same() { # CLAIM MODE VERSIONS SCENARIO
    run "$2,backoff=off" "$4" "$3" && report && known "$2" "$(elsewhere)"
    status=$?
    cat "$tmp/log" >>"$tmp/said"
    check "$1, $2: $(grep differ "$tmp/said" | tail -n 1)" $status "$tmp/said"
}

# ---- each kind of calls, in every mode ------------------------------------------------------------
all="calls fib 10 4; calls even 50 2; calls tail 101 4; calls throw 30 4; calls stale 20 3"
all="$all; calls unmatched 10 3; calls ends 5 4; calls unload 5; calls wide 64 4; calls inline 20 4"
all="$all; calls rejit 5; calls native 9 8; calls late 5 4; calls fork 3; calls on 20 3; calls hop 8"
for mode in count time tree trace; do
    same "the counts of all scenarios in three runtimes at once are right" $mode "8.0 9.0 10.0" "$all"
    [ $mode = count ] && continue
    # in each of three runtimes: 3 threads x 20 x 2 frames without a leave hook (scenario stale), and
    # 3 threads x 10 leave hooks without an enter hook (scenario unmatched)
    [ "$(said 'calls that ended without a word')" -eq 360 ] &&
        [ "$(said 'leaves of calls not seen to begin')" -eq 90 ]
    check "only the calls of the scenarios stale and unmatched are dropped or unmatched, $mode" $? "$tmp/text"
done
# A guest that wants every function, so that each call goes through the fan-out hooks. The simulated runtime ends
# the process when a hook changes a register. It also counts the function Quiet then, which only the guest wants.
SXSPROF_GUESTS="{5E5C0012-0000-4000-8000-0000000E1720}=$PWD/$BUILD/guests/libelt2.so"
export SXSPROF_GUESTS PROF_OUT=/dev/null
for mode in count tree; do
    same "the counts of all scenarios beside a guest with hooks are right, and every register is preserved" $mode \
        "8.0 9.0 10.0" "$all"
done
unset SXSPROF_GUESTS PROF_OUT
for mode in count time tree; do
    same "the counts of threads that first enter the library in a hook are right" $mode 8.0 \
        "calls native 6 $big; calls native 6 $big; calls late 3 $big; calls ends 3 $big"
    same "the counts are right with exceptions of all kinds" $mode "8.0 9.0" "calls throw 60 4"
    same "the counts are right when a runtime ends while threads continue" $mode "8.0 9.0" "calls on $ons 4; calls fib 8"
done
same "inlined calls are not counted, and all other counts are right" tree,inline=on 9.0 "calls inline 30 3"
python3 -c 'import json,sys; sys.exit("Fake.Calls.Work.Leaf" in {f["name"] for f in json.load(open(sys.argv[1]))["functions"] if f["calls"]})' "$tmp/json"
check "with inline=on the inlined function has no calls" $? "$tmp/json"
run tree "calls fib 17 2" 8.0 && report && known tree
status=$?
check "with back-off the counts are right: $(tail -n 1 "$tmp/said")" $status "$tmp/said"

# ---- a forked child counts nothing and does not hang ------------------------------------------------
for mode in count time tree; do
    same "the counts are right when a process forks while other threads compile and call" $mode "8.0 9.0" \
        "calls on 50 3; calls fork 10; calls wide 160 4; calls fork 10"
done

# ---- a full file ------------------------------------------------------------------------------------
# The file is limited to 7 MiB. It has 6 MiB at the start, so the limit is reached during the run. The limit
# is set after both runtimes have started (`hop` waits for both), because it applies to the files of the
# runtimes too.
for mode in count time tree; do
    run $mode,backoff=off "calls hop 3; files 7; calls wide $wides $wide_threads; calls fib 8 4; calls throw 6 2" "8.0 9.0"
    status=$?
    report || status=98
    lost=$(elsewhere)
    unhooked=$(said 'functions not hooked: no memory')
    [ $status -eq 0 ] && [ "$lost" -gt 0 ] && [ "$unhooked" -gt 0 ] && known $mode "$lost"
    check "a full file, $mode: no call is lost, $lost calls have no call path, $unhooked functions are not hooked" $? "$tmp/log"
done

# ---- an aborted process -----------------------------------------------------------------------------
for mode in count tree trace; do
    ( run $mode "calls on 1000 3; sleep-ms 50; abort" "8.0 9.0" ) 2>/dev/null
    report && python3 -c 'import json,sys; sys.exit(not sum(f["calls"] for f in json.load(open(sys.argv[1]))["functions"]))' "$tmp/json"
    check "a process aborted while hooks run, $mode: the session can be reported" $? "$tmp/log"
done
finish
