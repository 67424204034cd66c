# SPDX-License-Identifier: MIT
# alloc.sh - the tool alloc on real runtimes, alone and three at once: exact counts, samples within their
# statistical bounds, objects that are followed, stacks, and what goes wrong.
#
# RUNS  number of runs with samples of each runtime (3)
. "$(dirname "$0")/lib.sh"
need_real 3
set -f # names of types have brackets
runs=${RUNS:-3}
costs=tests/integration/alloc_costs.py

# profile OPTIONS RUNSXS-ARGUMENTS...: runs the apps under the tool; the session is in $tmp/s.
profile() {
    options=$1
    shift
    rm -rf "$tmp/s"
    timeout -k 5 100 "$sxsprof" run --quiet --tool "alloc$options" -o "$tmp/s" -- \
        "$runsxs" --timeout 90 "$@" >"$tmp/log" 2>&1
}
# shellcheck disable=SC2086 # $2 is several words
has() { python3 $costs "$1" "$tmp/s" $2 >>"$tmp/log" 2>&1; } # COMMAND "WORD..."; names have no blanks

# ---- every object --------------------------------------------------------------------------------

kinds="small=1001 generic=2003 shared=307 inner=509 innergeneric=613 jagged=97 matrix=89 handle=71 weak=29
    finalizable=401 boxed=503 dependent=67 ring=211 large=5 pinnedheap=43 pinned=59 node=10007 big=31"
words="static threads=3 fork=5000"
for kind in $kinds; do words="$words keep:$kind"; done
words="$words on=2 drop:medium=30000 drop collect=2"
counts="Memory.Small=1002 Memory.Holder<System.Int32>=2003 Memory.Holder<System.String>=307
    Memory.Outer+Inner=509 Memory.Outer+Inner<System.Double>=613 Memory.Small[]=99 System.Int16[,]=89
    Memory.Handled=100 Memory.Finalizable=401 Memory.Point=503 Memory.Key=67 Memory.Dependent=67
    Memory.Ring=211 System.Byte[]@1=5 System.Byte[]@2=43 Memory.Node=10007 Memory.Big=31 Memory.Medium=60000
    Memory.Single=1 Memory.PerThread=3 Memory.OnStack=3"
# 10.0 does not report each value that unoptimized code boxes: see docs/internals/memory.md.
export DOTNET_TieredCompilation=0
for version in $versions; do
    profile :exact "$version" memory "$words" && has exact "$counts"
    check "$version: exact: every object of every kind is counted, and none of a forked child" $? "$tmp/log"
done
profile :exact,live=on 8 memory "$words" 9 memory "$words" 10 memory "$words" && has exact "$counts" &&
    has sizes "System.Int16[,]=$((89 * 464)) Memory.Small=$((1002 * 24)) Memory.Node=$((10007 * 24))"
check "8, 9 and 10 at once, objects followed beside: exact is exact" $? "$tmp/log"
unset DOTNET_TieredCompilation
# Without a fork: while code is compiled again in the background, a child that runs managed code
# crashes or hangs now and then, without the library, too (docs/internals/hosts.md).
words=${words/ fork=5000/}
counts=$(echo "$counts" | sed 's/Memory.Point=503//; s/Small=1002/Small=1001/; s/Small\[\]=99/Small[]=98/')
profile :exact 8 memory "$words" 9 memory "$words" 10 memory "$words" && has exact "$counts"
check "with tiered compilation, too, except boxed values" $? "$tmp/log"
profile :exact,interval=100k 10 memory "keep:boxed=500000" && has close "Memory.Point=500000"
check "10: exact: samples have all boxed values" $? "$tmp/log"
"$sxsprof" report --data alloc "$tmp/s" >"$tmp/report" && first_lines "$tmp/report" | grep -q '^  counted too low: boxed values' &&
    grep -q 'at least *at least .*Memory.Point$' "$tmp/report" && grep -q 'exact *exact .*System.String$' "$tmp/report"
check "10: exact: the report says that boxed values are counted too low" $? "$tmp/report"
profile :exact 9 memory "keep:boxed=500000" && has exact "Memory.Point=500000" &&
    "$sxsprof" report --data alloc "$tmp/s" >"$tmp/report" && ! grep -q 'at least' "$tmp/report"
check "9: exact: boxed values of code that is not optimized are counted, too" $? "$tmp/report"

# ---- samples -------------------------------------------------------------------------------------

