#!/bin/bash
# SPDX-License-Identifier: MIT
# report_devices.sh - plays somebody who sends a session to root, or leaves one where root makes a report of it. The
# paths of modules, assemblies, PDBs and debug files in it name what must not be opened: devices, pipes, files of the
# kernel, files that the sender cannot read, a file system that never answers, and files that need all memory and time.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root report_devices
SXS=$BUILD/sxsprof
home=$(lair $attacker home)
mkdir "$tmp/root" && chmod 755 "$tmp/root"
cc -std=gnu11 -D_GNU_SOURCE -g -I. tests/hostile/make_paths.c -o "$tmp/make_paths" -lz &&
    cc -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_symbols.c -o "$tmp/make_symbols" -lz || exit 1
printf 'static __attribute__((noinline)) int deep_secret(int n) { return n * 3; }\nint entry(int n);\nint entry(int n) { return deep_secret(n) + 1; }\n' >"$tmp/lib.c"
cc -O1 -g -fPIC -shared -Wl,--build-id=sha1 -o "$tmp/root/secret.so" "$tmp/lib.c" || exit 1
address=$(nm "$tmp/root/secret.so" | awk '$3 == "deep_secret" { print $1 }')
id=$(readelf -n "$tmp/root/secret.so" | sed -n 's/.*Build ID: //p')
cp "$tmp/root/secret.so" "$tmp/root/readable.so"
chmod 600 "$tmp/root/secret.so"
chmod 644 "$tmp/root/readable.so"

# session NAME OWNER MODULE [ASSEMBLY]: a session that needs the names of a module
session() {
    "$tmp/make_symbols" "$tmp/$1" "$3" "${5-$id}" "$address" "${4:-/gone/App.dll}" && chown -R "$2:$2" "$tmp/$1"
}
report() { cost "$SXS" report "$@"; }
names() { grep -q deep_secret "$tmp/out"; }

# --- who may read the file
session own 0 "$tmp/root/secret.so"
report "$tmp/own"
names; check "root's session of a file of root has names" $? "$tmp/err"
session his $attacker "$tmp/root/secret.so"
report "$tmp/his"
names; check "another user's session has no names of a file of root that he cannot read" $((! $?)) "$tmp/out"
grep -q "secret.so: not readable by the owner of the session: its functions have no names" "$tmp/err"
check "a line says so" $? "$tmp/err"
session readable $attacker "$tmp/root/readable.so"
report "$tmp/readable"
names; check "another user's session has the names of a file that he can read" $? "$tmp/err"
chmod 700 "$tmp/root"
report "$tmp/readable"
names; check "it has none when he cannot reach the file" $((! $?)) "$tmp/out"
chmod 755 "$tmp/root"
if setfacl -m "u:$attacker:r" "$tmp/root/secret.so" 2>/dev/null; then
    report "$tmp/his"
    names; check "an access list that lets him read the file counts" $? "$tmp/err"
    setfacl -b "$tmp/root/secret.so"
fi
ln -s "$tmp/root/secret.so" "$home/link.so"
session linked $attacker "$home/link.so"
report "$tmp/linked"
names; check "a link does not help him" $((! $?)) "$tmp/out"
# a file of root that has the PDB's name: what it is must not be read either
"$tmp/make_symbols" -a "$home/App.dll" "$tmp/root/App.pdb" "$tmp/root/App.pdb" && chmod 600 "$tmp/root/App.pdb"
session lines $attacker "$tmp/root/readable.so" "$home/App.dll"
report "$tmp/lines"
grep -q 'a.cs' "$tmp/out"; check "no lines of a PDB of root that he cannot read" $((! $?)) "$tmp/out"
chmod 644 "$tmp/root/App.pdb"
report "$tmp/lines"
grep -q 'a.cs' "$tmp/out"; check "lines of a PDB that he can read" $? "$tmp/err"

# --- what is no file of data. An open of a device has effects; strace tells of each open.
mknod "$home/null" c 1 3 && mknod "$home/full" c 1 7 && mknod "$home/disk" b 7 200
mkfifo "$home/pipe" "$home/pipe.pdb"
ln -s nowhere "$home/dangling"
ln -s round "$home/round"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$home/socket"
long=$(printf '%04000d' 0)
"$tmp/make_symbols" -a "$home/device.dll" "$tmp/unused.pdb" /dev/full
"$tmp/make_symbols" -a "$home/up.dll" "$tmp/unused.pdb" "/dev/../dev/./full"
"$tmp/make_symbols" -a "$home/pipe.dll"
odd=("$home/null" "$home/full" "$home/disk" "$home/pipe" "$home/dangling" "$home/round" "$home/socket" "$home"
    /dev/full /dev/zero /dev/tty /dev/watchdog /proc/1/mem /proc/kmsg /proc/self/mem /proc/kcore "/proc/self/fd/0"
    /sys/kernel/uevent_seqnum /sys/kernel/mm/transparent_hugepage/enabled "/$long/x.so" "")
assemblies=("$home/null" "$home/pipe" /dev/full "$home/device.dll" "$home/up.dll" "$home/pipe.dll" /proc/self/mem)
"$tmp/make_paths" "$tmp/odd" "${odd[@]}" -- "${assemblies[@]}"
for owner in 0 $attacker; do
    chown -R "$owner:$owner" "$tmp/odd"
    report "$tmp/odd"
    check "a session of $owner that names devices, pipes and files of the kernel: the report is written" "$status" "$tmp/err"
    at_most "it takes no more than others" 10 262144
    [ "$(grep -c "not a regular file" "$tmp/err")" -ge 9 ] && grep -q "pipe: not a regular file: its functions" "$tmp/err"
    check "lines say why there are no names" $? "$tmp/err"
