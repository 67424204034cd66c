#!/bin/bash
# SPDX-License-Identifier: MIT
# report.sh - checks sxsprof report without a folder, with -o and with --open.
cd "$(dirname "$0")/../.." || exit 1
. tests/command/common.inc
for kind in samples calls events; do
    $CC -std=gnu11 -D_GNU_SOURCE -g -I. tests/profile/make_$kind.c -o "$T/make_$kind" || exit 1
done

# --- -o FILE writes the text that standard output shows
"$T/make_samples" "$T/all" known 4242 >/dev/null
"$T/make_calls" "$T/all" >/dev/null 2>&1
"$T/make_events" "$T/all" >/dev/null 2>&1
for what in "" "--data calls" "--data samples" "--top 3" "--thread 101" "--format json" "--format collapsed"; do
    # shellcheck disable=SC2086
    {
        "$SXS" report $what "$T/all" >"$T/shown" 2>"$T/said"
        shown=$?
        rm -f "$T/file"
        try "$SXS" report $what -o "$T/file" "$T/all"
    }
    is "report $what -o FILE: the file has the text of standard output" "" "$(diff "$T/shown" "$T/file" 2>&1 | head -n 5)"
    is "report $what -o FILE: the same status and messages, nothing on standard output" \
        "$shown:$(cat "$T/said"):" "$status:$err:$out"
done
has "the report has all sections" "$("$SXS" report "$T/all" 2>&1)" "picked" "functions, 4 of 4 called" \
    "exceptions: 13 at 1 throw sites" "top functions by self"

# --- JSON has samples, and the part of them that was chosen
"$CENSUS" "$T/all" 4242 runtime=1,9.0.18,1,1,1,1,1,1,1 2>/dev/null
json() { # OPTIONS EXPRESSION: in Python; d is the report
    # shellcheck disable=SC2086
    "$SXS" report --format json $1 "$T/all" 2>"$T/said" | python3 -c "
import json, sys
d = json.load(sys.stdin)
print($2)" 2>&1
}
is "JSON: counts and weights of samples" "1020 7 5100000000" \
    "$(json "" 'd["profile"]["total_samples"], d["profile"]["processes"][0]["samples_dropped"], d["profile"]["total_ns"]' | tr -d '(),')"
is "JSON: the stacks have all samples, and the time of its functions" "1020 True" \
    "$(json "" 'str(sum(n["self_samples"] for n in d["profile_stacks"])), all(f["self_ns"] == sum(n["self_ns"] for n in d["profile_stacks"] if n["frames"][-1:] == [i]) for i, f in enumerate(d["profile_functions"]))' | tr -d "(),'")"
is "JSON: a function with its callers" "Hot.Spin libcoreclr Bridge.Call Program.Main" \
    "$(json "" '" ".join(next(w for w in ("Hot.Spin", "Bridge.Call", "Program.Main", "libcoreclr", "?") if w in d["profile_functions"][f]["name"] or w == "?") for f in reversed(next(n for n in d["profile_stacks"] if n["self_samples"] == 400)["frames"]))')"
is "JSON --thread: samples of that thread only" "{101} 0" \
    "$(json "--thread 101" 'str({t["tid"] for t in d["profile_threads"] if t["total_samples"]}), sum(t["total_samples"] for t in d["profile_threads"]) - d["profile"]["total_samples"]' | tr -d "(),'")"
is "JSON --thread: what cannot be chosen by thread is left out, and named" "['functions', 'events'] False" \
    "$(json "--thread 101" 'str(d["left_out"]) + " " + str("calltree" in d)')"
try "$SXS" report --format json --thread nobody "$T/all"
has "JSON --thread: a thread that is not there is refused" "$status:$err" "2:" "nothing that was asked for"
has "--top leaves the table of runtimes" "$("$SXS" report --top 3 "$T/all" 2>&1)" "runtime  version"
for format in text html collapsed; do
    try "$SXS" report --format $format --from 2090-01-01 -o "$T/later" "$T/all"
    lacks "--from after the session's end, $format: no advice to record" "$err" "expected a folder"
done
"$T/make_samples" "$T/sampled" known 4242 >/dev/null
try "$SXS" report --from 2090-01-01 "$T/sampled"
has "--from after the session's end: the reason" "$status:$err" "2:" "nothing was recorded in the time of --from and --to"

