# SPDX-License-Identifier: MIT
# How sampled code was made, on real runtimes: its tier, its source lines, its name when it is unloaded.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/tiers/tiers.dll" ] || skip_all "$0" "the app tiers is not built"
source=harness/managed/shares/Program.cs

cat >"$tmp/frames.py" <<'E2'
"""Reads an html report: own samples of each managed function by tier, and its source line."""
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

record() { # name version options of the app; the rest of the environment is the caller's
    rm -rf "$tmp/$1"
    timeout -k 5 320 "$sxsprof" run --quiet --tool "sample:cpu=${RATE:-199},tiers=${TELL:-on}" -o "$tmp/$1" -- "$runsxs" --timeout 300 \
        "$2" "$3" "$4" >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format html -o "$tmp/$1.html" "$tmp/$1" >>"$tmp/log" 2>&1
}
run() { # the same, as a test
    record "$@"
    check "$1: $2 runs" $? "$tmp/log"
}
holds() { # session python-expression; shows what there is when it is not so
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

# Precompiled code of the framework was sampled. On a busy machine the runtime may replace it before its first sample: such a
# session shows nothing about it, and another is recorded.
precompiled='own(r"^System\.").get("R2R", 0) > 0'

until_precompiled() { # as run, at most three times
    for try in 1 2 3; do
        record "$@"
        status=$?
        holds "$1" "$precompiled" && break
    done
    check "$1: $2 runs" $status "$tmp/log"
}

for v in 8 9 10.0.11; do
    # A fifth of a second at tier 0, for sure (hexadecimal: C8 ms); on a machine so busy that this is no time, one.
    for delay in "C8 4.5" "3E8 9"; do
        DOTNET_TC_CallCountingDelayMs=${delay% *} record "tiered-$v" $v tiers "seconds=${delay#* }"
        status=$?
        holds "tiered-$v" '(lambda t: t.get("tier 0", 0) > 5 and t.get("tier 1", 0) > 5)(own(r"Program\.Hot\(")) and own(r"Program\.Long\(").get("OSR", 0) > 10' &&
            holds "tiered-$v" "$precompiled" && break
    done
    check "tiered-$v: $v runs" $status "$tmp/log"
    says "$v: a method called again and again is seen at tier 0 and at tier 1" "tiered-$v" \
        '(lambda t: t.get("tier 0", 0) > 5 and t.get("tier 1", 0) > 5 and set(t) <= {"tier 0", "tier 1"})(own(r"Program\.Hot\("))'
    says "$v: one that is called once is replaced while it runs" "tiered-$v" \
        '(lambda t: t.get("OSR", 0) > 10 and set(t) <= {"tier 0", "OSR"})(own(r"Program\.Long\("))'
    says "$v: the framework came precompiled, the app did not" "tiered-$v" \
        'own(r"^System\.").get("R2R", 0) > 0 and "R2R" not in own(r"^Tiers\.")'
    says "$v: no tier is unknown" "tiered-$v" '"unknown" not in own("")'
    DOTNET_TieredCompilation=0 run "once-$v" $v tiers "seconds=1.5"
    says "$v: without tiers, what is compiled is optimized" "once-$v" \
        'set(own(r"Program\.(Hot|Long)\(")) == {"optimized"}'
    DOTNET_ReadyToRun=0 run "jit-$v" $v tiers "seconds=1.5"
    says "$v: without precompiled code there is none" "jit-$v" \
        '"R2R" not in own(r"") and own(r"^System\.")'
done

# Code compiled before the runtime reports what it compiles, which is a second after its start: most of this app's.
for v in 8 9 10.0.11; do
    DOTNET_TC_CallCountingDelayMs=64 until_precompiled "early-$v" $v tiers "seconds=0.75"
    says "$v: of a short program, tiers of methods called again and again are known" "early-$v" \
        '(lambda t: t.get("tier 1", 0) > 5 and set(t) <= {"tier 0", "tier 1"})(own(r"Program\.Hot\("))'
    says "$v: and of one that is replaced while it runs" "early-$v" \
        '(lambda t: t.get("OSR", 0) > 5 and set(t) <= {"tier 0", "OSR"})(own(r"Program\.Long\("))'
    says "$v: and of the framework" "early-$v" \
        'own(r"^System\.").get("R2R", 0) > 0 and "R2R" not in own(r"^Tiers\.")'
    says "$v: and no tier is unknown" "early-$v" '"unknown" not in own("")'
    # Precompiled code that was sampled just before the runtime compiled its method again: no other code lay there.
    RATE=997 DOTNET_TC_CallCountingDelayMs=64 until_precompiled "often-$v" $v tiers "seconds=0.9"
    says "$v: nor where precompiled methods are compiled again" "often-$v" \
        'own(r"^System\.").get("R2R", 0) > 0 and "unknown" not in own("")'
done
DOTNET_TC_QuickJitForLoops=0 run loops 10.0.11 tiers "seconds=0.3"
says "early code under settings that a profiler cannot follow has no tier, or one that was reported" loops \
    'own(r"^Tiers\.") and "tier 0" not in own(r"Program\.(Hot|Long)\(")'

# A program that ends at once does not pay for a session: its EventSource need not describe itself.
for v in 8 9 10.0.11; do
    timeout -k 5 100 "$sxsprof" run --quiet --tool sample:cpu=997 -o "$tmp/hello-$v" -- "$runsxs" $v hello "" >"$tmp/log" 2>&1 &&
        "$sxsprof" report --format collapsed -o "$tmp/hello-$v.txt" "$tmp/hello-$v" >>"$tmp/log" 2>&1
    check "$v: hello runs" $? "$tmp/log"
    grep 'EventSource\.\(CreateManifest\|SendManifest\)\|ManifestBuilder' "$tmp/hello-$v.txt" >"$tmp/said"
    [ $? -eq 1 ] && [ -s "$tmp/hello-$v.txt" ]
    check "$v: nothing of hello's time goes into describing events" $? "$tmp/said"
done

# Runtimes that are not asked: precompiled code is told by its mapping, the rest is not known.
TELL=off until_precompiled off 9 tiers "seconds=1.5"
says "tiers=off: only precompiled code and stubs are told" off \
    'own(r"^System\.").get("R2R", 0) > 0 and set(own(r"^Tiers\.")) == {"unknown"}'

# A session of somebody else's, beside ours, still gets its own events.
mkdir "$tmp/theirs"
DOTNET_EnableEventPipe=1 DOTNET_EventPipeOutputPath=$tmp/theirs/trace DOTNET_EventPipeConfig='Microsoft-Windows-DotNETRuntime:0x10:5' \
    run theirs 10.0.11 tiers "seconds=1"
says "beside another EventPipe session, tiers are told" theirs 'own("") and "unknown" not in own("")'
[ "$(tr -d '\0' <"$tmp/theirs/trace" | grep -a -c 'Tiers\.Program')" -gt 0 ]
check "and that session has its methods" $?

# Names of code that is unloaded while samples are taken, and whose place is taken again.
for v in 8 9 10.0.11; do
    run "unload-$v" $v tiers "unload=40"
    "$sxsprof" report --format firefox -o "$tmp/firefox" "$tmp/unload-$v" >"$tmp/log" 2>&1
    python3 - "$tmp/firefox" >"$tmp/said" 2>&1 <<'E2'
import json, re, sys
seen, last = set(), -1
for t in json.load(open(sys.argv[1]))["threads"]:
    names = [t["stringArray"][i] for i in t["funcTable"]["name"]]
    last = -1
    for stack in t["samples"]["stack"]: # in time's order
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

# A runtime destroys a collectible module before it takes its code out of the table of code. Preloaded, the library
# delays what lies in between: the suspension by the finalizer thread.
for v in 8 9 10.0.11; do
    LD_PRELOAD=$(realpath "$BUILD")/tests/libdelaying.so DELAYING_MS=200 timeout -k 5 100 \
        "$sxsprof" run --quiet --tool sample:cpu=199 -o "$tmp/slow-$v" -- \
        "$runsxs" --timeout 90 $v tiers "unload=8" >"$tmp/log" 2>&1
    check "$v: no code of destroyed modules is asked about" $? "$tmp/log"
    "$sxsprof" report --format firefox -o "$tmp/firefox" "$tmp/slow-$v" >"$tmp/log" 2>&1
    [ "$(grep -o 'Once[0-9]*\.Burn[0-9]*' "$tmp/firefox" | sort -u | wc -l)" -ge 3 ]
    check "$v: and naming goes on after each unload" $?
done

# Lines of the source, from the PDB beside the assembly.
run lines 10.0.11 shares "alpha=60 beta=40 seconds=2"
"$sxsprof" report "$tmp/lines" >"$tmp/text" 2>/dev/null
for f in Alpha Beta; do
    begin=$(grep -n "static void $f(" "$source" | cut -d: -f1)
    at=$(sed -n "s/^ .* Program\.cs:\([0-9]*\)  \[10\.0\.11\] Shares\.Program\.$f\$/\1/p" "$tmp/text" | head -n 1)
    [ -n "$at" ] && [ "$at" -gt "$begin" ] && [ "$at" -lt $((begin + 8)) ]
    check "$f's time is in its loop, line ${at:-?}" $? "$tmp/text"
done
if command -v go >/dev/null 2>&1; then
    "$sxsprof" report --format pprof -o "$tmp/pprof" "$tmp/lines" >"$tmp/log" 2>&1
    HOME=$tmp go tool pprof -lines -top "$tmp/pprof" >"$tmp/top" 2>>"$tmp/log"
    call=$(grep -n 'Alpha(due' "$source" | cut -d: -f1)
    grep -q "Shares.Program.Main(System.String\[\]) .*Program.cs:$call" "$tmp/top"
    check "pprof knows the line that calls Alpha" $? "$tmp/top"
fi
finish
