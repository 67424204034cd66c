#!/bin/bash
# SPDX-License-Identifier: MIT
# samples.sh - checks the progress of a sampled command on a terminal, and sessions without -o.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
$CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_samples.c -o "$T/make_samples" || exit 1
mkdir "$T/here"

cat >"$T/on_terminal.py" <<'PY'
# Runs a command on a terminal and prints its output. With UNTIL=TIMES:FILE, creates FILE after the command's
# progress line has shown TIMES different times.
import os, pty, re, sys
times, _, file = os.environ.get("UNTIL", "0:").partition(":")
pid, fd = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[1], sys.argv[1:])
data = b""
try:
    while piece := os.read(fd, 4000):
        data += piece
        if file and len(set(re.findall(rb"([0-9.]+) s  1 process", data))) >= int(times):
            open(file, "w").close()
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.write(data.decode())
PY
terminal() { (cd "$T/here" && timeout 120 python3 "$T/on_terminal.py" "$@"); }

# A command: records what the library would record, waits for a time or until a file exists, and prints a
# line.
cat >"$T/work" <<'SH'
#!/bin/sh
"$1/make_samples" "$SXSPROF_OUT" known 4242 >/dev/null || exit 9
case $2 in
/*) until [ -e "$2" ]; do sleep 0.1; done ;;
*) sleep "$2" ;;
esac
echo output
SH
chmod +x "$T/work"

# --- progress
got=$(UNTIL=3:$T/shown terminal "$SXS" run --tool sample -o "$T/s1" -- "$T/work" "$T" "$T/shown")
has "on a terminal: a line of progress" "$got" " s  1 process  3 runtimes  1020 samples" "7 dropped"
[ -e "$T/shown" ]; is "the line of progress is refreshed" 0 $?
first=$(grep -o '[0-9.]* s  1 process' <<<"$got" | sort -n | head -n 1)
awk -v t="${first%% *}" 'BEGIN { exit !(t >= 1.95) }'; is "the line of progress appears after two seconds ($first)" 0 $?
rest=${got%%process 4242*} # the summary begins with the number of the process
has "the line of progress is erased before the summary" "${rest##*1 process}" $'\033[J'
lacks "no escape sequence follows the summary" "process 4242${got#*process 4242}" $'\033['
got=$(terminal "$SXS" run --quiet --tool sample -o "$T/s2" -- "$T/work" "$T" 2.5)
is "--quiet: no line of progress" "output" "$(tr -d '\r' <<<"$got")"
for _ in 1 2 3 4 5; do # on a machine that is busy a short run may be long
    began=$EPOCHREALTIME
    got=$(terminal "$SXS" run --tool sample -o "$T/s3" -- "$T/work" "$T" 0.3)
    [ $(((${EPOCHREALTIME/[.,]/} - ${began/[.,]/}) / 1000)) -lt 2000 ] && break
    rm -rf "$T/s3"
done
lacks "a short run: no line of progress" "$got" $'\033['
got=$(terminal /bin/sh -c "'$SXS' run --tool sample -o '$T/s4' -- '$T/work' '$T' 2.5 2>/dev/null")
is "standard error is not a terminal: no line of progress" "output" "$(tr -d '\r' <<<"$got")"
got=$(terminal "$SXS" run -o "$T/s5" -- sleep 2.5)
lacks "no sampling: no line of progress" "$got" $'\033['

# --- a session without -o
try sh -c "cd '$T/here' && exec '$SXS' run --tool sample -- '$T/work' '$T' 0"
has "no -o: a summary on standard error, and the name of the session folder" "$err" "top functions by self" \
    "App.Hot.Spin" "The session is kept in sxsprof-"
is "standard output has the output of the command only" output "$out"
kept=$(sed -n 's/^The session is kept in \([^;]*\);.*/\1/p' "$T/err")
is "the session folder exists and is private" "700 4242" "$(stat -c %a "$T/here/$kept") $(ls "$T/here/$kept")"
has "the session can be reported" "$(cd "$T/here" && "$SXS" report "$kept" 2>&1)" "App.Hot.Spin"
rm -rf "$T/here"/sxsprof-*
try sh -c "cd '$T/here' && SXSPROF_TOOLS='census;sample:wall=9' exec '$SXS' run -- '$T/work' '$T' 0"
has "a tool from the environment: the session is kept" "$err" "The session is kept in sxsprof-"
rm -rf "$T/here"/sxsprof-*
cat >"$T/other" <<'SH'
#!/bin/sh
"$1/make_$2" "$SXSPROF_OUT" >/dev/null || exit 9
SH
chmod +x "$T/other"
for kind in calls events; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_$kind.c -o "$T/make_$kind" || exit 1
done
try sh -c "cd '$T/here' && exec '$SXS' run --tool calls -- '$T/other' '$T' calls"
has "calls without -o: a summary, and the name of the session folder" "$err" "functions, 4 of 4 called" "The session is kept in sxsprof-" "-o flame.html sxsprof-"
rm -rf "$T/here"/sxsprof-*
try sh -c "cd '$T/here' && exec '$SXS' run --tool events:classes --tool exceptions -- '$T/other' '$T' events"
has "events and exceptions without -o: a summary, and the name of the session folder" "$err" "exceptions: 13 at 1 throw sites" "events: 42" "-o timeline.html sxsprof-"
kept=$(sed -n 's/^The session is kept in \([^;]*\);.*/\1/p' "$T/err")
has "the session gives a page" "$(cd "$T/here" && "$SXS" report --format html "$kept" 2>&1)" '"nSpans":42'
rm -rf "$T/here"/sxsprof-*
try sh -c "cd '$T/here' && exec '$SXS' run --quiet --tool sample -- '$T/work' '$T' 0"
is "--quiet: no message, and the session is kept" "output:::4242" "$out:$err::$(ls "$T/here"/sxsprof-*)"
rm -rf "$T/here"/sxsprof-*
try sh -c "cd '$T/here' && exec '$SXS' run --tool sample -- true"
is "no runtime loaded the library: no session is kept" "" "$(ls "$T/here")"
try sh -c "cd '$T/here' && exec '$SXS' run --quiet --tool sample -- true"
is "no runtime loaded the library, --quiet: no session is kept" "" "$(ls "$T/here")"
# A program that becomes a daemon: its session goes on. The command ends once the daemon has its own name.
daemon='sleep 30 >/dev/null 2>&1 & echo $!; until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done'
try sh -c "cd '$T/here' && exec '$SXS' run --tool sample -- sh -c '$daemon'"
sleeps=$out
has "a process that still runs is named" "$err" "1 process that the command has started still runs: $sleeps (sleep); what they record from now on is in the session"
lacks "nothing says that no runtime has loaded the library" "$err" "no runtime loaded"
is "the session of a process that still runs is kept" 1 "$(ls -d "$T/here"/sxsprof-* | wc -l)"
kill "$sleeps"
rm -rf "$T/here"/sxsprof-*
try sh -c "cd '$T/here' && exec '$SXS' run -- sh -c '$daemon'"
has "without -o and tools: the message says that nothing is kept" "$err" "still runs: $out (sleep); what they record is not kept: name a folder by -o"
kill "$out"

