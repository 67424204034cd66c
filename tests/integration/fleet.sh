#!/bin/bash
# SPDX-License-Identifier: MIT
# fleet.sh - sessions of real runtimes 8, 9 and 10 in a ClickHouse server that this script starts: what sxsprof
# fleet answers is what sxsprof report says of the same sessions, to the nanosecond; batches that are sent
# twice count once; users, tables and texts that are wrong.
. "$(dirname "$0")/lib.sh"
need_real 3
if [ -z "${CLICKHOUSE_PORT:-}" ]; then
    PATH=$PATH:/usr/sbin command -v clickhouse-server >/dev/null ||
        skip_all "$0" "needs clickhouse-server: make setup GROUPS=fleet"
    sh tests/fleet/clickhouse.sh "$tmp/server" bash tests/integration/fleet.sh
    status=$?
    [ $status = 126 ] && not_ok "the server starts" "$tmp/server/error.log"
    exit $status
fi
url=clickhouse://127.0.0.1:$CLICKHOUSE_PORT
export SXSPROF_FLEET=$url/test
unset SXSPROF_FLEET_PASSWORD
fleet() { "$sxsprof" fleet "$@" 2>"$tmp/err"; }
ask() { curl -sS "http://127.0.0.1:$CLICKHOUSE_PORT/?database=${SXSPROF_FLEET##*/}" --data-binary "$1"; }
same() { # CLAIM EXPECTED GOT
    printf 'expected: %s\ngot: %s\n' "$2" "$3" >"$tmp/same"
    [ "$2" = "$3" ]
    check "$1" $? "$tmp/same"
}
says() { # CLAIM STATUS TEXT COMMAND...: the command ends with this status and a message with this text
    local claim=$1 want=$2 text=$3 got
    shift 3
    "$@" >"$tmp/says" 2>&1
    got=$?
    [ $got = "$want" ] && grep -qF -- "$text" "$tmp/says"
    check "$claim" $? "$tmp/says"
}

# ---- tables
says "without tables, a query says how to make them" 1 "sxsprof fleet init" "$sxsprof" fleet top
says "init makes the tables, and says how long samples are kept" 0 "samples are kept 30 days" "$sxsprof" fleet init
says "init again changes nothing" 0 "samples are kept 30 days" "$sxsprof" fleet init
same "there is one row of the schema" 1 "$(ask 'SELECT count() FROM schema')"
says "init --keep-days changes how long" 0 "samples are kept 7 days" "$sxsprof" fleet init --keep-days 7
says "and the change stays" 0 "samples are kept 7 days" "$sxsprof" fleet init --server "$SXSPROF_FLEET"
says "a selection without samples is no empty answer" 1 "no samples" "$sxsprof" fleet top

# ---- sessions
for n in 1 2; do
    timeout -k 5 120 "$sxsprof" run --quiet --tool sample:cpu=499 --tool alloc -o "$tmp/s$n" -- "$runsxs" --timeout 100 \
        8 shares "alpha=60 beta=40 seconds=$n" 9 shares "alpha=20 beta=80 seconds=$n" \
        10 memory "drop:small=400000" >"$tmp/log" 2>&1
    check "session $n is recorded" $? "$tmp/log"
done
push() { "$sxsprof" push --server "$SXSPROF_FLEET" "$@" >"$tmp/push" 2>&1; }
push --service shop --label service.version=1.0 --label host.name=one --label rack="it's \\ 5%" "$tmp/s1"
check "session 1 is pushed" $? "$tmp/push"
push --service shop --label service.version=2.0 --label host.name=two --label container.id=c2 "$tmp/s2"
check "session 2 is pushed" $? "$tmp/push"

