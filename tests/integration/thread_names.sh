# SPDX-License-Identifier: MIT
# thread_names.sh - threads whose names differ after the 15th byte have rows of their own, with whole names, in
# every report on real runtimes: names in UTF-8, threads that managed or native code renames, short threads, the
# first thread of a process, a session that begins while the threads live.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/named/named.dll" ] || skip_all "$0" "the app named is not built"
report() { "$sxsprof" report "$@"; }

# has FILE [NAME...]: every name, those of all threads of the app if none is given, is in the file, and no name is
# cut to what the kernel keeps of it. Of the 20 threads that live for 10 ms each, half will do: a machine with other
# work may give the sampler its turn too late for one of them, and the report says so.
has() { # FILE [NAME...]
    python3 - "$@" <<'PY'
import json, re, sys
said = open(sys.argv[1], "rb").read().decode("utf-8", "replace")
said = re.sub(r"(\\u[0-9a-f]{4})+", lambda m: json.loads('"%s"' % m[0]), said)
names = sys.argv[2:] or ["Order-Processor-Shard-1", "Order-Processor-Shard-2", "Grüße-aus-Köln-am-Rhein-1",
    "Grüße-aus-Köln-am-Rhein-2", "After-The-Rename-1", "native-says"]
lacking = [n for n in names if not re.search(re.escape(n) + r"(?![\w-])", said)]
short = set() if sys.argv[2:] else set(re.findall(r"Short-Lived-Worker-\d+(?![\w-])", said))
if not sys.argv[2:] and len(short) < 10:
    lacking += ["all short-lived threads but", *sorted(short)]
cut = [c for n in [*names, "Short-Lived-Worker-1"] for c in [n.encode()[:15].decode("utf-8", "replace")]
       if c != n and re.search(re.escape(c) + r"(?![\w-]|\ufffd?[\w-])", said)]
print("lacking:", lacking, "cut:", cut)
sys.exit(bool(lacking or cut))
PY
}
# shown CLAIM FILE [NAME...]
shown() {
    local claim=$1 file=$2
    shift 2
    has "$file" "$@" >"$tmp/said" 2>&1
    check "$claim" $? "$tmp/said"
}
run() { # SESSION VERB-AND-OPTIONS ARGUMENTS OF RUNSXS...
    local session=$1 tools=$2
    shift 2
    # shellcheck disable=SC2086 # several options
    timeout -k 5 120 "$sxsprof" $tools --quiet -o "$tmp/$session" -- "$runsxs" --timeout 100 "$@" >"$tmp/log" 2>&1
    check "$session: a recorded run succeeds" $? "$tmp/log"
}
work="main=The-Thread-That-Runs-The-App work=1500 short=20"
all="Order-Processor-Shard-1 Order-Processor-Shard-2 Grüße-aus-Köln-am-Rhein-1 Grüße-aus-Köln-am-Rhein-2"

cat >"$tmp/rules.xml" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="named" type="Named.Program" method="Compute"/><trace arguments="*"/></rule>
</instrumentation>
X
for v in 8 9 $net10; do
    # One object in 100 KiB is chosen: longer, so that each thread has some under each of its names on a busy machine, too.
    run "sampled-$v" "run --tool sample:wall=200 --tool alloc:interval=100k --tool events --tool exceptions --tool gc" "$v" named \
        "${work/work=1500/work=4000}"
    s=$tmp/sampled-$v
    report --data samples --top 100 "$s" >"$tmp/out" 2>&1
    # shellcheck disable=SC2086 # several names
    shown "$v: samples as text have whole names" "$tmp/out" $all
    for f in collapsed speedscope chrome firefox html; do
        report --data samples --format $f -o "$tmp/out.$f" "$s" 2>"$tmp/err" || cat "$tmp/err" >"$tmp/out.$f"
        shown "$v: samples as $f have whole names" "$tmp/out.$f"
    done
    report --data samples --format pprof -o "$tmp/out.pb.gz" "$s" 2>"$tmp/err"
    gzip -dc <"$tmp/out.pb.gz" >"$tmp/out.pb"
    shown "$v: samples as pprof have whole names" "$tmp/out.pb"
    shown "$v: the app's own first thread has its whole name" "$tmp/out.collapsed" The-Thread-That-Runs-The-App
    report --format json "$s" >"$tmp/out.json" 2>"$tmp/err"
    shown "$v: samples and events as JSON have whole names" "$tmp/out.json"
    python3 - "$tmp/out.json" >"$tmp/said" 2>&1 <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
