#!/bin/bash
# SPDX-License-Identifier: MIT
# fail_if.sh - checks sxsprof report --fail-if: exit statuses, the measured values, and what cannot be decided, for
# sessions with known numbers. The values are compared with those of the JSON.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
for kind in samples calls events costs; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_$kind.c -o "$T/make_$kind" || exit 1
done
"$T/make_samples" "$T/samples" known >/dev/null
"$T/make_calls" "$T/calls" >/dev/null 2>&1
"$T/make_calls" "$T/flat" count >/dev/null 2>&1
"$T/make_events" "$T/events" >/dev/null 2>&1
"$T/make_costs" "$T/costs" alnfw
"$T/make_costs" "$T/biased" ab
"$T/make_costs" "$T/waits" k
"$CENSUS" "$T/empty" 5 runtime=1,8.0.29,1,1,1,1,1,1,1

# report SESSION [OPTION...]: sets $status, and $said to the lines about conditions
report() {
    try "$SXS" report "${@:2}" "$T/$1"
    said=$(grep -e '--fail-if' "$T/err")
}
# says CLAIM STATUS LINES SESSION CONDITION [OPTION...]
says() {
    report "$4" --fail-if "$5" "${@:6}"
    is "$1" "$2:$3" "$status:$said"
}
line() { echo "sxsprof: $1: --fail-if"; }

# --- samples: 1,020 of 5 ms, 400 of them in Hot.Spin
says "a share above the bound: status 3 and the value" 3 "$(line "self(App.Hot.Spin) is 39.2 %, more than 30 %")" \
    samples 'self(App.Hot.Spin)>30%'
says "a share below the bound: status 0, no line" 0 "" samples 'self(App.Hot.Spin)>45%'
report samples --fail-if 'self(App.Hot.Spin)>39%'
has "a bound in the interval of the share decides nothing: status 4, and the interval" "$status:$said" \
    "4:sxsprof: self(App.Hot.Spin) is 39.2 % (3" " % in 19 of 20 runs), which does not decide whether it is more than 39 %: --fail-if"
says "less than" 3 "$(line "self(App.Hot.Spin) is 39.2 %, less than 45 %")" samples 'self(App.Hot.Spin) < 45 %'
says "at most" 0 "" samples 'self(App.Hot.Spin)<=30%'
says "time" 3 "$(line "self(App.Hot.Spin) is 2000 ms, at least 1000 ms")" samples 'self(App.Hot.Spin)>=1000ms'
says "a number of samples" 3 "$(line "self(App.Hot.Spin) is 400, at least 400")" samples 'self(App.Hot.Spin)>=400'
report samples --fail-if 'self(App.Hot.Spin)>400'
has "of the samples that were dropped each could be another one" "$status:$said" "4:" "400 (400 to 407 in 19 of 20 runs)"
says "total: with everything that the functions call" 3 "$(line "total(App.Bridge.Call) is 39.2 %, more than 30 %")" \
    samples 'total(App.Bridge.Call)>30%'
says "self: without" 0 "" samples 'self(App.Bridge.Call)>5%'
says "a pattern of several functions, whose stacks count once" 3 "$(line "total(App.*) is 85.3 %, more than 60 %")" \
    samples 'total(App.*)>60%'
