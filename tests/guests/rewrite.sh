# SPDX-License-Identifier: MIT
# rewrite.sh - profilers that rewrite the same methods, with SetILFunctionBody and with ReJIT: each directly
# under a real runtime, alone as a guest, both together, and beside the tool instrument, on three runtimes.
# Each profiler appends its digit to the result of a method, so the results show who has rewritten it, in which
# order.
. "$(dirname "$0")/../integration/lib.sh"
need_real 3
[ -e "$BUILD/managed/rewritten/rewritten.dll" ] || skip_all "$0" "the app rewritten is not built"
here=$(pwd)
case $BUILD in /*) lib=$BUILD/guests ;; *) lib=$here/$BUILD/guests ;; esac
one='{5E5C000A-0000-4000-8000-0000000E7117}' two='{5E5C000B-0000-4000-8000-0000000E7217}'
off='{5E5C000C-0000-4000-8000-0000000E7317}'
libraries="one=$lib/librewrite_one.so two=$lib/librewrite_two.so off=$lib/librewrite_off.so"

id() { eval "echo \"\$$1\""; }
# directly NAME OUT STEPS...: run each runtime in a process of its own, with the profiler NAME
directly() {
    local name=$1 out=$2 v; shift 2
    rm -f "$tmp/$out.said"; : >"$tmp/$out.all"
    for v in $versions; do
        PROF_OUT=$tmp/$out.said CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER=$(id "$name") \
            CORECLR_PROFILER_PATH=$lib/librewrite_$name.so timeout -k 5 120 "$runsxs" --timeout 100 \
            "$v" rewritten "$libraries $*" >>"$tmp/$out.all" 2>&1 || return
    done
    lines "$out"
}
# guests NAMES OUT STEPS...: run all runtimes in one process, with the profilers NAMES as guests; options of a guest
# follow its name, after a comma
guests() {
    local names=$1 out=$2 list='' n v; shift 2
    rm -rf "$tmp/$out.said" "$tmp/session"
    for n in $names; do list="$list${list:+;}$(id "${n%%,*}")=$lib/librewrite_${n%%,*}.so${n#"${n%%,*}"}"; done
    local steps="$libraries $*"
    set --
    for v in $versions; do set -- "$@" "$v" rewritten "$steps"; done
    PROF_OUT=$tmp/$out.said SXSPROF_GUESTS=$list timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/session" -- "$runsxs" \
        --timeout 100 "$@" >"$tmp/$out.all" 2>&1 || return
    lines "$out"
}
# lines OUT: what the app printed, by runtime, to $tmp/OUT.app; what the profilers printed to $tmp/OUT.prof. At the
# end of the process a runtime does not release its profiler, the manager releases its guests.
lines() {
    local v
    : >"$tmp/$1.app"
    for v in $versions; do grep "^rewritten $v:" "$tmp/$1.all" >>"$tmp/$1.app"; done
    grep -v ' released$' "$tmp/$1.said" 2>/dev/null | sort >"$tmp/$1.prof"
    true
}
same() { # OUT OUT: succeed when the two runs printed the same
    diff "$tmp/$1.app" "$tmp/$2.app" >"$tmp/diff" && diff "$tmp/$1.prof" "$tmp/$2.prof" >>"$tmp/diff" &&
        [ -s "$tmp/$1.app" ] && [ -s "$tmp/$1.prof" ]
}
# values OUT NAME: the values of the method NAME that each runtime showed, in one line, if all are equal
values() {
    local v all='' this
    for v in $versions; do
        this=$(sed -n "s/^rewritten $v: Value/Value/p" "$tmp/$1.app" | sed "s/.*$2 \\([0-9]*\\).*/\\1/" | tr '\n' ' ')
        [ -z "$all" ] || [ "$all" = "$this" ] || { echo "runtimes differ: $all/ $this"; return; }
        all=$this
    done
    echo "${all% }"
}
# shows CLAIM OUT METHOD VALUES
shows() {
    local got
    got=$(values "$2" "$3")
    [ "$got" = "$4" ]
    check "$1: $4" $? "$tmp/$2.all"
    [ "$got" = "$4" ] || echo "# got $got"
}
# count OUT PROFILER EVENT: how often each runtime called it, in one line
count() {
    sed -n "s/^$(id "$2" | cut -c26-) [0-9.]* $3 \\([0-9]*\\)\$/\\1/p" "$tmp/$1.prof" | tr '\n' ' ' | sed 's/ $//'
}
is_count() { # CLAIM OUT PROFILER EVENT N
    [ "$(count "$2" "$3" "$4")" = "$5 $5 $5" ]
    check "$1" $? "$tmp/$2.prof"
}

