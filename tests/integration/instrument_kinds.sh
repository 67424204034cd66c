# SPDX-License-Identifier: MIT
# instrument_kinds.sh - counts, times and traces methods of every kind in .NET 8, 9 and 10 at once.
# The app kinds prints its own number of calls of each method; the recorded numbers must be equal.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/kinds/kinds.dll" ] || skip_all "$0" "the app kinds is not built"
kinds=$(realpath "$BUILD")/managed/kinds/kinds.dll

# file NAME: write the rules on standard input as an instrumentation file to NAME, in one step (by a rename)
file() {
    {
        echo '<?xml version="1.0"?>'
        echo '<instrumentation xmlns="urn:sxsprof:instrumentation:1">'
        cat
        echo '</instrumentation>'
    } >"$tmp/new"
    mv "$tmp/new" "$tmp/$1"
}
every() { # ACTION: print a rule with ACTION for all methods whose calls the app counts
    echo '<rule><match assembly="kinds" type="Kinds.*"/><match assembly="kindslib" type="*"/><match assembly="tail" type="*"/>'
    echo '<match assembly="KindsMade" type="*"/><exclude type="Kinds.Known"/>'
    echo "<exclude type=\"Kinds.Program\"/><exclude type=\"Kinds.Edits\"/><$1/></rule>"
}
# run NAME ARGUMENTS [VERSIONS]: run the app in several runtimes at once, instrumented by NAME.xml
run() {
    out=$1 options=$2
    which=${3:-$versions}
    rm -rf "${tmp:?}/$out"
    set --
    for v in $which; do set -- "$@" "$v" "$kinds" "$options"; done
    SXSPROF_INSTRUMENT=$tmp/$out.xml timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/$out" -- \
        "$runsxs" --timeout 100 "$@" >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format json "$tmp/$out" >"$tmp/json" 2>>"$tmp/log"
}
# methods EXPRESSION [FIELDS]: succeed when the Python expression is true and each of FIELDS is, for every
# method, equal to the number that the app printed. In the expression, s is the list of instrumented methods,
# log is the output of the run, and known maps the name of a method to the printed numbers.
methods() {
    python3 - "$tmp/json" "$tmp/log" "$1" "${2:-}" "$(echo "$which" | wc -w)" <<'E2'
import collections, json, sys
s = json.load(open(sys.argv[1])).get("instrument", [])
log = open(sys.argv[2]).read()
n = int(sys.argv[5])
known = {}
for line in log.splitlines():
    if line.startswith("kinds: known "):
        _, _, count, name = line.split(" ", 3)
        known.setdefault(name, []).append(int(count))
bad = [name for name, counts in known.items() if len(counts) != n or len(set(counts)) != 1]
for field in sys.argv[4].split():
    sums = collections.defaultdict(int)
    for x in s:
        sums[x["runtime"], x["name"]] += x[field]
    for runtime in sorted({x["runtime"] for x in s}):
        bad += ["%s %s %s %d of %d" % (runtime, field, name, sums[runtime, name], counts[0])
                for name, counts in known.items() if sums[runtime, name] != counts[0]]
print("\n".join(bad), file=open(sys.argv[2], "a"))
sys.exit(not eval(sys.argv[3], globals()) or bool(bad))
E2
}

# ---- kinds of methods ---------------------------------------------------------------------------
for action in count time trace; do
    every $action | file $action.xml
    tails=
    [ $action = count ] && tails="tails=20001"
    run $action "rounds=20 late=1 $tails"
    check "$action: a run with rules for methods of every kind succeeds" $? "$tmp/log"
    fields=calls
    [ $action != count ] && fields="calls calls_ended"
    [ $action = trace ] && fields="calls calls_ended calls_traced"
    methods "len(known) > 60" "$fields"
    check "$action: the recorded numbers of each method are equal to the app's own ($fields)" $? "$tmp/log"
    methods 'not [x for x in s if x["state"] == "failed" and not x["name"].startswith("KindsMade")]'
    check "$action: no method outside the dynamic assembly has the state failed" $? "$tmp/json"
done

# ---- code that is loaded late, or is not supported ----------------------------------------------
methods 'log.count("kinds: made") == 9 and all(x["state"] == "unloaded" for x in s if x["name"].endswith("FromBytes") and x["calls"] == 20 and x["state"] not in ("active", "failed")) and len([x for x in s if x["name"].endswith("FromBytes") and x["calls"] == 20]) == 15'
check "an assembly loaded from bytes and into four collectible contexts has a method for each; dynamic code runs on" $? "$tmp/json"

