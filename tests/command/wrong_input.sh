#!/bin/bash
# SPDX-License-Identifier: MIT
# wrong_input.sh - checks that wrong input gives a message, exit status 2, and that nothing is started.
# Errors that are not in the input have the statuses of env(1): 125, 126 and 127.
# run: without sanitizers
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc

# refused CLAIM "PART|PART" ARGUMENT...: status 2. The last argument is a command that would create
# $T/started.
refused() { fails 2 "$@"; }

# fails STATUS CLAIM "PART|PART" ARGUMENT...: the same with another exit status.
fails() {
    local want=$1 claim=$2 parts
    IFS='|' read -ra parts <<<"$3"
    shift 3
    rm -f "$T/started"
    try "$SXS" "$@"
    is "$claim: exit status $want" "$want" "$status"
    has "$claim: the message says what was expected" "$err" "${parts[@]}"
    is "$claim: prints nothing on stdout" "" "$out"
    [ ! -e "$T/started" ] && [ -z "$(ls -A "$TMPDIR")" ] && ok "$claim: nothing was started or left behind" ||
        not_ok "$claim: nothing was started or left behind" "$(ls -A "$TMPDIR")"
}
mark=(-- touch "$T/started")

refused "no verb" "run"
refused "a verb with a mistake in it" "'smaple'|did you mean sample?" smaple
refused "an option with a mistake in it" "sample: there is no option --durtion|did you mean --duration?" sample --durtion 3s "${mark[@]}"
refused "an unknown verb" "'walk'|expected one of those that sxsprof --help lists" walk
refused "an unknown option of the command" "'--frob'|expected" --frob
refused "an unknown option of run" "--frob|--help" run --frob "${mark[@]}"
refused "a wrong --pick" "--pick|'some'|expected all, first, or one:" run --pick some "${mark[@]}"
refused "--pick one without a runtime" "'one'|which one" run --pick one "${mark[@]}"
refused "--pick one:text" "neither a version prefix nor a path" run --pick one:abc "${mark[@]}"
refused "--pick one: without a version or path" "expected all, first, or one:" run --pick one: "${mark[@]}"
refused "--pick one: a missing file" "no file /nowhere/libcoreclr.so" \
    run --pick one:/nowhere/libcoreclr.so "${mark[@]}"
refused "a wrong --unpicked" "--unpicked|'kill'|expected guard or cancel" run --unpicked kill "${mark[@]}"
refused "a wrong --signals" "--signals|'maybe'|expected on or off" run --signals maybe "${mark[@]}"
refused "an unknown tool" "no tool 'coverage'|known: census" run --tool coverage "${mark[@]}"
refused "a tool without a name" "no name|expected NAME[:OPTIONS]" run --tool "" "${mark[@]}"
refused "options for a tool that has none" "census takes no options" run --tool census:x "${mark[@]}"
refused "two tools in one option" "';' separates" run --tool "census;census" "${mark[@]}"
refused "run without a command" "COMMAND is missing" run
refused "run with -- alone" "COMMAND is missing" run --pick all --
fails 127 "a command that is not on PATH" "no-such-command-here: not found on PATH" \
    run -- no-such-command-here
fails 127 "a command that is not there" "$T/nothing: not found" run -- "$T/nothing"
fails 126 "a folder as the command" "cannot be executed" run -- "$T/bin"
echo data >"$T/data"
fails 126 "a file that cannot be executed" "cannot be executed" run -- "$T/data"
printf '#!/no/such/interpreter\n' >"$T/script" && chmod +x "$T/script"
fails 127 "a script whose interpreter is missing" "nothing was started" run -- "$T/script"
printf '#!%s\n' "$T/data" >"$T/cut" && chmod +x "$T/cut"
fails 126 "a script whose interpreter cannot be executed" "Permission denied; nothing was started" run -- "$T/cut"
fails 126 "a verb with a script whose interpreter cannot be executed" "nothing was started" sample -- "$T/cut"
is "a script whose interpreter cannot be executed: no session is left" "" "$(ls -d sxsprof-* 2>/dev/null)"

mkdir "$T/full" && touch "$T/full/letter"
refused "-o with a folder that has other files" "it has 'letter' in it|expected an empty folder" \
    run -o "$T/full" "${mark[@]}"
