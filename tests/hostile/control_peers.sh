# SPDX-License-Identifier: MIT
# control_peers.sh - plays strangers who connect to the control socket of a program in a user namespace, where the kernel
# shows every user from outside under one number, which the program itself may have: they must not be served. The
# program's own user and root are.
. "$(dirname "$0")/lib.sh"
needs_root "$0"
needs_namespaces "$0"
. tests/hostile/control.inc
as $victim test -x "$runsxs" -a -r "$BUILD/libsxsprof.so" || skip_all "$0" "user $victim cannot read $BUILD"

# refused CLAIM: a stranger and root of another user namespace are refused, and nothing begins
refused() {
    as $attacker $peer ask "$pid" "sxsprof 1 start\ntools=census\nout=$tmp/stolen\n\n" >"$tmp/out" 2>&1
    grep -qx -e 'no socket' -e 'why=you are neither the user of this process nor root' "$tmp/out" &&
        ! grep -q '^ok' "$tmp/out"
    check "$1: a stranger is refused" $? "$tmp/out"
    as $attacker unshare -U -r $peer ask "$pid" 'sxsprof 1 status\n\n' >"$tmp/out" 2>&1
    ! grep -q '^ok' "$tmp/out"
    check "$1: so is one who is root in a user namespace of his own" $? "$tmp/out"
}
# served CLAIM COMMAND...: sxsprof status is answered by the program
served() {
    local claim=$1
    shift
    "$@" "$sxsprof" status "$pid" >"$tmp/out" 2>&1 && grep -q 'runtime 1 ' "$tmp/out"
    check "$claim" $? "$tmp/out"
}
no_socket() {
    grep -q 'no control socket: this process.s user (65534) is none of its user namespace' "$tmp/log"
    check "$1: it opens no socket, and says why" $? "$tmp/log"
    [ "$(grep -c . "$tmp/log")" -eq 1 ]
    check "$1: in one line" $? "$tmp/log"
}

victim setpriv --reuid $victim --regid $victim --clear-groups unshare -U
refused "a program whose user is not in its user namespace"
no_socket "a program whose user is not in its user namespace"
leave
victim setpriv --reuid $victim --regid $victim --clear-groups unshare -U --map-user=65534
refused "a program whose user has the number that stands for all others"
no_socket "a program whose user has the number that stands for all others"
leave

victim setpriv --reuid $victim --regid $victim --clear-groups unshare -U --map-user=0
refused "a program that is root in its user namespace"
served "its user outside is served" as $victim
served "root outside is served" env
leave
victim setpriv --reuid $victim --regid $victim --clear-groups unshare -U --map-user=1000
refused "a program with a user of its namespace"
served "its user outside is served, too" as $victim
served "root outside is served, too" env
leave
victim setpriv --reuid 65534 --regid 65534 --clear-groups
refused "a program of the user nobody, where every user is there"
served "the user nobody is served" setpriv --reuid 65534 --regid 65534 --clear-groups
served "root is served by a program of nobody" env
leave
finish