# ---- alone --------------------------------------------------------------------------------------
alone='N.set.Other show N.rejit.Value show N.rejit.Value show N.revert.Value show N.revert.Value
N.rejit.Generic show N.inliners.Inner show N.revert.Inner show N.rejit.Other show N.revert.Other show
N.wrong.Value N.rejit.Value show N.revert.Value N.fail.Value N.rejit.Value show show N.rejit.Value show
N.keep.Value N.rejit.Value show N.late.Value show show N.revert.Value show
N.flags.Outer N.rejit.Outer show N.detach.Value N.disable.Value N.detach.Value N.rejit.Other'
for n in one two; do
    steps=$(echo "$alone" | sed "s/N\\./$n./g" | tr '\n' ' ')
    # shellcheck disable=SC2086 # steps are words
    directly "$n" "direct_$n" $steps
    check "profiler $n runs directly" $? "$tmp/direct_$n.all"
    # shellcheck disable=SC2086
    guests "$n" "guest_$n" $steps && same "direct_$n" "guest_$n"
    check "profiler $n prints the same as a guest: IL, ReJIT, inliners, reverts, wrong arguments, failures" $? "$tmp/diff"
done
directly off direct_off off.rejit.Value off.inliners.Value off.revert.Value off.wrong.Value show
guests 'one off' guest_off off.rejit.Value off.inliners.Value off.revert.Value off.wrong.Value show
grep -v "^$(id one | cut -c26-)" "$tmp/guest_off.prof" >"$tmp/off" && mv "$tmp/off" "$tmp/guest_off.prof"
same direct_off guest_off && grep -q 'off.rejit.Value 8013137c' "$tmp/guest_off.app"
check "a guest without COR_PRF_ENABLE_REJIT is refused as directly, beside one that has it" $? "$tmp/diff"

# ---- both, before compilation -------------------------------------------------------------------
guests 'one two' both_set one.set.Value two.set.Value two.set.Other one.set.Other show
shows "two guests set IL: each builds on the one before" both_set Value 12
shows "the order is the guests', not that of the requests" both_set Other 12
guests 'two one' both_turned one.set.Value two.set.Value show
shows "the other way round" both_turned Value 21
guests 'one two' both_put two.put.Value one.put.Value show
shows "IL that is set outside of callbacks is built on in the order of the calls" both_put Value 21
guests 'one two' set_rejit one.set.Value show two.rejit.Value show two.revert.Value show
shows "ReJIT builds on IL that another guest has set" set_rejit Value '1 12 1'

# ---- requested before the first compilation -----------------------------------------------------
early='two,env=PROF_REJIT=Value'
# compiled CLAIM OUT PROFILER METHOD N: each runtime has reported N compilations of the method, begun and ended
compiled() {
    local got
    got=$(sed -n "s/^$(id "$3" | cut -c26-) [0-9.]* compiled $4 //p" "$tmp/$2.prof" | tr '\n' ' ')
    [ "$got" = "$5 $5 $5 $5 $5 $5 " ]
    check "$1: $5" $? "$tmp/$2.prof"
}
guests "one $early" early1 one.set.Value show
shows "IL that a guest sets in JITCompilationStarted of a method that another one has requested in ModuleLoadFinished" \
    early1 Value 12
compiled "that guest gets JITCompilationStarted and JITCompilationFinished" early1 one Value 1
compiled "the guest that has requested the method gets none, as directly" early1 two Value 0
is_count "but ReJITCompilationStarted" early1 two ReJITCompilationStarted 1
is_count "which the other one does not get" early1 one ReJITCompilationStarted 0
guests "$early one" early2 one.set.Value show two.revert.Value show two.rejit.Value show
shows "likewise when the guest that requests is the first one" early2 Value '12 1 12'
compiled "a guest gets no second compilation when the original is compiled after a revert" early2 one Value 1
compiled "the guest that has reverted gets it, as directly" early2 two Value 1
guests 'one two' early3 one.set.Value two.nothing.Value two.rejit.Value show
shows "IL that a guest sets is used when the one that has requested the method sets none" early3 Value 1
guests 'one two' early4 one.set.Value two.fail.Value two.rejit.Value show two.rejit.Value show
shows "and when that one fails" early4 Value '1 12'
compiled "the first compilation is reported once then, too" early4 one Value 1
guests 'one two' early5 one.set.Generic two.rejit.Generic show two.revert.Generic show
# The profiler sets IL for each of the two instances of the method, which share it.
shows "a generic method: IL of the guest that requests is used, after its revert the other's" early5 \
    'Generic [0-9]*' '2 11'
