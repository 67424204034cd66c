# SPDX-License-Identifier: MIT
# exceptions.sh - checks the tool "exceptions" on real runtimes: the number of exceptions, their types, the
# functions that throw and catch them, and the exception that ends a process.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"

record() { # NAME TOOLS COMMAND...: records COMMAND into $tmp/NAME
    name=$1 tools=$2
    shift 2
    rm -rf "$tmp/$name"
    ( timeout -k 5 100 "$sxsprof" run --quiet --tool "$tools" -o "$tmp/$name" -- "$@" ) >"$tmp/log" 2>&1
    status=$?
    "$sxsprof" report --format json "$tmp/$name" >"$tmp/$name.json" 2>>"$tmp/log"
}
says() { # CLAIM SESSION EXPRESSION: in Python; x are the exceptions, r the runtimes, n(...) a count
    python3 - "$tmp/$2.json" "$3" >"$tmp/said" 2>&1 <<'E2'
import json, sys
all = json.load(open(sys.argv[1]))
x, r = all["exceptions"], all["runtimes"]
def n(**like):
    return sum(e["count"] for e in x if all_of(e, like))
def all_of(e, like):
    return all_true(str(e[k]).startswith(v) for k, v in like.items())
def all_true(them):
    return not [t for t in them if not t]
if not eval(sys.argv[2]):
    sys.exit("not so: %s\n%s" % (sys.argv[2], json.dumps(x, indent=1)))
E2
    check "$1" $? "$tmp/said"
}

# Two threads in each of three runtimes call Faults.All() 200 times each; one call throws 11 exceptions.
record known exceptions "$runsxs" --timeout 90 8 calls "throws=200 threads=2" \
    9 calls "throws=200 threads=2" $net10 calls "throws=200 threads=2"
check "a run of three runtimes that throw ends with status 0" $status "$tmp/log"
for v in 8 9 10; do
    like="version='$v.'"
    says "$v: every exception is recorded" known "n($like) == 400 * 11"
    says "$v: every type has its number of exceptions" known "[n($like, type='System.' + t) for t in ('ArgumentException', 'Exception', 'NullReferenceException', 'InvalidOperationException')] == [400, 400, 400, 8 * 400]"
    says "$v: an exception that replaces another one is caught, the replaced one is superseded" known \
        "n($like, fate='superseded', message='first') == 400 == n($like, fate='caught', message='second')"
    says "$v: exceptions that a catch block throws again are marked" known \
        "n($like, rethrown='True', thrown='Calls.Faults.Nested', caught='Calls.Faults.All') == 400 == n($like, rethrown='True')"
    says "$v: exceptions from catch and finally blocks and exceptions that pass filters have the right catcher" known \
        "[n($like, thrown='Calls.Faults.Throw', caught='Calls.Faults.' + f) for f in ('Nested', 'Inner', 'Rethrow', 'Filtered', 'InFinally', 'All')] == 6 * [400]"
    says "$v: a NullReferenceException from a fault has the function that caught it" known \
        "n($like, type='System.NullReferenceException', fate='caught', caught='Calls.Faults.Fault') == 400"
done
says "the table of runtimes has the same number of exceptions" known "n() == sum(v['exceptions_thrown'] for v in r)"

# The unhandled exception that ends a process.
for v in 8 9 $net10; do
    record last exceptions "$runsxs" --timeout 30 $v crash unhandled
    [ $status -eq 134 ]
    check "$v: an unhandled exception ends the process by SIGABRT" $? "$tmp/log"
    says "$v: the unhandled exception is recorded" last \
        "n(fate='unhandled', type='System.InvalidOperationException', message='an exception nobody handles', thrown='Crash.Program.Main') == 1 == n(fate='unhandled')"
    # One frame or more below the first managed function of a thread, 9.0 and later unwind it like an exception
    # that native code catches.
    for place in below finally filter replaced again thread pool async asyncvoid timer finalizer; do
        record "last-$place" exceptions "$runsxs" --timeout 30 $v crash "unhandled $place"
        says "$v: an exception that nobody handles, thrown at '$place', is recorded as unhandled" "last-$place" \
            "n(fate='unhandled', type='System.InvalidOperationException', message='an exception nobody handles') == 1 == n(fate='unhandled') and n(fate='by native') == 0"
    done
    record last-ticks exceptions env SXSPROF_SIGNALS=off "$runsxs" --timeout 30 $v crash "unhandled below"
    says "$v: without the router, the exception that ended the process is unhandled, or may be" last-ticks \
        "n(fate='unhandled', type='System.InvalidOperationException') == 1 == n()"
    for kind in failfast overflow segv; do
        record "end-$kind" exceptions "$runsxs" --timeout 30 $v crash $kind
        says "$v: $kind is not an unhandled exception" "end-$kind" "n(fate='unhandled') == 0"
    done
