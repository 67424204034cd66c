# SPDX-License-Identifier: MIT
# daily.sh - plays the users who must not be refused: root attaches to the process of another user, to a container, to a
# rootless container, to a service with a user and a /tmp of its own, and to one that was started by root and has dropped
# its rights; a user attaches to a process and to a rootless container of their own. Each session must have samples.
#
# BEFORE: another sxsprof; the time of `attach --duration 1s` by both is compared, and printed.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root "attaches of every day"
need_real 1
needs_namespaces "attaches of every day"
unshare -m -p -n -f true 2>/dev/null || skip_all "attaches of every day" "namespaces cannot be made here"
as $attacker test -r "$BUILD/managed/stress/stress.dll" -a -x "$runsxs" ||
    skip_all "attaches of every day" "user $attacker cannot read $BUILD"
version=$(echo "$versions" | tail -n 1)
work="nre=2 div=0 gcs=20 loops=1 pool=100"
mkdir -m 1777 "$tmp/shared"
children=
trap 'for c in $children; do kill -9 $c 2>/dev/null; done; wait 2>/dev/null; rm -rf "$tmp"' EXIT

# found NAME: set $pid to the program of NAME, once it runs managed code
found() {
    local child
    for child in $(pgrep -x runsxs); do
        [ -r "/proc/$child/cmdline" ] || continue
        tr '\0' ' ' 2>/dev/null <"/proc/$child/cmdline" | grep -q "until=$tmp/shared/$1 *\$" &&
            grep -q 'stress\.dll' "/proc/$child/maps" 2>/dev/null && pid=$child && return
    done
    return 1
}
# target NAME COMMAND...: start the program of NAME; the words of COMMAND come before it
target() {
    local name=$1
    shift
    "$@" "$runsxs" --timeout 120 "$version" stress "$work until=$tmp/shared/$name" >"$tmp/$name.log" 2>&1 &
    children="$children $!"
    wait_until found "$name"
}
# seconds COMMAND...: run a command and print how long it took; its outputs go to $tmp/out
seconds() {
    local began
    began=$(date +%s%N)
    timeout 60 "$@" >"$tmp/out" 2>&1 || return 1
    awk -v a="$began" -v b="$(date +%s%N)" 'BEGIN { printf "%.2f", (b - a) / 1e9 }'
}
# attaches CLAIM NAME [USER]: attach to the program of NAME, as root or as USER
attaches() {
    local out=$tmp/shared/out.$2 by=${3:+setpriv --reuid $3 --regid $3 --clear-groups} before=- now
    found "$2" || { not_ok "$1: the program runs" "$tmp/$2.log"; return; }
    now=$(seconds $by "$sxsprof" attach --tool sample:wall=99 --duration 1s -o "$out" "$pid") &&
        "$sxsprof" report --format collapsed "$out" >"$tmp/stacks" 2>>"$tmp/out" && [ -s "$tmp/stacks" ]
    check "$1 ($now s)" $? "$tmp/out"
    [ -z "${BEFORE:-}" ] || before=$(seconds $by "$BEFORE" attach --tool sample:wall=99 --duration 1s -o "$out.before" "$pid")
    echo "# $1: before $before s, now $now s"
    : >"$tmp/shared/$2"
}

# shellcheck disable=SC2016 # the inner shell's variables
private='mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs -o mode=1777,exec tmpfs /dev/shm && exec "$@"'
target other setpriv --reuid $victim --regid $victim --clear-groups
attaches "root: the process of another user" other
target container unshare -m -p -n -f --kill-child sh -c "$private" sh setpriv --reuid $victim --regid $victim --clear-groups
attaches "root: a container" container
target rootless setpriv --reuid $attacker --regid $attacker --clear-groups unshare -U -r -m -p -f --kill-child --mount-proc
attaches "root: a rootless container" rootless
# As systemd does it for DynamicUser=yes with PrivateTmp=yes.
# shellcheck disable=SC2016
target dynamic unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs -o mode=1777,nosuid tmpfs /var/tmp && exec "$@"' sh \
    setpriv --reuid 61184 --regid 61184 --clear-groups --no-new-privs --bounding-set=-all
attaches "root: a service with a user and mounts of its own" dynamic
target dropped setpriv --reuid $victim --regid $victim --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs
attaches "root: a process that has dropped its rights" dropped
target own setpriv --reuid $attacker --regid $attacker --clear-groups
attaches "a user: a process of their own" own $attacker
target own-rootless setpriv --reuid $attacker --regid $attacker --clear-groups unshare -U -r -m -p -f --kill-child --mount-proc
attaches "a user: a rootless container of their own" own-rootless $attacker
finish
