#!/bin/bash
# SPDX-License-Identifier: MIT
# doctor.sh - checks what sxsprof doctor says about variables, libraries, settings, the system and a command.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
ours='{6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31}'
other='{846F5F1C-F9AE-4B07-969E-05C26BC060D8}'
lib=$T/bin/libsxsprof.so

# well CLAIM "PART|PART" [VARIABLE=VALUE]... [-- COMMAND]: the doctor finds no problem and prints every part.
# bad: the doctor finds a problem (exit status 1) and prints every part.
examine() {
    local claim=$1 want=$2 parts env=()
    IFS='|' read -ra parts <<<"$3"
    shift 3
    while [ $# -gt 0 ] && [ "$1" != -- ]; do env+=("$1") && shift; done
    try env "${env[@]}" "$SXS" doctor "$@"
    is "$claim: exit status $want" "$want" "$status"
    has "$claim: the doctor prints it" "$out" "${parts[@]}"
    [ -z "$(grep 'runtime error\|Sanitizer' "$T/err")" ] || not_ok "$claim: no message of a sanitizer" "$err"
}
well() { local c=$1 && shift && examine "$c" 0 "$@"; }
bad() { local c=$1 && shift && examine "$c" 1 "$@"; }
on=(CORECLR_ENABLE_PROFILING=1)

well "no variable is set" "loads no profiler; started by sxsprof it loads $lib|All is well"
well "the variables name this profiler" "every runtime loads $lib, by CORECLR_PROFILER_PATH" \
    "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH="$lib"
well "CORECLR_PROFILER_PATH_64 has precedence over CORECLR_PROFILER_PATH" "by CORECLR_PROFILER_PATH_64|CORECLR_PROFILER_PATH: not read" \
    "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH_64="$lib" CORECLR_PROFILER_PATH=/x.so
well "an empty CORECLR_PROFILER_PATH_64 is ignored" "by CORECLR_PROFILER_PATH" \
    "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH_64= CORECLR_PROFILER_PATH="$lib"
well "CORECLR_PROFILER_PATH_32 is not read" "CORECLR_PROFILER_PATH_32: not read" \
    "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH_32=/x CORECLR_PROFILER_PATH="$lib"
bad "another profiler is set" "another profiler is set: class $other, library /o/p.so|sxsprof replaces it" \
    "${on[@]}" CORECLR_PROFILER=$other CORECLR_PROFILER_PATH=/o/p.so
bad "CORECLR_PROFILER_PATH_64 names another profiler and hides our path" "CORECLR_PROFILER_PATH_64=/o/p.so: No such file" \
    "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH_64=/o/p.so CORECLR_PROFILER_PATH="$lib"
bad "our library with the class ID of another profiler" "not this profiler's class" \
    "${on[@]}" CORECLR_PROFILER=$other CORECLR_PROFILER_PATH="$lib"
bad "a class ID without braces" "not a class ID in braces" \
    "${on[@]}" CORECLR_PROFILER=6B8F5B6E-3C0D-4E0B-9A57-5C1D0F2E7A31 CORECLR_PROFILER_PATH="$lib"
bad "CORECLR_PROFILER is not set" "CORECLR_PROFILER: not set" "${on[@]}" CORECLR_PROFILER_PATH="$lib"
bad "CORECLR_PROFILER_PATH is not set" "CORECLR_PROFILER_PATH is not set" "${on[@]}" CORECLR_PROFILER=$ours
bad "CORECLR_ENABLE_PROFILING is a word" "CORECLR_ENABLE_PROFILING=true: not a hexadecimal number" \
    CORECLR_ENABLE_PROFILING=true
well "CORECLR_ENABLE_PROFILING is 0" "CORECLR_ENABLE_PROFILING is off" CORECLR_ENABLE_PROFILING=0 CORECLR_PROFILER=$other
well "COR_ names are ignored" "COR_PROFILER: read by .NET Framework alone" COR_PROFILER=$other COR_ENABLE_PROFILING=1
bad "diagnostics are disabled" "DOTNET_EnableDiagnostics=0: no runtime loads any profiler" DOTNET_EnableDiagnostics=0
bad "profilers are disabled by a COMPlus_ variable" "COMPlus_EnableDiagnostics_Profiler=0" COMPlus_EnableDiagnostics_Profiler=0
well "DOTNET_ has precedence over COMPlus_" "All is well" DOTNET_EnableDiagnostics=1 COMPlus_EnableDiagnostics=0
bad "PreventLoad" "no runtime loads a profiler when it starts" \
    DOTNET_ProfAPI_ProfilerCompatibilitySetting=preventload
well "notification profilers" "CORECLR_NOTIFICATION_PROFILERS=/n.so=$other;: loaded beside" \
    CORECLR_NOTIFICATION_PROFILERS="/n.so=$other;" CORECLR_ENABLE_NOTIFICATION_PROFILERS=1
bad "notification profilers without ';' at the end" "no ';' at its end" \
    CORECLR_NOTIFICATION_PROFILERS="/n.so=$other" CORECLR_ENABLE_NOTIFICATION_PROFILERS=1
well "notification profilers that are not enabled" "PROFILERS is not set" CORECLR_NOTIFICATION_PROFILERS="/n.so=$other"

# --- libraries
mkdir "$T/empty"
echo text >"$T/text.so"
printf '\177ELF\1\1\1' | cat - /dev/zero | head -c 200 >"$T/small.so"
echo 'int nothing;' | $CC -shared -fPIC -x c - -o "$T/plain.so"
echo 'int gone;' | $CC -shared -fPIC -x c - -Wl,-soname,libgone.so.7 -o "$T/libgone.so.7"
echo 'extern int gone; int DllGetClassObject(void); int DllGetClassObject(void) { return gone; }' |
    $CC -shared -fPIC -x c - -x none "$T/libgone.so.7" -o "$T/needy.so" && rm "$T/libgone.so.7"
for case in "text.so|no ELF file" "small.so|32-bit" "plain.so|no DllGetClassObject" \
    "needy.so|cannot be found: libgone.so.7" "empty|Is a directory"; do
    file=$T/${case%%|*}
    bad "the path names a wrong file: ${case#*|}" "${case#*|}" "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH="$file"
done
printf 'V1 { global: f; local: *; }; V2 { global: g; } V1;' >"$T/2.map"
printf 'V1 { global: f; local: *; };' >"$T/1.map"
echo 'int f(void); int g(void); int f(void) { return 1; } int g(void) { return 2; }' >"$T/v.c"
$CC -shared -fPIC "$T/v.c" -Wl,--version-script="$T/2.map" -Wl,-soname,libv.so.1 -o "$T/libv.so.1"
echo 'int g(void); int DllGetClassObject(void); int DllGetClassObject(void) { return g(); }' |
    $CC -shared -fPIC -x c - -x none "$T/libv.so.1" -Wl,-rpath,"$T" -o "$T/newer.so"
bad "a library whose needed versions all exist" "newer.so: another file than this command's" \
    "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH="$T/newer.so"
$CC -shared -fPIC "$T/v.c" -Wl,--version-script="$T/1.map" -Wl,-soname,libv.so.1 -o "$T/libv.so.1"
bad "a library that needs a newer version of another library" "newer.so: needs what cannot be found: $T/libv.so.1 with version V2|a runtime ignores a profiler that cannot be loaded, silently" \
    "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH="$T/newer.so"
if unshare -m mount -t tmpfs -o noexec none "$T/empty" 2>/dev/null; then
    cat >"$T/noexec" <<SH2
#!/bin/sh
mount -t tmpfs -o noexec none "$T/empty" && cp "$lib" "$T/empty/p.so" && exec "\$@"
SH2
    chmod +x "$T/noexec"
    try env "${on[@]}" CORECLR_PROFILER=$ours CORECLR_PROFILER_PATH="$T/empty/p.so" unshare -m "$T/noexec" "$SXS" doctor
    has "a library on a file system mounted noexec" "$status:$out" "1:" "p.so: on a file system mounted noexec"
else
    skip "a library on a file system mounted noexec" "mounting is not allowed here"
fi
bad "LD_PRELOAD names a missing file" "/no/such.so: missing" LD_PRELOAD=/no/such.so
well "LD_PRELOAD names our signal library" "the signal library of this command" LD_PRELOAD="$T/bin/libsxsprof-preload.so"
well "LD_PRELOAD names another library" "plain.so: stays" LD_PRELOAD="$T/plain.so"
cp "$SXS" "$T/empty/"
try "$T/empty/sxsprof" doctor
has "the libraries are missing" "$status:$out" "1:" "libsxsprof.so: missing" "libsxsprof-clrie.so: missing" "libsxsprof-preload.so: missing"

# --- settings
bad "a wrong value of SXSPROF_PICK" "SXSPROF_PICK: 'most'|expected all, first" SXSPROF_PICK=most
bad "an unknown tool in SXSPROF_TOOLS" "no tool 'frob'" SXSPROF_TOOLS=frob
bad "SXSPROF_OUT names a missing folder" "there is no folder /no/where" SXSPROF_OUT=/no/where
mkdir "$T/session" && chmod 777 "$T/session"
bad "a session folder that others may write to" "SXSPROF_OUT: $T/session: others may write into the folder|nothing would be recorded" \
    SXSPROF_OUT="$T/session"
if [ "$(id -u)" = 0 ]; then
    chmod 700 "$T/session" && chown 65534 "$T/session"
    bad "a session folder of another user" "the folder belongs to another user (uid 65534): nothing would be recorded|sudo -u USER sxsprof doctor" \
        SXSPROF_OUT="$T/session"
else
    skip "a session folder of another user" "only root may give a folder away"
fi
bad "a folder of something else" "which is not of a session|nothing would be recorded" SXSPROF_OUT="$T"
mkdir -m 700 "$T/own" && ln -s own "$T/link"
bad "a link to a session folder" "it is a symbolic link|nothing would be recorded" SXSPROF_OUT="$T/link"
bad "a wrong log level" "SXSPROF_LOG: 'loud'" SXSPROF_LOG=loud
well "correct settings" "SXSPROF_PICK=one:9" SXSPROF_PICK=one:9 SXSPROF_OUT="$T/own" SXSPROF_SIGNALS=on
for variable in $(sed -n 's/.*"\(SXSPROF_FLEET[A-Z_]*\|SXSPROF_CONFINE\)".*/\1/p' base/env.h); do
    try env "$variable=on" "$SXS" doctor
    case $out in
    *"$variable: not a setting"*) not_ok "$variable, which the command reads, is known" "$out" ;;
    *) ok "$variable, which the command reads, is known" ;;
    esac