# compare NAME DATA KIND SESSION WHERE [OPTIONS]: the flame graph of a selection is that of a session, and its functions
# are those of the session's stacks, all of them, to the nanosecond or byte.
compare() {
    # shellcheck disable=SC2086 # options
    "$sxsprof" report --format collapsed --data "$2" ${6:-} "$tmp/$4" >"$tmp/report" 2>/dev/null
    fleet flame --data "$3" --where "$5" --format collapsed >"$tmp/flame" &&
        fleet top --data "$3" --where "$5" --top 100000 --format json >"$tmp/top" &&
        python3 - "$tmp/report" "$tmp/flame" "$tmp/top" "$2" <<'P' >"$tmp/compared" 2>&1
import collections, json, re, sys
def stacks(path, tid):
    all = collections.Counter()
    for line in open(path, encoding="utf-8"):
        stack, weight = line.rstrip("\n").rsplit(" ", 1)
        frames = stack.split(";")
        frames[0] = re.sub(r" \[\d+\]$", "", frames[0]) if tid else frames[0]
        all[";".join(frames)] += int(weight)
    return all
def short(name):  # without the parameters, as in collapsed stacks
    if not name.endswith(")") or name.startswith("[native]"):
        return name
    depth = 0
    for i in range(len(name) - 1, -1, -1):
        depth += (name[i] == ")") - (name[i] == "(")
        if depth == 0:
            return name[:i] if i else name
    return name
report, flame = stacks(sys.argv[1], True), stacks(sys.argv[2], False)
assert report and sum(report.values()), "no stacks"
assert report == flame, [(report - flame).most_common(3), (flame - report).most_common(3)]
own, total = collections.Counter(), collections.Counter()
for stack, weight in report.items():
    frames = stack.split(";")[1:]
    for f in set(frames):
        total[f] += weight
    if frames:
        own[frames[-1]] += weight
        if (frames[-1].endswith("(type)") or sys.argv[4] in ("native-live", "wait")) and len(frames) > 1:
            own[frames[-2]] += weight
top = json.load(open(sys.argv[3], encoding="utf-8"))
got_own, got_total, overloads = collections.Counter(), collections.Counter(), collections.Counter()
for f in top["functions"]:
    name = f["name"] if f["name"].endswith("(type)") else short(f["name"])
    name = name.replace(";", ":")
    got_own[name] += f["self_" + top["unit"]]
    got_total[name] += f["total_" + top["unit"]]
    overloads[name] += 1
assert top["total_" + top["unit"]] == sum(report.values()), (top["total_" + top["unit"]], sum(report.values()))
assert +got_own == +own, [(own - got_own).most_common(3), (got_own - own).most_common(3)]
for name in total:  # overloads have one name in collapsed stacks, and may call each other
    assert got_total[name] == total[name] if overloads[name] == 1 else got_total[name] >= total[name], \
        (name, got_total[name], total[name])
print("%d stacks, %d functions, %d" % (len(report), len(total), top["total_" + top["unit"]]))
P
    status=$?
    check "$1: stacks and functions are those of the report: $(cat "$tmp/compared")" $status "$tmp/compared"
}
compare "cpu of version 1.0" samples cpu s1 version=1.0
compare "cpu of machine two" samples cpu s2 machine=two
compare "allocations of version 2.*" alloc alloc s2 'version=2.*'
compare "a label with quotes and a backslash" samples cpu s1 "rack=it's \\\\ 5%"
compare "versions that are not 1.0" samples cpu s2 'version!=1.0'

# ---- once
before=$(ask "SELECT kind, count(), sum(count), sum(value) FROM samples GROUP BY kind ORDER BY kind")
push --service shop --label service.version=1.0 --label host.name=one --label rack="it's \\ 5%" "$tmp/s1"
check "session 1 is pushed once more" $? "$tmp/push"
same "a batch that is pushed twice counts once" "$before" \
    "$(ask "SELECT kind, count(), sum(count), sum(value) FROM samples GROUP BY kind ORDER BY kind")"
same "frames, stacks and sources are there once" "0 0 0" "$(for t in frame stack source; do
    ask "SELECT count() - uniqExact($t) FROM ${t}s"; done | paste -s -d ' ')"

