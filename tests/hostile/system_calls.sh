# SPDX-License-Identifier: MIT
# system_calls.sh - plays a process that does what it can to make the command of root touch what it should not, and
# compares each system call of the command with the table in docs/internals/security.md.
#
# The process belongs to another user and has mounts, process IDs and a network of its own. Its environment names a
# regular file, a link and a file of root as diagnostics ports; its TMPDIR is reached through a link; it has mapped a
# library whose name has a line feed and a control sequence, beside a link with the name that /proc shows for it.
#
# The whole test has process IDs of its own, so that ps meets no process of another test.
if [ "$(id -u)" = 0 ] && [ -z "${OWN_PIDS:-}" ] && unshare -m -p -f --mount-proc true 2>/dev/null; then
    OWN_PIDS=1 exec unshare -m -p -f --kill-child --mount-proc bash "$0"
fi
. "$(dirname "$0")/lib.sh"
needs_root "the system calls of root's command"
need_real 1
command -v strace >/dev/null || skip_all "the system calls of root's command" "there is no strace: make setup GROUPS=lint"
strace -o /dev/null true 2>/dev/null || skip_all "the system calls of root's command" "strace may not trace here"
. tests/integration/container.inc
needs_container "the system calls of root's command" $attacker
page=docs/internals/security.md
root=$tmp/root
mkdir -m 700 "$root"
echo secret >"$root/secret"
lair=$(lair $attacker lair)
library=$lair/$'lib\nx\e[31m.so'
cp "$BUILD/libsxsprof-preload.so" "$library"
ln -s "$root/secret" "$lair/lib\\012x"$'\e'"[31m.so"
echo data >"$lair/data"
ln -s "$root/secret" "$lair/link"
mkdir -m 700 "$lair/folder"
ln -s folder "$lair/tmp"
chown -hR $attacker:$attacker "$lair"

LIMIT=200
timeout -k 5 $((LIMIT + 20)) unshare -m -p -n -f --kill-child bash -c '
    mount --make-rprivate / && mount -t proc proc /proc && mount -t tmpfs -o mode=1777,exec tmpfs /dev/shm && cd / || exit 1
    exec setpriv --reuid "$0" --regid "$0" --clear-groups "$@"' \
    $attacker env LD_PRELOAD="$library" TMPDIR="$lair/tmp" \
    DOTNET_DiagnosticPorts="$lair/data,nosuspend,connect;$lair/link,nosuspend,connect;$root/secret,nosuspend,connect;/etc/shadow,nosuspend,connect" \
    "$(realpath "$runsxs")" --timeout $LIMIT "$version" stress "nre=2 div=0 gcs=20 loops=1 pool=100 until=$tmp/shared/until" \
    >"$tmp/log" 2>&1 &
outer=$!
wait_until inside || { not_ok "the process starts" "$tmp/log"; finish; }
for _ in $(seq 50); do grep -q dotnet-diagnostic "/proc/$pid/net/unix" && break; sleep 0.1; done

# trace NAME COMMAND...: run a command under strace. Its outputs: $tmp/NAME.out.
trace() {
    local name=$1
    shift
    mkdir "$tmp/$name.calls"
    timeout 120 strace -ff -y -s 4096 -e "trace=$(python3 -B tests/hostile/system_calls.py --only)" \
        -o "$tmp/$name.calls/calls" "$@" >"$tmp/$name.out" 2>&1
}
# account NAME: compare its calls with the table
account() {
    python3 -B tests/hostile/system_calls.py $page "$tmp/$1.calls/calls" USER=$attacker OUT="$tmp/out" ROOT="$root" \
        TARGET="$lair" BUILD="$(realpath "$BUILD")" BUILD="$BUILD" TMP="$tmp" >"$tmp/$1.rows" 2>&1
    local accounted=$?
    check "$1: each system call is accounted for: $(tail -n 1 "$tmp/$1.rows")" $accounted "$tmp/$1.rows"
}

mkdir -m 700 "$tmp/out"
trace ps "$sxsprof" ps
account ps
grep -q "^ *$pid " "$tmp/ps.out"
check "ps: the process is listed" $? "$tmp/ps.out"
! grep -q $'\e' "$tmp/ps.out"
check "ps: nothing of it controls the terminal" $? "$tmp/ps.out"
# The session is on while status, snapshot and stop ask for it; stop ends it.
trace attach "$sxsprof" attach --duration 100s -o "$tmp/out/session" $pid &
attach=$!
records() { ! kill -0 $attach 2>/dev/null || "$sxsprof" status $pid 2>/dev/null | grep -q 'session .* is on'; }
wait_until records
for verb in status snapshot stop; do
    folder=
    [ $verb != snapshot ] || folder="-o $tmp/out/copy"
    # shellcheck disable=SC2086
    trace $verb "$sxsprof" $verb $folder $pid
    check "$verb: ends well" $? "$tmp/$verb.out"
    account $verb
done
wait $attach
check "attach: ends well" $? "$tmp/attach.out"
account attach
# Another session, for detach to end.
"$sxsprof" attach --duration 100s -o "$tmp/out/again" $pid >"$tmp/again.out" 2>&1 &
attach=$!
wait_until records
trace detach "$sxsprof" detach $pid
check "detach: ends well" $? "$tmp/detach.out"
account detach
wait $attach

[ "$(cat "$root/secret")" = secret ] && [ "$(stat -c %u "$root/secret")" = 0 ]
check "the file of root is as it was" $?
[ "$(cat "$lair/data")" = data ] && [ "$(stat -c %u "$lair/data")" = $attacker ] && [ -L "$lair/link" ] && [ -s /etc/shadow ]
check "the files that the process names as ports are as they were" $?
! grep -rhF "<$root/secret>" "$tmp"/*.calls >"$tmp/opened"
check "no link to root's file has led there" $? "$tmp/opened"
finished
finish
