# SPDX-License-Identifier: MIT
# ps_hangs.sh - a process has mapped a runtime on a file system that never answers again, when it is read or opened.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root "$0"
own_pids
pids=
trap 'kill -9 $pids 2>/dev/null; rm -rf "$tmp"' EXIT
[ -c /dev/fuse ] || skip_all "$0" "there is no /dev/fuse"
unshare -m true 2>/dev/null || skip_all "$0" "mounts cannot be made here"
mkdir "$tmp/fuse"
unshare -m --propagation private python3 tests/hostile/mapper.py "$tmp/ready" fuse "$tmp/fuse" 2>"$tmp/err" &
pid=$!
pids=$pid
wait_until sh -c '[ -e "$1" ] || ! kill -0 "$2" 2>/dev/null' sh "$tmp/ready" $pid
[ -e "$tmp/ready" ] || skip_all "$0" "FUSE file systems cannot be mounted here: $(cat "$tmp/err")"

for when in read opened; do
    [ $when = read ] || touch "$tmp/ready.quiet"
    cost "$sxsprof" ps
    at_most "ps ends though a file does not answer when it is $when" 10 262144
    grep -q "^ *$pid .* ?  " "$tmp/out"
    check "$when: the runtime is listed without a version" $? "$tmp/out"
    grep -q "examined in part" "$tmp/err"
    check "$when: ps says that it has not examined all" $? "$tmp/err"
done
cost "$sxsprof" status another-name
at_most "a verb that names another process does not wait for it" 0.4 262144
# Where processors are waited for, the files of an honest process take longer, too.
claim="where processors are waited for all the time, a file has four times the 2 s for its answer"
echo "some avg10=100.00 avg60=100.00 avg300=100.00 total=1000" >"$tmp/pressure"
if [ -n "${OWN_PIDS:-}" ] && mount --bind "$tmp/pressure" /proc/pressure/cpu 2>/dev/null; then
    cost "$sxsprof" ps
    [ "${seconds%.*}" -ge 7 ]; check "$claim (measured: $seconds s)" $? "$tmp/err"
else
    skip "$claim" "the pressure of this machine cannot be covered"
fi
finish
