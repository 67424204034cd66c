# SPDX-License-Identifier: MIT
# calls_tails.sh - checks the tool "calls" with methods that end in tail calls: by the JIT's own choice, and by the
# prefix `tail.`, which no C# compiler writes. Every call that waits takes 2 ms. A method's time includes that of the
# method it ends in, and the tree has the callee below it. Where that cannot be, the report says so.
. "$(dirname "$0")/lib.sh"
need_real 3
ilasm=$BUILD/managed/odd/ilasm
[ -x "$ilasm" ] || skip_all "$0" "there is no ilasm (no network?)"
set -f

# method NAME CALL...: a method (int32) -> int32, optimized at once, that ends in the call of CALL and returns.
method() {
    echo ".method public hidebysig static int32 $1(int32 n) cil managed aggressiveoptimization {"
    echo "  .maxstack 16"
    echo "  ldarg.0"
    shift
    printf '  %s\n' "$@" ret
    echo "}"
}
many='ldc.i8 1
ldc.i8 2
ldc.i8 3
ldc.i8 4
ldc.i8 5
ldc.i8 6
ldc.i8 7'
{
    cat <<'E2'
.assembly extern System.Runtime {}
.assembly extern System.Threading.Thread {}
.assembly extern System.Console {}
.assembly tailed {}
.class public auto ansi Work extends [System.Runtime]System.Object {
.method public hidebysig static int32 Wait(int32 n) cil managed noinlining {
  ldc.i4.2
  call void [System.Threading.Thread]System.Threading.Thread::Sleep(int32)
  ldarg.0
  ret
}
}
.class public auto ansi Tails extends [System.Runtime]System.Object {
.method public hidebysig static int32 Leaf(int32 n) cil managed noinlining aggressiveoptimization {
  ldarg.0
  call int32 Work::Wait(int32)
  ldc.i4.1
  add
  ret
}
.method public hidebysig static int32 Wide(int32 n, int64 a, int64 b, int64 c, int64 d, int64 e, int64 f, int64 g)
    cil managed noinlining aggressiveoptimization {
  ldarg.0
  call int32 Tails::Leaf(int32)
  ldc.i4.1
  add
  ret
}
E2
    method Chosen 'call int32 Work::Wait(int32)'          # by the JIT's choice, to a method that is not counted
    method Counted 'call int32 Tails::Leaf(int32)'        # by the JIT's choice, to one that is
    method First 'tail.' 'call int32 Tails::Second(int32)' # explicit, a chain of three
    method Second 'tail.' 'call int32 Tails::Third(int32)'
    method Third 'tail.' 'call int32 Tails::Leaf(int32)'
    method Wider "$many" 'tail.' 'call int32 Tails::Wide(int32, int64, int64, int64, int64, int64, int64, int64)'
    method Away 'tail.' 'call int32 Work::Wait(int32)'    # explicit, to a method that is not counted
    echo '.method public hidebysig static int32 Round(int32 n) cil managed noinlining {'
    for m in Chosen Counted First Wider Away; do
        printf '  ldarg.0\n  call int32 Tails::%s(int32)\n  pop\n' $m
    done
    cat <<'E2'
  ldc.i4.s 10
  call void [System.Threading.Thread]System.Threading.Thread::Sleep(int32)
  ldarg.0
  ret
}
.method public hidebysig static int32 Main(string[] a) cil managed {
  .entrypoint
  .locals init (int32 i)
next:
  ldloc.0
  call int32 Tails::Round(int32)
  pop
  ldloc.0
  ldc.i4.1
  add
  stloc.0
  ldloc.0
  ldc.i4.s 30
  blt next
  ldc.i4.0
  ret
}
}
E2
} >"$tmp/tailed.il"
cp "$BUILD/managed/hello/hello.runtimeconfig.json" "$tmp/tailed.runtimeconfig.json"
"$ilasm" -quiet "-output=$tmp/tailed.dll" "$tmp/tailed.il" >"$tmp/log" 2>&1
check "an app with tail calls is assembled" $? "$tmp/log"

