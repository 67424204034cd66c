#!/bin/bash
# SPDX-License-Identifier: MIT
# own.sh - checks that stacks of the profiler's own work begin with a frame [sxsprof] in every format. TAP.
. "$(dirname "$0")/lib.sh"

compile make_samples
mkdir "$T/s" && "$T/make_samples" "$T/s" own || exit 1
report() { "$REPORT" "$1" "$T/s" "$T/out.$1" "${@:2}" 2>"$T/err"; }

# 115 of the 200 samples are of the profiler's own work; the other 85 are of Main.
for format in collapsed html speedscope firefox chrome pprof; do
    report $format
    is "$format: own work is below [sxsprof], and Main has the other samples" "115 85" \
        "$(python3 tests/profile/own_time.py $format "$T/out.$format" App.Program.Main 2>&1)"
done
collapsed=$(cat "$T/out.collapsed")
has "a callback and its callees are below [sxsprof], without the caller" "$collapsed" \
    "main [100];[sxsprof];[native] libsxsprof.so!?;[native] libplugin.so!? 250000000"
has "a hook is own work" "$collapsed" "main [100];[sxsprof];[native] libsxsprof.so!? 150000000"
has "work of the preloaded library is own work" "$collapsed" "main [100];[sxsprof];[native] libsxsprof-preload.so!? 100000000"
has "a function that the preloaded library passes a call on to is the program's work" "$collapsed" \
    "main [100];[8.0.29] App.Program.Main;[native] libsxsprof-preload.so!?;[native] libplugin.so!? 200000000"
has "library code that the program calls is the program's work" "$collapsed" \
    "main [100];[8.0.29] App.Program.Main;[native] libplugin.so!?;[native] libsxsprof.so!?;[native] libplugin.so!? 125000000"
has "threads of the library are own work" "$collapsed" "sxsprof wall [101];[sxsprof];[native] libplugin.so!? 75000000"

report text
text=$(cat "$T/out.text")
has "text: own work has a share" "$text" " 57.50 %  sxsprof itself"
has "text: own work is in no other class" "$text" " 42.50 %  native"
has "text: own work is not counted for runtimes on the stack" "$text" "runtime 1, 8.0.29 (42.50 % with it on the stack)"
report collapsed only=managed
is "without native frames, own work is still separate" "main [100];[8.0.29] App.Program.Main 425000000" \
    "$(grep -v -F '[sxsprof]' "$T/out.collapsed")"

mkdir "$T/none" && "$T/make_samples" "$T/none" known && "$REPORT" text "$T/none" "$T/out.none" 2>"$T/err"
is "a session without own work has no line about it" "" "$(grep sxsprof "$T/out.none")"
exit $failed