# --- the folder is named after the program's PID
cat >"$T/pid" <<'SH'
#!/bin/sh
"$1/make_samples" "$SXSPROF_OUT" known 4242 >/dev/null || exit 9
echo "$$ $SXSPROF_OUT"
SH
chmod +x "$T/pid"
try sh -c "cd '$T/here' && exec '$SXS' sample --quiet -- '$T/pid' '$T'"
is "the session is in ./sxsprof-PID of the program" "$T/here/sxsprof-${out%% *}" "${out#* }"
is "no other folder is made" "sxsprof-${out%% *}" "$(ls "$T/here")"
rm -rf "$T/here"/sxsprof-*
cat >"$T/taken.c" <<'C'
#include <stdio.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/wait.h>
/* Starts a command whose next child, sxsprof's, will have a PID whose folder exists: makes folders
 * for the PIDs that follow its own. */
int main(int argc, char **argv)
{
    char name[64];
    for (int i = 1; i <= 2000; i++) {
        snprintf(name, sizeof(name), "sxsprof-%d", (int)getpid() + i);
        mkdir(name, 0700);
    }
    return argc > 1 ? execv(argv[1], argv + 1) : 1;
}
C
$CC "$T/taken.c" -o "$T/taken" && rm -rf "$T/here"/*
try sh -c "cd '$T/here' && exec '$T/taken' '$SXS' sample --quiet -- '$T/pid' '$T'"
is "the folder exists already: another name is used" "$T/here/sxsprof-${out%% *}-2" "${out#* }"
rm -rf "$T/here"/*
try sh -c "cd /proc && exec '$SXS' run --tool sample -- '$T/work' '$T' 0"
has "the current folder is not writable: the session is below TMPDIR" "$err" "kept in $TMPDIR/sxsprof-"
finish