done
well "an unknown setting" "SXSPROF_FROB: not a setting" SXSPROF_FROB=1
bad "TMPDIR names a missing folder" "/no/tmp: no folder can be made there" TMPDIR=/no/tmp

# --- the system
well "kernel settings" "perf_event_paranoid is |ptrace_scope is "
cat >"$T/system.sh" <<'SH2'
#!/bin/sh
# Runs a command in a mount namespace with made-up control groups and kernel settings.
# system.sh FOLDER COMMAND...
set -e
folder=$1
shift
mount --bind "$folder/cgroup" /sys/fs/cgroup
if [ -e "$folder/paranoid" ]; then mount --bind "$folder/paranoid" /proc/sys/kernel/perf_event_paranoid; fi
exec "$@"
SH2
mkdir -p "$T/sys/cgroup" && echo 4 >"$T/sys/paranoid"
own=$(sed -n 's/^0:://p' /proc/self/cgroup)
system() { try unshare -m sh "$T/system.sh" "$T/sys" "$SXS" doctor; }
system
if [ -z "$out" ] || [ -z "$own" ]; then
    skip "control groups" "mounting is not allowed here, or there is no group of version 2"
else
    has "perf_event_paranoid is read" "$out" "perf_event_paranoid is 4"
    has "no control group limits" "$status:$out" "0:" "no control group limits processors, memory or tasks"
    mkdir -p "$T/sys/cgroup$own"
    echo "max 100000" >"$T/sys/cgroup$own/cpu.max"
    echo max >"$T/sys/cgroup$own/memory.max"
    system
    has "control group limits of max" "$status:$out" "0:" "no control group limits"
    echo "50000 100000" >"$T/sys/cgroup$own/cpu.max"
    echo 209715200 >"$T/sys/cgroup$own/memory.max"
    echo 100 >"$T/sys/cgroup$own/pids.max"
    echo 40 >"$T/sys/cgroup$own/pids.current"
    system
    has "limits of control groups version 2" "$status:$out" "0:" "to 0.50 processors" "memory to 200.00 MiB" "allows 60 more tasks"
    echo 90 >"$T/sys/cgroup$own/pids.current"
    system
    has "the limit of tasks leaves no room for threads" "$status:$out" "1:" "start 10 more tasks only" "--pids-limit"
    rm -r "$T/sys/cgroup"
    for c in cpu memory pids; do
        group=$(grep -E ":(.*,)?$c(,.*)?:" /proc/self/cgroup | cut -d: -f3-)
        [ -n "$group" ] || continue
        mkdir -p "$T/sys/cgroup/$c$group"
        (cd "$T/sys/cgroup/$c" && echo 150000 >cpu.cfs_quota_us && echo 100000 >cpu.cfs_period_us &&
            echo 9223372036854771712 >memory.limit_in_bytes && echo max >pids.max && echo 1 >pids.current)
        echo 104857600 >"$T/sys/cgroup/$c$group/memory.limit_in_bytes"
    done
    if [ -n "$group" ]; then
        system
        has "limits of control groups version 1, and limits of parent groups" "$status:$out" "0:" "to 1.50 processors" "memory to 100.00 MiB"
    else
        skip "limits of control groups version 1" "no groups of version 1 here"
    fi