# ---- waits, and what is alive
export SXSPROF_FLEET=$url/more
"$sxsprof" fleet init >"$tmp/out" 2>&1
check "another database" $? "$tmp/out"
timeout -k 5 120 "$sxsprof" run --quiet --tool alloc:live=on,interval=100k --tool native:interval=64k -o "$tmp/s3" -- \
    "$runsxs" --timeout 100 8 memory "drop:small=300000 keep:small=100000" 10 memory "keep:small=200000" >"$tmp/log" 2>&1
check "a session with what is alive is recorded" $? "$tmp/log"
timeout -k 5 120 "$sxsprof" wait -o "$tmp/s4" -- "$runsxs" --timeout 100 9 shares "alpha=60 beta=40 seconds=1" >"$tmp/log" 2>&1
check "a session with reasons of waits is recorded" $? "$tmp/log"
push --service shop --label service.version=3.0 "$tmp/s3"
check "what is alive is pushed" $? "$tmp/push"
same "and nothing is said but what is carried and the number of batches" "carries: 1" "$(grep -o "^carries: " "$tmp/push" | head -n 1)$(grep -vc "^carries: " "$tmp/push")"
push --service shop --label service.version=4.0 "$tmp/s4"
check "waits are pushed" $? "$tmp/push"
compare "objects that are alive" live live s3 version=3.0
compare "native memory that is not freed" native-live native-live s3 version=3.0
compare "reasons of waits" wait wait s4 version=4.0
alive=$(ask "SELECT sum(value) FROM samples WHERE kind = 'live'")
ask "INSERT INTO samples (service, kind, stack, time, source, count, value)
     SELECT service, kind, stack, time - 60, source, count, value FROM samples WHERE kind = 'live'"
fleet series --data live --by version --format json >"$tmp/out"
same "a state is not added to that of a minute before: one process, once" "$alive 1" \
    "$(python3 -c 'import json,sys; [r] = json.load(open(sys.argv[1]))["rows"]; print(r["total_bytes"], r["process_count"])' "$tmp/out")"
cp "$tmp/out" "$tmp/live"
fleet series --data live --step 1m --format json >"$tmp/out"
same "but is that of its minute" "$alive $alive" \
    "$(python3 -c 'import json,sys; print(*[r["total_bytes"] for r in json.load(open(sys.argv[1]))["rows"]])' "$tmp/out")"

# ---- several batches as one
queued() { push --service queued --period 1s --queue "$tmp/queue" "$@"; }
"$sxsprof" push --server clickhouse://127.0.0.1:1/test --retry 1s --service queued --period 1s --queue "$tmp/queue" "$tmp/s2" \
    >"$tmp/push" 2>&1
waiting=$(find "$tmp/queue" -name '*.batch' | wc -l)
[ "$waiting" -gt 1 ]
check "batches wait while no server is there" $? "$tmp/push"
queued
grep -q "batches sent: $waiting" "$tmp/push"
check "and are sent when it is" $? "$tmp/push"
compare "batches that were sent as one" samples cpu s2 service=queued
"$sxsprof" push --server "$SXSPROF_FLEET" --service gathered --period 1s --gather 1h --queue "$tmp/gathered" --follow "$tmp/s2" \
    >"$tmp/push" 2>&1 &
pushes=$!
for _ in $(seq 300); do
    [ "$(find "$tmp/gathered" -name '*.batch' 2>/dev/null | wc -l)" -ge "$waiting" ] && break
    sleep 0.1
done
same "batches that gather wait, and nothing of them is sent" "$waiting 0" \
    "$(find "$tmp/gathered" -name '*.batch' | wc -l) $(ask "SELECT count() FROM sources WHERE service = 'gathered'")"
