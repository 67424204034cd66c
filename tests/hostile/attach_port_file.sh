# SPDX-License-Identifier: MIT
# attach_port_file.sh - plays processes whose setting DOTNET_DiagnosticPorts names something that is no socket of theirs:
# a file, a link to root's file, a pipe, a socket of another user. An attach by root must not remove it. Also plays the
# user 0 of a container, who has no capabilities.
. "$(dirname "$0")/lib.sh"
needs_root attach_port_file
. tests/hostile/target.inc
lair=$(lair $attacker lair)
secret=$tmp/secret
mkdir -m 700 "$secret" && echo precious >"$secret/file" && chmod 600 "$secret/file"
theirs=$(lair $victim theirs)
as $attacker sh -c "echo data >$lair/data; mkfifo $lair/pipe; ln -s $secret/file $lair/link; mkdir $lair/folder"
dead_socket $victim "$theirs/other"
mv "$theirs/other" "$lair/other"
dead_socket $attacker "$lair/dead"
dead_socket 0 "$theirs/roots"

ports_of() { # USER PORT: a process of the user with this port
    # shellcheck disable=SC2046
    target $(user "$1") env "DOTNET_DiagnosticPorts=$2" -- sleep
}
for name in data pipe link folder other dead; do
    ports_of $attacker "$lair/$name"
    attach_to $name "$pid"
done
# shellcheck disable=SC2046
target $(user $attacker) env "DOTNET_DiagnosticPorts=$lair/new" -- replace "$lair/new"
attach_to new "$pid"
# A container's user 0: no capability, so only what belongs to user 0 itself, or is open to all, can be changed.
target setpriv --bounding-set=-all --inh-caps=-all env "DOTNET_DiagnosticPorts=$theirs/roots" -- sleep
attach_to roots "$pid"
target setpriv --bounding-set=-all --inh-caps=-all env "DOTNET_DiagnosticPorts=$secret/file" -- sleep
attach_to file "$pid"
attached

refused() { # NAME TEXT: the attach was refused, with this reason
    [ "$(cat "$tmp/$1.status")" = 2 ] && grep -q "$2" "$tmp/$1.log"
    check "$3" $? "$tmp/$1.log"
}
refused data 'data: it is a regular file; expected a socket or a free name' "a port that is a regular file is refused, with the reason"
[ "$(cat "$lair/data" 2>/dev/null)" = data ]
check "the file is there" $?
refused link 'link: it is a link' "a port that is a link is refused, with the reason"
[ -L "$lair/link" ] && [ "$(cat "$secret/file")" = precious ]
check "the link and root's file are there" $?
refused pipe 'pipe: it is no socket' "a port that is a pipe is refused, with the reason"
[ -p "$lair/pipe" ]
check "the pipe is there" $?
refused folder 'folder: it is no socket' "a port that is a folder is refused, with the reason"
refused other "other: a socket of user $victim is there" "a port that is another user's socket is refused, with the reason"
[ -S "$lair/other" ]
check "the socket of the other user is there" $?
refused dead 'no runtime answers' "a dead socket of the process's own user is replaced"
[ ! -e "$lair/dead" ]
check "the socket that replaced it is removed at the end" $?
[ "$(cat "$lair/new" 2>/dev/null)" = own ]
check "a file that took the place of the command's own socket is not removed" $? "$tmp/new.log"
[ -S "$theirs/roots" ]
check "user 0 without capabilities has no socket removed from another user's folder" $? "$tmp/roots.log"
refused file 'file: it is a regular file' "user 0 without capabilities: root's file is refused as a port"
[ "$(cat "$secret/file" 2>/dev/null)" = precious ]
check "root's file is there" $?
finish
