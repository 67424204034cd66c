# SPDX-License-Identifier: MIT
# control_drip.sh - plays processes that answer requests of the command byte by byte, or not at all: start, stop, status
# and snapshot end in time.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root "$0"
. tests/hostile/control.inc
as $attacker test -r "$BUILD/libsxsprof.so" || skip_all "$0" "user $attacker cannot read $BUILD"
library=$(realpath "$BUILD/libsxsprof.so")

peer fake "$library" drip
dripping=$peer_pid
peer fake "$library" silent
silent=$peer_pid
cp "$sxsprof" "$tmp/sxsprof"
# ask NAME PID VERB...: in the background; the exit status and the time go to $tmp/NAME
ask() {
    local name=$1 pid=$2 began=$EPOCHREALTIME
    shift 2
    (
        timeout -s KILL 30 "$tmp/sxsprof" "$@" "$pid" >"$tmp/$name.out" 2>&1
        echo "$? $began $EPOCHREALTIME" >"$tmp/$name"
    ) &
    running="$running $!"
}
(cd "$tmp" && mkdir s1 s2)
for verb in stop status snapshot; do
    ask "drip-$verb" $dripping $verb
    ask "silent-$verb" $silent $verb
done
ask drip-start $dripping start --tool sample -o "$tmp/s1/x"
# ends NAME SECONDS CLAIM
ends() {
    wait_until test -s "$tmp/$1"
    awk -v max="$2" '{ exit !(($1 == 1 || $1 == 2) && $3 - $2 <= max) }' "$tmp/$1" &&
        grep -q 'process [0-9]*: it does not answer' "$tmp/$1.out"
    status=$?
    check "$3 ($(awk '{ printf "%.1f s", $3 - $2 }' "$tmp/$1"))" $status "$tmp/$1.out"
}
for verb in stop status snapshot start; do
    ends drip-$verb 10 "$verb ends when the answer drips"
done
for verb in stop status snapshot; do
    ends silent-$verb 20 "$verb ends when there is no answer"
done
finish
