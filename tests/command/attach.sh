#!/bin/bash
# SPDX-License-Identifier: MIT
# attach.sh - checks what sxsprof attach and detach refuse, with which words, and that nothing was touched.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
pids=
trap 'kill -CONT $pids 2>/dev/null; kill $pids 2>/dev/null; rm -rf "$T"' EXIT
mkdir "$T/work" "$T/8.0.29"
cd_sxs() { (cd "$T/work" && exec "$SXS" "$@"); }
# refused CLAIM "PART;PART..." ARGUMENT...: the exit status is 2, the message has each part, and no folder was made
refused() {
    local claim=$1 parts
    IFS=';' read -ra parts <<<"$2"
    try cd_sxs "${@:3}"
    has "$claim" "$status:$err" "2:" "${parts[@]}"
    is "$claim: nothing is left behind" "" "$(ls -A "$T/work")"
}
# shellcheck disable=SC2086 # CC may be "gcc -m64"
echo 'int coreclr_initialize;' | $CC -shared -fPIC -x c - -o "$T/8.0.29/libcoreclr.so"
cp "$T/8.0.29/libcoreclr.so" "$T/ld-musl-x86_64.so.1"

refused "no PID" "PID is missing;sxsprof ps" attach
refused "two PIDs" "'13';expected one process" attach 12 13
refused "an empty name" "empty" attach ""
refused "a PID that is none" "no process 999999999" attach 999999999
refused "PID 0" "'0'" attach 0
refused "a name that no process has" "no-such-program;sxsprof ps" attach no-such-program
refused "--all with a PID" "--all;name" attach --all 12
refused "--all with a name that no process has" "no-such-program" attach --all no-such-program
refused "a tool that does not exist" "--tool;'walk'" attach --tool walk $$
refused "a wrong option of a tool" "--tool" attach --tool sample:rate=no $$
refused "a wrong time" "--duration;'soon'" attach --duration soon $$
refused "a time of nothing" "--duration;'0'" attach --duration 0 $$
refused "a wrong delay" "--delay;'-1'" attach --delay=-1 $$
refused "a wrong pick" "--pick;'some'" attach --pick some $$
refused "an empty folder" "-o" attach -o "" $$
refused "--append without a folder" "--append;-o DIR" attach --append $$
refused "a process without a runtime" "$$;no .NET runtime" attach $$
refused "detach: no PID" "PID is missing" detach
refused "detach: a process without the library" "$$;not in this process" detach $$
refused "detach: no such process" "no process 999999999" detach 999999999

maps mute "$T/8.0.29/libcoreclr.so"
refused "no diagnostics port" "$pid;no runtime answers" attach $pid
kill -STOP $pid
refused "a stopped process" "$pid;stopped;kill -CONT" attach $pid
kill -CONT $pid
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$T" "$T/bin"
    chmod 777 "$T/work"
    other() { (cd "$T/work" && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$SXS" "$@"); }
    try other attach $pid
    has "a process of another user" "$status:$err" "2:" "$pid" "belongs to root" "by root"
    try other detach $pid
    has "detach: a process of another user" "$status:$err" "2:" "belongs to root"
else
    skip "a process of another user" "needs root"
fi
DOTNET_EnableDiagnostics=0 maps off "$T/8.0.29/libcoreclr.so"
refused "diagnostics are off" "$pid;DOTNET_EnableDiagnostics=0" attach $pid
maps alpine "$T/8.0.29/libcoreclr.so" "$T/ld-musl-x86_64.so.1"
refused "a process with musl" "$pid;musl;glibc" attach $pid
has "a name that several processes have" "$(try cd_sxs attach python3; echo "$status:$err")" "2:" "processes have this name"

# A socket with the name of a port at which nobody answers, or something else.
serve() { # ANSWER: of a process that has mapped a runtime; sets $pid
    TMPDIR=$T/tmp python3 -c 'import mmap, os, socket, sys, time
with open(sys.argv[1], "rb") as f:
    kept = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
start = open("/proc/self/stat").read().rpartition(")")[2].split()[19]
s = socket.socket(socket.AF_UNIX)
os.chdir(os.environ["TMPDIR"]) # the whole path may be too long for an address
s.bind("dotnet-diagnostic-%d-%s-socket" % (os.getpid(), start))
s.listen(5)
open(sys.argv[2], "w").close()
while True:
    c, _ = s.accept()
    c.recv(100)
    c.sendall(sys.argv[3].encode("latin-1"))
    c.close()' "$T/8.0.29/libcoreclr.so" "$T/ready" "$1" &
    pid=$!
    pids="$pids $pid"
    while [ ! -e "$T/ready" ]; do kill -0 $pid || return; sleep 0.05; done
    rm -f "$T/ready"
}
serve "HTTP/1.1 400 Bad Request"
refused "a port that answers something else" "$pid;damaged" attach $pid
serve ""
refused "a port that closes the connection" "$pid;no runtime answers" attach $pid
finish
