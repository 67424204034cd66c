#!/bin/bash
# SPDX-License-Identifier: MIT
# methods.sh - checks how the command reads and checks plug-ins of the CLR Instrumentation Engine: --method,
# SXSPROF_METHODS, CLRIE's variables, env and doctor. No runtime is needed.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
unset "${!MicrosoftInstrumentationEngine_@}"
cd "$T" || exit 1
mkdir lib
id='{D2959618-F9B6-4CB6-80CF-F3B0E3263888}'
echo 'int DllGetClassObject(void); int DllGetClassObject(void) { return 0; }' | $CC -shared -fPIC -x c - -o lib/libone.so &&
    echo 'int nothing;' | $CC -shared -fPIC -x c - -o lib/libnone.so || exit 1

# config FILE MODULE [MORE [CLASS]]: writes a configuration file
config() {
    cat >"$1" <<XML
<InstrumentationEngineConfiguration>
  <InstrumentationMethod>
    <Name>One</Name>
    <Description>A plug-in</Description>
    <Module>$2</Module>
    <ClassGuid>${4-$id}</ClassGuid>
  </InstrumentationMethod>
  ${3-}
</InstrumentationEngineConfiguration>
XML
}
config lib/one.xml libone.so
config lib/two.xml libone.so '' '{D2959618-F9B6-4CB6-80CF-F3B0E3263889}'
config lib/missing.xml libno.so
config lib/none.xml libnone.so
config lib/unknown.xml libone.so '<InstrumentationMethod32/>'
config lib/class.xml libone.so '' 'D2959618'
config 'lib/a:b.xml' libone.so
echo '<InstrumentationEngineConfiguration/>' >lib/empty.xml
echo '<guests/>' >lib/guests.xml
echo '<InstrumentationEngineConfiguration>' >lib/cut.xml

# refused CLAIM "PART|PART" ARGUMENT...: status 2, the message has the parts, and the command is not started
refused() {
    local claim=$1 parts
    IFS='|' read -ra parts <<<"$2"
    shift 2
    rm -f started
    try "$SXS" "$@" -- touch "$T/started"
    is "$claim: exit status 2" 2 "$status"
    has "$claim: the message says what is wrong and expected" "$err" "${parts[@]}"
    [ ! -e started ] && ok "$claim: nothing was started" || not_ok "$claim: nothing was started"
}
# methods ARGUMENT...: the value of SXSPROF_METHODS that sxsprof env prints
methods() { "$SXS" env --no-preload "$@" 2>/dev/null | sed -n "s/^export SXSPROF_METHODS=//p"; }

refused "a missing file" "--method|lib/no.xml: No such file|expected a configuration file" run --method lib/no.xml
refused "a file of another kind" "$T/lib/guests.xml:1:1: <guests>|expected <InstrumentationEngineConfiguration>" \
    run --method lib/guests.xml
refused "a file that is cut" "lib/cut.xml:|expected well-formed XML" run --method lib/cut.xml
refused "a file without plug-ins" "lib/empty.xml: no plug-in|expected <InstrumentationMethod>" run --method lib/empty.xml
refused "an unknown element" "lib/unknown.xml:8:3: <InstrumentationMethod32>|expected <InstrumentationMethod> or" \
    run --method lib/unknown.xml
refused "a class without braces" "lib/class.xml:2:3: <ClassGuid>D2959618|expected a class ID in braces" \
    run --method lib/class.xml
refused "a missing library" "lib/missing.xml:2: <Module>: $T/lib/libno.so: No such file|expected the library of a plug-in" \
    run --method lib/missing.xml
refused "a library that is no plug-in" "lib/none.xml:2: |exports no DllGetClassObject" sample --method lib/none.xml
refused "a path with a colon" "a:b.xml: ':' separates files" run --method 'lib/a:b.xml'
refused "a second file that is wrong" "lib/class.xml:2:3" run --method lib/one.xml --method lib/class.xml
SXSPROF_METHODS="$T/lib/one.xml:$T/lib/missing.xml" refused "a wrong SXSPROF_METHODS" \
    "SXSPROF_METHODS|lib/missing.xml:2|libno.so" run
SXSPROF_METHODS="$T/lib/no.xml" refused "a missing file in SXSPROF_METHODS" "lib/no.xml: No such file" run