fi

# --- commands
bad "a program that is not .NET" "/bin/ls: no .NET program|name the program that runs .NET" -- /bin/ls
lacks "a program that is not .NET: the doctor does not print: All is well" "$out" "All is well"
echo 'const char *host = "libhostfxr.so"; int main(void) { return !host; }' | $CC -x c - -o "$T/host"
well "a program that contains the name of a .NET host library" "runtimes that it hosts itself are profiled" -- "$T/host"
echo 'const char *load(void); const char *load(void) { return "coreclr_initialize"; }' |
    $CC -shared -fPIC -x c - -o "$T/libload.so"
echo 'const char *load(void); int main(void) { return !load(); }' |
    $CC -x c - -x none "$T/libload.so" -Wl,-rpath,"$T" -o "$T/loader"
well "a program with a library that hosts .NET" "runtimes that it hosts itself are profiled" -- "$T/loader"
echo 'const char *aot = "System.Private.CoreLib"; int main(void) { return !aot; }' | $CC -x c - -o "$T/aot"
bad "a NativeAOT program" "compiled by NativeAOT: it has no runtime that loads a profiler" -- "$T/aot"
bad "a command that does not exist" "no-such: not found" -- no-such
bad "a file that cannot be executed" "cannot be executed" -- "$T/text.so"
printf '#!/usr/bin/env bash\n' >"$T/script" && chmod +x "$T/script"
well "a script" "a script, run by /usr/bin/env bash" -- "$T/script"
echo data >"$T/data" && chmod +x "$T/data"
bad "an executable file that is neither ELF nor a script" "neither a program nor a script" -- "$T/data"
well "a native host" "runtimes that it hosts itself are profiled" -- "$SXS"
if echo 'int main(void) { return 0; }' | $CC -static -x c - -o "$T/static" 2>/dev/null; then
    bad "a static program" "a static program: LD_PRELOAD is ignored" -- "$T/static"
