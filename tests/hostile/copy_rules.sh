# SPDX-License-Identifier: MIT
# copy_rules.sh - plays a process whose session has more in it than a session may have, so that root's copy would take
# files of others, fill the disk or never end: links, pipes, files of other users and names, folders in folders, 70,000
# names, files larger than the disk. snapshot and attach copy the rest, say what is left out, and end with status 1.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root copy_rules
. tests/hostile/control.inc
library=$(realpath "$BUILD/libsxsprof.so")
lair=$(lair $attacker lair)
"$sxsprof" run --quiet --tool sample -o "$tmp/whole" -- "$runsxs" --timeout 20 fake:8.0 '!modules 3' '' >"$tmp/log" 2>&1
echo secret >"$tmp/secret" && chmod 600 "$tmp/secret"
# session N: make a session whose process's folder is named N
session() {
    mkdir "$lair/$1"
    cp -r "$tmp"/whole/[0-9]* "$lair/$1/$1"
    chown -R $attacker:$attacker "$lair/$1"
}
snapshot() { # N: a process says that it records there, and root copies it
    peer fake "$library" map "$lair/$1/$1/census" "ok\nphase=on\nnumber=1\ntools=sample\nout=$lair/$1/$1\nstarted_ns=1\n\n"
    rm -rf "$tmp/copy"
    cost "$sxsprof" snapshot -o "${to:-$tmp/copy}" $peer_pid
    kill $peer_pid
}
left_out() { # NUMBER: status 1, and the message says how many are left out
    [ "$status" -eq 1 ] && grep -q "left out of the copy: $1 files or folders, first " "$tmp/err"
}

session 71
snapshot 71
[ "$status" -eq 0 ] && cmp "$lair/71/71/samples" "$tmp/copy/71/samples" && [ ! -s "$tmp/err" ]
check "a plain session is copied whole: status 0, no message" $? "$tmp/err"

session 72
as $attacker ln -s "$tmp/secret" "$lair/72/72/events"
as $attacker mkfifo "$lair/72/72/gc"
as $attacker sh -c 'echo x >"$0/passwd"; echo x >"$0/calls"' "$lair/72/72"
chown $victim "$lair/72/72/calls"
snapshot 72
left_out 4
check "a link, a pipe, a foreign file and a strange name: four are left out, status 1 (status $status)" $? "$tmp/err"
[ -s "$tmp/copy/72/samples" ] && [ ! -e "$tmp/copy/72/events" ] && [ ! -e "$tmp/copy/72/gc" ] && [ ! -e "$tmp/copy/72/calls" ] && [ ! -e "$tmp/copy/72/passwd" ]
check "the rest is there" $? "$tmp/err"

# The folder of a process in one of a process, seven deep.
session 73
deep=$lair/73/73
for n in 1 2 3 4 5 6 7; do
    deep=$deep/$n
    as $attacker mkdir "$deep" && as $attacker sh -c 'echo x >"$0/samples"' "$deep"
done
snapshot 73
left_out 1 && grep -q 'first 5: no part of a session' "$tmp/err"
check "folders are copied four deep, and that is said: status 1 (status $status)" $? "$tmp/err"
[ -e "$tmp/copy/73/1/2/3/4/samples" ] && [ ! -e "$tmp/copy/73/1/2/3/4/5" ]
check "four of seven folders are there" $? "$tmp/err"

session 74
as $attacker /usr/bin/python3 -c 'import sys
for i in range(70000): open("%s/.%d" % (sys.argv[1], i), "w").close()' "$lair/74/74"
snapshot 74
[ "$status" -eq 1 ] && grep -q 'the copy of .* is not complete: File too large' "$tmp/err"
check "70,000 names end the copy with a message: status 1 (status $status)" $? "$tmp/err"
at_most "such a copy ends in time" 20 200000
rm -rf "$lair/74"

# A file of 24 MB where 32 MB are free.
session 75
mkdir "$tmp/small"
if mount -t tmpfs -o size=32m none "$tmp/small" 2>/dev/null; then
    as $attacker dd if=/dev/urandom of="$lair/75/75/calls" bs=1M count=24 status=none
    to=$tmp/small/copy snapshot 75
    [ "$status" -eq 1 ] && grep -q 'the copy of .* is not complete: File too large' "$tmp/err"
    check "a session that needs more than half of the free space is not copied whole: status 1 (status $status)" $? "$tmp/err"
    [ "$(df --output=used -k "$tmp/small" | tail -n 1)" -le 16500 ]
    check "half of the space stays free" $? "$tmp/err"
    umount "$tmp/small"
else
    skip "half of the free space stays free" "no tmpfs can be mounted here"
fi
# attach has a folder made in which the process records, and copies that.
mkdir -m 755 "$tmp/8.0.29"
echo 'int coreclr_initialize;' | ${CC:-cc} -shared -fPIC -x c - -o "$tmp/8.0.29/libcoreclr.so"
peer fake "$library" fill "$tmp/8.0.29/libcoreclr.so" \
    'ok\nphase=none\nnumber=1\ntools=census\nruntime=1 8.0.29 picked live /x/libcoreclr.so\n\n'
cost "$sxsprof" attach --tool census --duration 1s -o "$tmp/attached" $peer_pid
kill $peer_pid
[ "$status" -eq 1 ] && grep -q 'left out of the copy of the session: 2 of its files or folders, first ' "$tmp/err"
check "attach: a link and a strange name are left out, status 1 (status $status)" $? "$tmp/err"
[ -e "$tmp/attached/71/calls" ] && [ ! -e "$tmp/attached/71/events" ] && [ ! -e "$tmp/attached/71/passwd" ]
check "the rest is there" $? "$tmp/err"
finish