# sampled VERSION...: $runs runs, each with another random order. Prints what failed.
sampled() {
    for run in $(seq "$runs"); do
        apps=
        for version in "$@"; do
            apps="$apps $version memory \"seed=$((run * 7919)) mix=600000 drop:large=1500 drop:pinnedheap=20000\""
        done
        eval "profile :interval=100k $apps" || return
        # The order of objects is that of the seed, so the counts differ from run to run.
        made=$(sed -n 's/^memory: .*: mix: //p' "$tmp/log" | head -n 1)
        has close "Memory.Small=${made%% *} Memory.Big=${made##* }" || return
        has close "Memory.Medium=$(echo "$made" | cut -d ' ' -f 2)" || return
        has stacks "Memory.Small Memory.Work.Mix" && has stacks "Memory.Big Memory.Work.Mix" || return
    done
}
for version in $versions; do
    sampled "$version"
    check "$version: samples: $runs times within 5.5 standard errors; the stacks name the allocating method" $? "$tmp/log"
done
sampled 8 9 10
check "8, 9 and 10 at once: the same" $? "$tmp/log"
for version in $versions; do
    profile :interval=512k "$version" memory "drop:large=4000" && has close "System.Byte[]=4000"
    check "$version: at a longer distance the estimates are right, too" $? "$tmp/log"
done
# What allocates in a rhythm is estimated as right as everything else: arrays of one size from 4 to 20 kB between
# small objects, and two types in turn with a rhythm that divides the distance of allocation ticks.
for version in $versions; do
    profile :interval=100k "$version" memory "rhythm=15000" && has close "System.Byte[]=60000 Memory.Small=60000"
    check "$version: arrays of 4 to 20 kB between small objects: all types are right" $? "$tmp/log"
    profile :interval=100k "$version" memory "uneven=60000" && has close "System.Single[]=60000 Memory.Medium=240000"
    check "$version: few small objects between arrays of 20 kB: all types are right" $? "$tmp/log"
    profile :interval=100k "$version" memory "alternate=1000000" &&
        has close "System.Int64[]=1000000 System.Int16[]=1000000"
    check "$version: two types in turn: both are right" $? "$tmp/log"
done
# Records without room in the file: what they stood for is said, and no interval claims to hold without it.
says() { # FILE TEXT
    grep -qe "$2" "$1" || { echo "no \"$2\" in:" && head -n 12 "$1"; } >>"$tmp/log"
    grep -qe "$2" "$1"
}
all_is_at_least() {
    says "$tmp/report" '^  one object recorded for 100.00 KiB on average, 3 dropped$' &&
        says "$tmp/report" '^  too low, because .* not called exact; 292.97 KiB in 40 objects are missing in all$' &&
        says "$tmp/report" '^allocated: at least .*(estimates from [0-9]* samples; 3 more dropped)$' &&
        says "$tmp/report" ' at least  *at least  .*System.Int64\[\]$' && ! grep -q '19 of 20\|-[0-9.]* +[0-9.]* %' "$tmp/report"
}
profile :interval=100k 9 memory "alternate=100000" && ! "$sxsprof" report --data alloc "$tmp/s" | grep -q 'at least\|too low' &&
    python3 $costs drop "$tmp/s" 3 40 300000 && "$sxsprof" report --data alloc "$tmp/s" >"$tmp/report" && all_is_at_least
check "what had no room in the file is said, and what it stood for; everything is at least" $? "$tmp/log"
"$sxsprof" report --data alloc --format json "$tmp/s" >"$tmp/report" && says "$tmp/report" '"at_least": *true' &&
    ! grep -q '"at_least": *false\|"bytes_high": *[0-9]' "$tmp/report" &&
    "$sxsprof" report --data alloc --format html "$tmp/s" >"$tmp/report" && says "$tmp/report" '"dropped":3[,}]' &&
    ! grep -q '"within":' "$tmp/report"
check "JSON and the page say so, too" $? "$tmp/log"
# The estimates of the ticks that 8 and 9 send are biased, and the report says so; on 10 the option changes nothing.
spread() { # OPTIONS COMMAND VERSION...: all six types as COMMAND checks them
    local options=$1 command=$2 apps=
    shift 2
    for version in "$@"; do
        apps="$apps $version memory spread=500000"
    done
    # shellcheck disable=SC2086 # several words
    profile "$options" $apps || return
    made=$(sed -n 's/^memory: .*: spread: //p' "$tmp/log" | head -n 1)
    # shellcheck disable=SC2086 # numbers
    set -- $made
    has "$command" "Memory.Small=$1 System.Int16[]=$2 System.Int32[]=$3 System.Int64[]=$4 System.Double[]=$5 System.Single[]=$6"
}
spread :interval=100k close 8 9 10
check "objects of 24 to 30,000 bytes in a random order: all are right" $? "$tmp/log"
says_biased() { "$sxsprof" report --data alloc "$tmp/s" >"$tmp/report" && first_lines "$tmp/report" | grep -q "not chosen at random: objects of runtime $1\."; }
spread :interval=100k,ticks near 8 9 && says_biased "1, 2" && grep -q 'their error is not known)$' "$tmp/report"
check "8 and 9 with ticks: the systematic error is at most 6 % there, and the report says that they are biased" $? "$tmp/report"
spread :interval=100k,ticks close 10 && ! says_biased 1
check "10 with ticks: the runtime's own samples have no bias" $? "$tmp/log"

