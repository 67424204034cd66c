# SPDX-License-Identifier: MIT
# Every exception of real programs: how many, of what type, thrown and caught where, and the last one.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"

record() { # name tools command...
    name=$1 tools=$2
    shift 2
    rm -rf "$tmp/$name"
    ( timeout -k 5 100 "$sxsprof" run --quiet --tool "$tools" -o "$tmp/$name" -- "$@" ) >"$tmp/log" 2>&1
    status=$?
    "$sxsprof" report --format json "$tmp/$name" >"$tmp/$name.json" 2>>"$tmp/log"
}
says() { # claim session python-expression over x (exceptions) and r (runtimes)
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

# What Faults.All() throws, in three runtimes at once, two threads each: 200 rounds each thread.
record known exceptions "$runsxs" --timeout 90 8 calls "throws=200 threads=2" \
    9 calls "throws=200 threads=2" 10.0.11 calls "throws=200 threads=2"
check "three runtimes throw" $status "$tmp/log"
for v in 8 9 10; do
    like="version='$v.'"
    says "$v: every exception is recorded" known "n($like) == 400 * 11"
    says "$v: by type" known "[n($like, type='System.' + t) for t in ('ArgumentException', 'Exception', 'NullReferenceException', 'InvalidOperationException')] == [400, 400, 400, 8 * 400]"
    says "$v: the one that took another's place, and the other" known \
        "n($like, fate='superseded', message='first') == 400 == n($like, fate='caught', message='second')"
    says "$v: thrown again by a catch block" known \
        "n($like, rethrown='True', thrown='Calls.Faults.Nested', caught='Calls.Faults.All') == 400 == n($like, rethrown='True')"
    says "$v: within a catch block, a finally block, with filters" known \
        "[n($like, thrown='Calls.Faults.Throw', caught='Calls.Faults.' + f) for f in ('Nested', 'Inner', 'Rethrow', 'Filtered', 'InFinally', 'All')] == 6 * [400]"
    says "$v: by the processor" known \
        "n($like, type='System.NullReferenceException', fate='caught', caught='Calls.Faults.Fault') == 400"
done
says "the table of runtimes agrees" known "n() == sum(v['exceptions'] for v in r)"

# The one a process dies of.
for v in 8 9 10.0.11; do
    record last exceptions "$runsxs" --timeout 30 $v crash unhandled
    [ $status -eq 134 ]
    check "$v: an unhandled exception ends the process as ever" $? "$tmp/log"
    says "$v: and is in the record" last \
        "n(fate='unhandled', type='System.InvalidOperationException', message='an exception nobody handles', thrown='Crash.Program.Main') == 1 == n(fate='unhandled')"
    for kind in failfast overflow segv; do
        record "end-$kind" exceptions "$runsxs" --timeout 30 $v crash $kind
        says "$v: $kind is not an unhandled exception" "end-$kind" "n(fate='unhandled') == 0"
    done
done

# Those that native code takes: static constructors (three), a handler of AssemblyResolve, and 9.0's and
# 10.0's first call by reflection, which throws the same again.
for v in $versions; do
    record native exceptions "$runsxs" --timeout 30 "$v" calls natives=10
    check "$v: exceptions come to native code" $status "$tmp/log"
    says "$v: it takes those of static constructors" native \
        "n(fate='by native code', type='System.InvalidOperationException', message='in a static constructor') == 2 == n(message='in a static') and n(fate='by native code', thrown='Calls.Natives+Explicit..cctor', message='on request') == 1 == n(message='on request')"
    says "$v: and throws what it makes of them, the same one twice" native \
        "n(fate='caught', type='System.TypeInitializationException', caught='Calls.Natives.Expect') == 4 == n(type='System.TypeInit')"
    says "$v: of a handler that it calls" native \
        "n(fate='by native code', type='System.TimeoutException', thrown='Calls.Natives.Resolve') == 1 == n(type='System.Timeout')"
    says "$v: reflection catches and wraps" native \
        "n(fate='caught', message='reflected') == 10 and n(fate='by native', message='reflected') == n(rethrown='True') <= 1 and n(fate='caught', message='made') == 10 and n(fate='caught', type='System.Reflection.TargetInvocationException') == 20"
    says "$v: nothing else is native code's, nothing is left over" native \
        "n() == r[0]['exceptions'] and n(fate='by native') == 4 + n(rethrown='True') and n(fate='un') == 0"
done

# For frames of native code, or of another runtime, no exception may leave: the process ends, as ever.
plain() { ( timeout -k 5 60 "$@" ) >/dev/null 2>&1; wanted=$?; }
for v in $versions; do
    plain "$runsxs" --timeout 30 "$v" calls through=1
    record through exceptions "$runsxs" --timeout 30 "$v" calls through=1
    [ $status -eq $wanted ] && [ $status -ge 128 ]
    check "$v: a callback that throws through native frames ends the process as ever, by $wanted" $? "$tmp/log"
    says "$v: and is in the record" through \
        "n(fate='unhandled', thrown='Calls.Natives.Compare', message='through native frames') == 1 == n()"
    set -- "$v" calls cross=3
    for w in $versions; do [ "$w" = "$v" ] || set -- "$@" "$w" calls cross=3; done
    # SIGABRT in 8.0 and 10.0, SIGSEGV in 9.0. A process of several without the library is no measure: it may die of anything.
    record cross exceptions "$runsxs" --timeout 30 --bridge "$@"
    case $v in 9.*) wanted=139 ;; *) wanted=134 ;; esac
    [ $status -eq $wanted ]
    check "$v: one that comes to other runtimes' frames ends the process, by $wanted" $? "$tmp/log"
    says "$v: and is its own runtime's" cross \
        "n(fate='unhandled', version='$v', thrown='Calls.Natives.Cross', message='from runtime to runtime') == 1 == n()"
done

# kill -9, while exceptions are thrown.
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
check "kill -9: the file is whole" $? "$tmp/log"
# One may have been between two counters on each thread.
says "kill -9: nothing is lost" killed "abs(n() - r[0]['exceptions']) <= 20 and n() > 100"
finish
