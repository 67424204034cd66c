#!/bin/bash
# SPDX-License-Identifier: MIT
# losses.sh - checks that sxsprof keeps sessions, and reports every request that had no effect.
# A message names a replaced profiler, and a --pick that matched no runtime.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
for kind in samples instrument; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_$kind.c -o "$T/make_$kind" || exit 1
done
mkdir "$T/here" && cd "$T/here" || exit 1
cat >"$T/rules.xml" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="one"><match type="A" method="B"/><count/></rule>
</instrumentation>
X
record='"$0" "$SXSPROF_OUT" $$ runtime=1,8.0.29,2,1,1,1,1,1,1 runtime=2,9.0.18,2,1,1,1,1,1,1'

# --- run --instrument FILE without -o
cat >"$T/instrumented" <<'SH'
#!/bin/sh
"$1/make_instrument" "$SXSPROF_OUT" >/dev/null
"$1/make_census" "$SXSPROF_OUT" 4242 runtime=1,8.0.29,1,1,1,1,1,1,1 runtime=2,9.0.18,1,1,1,1,1,1,1
echo $$
SH
chmod +x "$T/instrumented"
for how in "run --instrument $T/rules.xml" "instrument $T/rules.xml" "env SXSPROF_INSTRUMENT=$T/rules.xml $SXS run"; do
    rm -rf sxsprof-*
    # shellcheck disable=SC2086
    case $how in
    env*) try $how -- "$T/instrumented" "$T" ;;
    *) try "$SXS" $how -- "$T/instrumented" "$T" ;;
    esac
    is "${how%% *}: instrumented methods are recorded in ./sxsprof-PID" "sxsprof-$out" "$(ls)"
    has "${how%% *}: the summary is shown at the end, with the command that shows all" "$err" \
        "The session is kept in sxsprof-$out; for all of it:" "sxsprof report sxsprof-$out"
    has "${how%% *}: the session has the instrumented methods" "$("$SXS" report 2>/dev/null)" "instrumented"
done
rm -rf sxsprof-*
try "$SXS" run --quiet --instrument "$T/rules.xml" -- "$T/instrumented" "$T"
is "--quiet keeps instrumented methods without a message" "0::1" "$status:$err:$(ls -d sxsprof-* | wc -l)"
rm -rf sxsprof-*

# --- --quiet --tool sample
try "$SXS" run --quiet --tool sample -- sh -c '"$0" "$SXSPROF_OUT" known 4242 >/dev/null' "$T/make_samples"
is "--quiet keeps samples without a message" "0:::1" "$status:$out:$err:$(ls -d sxsprof-* | wc -l)"
has "the samples can be reported" "$("$SXS" report 2>/dev/null)" "App.Hot.Spin"
rm -rf sxsprof-*

# --- what a run says at its end
for named in "" "-o named"; do
    rm -rf named
    # shellcheck disable=SC2086
    try "$SXS" run --tool sample $named -- sh -c '"$1" "$SXSPROF_OUT" known 4242 >/dev/null; "$0" "$SXSPROF_OUT" 4242 runtime=1,8.0.29,1,1,1,1,1,1,1' \
        "$CENSUS" "$T/make_samples"
    rows=$(sed -n '/^top functions by self/,/^$/p' "$T/err" | grep -c '%.*%')
    is "run $named: the end has the first functions: three if the session has a name, else up to ten" \
        "$([ "$named" ] && echo 3 || echo 9)" "$rows"
    has "run $named: the end says where the session is, and the next command" "$err" "The session is kept in " "sxsprof report --format html -o flame.html "
    lacks "run $named: one runtime as expected has no table of counters at the end" "$err" "picked"
done
has "the report has the table" "$("$SXS" report named 2>/dev/null)" "picked"
rm -rf sxsprof-* named

# --- --pick that matches nothing
for quiet in "" --quiet; do
    # shellcheck disable=SC2086
    try "$SXS" run $quiet --pick one:7 -- sh -c "$record; exit 3" "$CENSUS"
    is "--pick one:7 $quiet: one line says that no runtime was picked, and lists the loaded runtimes" \
        "sxsprof: --pick one:7: no runtime was picked; loaded were 8.0.29, 9.0.18" "$(tail -n 1 "$T/err")"
    is "--pick one:7 $quiet: the message appears once, and the exit status is that of the command" "3:1" \
        "$status:$(grep -c 'no runtime was picked' "$T/err")"
done
SXSPROF_PICK=one:7 try "$SXS" run --quiet -- sh -c "$record" "$CENSUS"
has "SXSPROF_PICK=one:7: the same message" "$err" "--pick one:7: no runtime was picked"
try "$SXS" run --pick one:8 -- sh -c '"$0" "$SXSPROF_OUT" $$ runtime=1,8.0.29,1,1,1,1,1,1,1 runtime=2,9.0,2,1,1,1,1,1,1' "$CENSUS"
lacks "a runtime was picked: no message" "$err" "no runtime was picked"
try "$SXS" run --pick one:7 -- true
is "no runtime at all: the message says that no runtime loaded the library" "sxsprof: no runtime loaded the library; sxsprof doctor -- COMMAND tells why" "$err"

# --- another profiler
other='{846F5F1C-F9AE-4B07-969E-05C26BC060D8}' ours='{6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31}'
CORECLR_PROFILER=$other CORECLR_PROFILER_PATH=/opt/apm.so try "$SXS" run --quiet -- true
is "another profiler is set: one line says that it is replaced" \
    "sxsprof: CORECLR_PROFILER: the profiler $other (/opt/apm.so) is replaced for this command, which runs without it; --adopt runs both" "$err"
CORECLR_PROFILER=$other CORECLR_PROFILER_PATH=/opt/a.so CORECLR_PROFILER_PATH_64=/opt/b.so try "$SXS" run --quiet -- true
has "the message names the library that a runtime would load" "$err" "(/opt/b.so)"
CORECLR_PROFILER=${ours,,} try "$SXS" run --quiet -- true
is "this profiler is set: no message" "" "$err"
finish
