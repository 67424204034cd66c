# SPDX-License-Identifier: MIT
# elt.sh - checks that profilers with enter, leave and tailcall hooks count as guests what they count alone.
# The profilers elt*.c count calls of methods of the app "calls". Each is run directly under the CLR first; as a
# guest, alone or with others, it must print the same lines.
. "$(dirname "$0")/../integration/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"
# With one tier, a call is always or never a tail call.
export DOTNET_TieredCompilation=0
app="fib=15 threads=4 even=101 throws=10 yields=5 steps=10 rounds=2"
if [ -e "$BUILD/managed/calls/tail.dll" ]; then
    app="$app tails=1001"
else
    ok "tail calls # SKIP the IL assembler could not be had"
fi
fast="elt1 elt2 elt3"
all="$fast elt2args elt3info"

clsid() {
    case $1 in
        elt1) echo "{5E5C0011-0000-4000-8000-0000000E1710}" ;;
        elt2) echo "{5E5C0012-0000-4000-8000-0000000E1720}" ;;
        elt2args) echo "{5E5C0013-0000-4000-8000-0000000E1721}" ;;
        elt3) echo "{5E5C0014-0000-4000-8000-0000000E1730}" ;;
        elt3info) echo "{5E5C0015-0000-4000-8000-0000000E1731}" ;;
        eltanswers) echo "{5E5C0016-0000-4000-8000-0000000E1740}" ;;
    esac
}
library() { echo "$PWD/$BUILD/guests/lib$1.so"; }

# as_guests FOLDER "PROFILER..." [OPTION OF sxsprof]... -- RUNTIME APP ARGUMENTS...: the result is $tmp/FOLDER.out.
as_guests() {
    local folder=$1 list="" name
    for name in $2; do list="$list$(clsid "$name")=$(library "$name");"; done
    shift 2
    set -- "$folder" "$@"
    shift
    rm -rf "${tmp:?}/$folder" "$tmp/$folder.out"
    options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    PROF_OUT=$tmp/$folder.out SXSPROF_GUESTS=$list timeout -k 5 200 "$sxsprof" run --quiet -o "$tmp/$folder" \
        "${options[@]}" -- "$runsxs" --timeout 180 "$@" >"$tmp/$folder.log" 2>&1
}

# lines PROFILER RUNTIME <FILE: prints its results, without the line that says that its object was released.
lines() { sed -n "s/^$(clsid "$1" | cut -c26-) $2 //p" | grep -v '^released$'; }

# same CLAIM STATUS FOLDER "PROFILER..." "RUNTIME...": compares the guests' results with those of direct runs.
# The tool calls lets the JIT make no fast tail calls: directly=whole compares with direct runs without them.
same() {
    local name v status=$2
    : >"$tmp/diff"
    for name in $4; do
        for v in $5; do
            lines "$name" "$v" <"$tmp/$3.out" >"$tmp/guest"
            [ -s "$tmp/guest" ] || { echo "$name on $v: nothing"; status=1; }
            diff "$tmp/${directly:-direct}.$name.$v" "$tmp/guest" || { echo "$name on $v differs"; status=1; }
        done
    done >"$tmp/diff" 2>&1
    [ "$status" -eq 0 ] || tail -n 5 "$tmp/$3.log" >>"$tmp/diff"
    check "$1" "$status" "$tmp/diff"
}

# known FOLDER: compares the counts of the tool calls with those that the app has printed.
known() {
    "$sxsprof" report --format json "$tmp/$1" >"$tmp/json" 2>>"$tmp/$1.log" &&
        python3 tests/integration/calls_expected.py "$tmp/json" "$tmp/$1.log" all >"$tmp/said" 2>&1
}

