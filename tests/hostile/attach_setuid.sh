# SPDX-License-Identifier: MIT
# attach_setuid.sh - plays a process that becomes a set-user-ID program and back while an attach looks at it, so that its
# settings are believed with root's rights; and processes with rights that their user does not have. Without the comparison
# of identities in the child (become() in cmd/processes/inside.c), root's socket is gone after some 20 attaches.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root attach_setuid
. tests/hostile/target.inc
secret=$tmp/secret
mkdir -m 700 "$secret"
mkdir -m 755 "$tmp/bin"
${CC:-cc} -O1 -o "$tmp/bin/plain" tests/hostile/flip.c && cp "$tmp/bin/plain" "$tmp/bin/setuid" && chmod 4755 "$tmp/bin/setuid"
findmnt -no OPTIONS -T "$tmp" | grep -q nosuid && skip_all attach_setuid "no set-user-ID program runs from $tmp"
flip() { # MODE PROGRAM: sets $pid
    # shellcheck disable=SC2046
    env "DOTNET_DiagnosticPorts=$secret/file,listen;$secret/dead" $(user $attacker) \
        "$tmp/bin/$2" "$tmp/bin/plain" "$tmp/bin/setuid" "$target_library" "$1" 2>"$tmp/flip.log" &
    pid=$!
    pids="$pids $pid"
    maps() { grep -q libcoreclr "/proc/$pid/maps"; }
    wait_until maps
}
flip once setuid
"$sxsprof" attach --duration 1s -o "$tmp/out" "$pid" >"$tmp/log" 2>&1
[ $? = 2 ] && grep -q 'set-user-ID program; expected' "$tmp/log"
check "a set-user-ID program is refused, with the reason" $? "$tmp/log"
"$sxsprof" ps >"$tmp/ps" 2>&1 && grep -q "^ *$pid .*8\.0\.29" "$tmp/ps"
check "sxsprof ps lists it" $? "$tmp/ps"
flip guarded plain
"$sxsprof" attach --duration 1s -o "$tmp/out" "$pid" >"$tmp/log" 2>&1
[ $? = 2 ] && grep -q 'its own user may not look into it' "$tmp/log"
check "a process that its own user may not look into is refused, with the reason" $? "$tmp/log"
# Root's socket at which nobody listens: whoever acts with root's rights replaces it. And a file.
dead_socket 0 "$secret/dead"
echo precious >"$secret/file"
inode=$(stat -c %i "$secret/dead")
flip flip plain
for n in $(seq "${RUNS:-40}"); do
    timeout 30 "$sxsprof" attach --duration 100ms -o "$tmp/out" "$pid" >"$tmp/log" 2>&1
    case $? in 2) ;; *) not_ok "attach $n is refused" "$tmp/log" ;; esac
    [ "$(stat -c %i "$secret/dead" 2>/dev/null)" = "$inode" ] || break
done
[ "$(stat -c %i "$secret/dead" 2>/dev/null)" = "$inode" ] && [ "$(cat "$secret/file")" = precious ]
check "$n attaches to a process that becomes a set-user-ID program and back: root's socket is there" $? "$tmp/log"
kill -0 "$pid"
check "that process ran all the time" $? "$tmp/flip.log"
finish
