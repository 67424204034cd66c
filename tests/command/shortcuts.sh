#!/bin/bash
# SPDX-License-Identifier: MIT
# shortcuts.sh - checks that sample, calls, trace, alloc, native, locks, wait, exceptions, events and instrument set what "run --tool"
# sets.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
cd "$T" || exit 1
cat >rules.xml <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="one"><match type="A" method="B"/><count/></rule>
</instrumentation>
X

# settings ARGUMENT...: prints the SXSPROF_ variables of the command, without the session folder.
settings() { "$SXS" "$@" -- env 2>&1 | grep '^SXSPROF_' | grep -v '^SXSPROF_OUT=' | sort; }

# same CLAIM "VERB OPTION..." "ARGUMENTS OF RUN...": both commands set the same variables.
same() {
    local a b got want
    read -ra a <<<"$2"
    read -ra b <<<"$3"
    got=$(settings "${a[@]}" --quiet)
    want=$(settings run "${b[@]}" --quiet)
    [ -n "$want" ] || not_ok "$1: run sets variables"
    is "$1: $2" "$want" "$got"
}
same "sample" "sample" "--tool sample"
same "rate" "sample --rate 997" "--tool sample:rate=997"
same "wall" "sample --wall --rate=99" "--tool sample:wall,rate=99"
same "walker and tiers" "sample --walker unwind --tiers off" "--tool sample:walker=unwind,tiers=off"
same "calls" "calls" "--tool calls"
same "mode" "calls --mode time --inline on" "--tool calls:mode=time,inline=on"
same "backoff" "calls --backoff 1000/50 --await logical" "--tool calls:backoff=1000/50,await=logical"
same "functions" "calls --only a:b* --only 8/c:d --not a:bx" "--tool calls --only a:b* --only 8/c:d --not a:bx"
same "trace is calls --mode trace" "trace" "--tool calls:mode=trace"
same "size of a trace" "trace --trace-size 9 --only a:b" "--tool calls:mode=trace,trace=9 --only a:b"
same "alloc" "alloc --interval 1m --live on" "--tool alloc:interval=1m,live=on"
same "exact" "alloc --exact" "--tool alloc:exact"
same "native" "native --interval 64k" "--tool native:interval=64k"
same "locks" "locks --owners off --pool off" "--tool locks:owners=off,pool=off"
same "wait" "wait --rate 50" "--tool wait:rate=50"
same "exceptions" "exceptions" "--tool exceptions"
same "events" "events --classes" "--tool events:classes"
same "instrument" "instrument rules.xml" "--tool instrument --instrument rules.xml"
same "options of instrument" "instrument --precompiled off --trace-size 5 --trace-rate 7 rules.xml" \
    "--tool instrument:precompiled=off,traced=5,rate=7 --instrument rules.xml"
same "options of run" "sample --pick one:8 --unpicked cancel --signals off --tool events" \
    "--pick one:8 --unpicked cancel --signals off --tool sample --tool events"
is "no session folder is left" "" "$(find . -name 'sxsprof-[0-9]*')"

try "$SXS" sample -o "$T/kept" --no-preload printenv SXSPROF_OUT LD_PRELOAD
is "a verb with -o and --no-preload, and without --" "$T/kept" "$out"
try "$SXS" instrument rules.xml --quiet -o "$T/kept2" sh -c 'echo "$1 $SXSPROF_INSTRUMENT"' name --quiet
is "instrument takes its rules; later arguments belong to the command" "0:--quiet $T/rules.xml" "$status:$out"

# The text after --tool also takes keys for which no verb has an option.
for text in sample:wall=99 sample:cpu=99 sample:cpu,rate=5 calls:trace=3 calls:trace calls:tree events:tiers=off; do
    try "$SXS" run --quiet --tool $text -- printenv SXSPROF_TOOLS
    is "the mini-language accepts and keeps $text" "$text" "$out"
done

# Options that bring a tool add it to those of the environment.
while IFS='|' read -r options tools; do
    # shellcheck disable=SC2086
    SXSPROF_TOOLS="sample;events" try "$SXS" run --quiet $options -- printenv SXSPROF_TOOLS
    is "$options: the tools of the environment stay" "$tools" "$out"
done <<'OPTIONS'
--heap-at-exit|sample;events;heap:at-exit
--only *:App.*|sample;events;calls
--values *:App.*|sample;events;calls:trace
--tool census --heap-at-exit|census;heap:at-exit
OPTIONS

# refused CLAIM "PART|PART" ARGUMENT...: status 2, a message with every part, and no command is started.
refused() {
    local claim=$1 parts
    IFS='|' read -ra parts <<<"$2"
    shift 2
    try "$SXS" "$@" -- touch "$T/started"
    is "$claim: exit status 2" 2 "$status"
    has "$claim: the message says what was expected" "$err" "${parts[@]}"
    [ ! -e "$T/started" ] && ok "$claim: nothing was started" || not_ok "$claim: nothing was started"
}
refused "a rate of 0" "sxsprof sample: --rate: '0': expected a rate from 1 to 10000 Hz" sample --rate 0
refused "a rate that is not a number" "--rate: 'fast': expected a rate" sample --rate fast
refused "an unknown walker" "--walker: 'best': expected fast, unwind or snapshot" sample --walker best
refused "an unknown mode" "--mode: 'all': expected count, time, tree or trace" calls --mode all
refused "a mode with text after it" "--mode: 'trace,inline=on': expected count" calls --mode trace,inline=on
refused "half a backoff" "--backoff: '5': expected CALLS-PER-SECOND/NANOSECONDS" calls --backoff 5
refused "a wrong pattern" "--only: 'x': 'x' is no pattern|expected [VERSION/]ASSEMBLY:NAME" calls --only x
refused "an option of another verb" "--rate" calls --rate 5
refused "--mode with trace" "--mode" trace --mode count
refused "instrument without rules" "RULES is missing" instrument
refused "a missing file of rules" "sxsprof instrument: RULES: none.xml: No such file" instrument none.xml
refused "cpu=0 in the mini-language" "--tool: sample: cpu=0: expected a rate from 1 to 10000 Hz" run --tool sample:cpu=0
refused "tiers=maybe in the mini-language" "events: tiers=maybe: expected on or off" run --tool events:tiers=maybe
refused "an unknown key" "calls: fast: no option of the tool calls; expected count, time, tree, trace[=MB]" \
    run --tool calls:fast
try "$SXS" sample
has "a missing command" "$status:$err" "2:" "sxsprof sample: COMMAND is missing"
finish