kill -TERM $pushes
wait $pushes
check "a signal sends what has gathered" $? "$tmp/push"
compare "batches that have gathered" samples cpu s2 service=gathered
load() { # DATABASE ARGUMENT...: the same batches each time
    local to=$url/$1
    shift
    "$BUILD/tests/fleet_load" "$to" service=load machines=3 "start=$(($(date +%s) / 86400 * 86400))" "$@" "$tmp/s1" >"$tmp/load" 2>&1
    check "batches of 3 machines: $*" $? "$tmp/load"
}
sums="SELECT count(), sum(count), sum(value), sum(cityHash64(stack, time, source, value)) FROM samples"
"$sxsprof" fleet init --server "$url/once" >"$tmp/out" 2>&1
"$sxsprof" fleet init --server "$url/again" >"$tmp/out" 2>&1
load once minutes=2 relay=3
load again minutes=1 relay=2
load again minutes=2 relay=4 twice=1
same "batches that the server has are left out of those that it has not" "$(ask "${sums/samples/once.samples}")" \
    "$(ask "${sums/samples/again.samples}")"
export SXSPROF_FLEET=$url/test

# ---- sums
fleet series --by runtime --format json >"$tmp/runtimes"
fleet series --format json >"$tmp/all"
fleet series --by version --step 1m --format json >"$tmp/versions"
python3 - "$tmp/runtimes" "$tmp/all" "$tmp/versions" "$(ask "SELECT sum(value) FROM samples WHERE kind = 'cpu'")" <<'P' >"$tmp/out" 2>&1
import json, sys
runtimes, all, versions = [json.load(open(p))["rows"] for p in sys.argv[1:4]]
want = int(sys.argv[4])
assert sum(r["total_ns"] for r in runtimes) == sum(r["total_ns"] for r in all) == sum(r["total_ns"] for r in versions) == want
assert {r["group"].split(".")[0] for r in runtimes} >= {"8", "9", "10"}, runtimes
assert {r["group"] for r in versions} == {"1.0", "2.0"}, versions
assert len(all) == 1 and all[0]["covered_ns"] > 0
P
check "series: sums by runtime, by version and minute, and of all are equal" $? "$tmp/out"
fleet diff --a version=1.0 --b version=2.0 --top 100000 --format json >"$tmp/diff"
fleet top --where version=1.0 --top 100000 --format json >"$tmp/a"
fleet top --where version=2.0 --top 100000 --format json >"$tmp/b"
python3 - "$tmp/diff" "$tmp/a" "$tmp/b" <<'P' >"$tmp/out" 2>&1
import json, sys
d, a, b = [json.load(open(p)) for p in sys.argv[1:4]]
key = lambda f: (f["name"], f["file"], f["version"])
def table(t, self, total):
    out = {}
    for f in t["functions"]:
        if f[self] or f[total]:
            old = out.get(key(f), (0, 0))
            out[key(f)] = (old[0] + f[self], old[1] + f[total])
    return out
assert table(d, "self_ns_a", "total_ns_a") == table(a, "self_ns", "total_ns")
assert table(d, "self_ns_b", "total_ns_b") == table(b, "self_ns", "total_ns")
assert d["total_ns_a"] == a["total_ns"] and d["total_ns_b"] == b["total_ns"]
change = [abs(f["self_ns_a"] / d["total_ns_a"] - f["self_ns_b"] / d["total_ns_b"]) for f in d["functions"]]
assert all(x >= y - 1e-12 for x, y in zip(change, change[1:])), "not in the order of change"
P
check "diff: both sides are those of top, the largest change first" $? "$tmp/out"
fleet diff --by service --a machine=one --b machine=two --format json >"$tmp/out"
grep -q '"by":"service"' "$tmp/out" && grep -q '"group":"shop"' "$tmp/out"
check "diff --by service compares a service with itself on another machine" $? "$tmp/out"
if python3 -c 'import jsonschema' 2>/dev/null; then
    python3 -B tests/command/json_schema.py "$tmp/runtimes" "$tmp/all" "$tmp/versions" "$tmp/live" "$tmp/diff" "$tmp/a" "$tmp/out" >"$tmp/differ" 2>&1
    check "the documents of series, diff, top and diff --by are as their schemas say" $? "$tmp/differ"
