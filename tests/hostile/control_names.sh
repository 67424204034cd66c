# SPDX-License-Identifier: MIT
# control_names.sh - plays a stranger who takes the names of another program's control socket before that program can, and
# lets nobody connect, or writes lines about it into /proc/net/unix: the program is reached all the same, and fast.
. "$(dirname "$0")/lib.sh"
needs_root "$0"
. tests/hostile/control.inc
as $victim test -x "$runsxs" -a -r "$BUILD/libsxsprof.so" || skip_all "$0" "user $victim cannot read $BUILD"

# reached CLAIM COMMAND...: sxsprof status is answered, by the program
reached() {
    local claim=$1
    shift
    cost env "$@" "$sxsprof" status "$pid"
    [ "$status" -eq 0 ] && grep -q 'runtime 1 ' "$tmp/out"
    check "$claim" $? "$tmp/err"
    at_most "$claim: fast" 4.5 100000
}
# begins N: a stranger takes N names, then the program begins
begins() {
    names=$1
    : >"$tmp/pid.hold"
    victim setpriv --reuid $victim --regid $victim --clear-groups
}
before_it_runs() { peer squat "$pid" "$names"; }

begins 1
own="setpriv --reuid $victim --regid $victim --clear-groups"
reached "root reaches a program whose first name a stranger has taken"
# shellcheck disable=SC2086 # a command
reached "its user does" $own
leave
begins 4
reached "root reaches a program whose names a stranger has all taken"
reached "its user does, too" $own
[ ! -s "$tmp/log" ]
check "the program has no reason to complain" $? "$tmp/log"
leave
# shellcheck disable=SC2086 # a command
victim $own
peer forge "$pid" 600
[ "$(grep -c "@sxsprof/[0-9]*$" /proc/net/unix)" -ge 600 ]
check "a stranger writes lines about a program's socket into /proc/net/unix" $?
reached "root reaches the program all the same"
# shellcheck disable=SC2086
reached "its user does" $own
leave
finish
