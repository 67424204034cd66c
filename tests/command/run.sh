#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh - checks the environment, exit status, signals, job control and output of a command under sxsprof
# run.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc

# --- exit status
for n in 0 1 2 42 255; do
    try "$SXS" run --quiet -- sh -c "exit $n"
    is "exit status $n is passed through" $n "$status"
done
for s in TERM KILL SEGV ABRT; do
    got=$(python3 - "$SXS" "$s" <<'PY'
import subprocess, sys
p = subprocess.run([sys.argv[1], "run", "--quiet", "--", "sh", "-c", f"ulimit -c 0; kill -{sys.argv[2]} $$"])
print(p.returncode)
PY
    )
    is "a command is killed by SIG$s: sxsprof ends with the same signal" "-$(kill -l $s)" "$got"
done
mkdir "$T/core"
{ (cd "$T/core" && ulimit -c unlimited && "$SXS" run --quiet -- sh -c 'ulimit -c 0; kill -ABRT $$'); } 2>/dev/null
is "sxsprof writes no core dump of its own" "" "$(ls -A "$T/core")"

# --- the environment
try env LD_PRELOAD= CORECLR_PROFILER_PATH_64=/other/lib.so CORECLR_PROFILER_PATH_32=/x \
    CORECLR_PROFILER_PATH_ARM64=/x CORECLR_PROFILER='{00000000-0000-0000-0000-000000000000}' \
    CORECLR_ENABLE_PROFILING=0 SXSPROF_OUT=/elsewhere \
    "$SXS" run --quiet --pick one:8 --unpicked cancel --tool census --tool census --signals off \
    -- env
has "the profiler variables are set" "$out" "CORECLR_ENABLE_PROFILING=1" \
    "CORECLR_PROFILER={6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31}" \
    "CORECLR_PROFILER_PATH=$T/bin/libsxsprof.so"
lacks "path variables with precedence are removed" "$out" "CORECLR_PROFILER_PATH_"
has "the settings are set" "$out" "SXSPROF_PICK=one:8" "SXSPROF_UNPICKED=cancel" \
    "SXSPROF_TOOLS=census;census" "SXSPROF_SIGNALS=off" "SXSPROF_OUT=$T/tmp/sxsprof-"