record() { # VERSION [OPTION OF sxsprof]...
    v=$1
    shift
    rm -rf "$tmp/s"
    timeout -k 5 200 "$sxsprof" run --quiet -o "$tmp/s" "$@" -- "$runsxs" --timeout 150 "$v" "$tmp/tailed.dll" "" >"$tmp/log" 2>&1 &&
        read_session
}
read_session() {
    "$sxsprof" report --format json "$tmp/s" >"$tmp/json" 2>>"$tmp/log" &&
        "$sxsprof" report "$tmp/s" >"$tmp/text" 2>>"$tmp/log"
}
says() { # CLAIM EXPRESSION: in Python. f: functions by name. ms(name): total time. below(a, b): calls of b below a.
    python3 - "$tmp/json" "$2" >"$tmp/said" 2>&1 <<'E2'
import json, sys
top = json.load(open(sys.argv[1]))
f = {g["name"].split(".")[-1]: g for g in top["functions"]}
name = [g["name"].split(".")[-1] for g in top["functions"]]
tree = top["calltree"]
def ms(n): return f[n]["total_ns"] / 1e6
def median(n): return f[n]["median_ns"] / 1e6
def below(a, b):
    return sum(t["calls"] for t in tree if name[t["function"]] == b and t["parent"] is not None
               and name[tree[t["parent"]]["function"]] == a)
def kind(k): return {u["name"].split("(")[0].split(".")[-1]: u["count"] for u in top["unseen"] if u["kind"] == k}
if not eval("(%s)" % sys.argv[2]):
    for n in f: print(n, f[n]["calls"], ms(n), median(n), f[n]["tail_calls"])
    for t in tree: print(name[t["function"]], t["calls"], t["total_ns"], "below", t["parent"] is not None and name[tree[t["parent"]]["function"]])
    sys.exit("not so: %s" % sys.argv[2])
E2
    check "$1" $? "$tmp/said"
}
# 30 calls that wait 2 ms take 60 ms. Round waits 300 ms more, which belong to no other method.
long="all(ms(n) >= 59 and median(n) >= 1.7 for n in names)"
exact="(lambda names: $long and all(ms(n) <= ms('Round') - 295 for n in names))"
all="['Chosen', 'Counted', 'First', 'Second', 'Third', 'Wider', 'Wide', 'Away']"
parents="all(below(a, b) == 30 for a, b in [('Round', 'Chosen'), ('Round', 'First'), ('First', 'Second'), ('Second', 'Third'),
    ('Third', 'Leaf'), ('Counted', 'Leaf'), ('Round', 'Wider'), ('Wider', 'Wide'), ('Wide', 'Leaf'), ('Round', 'Away')]) and
    sum(t['calls'] for t in tree) == 12 * 30 + 1"
selected="--only tailed:Tails.*"