else
    skip "a static program" "no static libc here"
fi
if [ "$(id -u)" = 0 ]; then
    cp /bin/true "$T/setuid" && chown 1 "$T/setuid" && chmod 4755 "$T/setuid"
    bad "a set-user-ID program" "set-user-ID" -- "$T/setuid"
else
    skip "a set-user-ID program" "needs root to make one"
fi

mkdir -p "$T/root/shared/Microsoft.NETCore.App" "$T/app"
for v in 8.0.3 8.0.29 9.0.18 9.1.2 10.0.11; do
    mkdir "$T/root/shared/Microsoft.NETCore.App/$v" && touch "$T/root/shared/Microsoft.NETCore.App/$v/libcoreclr.so"
done
cp /bin/true "$T/root/dotnet"
touch "$T/app/app.dll"
cp /bin/true "$T/app/app"
asks() { # VERSION [ROLLFORWARD]
    printf '{"runtimeOptions": {%s "framework": {"name": "Microsoft.NETCore.App", "version": "%s"}}}' \
        "${2:+\"rollForward\": \"$2\",}" "$1" >"$T/app/app.runtimeconfig.json"
}
gets() { # CLAIM EXPECTED [VARIABLE=VALUE]
    well "$1" "gets $2: $T/root/shared" DOTNET_ROOT="$T/root" "${@:3}" -- "$T/root/dotnet" "$T/app/app.dll" argument
}
asks 8.0.0 && gets "the highest patch of the requested version" 8.0.29
asks 9.0.0 LatestMinor && gets "LatestMinor" 9.1.2
asks 8.0.3 Disable && gets "Disable selects exactly the requested version" 8.0.3
asks 8.0.0 LatestPatch && gets "Major, when the requested major version is installed" 8.0.29 DOTNET_ROLL_FORWARD=Major
asks 7.0.0 LatestPatch && gets "DOTNET_ROLL_FORWARD has precedence over the file" 8.0.29 DOTNET_ROLL_FORWARD=Major
asks 7.0.0 Major && gets "Major selects the nearest major version" 8.0.29
asks 99.0.0
bad "no installed version fits" "asks for 99.0.0 (Minor), and none" \
    DOTNET_ROOT="$T/root" -- "$T/root/dotnet" "$T/app/app.dll"
