# SPDX-License-Identifier: MIT
# control_code.sh - plays a client of the control socket who has a program load a library of his by rules of
# instrumentation: refused unless the program was started with SXSPROF_CONTROL=code. Rules that count calls are not.
. "$(dirname "$0")/lib.sh"
needs_root "$0"
. tests/hostile/control.inc
as $victim test -x "$runsxs" -a -r "$BUILD/libsxsprof.so" || skip_all "$0" "user $victim cannot read $BUILD"
own="setpriv --reuid $victim --regid $victim --clear-groups"
lair=$(lair $victim lair)

rules() { # NAME ACTION
    echo "<instrumentation xmlns=\"urn:sxsprof:instrumentation:1\"><rule><match method=\"M\"/>$2</rule></instrumentation>" >"$lair/$1.xml"
}
rules library '<call when="before" library="/tmp/evil.so" symbol="evil"/>'
rules inject '<inject at="entry">nop</inject>'
rules count '<count/>'
ask() { # NAME: begin a session with these rules; the answer is in $tmp/out
    # shellcheck disable=SC2086 # commands
    $own $peer ask "$pid" "sxsprof 1 start\ntools=instrument:config=$lair/$1.xml\nout=$lair/$1-$2\n\n" >"$tmp/out" 2>&1
}
stop() { $own $peer ask "$pid" 'sxsprof 1 stop\n\n' >"$tmp/stop" 2>&1; }

victim $own
for kind in library inject; do
    ask $kind on
    grep -qx error "$tmp/out" && grep -q "$kind.xml:.*SXSPROF_CONTROL=code" "$tmp/out" && [ ! -e "$lair/$kind-on" ]
    check "rules with code ($kind) are refused, with what to set" $? "$tmp/out"
done
ask count on
grep -qx ok "$tmp/out"
check "rules that count are not" $? "$tmp/out"
rules count '<call when="before" library="/tmp/evil.so" symbol="evil"/>'
wait_until grep -q 'count.xml:.*refused; expected SXSPROF_CONTROL=code' "$tmp/log"
check "rules that get code while the session is on are refused, too" $? "$tmp/log"
stop
leave
rm -rf "$lair"/*-on

victim env SXSPROF_CONTROL=code $own
ask library code
grep -qx ok "$tmp/out"
check "with SXSPROF_CONTROL=code they are in force" $? "$tmp/out"
stop
leave
finish
