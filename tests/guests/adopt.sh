#!/bin/bash
# SPDX-License-Identifier: MIT
# adopt.sh - a profiler that the environment names runs as a guest, with the output that it has when a runtime loads it
# directly: set before sxsprof run, by a script inside the command, and as a notification profiler.
. "$(dirname "$0")/../integration/lib.sh"
need_real 2
unset SXSPROF_GUESTS "${!CORECLR_@}"
clsid='{5E5C0001-0000-4000-8000-00000CE45050}'
library=$(realpath "$BUILD/guests/libcensus.so")
cp "$library" "$tmp/name,with;marks.so"
many=()
for v in $(echo "$versions" | head -n 3); do many+=("$v" hello ""); done

# A vendor's script: it sets the variables and runs a command.
cat >"$tmp/vendor.sh" <<S
#!/bin/sh
export CORECLR_ENABLE_PROFILING=1 CORECLR_PROFILER='$clsid' CORECLR_PROFILER_PATH_64='$library'
exec "\$@"
S
sed "s|_PATH_64='.*'|_PATH='$tmp/name,with;marks.so'|" "$tmp/vendor.sh" >"$tmp/marks.sh"
printf '#!/bin/sh\nexport CORECLR_PROFILER=%s\nexec "$@"\n' "'{5E5C0001-0000-4000-8000-00000000DEAD}'" >"$tmp/class.sh"
chmod +x "$tmp"/*.sh

# lines NAME: the output of the profiler in $tmp/NAME.out, sorted. The JIT considers a varying number of methods for
# inlining, and a runtime never releases the object of a profiler.
lines() {
    sort "$tmp/$1.out" 2>/dev/null | grep -v -e ' released$' -e ' JITInlining ' >"$tmp/$1.lines"
}

# profile NAME COMMAND...: runs a command whose profilers write to $tmp/NAME.out
profile() {
    local name=$1
    shift
    PROF_OUT=$tmp/$name.out "$@" >"$tmp/$name.std" 2>"$tmp/$name.err"
    status=$?
    lines "$name"
}
same() { # CLAIM NAME: the run NAME ended well, and its profiler wrote what it wrote directly
    [ "$status" -eq 0 ] && diff "$tmp/direct.lines" "$tmp/$2.lines" >"$tmp/diff"
    check "$1" $? "$tmp/diff"
    "$sxsprof" report -f json "$tmp/$2" >"$tmp/report.json" 2>&1
    python3 - "$tmp/report.json" "$clsid" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
got = [(x["runtime"], x["clsid"], x["state"]) for x in r["guests"]]
assert got == [(x["runtime"], sys.argv[2], "active") for x in r["runtimes"]], got
P
    check "$1: in the report it is a guest of each runtime" $? "$tmp/report.json"
}
run="$sxsprof run --adopt -o"

profile direct "$tmp/vendor.sh" "$runsxs" "${many[@]}"
[ "$(wc -l <"$tmp/direct.lines")" -ge 8 ]
check "the profiler writes counts when runtimes load it directly" $?

profile before "$tmp/vendor.sh" $run "$tmp/before" -- "$runsxs" "${many[@]}"
same "set before sxsprof run: the same output as directly" before
"$sxsprof" report -f json "$tmp/before" >"$tmp/report.json" 2>"$tmp/report.err"
python3 - "$tmp/report.json" "$clsid" "$library" <<'P'
import json, sys
r = json.load(open(sys.argv[1]))
g = r["guests"]
assert len(g) == len(r["runtimes"]) and [x["runtime"] for x in g] == list(range(1, len(g) + 1)), g
for x in g:
    assert list(x)[:7] == ["runtime", "clsid", "path", "state", "callbacks", "failures", "total_ns"], x
    assert (x["clsid"], x["path"], x["state"], x["failures"]) == (sys.argv[2], sys.argv[3], "active", 0), x
    assert x["callbacks"] > 8 and x["total_ns"] > 0, x
P
check "the report has one active guest for each runtime" $? "$tmp/report.json"

profile inside $run "$tmp/inside" -- "$tmp/vendor.sh" "$runsxs" "${many[@]}"
same "set by a script inside the command: the same output as directly" inside
profile twice "$tmp/vendor.sh" $run "$tmp/twice" -- "$tmp/vendor.sh" "$tmp/vendor.sh" "$runsxs" "${many[@]}"
same "set three times: it runs once" twice
profile marks $run "$tmp/marks" -- "$tmp/marks.sh" "$runsxs" "${many[@]}"
same "a path with a comma and a semicolon" marks
profile notify env CORECLR_ENABLE_NOTIFICATION_PROFILERS=1 "CORECLR_NOTIFICATION_PROFILERS=$library=$clsid" \
    $run "$tmp/notify" -- "$runsxs" "${many[@]}"
same "set as a notification profiler: it runs once, as a guest" notify
profile notify_in $run "$tmp/notify_in" -- env CORECLR_ENABLE_NOTIFICATION_PROFILERS=1 \
    "CORECLR_NOTIFICATION_PROFILERS_64=$library=$clsid;" "$runsxs" "${many[@]}"
same "set as a notification profiler inside the command: it runs once" notify_in
profile both "$tmp/vendor.sh" env CORECLR_ENABLE_NOTIFICATION_PROFILERS=1 \
    "CORECLR_NOTIFICATION_PROFILERS=$library=$clsid;" $run "$tmp/both" -- "$runsxs" "${many[@]}"
same "the same profiler as main and as notification profiler runs once" both

# Without the command: the variables of sxsprof env, with the word adopt.
(
    eval "$("$sxsprof" env --adopt -o "$tmp/env" 2>/dev/null)"
    mkdir -m 700 "$tmp/env"
    PROF_OUT=$tmp/env.out "$tmp/vendor.sh" "$runsxs" "${many[@]}" >"$tmp/env.std" 2>"$tmp/env.err"
)
status=$?
lines env
same "the settings of sxsprof env --adopt do the same" env

profile off "$sxsprof" run -o "$tmp/off" -- sh -c "'$tmp/vendor.sh' '$runsxs' ${versions%%
*} hello ''"
[ "$(grep -c '^sxsprof: CORECLR_PROFILER names another profiler' "$tmp/off.err")" -eq 1 ] && grep -q -- '--adopt' "$tmp/off.err"
check "without --adopt, one line says that another profiler was set" $? "$tmp/off.err"
"$sxsprof" report "$tmp/off" >"$tmp/off.report" 2>&1
head -n 3 "$tmp/off.report" | grep -q '/log: CORECLR_PROFILER names another profiler'
check "and the report says it among its first lines: standard error may be read by nobody" $? "$tmp/off.report"
profile long $run "$tmp/long" -- env CORECLR_ENABLE_PROFILING=1 "CORECLR_PROFILER=$clsid" \
    "CORECLR_PROFILER_PATH=$(printf '/.%.0s' $(seq 4200))$library" sh -c "'$runsxs' ${versions%%
*} hello ''"
grep -q 'longer than 8,000 bytes' "$tmp/long.err" && ! grep -q 'run --adopt runs both' "$tmp/long.err"
check "with --adopt and names that are too long, the line says so, and does not advise --adopt" $? "$tmp/long.err"
profile quiet "$sxsprof" run --quiet -o "$tmp/quiet" -- "$tmp/vendor.sh" sh -c 'true; /bin/true'
[ ! -s "$tmp/quiet.err" ]
check "programs without a runtime stay silent" $? "$tmp/quiet.err"
profile class $run "$tmp/class" -- "$tmp/class.sh" "$runsxs" "${many[@]}"
"$sxsprof" report -f json "$tmp/class" >"$tmp/class.json" 2>&1
[ "$(jsonq "$tmp/class.json" 'len([x for x in r if x["state"] == "picked"])')" = "$((${#many[@]} / 3))" ]
check "a script that sets the class alone: the runtimes load this profiler again" $? "$tmp/class.json"

# Managed programs see their own environment, with this profiler in it.
profile view $run "$tmp/view" -- "$tmp/vendor.sh" env
[ "$(grep -c '^CORECLR_PROFILER_PATH' "$tmp/view.std")" -eq 1 ] &&
    grep -q "^CORECLR_PROFILER={6B8F5B6E" "$tmp/view.std" &&
    grep -q "^CORECLR_PROFILER_PATH=.*/libsxsprof.so$" "$tmp/view.std" &&
    grep -qF "SXSPROF_GUESTS=adopt;$clsid=$library" "$tmp/view.std"
check "the changed environment has each variable once" $? "$tmp/view.std"

# Two classes of one library: only the class tells them apart.
other=${clsid%0\}}1}
profile classes "$sxsprof" run -o "$tmp/classes" --guest "$clsid=$library" --guest "$other=$library" -- \
    "$runsxs" "${versions%%
*}" hello ''
"$sxsprof" report "$tmp/classes" >"$tmp/classes.text" 2>&1
grep -qF "libcensus.so $clsid  active" "$tmp/classes.text" && grep -qF "libcensus.so $other  failed" "$tmp/classes.text"
check "guests of one library are told apart by their classes in the text" $? "$tmp/classes.text"
finish