fi
fleet diff --a version=1.0 --b version=2.0 --format html -o "$tmp/diff.html" && grep -q '"before":"' "$tmp/diff.html"
check "diff as a page" $? "$tmp/err"
fleet flame -o "$tmp/page.html" && grep -q 'Shares.Program.Alpha' "$tmp/page.html"
check "flame as a page" $? "$tmp/err"
fleet flame --format pprof -o "$tmp/p.pb.gz" && fleet flame --format speedscope -o "$tmp/p.json" &&
    python3 -c 'import json,sys; p=json.load(open(sys.argv[1])); assert p["profiles"]' "$tmp/p.json"
check "flame for pprof and speedscope" $? "$tmp/err"
all=$(ask "SELECT sum(value) FROM samples WHERE kind = 'cpu'")
fleet flame --format collapsed --limit 3 >"$tmp/out"
same "beyond --limit, the rest is one frame, and the total stays" "4 $all" \
    "$(awk '{ n++; s += $NF } END { printf "%d %.0f", n, s }' "$tmp/out")"
fleet top --where 'function=*Alpha*,runtime=8.*,class=managed' --format json >"$tmp/out"
fleet top --where 'function!=*Alpha*' --top 100000 --format json >"$tmp/out2"
python3 - "$tmp/out" "$tmp/out2" <<'P' >"$tmp/out3" 2>&1
import json, sys
a, b = [json.load(open(p)) for p in sys.argv[1:3]]
alpha = [f for f in a["functions"] if "Alpha" in f["name"]]
assert len(alpha) == 1 and alpha[0]["total_ns"] == a["total_ns"] and alpha[0]["version"].startswith("8."), a
assert not [f for f in a["functions"] if "Beta" in f["name"]], a
assert not [f for f in b["functions"] if "Alpha" in f["name"]]
P
check "conditions on functions, runtimes and classes" $? "$tmp/out3"

# ---- time
says "samples of yesterday: none" 1 "no samples" "$sxsprof" fleet top --from yesterday --to today --where 'version=none'
says "a period before the sessions has no samples" 1 "no samples" "$sxsprof" fleet top --to "1 day ago"
says "the last hour has all" 0 "$(printf '%s' "$(awk -v v="$all" 'BEGIN { printf "%.3f s", v / 1e9 }')")" "$sxsprof" fleet top --from "1h ago"
says "expire drops nothing that is younger" 0 "0 days dropped" "$sxsprof" fleet expire
ask "INSERT INTO samples (service, kind, stack, time, source, count, value) VALUES (1, 'cpu', 1, now() - 86400 * 9, 1, 1, 1)"
says "expire drops a day that is older than 7 days" 0 "1 days dropped" "$sxsprof" fleet expire
same "and nothing else" "$all" "$(ask "SELECT sum(value) FROM samples WHERE kind = 'cpu'")"

# ---- texts from outside are literals
before=$(ask "SELECT count() FROM samples")
for text in "x' OR '1'='1" "x\\' OR 1=1 --" "x'); DROP TABLE samples; --" "\\" "'" "%" "_" "x\\\\'" $'a\nb' "ü'\"\`"; do
    for option in --service --where=version= --where=rack= --where=function= --where=runtime= --where="it's="; do
        if [ "$option" = --service ]; then set -- --service "$text"; else set -- "${option%%=*}" "${option#*=}$text"; fi
        fleet top "$@" >"$tmp/out"
        status=$?
        if [ $status != 1 ] || ! grep -q "no samples" "$tmp/err"; then
            cat "$tmp/out" >>"$tmp/err"
            not_ok "a text is nothing but a literal: $* ($status)" "$tmp/err"
        fi
    done
