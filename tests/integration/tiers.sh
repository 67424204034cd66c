# SPDX-License-Identifier: MIT
# tiers.sh - checks the tier, the source line and the name of sampled code, also of unloaded code.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/tiers/tiers.dll" ] || skip_all "$0" "the app tiers is not built"
source=harness/managed/shares/Program.cs

cat >"$tmp/frames.py" <<'E2'
"""Reads an HTML report. own(pattern) returns the own samples, by tier, of the managed functions that match."""
import json, re, sys
page = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.S).group(1))
TIERS = ["unknown", "tier 0", "tier 1", "OSR", "R2R", "stub", "dynamic", "optimized"]
strings = data["strings"]
frames = {}
for name, file, runtime, home, flags, source, line, *tiers in data["frames"]:
    if runtime:
        own = frames.setdefault(strings[name], {})
        for tier, n in zip(TIERS, tiers):
            own[tier] = own.get(tier, 0) + n
def own(pattern):
    sums = {}
    for name, tiers in frames.items():
        if re.search(pattern, name):
            for tier, n in tiers.items():
                if n:
                    sums[tier] = sums.get(tier, 0) + n
    return sums
E2

# record NAME VERSION APP OPTIONS: record session NAME and write its page, in the caller's environment. 499 samples a second
# come from the clock of perf events. The timers of the usual rate come with the scheduler's tick, and on a busy machine
# a third of their samples or less: too few for code that runs for some milliseconds.
record() {
    rm -rf "$tmp/$1"
    timeout -k 5 320 "$sxsprof" run --quiet --tool "sample:cpu=${RATE:-499},tiers=${TELL:-on}" -o "$tmp/$1" -- "$runsxs" --timeout 300 \
        "$2" "$3" "$4" >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format html -o "$tmp/$1.html" "$tmp/$1" >>"$tmp/log" 2>&1
}
run() { # the same, with a claim
    record "$@"
    check "$1: the app succeeds on .NET $2" $? "$tmp/log"
}
holds() { # session python-expression: succeed when the expression is true, else print the recorded tiers
    python3 - "$tmp/$1.html" "$2" >"$tmp/said" 2>&1 <<E2
exec(open("$tmp/frames.py").read())
if not eval(sys.argv[2]):
    sys.exit("not so: %s\nHot %s, Long %s, all %s" % (sys.argv[2], own(r"Program\.Hot\("), own(r"Program\.Long\("), own("")))
E2
}
says() { # claim session python-expression
    holds "$2" "$3"
    check "$1" $? "$tmp/said"
}

# True when precompiled code of the framework was sampled. On a busy machine the runtime may replace this code
# before its first sample. Such a session shows nothing about precompiled code, and another session is
# recorded.
precompiled='own(r"^System\.").get("R2R", 0) > 0'

until_precompiled() { # as run, but records up to three times, until precompiled code was sampled
    for try in 1 2 3; do
        record "$@"
        status=$?
        holds "$1" "$precompiled" && break
    done
    check "$1: the app succeeds on .NET $2" $status "$tmp/log"
}

for v in 8 9 $net10; do
    # Methods stay at tier 0 for at least 200 ms (hexadecimal C8). If this is too short on a busy machine, the
    # session is recorded again with 1,000 ms (hexadecimal 3E8).
    for delay in "C8 4.5" "3E8 9"; do
        DOTNET_TC_CallCountingDelayMs=${delay% *} record "tiered-$v" $v tiers "seconds=${delay#* }"
        status=$?
        holds "tiered-$v" '(lambda t: t.get("tier 0", 0) > 5 and t.get("tier 1", 0) > 5)(own(r"Program\.Hot\(")) and own(r"Program\.Long\(").get("OSR", 0) > 10' &&
            holds "tiered-$v" "$precompiled" && break
    done
    check "tiered-$v: the app succeeds on .NET $v" $status "$tmp/log"
    says "$v: a method that is called again and again has samples at tier 0 and at tier 1" "tiered-$v" \
        '(lambda t: t.get("tier 0", 0) > 5 and t.get("tier 1", 0) > 5 and set(t) <= {"tier 0", "tier 1"})(own(r"Program\.Hot\("))'
    says "$v: a method that is called once has samples in the code that replaces it while it runs (OSR)" "tiered-$v" \
        '(lambda t: t.get("OSR", 0) > 10 and set(t) <= {"tier 0", "OSR"})(own(r"Program\.Long\("))'
    says "$v: the framework has samples in precompiled code, and the app has none" "tiered-$v" \
        'own(r"^System\.").get("R2R", 0) > 0 and "R2R" not in own(r"^Tiers\.")'
    says "$v: no sample has an unknown tier" "tiered-$v" '"unknown" not in own("")'
    DOTNET_TieredCompilation=0 run "once-$v" $v tiers "seconds=1.5"
    says "$v: with DOTNET_TieredCompilation=0, the samples of compiled methods are in optimized code" "once-$v" \
        'set(own(r"Program\.(Hot|Long)\(")) == {"optimized"}'
    DOTNET_ReadyToRun=0 run "jit-$v" $v tiers "seconds=1.5"
    says "$v: with DOTNET_ReadyToRun=0, no sample is in precompiled code" "jit-$v" \
        '"R2R" not in own(r"") and own(r"^System\.")'