asks 10.0.0
well "the apphost of an app" "app.runtimeconfig.json: asks for 10.0.0" DOTNET_ROOT="$T/root" -- "$T/app/app"
echo '{"runtimeOptions": {"includedFrameworks": []}}' >"$T/app/app.runtimeconfig.json"
well "a self-contained app" "self-contained" -- "$T/app/app"
echo '{"runtimeOptions": ' >"$T/app/app.runtimeconfig.json"
bad "a garbled runtimeconfig.json" "app.runtimeconfig.json" -- "$T/app/app"
bad "a dll that does not exist" "gone.dll: No such file" -- "$T/root/dotnet" "$T/gone.dll"
well "a command of the SDK" "a command of the SDK" -- "$T/root/dotnet" build

# ---- what is not seen ----
well "waits that locks does not record are said" "note     locks: monitors and System.Threading.Lock only; not SpinLock, waits that give up"
well "so is where waits for class constructors are" "on .NET 8 and 9 it counts as monitor or lock"
well "and which routes, foreign code and budgets are known" "Kestrel on .NET 8 to 10"

# ---- libraries that are opened when they are needed ----
soname=$(sed -n 's/^#define SXS_LIBUNWIND_SONAME *"\(.*\)"/\1/p' "$BUILD/gen/sxs_sonames.h")
mkdir "$T/broken"
: >"$T/broken/$soname"
well "libunwind can be loaded" "$soname for native frames"
bad "libunwind cannot be loaded" "$soname cannot be loaded: " LD_LIBRARY_PATH="$T/broken"
finish
