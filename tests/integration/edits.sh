# SPDX-License-Identifier: MIT
# edits.sh - checks edits of an instrumentation file while 16 threads in each of three runtimes call the
# methods that the file changes.
# The edits are, in turn: trace, wrap, replace, lines of IL, native calls, no rule, a broken file. Each call
# must see a complete change or none, and the counts of the tool must be those of the app.
#
# EDITS        number of edits (40)
# SECONDS_MAX  limit for one edit, from the rename of the new file until every thread sees the change (none:
#              the time is only printed). tests/soak/edits.sh checks the promised limit, 2 s on an otherwise
#              idle machine.
# GIVE_UP      seconds after which an edit that some thread has not seen is counted as late (120)
. "$(dirname "$0")/lib.sh"
need_real 3
: "${EDITS:=40}" "${SECONDS_MAX:=1e9}"
export GIVE_UP="${GIVE_UP:-120}"
[ -e "$BUILD/managed/edited/edited.dll" ] && [ -e "$BUILD/managed/tracer/tracer.dll" ] ||
    skip_all "$0" "the apps edited and tracer are not built"
# result EXPRESSION: evaluates a Python expression over r, the result.json of edits.py, and s, the sums of
# all apps
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
check "$EDITS edits are made while 16 threads run in each of three runtimes" $? "$tmp/said"
result "not r['late'] and r['max_s'] < $SECONDS_MAX"
check "every thread sees each edit in every method, also the removal of a rule" $? "$tmp/result.json"
result 's["calls"] > 10000 and s["half"] == 0 and s["back"] == 0 and s["machine"] == 0'
check "no call sees a part of a change, and no removed change appears again" $? "$tmp/said"
result 's["spanned"] > 0'
check "calls that are in progress during an edit keep the code that they started with" $? "$tmp/said"
result 'r["counted"] > 10000 and r["traced"] > 0 and len(r["different"]) == 0'
check "the numbers of counted, timed and traced calls are exactly those of the app" $? "$tmp/result.json"
result 's["native"] > 0 and s["native"] == s["before"] == s["starts"] == s["finishes"] and s["bad"] == 0'
check "the numbers of native calls are exact" $? "$tmp/said"
result 'r["states"] == {"reverted": 33} and r["said"] == ""'
check "at the end all methods are reverted, and the session is complete" $? "$tmp/result.json"
finish