done
same "texts with quotes, backslashes and statements select nothing and change nothing" "$before" "$(ask "SELECT count() FROM samples")"
fleet series --by "it's \\ \`" --format json >"$tmp/out"
check "a label with quotes as --by" $? "$tmp/err"

# ---- a thousand machines: what release 2 has made slower
export SXSPROF_FLEET=$url/thousand
"$sxsprof" fleet init >"$tmp/out" 2>&1
first=0
for row in "shop 334" "search 333 slower=2 heavier=Alpha" "mail 333"; do
    # shellcheck disable=SC2086 # the row's words
    set -- $row
    "$BUILD/tests/fleet_load" "$SXSPROF_FLEET" service="$1" machines="$2" first=$first minutes=1 relay=64 seed=7 \
        "start=$(($(date +%s) / 60 * 60 - 60))" "${@:3}" "$tmp/s1" >"$tmp/load" 2>&1
    check "$2 machines of service $1" $? "$tmp/load"
    first=$((first + $2))
done
same "there are 1,000 machines" 1000 "$(ask "SELECT uniqExact(machine) FROM sources")"
fleet diff --by service --a version=1 --b version=2 --format json >"$tmp/out"
fleet diff --service search --a version=1 --b version=2 --format json >"$tmp/out2"
fleet diff --service mail --a version=1 --b version=2 --format json >"$tmp/out3"
python3 - "$tmp/out" "$tmp/out2" "$tmp/out3" <<'P' >"$tmp/compared" 2>&1
import json, sys
services, search, mail = [json.load(open(p)) for p in sys.argv[1:4]]
first = services["rows"][0]
assert first["group"] == "search" and first["per_process_ns_per_ns_b"] > 1.15 * first["per_process_ns_per_ns_a"], services["rows"]
alpha = search["functions"][0]
assert "Alpha" in alpha["name"], search["functions"][:3]
share = [alpha["self_ns_" + x] / search["total_ns_" + x] for x in "ab"]
assert share[1] > share[0] + 0.02, share
for f in mail["functions"]:
    assert abs(f["self_ns_a"] / mail["total_ns_a"] - f["self_ns_b"] / mail["total_ns_b"]) < 0.02, f
P
check "diff --by service names the service that got slower first, diff the function; other services are as before" $? "$tmp/compared"
export SXSPROF_FLEET=$url/test

# ---- users and versions
says "a wrong user is told" 1 "knows no user nobody" "$sxsprof" fleet top --server "clickhouse://nobody@127.0.0.1:$CLICKHOUSE_PORT/test"
says "a wrong password is told" 1 "knows no user writer" env SXSPROF_FLEET_PASSWORD=wrong "$sxsprof" fleet top \
    --server "clickhouse://writer@127.0.0.1:$CLICKHOUSE_PORT/test"
says "a password with quotes and backslashes works" 0 "cpu" env SXSPROF_FLEET_PASSWORD="it's \"so\"&\\#" "$sxsprof" fleet top \
    --server "clickhouse://writer@127.0.0.1:$CLICKHOUSE_PORT/test"
says "a user who may only read can ask" 0 "cpu" env SXSPROF_FLEET_PASSWORD=r "$sxsprof" fleet top \
    --server "clickhouse://reader@127.0.0.1:$CLICKHOUSE_PORT/test"
says "but makes no tables" 1 "may not do this" env SXSPROF_FLEET_PASSWORD=r "$sxsprof" fleet init \
    --server "clickhouse://reader@127.0.0.1:$CLICKHOUSE_PORT/other"
"$sxsprof" push --server "$url/nothing" --retry 1s "$tmp/s1" >"$tmp/push" 2>&1
status=$?
[ $status != 0 ] && grep -q "fleet init" "$tmp/push"
check "a push to a database without tables says how to make them" $? "$tmp/push"