is "the folder with other files is unchanged" letter "$(ls -A "$T/full")"
refused "-o with a file" "Not a directory|expected a folder" run -o "$T/data" "${mark[@]}"
refused "-o in a missing folder" "No such file|expected" run -o "$T/no/where" "${mark[@]}"
refused "-o with an empty name" "-o: the folder's name is empty" run -o "" "${mark[@]}"
refused "-o /proc/x" "expected a folder that can be made there" run -o /proc/x "${mark[@]}"
if [ "$(id -u)" != 0 ]; then
    mkdir -m 500 "$T/locked"
    refused "-o with a folder that is not writable" "expected a folder that can be written to" \
        run -o "$T/locked" "${mark[@]}"
else
    skip "-o with a folder that is not writable" "root writes everywhere"
fi
"$CENSUS" "$T/earlier" 4711 command="dotnet old.dll" started=1600000000000000000 runtime=1,8.0.29,1,1,1,1,1,1,1
chmod 700 "$T/earlier"
refused "-o with an earlier session" "it has a session of 1 process in it, the last of 2020-09-1|: dotnet old.dll|expected --append to add to it, or another folder" \
    run -o "$T/earlier" "${mark[@]}"
refused "a verb with -o and an earlier session" "expected --append" sample -o "$T/earlier" "${mark[@]}"
refused "--append without -o" "--append: expected -o DIR" run --append "${mark[@]}"
mkdir "$T/open" && chmod 0777 "$T/open"
refused "-o with a folder that others may write to" "others may write into the folder|expected a folder of your own" \
    run -o "$T/open" "${mark[@]}"
if [ "$(id -u)" -eq 0 ]; then
    mkdir -m 0700 "$T/foreign" && chown 65534 "$T/foreign"
    refused "-o with a folder of another user" "belongs to another user (uid 65534)" run -o "$T/foreign" "${mark[@]}"
else
    skip "-o with a folder of another user" "only root may give a folder away"
fi
fails 127 "-o with a missing command" "not found" run -o "$T/new" -- "$T/nothing"
[ ! -e "$T/new" ] && ok "no folder is left after a missing command" || not_ok "no folder is left after a missing command"

SXSPROF_PICK=some refused "a wrong SXSPROF_PICK" "SXSPROF_PICK: 'some'|expected all, first" run "${mark[@]}"
SXSPROF_TOOLS="census;frob" refused "a wrong SXSPROF_TOOLS" "SXSPROF_TOOLS|no tool 'frob'" run "${mark[@]}"
SXSPROF_SIGNALS=1 refused "a wrong SXSPROF_SIGNALS" "SXSPROF_SIGNALS|expected on or off" run "${mark[@]}"
SXSPROF_LOG=loud refused "a wrong SXSPROF_LOG" "SXSPROF_LOG: 'loud'|expected error, warn" run "${mark[@]}"
SXSPROF_PICK=some try "$SXS" run --quiet --pick all -- true
is "an option replaces a wrong variable" 0 "$status"

TMPDIR=/nowhere try "$SXS" run -- touch "$T/started"
is "a missing TMPDIR: exit status 125" 125 "$status"
has "a missing TMPDIR: the message names it" "$err" "/nowhere" "expected TMPDIR"
mkdir "$T/alone" && cp "$SXS" "$T/alone/"
try "$T/alone/sxsprof" run -- touch "$T/started"
is "without the profiler library: exit status 125" 125 "$status"
has "without the profiler library: the message says where it belongs" "$err" "$T/alone/libsxsprof.so is missing"
cp "$T/bin/libsxsprof.so" "$T/alone/"
try "$T/alone/sxsprof" run -- touch "$T/started"
is "without the signal library: exit status 125" 125 "$status"
has "without the signal library: the message names --no-preload" "$err" "libsxsprof-preload.so" "--no-preload"
[ ! -e "$T/started" ] && ok "none of these started anything" || not_ok "none of these started anything"
try "$T/alone/sxsprof" run --quiet --no-preload -- true
is "without the signal library, --no-preload runs" 0 "$status"
mkdir "$T/a b" && cp "$T"/bin/* "$T/a b/"
try "$T/a b/sxsprof" run -- true
is "a path that LD_PRELOAD cannot contain: exit status 125" 125 "$status"

refused "report of a missing folder" "$T/no: No such file|expected a folder made by" report "$T/no"
refused "report of a file" "$T/data: not a packed session|expected a file made by sxsprof pack" report "$T/data"
refused "report of a folder without a session" "no session|expected" report "$T/full"
refused "report of two folders" "one folder is expected" report "$T/full" "$T/full"
refused "report with a missing --symbols folder" "--symbols: '$T/no': No such file|expected a folder" report --symbols "$T/no" "$T/full"
refused "pack without a folder" "DIR is missing" pack
refused "pack of a missing folder" "$T/no: No such file|expected a folder made by" pack "$T/no"
refused "pack of a file" "$T/data: not a folder|expected a folder made by" pack "$T/data"
refused "pack of a folder without a session" "no session|expected" pack "$T/full"
refused "pack of two folders" "one folder is expected" pack "$T/full" "$T/full"
refused "pack with --symbols that is not a folder" "--symbols: '$T/data': Not a directory|expected a folder" pack --symbols "$T/data" "$T/full"
refused "report with a --trace-id that is no id" "--trace-id: 'xyz': expected a trace id" report --trace-id xyz "$T/full"
refused "report with a --trace-id that is too short" "--trace-id: 'abc': expected a trace id" report --trace-id abc "$T/full"
refused "report in an unknown format" "--format: 'xml': expected json, text, html" report --format xml "$T/full"
refused "runtimes in an unknown format" "expected text or json" runtimes --format=yaml
refused "runtimes with an argument" "no argument is expected" runtimes 8.0
refused "il without an assembly" "expected the path of an assembly" il
refused "il of a missing file" "$T/no.dll: No such file" il "$T/no.dll"
refused "il of a folder" "$T/full: not a .NET assembly" il "$T/full"
refused "il of another file" "$T/data: not a .NET assembly" il "$T/data"
: >"$T/empty"
refused "il of an empty file" "$T/empty: not a .NET assembly" il "$T/empty"
refused "il with three arguments" "'c'|expected one assembly and one pattern" il a b c
refused "an unknown option of il" "--frob" il --frob a
assembly=$(ls build/managed/*/*.dll 2>/dev/null | head -n 1)
if [ -n "$assembly" ]; then
    refused "il of a method that does not exist" "$assembly: no method is called No.Such" il "$assembly" No.Such
    head -c 700 "$assembly" >"$T/cut.dll"
    refused "il of a cut assembly" "$T/cut.dll: not a .NET assembly" il "$T/cut.dll"
