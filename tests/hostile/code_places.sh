# SPDX-License-Identifier: MIT
# code_places.sh - plays a user who puts a library of his own in the place of one that a program of root is about to load:
# a guest, a plug-in of CLRIE, a library that rules call; or writes such rules. Nothing of his is loaded, one line says
# what to do, and the program runs on. Places of other owners, sticky folders and read-only volumes are not refused.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root code_places
library=$(realpath "$BUILD/libsxsprof.so")
clsid=$(sed -n 's/^#define SXSPROF_CLSID "\(.*\)"/\1/p' include/sxsprof.h)
other='{5E5C0001-0000-4000-8000-00000CE45050}'
# A library that leaves a trace when it is loaded. It is no profiler, which is said in another line.
cat >"$tmp/trace.c" <<'C'
#include <fcntl.h>
#include <stdlib.h>
__attribute__((constructor)) static void loaded(void) { open(getenv("TRACE"), O_CREAT | O_WRONLY, 0600); }
int DllGetClassObject(const void *a, const void *b, void **c);
int DllGetClassObject(const void *a, const void *b, void **c) { (void)a, (void)b, *c = 0; return (int)0x80040111; }
void on_enter(void);
void on_enter(void) {}
C
${CC:-cc} -shared -fPIC -o "$tmp/trace.so" "$tmp/trace.c" || exit 1
files() { # FOLDER OWNER: put a library, plug-in and rules there
    cp "$tmp/trace.so" "$1/guest.so"
    echo "<InstrumentationEngineConfiguration><InstrumentationMethod><Name>x</Name><Description>x</Description>
<Module>guest.so</Module><ClassGuid>$other</ClassGuid></InstrumentationMethod></InstrumentationEngineConfiguration>" >"$1/methods.xml"
    echo "<guests xmlns=\"urn:sxsprof:guests:1\"><guest clsid=\"$other\" path=\"guest.so\"/></guests>" >"$1/guests.xml"
    echo "<instrumentation xmlns=\"urn:sxsprof:instrumentation:1\"><rule><match method=\"*\"/>
<call when=\"before\" library=\"guest.so\" symbol=\"on_enter\"/></rule></instrumentation>" >"$1/rules.xml"
    echo '<instrumentation xmlns="urn:sxsprof:instrumentation:1"><rule><match method="*"/><count/></rule></instrumentation>' >"$1/plain.xml"
    chown "$2:$2" "$1"/*.so "$1"/*.xml
}
run() { # NAME=VALUE...: a program of root with these settings
    rm -f "$tmp/trace" && rm -rf "$tmp/session"
    env TRACE="$tmp/trace" CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$clsid" CORECLR_PROFILER_PATH="$library" SXSPROF_OUT="$tmp/session" \
        "$@" timeout -k 5 60 "$runsxs" --timeout 50 fake:8.0 '!modules 2; jit 3' '' >"$tmp/out" 2>"$tmp/err"
    status=$?
}
declared() { # KIND FOLDER: the setting
    case $1 in
    guest) echo "SXSPROF_GUESTS=$other=$2/guest.so" ;;
    guests) echo "SXSPROF_GUESTS=$2/guests.xml" ;;
    plug-in) echo "SXSPROF_METHODS=$2/methods.xml" ;;
    rules) echo "SXSPROF_INSTRUMENT=$2/rules.xml" ;;
    esac
}
refused() { # CLAIM FOLDER PART KIND...: nothing is loaded, and the program runs on
    local claim=$1 folder=$2 part=$3 kind
    shift 3
    for kind in "$@"; do
        run "$(declared "$kind" "$folder")"
        [ "$status" = 0 ] && [ ! -e "$tmp/trace" ] && [ "$(grep -c "$part" "$tmp/err")" = 1 ]
        check "$claim: $kind is refused by one line, and the program runs on (status $status)" $? "$tmp/err"
    done
}
honoured() { # CLAIM FOLDER: code is loaded
    local kind
    for kind in guest guests plug-in; do
        run "$(declared "$kind" "$2")"
        [ "$status" = 0 ] && [ -e "$tmp/trace" ] && ! grep -q 'every user' "$tmp/err"
        check "$1: $kind is loaded (status $status)" $? "$tmp/err"
    done
    run "$(declared rules "$2")"
    [ "$status" = 0 ] && ! grep -q 'refused' "$tmp/err"
    check "$1: rules that load code are not refused" $? "$tmp/err"
}

# Places of all users. In the first, the attacker moves the file of root away and puts his own there.
mkdir -m 777 "$tmp/open" && files "$tmp/open" 0
for file in guest.so methods.xml guests.xml rules.xml; do
    as $attacker mv "$tmp/open/$file" "$tmp/open/$file.old" && as $attacker cp "$tmp/open/$file.old" "$tmp/open/$file"
done
refused "a folder that every user can write to" "$tmp/open" "every user can write to $tmp/open (mode 0777).*chmod o-w" guest guests plug-in rules
mkdir -m 755 "$tmp/open/below" && files "$tmp/open/below" 0
refused "a folder below it" "$tmp/open/below" "every user can write to $tmp/open (mode 0777)" guest plug-in rules
mkdir -m 755 "$tmp/mode" && files "$tmp/mode" 0 && chmod o+w "$tmp"/mode/*
refused "a file that every user can write to" "$tmp/mode" "every user can write to $tmp/mode/" guest guests plug-in rules
mkdir -m 1777 "$tmp/sticky" && files "$tmp/sticky" $attacker
refused "a file of a stranger in a sticky folder" "$tmp/sticky" "belongs to uid $attacker, in a folder" guest guests plug-in rules
mkdir -m 755 "$tmp/links" && as $attacker ln -s "$tmp/links/x.so" "$tmp/sticky/link.so" && cp "$tmp/trace.so" "$tmp/links/x.so"
run "SXSPROF_GUESTS=$other=$tmp/sticky/link.so"
[ "$status" = 0 ] && [ ! -e "$tmp/trace" ] && grep -q "link.so belongs to uid $attacker" "$tmp/err"
check "a link of a stranger in a sticky folder is not followed" $? "$tmp/err"
ln -s "$tmp/open/guest.so" "$tmp/links/out.so"
run "SXSPROF_GUESTS=$other=$tmp/links/out.so"
[ "$status" = 0 ] && [ ! -e "$tmp/trace" ] && grep -q "every user can write to $tmp/open" "$tmp/err"
check "a link of root to such a place is not followed" $? "$tmp/err"
run "SXSPROF_GUESTS=$other=$tmp/sticky/none.so"
[ "$status" = 0 ] && [ ! -e "$tmp/trace" ] && grep -q "none.so: No such file" "$tmp/err"
check "a file that is missing is said to be" $? "$tmp/err"
"$sxsprof" run --guest "$other=$tmp/open/guest.so" -o "$tmp/session" -- touch "$tmp/started" >"$tmp/out" 2>"$tmp/err"
[ $? = 2 ] && grep -q 'every user can write to' "$tmp/err" && [ ! -e "$tmp/started" ]
check "sxsprof run --guest says so before anything starts" $? "$tmp/err"

# Rules that load no code are read from anywhere. The attacker replaces them while the program runs.
env CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$clsid" CORECLR_PROFILER_PATH="$library" SXSPROF_OUT="$tmp/running" \
    SXSPROF_INSTRUMENT="$tmp/open/plain.xml" "$runsxs" --timeout 120 fake:8.0 '!modules 2; jit 3; sleep-ms 110000' '' >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_until sh -c 'test -s "$0"/*/instrument' "$tmp/running"
recorded=("$tmp"/running/*/instrument)
[ -s "${recorded[0]}" ] && ! grep -q refused "$tmp/err"
check "rules that load no code are not refused in such a folder" $? "$tmp/err"
as $attacker cp "$tmp/open/rules.xml" "$tmp/open/new.xml" && as $attacker mv -f "$tmp/open/new.xml" "$tmp/open/plain.xml"
reloaded() { grep -q refused "$tmp/err" || [ $((n_looks += 1)) -gt 100 ]; }
n_looks=0
wait_until reloaded
grep -q "rules that load code are refused: every user can write to $tmp/open" "$tmp/err" && kill -0 $pid
check "rules that get code while the program runs are refused, and the program runs on" $? "$tmp/err"
kill -9 $pid && wait $pid 2>/dev/null

# Daily use.
mkdir -m 755 "$tmp/own" && files "$tmp/own" 0
honoured "a folder of root" "$tmp/own"
volume=$(lair $victim volume) && files "$volume" $victim
honoured "a volume of another owner" "$volume"
mkdir -m 1777 "$tmp/sticky2" && files "$tmp/sticky2" 0
honoured "files of root in a sticky folder" "$tmp/sticky2"
mkdir -m 2775 "$tmp/group" && files "$tmp/group" 0 && chmod g+w "$tmp"/group/*
honoured "files of a group" "$tmp/group"
mkdir "$tmp/mounted" && files "$tmp/mounted" 0 && chmod 777 "$tmp/mounted"
if mount --bind "$tmp/mounted" "$tmp/mounted" 2>/dev/null && mount -o remount,bind,ro "$tmp/mounted" 2>/dev/null; then
    honoured "a volume of all users that is mounted read-only, as ConfigMaps are" "$tmp/mounted"
else
    skip "read-only volumes" "nothing can be mounted here"
fi
umount "$tmp/mounted" 2>/dev/null
mkdir -m 777 "$tmp/pod" && files "$tmp/pod" 0 && cp "$library" "$BUILD/libsxsprof-clrie.so" "$tmp/pod"
for xml in libsxsxml.so libsxsunwind.so; do [ ! -e "$BUILD/$xml" ] || cp "$BUILD/$xml" "$tmp/pod"; done
library=$tmp/pod/libsxsprof.so
honoured "a volume of all users in which the profiler itself lies" "$tmp/pod"
finish
