#!/bin/bash
# SPDX-License-Identifier: MIT
# file_modes.sh - plays a user who reads what others leave open: the profiled program has umask 0, and no file or folder
# that the library makes may be accessible to others, whoever made the session folder.
. "$(dirname "$0")/lib.sh"
[ -e "$BUILD/fakeclr/8.0/libcoreclr.so" ] || skip_all "$0" "the simulated runtimes are not built"
clsid=$(sed -n 's/^#define SXSPROF_CLSID "\(.*\)"/\1/p' include/sxsprof.h)
library=$(realpath "$BUILD/libsxsprof.so")
umask 0
cat >"$tmp/rules.xml" <<'X'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="*" type="*" method="*"/><count/></rule>
</instrumentation>
X
host() { # OUT [NAME=VALUE...]
    local out=$1; shift
    env CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER="$clsid" CORECLR_PROFILER_PATH="$library" SXSPROF_OUT="$out" "$@" \
        timeout -k 5 60 "$runsxs" /st --timeout 50 fake:8.0 '!modules 2; jit 3; gc 2; throw 1' "" >"$tmp/out" 2>"$tmp/err"
}
closed() { # CLAIM DIR FILE: FILE was made somewhere in DIR, and nothing there is open to others
    [ -n "$(find "$2" -name "$3" 2>/dev/null)" ] && [ -z "$(find "$2" -perm /077)" ]
    check "$1" $? <(find "$2" -printf '%m %p\n'; cat "$tmp/err" 2>/dev/null)
}
host "$tmp/one" SXSPROF_TOOLS="sample;calls:trace;events;exceptions;gc;alloc;heap:at-exit" SXSPROF_CALLS='*' SXSPROF_VALUES='*'
closed "a session with many tools" "$tmp/one" samples
host "$tmp/rules" SXSPROF_INSTRUMENT="$tmp/rules.xml"
closed "a session of the tool instrument" "$tmp/rules" instrument
host "$tmp/ring" SXSPROF_KEEP=1m SXSPROF_TOOLS=events
closed "a folder of segments" "$tmp/ring" segment.json
mkdir -m 700 "$tmp/log"
host "$tmp/engine" SXSPROF_METHODS=/nowhere MicrosoftInstrumentationEngine_LogLevel=All \
    MicrosoftInstrumentationEngine_FileLogPath="$tmp/log/"
closed "the log of the instrumentation engine" "$tmp/log" 'ProfilerLog_*'
"$sxsprof" run --quiet --tool events -o "$tmp/run" -- "$runsxs" /st --timeout 50 fake:8.0 '!modules 1' "" >"$tmp/out" 2>"$tmp/err"
closed "a session of sxsprof run" "$tmp/run" events
finish
