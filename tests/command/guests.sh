#!/bin/bash
# SPDX-License-Identifier: MIT
# guests.sh - checks how the command reads, checks and reports guests: --guest, --adopt, XML files, SXSPROF_GUESTS,
# env, doctor, check, report and pack. No runtime is needed.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
$CC -std=gnu11 -D_GNU_SOURCE -I. tests/profile/make_guests.c -o "$T/make_guests" || exit 1
id='{5E5C0001-0000-4000-8000-00000CE45050}'
cd "$T" || exit 1
mkdir lib here
cat >class.c <<'C'
#include <string.h>
int DllGetClassObject(const void *clsid, const void *iid, void **out);
int DllGetClassObject(const void *clsid, const void *iid, void **out)
{
    (void)iid;
    *out = memcmp(clsid, "\x01\x00\x5c\x5e", 4) == 0 ? (void *)&out : 0;
    return *out ? 0 : (int)0x80040111;
}
C
$CC -shared -fPIC -x c class.c -o lib/libone.so && cp lib/libone.so 'lib/odd,na;me\.so' &&
    echo 'int nothing;' | $CC -shared -fPIC -x c - -o lib/libnone.so &&
    { cat class.c; echo 'extern int sxs_missing_data; int *data(void); int *data(void) { return &sxs_missing_data; }'; } |
        $CC -shared -fPIC -x c - -o lib/libundefined.so &&
    $CC -shared -fPIC class.c -Wl,--no-as-needed "$T/lib/libundefined.so" -Wl,--as-needed -o lib/libneeds.so &&
    { cat class.c; echo 'void sxs_missing(void); void lazy(void); void lazy(void) { sxs_missing(); }'; } |
        $CC -shared -fPIC -Wl,-z,lazy -x c - -o lib/liblazy.so &&
    head -c 3000 lib/libone.so >lib/libcut.so && printf '\177ELF\1\1\1' >lib/lib32.so && head -c 200 /dev/zero >>lib/lib32.so || exit 1

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
# guests ARGUMENT...: the value of SXSPROF_GUESTS that sxsprof env prints
guests() { "$SXS" env --no-preload "$@" 2>/dev/null | sed -n "s/^export SXSPROF_GUESTS=//p"; }

refused "a class that is none" "--guest|'{x}' is no class ID|expected" run --guest "{x}=lib/libone.so"
refused "a class without a path" "has no path|expected CLSID=PATH" run --guest "$id"
refused "an empty path" "has no path" run --guest "$id="
refused "a missing library" "$T/lib/no.so: No such file|expected the library of a profiler" run --guest "$id=lib/no.so"
refused "a folder as a library" "$T/lib: Is a directory" run --guest "$id=lib"
refused "a text as a library" "not an ELF library" run --guest "$id=class.c"
refused "a 32-bit library" "lib32.so: " run --guest "$id=lib/lib32.so"
refused "a cut library" "libcut.so: " run --guest "$id=lib/libcut.so"
refused "a library that is no profiler" "exports no DllGetClassObject" run --guest "$id=lib/libnone.so"
refused "a library with undefined data" "libundefined.so: it cannot be loaded: undefined symbol sxs_missing_data in " \
    run --guest "$id=lib/libundefined.so"
refused "a library that needs one with undefined data" "undefined symbol sxs_missing_data in $T/lib/libundefined.so" \
    run --guest "$id=lib/libneeds.so"
try "$SXS" run --quiet --guest "$id=lib/liblazy.so" -- true
is "a library with an undefined function is tried: it may never be called" 0 "$status"
SXSPROF_GUESTS="$id=$T/lib/libundefined.so" try "$SXS" doctor
has "doctor names the undefined data" "$out" "undefined symbol sxs_missing_data"
refused "this profiler" "is this profiler itself" run --guest "{6b8f5b6e-3c0d-4e0b-9a57-5c1d0f2e7a31}=lib/libone.so"
refused "a wrong pick" "pick=some|expected pick=all" run --guest "$id=lib/libone.so,pick=some"
refused "a pick without a version" "pick=one:|expected" run --guest "$id=lib/libone.so,pick=one:"
refused "a pick that is neither version nor path" "'abc' is neither a version prefix nor a path" \
    run --guest "$id=lib/libone.so,pick=one:abc"