# ---- traces
timeout -k 5 120 "$sxsprof" run --quiet --tool sample:cpu=499,activity=on -o "$tmp/traced" -- "$runsxs" --timeout 100 \
    9 traces 2 10 traces 2 >"$tmp/log" 2>&1
check "a session with traces is recorded" $? "$tmp/log"
push --service traced "$tmp/traced"
check "it is pushed" $? "$tmp/push"
"$sxsprof" report --format json "$tmp/traced" >"$tmp/json" 2>/dev/null
id=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["traces"][0]["trace_id"])' "$tmp/json")
compare "all of its samples" samples cpu traced service=traced
compare "those of one trace" samples cpu traced "trace_id=$id" "--trace-id $id"
compare "those of a trace by the first digits of its id" samples cpu traced "trace_id=${id:0:12}*" "--trace-id $id"
fleet series --by trace_id --service traced >"$tmp/series" && [ "$(grep -c '[0-9a-f]\{32\}$' "$tmp/series")" -ge 8 ] &&
    grep -q "$id\$" "$tmp/series"
check "CPU by trace" $? "$tmp/series"

# ---- tables of version 1, as they were
old() { curl -sS "http://127.0.0.1:$CLICKHOUSE_PORT/?database=old" --data-binary "$1"; }
ask "CREATE DATABASE old"
old "CREATE TABLE frames (frame UInt64, name String, file String, runtime String, flags UInt16) ENGINE = ReplacingMergeTree ORDER BY (frame)"
old "CREATE TABLE stacks (stack UInt64, thread String, root UInt8, class String, runtime String, typed UInt8,
     frames Array(UInt64)) ENGINE = ReplacingMergeTree ORDER BY (stack)"
old "CREATE TABLE sources (source UInt64, service_id UInt64, service String, version String, machine String,
     container String, process String, command String, runtimes Array(String),
     labels Nested(key String, value String), seen DateTime) ENGINE = ReplacingMergeTree ORDER BY (source)"
old "CREATE TABLE samples (service UInt64, kind Enum8('batch' = 0, 'cpu' = 1, 'wall' = 2, 'alloc' = 3, 'native' = 4,
     'locks' = 5), stack UInt64, time DateTime, source UInt64, count UInt64, value UInt64, trace FixedString(16))
     ENGINE = MergeTree PARTITION BY toDate(time) ORDER BY (service, kind, stack, source, time)"
old "CREATE TABLE schema (version UInt32, keep_days UInt32, made DateTime) ENGINE = MergeTree ORDER BY (made)"
old "INSERT INTO schema VALUES (1, 12, now() - 100)"
export SXSPROF_FLEET=$url/old
push --service shop "$tmp/s1"
check "what tables of version 1 have is pushed to them" $? "$tmp/push"
compare "cpu in tables of version 1" samples cpu s1 service=shop
push --retry 1s --service shop "$tmp/s3"
[ $? != 0 ] && grep -q "sxsprof fleet init brings" "$tmp/push"
check "what they do not have is refused, with what to do" $? "$tmp/push"
says "and so are questions" 1 "has tables of version 1, and these data are in version 2; sxsprof fleet init" "$sxsprof" fleet top --data live
before=$(old "$sums")
says "init brings them up to date" 0 "tables of version 2; samples are kept 12 days" "$sxsprof" fleet init
same "and changes no sample" "$before" "$(old "$sums")"
push --service shop "$tmp/s3"
check "then everything is pushed" $? "$tmp/push"
compare "objects that are alive, in tables that were of version 1" live live s3 service=shop
says "init again changes nothing" 0 "tables of version 2; samples are kept 12 days" "$sxsprof" fleet init
export SXSPROF_FLEET=$url/test
ask "INSERT INTO schema VALUES (999, 30, now() + 10)"
says "tables of a newer version are refused" 1 "made by a newer sxsprof" "$sxsprof" fleet top
says "by init, too" 1 "made by a newer sxsprof" "$sxsprof" fleet init
finish
