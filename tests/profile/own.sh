#!/bin/bash
# SPDX-License-Identifier: MIT
# What is the profiler's own work has a frame [sxsprof] at the root of its stacks, alike in every format. TAP.
. "$(dirname "$0")/lib.sh"

compile make_samples
mkdir "$T/s" && "$T/make_samples" "$T/s" own || exit 1
report() { "$REPORT" "$1" "$T/s" "$T/out.$1" "${@:2}" 2>"$T/err"; }

# Of 200 samples 115 are of the profiler's own work; the other 85 are of Main.
for format in collapsed html speedscope firefox chrome pprof; do
    report $format
    is "$format: own work is below [sxsprof], and Main has the rest" "115 85" \
        "$(python3 tests/profile/own_time.py $format "$T/out.$format" App.Program.Main 2>&1)"
done
collapsed=$(cat "$T/out.collapsed")
has "a callback, and what it called, without its caller" "$collapsed" \
    "main [100];[sxsprof];[native] libsxsprof.so!?;[native] libplugin.so!? 250000000"
has "a hook" "$collapsed" "main [100];[sxsprof];[native] libsxsprof.so!? 150000000"
has "the preloaded library's own work" "$collapsed" "main [100];[sxsprof];[native] libsxsprof-preload.so!? 100000000"
has "what that passes on is the program's" "$collapsed" \
    "main [100];[8.0.29] App.Program.Main;[native] libsxsprof-preload.so!?;[native] libplugin.so!? 200000000"
has "and what the program has the library do" "$collapsed" \
    "main [100];[8.0.29] App.Program.Main;[native] libplugin.so!?;[native] libsxsprof.so!?;[native] libplugin.so!? 125000000"
has "threads of the library" "$collapsed" "sxsprof wall [101];[sxsprof];[native] libplugin.so!? 75000000"

report text
text=$(cat "$T/out.text")
has "text: a share of its own" "$text" " 57.50 %  sxsprof itself"
has "text: which is no other class's" "$text" " 42.50 %  native"
has "text: nor has a runtime on the stack" "$text" "runtime 1, 8.0.29 (42.50 % with it on the stack)"
report collapsed only=managed
is "without native frames, own work stays apart" "main [100];[8.0.29] App.Program.Main 425000000" \
    "$(grep -v -F '[sxsprof]' "$T/out.collapsed")"

mkdir "$T/none" && "$T/make_samples" "$T/none" known && "$REPORT" text "$T/none" "$T/out.none" 2>"$T/err"
is "a session without own work has no such line" "" "$(grep sxsprof "$T/out.none")"
exit $failed
