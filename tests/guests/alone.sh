#!/bin/sh
# SPDX-License-Identifier: MIT
# alone.sh - checks that profilers print the same directly in a runtime, alone after the library, all together on
# one runtime, and all together on three runtimes.
. "$(dirname "$0")/../integration/lib.sh"
. tests/guests/common.inc
need_real 3
[ -e "$BUILD/managed/profiled/profiled.dll" ] || skip_all "$0" "the managed apps are not built"

profilers="census gc objects threads inline old2 events pipes notify"
arguments() { case " $1 " in *" gc "*) echo force=1 ;; esac }
versions="8.0 9.0 $net10"

for version in $versions; do
    for name in $profilers; do
        PROF_OUT=$tmp/direct directly "$name" "$version" "$(arguments "$name")" >>"$tmp/log" 2>&1 ||
            not_ok "the program with $name directly in runtime $version" "$tmp/log"
    done
done

# compare FILE WHAT NAME...: the lines of each profiler and runtime that the file has
compare() {
    local file=$1 what=$2 name version same=0 n
    shift 2
    for name; do
        for version in $compared; do
            lines_of "$tmp/direct" "$name" "$version" >"$tmp/expected"
            lines_of "$file" "$name" "$version" >"$tmp/got"
            n=$(wc -l <"$tmp/expected")
            if [ "$n" -eq 0 ] || ! diff "$tmp/expected" "$tmp/got" >>"$tmp/diff"; then
                echo "$name on $version differs ($n lines expected)" >>"$tmp/diff"
                same=1
            fi
        done
    done
    check "$what: the same lines as directly" $same "$tmp/diff"
    : >"$tmp/diff"
}

compared=$net10
for name in $profilers; do
    PROF_OUT=$tmp/alone.$name as_guests "$name" -- $net10 profiled "$(arguments "$name")" >"$tmp/log" 2>&1
    check "the program with $name alone as a guest" $? "$tmp/log"
    compare "$tmp/alone.$name" "$name alone as a guest" "$name"
done
compared=$versions
for version in $versions; do
    PROF_OUT=$tmp/together.$version as_guests "$profilers" -- "$version" profiled force=1 >"$tmp/log" 2>&1
    check "the program with all guests on runtime $version" $? "$tmp/log"
    compared=$version
    # shellcheck disable=SC2086 # names are words
    compare "$tmp/together.$version" "all together on runtime $version" $profilers
done
compared=$versions
PROF_OUT=$tmp/three as_guests "$profilers" -- \
    8.0 profiled force=1 9.0 profiled force=1 $net10 profiled force=1 >"$tmp/log" 2>&1
check "the program with all guests on three runtimes" $? "$tmp/log"
# shellcheck disable=SC2086 # names are words
compare "$tmp/three" "all together on three runtimes" $profilers

# A profiler that has only the first ICorProfilerCallback: .NET does not load it, the library does.
PROF_OUT=$tmp/old1.direct directly old1 $net10 >"$tmp/log" 2>&1
[ ! -s "$tmp/old1.direct" ]
check "a runtime does not load a profiler with ICorProfilerCallback alone" $? "$tmp/old1.direct"
PROF_OUT=$tmp/old1 as_guests old1 -- $net10 profiled "" >"$tmp/log" 2>&1
grep -q "^old1 $net10 ExceptionThrown 10\$" "$tmp/old1" && grep -q "^old1 $net10 HandleCreated no\$" "$tmp/old1"
check "as a guest it gets the events of ICorProfilerCallback, and no others" $? "$tmp/old1"

# Beside the tools of the library. The instrumented method is one that the census does not count: a method that is
# recompiled before its first call raises ReJITCompilationStarted instead of JITCompilationStarted, for all guests.
cat >"$tmp/rules.xml" <<'RULES'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="profiled" type="*Threads" method="Body"/><count/></rule>
</instrumentation>
RULES
for tool in sample calls instrument; do
    what="five guests beside --tool $tool"
    rules=
    [ $tool = instrument ] && rules=$tmp/rules.xml
    PROF_OUT=$tmp/beside.$tool SXSPROF_INSTRUMENT=$rules as_guests "census objects threads events pipes" "--tool=$tool" -- \
        $net10 profiled "" >"$tmp/log" 2>&1
    check "the program with $what" $? "$tmp/log"
    compared=$net10
    compare "$tmp/beside.$tool" "$what" census objects threads events pipes
done

# Sixteen guests on four runtimes. A library is loaded once, so each guest needs a file of its own.
list=
for i in $(seq 16); do
    cp "$(library_of objects)" "$tmp/libobjects$i.so"
    list="$list${list:+;}$(id_of objects)=$tmp/libobjects$i.so,env=PROF_OUT=$tmp/many.$i"
done
rm -rf "$tmp/session"
SXSPROF_GUESTS=$list "$sxsprof" run --quiet -o "$tmp/session" -- "$runsxs" --timeout 120 \
    8.0 profiled "" 9.0 profiled "" $net10 profiled "" $net10 profiled "" >"$tmp/log" 2>&1
check "the program with sixteen guests on four runtimes" $? "$tmp/log"
right=0
for i in $(seq 16); do
    [ "$(grep -c ' Profiled.Thing 100$' "$tmp/many.$i")" -eq 4 ] || { right=1; echo "guest $i" >>"$tmp/diff"; }
done
check "each of sixteen guests counts the objects of all four runtimes" $right "$tmp/diff"
finish