refused "a wrong priority" "priority=high|from -1000000 to 1000000" run --guest "$id=lib/libone.so,priority=high"
refused "a priority out of range" "priority=1000001" run --guest "$id=lib/libone.so,priority=1000001"
refused "a variable without a value" "env=NAME|env=NAME=VALUE" run --guest "$id=lib/libone.so,env=NAME"
refused "an unknown option" "colour=red|expected" run --guest "$id=lib/libone.so,colour=red"
refused "two guests in one option" "';' separates guests" run --guest "$id=lib/libone.so;$id=lib/libone.so"
refused "a path without a class" "lib/libone.xml: No such file|expected CLSID=PATH" run --guest lib/libone.xml
refused "a library where an XML file is expected" "lib/libone.so:1" sample --guest lib/libone.so
sixteen=()
for i in $(seq 16); do sixteen+=(--guest "$id=lib/libone.so,priority=$i"); done
refused "17 guests" "one guest too many|at most 16" run "${sixteen[@]}" --guest "$id=lib/libone.so"
is "16 guests are accepted" 16 "$(guests "${sixteen[@]}" | grep -o libone.so | wc -l)"
SXSPROF_GUESTS="$id=/nowhere/lib.so" refused "a wrong SXSPROF_GUESTS" "SXSPROF_GUESTS|/nowhere/lib.so" run
SXSPROF_GUESTS="$id=$T/lib/libone.so;/nowhere/g.xml" refused "a missing file in SXSPROF_GUESTS" "/nowhere/g.xml" events

is "a relative path becomes absolute" "'$id=$T/lib/libone.so'" "$(guests --guest "$id=lib/libone.so")"
is "all options, and capitals" "'$id=$T/lib/libone.so,pick=one:8.0,priority=-5,env=A=b c,env=D='" \
    "$(guests --guest "{5e5c0001-0000-4000-8000-00000ce45050}=lib/libone.so,env=A=b c,priority=-5,env=D=,pick=one:8.0")"
is "marks in values" "'$id=$T/lib/odd\\,na\\;me\\\\.so,env=P=a\\,b'" \
    "$(guests --guest "$id=lib/odd\\,na\\;me\\\\.so,env=P=a\\,b")"
is "guests of a verb's option come in order" "'$id=$T/lib/libone.so,pick=first;$id=$T/lib/libone.so'" \
    "$(guests --guest "$id=lib/libone.so,pick=first" --guest "$id=$T/lib/libone.so")"

# ---- XML ------------------------------------------------------------------------------------------
xml() { printf '<guests xmlns="urn:sxsprof:guests:1">\n%s\n</guests>\n' "$1" >lib/g.xml; }
xml "<guest clsid=\"$id\" path=\"libone.so\" pick=\"one:9\" priority=\"7\"><env name=\"A\" value=\"b\"/></guest>"
is "an XML file is passed on with its absolute path" "$T/lib/g.xml" "$(guests --guest lib/g.xml)"
try "$SXS" check lib/g.xml
is "check recognizes a file of guests" "0:lib/g.xml: 1 guest, 0 errors" "$status:$out"
# wrong_xml CLAIM "PART|PART" TEXT: the file is refused by run and by check
wrong_xml() {
    xml "$3"
    refused "$1" "$2" run --guest lib/g.xml
    try "$SXS" check lib/g.xml
    is "$1: check has exit status 1" 1 "$status"
    has "$1: check says where" "$err" "lib/g.xml:"
}
wrong_xml "XML: a wrong class" "g.xml:2:8: clsid=\"{x}\"|expected a class ID" '<guest clsid="{x}" path="libone.so"/>'
wrong_xml "XML: no path" "<guest> without path=" "<guest clsid=\"$id\"/>"
wrong_xml "XML: an unknown attribute" "knows no colour=|clsid, path, pick or priority" \
    "<guest clsid=\"$id\" path=\"libone.so\" colour=\"red\"/>"