names = {t["tid"]: t["name"] for t in d["profile_threads"]}
others = [e for e in d["events"] if e.get("tid") in names]
assert len({e["tid"] for e in others if not names[e["tid"]].startswith("Order")}) > 3
print({(e["tid"], names[e["tid"]], e["thread"]) for e in others if e["thread"] != names[e["tid"]]})
sys.exit(any(e["thread"] != names[e["tid"]] for e in others))
PY
    check "$v: samples and events as JSON call each thread the same" $? "$tmp/said"
    report --data alloc --format collapsed "$s" >"$tmp/out" 2>"$tmp/err"
    # shellcheck disable=SC2086 # several names
    shown "$v: allocations have whole names" "$tmp/out" $all After-The-Rename-1 native-says
    timeout 60 "$sxsprof" top --format json -n 1 --top 500 "$s" >"$tmp/out" 2>"$tmp/err"
    shown "$v: top has whole names" "$tmp/out"
    report --data samples --thread 'Order-Processor-Shard-2' --format collapsed "$s" 2>/dev/null | cut -d' ' -f1 | sort -u >"$tmp/out"
    shown "$v: --thread takes a whole name" "$tmp/out" Order-Processor-Shard-2
    [ "$(grep -c Shard-1 "$tmp/out")" = 0 ]
    check "$v: and selects that thread only" $? "$tmp/out"
    run "counted-$v" "calls --only named:*" "$v" named "$work"
    report --format text --by-thread "$tmp/counted-$v" >"$tmp/out" 2>&1
    # shellcheck disable=SC2086 # several names
    shown "$v: calls by thread have whole names" "$tmp/out" $all After-The-Rename-1 native-says
    run "waits-$v" "run --tool locks --tool wait" "$v" named "$work"
    for data in locks wait; do
        report --data $data --format collapsed "$tmp/waits-$v" >"$tmp/out" 2>"$tmp/err"
        # shellcheck disable=SC2086 # several names
        shown "$v: $data have whole names" "$tmp/out" $all
    done
    SXSPROF_INSTRUMENT=$tmp/rules.xml run "traced-$v" run "$v" named "$work"
    report --format json --single 100000 "$tmp/traced-$v" >"$tmp/out" 2>"$tmp/err"
    # shellcheck disable=SC2086 # several names
    shown "$v: traced calls as JSON have whole names" "$tmp/out" $all
    report --single 100 "$tmp/traced-$v" >"$tmp/out" 2>"$tmp/err"
    grep -q '^thread [0-9]* is Order-Processor-Shard-[12]$' "$tmp/out"
    check "$v: below traced calls stands what their threads are called" $? "$tmp/out"
done

# The first thread of a process: the kernel's name of it is that of the program.
dotnet_run() { # SESSION ARGUMENTS OF THE APP...
    local session=$1
    shift
    timeout -k 5 120 "$sxsprof" run --quiet --tool sample:wall=200 -o "$tmp/$session" -- \
        dotnet "$BUILD/managed/named/named.dll" "$@" >"$tmp/log" 2>&1
}
if command -v dotnet >/dev/null; then
    dotnet_run first "main=The-First-Thread-Of-All" work=300
    check "dotnet: a recorded run succeeds" $? "$tmp/log"
    report --data samples --format collapsed "$tmp/first" >"$tmp/out" 2>"$tmp/err"
    shown "a first thread that managed code names has that name" "$tmp/out" The-First-Thread-Of-All
    dotnet_run unnamed work=300
    report --data samples --format collapsed "$tmp/unnamed" >"$tmp/out" 2>"$tmp/err"
    shown "a first thread without a name is the main thread" "$tmp/out" "main thread"
fi

# A session that a request begins while named threads live, in a process that has had the library all the time.
# shellcheck disable=SC2016 # the shell that is started expands it, and is replaced by the program
timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/early" -- sh -c 'echo $$ >"$0"; exec "$@"' "$tmp/pid" \
    "$runsxs" --timeout 100 9 named work=20000 >"$tmp/log" 2>&1 &
run=$!
wait_until test -s "$tmp/pid"
pid=$(cat "$tmp/pid")
named_live() { [ "$(cat "/proc/$pid"/task/*/comm 2>/dev/null | grep -c '^Order-Processor')" = 2 ]; }
wait_until named_live
"$sxsprof" start --tool sample:wall=200 -o "$tmp/late" "$pid" >"$tmp/out" 2>&1
check "a session begins while named threads live" $? "$tmp/out"
sleep 1
"$sxsprof" snapshot --quiet -o "$tmp/copy" "$pid" >"$tmp/out" 2>&1
check "a snapshot is made of it" $? "$tmp/out"
"$sxsprof" stop "$pid" >"$tmp/out" 2>&1
check "it ends" $? "$tmp/out"
kill "$pid"
wait $run
for session in late copy; do
    report --data samples --format collapsed "$tmp/$session" >"$tmp/out" 2>"$tmp/err"
    # shellcheck disable=SC2086 # several names
    shown "$session: the threads from before it have whole names" "$tmp/out" $all
done
finish
