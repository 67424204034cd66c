# SPDX-License-Identifier: MIT
# session_swap.sh - plays a process whose session's folder becomes a link to a session of root while root looks at the
# process: top shows its own session or none, never the other one. The test fails when the session is opened by its name, not
# by the descriptor that was checked, or when links are followed (open_session(), open_plain() in cmd/processes/session.c).
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root session_swap
pids=
trap 'kill $pids 2>/dev/null; wait $pids 2>/dev/null; rm -rf "$tmp"' EXIT
cp tests/hostile/session_swap.py "$tmp/swap.py" && chmod 644 "$tmp/swap.py"
lair=$(lair $attacker lair)
record() { # FOLDER WORD: a session of a program with WORD in its command
    (exec -a "$2" "$sxsprof" run --quiet --tool census -o "$1" -- "$runsxs" --timeout 20 fake:8.0 "!modules 3" "") \
        >"$tmp/log" 2>&1 ||
        (exec -a "$2" "$sxsprof" run --quiet --tool sample -o "$1" -- "$runsxs" --timeout 20 fake:8.0 "!modules 3" "") \
            >"$tmp/log" 2>&1
}
record "$tmp/secret" x
folder=$(basename "$tmp"/secret/[0-9]*)
[ -s "$tmp/secret/$folder/census" ]
check "a session is recorded" $? "$tmp/log"
chmod 700 "$tmp/secret"
cp -r "$tmp/secret" "$lair/s"
# The same session with other words: root's says "secret" where the attacker's says "public".
python3 - "$tmp/secret/$folder/census" "$lair/s/$folder/census" <<'E2'
import sys
for path, word in zip(sys.argv[1:], (b"secret", b"public")):
    data = open(path, "rb").read()
    at = data.index(b"runsxs")
    open(path, "r+b").write(data[:at] + word + data[at + 6:])
E2
chown -R $attacker:$attacker "$lair/s"
as $attacker ln -s "$tmp/secret" "$lair/link"
as $attacker mkdir "$lair/ready"
setpriv --reuid $attacker --regid $attacker --clear-groups /usr/bin/python3 -B "$tmp/swap.py" "$lair/s/$folder/census" "$lair/ready/1" "$lair/s" "$lair/link" &
pid=$!
pids=$pid
wait_until test -e "$lair/ready/1"
kill -0 $pid
check "the attacker exchanges the folders" $? "$tmp/log"
as $attacker cat "$lair"/*/"$folder/census" 2>/dev/null | grep -q secret && not_ok "the attacker can read it himself"

: >"$tmp/seen"
n_shown=0
for _ in $(seq 25); do
    timeout -k 1 10 "$sxsprof" top --batch -n 1 "$pid" >"$tmp/out" 2>&1 </dev/null
    grep -q public "$tmp/out" && n_shown=$((n_shown + 1))
    cat "$tmp/out" >>"$tmp/seen"
done
! grep -q secret "$tmp/seen"
check "top of the process never shows the session of root (its own: $n_shown times of 25)" $? "$tmp/seen"
kill $pid
finish
