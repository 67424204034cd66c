# SPDX-License-Identifier: MIT
# An instrumentation file edited while 16 threads in each of three runtimes call what it is about: trace, wrap, replace,
# lines of IL, native calls, nothing, a broken file, in turn. Each call is held against a whole change or none, and
# what is counted against what is known.
#
# EDITS (40)   SECONDS_MAX (none): for one edit, from the new file's name to the last thread that sees it. What is
# promised is 2, on a machine of its own; tests/soak/edits.sh asks for that. Here the time is printed, and an edit that some
# thread has not seen after GIVE_UP seconds (120) never comes.
. "$(dirname "$0")/lib.sh"
need_real 3
: "${EDITS:=40}" "${SECONDS_MAX:=1e9}"
export GIVE_UP="${GIVE_UP:-120}"
[ -e "$BUILD/managed/edited/edited.dll" ] && [ -e "$BUILD/managed/tracer/tracer.dll" ] ||
    skip_all "$0" "the apps edited and tracer are not built"
# result EXPRESSION: of r, what edits.py left, and s, the sums of all apps
result() {
    python3 -c 'import json,sys
r = json.load(open(sys.argv[1])); s = r["sums"]
sys.exit(not eval(sys.argv[2]))' "$tmp/result.json" "$1"
}

# shellcheck disable=SC2086
python3 tests/integration/edits.py "$BUILD" "$tmp" "$EDITS" $versions >"$tmp/said" 2>&1
status=$?
sed 's/^/# /' "$tmp/said"
grep -v ' known ' "$tmp/log" | tail -n 20 >>"$tmp/said"
result "$status == 0 and r['status'] == 0 and r['edits'] == $EDITS"
check "$EDITS edits under 16 threads in each of three runtimes" $? "$tmp/said"
result "not r['late'] and r['max_s'] < $SECONDS_MAX"
check "each is seen by every thread, in every method; what is taken out, too" $? "$tmp/result.json"
result 's["calls"] > 10000 and s["half"] == 0 and s["back"] == 0 and s["machine"] == 0'
check "no call had half a change, nothing came back that was gone" $? "$tmp/said"
result 's["spanned"] > 0'
check "calls that were under way at an edit kept what they began with" $? "$tmp/said"
result 'r["counted"] > 10000 and r["traced"] > 0 and len(r["different"]) == 0'
check "counted, timed and traced is what ran, to the call" $? "$tmp/result.json"
result 's["native"] > 0 and s["native"] == s["before"] == s["starts"] == s["finishes"] and s["bad"] == 0'
check "native calls, too" $? "$tmp/said"
result 'r["states"] == {"reverted": 33} and r["said"] == ""'
check "all reverted at the end, the file whole" $? "$tmp/result.json"
finish