done
if strace -f -o "$tmp/trace" -e trace=open,openat,openat2 "$SXS" report "$tmp/odd" >/dev/null 2>&1; then
    # only O_PATH, which has no effect, names them; /proc/self/fd/N is the file that was looked at
    grep -E "\"($home/(null|full|disk|pipe|pipe.pdb|socket)|/dev/(full|zero|tty|watchdog|\.\./dev/\./full)|/proc/(1|self)/mem|/proc/kmsg|/proc/kcore|/sys/[^\"]*(uevent|hugepage)[^\"]*)\"" \
        "$tmp/trace" >"$tmp/named"
    [ -s "$tmp/named" ]; check "the trace has the paths" $? "$tmp/trace"
    grep -v O_PATH "$tmp/named" >"$tmp/opened"
    [ ! -s "$tmp/opened" ]; check "none of them is opened, except with O_PATH" $? "$tmp/opened"
else
    skip "what is opened" "strace does not work here"
fi

# --- debuglinks
echo 'root:$6$hidden' >"$tmp/root/shadow" && chmod 600 "$tmp/root/shadow"
cc -O1 -g -fPIC -shared -Wl,--build-id=none -o "$tmp/plain.so" "$tmp/lib.c"
plain=$(nm "$tmp/plain.so" | awk '$3 == "deep_secret" { print $1 }')
objcopy --only-keep-debug "$tmp/plain.so" "$tmp/root/secret-debug"
python3 tests/hostile/make_elf.py link "$tmp/plain.so" "$home/up.so" "../root/secret-debug" "$tmp/root/secret-debug"
address=$plain session link $attacker "$home/up.so" "" ""
if strace -f -o "$tmp/link-trace" -e trace=open,openat,openat2 "$SXS" report "$tmp/link" >"$tmp/out" 2>"$tmp/err"; then
    grep -q '/up\.so"' "$tmp/link-trace" && ! grep -q 'secret-debug' "$tmp/link-trace"
    check "a debuglink with slashes is not followed" $? "$tmp/link-trace"
else
    skip "a debuglink with slashes is not followed" "strace does not work here"
fi
python3 tests/hostile/make_elf.py link "$tmp/plain.so" "$home/pipe.so" "pipe"
address=$plain session link2 $attacker "$home/pipe.so" "" ""
report "$tmp/link2"
check "a debuglink to a pipe" "$status" "$tmp/err"
at_most "it does not block" 10 262144
python3 tests/hostile/make_elf.py altlink "$tmp/root/readable.so" "$home/alt.so" "$home/pipe"
chmod 644 "$home/alt.so"
session alt $attacker "$home/alt.so"
report "$tmp/alt"
check "a supplementary file that is a pipe" "$status" "$tmp/err"
at_most "it does not block" 10 262144

# --- memory and time
python3 tests/hostile/make_elf.py sparse "$home/sparse.so" && chown $attacker "$home/sparse.so"
truncate -s 4G "$home/big.dll" "$home/big.pdb" && chown $attacker "$home"/big.*
session sparse $attacker "$home/sparse.so" "$home/big.dll" ""
report "$tmp/sparse"
check "an ELF file of 4 GB that is a hole: the report is written" "$status" "$tmp/err"
at_most "it has little memory and time" 15 262144
grep -q "sparse.so: .*: its functions have no names" "$tmp/err"
check "a line says that the file has no names" $? "$tmp/err"
chown -R 0:0 "$tmp/sparse"
report "$tmp/sparse"
at_most "the same in a session that root has copied" 15 262144
many=()
for i in $(seq 40); do ln "$home/sparse.so" "$home/sparse$i.so" && many+=("$home/sparse$i.so"); done
"$tmp/make_paths" "$tmp/many" "${many[@]}" "$tmp/root/readable.so" -- /gone/App.dll
report "$tmp/many"
at_most "40 links to it" 15 262144

# --- a file system that never answers
mkdir "$home/fuse"
python3 tests/hostile/fuse.py "$home/fuse" >"$tmp/mounted" 2>&1 &
fuse=$!
trap 'kill $fuse 2>/dev/null; umount -l "$home/fuse" 2>/dev/null; rm -rf "$tmp"' EXIT
wait_until sh -c 'grep -q mounted "$1" || ! kill -0 "$2" 2>/dev/null' sh "$tmp/mounted" $fuse
if grep -q mounted "$tmp/mounted"; then
    "$tmp/make_paths" "$tmp/hangs" "$home/fuse/lib.so" "$home/fuse/a/b.so" "$tmp/root/readable.so" -- "$home/fuse/App.dll"
    chown -R $attacker "$tmp/hangs"
    cost timeout -s INT 60 "$SXS" report "$tmp/hangs"
    check "a file system that never answers: the report is written" "$status" "$tmp/err"
    at_most "it ends in time" 15 262144
    grep -q "in time" "$tmp/err"; check "a line says so" $? "$tmp/err"
    kill $fuse 2>/dev/null
    umount -l "$home/fuse" 2>/dev/null
    wait_until sh -c '! pgrep -f "$1" >/dev/null' sh "sxsprof repor[t] $tmp/hangs"
    check "what waited for it ends with it" $? "$tmp/err"
else
    skip "a file system that never answers" "no file system of a process can be mounted here"
fi
finish