is "a path becomes absolute" "$T/lib/one.xml" "$(methods --method lib/one.xml)"
ln -s one.xml lib/link.xml
is "a link is resolved, since Module is beside the file" "$T/lib/one.xml" "$(methods --method lib/link.xml)"
is "several files" "$T/lib/one.xml:$T/lib/two.xml" "$(methods --method lib/one.xml --method=lib/two.xml)"
try "$SXS" run --quiet -o "$T/session" --method lib/one.xml -- env
has "run passes the files on" "$out" "SXSPROF_METHODS=$T/lib/one.xml"
try env SXSPROF_METHODS="$T/lib/two.xml" "$SXS" run --quiet -o "$T/session2" --method lib/one.xml -- env
has "the option replaces the variable" "$out" "SXSPROF_METHODS=$T/lib/one.xml"
lacks "the option replaces the variable, not adds to it" "$out" "two.xml"

# CLRIE's own variables.
try env MicrosoftInstrumentationEngine_ConfigPath64_A="$T/lib/one.xml" "$SXS" run --quiet -o "$T/session3" -- env
has "CLRIE's variables stay" "$out" "MicrosoftInstrumentationEngine_ConfigPath64_A=$T/lib/one.xml"
try env CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER='{324f817a-7420-4e6d-b3c1-143fbed6d855}' \
    CORECLR_PROFILER_PATH="$T/lib/libone.so" "$SXS" run --quiet -o "$T/session4" -- true
has "CLRIE is replaced, and that is said" "$err" "the CLR Instrumentation Engine ($T/lib/libone.so) is replaced" \
    "loads the plug-ins"
is "CLRIE is replaced: exit status 0" 0 "$status"

# doctor
doctor() { env "$@" "$SXS" doctor >"$T/out" 2>"$T/err"; status=$?; out=$(cat "$T/out"); }
doctor A=1
lacks "doctor says nothing of plug-ins that nobody names" "$out" "Plug-ins"
doctor SXSPROF_METHODS="$T/lib/one.xml" MicrosoftInstrumentationEngine_ConfigPath64_X="$T/lib/two.xml"
has "doctor names the plug-ins" "$out" "Plug-ins of the CLR Instrumentation Engine:" \
    "One: $T/lib/libone.so ($T/lib/one.xml)" "One: $T/lib/libone.so ($T/lib/two.xml)"
doctor MicrosoftInstrumentationEngine_ConfigPath64_X="$T/lib/one.xml:$T/lib/no.xml" \
    MicrosoftInstrumentationEngine_ConfigPath_Y="$T/lib/unknown.xml:$T/lib/missing.xml"
has "doctor says what is wrong" "$out" \
    "MicrosoftInstrumentationEngine_ConfigPath64_X: $T/lib/no.xml: No such file or directory: skipped without a message" \
    "$T/lib/unknown.xml:8:3: <InstrumentationMethod32>" "$T/lib/unknown.xml:2: One: an earlier plug-in has the same ClassGuid" \
    "$T/lib/missing.xml:2: <Module>: $T/lib/libno.so"
doctor SXSPROF_GUESTS="{324F817A-7420-4E6D-B3C1-143FBED6D855}=$T/lib/libone.so" \
    MicrosoftInstrumentationEngine_ConfigPath64_X="$T/lib/one.xml"
lacks "doctor says that CLRIE as a guest loads its plug-ins itself" "$out" "Plug-ins of the CLR"

# A copy of the library, under the name of CLRIE's.
cp "$OLDPWD/$BUILD/libsxsprof.so" lib/libInstrumentationEngine.so
refused "a copy of this library as a guest" "libInstrumentationEngine.so is this profiler itself" \
    run --guest "{324F817A-7420-4E6D-B3C1-143FBED6D855}=lib/libInstrumentationEngine.so"
engine=(CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER='{324F817A-7420-4E6D-B3C1-143FBED6D855}'
    CORECLR_PROFILER_PATH="$T/lib/libInstrumentationEngine.so")
doctor "${engine[@]}"
has "doctor knows the copy" "$out" "every runtime loads $T/lib/libInstrumentationEngine.so, by CORECLR_PROFILER_PATH, as the CLR"
is "--adopt does not make the copy a guest" adopt \
    "$(env "${engine[@]}" "$SXS" env --no-preload --adopt 2>/dev/null | sed -n 's/^export SXSPROF_GUESTS=//p')"

# The engine's library is looked for beside libsxsprof.so.
rm "$T/bin/libsxsprof-clrie.so"
try "$SXS" run --method lib/one.xml -- touch "$T/started"
has "--method without the engine's library" "$status:$err" "125:" "$T/bin/libsxsprof-clrie.so is missing"
finish
