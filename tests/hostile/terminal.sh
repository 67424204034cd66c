#!/bin/bash
# SPDX-License-Identifier: MIT
# terminal.sh - plays a process, its control socket, a server and files whose names, answers and contents have escape
# sequences (ESC, and the 8-bit CSI as UTF-8 and as a raw byte), line feeds that forge a line, and marks of direction
# and characters without width. No verb lets one of them reach its standard output or standard error. Needs no root.
# run: without sanitizers
. "$(dirname "$0")/lib.sh"
# Alone, if that can be: ps looks at all processes, and those of other tests may take long.
if [ -z "${ALONE:-}" ] && unshare -r -m -p -f --mount-proc true 2>/dev/null; then
    rm -rf "$tmp"
    ALONE=1 exec unshare -r -m -p -f --kill-child --mount-proc bash "tests/hostile/$(basename "$0")"
fi
CC=${CC:-cc}
play="python3 tests/hostile/terminal.py"
pids=
trap 'kill $pids 2>/dev/null; rm -rf "$tmp"' EXIT
text=$($play text; echo .)
text=${text%.}
flat=${text//$'\n'/}
export TMPDIR=$tmp LC_ALL=C.UTF-8
# in a folder of its own, where start makes the folder of a session
case $sxsprof in /*) ;; *) sxsprof=$PWD/$sxsprof ;; esac
mkdir "$tmp/here"
ask() { (cd "$tmp/here" && timeout 60 "$sxsprof" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null); }
# clean CLAIM VERB...: the verb prints something, and nothing of it would reach a terminal
clean() {
    local claim=$1
    shift
    ask "$@"
    $play clean "$*" "$tmp/out" "$tmp/err" >"$tmp/bad" && [ -s "$tmp/out" -o -s "$tmp/err" ]
    check "$claim" $? "$tmp/bad"
}
# shows CLAIM WORD: what the last verb printed has the word: it met the text
shows() {
    grep -qF -- "$2" "$tmp/out" "$tmp/err"
    check "$1" $? "$tmp/out"
}
make() { # PROGRAM: a program of the tests that writes sessions
    # shellcheck disable=SC2086 # CC may be "gcc -m64"
    $CC -std=gnu11 -D_GNU_SOURCE -I. -I"$BUILD/gen" "$1" -o "$tmp/$(basename "$1" .c)" || exit 1
}

# a process: the folder of its runtime, its name, its command line, the answers of its control socket
# (the kernel prints a line feed in the path of a mapping as \012)
mkdir "$tmp/$text" "$tmp/$flat" "$tmp/lib"
echo 'int coreclr_initialize(void); int coreclr_initialize(void) { return 0; }' |
    $CC -shared -fPIC -x c - -o "$tmp/$flat/libcoreclr.so" || exit 1
echo 'int DllGetClassObject(void); int DllGetClassObject(void) { return 0; }
int sxsprof_print_stack(void); int sxsprof_print_stack(void) { return 0; }' |
    $CC -shared -fPIC -x c - -o "$tmp/lib/libsxsprof.so" || exit 1
$play process "$tmp/$flat/libcoreclr.so" "$tmp/lib/libsxsprof.so" "$tmp/ready" "$text" & pid=$!
pids="$pids $pid"
wait_until [ -e "$tmp/ready" ]
clean "ps: names and command lines of processes" ps
shows "ps lists the process, with its runtime" "]0;own"
clean "ps --format json" ps --format json
clean "attach: a process that is refused" attach "$pid" -o "$tmp/attached" --duration 1
name=$(tr -d '\n' <"/proc/$pid/comm")
clean "status: a name that no process has" status "$name$text"
for verb in status "status --format json" start "start --tool sample" stop snapshot detach heap "top --batch --count 1"; do
    # shellcheck disable=SC2086 # a verb with options
    clean "$verb: an answer of the control socket" $verb "$pid"
    case $verb in status | "start --tool sample") shows "$verb prints the answer" "]0;own" ;; esac
done
touch "$tmp/ready.error"
for verb in status stop snapshot detach "start --tool sample"; do
    # shellcheck disable=SC2086
    clean "$verb: a refusal of the control socket" $verb "$pid"
    shows "$verb prints the refusal" "]0;own"
done

# a session: command line, version and paths in the census, names of folders
make tests/command/make_census.c
mkdir "$tmp/session $text"
"$tmp/make_census" "$tmp/session $text" 4242 "command=$text" "runtime=1,$text,1,1,1,1,1,1,1,$text"
"$tmp/make_census" "$tmp/session $text" "4243-$text" "command=$text" "runtime=1,$text,1,1,1,1,1,1,1,$text"
"$tmp/make_census" "$tmp/session $text" 4244 magic=wrong
for verb in report "report --format json" "report --format html" "top --batch --count 1" heap "pack -o $tmp/packed" "report --data allocations"; do
    # shellcheck disable=SC2086
    clean "$verb: the census and the names of folders" $verb "$tmp/session $text"
done
clean "diff: the names of folders" diff "$tmp/session $text" "$tmp/$text"
printf '%s' "$text" >"$tmp/broken.sxspack"
clean "report: a file that is none" report "$tmp/broken.sxspack"

# sessions with names of methods, types, threads, and values
session() { # PROGRAM ARGUMENTS... -- NAME...: $tmp/s-PROGRAM, in which the names are replaced
    local program=$1 arguments=()
    shift
    make "tests/profile/$program.c"
    while [ "$1" != -- ]; do arguments+=("$1"); shift; done
    shift
    mkdir -p "$tmp/s-$program"
    "$tmp/$program" "$tmp/s-$program" "${arguments[@]}" >/dev/null 2>&1
    $play spoil "$tmp/s-$program" "$@" || not_ok "$program has these names"
}
session make_calls trace -- App.Program.Main App.Work.Outer App.Work.Inner
session make_events -- App.Trouble App.Work.Inner App.Program.Main
session make_heap 1 known -- App.Cache App.Holder App.Node
for s in "$tmp"/s-*; do
    what=$(basename "$s")
    for verb in report "report --format json" "report --format collapsed" "top --batch --count 1" "heap"; do
        # shellcheck disable=SC2086
        clean "$verb: names in a session, $what" $verb "$s"
    done
done
clean "heap --type: names in a session" heap --type '*' "$tmp/s-make_heap"

# files and arguments
printf '<?xml version="1.0"?>\n<wrong %s>' "$text" >"$tmp/rules $text.xml"
clean "check: a file of rules" check "$tmp/rules $text.xml"
clean "il: the name of a file" il "$tmp/$text/no"
clean "report --format: a wrong value" report --format "$text" "$tmp"
clean "an unknown verb" "$text"
clean "an unknown option" report "--$text" "$tmp"
shows "the message of an unknown option repeats it" "]0;own"
[ "$(wc -l <"$tmp/err")" = 2 ]
check "it has no line of the option's" $? "$tmp/err"
clean "an unknown option of one letter" report "-$(printf '\033')" "$tmp"
clean "an option that could be several" report "--f=$text" "$tmp"
clean "an option that takes no value" run "--help=$text"
clean "run: a program that is missing" run -o "$tmp/out $text" -- "$tmp/$text/none"
clean "env: the name of a folder" env --systemd -o "$tmp/$text/x"
clean "env: a variable of the shell" env --tool sample -o "$tmp/${text//$'\n'/}"
SXSPROF_LOG=$text SXSPROF_TOOLS=$text SXSPROF_OUT=$tmp/$text DOTNET_ROOT=$text CORECLR_PROFILER=$text \
    CORECLR_PROFILER_PATH=$text CORECLR_ENABLE_PROFILING=1 clean "doctor: variables" doctor

# a server
$play server "$tmp/port" & pids="$pids $!"
wait_until [ -e "$tmp/port" ]
url=http://127.0.0.1:$(cat "$tmp/port")
clean "push: refusals of a server" push --server "$url" --as pyroscope "$tmp/s-make_calls"
clean "push: refusals of ClickHouse" push --server "$url" --as clickhouse "$tmp/s-make_calls"
clean "fleet: refusals of ClickHouse" fleet top --server "$url"
shows "fleet prints the refusal" "]0;own"
clean "fleet tables: refusals of ClickHouse" fleet tables --server "$url"
echo "1..$n_test"
finish
