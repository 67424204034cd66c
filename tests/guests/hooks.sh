# SPDX-License-Identifier: MIT
# hooks.sh - checks hooks of several guests on one runtime in unusual cases: a mapper that is set late, functions
# with many arguments, threads that call while the guests end, and forked children.
. "$(dirname "$0")/../integration/lib.sh"
. "$(dirname "$0")/common.inc"
need_real 1
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"
unset DOTNET_gcConcurrent DOTNET_GCgen0size
three=$(echo "$versions" | awk -F. '!seen[$1]++' | grep -v '^3\.' | tail -n 3) # one of each major version

# of NAME VERSION FILE: what this profiler has printed about this runtime
of() { sed -n "s/^$(id_of "$1" | cut -c26-) $2 //p" "$3" | grep -v '^released$'; }

# alone NAME VERSION ARGUMENTS: runs the profiler directly; its result is $tmp/alone.
alone() {
    rm -f "$tmp/out"
    PROF_OUT=$tmp/out CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$(id_of "$1") CORECLR_PROFILER_PATH=$(library_of "$1") \
        "$runsxs" --timeout 120 "$2" calls "$3" >"$tmp/log" 2>&1
    status=$?
    of "$1" "$2" "$tmp/out" >"$tmp/alone"
    [ -s "$tmp/alone" ] || status=1
}

# beside "NAME..." VERSION ARGUMENTS: runs guests; what they print is in $tmp/out.
beside() {
    rm -rf "$tmp/out" "$tmp/session"
    # shellcheck disable=SC2086 # names are words
    PROF_OUT=$tmp/out SXSPROF_GUESTS=$(guest_list $1) "$sxsprof" run --quiet -o "$tmp/session" -- \
        "$runsxs" --timeout 120 "$2" calls "$3" >"$tmp/log" 2>&1
    status=$?
}

# same CLAIM NAME VERSION: compares what the guest has printed with the result of alone().
same() {
    of "$2" "$3" "$tmp/out" >"$tmp/guest"
    diff "$tmp/alone" "$tmp/guest" >>"$tmp/log" 2>&1 || status=1
    check "$1" $status "$tmp/log"
}

for v in $three; do
    app="fib=5 even=11 throws=2 yields=2 steps=2"
    alone eltlater "$v" "$app"
    grep -q '^mapper: 0x00000000' "$tmp/alone" && [ "$(wc -l <"$tmp/alone")" -gt 5 ] || status=1
    check "$v, a mapper first set after Initialize, directly: is accepted and called" $status "$tmp/log"
    for others in "elt3" "elt2" "elt1 elt2args"; do
        beside "eltlater $others" "$v" "$app"
        same "$v, a mapper first set after Initialize, beside $others: is asked about the same functions" eltlater "$v"
    done

    app="fib=5 values=20"
    alone elt2args "$v" "$app"
    [ "$(sed -n 's/^most argument ranges //p' "$tmp/alone")" -gt 16 ] || status=1
    check "$v, hooks of version 2, directly: get more than 16 argument ranges" $status "$tmp/alone"
    beside "elt2args elt3info elt3" "$v" "$app"
    same "$v, hooks of version 2 beside two others: get the same arguments" elt2args "$v"

    alone eltfork "$v" "fib=5 forks=20"
    grep -q "^in children: enters 3540 leaves 3540$" "$tmp/alone" || status=1
    check "$v, forked children that go on, directly: their hooks run" $status "$tmp/alone"
    for others in "elt3" "elt1 elt2 elt3" "elt1 elt2args elt3info elt3"; do
        beside "eltfork $others" "$v" "fib=5 forks=20"
        same "$v, forked children that go on, beside $others: their hooks run and they end" eltfork "$v"
    done

    # The chain of threads goes on while the guests get their Shutdown and lose their hooks.
    for others in "elt1 elt2 elt3" "elt1 elt2args elt3info elt3"; do
        ends=0
        for _ in 1 2 3 4 5; do
            beside "$others" "$v" "fib=15 threads=2 late=8"
            [ $status -eq 0 ] || ends=1
            for name in $others; do
                of "$name" "$v" "$tmp/out" | grep -q "^Calls.Work.Fib enters 3946 leaves 3946 " || ends=1
            done
            [ $ends -eq 0 ] || break
        done
        cat "$tmp/out" >>"$tmp/log"
        check "$v, threads that call while the guests $others end: the program ends, and the counts are right" $ends "$tmp/log"
    done
done
finish