else
    skip "il of a method that does not exist" "no assemblies"
fi
for verb in start stop status snapshot; do
    refused "$verb without a process" "PID is missing: expected a process" $verb
    refused "$verb of two processes" "'2': expected one p" $verb 1 2
    [ $verb = start ] && continue
    refused "$verb of a process that is not there" "there is no process 999999999" $verb 999999999
    refused "$verb of a number that is no PID" "'0': expected the PID of a process, or a name" $verb 0
    refused "$verb of a name that no process has" "'no such': no process with .NET runtimes has this name|expected a PID" $verb "no such"
    refused "$verb of a process without the library" "process $$: libsxsprof.so is not in this process|expected one that" $verb $$
done
refused "start without a tool" "--tool is missing|expected what shall be recorded" start $$
for option in keep segment on budget only not values pick tool; do
    refused "--$option without a value" "--$option: |expected" run "--$option=" "${mark[@]}"
done
refused "a ring that is shorter than a segment" "--keep: '10s': expected at least the time of one segment, which is 20s" run --keep 10s --segment 20s "${mark[@]}"
refused "too many segments" "--keep: '30d': expected at most 10000 segments, and one lasts 60s" run --keep 30d "${mark[@]}"
SXSPROF_KEEP=ten refused "a wrong variable of continuous mode" "SXSPROF_KEEP: 'ten': expected a time|(the variable is set)" run "${mark[@]}"
refused "start with a tool that is not there" "there is no tool 'no'" start --tool no $$
refused "start with a wrong pick" "--pick: 'some'" start --tool sample --pick some $$
for time in 0 -1 s 5y 1.5s '' 367d 99999999999999999999; do
    refused "start for '$time'" "--duration: '$time': expected a duration, as 30s" start --tool sample "--duration=$time" $$
done
refused "start in a process without the library" "process $$: libsxsprof.so is not in this process" start --tool sample $$
refused "start that adds to no session" "--append: expected -o DIR" start --tool sample --append $$
refused "start without a folder's name" "-o: the folder's name is empty" start --tool sample -o "" $$
refused "status in a format that is not there" "--format: 'xml': expected text or json" status --format xml $$
refused "a wrong view of top" "--view: 'all'|expected functions|threads" top --view all .
refused "a wrong interval of top" "--refresh: '0'|expected seconds" top --refresh 0 .
refused "--count of top without --batch" "--count needs --batch" top -n 1 .
refused "a wrong format of top" "--format: 'html'|expected text or json" top --format html .
refused "a process that does not exist" "process 999999999|no such process" top --batch 999999999
refused "a folder without a session" "/proc|no session" top --batch /proc
refused "a second process" "'2' is one more" top 1 2
refused "an unknown option of doctor" "--cure" doctor --cure
finish
