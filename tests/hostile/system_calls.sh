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
command -v strace >/dev/null || skip_all "the system calls of root's command" "there is no strace: sh setup/packages.sh lint"
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

LIMIT=100
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

# traced NAME COMMAND...: run a command under strace, and compare its calls with the table. Its outputs: $tmp/NAME.out.
traced() {
    local name=$1
    shift
    mkdir "$tmp/$name.calls"
    timeout 120 strace -ff -y -s 4096 -e "trace=$(python3 -B tests/hostile/system_calls.py --calls)" \
        -o "$tmp/$name.calls/calls" "$@" >"$tmp/$name.out" 2>&1
    local status=$?
    python3 -B tests/hostile/system_calls.py $page "$tmp/$name.calls/calls" USER=$attacker OUT="$tmp/out" ROOT="$root" \
        TARGET="$lair" BUILD="$(realpath "$BUILD")" BUILD="$BUILD" TMP="$tmp" >"$tmp/$name.rows" 2>&1
    local accounted=$?
    check "$name: each system call is accounted for: $(tail -n 1 "$tmp/$name.rows")" $accounted "$tmp/$name.rows"
    [ -z "${KEEP_ROWS:-}" ] || cp "$tmp/$name.rows" "$KEEP_ROWS/"
    return $status
}

mkdir -m 700 "$tmp/out"
traced ps "$sxsprof" ps
grep -q "^ *$pid " "$tmp/ps.out"
check "ps: the process is listed" $? "$tmp/ps.out"
! grep -q $'\e' "$tmp/ps.out"
check "ps: nothing of it controls the terminal" $? "$tmp/ps.out"
traced attach "$sxsprof" attach --duration 1s -o "$tmp/out/session" $pid
check "attach: ends well" $? "$tmp/attach.out"
# The session is on while status, snapshot and stop ask for it.
"$sxsprof" attach --duration 60s -o "$tmp/out/second" $pid >"$tmp/second.out" 2>&1 &
attach=$!
records() { "$sxsprof" status $pid 2>/dev/null | grep -q 'session .* is on'; }
wait_until records
check "attach: the process can be recorded" $? "$tmp/second.out"
for verb in status snapshot stop; do
    case $verb in
    snapshot) traced $verb "$sxsprof" $verb -o "$tmp/out/copy" $pid ;;
    *) traced $verb "$sxsprof" $verb $pid ;;
    esac
    check "$verb: ends well" $? "$tmp/$verb.out"
done
wait $attach
[ "$(cat "$root/secret")" = secret ] && [ "$(stat -c %u "$root/secret")" = 0 ]
check "the file of root is as it was" $?
finished
finish