compiled "each instance is reported once" early5 one Generic 2
guests 'one two' early6 show two.rejit.Value one.set.Value show
compiled "a method that was compiled before is not reported again" early6 one Value 1

# ---- both, with ReJIT ---------------------------------------------------------------------------
guests 'one two' order1 show one.rejit.Value show two.rejit.Value show one.revert.Value show two.revert.Value show \
    two.rejit.Value show one.rejit.Value show two.revert.Value show one.revert.Value show
shows "requests and reverts in every order" order1 Value '0 1 12 2 0 2 12 1 0'
guests 'one two' order2 one.rejit.Value two.rejit.Value show two.revert.Value one.revert.Value show \
    one.rejit.Value show two.rejit.Value two.revert.Value show two.rejit.Value one.revert.Value show \
    one.rejit.Value show one.rejit.Value show
shows "requests and reverts before the method is compiled again" order2 Value '12 0 1 1 2 12 12'
guests 'one two' asked one.rejit.Value show two.rejit.Value show two.rejit.Value show two.revert.Value show
is_count "a guest is not asked again for what another one requests" asked one GetReJITParameters 1
is_count "a guest is asked again for what it requests" asked two GetReJITParameters 2
is_count "a guest gets no compilation that another one has requested" asked one ReJITCompilationStarted 1
guests 'one two' asked2 two.rejit.Value show one.rejit.Value show one.revert.Value show
shows "a guest whose input changes is asked again" asked2 Value '2 12 2'
is_count "each time that it changes" asked2 two GetReJITParameters 3
guests 'one two' flags one.flags.Outer one.rejit.Outer two.rejit.Outer show
shows "the codegen flags of one guest and the body of another one" flags Outer 2
compiled "the flag is in force: the callee is not inlined, so it is compiled" flags one Inner 1
guests 'one two' plain one.nothing.Outer one.rejit.Outer two.rejit.Outer show
compiled "without the flag the callee is inlined" plain one Inner 0
guests 'one,env=PROF_MAP=7:4 two,env=PROF_MAP=4:0' maps one.mapped.Value one.rejit.Value show two.mapped.Value \
    two.rejit.Value show two.offsets.Value one.revert.Value show two.offsets.Value
[ "$(sed -n "s/.* offsets of [^0]: 00000000 -2 \([0-9]*\) -3$/\1/p" "$tmp/maps.said" | sort | uniq -c | tr -s ' \n' ' ')" = ' 3 4 6 7 ' ]
check "the runtimes have the maps of two guests as one, and the second one's after the revert of the first" $? "$tmp/maps.said"
guests 'one two' generic one.rejit.Generic show two.rejit.Generic show one.revert.Generic show
shows "a generic method" generic 'Generic [0-9]*' '1 12 2'
guests 'one two' inliner show one.rejit.Outer show two.inliners.Inner show two.revert.Inner show
shows "a method that inlines what another guest requests keeps its own IL" inliner Outer '0 1 21 1'
guests 'one two' fails one.rejit.Value two.fail.Value two.rejit.Value show two.rejit.Value show one.fail.Value \
    one.rejit.Value show
shows "a guest that fails in GetReJITParameters leaves the others" fails Value '1 12 2'
is_count "and gets the error" fails two ReJITError 1
is_count "and the other one its own" fails one ReJITError 1
guests 'one two' others one.rejit.Value show two.revert.Value show two.wrong.Value one.revert.Value show
shows "a revert of what a guest has not requested reverts nothing" others Value '1 1 0'
is_count "wrong requests are no errors of other guests" others one ReJITError 0
# shellcheck disable=SC2086
guests 'one two' both_alone $(echo "$alone" | sed 's/N\./two./g' | tr '\n' ' ')
grep -v "^$(id one | cut -c26-)" "$tmp/both_alone.prof" >"$tmp/two" && mv "$tmp/two" "$tmp/both_alone.prof"
same direct_two both_alone
check "a guest beside an idle one prints the same as directly" $? "$tmp/diff"

