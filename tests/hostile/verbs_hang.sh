# SPDX-License-Identifier: MIT
# verbs_hang.sh - plays processes whose runtime, library, TMPDIR, session, arguments or environment lie on a file system
# that never answers again, or has a file that is never read. Each verb that names such a process ends in time, and at a
# signal.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
needs_root verbs_hang
own_pids
pids='' servers=''
trap '{ kill -9 $pids $servers; wait; umount -l "$tmp/mute" "$tmp/slow"; rm -rf "$tmp"; } 2>/dev/null' EXIT
[ -c /dev/fuse ] || skip_all verbs_hang "there is no /dev/fuse"
cp tests/hostile/control_peer.py "$tmp/peer.py" && chmod 644 "$tmp/peer.py"
library=$(realpath "$BUILD/libsxsprof.so")

# What the file systems show: a runtime, the library, and a session of a process 77.
back=$tmp/back
mkdir -m 755 -p "$back/8.0.29" "$back/s/77" "$back/tmp" "$tmp/mute" "$tmp/slow"
echo 'int coreclr_initialize;' | ${CC:-cc} -shared -fPIC -x c - -o "$back/8.0.29/libcoreclr.so"
cp "$library" "$back/libsxsprof.so"
"$sxsprof" run --quiet --tool sample -o "$tmp/whole" -- "$runsxs" --timeout 20 fake:8.0 '!modules 3' '' >"$tmp/log" 2>&1
cp "$tmp"/whole/[0-9]*/* "$back/s/77/"
chown -R $attacker:$attacker "$back"
[ -s "$back/s/77/census" ] && [ -s "$back/s/77/samples" ]
check "a session is recorded" $? "$tmp/log"
# serve NAME [FILE]: mount it, until the file $tmp/NAME.quiet exists
serve() {
    python3 tests/hostile/fuse.py "$tmp/$1" "$back" "$tmp/$1.quiet" "${@:2}" >"$tmp/$1.fuse" 2>&1 &
    servers="$servers $!"
    is_mounted() { grep -q mounted "$tmp/$1.fuse" || ! kill -0 $! 2>/dev/null; }
    wait_until is_mounted "$1"
    grep -q mounted "$tmp/$1.fuse" || skip_all verbs_hang "FUSE file systems cannot be mounted here: $(head -n 1 "$tmp/$1.fuse")"
}
serve mute
serve slow samples

# process HOW SESSION LIBRARY RUNTIME [FILE...]: start a process that says that it records into SESSION/77; sets $pid
process() {
    n_started=$((${n_started:-0} + 1))
    (cd / && exec setpriv --reuid $attacker --regid $attacker --clear-groups env "TMPDIR=$tmp/mute/tmp" \
        /usr/bin/python3 -B "$tmp/peer.py" fake "$3" "$1" "${@:4}" "ok\nphase=on\nnumber=1\ntools=sample\nout=$2/77\nstarted_ns=1\n\n") \
        >"$tmp/taken.$n_started" 2>&1 &
    pid=$!
    pids="$pids $pid"
    taken() { grep -q taken "$tmp/taken.$n_started" || ! kill -0 $pid 2>/dev/null; }
    wait_until taken
}
process map "$tmp/mute/s" "$tmp/mute/libsxsprof.so" "$tmp/mute/8.0.29/libcoreclr.so" "$tmp/mute/s/77/census"
everything=$pid
process cover "$tmp/mute/s" "$back/libsxsprof.so" "$tmp/mute/s/77/census" "$back/8.0.29/libcoreclr.so"
arguments=$pid
process map "$tmp/mute/s" "$back/libsxsprof.so" "$back/8.0.29/libcoreclr.so" "$tmp/mute/s/77/census"
session=$pid
process map "$tmp/slow/s" "$back/libsxsprof.so" "$back/8.0.29/libcoreclr.so" "$tmp/slow/s/77/census"
samples=$pid
# Whoever hangs still, ends then.
(sleep 150; touch "$tmp/over"; kill -9 $servers) 2>/dev/null &
pids="$pids $!"

names='' runners=''
run_timed() { # NAME DELAY COMMAND...: in the background, SIGINT after DELAY seconds; $tmp/NAME.ms is the time from then on
    names="$names $1"
    (began=$(date +%s%N)
        env --default-signal=INT "${@:3}" >"$tmp/$1.log" 2>&1 </dev/null &
        child=$!
        if [ "$2" != 0 ]; then
            sleep "$2"
            began=$(date +%s%N)
            kill -INT $child 2>/dev/null
        fi
        wait $child
        echo $? >"$tmp/$1.status"
        [ ! -e "$tmp/over" ] || echo "over" >"$tmp/$1.over"
        echo $((($(date +%s%N) - began) / 1000000)) >"$tmp/$1.ms") 2>/dev/null &
    runners="$runners $!"
}
arguments_of() { # VERB NAME PID: what the verb is called with
    case $1 in
    ps) ;;
    attach | snapshot) echo "-o $tmp/out.$2 $3" ;;
    start) echo "--tool sample -o $tmp/out.$2 $3" ;;
    *) echo "$3" ;;
    esac
}
# ended NAME SECONDS CLAIM: it ended before the file system did, and in time, which is longer while threads wait for
# processors
ended() {
    local status ms most
    status=$(cat "$tmp/$1.status" 2>/dev/null) ms=$(cat "$tmp/$1.ms" 2>/dev/null)
    most=$(($2 * (1000 + 40 * $(pressure))))
    [ ! -e "$tmp/$1.over" ] && [ -n "$ms" ] && [ "$ms" -le $most ]
    check "$3 (status ${status:-none}, ${ms:-?} ms of $most)" $? "$tmp/$1.log"
}
touch "$tmp/mute.quiet"
for of in everything arguments session samples; do
    pid=${!of}
    for verb in attach status stop snapshot detach start heap; do
        # shellcheck disable=SC2046 # arguments
        run_timed "$verb-$of" 0 "$sxsprof" $verb $(arguments_of $verb "$verb-$of" "$pid")
    done
    run_timed top-$of 0 "$sxsprof" top --batch -n 1 "$pid"
    for verb in attach status stop top; do
        # shellcheck disable=SC2046
        run_timed "int.$verb-$of" 2 "$sxsprof" $verb $(arguments_of $verb "int.$verb-$of" "$pid")
    done
done
run_timed ps-all 0 "$sxsprof" ps
run_timed int.ps-all 2 "$sxsprof" ps
# shellcheck disable=SC2086 # PIDs
wait $runners
for name in $names; do
    case $name in
    *-everything) what="a process whose session, library and runtime never answer" ;;
    *-arguments) what="a process whose arguments and environment never answer" ;;
    *-session) what="a process whose session never answers" ;;
    *-samples) what="a process whose file of samples is never read" ;;
    *) what="with all of them" ;;
    esac
    verb=${name%-*}
    case $name in
    int.*) ended "$name" 5 "SIGINT ends ${verb#int.}: $what" ;;
    *) ended "$name" 25 "$verb ends: $what" ;;
    esac
done
for verb in attach status; do
    grep -q 'is not known: not all of its files could be examined' "$tmp/$verb-everything.log" &&
        ! grep -q 'it has no .NET runtime\|libsxsprof.so is not in this process' "$tmp/$verb-everything.log"
    check "$verb does not take what could not be examined for what is not there" $? "$tmp/$verb-everything.log"
done
grep -q 'reading was given up, because a file does not answer' "$tmp/stop-samples.log"
check "stop says what is missing" $? "$tmp/stop-samples.log"
[ "$(cat "$tmp/snapshot-samples.status")" = 1 ] && grep -q 'the copy of .* is not complete: ' "$tmp/snapshot-samples.log"
check "snapshot says that the copy is not complete: status 1" $? "$tmp/snapshot-samples.log"
[ "$(cat "$tmp/top-samples.status")" = 1 ] && grep -q 'was given up, because a file does not answer' "$tmp/top-samples.log"
check "top says why it ends: status 1" $? "$tmp/top-samples.log"
finish