done

# A runtime reports compiled methods only from about a second after its start. Most code of this short program
# is compiled before.
for v in 8 9 $net10; do
    RATE=997 DOTNET_TC_CallCountingDelayMs=64 until_precompiled "early-$v" $v tiers "seconds=0.75"
    says "$v: in a short program, the tiers of a method that is called again and again are known" "early-$v" \
        '(lambda t: t.get("tier 1", 0) > 5 and set(t) <= {"tier 0", "tier 1"})(own(r"Program\.Hot\("))'
    says "$v: in a short program, the tiers of a method that is replaced while it runs are known" "early-$v" \
        '(lambda t: t.get("OSR", 0) > 5 and set(t) <= {"tier 0", "OSR"})(own(r"Program\.Long\("))'
    says "$v: in a short program, the precompiled code of the framework is known" "early-$v" \
        'own(r"^System\.").get("R2R", 0) > 0 and "R2R" not in own(r"^Tiers\.")'
    says "$v: in a short program, no sample has an unknown tier" "early-$v" '"unknown" not in own("")'
    # Precompiled code that was sampled just before the runtime compiled the method again is known to be
    # precompiled code, because no other code was at its address.
    RATE=997 DOTNET_TC_CallCountingDelayMs=64 until_precompiled "often-$v" $v tiers "seconds=0.9"
    says "$v: no sample has an unknown tier when precompiled methods are compiled again" "often-$v" \
        'own(r"^System\.").get("R2R", 0) > 0 and "unknown" not in own("")'
done
DOTNET_TC_QuickJitForLoops=0 run loops $net10 tiers "seconds=0.3"
says "with settings that a profiler cannot follow, early code has an unknown tier or a reported one" loops \
    'own(r"^Tiers\.") and "tier 0" not in own(r"Program\.(Hot|Long)\(")'

# A program that ends at once does not pay for an event session: its event sources do not describe their
# events.
for v in 8 9 $net10; do
    timeout -k 5 100 "$sxsprof" run --quiet --tool sample:cpu=997 -o "$tmp/hello-$v" -- "$runsxs" $v hello "" >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format collapsed -o "$tmp/hello-$v.txt" "$tmp/hello-$v" >>"$tmp/log" 2>&1
    check "$v: the app hello succeeds" $? "$tmp/log"
    grep 'EventSource\.\(CreateManifest\|SendManifest\)\|ManifestBuilder' "$tmp/hello-$v.txt" >"$tmp/said"
    [ $? -eq 1 ] && [ -s "$tmp/hello-$v.txt" ]
    check "$v: no sample of the app hello is in code that describes events" $? "$tmp/said"
done

# With tiers=off, runtimes are not asked for tiers. Precompiled code is recognized by its mapping; the tier of
# other managed code is unknown.
RATE=997 TELL=off until_precompiled off 9 tiers "seconds=1.5"
says "tiers=off: only precompiled code and stubs are distinguished" off \
    'own(r"^System\.").get("R2R", 0) > 0 and set(own(r"^Tiers\.")) == {"unknown"}'