# ---- objects that are alive ----------------------------------------------------------------------

words="keep:small=800000 drop:big=50000 collect=2 collect=2 sleep=300"
for version in $versions; do
    profile :interval=100k,live=on "$version" memory "$words" && has live "Memory.Small=800000 Memory.Big=0" &&
        has old "Memory.Small 2"
    check "$version: live: what is kept is alive and old, what is not is gone" $? "$tmp/log"
done
profile :interval=100k,live=on 8 memory "$words" 9 memory "$words" 10 memory "$words" &&
    has live "Memory.Small=800000 Memory.Big=0" && has old "Memory.Small 2"
check "8, 9 and 10 at once: the same" $? "$tmp/log"
profile :interval=100k,live=on 8 memory "keep:small=800000 keep:large=50 drop collect=2 sleep=300" &&
    has live "Memory.Small=0 System.Byte[]@1=0"
check "live: what is dropped later is gone" $? "$tmp/log"
profile :exact,interval=100k,live=on 10 memory "$words" && has live "Memory.Small=800000 Memory.Big=0"
check "live beside exact: the same" $? "$tmp/log"

# What is garbage when the program ends, or the session, is not alive, although nothing has collected it. What the program
# allocates after its last collection (a string or two while it waits, some lists of the runtime while it ends) may be
# sampled, and is then rightly not known to be alive: the tests look at the types of the app, which are kept and dropped.
unchecked() { # [TEXT]: how many lines of the report, of those with TEXT, say that something may be garbage
    "$sxsprof" report --data live "$tmp/s" 2>>"$tmp/log" | tee -a "$tmp/log" | grep 'may be garbage' | grep -c "${1-}"
}
for version in $versions; do
    profile :interval=100k,live=on "$version" memory "keep:small=400000 collect=2 drop:medium=100000" &&
        has live "Memory.Small=400000 Memory.Medium=0" && [ "$(unchecked '] Memory\.')" -eq 0 ]
    check "$version: live: what is garbage when the program ends is gone" $? "$tmp/log"
done

# The file has what was written until the end, however the process ends.
rm -rf "$tmp/s" "$tmp/ready"
"$sxsprof" run --quiet --tool alloc:interval=100k,live=on -o "$tmp/s" -- "$runsxs" 9 memory \
    "keep:small=800000 drop:big=50000 collect=2 collect=2 sleep=300 ready=$tmp/ready until=$tmp/never" >"$tmp/log" 2>&1 &
job=$!
wait_until test -e "$tmp/ready"
pkill -KILL -P $job
wait $job 2>>"$tmp/log"
has live "Memory.Small=800000 Memory.Big=0" && [ "$(unchecked '] Memory\.')" -eq 0 ]
check "live: the file is right when the process is killed" $? "$tmp/log"
rm -rf "$tmp/s" "$tmp/ready"
"$sxsprof" run --quiet --tool alloc:interval=100k,live=on -o "$tmp/s" -- "$runsxs" 8 memory \
    "keep:small=400000 collect=2 drop:medium=100000 ready=$tmp/ready until=$tmp/never" >"$tmp/log" 2>&1 &
job=$!
wait_until test -e "$tmp/ready"
pkill -KILL -P $job
wait $job 2>>"$tmp/log"
[ "$(unchecked)" -ge 2 ] && grep -q '^may be garbage, .* in ' "$tmp/log" && grep -q 'Memory.Medium  (100 % may be garbage)' "$tmp/log"
check "live: what was not collected when the process is killed may be garbage: the report says how much" $? "$tmp/log"

# ---- what goes wrong -----------------------------------------------------------------------------

for wrong in interval=1k interval=2g exact=1 live=maybe other; do
    "$sxsprof" run --tool "alloc:$wrong" -- true >"$tmp/log" 2>&1
    [ $? -eq 2 ] && grep -q "alloc: $wrong" "$tmp/log" || break
    wrong=
done
[ -z "$wrong" ]
check "wrong options are refused${wrong:+, but not $wrong}" $? "$tmp/log"