wrong_xml "XML: a wrong pick" "pick=\"one:\"|all, first or one:WHAT" "<guest clsid=\"$id\" path=\"libone.so\" pick=\"one:\"/>"
wrong_xml "XML: a wrong priority" "priority=\"2000000\"|-1000000 to 1000000" \
    "<guest clsid=\"$id\" path=\"libone.so\" priority=\"2000000\"/>"
wrong_xml "XML: a variable without a name" "<env> without name=" "<guest clsid=\"$id\" path=\"libone.so\"><env value=\"1\"/></guest>"
wrong_xml "XML: a missing library" "$T/lib/gone.so: No such file" "<guest clsid=\"$id\" path=\"gone.so\"/>"
wrong_xml "XML: another element" "<rule> does not belong here|guest" "<rule/>"
many=
for i in $(seq 17); do many="$many<guest clsid=\"$id\" path=\"libone.so\"/>"; done
wrong_xml "XML: 17 guests" "at most 16 guests" "$many"
echo '<guests xmlns="urn:sxsprof:guests:2"/>' >lib/g.xml
refused "XML: another namespace" "expected <guests xmlns=\"urn:sxsprof:guests:1\">" run --guest lib/g.xml
echo '<guests xmlns="urn:sxsprof:guests:1"><guest' >lib/g.xml
refused "XML: not well-formed" "well-formed XML" run --guest lib/g.xml

