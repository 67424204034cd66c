# SPDX-License-Identifier: MIT
# attach_library.sh - checks that a process has one copy of the library, whoever attaches to it, and that each attach
# records: root from outside of a container and then the container's user from inside; after an upgrade that has put
# another file in the place of the library; from another installation; and in a chroot. Needs root.
. "$(dirname "$0")/lib.sh"
need_real 1
LIMIT=280
[ "${SXS_APART:-}" ] || [ "$(id -u)" != 0 ] || SXS_APART=1 exec unshare -m bash "$0" # its mounts go with it
. tests/integration/container.inc
user=65534
needs_container "attach_library" $user
mount --make-rprivate /

copies() { grep 'libsxsprof\.so' "/proc/$pid/maps" | awk '{ print $5, $6 }' | sort -u | wc -l; }
# records CLAIM WHO COMMAND: the command attaches, and its folder $tmp/shared/out has a session of one runtime
records() {
    local claim=$1
    rm -rf "$tmp/shared/out"
    $2 timeout 100 "$3" attach --tool sample --duration 300ms -o "$tmp/shared/out" >"$tmp/attach" 2>&1 </dev/null
    local status=$?
    [ $status = 0 ] && "$sxsprof" report --format json "$tmp/shared/out" >"$tmp/json" 2>>"$tmp/attach" &&
        [ "$(jsonq "$tmp/json" "[x['state'] for x in r]")" = "['picked']" ]
    check "$claim: it records" $? "$tmp/attach"
    [ "$(copies)" = 1 ]
    check "$claim: the library is in the process once" $?
}

# ---- root from outside, then the user from inside ----
container $user mode=1777
chmod 777 "$tmp/shared"
ns_pid() { awk '/^NSpid:/ { print $NF }' "/proc/$pid/status"; }
as_user="setpriv --reuid $user --regid $user --clear-groups"
# The command of the user of $pid, in all its namespaces.
inside_command() { nsenter -t "$pid" -m -p -n $as_user "$@" "$(ns_pid)"; }
outside_command() { "$@" "$pid"; }
command=$(readlink -f "$sxsprof")
for round in 1 2; do
    records "root from outside of the container, $round" outside_command "$command"
    records "its user from inside, $round" inside_command "$command"
done
finished
check "the program ends with status 0" $status "$tmp/log"

# ---- another file in the place of the library ----
installed=$tmp/shared/installed
mkdir -m 755 "$installed" && cp "$sxsprof" "$BUILD/libsxsprof.so" "$installed/" || exit 1
start_plain() {
    rm -f "$tmp/shared/until"
    TMPDIR=$tmp/shared timeout -k 5 300 $as_user "$runsxs" --timeout $LIMIT "$version" stress \
        "nre=2 div=0 gcs=20 loops=1 pool=100 until=$tmp/shared/until" >"$tmp/log" 2>&1 &
    outer=$!
    wait_until plain
}
plain() { pid=$(pgrep -P $outer -x runsxs) && grep -q 'stress\.dll' "/proc/$pid/maps"; }
user_command() { $as_user "$@" "$pid"; }
upgrade() { cp "$BUILD/libsxsprof.so" "$installed/new" && mv "$installed/new" "$installed/libsxsprof.so"; }
start_plain
records "the user of a process" user_command "$installed/sxsprof"
upgrade
records "after an upgrade" user_command "$installed/sxsprof"
upgrade
records "after one more upgrade" user_command "$installed/sxsprof"
records "root after the upgrades" outside_command "$installed/sxsprof"
mkdir -m 755 "$tmp/shared/other" && cp "$installed"/* "$tmp/shared/other/" || exit 1
records "another installation" user_command "$tmp/shared/other/sxsprof"
rm -r "$installed"
records "another installation, the first one removed" user_command "$tmp/shared/other/sxsprof"
finished
check "the program ends with status 0 after that" $status "$tmp/log"

# ---- the library refuses to be there twice, whoever asks ----
# attach_second CLAIM: a request of no command, with the path of another file
attach_second() {
    answer=$(TMPDIR=$tmp/shared timeout 100 python3 tests/integration/attach.py "$pid" \
        "$(sed -n 's/.*SXSPROF_CLSID "{\(.*\)}".*/\1/p' include/sxsprof.h)" "$tmp/shared/second/libsxsprof.so" 2>&1)
    [ "$answer" = 0x8013136a ] && [ "$(copies)" = 1 ]
    check "$1: the second copy refuses, and is unloaded ($answer)" $?
}
mkdir -m 755 "$installed" "$tmp/shared/second" && cp "$sxsprof" "$BUILD/libsxsprof.so" "$installed/" &&
    cp "$BUILD/libsxsprof.so" "$tmp/shared/second/" || exit 1
start_plain
records "the first copy" user_command "$installed/sxsprof"
attach_second "another file of the same version"
[ "$(grep -c 'another copy of the library is at work' "$tmp/log")" = 1 ]
check "it says so in one line" $? "$tmp/log"
records "after it was refused" user_command "$installed/sxsprof"
finished
check "the program ends with status 0 after a second copy" $status "$tmp/log"
# A version without the mark exports the function all the same.
sed -i 's/sxsprof_is_at_work/sxsprof_is_no_mark/' "$installed/libsxsprof.so"
start_plain
records "a copy of another version" user_command "$installed/sxsprof"
attach_second "beside another version"
finished
check "the program ends with status 0 after a second version" $status "$tmp/log"

# ---- a chroot ----
mkdir "$tmp/shared/root" && mount --rbind / "$tmp/shared/root" || exit 1
rm -f "$tmp/shared/until"
timeout -k 5 300 chroot "$tmp/shared/root" "$PWD/$runsxs" --timeout $LIMIT "$version" stress \
    "nre=2 div=0 gcs=20 loops=1 pool=100 until=$tmp/shared/until" >"$tmp/log" 2>&1 &
outer=$!
wait_until plain
for round in 1 2 3; do
    records "a process in a chroot, $round" outside_command "$command"
done
chroot_command() { chroot "$tmp/shared/root" "$@" "$pid"; }
records "from inside the chroot" chroot_command "$command"
records "from outside again" outside_command "$command"
finished
check "the program in the chroot ends with status 0" $status "$tmp/log"
umount -l "$tmp/shared/root"
finish