# ---- directly -----------------------------------------------------------------------------------
three=$(echo "$versions" | awk -F. '!seen[$1]++' | grep -v '^3\.' | tail -n 3) # one of each major version
for v in $three; do
    for name in $all; do
        rm -f "$tmp/out"
        DOTNET_FastTailCalls=0 PROF_OUT=$tmp/out CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$(clsid "$name") \
            CORECLR_PROFILER_PATH=$(library "$name") "$runsxs" "$v" calls "$app" >"$tmp/log" 2>&1
        lines "$name" "$v" <"$tmp/out" >"$tmp/whole.$name.$v"
        rm -f "$tmp/out"
        PROF_OUT=$tmp/out CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$(clsid "$name") \
            CORECLR_PROFILER_PATH=$(library "$name") "$runsxs" "$v" calls "$app" >"$tmp/log" 2>&1
        status=$?
        lines "$name" "$v" <"$tmp/out" >"$tmp/direct.$name.$v"
        [ $status -eq 0 ] && grep -q ' Calls.Work.Fib enters 15784 leaves 15784 ' <(sed 's/^/ /' "$tmp/direct.$name.$v") &&
            ! grep -v -e ' bad 0 ' -e '^most argument ranges ' "$tmp/direct.$name.$v" >"$tmp/log"
        check "$v, $name directly: counts the calls, and its hooks get what they should" $? "$tmp/log"
    done
done

for v in $three; do
    rm -f "$tmp/out"
    PROF_OUT=$tmp/out CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$(clsid eltanswers) \
        CORECLR_PROFILER_PATH=$(library eltanswers) "$runsxs" "$v" hello "" >"$tmp/log" 2>&1
    lines eltanswers "$v" <"$tmp/out" >"$tmp/direct.eltanswers.$v"
    as_guests answers eltanswers -- "$v" hello ""
    same "$v, hooks set in wrong ways by the only guest: the answers are those of the runtime" $? answers eltanswers "$v"
    as_guests answers "elt3 eltanswers elt1" -- "$v" hello ""
    same "$v, hooks set in wrong ways, beside other guests: the answers are those of the runtime" $? answers eltanswers "$v"
done

# ---- as guests, on one runtime -------------------------------------------------------------------
for v in $three; do
    for name in $all; do
        as_guests one "$name" -- "$v" calls "$app"
        same "$v, $name, the only guest: prints what it prints directly" $? one "$name" "$v"
    done
    as_guests fast "$fast" -- "$v" calls "$app"
    same "$v, three guests without information: each prints what it prints directly" $? fast "$fast" "$v"
    as_guests all "$all" -- "$v" calls "$app"
    same "$v, five guests, two of them with information: each prints what it prints directly" $? all "$all" "$v"
    ELTANSWERS_FAIL=1 as_guests fails "eltanswers elt3 elt1" -- "$v" calls "$app"
    same "$v, two guests behind one that fails after it has set hooks: each prints what it prints directly" $? fails "elt3 elt1" "$v"
    as_guests own "elt2 elt3" --tool calls --only 'calls:*' --only 'tail:*' -- "$v" calls "$app"
    directly=whole same "$v, two guests beside the tool calls: each prints what it prints directly" $? own "elt2 elt3" "$v"
    known own; is_known=$?
    check "$v, the tool calls beside two guests: $(tail -n 1 "$tmp/said")" $is_known "$tmp/said"
    as_guests own "$all" --tool calls:backoff=off --only 'calls:*' --only 'tail:*' -- "$v" calls "$app"
    directly=whole same "$v, five guests beside the tool calls: each prints what it prints directly" $? own "$all" "$v"
    known own; is_known=$?
    check "$v, the tool calls beside five guests: $(tail -n 1 "$tmp/said")" $is_known "$tmp/said"
done

# ---- three runtimes --------------------------------------------------------------------------------
set --
for v in $three; do set -- "$@" "$v" calls "$app"; done
for name in $all; do
    as_guests one "$name" -- "$@"
    same "three runtimes, $name, the only guest: prints what it prints directly" $? one "$name" "$three"
done
as_guests all "$all" -- "$@"
same "three runtimes, five guests: each prints what it prints directly" $? all "$all" "$three"
as_guests own "$fast" --tool calls --only 'calls:*' --only 'tail:*' -- "$@"
directly=whole same "three runtimes, three guests beside the tool calls: each prints what it prints directly" $? own "$fast" "$three"
known own; is_known=$?
check "three runtimes, the tool calls beside three guests: $(tail -n 1 "$tmp/said")" $is_known "$tmp/said"
v=$(echo "$three" | tail -n 1)
as_guests own "$all" --values 'calls:Calls.Work*' --only 'calls:*' -- "$v" calls "fib=15 threads=4 even=101 throws=10 steps=10 rounds=2"
status=$?
known own || status=1
check "$v, the tool calls with values beside five guests: $(tail -n 1 "$tmp/said")" $status "$tmp/said"
finish