done

# Exceptions that reach native code of the runtime: from static constructors (three), from a handler of
# AssemblyResolve, and in 9.0 and 10.0 from the first call by reflection, which throws the same exception
# again.
for v in $versions; do
    record native exceptions "$runsxs" --timeout 30 "$v" calls natives=10
    check "$v: a run with exceptions that reach native code ends with status 0" $status "$tmp/log"
    says "$v: native code catches exceptions of static constructors" native \
        "n(fate='by native code', type='System.InvalidOperationException', message='in a static constructor') == 2 == n(message='in a static') and n(fate='by native code', thrown='Calls.Natives+Explicit..cctor', message='on request') == 1 == n(message='on request')"
    says "$v: native code throws a TypeInitializationException for each, one of them twice" native \
        "n(fate='caught', type='System.TypeInitializationException', caught='Calls.Natives.Expect') == 4 == n(type='System.TypeInit')"
    says "$v: native code catches the exception of a handler of AssemblyResolve" native \
        "n(fate='by native code', type='System.TimeoutException', thrown='Calls.Natives.Resolve') == 1 == n(type='System.Timeout')"
    says "$v: reflection catches exceptions and wraps each in a TargetInvocationException" native \
        "n(fate='caught', message='reflected') == 10 and n(fate='by native', message='reflected') == n(rethrown='True') <= 1 and n(fate='caught', message='made') == 10 and n(fate='caught', type='System.Reflection.TargetInvocationException') == 20"
    says "$v: native code catches no other exception, and no exception is unhandled or unknown" native \
        "n() == r[0]['exceptions_thrown'] and n(fate='by native') == 4 + n(rethrown='True') and n(fate='un') == 0"
done

# An exception that would leave for frames of native code or of another runtime ends the process, as without
# the library.
plain() { ( timeout -k 5 60 "$@" ) >/dev/null 2>&1; wanted=$?; }
for v in $versions; do
    plain "$runsxs" --timeout 30 "$v" calls through=1
    record through exceptions "$runsxs" --timeout 30 "$v" calls through=1
    [ $status -eq $wanted ] && [ $status -ge 128 ]
    check "$v: a callback that throws through native frames ends the process as without the library, with status $wanted" $? "$tmp/log"
    says "$v: the exception of the callback is recorded as unhandled" through \
        "n(fate='unhandled', thrown='Calls.Natives.Compare', message='through native frames') == 1 == n()"
    set -- "$v" calls cross=3
    for w in $versions; do [ "$w" = "$v" ] || set -- "$@" "$w" calls cross=3; done
    # SIGABRT in 8.0 and 10.0, SIGSEGV in 9.0. A run without the library is no control: without it, a process
    # with several runtimes may end by any signal.
    record cross exceptions "$runsxs" --timeout 30 --bridge "$@"
    case $v in 9.*) wanted=139 ;; *) wanted=134 ;; esac
    [ $status -eq $wanted ]
    check "$v: an exception that reaches frames of another runtime ends the process, with status $wanted" $? "$tmp/log"
    says "$v: this exception is recorded as unhandled in the runtime that threw it" cross \
        "n(fate='unhandled', version='$v', thrown='Calls.Natives.Cross', message='from runtime to runtime') == 1 == n()"
done

# An exception that native code has caught before the process ends in another way.
for v in $versions; do
    record late exceptions "$runsxs" --timeout 30 "$v" crash native
    says "$v: an exception that native code caught is not the one that ended the process" late \
        "n(type='System.ArgumentException', fate='by native code') == 1 and n(type='System.TypeInit', fate='caught') == 1 and n(fate='unhandled') == 0"
done

# kill -9 while exceptions are thrown.
rm -rf "$tmp/killed"
"$sxsprof" run --quiet --tool exceptions -o "$tmp/killed" -- "$runsxs" --timeout 300 9 stress seconds=250 >"$tmp/log" 2>&1 &
run=$!
many() {
    "$sxsprof" report --format json "$tmp/killed" >"$tmp/killed.json" 2>/dev/null &&
        python3 -c 'import json,sys; sys.exit(sum(e["count"] for e in json.load(open(sys.argv[1])).get("exceptions", [])) <= 100)' \
            "$tmp/killed.json"
}
wait_until many
kill -KILL "$(basename "$tmp"/killed/[0-9]*)"
wait $run 2>/dev/null
"$sxsprof" report --format json "$tmp/killed" >"$tmp/killed.json" 2>"$tmp/log"
check "kill -9: the session can be reported" $? "$tmp/log"
# Each thread may have been killed between the two counters of one exception.
says "kill -9: no exception is missing" killed "abs(n() - r[0]['exceptions_thrown']) <= 20 and n() > 100"
finish