# ---- adopt ----------------------------------------------------------------------------------------
other=(CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$id" CORECLR_PROFILER_PATH="$T/lib/libone.so")
adopted() { env "$@" "$SXS" env --no-preload --adopt 2>"$T/err" | sed -n "s/^export SXSPROF_GUESTS=//p"; }
is "--adopt without other profilers" adopt "$(adopted A=b)"
is "--adopt takes the main profiler" "'adopt;$id=$T/lib/libone.so'" "$(adopted "${other[@]}")"
is "--adopt prefers _PATH_64, as runtimes do" "'adopt;$id=$T/lib/odd\\,na\\;me\\\\.so'" \
    "$(adopted "${other[@]}" CORECLR_PROFILER_PATH_64="$T/lib/odd,na;me\\.so")"
is "--adopt leaves a profiler that is off" adopt "$(adopted "${other[@]}" CORECLR_ENABLE_PROFILING=0)"
is "--adopt leaves a class that is none" adopt "$(adopted "${other[@]}" CORECLR_PROFILER=x)"
is "--adopt leaves this profiler" adopt "$(adopted "${other[@]}" CORECLR_PROFILER='{6b8f5b6e-3c0d-4e0b-9a57-5c1d0f2e7a31}')"
is "--adopt leaves a library that is missing" adopt "$(adopted "${other[@]}" CORECLR_PROFILER_PATH=/nowhere/lib.so)"
has "--adopt names the missing library" "$(cat "$T/err")" "/nowhere/lib.so: No such file" "go on without it"
two="{00000000-0000-4000-8000-00000000000F}"
is "--adopt takes notification profilers" "'adopt;$id=$T/lib/libone.so;$two=$T/lib/libone.so'" \
    "$(adopted CORECLR_ENABLE_NOTIFICATION_PROFILERS=1 CORECLR_NOTIFICATION_PROFILERS="$T/lib/libone.so=$id;x;$T/lib/libone.so=$two")"
is "--adopt leaves notification profilers that are off" adopt \
    "$(adopted CORECLR_NOTIFICATION_PROFILERS="$T/lib/libone.so=$id;")"
is "--adopt takes a profiler once" "'$id=$T/lib/libone.so,priority=3;adopt'" \
    "$(env "${other[@]}" "$SXS" env --no-preload --guest "$id=lib/libone.so,priority=3" --adopt | sed -n 's/^export SXSPROF_GUESTS=//p')"
is "SXSPROF_GUESTS=adopt is --adopt" "'adopt;$id=$T/lib/libone.so'" \
    "$(env "${other[@]}" SXSPROF_GUESTS=adopt "$SXS" env --no-preload | sed -n 's/^export SXSPROF_GUESTS=//p')"
has "env --adopt unsets the lists of notification profilers" "$("$SXS" env --no-preload --adopt)" \
    "unset CORECLR_NOTIFICATION_PROFILERS CORECLR_NOTIFICATION_PROFILERS_64"
lacks "env without --adopt does not" "$("$SXS" env --no-preload)" NOTIFICATION
for form in systemd docker; do
    has "env --$form has the guests" "$("$SXS" env --no-preload --$form --guest "$id=lib/libone.so")" \
        "SXSPROF_GUESTS=$id=$T/lib/libone.so"
done
try env "${other[@]}" "$SXS" run --no-preload -- true
has "run without --adopt says what is replaced, and names --adopt" "$err" "$id" "is replaced" "--adopt"
try env "${other[@]}" "$SXS" run --no-preload --adopt -- env
has "run --adopt passes the guests on" "$out" "SXSPROF_GUESTS=adopt;$id=$T/lib/libone.so"
lacks "run --adopt replaces nothing" "$err" "is replaced"

# ---- doctor ---------------------------------------------------------------------------------------
try env "${other[@]}" "$SXS" doctor
has "doctor says that --adopt runs another profiler" "$out" "another profiler is set" "sxsprof record --adopt"
try env CORECLR_ENABLE_NOTIFICATION_PROFILERS=1 CORECLR_NOTIFICATION_PROFILERS="$T/lib/libone.so=$id;" "$SXS" doctor
has "doctor says that --adopt runs notification profilers" "$out" "--adopt runs them as guests"
try env SXSPROF_GUESTS="$id=$T/lib/libone.so" "$SXS" doctor
has "doctor loads a guest" "$out" "guest $id: $T/lib/libone.so can be loaded and has this class"
try env SXSPROF_GUESTS="$two=$T/lib/libone.so;{x};$id=$T/lib/libnone.so;adopt" "$SXS" doctor
is "doctor: exit status 1 with wrong guests" 1 "$status"
has "doctor finds wrong guests" "$out" "it has no class $two" "'{x}' is no class ID" "exports no DllGetClassObject" \
    "libsxsprof-preload.so is not in LD_PRELOAD"
echo 'void stop(void) __attribute__((constructor)); void stop(void) { __builtin_trap(); } int DllGetClassObject;' |
    $CC -shared -fPIC -x c - -o lib/libbad.so
try env SXSPROF_GUESTS="$id=$T/lib/libbad.so" "$SXS" doctor
has "doctor survives a library that ends its process" "$out" "it ended the process that loaded it (signal"

# ---- report ---------------------------------------------------------------------------------------
# session [KEY=VALUE]...: a session $T/s with two runtimes and the guests
session() {
    rm -rf s
    "$CENSUS" s 4242 runtime=1,8.0.29,1,1,1,1,1,1,1 runtime=2,9.0.18,1,1,1,1,1,1,1
    ./make_guests s 4242 "$@"
}
all=(guest=2,1,0,0,0,/opt/libstart.so guest=1,2,640,3,6400,/opt/one/libone.so guest=1,3,0,0,0,/opt/libtwo.so,no\ class
    guest=2,4,1,0,9,/opt/one/libone.so,serves\ one guest=1,5,5,0,50,/opt/libgone.so guest=2,6,7,0,70,/opt/libend.so guest=1,0,1,1,1,/opt/unused.so)
session "${all[@]}" unlisted=4
try "$SXS" report s
is "report: exit status 0" "0:" "$status:$err"
has "report: a row for each guest" "$(tr -s " " <<<"$out")" "ns/callback" "{5E5C0001-0000-4000-8000-000000000001} active 640 3 6.40 us 10" \
    "no class" "libtwo.so failed" "libone.so {5E5C0001-0000-4000-8000-000000000003} refused" "libgone.so detached" "libend.so active" "libstart.so failed" \
    "still starting" "4 more guests"
lacks "report: no row that is not in use" "$out" unused.so
"$SXS" report -f json s >json 2>err
python3 - json >got 2>&1 <<'P'
import json, sys
g = json.load(open(sys.argv[1]))["guests"]
keys = ["runtime", "clsid", "path", "state", "callbacks", "failures", "total_ns"]
assert all(list(x)[:7] == keys for x in g), g
want = [(1, "/opt/one/libone.so", "active", 640, 3, 6400), (1, "/opt/libtwo.so", "failed", 0, 0, 0),
        (1, "/opt/libgone.so", "detached", 5, 0, 50), (2, "/opt/libstart.so", "failed", 0, 0, 0),
        (2, "/opt/one/libone.so", "refused", 1, 0, 9), (2, "/opt/libend.so", "active", 7, 0, 70)]
got = [tuple(x[k] for k in keys if k != "clsid") for x in g]
assert got == want, got
assert g[0]["clsid"] == "{5E5C0001-0000-4000-8000-000000000001}" and g[0]["priority"] == -3 and g[0]["version"] == "8.0.29", g[0]
print("good")
P
is "report: JSON has the guests by runtime" good "$(cat got)"
"$SXS" pack -o s.pack s >/dev/null 2>&1
is "a packed session has the same guests" "$("$SXS" report s)" "$("$SXS" report s.pack 2>&1)"
rm s/4242/guests
lacks "report: no table without guests" "$("$SXS" report s)" "ns/callback"
lacks "report: no key without guests" "$("$SXS" report -f json s)" '"guests"'

broken() { # CLAIM MESSAGE [KEY=VALUE]...
    local claim=$1 message=$2
    shift 2
    session guest=1,2,1,0,1,/opt/libwhole.so guest=2,2,1,0,1,/opt/libnext.so "$@"
    try timeout 20 "$SXS" report s
    has "$claim: a message names the file" "$err" "s/4242/guests: $message"
    is "$claim: exit status 1" 1 "$status"
    has "$claim: the runtimes are reported" "$out" 8.0.29 9.0.18
}
broken "an empty file" "cut: 0 bytes" cut=0
broken "a cut header" "cut: 31 bytes" cut=31
broken "a cut row" "cut: 1 of 2 rows are whole" cut=$((32 + 840 + 17))
has "a cut row: the row before it is kept" "$out" libwhole.so
broken "wrong magic" "not a file of guests" magic=SXSGUES7
broken "another version" "format version 2" version=2
broken "another size" "says it has 5 bytes" size=5
broken "another row size" "says it has 860192 bytes in rows of 839" row_size=839
broken "too many rows" "says 4000000000 rows, at most 1024" rows=4000000000
broken "an impossible state" "row 3 left out: state 77" guest=1,77,1,0,1,/opt/libodd.so
broken "a path without an end" "the path in row 1 has no end" fill=path
broken "a class without an end" "the class ID in row 1 has no end" fill=clsid
broken "a reason without an end" "the reason in row 1 has no end" fill=why
session guest=1,2,18446744073709551615,1,18446744073709551615,$'/opt/lib\033[31m.so'
try "$SXS" report s
lacks "control characters of a path are not printed" "$out" $'\033'
finish
