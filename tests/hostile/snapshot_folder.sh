# SPDX-License-Identifier: MIT
# snapshot_folder.sh - plays a process that names a folder of somebody else as that of its session: snapshot, stop and
# status of root neither copy, print nor walk it. A session that is the process's own is copied.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root "$0"
. tests/hostile/control.inc
as $victim test -x "$runsxs" -a -r "$BUILD/libsxsprof.so" || skip_all "$0" "user $victim cannot read $BUILD"
library=$(realpath "$BUILD/libsxsprof.so")
lair=$(lair $attacker lair)

# Folders with a file "samples" in them, which must not be seen by others.
mkdir -m 700 "$tmp/secret" "$tmp/secret/77"
as $attacker mkdir "$lair/77" "$lair/78" "$lair/open" "$lair/open/77" "$lair/mapped"
as $attacker chmod 777 "$lair/open/77"
as $attacker ln -s "$tmp/secret" "$lair/link"
as $attacker ln -s "$tmp/secret/77" "$lair/mapped/79"
for dir in "$tmp/secret/77" "$lair/77" "$lair/open/77"; do
    echo secret >"$dir/samples"
    head -c 8192 /dev/zero >"$dir/census"
done
chown -R $attacker:$attacker "$lair/77" "$lair/open"

# names CLAIM OUT [MAPPED...]: a process says that it records into OUT, and has files mapped
names() {
    local claim=$1 out=$2
    shift 2
    peer fake "$library" map "$@" "ok\nphase=on\nnumber=1\ntools=census\nout=$out\nstarted_ns=1\n\n"
    cost "$sxsprof" snapshot -o "$tmp/copy" $peer_pid
    [ "$status" -eq 1 ] && grep -q 'is no session of its own: ' "$tmp/err" && [ ! -e "$tmp/copy" ]
    check "$claim: snapshot refuses it, and makes no folder" $? "$tmp/err"
    rm -rf "$tmp/copy"
    cost "$sxsprof" status $peer_pid
    case $claim in
    "its own folder"*) ;; # whose size it may know
    *)
        [ "$status" -eq 0 ] && grep -q "folder  .*(0 B)" "$tmp/out"
        check "$claim: status tells no size" $? "$tmp/out" ;;
    esac
    at_most "$claim: status does not walk through it" 5 100000
    kill $peer_pid
}
stops() { # CLAIM OUT
    peer fake "$library" say "ok\nphase=none\nnumber=1\ntools=census\nout=$2\nstarted_ns=1\n\n"
    cost "$sxsprof" stop $peer_pid
    [ "$status" -eq 1 ] && [ ! -s "$tmp/out" ] && [ "$(grep -c . "$tmp/err")" -eq 1 ] && grep -q 'is no session of its own: ' "$tmp/err"
    check "$1: stop prints nothing of it" $? "$tmp/err"
    kill $peer_pid
}
names "a folder of root" "$tmp/secret/77"
names "a folder that everybody may read" /usr
names "a link to a folder of root" "$lair/link/77"
names "a folder that is a link" "$lair/mapped/79"
names "its own folder, which it does not record into" "$lair/77"
names "a folder that others may write into" "$lair/open/77" "$lair/open/77/census"
stops "a folder of root" "$tmp/secret/77"
stops "a link to a folder of root" "$lair/link/77"

victim setpriv --reuid $victim --regid $victim --clear-groups
"$sxsprof" start --tool census -o "$tmp/own" "$pid" >"$tmp/out" 2>&1 ||
    "$sxsprof" start --tool sample -o "$tmp/own" "$pid" >"$tmp/out" 2>&1
check "root begins a session of another user's program" $? "$tmp/out"
"$sxsprof" snapshot -o "$tmp/copy" "$pid" >"$tmp/out" 2>&1 && test -s "$tmp/copy/$pid/census"
check "root copies it" $? "$tmp/out"
"$sxsprof" status "$pid" >"$tmp/out" 2>&1 && grep -q 'folder .*([1-9][0-9.]* [KM]iB)' "$tmp/out"
check "status tells its size" $? "$tmp/out"
"$sxsprof" stop "$pid" >"$tmp/out" 2>&1 && grep -q 8.0.0 "$tmp/out"
check "stop prints it" $? "$tmp/out"
leave
finish