for v in $versions; do
    for mode in tree time trace; do
        record "$v" --tool "calls:$mode" $selected
        check "$v, calls:$mode: a run ends with status 0" $? "$tmp/log"
        says "$v, calls:$mode: the time of each method includes that of the method it ends in" "$exact($all)"
        if [ $mode != time ]; then says "$v, calls:$mode: each method is below the one that called it" "$parents"; fi
        says "$v, calls:$mode: nothing is reported as uncertain" "not kind('tail call not counted') and not kind('tail recursion')"
    done
    ! grep -q warning "$tmp/text"
    check "$v: the text report has no warning" $? "$tmp/text"
    record "$v" --values 'tailed:Tails.*'
    says "$v, with values: the time of each method includes that of the method it ends in" "$exact($all)"
    says "$v, with values: each method is below the one that called it" "$parents"

    DOTNET_FastTailCalls=1 record "$v" --values 'tailed:Tails.*'
    says "$v, fast, with values: a chain of tail calls to counted methods has exact times" "$exact(['Counted', 'First', 'Second', 'Third', 'Wider', 'Wide'])"
    says "$v, fast, with values: each method is below the one that called it" "$parents"
    says "$v, fast, with values: methods whose end no hook saw are marked, and no others" "set(kind('tail call not counted')) == {'Chosen', 'Away'}"
    says "$v, fast, with values: every call of the last method has its result" \
        "sorted(int(t['result']) for t in top['values'] if t['name'] == 'Tails.Leaf') == sorted(3 * list(range(1, 31))) and
        sum('left by a tail call' in t['result'] for t in top['values']) == 180"
    DOTNET_FastTailCalls=1 record "$v" --tool calls $selected
    grep -q 'DOTNET_FastTailCalls=1 is kept as set' "$tmp/log"
    check "$v: sxsprof says that the user's DOTNET_FastTailCalls is kept" $? "$tmp/log"
    says "$v, fast: a chain of explicit tail calls to counted methods has exact times" "$exact(['Counted', 'First', 'Second', 'Third', 'Wider', 'Wide'])"
    says "$v, fast: each method is below the one that called it" "$parents"
    says "$v, fast: methods whose end no hook saw are marked, and no others" "set(kind('tail call not counted')) == {'Chosen', 'Away'} and
        all(f[n]['tail_calls']['end_not_seen'] == 30 for n in ('Chosen', 'Away'))"
    says "$v, fast: the callees of tail calls are listed" "set(kind('called by tail call')) >= {'Second', 'Third', 'Leaf'}"
    sed -n 1,12p "$tmp/text" | grep -q 'warning: the times of 2 functions may be too long: .* in 60 calls'
    check "$v, fast: the first lines of the text report warn" $? "$tmp/text"
    grep -q 'Tails\.Chosen(System\.Int32) (may be too long: left by tail calls)$' "$tmp/text"
    check "$v, fast: the text report marks such a method" $? "$tmp/text"
    "$sxsprof" report --format html -o "$tmp/html" "$tmp/s" >>"$tmp/log" 2>&1 && grep -q 'functions left by a tail call to a function that is not counted' "$tmp/html"
    check "$v, fast: the page lists such methods" $? "$tmp/log"
done

# The rules of an instrumentation file measure such methods, too: a method's time includes its callee's.
cat >"$tmp/rules.xml" <<'E2'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
<rule name="all"><match assembly="tailed" type="Tails" method="*"/><time/></rule>
</instrumentation>
E2
for v in $versions; do
    record "$v" --instrument "$tmp/rules.xml"
    python3 -c 'import json, sys
rows = {r["name"].split(".")[-1]: r for r in json.load(open(sys.argv[1]))["instrument"]}
print({n: (r["calls"], r["total_ns"]) for n, r in rows.items()})
sys.exit(any(not 59e6 <= rows[n]["total_ns"] <= rows["Round"]["total_ns"] - 295e6 or rows[n]["calls"] != 30
             for n in "Chosen Counted First Second Third Wider Wide Away".split()))' "$tmp/json" >"$tmp/said" 2>&1
    check "$v: <time/> includes the time of the method that a method ends in" $? "$tmp/said"
done

# Started by the environment alone: as `sxsprof env` prints it, and without it.
"$sxsprof" env --tool calls -o "$tmp/s" >"$tmp/env" 2>"$tmp/log"
grep -q '^export DOTNET_FastTailCalls=0$' "$tmp/env"
check "sxsprof env switches fast tail calls off for the tool calls" $? "$tmp/env"
"$sxsprof" env --tool calls -o "$tmp/s" --docker 2>>"$tmp/log" | grep -q '^--env=DOTNET_FastTailCalls=0$'
check "sxsprof env --docker does, too" $? "$tmp/log"
! COMPlus_FastTailCalls=1 "$sxsprof" env --tool calls -o "$tmp/s" 2>>"$tmp/log" | grep -q DOTNET_FastTailCalls &&
    ! "$sxsprof" env --tool sample -o "$tmp/s" 2>>"$tmp/log" | grep -q DOTNET_FastTailCalls
check "sxsprof env keeps the user's setting, and sets nothing for other tools" $? "$tmp/log"
for v in $versions; do
    rm -rf "$tmp/s"
    (eval "$("$sxsprof" env --tool calls $selected -o "$tmp/s" 2>/dev/null | grep -v FastTailCalls)"
        exec timeout -k 5 200 "$runsxs" --timeout 150 "$v" "$tmp/tailed.dll" "") >"$tmp/log" 2>&1 && read_session
    says "$v, by the environment without that variable: methods whose end no hook saw are marked" \
        "set(kind('tail call not counted')) == {'Chosen', 'Away'}"
done
finish