# --- no folder: the newest session
mkdir "$T/here" && cd "$T/here" || exit 1
try "$SXS" report
has "no folder is given, and none is a session: status 2" "$status:$err" "2:" "no session is in the current folder"
"$CENSUS" . 77 started=50 runtime=1,5.0.0,1,1,1,1,1,1,1
try "$SXS" report
has "no folder is given: the current folder is the session" "$status:$out" "0:" "5.0.0"
rm -r 77
"$CENSUS" other 1 started=900 runtime=1,6.0.0,1,1,1,1,1,1,1
"$CENSUS" older 1 started=800 runtime=1,7.0.0,1,1,1,1,1,1,1
mkdir empty sxsprof-9
try "$SXS" report
has "no folder is given: the newest session, whatever the name of its folder" "$status:$err:$out" "0:" "the newest session is other" "6.0.0"
"$CENSUS" sxsprof-5 5 started=300 runtime=1,8.0.29,1,1,1,1,1,1,1
"$CENSUS" sxsprof-4 4 started=500 runtime=1,9.0.18,1,1,1,1,1,1,1
"$CENSUS" sxsprof-6 6 started=400 runtime=1,10.0.11,1,1,1,1,1,1,1
touch sxsprof-5
try "$SXS" report
has "no folder is given: the session sxsprof-* that began last" "$status:$err:$out" "0:" "the newest session is sxsprof-4" "9.0.18"
"$CENSUS" sxsprof-5 7 started=600 runtime=1,8.0.30,1,1,1,1,1,1,1
try "$SXS" report --format json
has "no folder is given: a process that was added to a session makes it the newest" "$status:$err:$out" "0:" "the newest session is sxsprof-5" "8.0.30"

# --- a process or a runtime that the session does not have
"$CENSUS" two 5 started=300 runtime=1,8.0.29,1,1,1,1,1,1,1 runtime=2,10.0.11,1,1,1,1,1,1,1
"$CENSUS" two 6 started=400 runtime=1,8.0.29,1,1,1,1,1,1,1
for format in text json html; do
    try "$SXS" report --format $format --runtime 3 two
    is "--runtime 3 of a session without it, $format: the message lists the runtimes" \
        "2::sxsprof: --runtime: 3: two has no such runtime; expected one of 1 (8.0.29), 2 (10.0.11)" "$status:$out:$err"
done
try "$SXS" report --runtime 2 --process 6 two
has "--runtime 2 of a process without it" "$status:$err" "2:" "no such runtime; expected 1 (8.0.29)"
try "$SXS" report --process 7 two
is "--process 7 of a session without it: the message lists the processes" \
    "2::sxsprof: --process: '7': two has no such process; expected one of 5, 6" "$status:$out:$err"
rm -r two

# --- --open
"$T/make_samples" "$T/here/sxsprof-7" known 4242 >/dev/null
mkdir "$T/opener" "$T/none"
for tool in sh cat mv; do ln -s "$(command -v $tool)" "$T/none/"; done
cat >"$T/opener/xdg-open" <<'SH2'
#!/bin/sh
echo "$@" >"$OPENED.part"
mv "$OPENED.part" "$OPENED"
SH2
chmod +x "$T/opener/xdg-open"
try env PATH="$T/none" "$SXS" report --open sxsprof-7
is "--open without an opener: prints the path of the page" "0:$T/here/sxsprof-7.html" "$status:$out"
has "--open without an opener: the page is written" "$(head -c 300 "$T/here/sxsprof-7.html")" "<!DOCTYPE html>"
rm -f sxsprof-7.html
OPENED=$T/opened PATH=$T/opener:$PATH try "$SXS" report --open sxsprof-7/
is "--open: exit status 0, nothing on standard output" "0:" "$status:$out"
for _ in $(seq 300); do [ -e "$T/opened" ] && break; sleep 0.1; done
is "the opener gets the page" "$T/here/sxsprof-7.html" "$(cat "$T/opened" 2>&1)"
[ -s sxsprof-7.html ]; is "the page is beside the session" 0 $?
try env PATH="$T/none" "$SXS" report --open -o "$T/page.html" sxsprof-7
is "--open -o FILE: the page is FILE" "0:$T/page.html" "$status:$out"
[ -s "$T/page.html" ]; is "--open -o FILE: FILE is written" 0 $?
try "$SXS" report --open --format json sxsprof-7
has "--open with another format is refused" "$status:$err" "2:" "--open: expected --format html, not json"
try env PATH="$T/none" "$SXS" report --open sxsprof-6
has "--open of a session without a profile is refused" "$status:$out:$err" "2::" "nothing to show"
finish
