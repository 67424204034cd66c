# SPDX-License-Identifier: MIT
# attach_container.sh - checks sxsprof attach from the host into a container made of namespaces: other mounts, process
# IDs and network, a /dev/shm of its own, another user. Needs root. RUNS, TOOLS and MS as in attach_detach.sh.
. "$(dirname "$0")/lib.sh"
: "${RUNS:=4}" "${TOOLS:=sample events}" "${MS:=500}"
. tests/integration/attach_many.inc
need_real 1
LIMIT=$((280 + RUNS * 10))
. tests/integration/container.inc
user=$((20000 + $$ % 40000)) # of this run alone: folders are found by it
needs_container "attach_container" $user
# Folders for attaches in the container, whose /tmp is the host's: there are those of other attaches, too.
left() { find "/proc/$pid/root/dev/shm" "/proc/$pid/root/tmp" -maxdepth 1 -regextype posix-egrep \
    -regex '.*/sxsprof-[0-9a-f]{16}' -user "$user" 2>/dev/null; }
session() { # DIR
    "$sxsprof" report --format json "$1" >"$tmp/json" 2>>"$tmp/attach" &&
        [ "$(jsonq "$tmp/json" "[x['state'] for x in r]")" = "['picked']" ] &&
        "$sxsprof" report --data samples --format text "$1" >"$tmp/text" 2>>"$tmp/attach" && grep -q stress "$tmp/text"
}

container $user mode=1777
"$sxsprof" ps --format json >"$tmp/ps"
is_listed="$(python3 -c 'import json, sys
p = next(x for x in json.load(open(sys.argv[1]))["processes"] if x["pid"] == int(sys.argv[2]))
print(p["own_root"], p["pid_inside"] != p["pid"], p["uid"], [r["version"] for r in p["runtimes"]])' "$tmp/ps" "$pid")"
[ "$is_listed" = "True True $user ['$version']" ]
check "sxsprof ps shows a process in a container, with its runtime and its user" $? "$tmp/ps"
attach_many "a container" 1
timeout 120 "$sxsprof" attach --duration 1s -o "$tmp/out.1" "$pid" >"$tmp/attach" 2>&1 && session "$tmp/out.1"
check "the session is outside, with samples of the program" $? "$tmp/attach"
[ -z "$(left)" ]
check "no file is left in the container" $?
[ "$(stat -c %u "$tmp/out.1")" = 0 ] && [ -z "$(find "$tmp/out.1" ! -user root)" ]
check "the fetched session belongs to the user of the command" $?
[ "$(grep 'libsxsprof\.so' "/proc/$pid/maps" | awk '{ print $5 }' | sort -u | wc -l)" = 1 ]
check "the library is in the process once" $?
setpriv --reuid 1234 --regid 1234 --clear-groups "$sxsprof" attach -o "$tmp/refused" "$pid" >"$tmp/attach" 2>&1
[ $? -eq 2 ] && grep -q 'by root' "$tmp/attach"
check "a third user is refused" $? "$tmp/attach"
# A command that is killed leaves its folder; the next one removes it, and nothing else.
rm -f "$tmp/attach" # that of the one before
"$sxsprof" attach -o "$tmp/killed" "$pid" >"$tmp/attach" 2>&1 &
attacher=$!
recording() { grep -qs 'recording in process' "$tmp/attach"; }
wait_until recording
kill -9 $attacher
wait $attacher 2>/dev/null
killed=$(left)
# Beside it, so that the next one looks at them: one that is kept, and one with another name.
number=$(printf %015x $$) beside=$(dirname "${killed:-$tmp/none}")
keep=$beside/sxsprof-${number}0 other=$beside/sxsprof-${number}g
mkdir -m 700 "$keep" "$other" && : >"$keep/keep"
chown -R $user:$user "$keep" "$other"
touch -d '2 minutes ago' "$keep" "$other" $killed
attaches() { timeout 120 "$sxsprof" attach --duration 300ms -o "$tmp/after" "$pid" >"$tmp/attach" 2>&1; }
wait_until attaches
[ -n "$killed" ] && [ ! -e "$killed" ] && [ "$(left)" = "$keep" ] && [ -d "$other" ]
check "the folder of a command that was killed is removed by the next attach, others are not" $? "$tmp/attach"
rm -r "$keep" "$other"

# The attach ends with the container.
rm -f "$tmp/attach"
"$sxsprof" attach -o "$tmp/ended" "$pid" >"$tmp/attach" 2>&1 &
attacher=$!
wait_until recording
finished
check "the program in the container ends with status 0" $status "$tmp/log"
wait $attacher
check "the attach ends with the container" $? "$tmp/attach"
session "$tmp/ended"
check "the session of a container that is gone is outside" $? "$tmp/attach"

# Nothing can be loaded: each folder is noexec or read-only.
if mount -t tmpfs -o noexec,mode=1777 tmpfs "$tmp/shared" 2>/dev/null; then
    umount "$tmp/shared"
    container 0 noexec,mode=1777
    nsenter -t "$pid" -m mount -t tmpfs -o ro tmpfs /tmp 2>/dev/null
    "$sxsprof" attach --duration 1s -o "$tmp/noexec" "$pid" >"$tmp/attach" 2>&1
    [ $? -eq 2 ] && grep -q 'noexec' "$tmp/attach" && [ ! -e "$tmp/noexec" ]
    check "a container without a place for the library is refused, with the reason for each folder" $? "$tmp/attach"
    kill -9 "$pid"
    wait $outer 2>/dev/null
fi

# Another user without a container: the folder of the command cannot be reached by that user.
mkdir -m 1777 "$tmp/theirs"
TMPDIR=$tmp/theirs timeout -k 5 300 setpriv --reuid $user --regid $user --clear-groups "$runsxs" --timeout 280 "$version" \
    stress "nre=2 div=0 gcs=20 loops=1 pool=100 until=$tmp/shared/until" >"$tmp/log" 2>&1 &
outer=$!
rm -f "$tmp/shared/until"
plain() { pid=$(pgrep -P $outer -x runsxs) && grep -q 'stress\.dll' "/proc/$pid/maps"; }
wait_until plain
mkdir -m 700 "$tmp/private"
timeout 120 "$sxsprof" attach --duration 1s -o "$tmp/private/out" "$pid" >"$tmp/attach" 2>&1
check "root attaches to a process of another user" $? "$tmp/attach"
session "$tmp/private/out"
check "the session of another user's process is where root wants it" $? "$tmp/attach"
[ -z "$(find /tmp -maxdepth 1 -regextype posix-egrep -regex '.*/sxsprof-[0-9a-f]{16}' -user $user 2>/dev/null)" ]
check "no folder of that user is left" $?
finished
check "the program of the other user ends with status 0" $status "$tmp/log"
finish