run count "rounds=5 varargs=1 asked=1"
check "a run with methods with variable arguments succeeds" $? "$tmp/log"
methods 'log.count("kinds: asked PlatformNotSupportedException") == 6 and log.count("kinds: asked") == 6'
check "RuntimeEnvironment gives managed code no ICLRRuntimeInfo, so that code cannot ask which runtime it runs in" $? "$tmp/log"
methods 'log.count("kinds: varargs InvalidProgramException") == 3 and all(x["state"] == "pending" for x in s if x["name"].endswith("Old.Varargs")) and [x["compiled"] for x in s if x["name"].endswith(".CallVarargs")] == [False] * 3' calls
check "methods with variable arguments, which this system does not support, throw and stay pending" $? "$tmp/log"

# ---- edits while methods run --------------------------------------------------------------------
mkdir "$tmp/edited"
set --
for v in $versions; do
    for edition in 1 2; do
        {
            echo "<rule><match runtime=\"$v\" assembly=\"kinds\" type=\"Kinds.Edits\" method=\"Edition\"/>"
            echo "<replace value=\"$edition\"/></rule>"
            [ $edition = 1 ] && echo "<rule><match runtime=\"$v\" assembly=\"kinds\" type=\"Kinds.Edits\" method=\"Loop\"/>
                <match runtime=\"$v\" assembly=\"kinds\" type=\"Kinds.Edits\" method=\"Stays\"/><time/></rule>"
        } | file "edited/$v.xml.$edition"
    done
    set -- "$@" "$v" "$kinds" "rounds=50 edit=$tmp/edited/$v.xml"
done
SXSPROF_INSTRUMENT=$tmp/edited timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/e" -- "$runsxs" --timeout 100 "$@" >"$tmp/log" 2>&1 &&
    "$sxsprof" report --format json "$tmp/e" >"$tmp/json" 2>>"$tmp/log"
check "a run succeeds with rules added and removed while methods are on the stack and in a loop" $? "$tmp/log"
which=$versions
methods 'len(known) == 2' "calls calls_ended"
check "a new rule applies from the next call on; calls in progress continue and return in the old code" $? "$tmp/log"
methods 'sorted(x["state"] for x in s) == 3 * ["active"] + 6 * ["reverted"]'
check "methods whose rules were removed have the state reverted" $? "$tmp/json"

# ---- two runtimes of one version, and picked runtimes -------------------------------------------
newest=$(echo "$versions" | tail -n 1)
run count "rounds=20 late=1" "$newest $newest"
check "a run with the same version twice in one process succeeds" $? "$tmp/log"
methods 'len({x["runtime"] for x in s}) == 2' calls
check "each of the two runtimes has methods and counts of its own" $? "$tmp/log"

SXSPROF_PICK=one:9 run count "rounds=20"
check "a run with one runtime picked by its version succeeds" $? "$tmp/log"
methods 'len(s) > 60 and all(x["version"].startswith("9.") for x in s)' calls
check "only the picked runtime is instrumented, and its counts are exact" $? "$tmp/log"
SXSPROF_PICK=first run count "rounds=20"
check "a run with the first runtime picked succeeds" $? "$tmp/log"
methods 'len(s) > 60 and len({x["runtime"] for x in s}) == 1' calls
check "only the picked runtime is instrumented, and its counts are exact" $? "$tmp/log"

# ---- attached -----------------------------------------------------------------------------------
clsid=$(sed -n 's/.*SXSPROF_CLSID "{\(.*\)}".*/\1/p' include/sxsprof.h)
ready() { pid=$(pgrep -P $timeout_pid -x runsxs) && grep -q ready "$tmp/log"; }
attach() { # version
    v=$1
    file attached.xml </dev/null
    rm -rf "$tmp/out" "$tmp/go"
    SXSPROF_OUT=$tmp/out SXSPROF_INSTRUMENT=$tmp/edited/$v.xml timeout -k 5 200 "$runsxs" --timeout 180 "$v" "$kinds" \
        "rounds=50 attached=$tmp/go edit=$tmp/edited/$v.xml" >"$tmp/log" 2>&1 &
    timeout_pid=$!
    pid=
    wait_until ready
    python3 tests/integration/attach.py "$pid" "$clsid" "$PWD/$BUILD/libsxsprof.so" >>"$tmp/log" 2>&1 && : >"$tmp/go"
    wait $timeout_pid && "$sxsprof" report --format json "$tmp/out" >"$tmp/json" 2>>"$tmp/log"
    check "a run succeeds in which the library is attached to $v while methods run" $? "$tmp/log"
    which=$v
    methods 'len(known) == 2' "calls calls_ended"
    check "after attaching, a new rule applies from the next call on, and a removed rule no longer applies" $? "$tmp/log"
}
for v in $versions; do
    rm -f "$tmp/edited/$v.xml"
    attach "$v"
done
finish