says "the version of the runtime" 3 "$(line "self(9/*:App.*) is 44.1 %, more than 30 %")" samples 'self(9/*:App.*)>30%'
says "native code" 3 "$(line "self(native/make_samples:known_native_leaf) is 9.8 %, less than 20 %")" \
    samples 'self(native/make_samples:known_native_leaf)<20%'
says "a pattern that fits nothing is 0, and a line says so" 0 "$(line "self(Nobody.*) is 0, because no function fits")" \
    samples 'self(Nobody.*)>5%'
says "--thread chooses" 3 "$(line "self(App.Loop.Run) is 100 %, more than 90 %")" samples 'self(App.Loop.Run)>90%' --thread worker
says "--thread leaves out" 3 "$(line "self(App.Hot.Spin) is 0 %, less than 5 %")" \
    samples 'self(App.Hot.Spin)<5%' --thread worker
says "--from leaves out" 2 "" samples 'self(App.Hot.Spin)<5%' --from 2090-01-01
report samples --fail-if 'self(App.Hot.Spin)>99%' --fail-if 'self(App.Hot.Spin)>39%' --fail-if 'self(App.Loop.Run)>20%'
has "several conditions: one that is met is more than one that is not decided" "$status:$said" "3:" "self(App.Loop.Run) is 29.4 %, more than 20 %"
is "and each has a line, but not those that are not met" 2 "$(grep -c . <<<"$said")"
for format in text json html collapsed pprof; do
    rm -f "$T/file"
    report samples --format $format -o "$T/file" --fail-if 'self(App.Hot.Spin)>30%'
    [ -s "$T/file" ]
    is "--format $format: the report is written, and the condition decided" "0:3:$(line "self(App.Hot.Spin) is 39.2 %, more than 30 %")" \
        "$?:$status:$said"
done

# --- the values are those of the JSON
compared() { # SESSION DATA LIST UNIT DIVISOR: own and total values of each function, as the condition and the JSON have them
    "$SXS" report --format json --data "$2" "$T/$1" 2>/dev/null >"$T/json"
    python3 - "$SXS" "$T/$1" "$T/json" "$@" <<'PY'
import collections, json, re, subprocess, sys
sxsprof, session, path, _, data, key, unit, divisor = sys.argv[1:]
report = json.load(open(path))
functions = report[key]
sums, used = collections.Counter(), set()
suffix = {"ms": "ns", "KiB": "bytes"}[unit]
for f in functions:
    if f.get("kind") in ("type", "wait"):
        continue
    name = re.sub(r"^\[[^]]*\] (.*!)?", "", f["name"])
    name = name.split("(")[0] if not name.startswith("(") else name
    if not re.fullmatch(r"[\w.]+", name):
        continue
    for what in ("self", "total"):
        sums[what, name] += f["%s_%s" % (what, suffix)]
    if name in used: # a stack with two of them counts once
        sums.pop(("total", name), None)
    used.add(name)
n = 0
for (what, name), value in sums.items():
    said = subprocess.run([sxsprof, "report", "--data", data, "--format", "json", "-o", "/dev/null", "--fail-if",
                           "%s(%s)>=0%s" % (what, name, unit), session], capture_output=True, text=True).stderr
    m = re.search(r"%s\(%s\) is ([\d.]+)" % (what, re.escape(name)), said)
    if not m or abs(float(m[1]) * float(divisor) - value) > max(1, 0.005 * value):
        print(what, name, value, said)
    n += 1
print("none" if n < 2 else "ok")
PY
}
is "samples: values of all functions are those of the JSON" ok "$(compared samples samples profile_functions ms 1e6)"
is "alloc: likewise" ok "$(compared costs alloc profile_functions KiB 1024)"
is "locks: likewise" ok "$(compared costs locks profile_functions ms 1e6)"
is "calls: likewise" ok "$(compared calls calls functions ms 1e6)"

# --- calls are counted
total=$("$SXS" report --format json "$T/calls" | python3 -c 'import json, sys; f = next(f for f in json.load(sys.stdin)["functions"] if f["calls"]); print(f["name"], f["calls"])')
name=${total% *} n=${total##* }
says "calls: exactly as many" 3 "$(line "self($name) is $n, at least $n")" calls "self($name)>=$n"
says "calls: not more" 0 "" calls "self($name)>$n"
report calls --fail-if 'self(Nobody)>5%'
has "calls: whether a function that was not counted was called is not known" "$status:$said" "4:" \
    "self(Nobody) cannot be measured: no function that was counted fits"
report flat --fail-if "total(*)>1"
has "calls without a tree: who called whom is not known" "$status:$said" "4:" "which functions they call was not recorded"

# --- costs
says "alloc: bytes" 3 "$(line "self(*StringBuilder.Append) is 19.5 KiB, more than 5 KiB")" costs 'self(*StringBuilder.Append)>5KiB' --data alloc
report costs --fail-if 'self(*StringBuilder.Append)>15KiB' --data alloc
has "alloc: an estimate with an interval" "$status:$said" "4:" "self(*StringBuilder.Append) is 19.5 KiB (" "in 19 of 20 runs)"
says "alloc: objects" 3 "$(line "self(App.Cache.Add) is 2, more than 1")" costs 'self(App.Cache.Add)>1' --data alloc
says "alloc: the data of a session without samples and calls" 3 "$(line "total(App.Cache.Add) is 99.8 %, more than 90 %")" costs 'total(App.Cache.Add)>90%'
says "locks: every wait was recorded" 3 "$(line "self(App.Work.Run) is 10 ms, at least 10 ms")" costs 'self(App.Work.Run)>=10ms' --data locks
says "locks: not more" 0 "" costs 'self(App.Work.Run)>10ms' --data locks
says "locks: numbers" 3 "$(line "self(App.Cache.Add) is 3, at least 3")" costs 'self(App.Cache.Add)>=3' --data locks --by-count
says "native: bytes" 3 "$(line "total(App.Program.Main) is 67.9 KiB, more than 64 KiB")" costs 'total(App.Program.Main)>64KiB' --data native
report costs --fail-if 'total(App.Program.Main)>1KiB' --data live
has "live: what remains" "$status:$said" "3:" "total(App.Program.Main) is 207 KiB, more than 1 KiB"
says "wait: samples of waiting threads" 3 "$(line "self(App.Cache.Add) is 30 ms, at least 5 ms")" waits 'self(App.Cache.Add)>=5ms' --data wait
report biased --fail-if 'self(*)>5%'
has "alloc: what was not chosen at random has no interval" "$status:$said" "4:" "was not chosen at random"

# --- exceptions, of a session that has nothing else
says "exceptions: their number" 3 "$(line "self(*) is 13, at least 13")" events 'self(*)>=13'
report events --fail-if 'total(*)>1'
has "exceptions: callers are not known" "$status:$said" "4:" "expected self()"

"$T/make_events" "$T/gcs" 0 gcs >/dev/null 2>&1
report gcs --fail-if 'total(*)>1'
has "a session of collections alone: nothing has functions" "$status:$said" "4:" "nothing was recorded that has functions"

# --- what cannot be decided, and what is wrong
says "nothing was recorded" 4 "$(line "self(A)>5% cannot be measured: nothing was sampled" | sed 's/>5%//')" empty 'self(A)>5%'
cp -r "$T/samples" "$T/damaged" && truncate -s 300000 "$T/damaged/4242/samples"
report damaged --fail-if 'self(App.Hot.Spin)<1%'
has "a damaged session decides nothing" "$status:$said" "4:" "the session is damaged"
wrong() { # CLAIM CONDITION PART [OPTION...]
    try "$SXS" report --fail-if "$2" "${@:4}" "$T/nowhere"
    has "$1" "$status:$err" "2:sxsprof report: --fail-if: " "$3"
}
wrong "a wrong condition: status 2 before the session is read" 'self(App)=5%' "'self(App)=5%': at character 10, '=5%': expected <, <=, > or >="
wrong "a wrong unit" 'self(App)>5kg' "at character 12, 'kg'"
wrong "a unit that the data do not have" 'self(App)>5KiB' "self(App): samples are not measured in KiB" --data samples
wrong "bytes when objects are counted" 'self(App)>5KiB' "objects are not measured in KiB" --data alloc --by-count
report samples --fail-if 'self(App.Hot.Spin)>5KiB'
has "a unit that the data of the session do not have" "$status:$said" "4:" "samples are not measured in KiB"
finish