# Attached: samples are recorded from then on; exact counts cannot be had, and the program runs on.
clsid=$(sed -n 's/.*SXSPROF_CLSID "{\(.*\)}".*/\1/p' include/sxsprof.h)
attach() { # OPTIONS: attaches to an app that then allocates, and waits for its end
    rm -rf "$tmp/s" "$tmp/ready" "$tmp/until"
    SXSPROF_TOOLS="alloc:$1" SXSPROF_OUT=$tmp/s timeout -k 5 100 "$runsxs" --timeout 90 9 memory \
        "ready=$tmp/ready until=$tmp/until drop:large=4000" >"$tmp/log" 2>&1 &
    job=$!
    wait_until test -e "$tmp/ready"
    python3 tests/integration/attach.py "$(pgrep -P $job -x runsxs)" "$clsid" "$PWD/$BUILD/libsxsprof.so" >>"$tmp/log" 2>&1
    : >"$tmp/until"
    wait $job
}
attach interval=100k && has close "System.Byte[]=4000"
check "attached: what is allocated from then on is sampled" $? "$tmp/log"
says_biased 1
check "attached to 9: the report's first lines say that the objects are not chosen at random" $? "$tmp/report"
# A session that ends while the program runs collects, too.
rm -rf "$tmp/s" "$tmp/ready" "$tmp/until" "$tmp/done" "$tmp/end"
"$runsxs" --timeout 90 9 memory "ready=$tmp/ready until=$tmp/until drop:medium=100000 ready=$tmp/done until=$tmp/end" \
    >"$tmp/log" 2>&1 &
job=$!
wait_until test -e "$tmp/ready"
"$sxsprof" attach --tool alloc:interval=100k,live=on --duration 60s -o "$tmp/s" $job >>"$tmp/log" 2>&1 &
attacher=$!
wait_until grep -q '^sxsprof: recording in process' "$tmp/log" # the file of samples is there some time before
: >"$tmp/until"
wait_until test -e "$tmp/done"
"$sxsprof" detach $job >>"$tmp/log" 2>&1
wait $attacher
has live "Memory.Medium=0" && [ "$(unchecked '] Memory\.')" -eq 0 ]
check "live: what is garbage when a session is ended is gone" $? "$tmp/log"
: >"$tmp/end"
wait $job
attach exact && grep -q 'alloc: exact must be set when the program starts' "$tmp/log"
check "attached: exact is refused clearly, and the program runs" $? "$tmp/log"

# A runtime that reports every object does so for good.
detach() { # OPTIONS VERSION: starts an app with the tool, and detaches; the status is that of the detach
    rm -rf "$tmp/s" "$tmp/ready" "$tmp/until"
    "$sxsprof" run --quiet --tool "alloc:$1" -o "$tmp/s" -- "$runsxs" --timeout 90 "$2" memory \
        "ready=$tmp/ready until=$tmp/until drop:big=1000" >"$tmp/log" 2>&1 &
    job=$!
    wait_until test -e "$tmp/ready"
    "$sxsprof" detach "$(pgrep -P $job -x runsxs)" >"$tmp/detach" 2>&1
    detached=$?
    : >"$tmp/until"
    wait $job && return $detached
    echo "the program failed" >>"$tmp/detach"
}
for version in $versions; do
    case $version in 10*) options=exact ;; *) options=interval=100k ;; esac
    ! detach $options "$version" && ! grep -q 'the program failed' "$tmp/detach" &&
        grep -q 'the tool alloc has asked it at its start to report every object' "$tmp/detach"
    check "$version: alloc:$options: whoever detaches is told why that cannot be, and the program runs" $? "$tmp/detach"
    detach ticks "$version"
    check "$version: alloc:ticks: it can be detached" $? "$tmp/detach"
done

# Simulated runtimes: names are refused, modules are unloaded, there is no EventPipe.
profile :exact,live=on fake:8.0 '!modules 3; objects 1000; unload; objects 500; gc 2; objects 10' "" &&
    [ "$(python3 $costs show "$tmp/s" | grep -c '^total')" -ge 1 ]
check "simulated: objects are counted across an unload" $? "$tmp/log"
FAKECLR_FAIL=GetClassIDInfo2,GetModuleMetaData,IsArrayClass,GetObjectSize2,CreateHandle profile :exact,live=on \
    fake:9.0 '!modules 1; objects 1000; gc 2' "" && [ "$(python3 $costs show "$tmp/s" | grep -c '^total')" -ge 1 ]
check "simulated: a runtime that answers nothing does no harm" $? "$tmp/log"
profile :ticks fake:8.0 '!modules 1; objects 100' "" && grep -q 'alloc.*starts no EventPipe session' "$tmp/log"
check "simulated: without EventPipe the tool is off, in one line, and the program runs" $? "$tmp/log"
profile :ticks,live=on fake:6.0 '!modules 1; objects 100' "" && grep -q 'alloc.*.NET before 8 reports' "$tmp/log"
check "simulated: an older runtime is told clearly" $? "$tmp/log"
finish