# An EventPipe session that another tool has started gets its own events beside the session of sxsprof.
DOTNET_EnableEventPipe=1 DOTNET_EventPipeOutputPath=$tmp/theirs.trace DOTNET_EventPipeConfig='Microsoft-Windows-DotNETRuntime:0x10:5' \
    run theirs $net10 tiers "seconds=1"
says "tiers are known beside another EventPipe session" theirs 'own("") and "unknown" not in own("")'
[ "$(tr -d '\0' <"$tmp/theirs.trace" | grep -a -c 'Tiers\.Program')" -gt 0 ]
check "the other EventPipe session has the methods of the app" $?

# Names of code that is unloaded while samples are taken, and whose memory is then used for other code.
for v in 8 9 $net10; do
    run "unload-$v" $v tiers "unload=40"
    "$sxsprof" report --format firefox -o "$tmp/firefox" "$tmp/unload-$v" >"$tmp/log" 2>&1
    python3 - "$tmp/firefox" >"$tmp/said" 2>&1 <<'E2'
import json, re, sys
seen, last = set(), -1
for t in json.load(open(sys.argv[1]))["threads"]:
    names = [t["stringArray"][i] for i in t["funcTable"]["name"]]
    last = -1
    for stack in t["samples"]["stack"]: # in the order of time
        while stack is not None:
            name = names[t["frameTable"]["func"][t["stackTable"]["frame"][stack]]]
            stack = t["stackTable"]["prefix"][stack]
            m = re.search(r"Once(\d+)\.Burn(\d+)", name)
            if not m:
                continue
            assert m.group(1) == m.group(2), name
            assert int(m.group(1)) >= last, "%s after %d" % (name, last)
            last = int(m.group(1))
            seen.add(last)
print("%d of 40 methods seen" % len(seen))
sys.exit(len(seen) < 20)
E2
    status=$?
    check "$v: methods of unloaded assemblies keep their names: $(cat "$tmp/said")" $status "$tmp/said"
done

# A runtime destroys a collectible module before it removes the module's code from its table of code. The
# preloaded libdelaying.so delays the step between the two: the suspension by the finalizer thread.
for v in 8 9 $net10; do
    LD_PRELOAD=$(realpath "$BUILD")/tests/libdelaying.so DELAYING_MS=200 timeout -k 5 100 \
        "$sxsprof" run --quiet --tool sample:cpu=499 -o "$tmp/slow-$v" -- \
        "$runsxs" --timeout 90 $v tiers "unload=8" >"$tmp/log" 2>&1
    check "$v: the library does not ask the runtime about code of destroyed modules" $? "$tmp/log"
    "$sxsprof" report --format firefox -o "$tmp/firefox" "$tmp/slow-$v" >"$tmp/log" 2>&1
    [ "$(grep -o 'Once[0-9]*\.Burn[0-9]*' "$tmp/firefox" | sort -u | wc -l)" -ge 3 ]
    check "$v: methods get names after each unload" $?
done

# Source lines, from the PDB beside the assembly.
run lines $net10 shares "alpha=60 beta=40 seconds=2"
"$sxsprof" report "$tmp/lines" >"$tmp/text" 2>/dev/null
for f in Alpha Beta; do
    begin=$(grep -n "static void $f(" "$source" | cut -d: -f1)
    at=$(sed -n "s/^ .* Program\.cs:\([0-9]*\)  \[10\.0\.11\] Shares\.Program\.$f\$/\1/p" "$tmp/text" | head -n 1)
    [ -n "$at" ] && [ "$at" -gt "$begin" ] && [ "$at" -lt $((begin + 8)) ]
    check "the time of $f is in the line of its loop, line ${at:-?}" $? "$tmp/text"
done
if command -v go >/dev/null 2>&1; then
    "$sxsprof" report --format pprof -o "$tmp/pprof" "$tmp/lines" >"$tmp/log" 2>&1
    HOME=$tmp go tool pprof -lines -top "$tmp/pprof" >"$tmp/top" 2>>"$tmp/log"
    call=$(grep -n 'Alpha(due' "$source" | cut -d: -f1)
    grep -q "Shares.Program.Main(System.String\[\]) .*Program.cs:$call" "$tmp/top"
    check "the pprof report has the line that calls Alpha" $? "$tmp/top"
fi
finish