# Every order of the requests and reverts of two guests. orders PREFIX DIGITS EACH: print the steps, then the values:
# PREFIX, and the digits of the guests that want the method at that time, in their order. EACH 1: the method is called
# after each step, else after four.
orders() {
    python3 - "$@" <<'E'
import itertools, sys
prefix, digits, each = sys.argv[1], sys.argv[2], sys.argv[3] == '1'
names = {'1': 'one', '2': 'two'}
steps, values = [], []
def show(wanted):
    steps.append('show')
    values.append(str(int(prefix + ''.join(d for d in digits if d in wanted) or '0')))
for order in itertools.permutations([(d, c) for d in digits for c in ('rejit', 'revert')]):
    wanted = set()
    for d, c in order:
        steps.append('%s.%s.Value' % (names[d], c))
        (wanted.add if c == 'rejit' else wanted.discard)(d)
        if each:
            show(wanted)
    if not each:
        show(wanted)
    steps += ['%s.revert.Value' % names[d] for d in digits]
print(' '.join(steps))
print(' '.join(values))
E
}
every_order() { # CLAIM NAMES PREFIX DIGITS
    local each steps when status
    for each in 1 0; do
        when="each step"
        [ $each = 1 ] || when="four steps"
        orders "$3" "$4" $each >"$tmp/orders"
        steps=$(head -n 1 "$tmp/orders")
        # shellcheck disable=SC2086 # steps are words
        guests "$2" every $steps && [ "$(values every Value)" = "$(tail -n 1 "$tmp/orders")" ]
        status=$?
        check "$1, called after $when" $status "$tmp/every.app"
    done
}
every_order "24 orders of requests and reverts" 'one two' '' 12
every_order "24 orders, the guests the other way round" 'two one' '' 21
# Requests and reverts on several threads at once, while the method is called. What it returns meanwhile is not
# determined; afterwards the requests that are in force must be.
storm='one.storm.Value two.storm.Value show show show show show show show show show show show show one.calm.Value
two.calm.Value show one.rejit.Value two.rejit.Value show one.revert.Value show two.revert.Value show'
after_storm() { # CLAIM OUT VALUES
    local v all=''
    for v in $versions; do
        all="$all$(sed -n "s/^rewritten $v: Value \([0-9]*\) .*/\1/p" "$tmp/$2.app" | tail -n 4 | tr '\n' ' '), "
    done
    [ "$all" = "$3 , $3 , $3 , " ] && ! grep -q 'storm failed' "$tmp/$2.prof"
    check "$1: $3" $? "$tmp/$2.all"
}
# shellcheck disable=SC2086 # steps are words
guests 'one two' storm show $storm
after_storm "requests and reverts of two guests on four threads" storm '0 12 2 0'
is_count "without errors" storm one ReJITError 0

# ---- beside the tool instrument -----------------------------------------------------------------
rules() { # NAME [RULE]
    echo '<?xml version="1.0"?>' >"$tmp/$1"
    echo "<instrumentation xmlns=\"urn:sxsprof:instrumentation:1\">${2:-}</instrumentation>" >>"$tmp/$1"
}
seven='<rule><match assembly="rewritten" type="Rewritten.Work" method="Value"/><inject at="entry">
ldarg.0
ldc.i4.s 7
add
starg.s 0
</inject></rule>'
rules instrument.xml "$seven"
SXSPROF_INSTRUMENT=$tmp/instrument.xml
export SXSPROF_INSTRUMENT
guests 'one two' rules1 show one.rejit.Value show two.rejit.Value show one.revert.Value show two.revert.Value show \
    two.rejit.Value one.rejit.Value show
shows "guests build on the IL of the tool instrument, and reverts of guests keep it" rules1 Value '7 71 712 72 7 712'
guests 'one two' rules2 one.put.Value two.put.Value show two.rejit.Value show two.revert.Value show
shows "IL that guests set before the compilation is kept by the tool instrument" rules2 Value '712 7122 712'
guests 'one two' rules4 one.set.Value two.set.Value show one.rejit.Value show one.revert.Value show
shows "IL that guests set in JITCompilationStarted is kept by the tool instrument" rules4 Value '712 7121 712'
compiled "each gets JITCompilationStarted and JITCompilationFinished" rules4 one Value 1
guests "one $early" rules5 one.set.Value show two.revert.Value show
shows "likewise beside a guest that requests in ModuleLoadFinished" rules5 Value '712 71'
every_order "24 orders beside the tool instrument" 'one two' 7 12
# shellcheck disable=SC2086 # steps are words
guests 'one two' storm2 $storm
after_storm "requests on four threads beside the tool instrument" storm2 '7 712 72 7'

# The rules change while the app runs, so each runtime has a process and files of its own.
whole=$versions
for versions in $whole; do
    rules instrument.xml
    rules with1 "$seven"; rules with2 "$seven"; rules without1; rules without2
    target=$tmp/instrument.xml
    guests 'one two' rules3 show one.rejit.Value "move:$tmp/with1:$target" until:71 show two.rejit.Value show \
        "move:$tmp/without1:$target" until:12 show one.revert.Value show "move:$tmp/with2:$target" until:72 show \
        two.revert.Value show "move:$tmp/without2:$target" until:0 show
    shows "$versions: rules come and go between the requests of guests" rules3 Value '0 71 712 12 2 72 7 0'
done

finish
