# SPDX-License-Identifier: MIT
# ps_paths.sh - a user maps files whose paths lead root elsewhere: a line feed in the path, which /proc/PID/maps writes as
# "\012", while the literal path is a link to a file of root's, or to a pipe; another file mounted over the path.
. "$(dirname "$0")/lib.sh"
needs_root "$0"
own_pids
. tests/hostile/mapper.inc

# A version that only root can read. The runtimes of the attacker have none.
{ head -c 4096 /dev/zero; printf '@(#)Version 66.6.6600.1 @Commit: 0'; } >"$tmp/secret"
chmod 600 "$tmp/secret"
lair=$(lair $attacker lair)
feed=$(printf 'line\nfeed')
# plant NAME TARGET: the attacker maps NAME<line feed>/libcoreclr.so; the literal path is a link to TARGET
plant() {
    as $attacker mkdir "$lair/$1$feed" "$lair/$1line\\012feed"
    as $attacker sh -c 'head -c 100000 /dev/zero >"$1"' sh "$lair/$1$feed/libcoreclr.so"
    as $attacker ln -s "$2" "$lair/$1line\\012feed/libcoreclr.so"
    hostile "$lair/$1ready" map "$lair/$1$feed/libcoreclr.so"
    wait_until mapped "$lair/$1ready"
}
# lists_without CLAIM TEXT: the process is listed with one runtime, and nothing said of it has TEXT
lists_without() {
    "$sxsprof" ps --format json >"$tmp/out" 2>"$tmp/err"
    python3 -c 'import json, sys
p = [x for x in json.load(open(sys.argv[1]))["processes"] if x["pid"] == int(sys.argv[2])]
sys.exit(len(p) != 1 or len(p[0]["runtimes"]) != 1 or sys.argv[3] in str(p))' "$tmp/out" "$pid" "$2"
    check "$1" $? "$tmp/out"
}

plant a "$tmp/secret"
lists_without "a link where a line feed is written as \\012 is not followed to a file of root's" 66.6
mkfifo -m 666 "$tmp/pipe"
(: >"$tmp/pipe"; touch "$tmp/opened") 2>/dev/null &
writer=$!
pids="$pids $writer"
plant b "$tmp/pipe"
lists_without "the process with a link to a pipe is listed" 66.6
[ ! -e "$tmp/opened" ]
check "a pipe is not opened" $?
plant c /dev/zero
lists_without "the process with a link to a device is listed" 66.6

if as $attacker unshare -U -m -r true 2>/dev/null; then
    as $attacker mkdir "$lair/mount"
    as $attacker sh -c 'head -c 100000 /dev/zero >"$1"' sh "$lair/mount/libcoreclr.so"
    as $attacker unshare -U -m -r sh -c '"$1" "$2" "$3" map "$4" & wait_for=$!
        while [ ! -e "$3" ]; do sleep 0.05; done
        mount --bind "$5" "$4" && touch "$3.mounted"; echo $wait_for; wait' sh \
        "$python" "$tmp/mapper.py" "$lair/mount.ready" "$lair/mount/libcoreclr.so" "$tmp/secret" >"$tmp/pid" &
    pids="$pids $!"
    wait_until test -s "$tmp/pid"
    pid=$(cat "$tmp/pid")
    pids="$pids $pid"
    if [ -e "$lair/mount.ready.mounted" ]; then
        lists_without "a file that is mounted over a path is not read instead" 66.6
    else
        ok "a file that is mounted over a path # SKIP it cannot be mounted here"
    fi
else
    ok "a file that is mounted over a path # SKIP users cannot make namespaces here"
fi
as $victim "$sxsprof" ps >"$tmp/out" 2>"$tmp/err"
check "another user's list works" $? "$tmp/err"
finish