has "the signal library is preloaded" "$out" "LD_PRELOAD=$T/bin/libsxsprof-preload.so"
is "each variable is set once" "" "$(printf '%s\n' "$out" | sed 's/=.*//' | sort | uniq -d)"
is "the temporary folder is removed" "" "$(ls -A "$TMPDIR")"
try env LD_PRELOAD="$T/bin/libsxsprof.so" "$SXS" run --quiet -- printenv LD_PRELOAD
is "LD_PRELOAD keeps its earlier value after our library" "$T/bin/libsxsprof-preload.so:$T/bin/libsxsprof.so" "$out"
try "$SXS" run --quiet --no-preload -- sh -c 'echo "${LD_PRELOAD-none}"'
is "--no-preload does not change LD_PRELOAD" none "$out"
try env SXSPROF_PICK=first "$SXS" run --quiet -- printenv SXSPROF_PICK
is "a variable stays when its option is not given" first "$out"
try "$SXS" run --quiet -- sh -c 'stat -c %a "$SXSPROF_OUT"'
is "the temporary folder is private" 700 "$out"
touch "$T/libcoreclr.so"
try sh -c "cd '$T/bin' && '$SXS' run --quiet --pick one:../libcoreclr.so -- printenv SXSPROF_PICK"
is "a relative path in --pick becomes absolute" "one:$T/libcoreclr.so" "$out"
try "$SXS" run --quiet -- echo --pick nonsense -o
is "options after the command belong to the command" "--pick nonsense -o" "$out"
try "$SXS" run --quiet echo --quiet
is "-- may be left out" "--quiet" "$out"
is "the command reads standard input" hello "$(echo hello | "$SXS" run --quiet -- cat)"
mkdir -p "$T/prefix/bin" "$T/prefix/lib/sxsprof" && cp "$SXS" "$T/prefix/bin/" &&
    cp "$T"/bin/*.so "$T/prefix/lib/sxsprof/"
try "$T/prefix/bin/sxsprof" run --quiet -- printenv CORECLR_PROFILER_PATH
is "an installed sxsprof finds ../lib/sxsprof" "$T/prefix/lib/sxsprof/libsxsprof.so" "$out"

# --- the table
record='"$0" "$SXSPROF_OUT" $$ runtime=1,8.0.29,1,10,200,3,4,5,6; echo output'
try "$SXS" run -- sh -c "$record" "$CENSUS"
is "standard output has the output of the command only" output "$out"
has "the table is on standard error" "$err" "runtime" "8.0.29" "picked" "200"
try "$SXS" run --quiet -- sh -c "$record; exit 3" "$CENSUS"
is "--quiet prints no table" "3:" "$status:$err"
try "$SXS" run -- true
has "no runtime: a message says what to do" "$err" "no runtime loaded the library" "sxsprof doctor"
is "no runtime: the message is one line" 1 "$(wc -l <"$T/err")"
try "$SXS" run -o "$T/kept" -- sh -c "$record" "$CENSUS"
is "-o makes a private folder" 700 "$(stat -c %a "$T/kept")"
is "-o keeps the session" "$err" "$("$SXS" report "$T/kept")"
try "$SXS" run --append -o "$T/kept" -- sh -c '"$0" "$SXSPROF_OUT" $$ runtime=1,9.0.18,2,1,1,1,1,1,1' "$CENSUS"
is "--append adds to a session" 0 "$status"
lacks "the table of the second run does not list the first run" "$err" "8.0.29"
try "$SXS" run --append -o "$T/first" --quiet -- true
is "--append with a new folder makes it" 0:700 "$status:$(stat -c %a "$T/first")"
has "the report lists both runs" "$("$SXS" report "$T/kept")" "8.0.29" "9.0.18"
try sh -c "'$SXS' run -- sh -c 'exit 5' 2>&-"
is "the exit status is right when standard error is closed" 5 "$status"

# --- signals
cat >"$T/signals.py" <<'PY'
import os, signal, subprocess, sys, time
sxs, want = sys.argv[1], sys.argv[2]
shell = ('trap "echo got; exit 33" %s; echo ready; while :; do sleep 0.05; done' % want)
p = subprocess.Popen([sxs, "run", "--quiet", "--", "bash", "-c", shell],
                     stdout=subprocess.PIPE, start_new_session=True)
assert p.stdout.readline() == b"ready\n"
p.send_signal(getattr(signal, "SIG" + want))
print(p.stdout.read().decode().strip(), p.wait(100))
PY
for s in INT TERM HUP QUIT USR1 USR2 ALRM WINCH; do
    is "SIG$s reaches the command" "got 33" "$(timeout 120 python3 "$T/signals.py" "$SXS" $s 2>&1)"
done

cat >"$T/child.py" <<'PY'
# Prints the sender of each SIGINT: 0 is the terminal. After the tenth from the terminal it waits for 0.5 s
# for more.
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
print("ready", flush=True)
senders = []
while info := signal.sigtimedwait([signal.SIGINT], 30 if senders.count(False) < 10 else 0.5):
    senders.append(info.si_pid != 0)
    print("took", len(senders), "", flush=True)
print("senders=%d/%d" % (sum(senders), len(senders)), flush=True)
PY
cat >"$T/once.py" <<'PY'
# A SIGINT that the terminal sends to the whole group must not arrive a second time, from sxsprof.
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "run", "--quiet", "--", sys.executable, sys.argv[2]])
data = b""
def until(text):
    global data
    while text not in data:
        data += os.read(fd, 1000)
until(b"ready")
for i in range(10): # one at a time: a second SIGINT is lost while the first is pending
    os.write(fd, b"\x03")
    until(b"took %d " % (i + 1))
try:
    while True:
        data += os.read(fd, 1000)
except OSError:
    pass
os.waitpid(pid, 0)
print(data.decode().split("senders=")[1].strip())
PY
is "Ctrl-C at the terminal arrives once" 0/10 "$(timeout 120 python3 "$T/once.py" "$SXS" "$T/child.py" 2>&1)"

cat >"$T/stop.py" <<'PY'
# Stops sxsprof as a terminal does: sxsprof must stop with its command, and both must continue together.
import os, signal, subprocess, sys
sxs = sys.argv[1]
p = subprocess.Popen([sxs, "run", "--quiet", "--", "bash", "-c", "echo ready; read -r line; exit $line"],
                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=os.setpgrp)
p.stdout.readline()
# setpgrp, not setsid: the process group of a new session is orphaned, and the kernel drops its stop signals
os.kill(p.pid, signal.SIGTSTP)
_, st = os.waitpid(p.pid, os.WUNTRACED)
print("stopped" if os.WIFSTOPPED(st) else "ended %x" % st, end=" ")
os.killpg(p.pid, signal.SIGCONT)
p.stdin.write(b"7\n")
p.stdin.flush()
_, st = os.waitpid(p.pid, 0)
print(os.WEXITSTATUS(st))
PY
is "job control: stop and go on" "stopped 7" "$(timeout 120 python3 "$T/stop.py" "$SXS" 2>&1)"

is "an ignored SIGCHLD loses nothing" 9 "$(python3 - "$SXS" 2>&1 <<'PY'
import signal, subprocess, sys
def ignore(): signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(subprocess.run([sys.argv[1], "run", "--quiet", "--", "sh", "-c", "exit 9"], preexec_fn=ignore, timeout=100).returncode)
PY
)"
finish
