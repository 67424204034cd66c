# SPDX-License-Identifier: MIT
# calls_vectors.sh - checks that hooks preserve the vector registers.
# An app that computes with vectors must have the same sums in every mode of the tool "calls", and must print
# the same text.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/vectors/vectors.dll" ] || skip_all "$0" "the app vectors is not built"
set -f
export DOTNET_FastTailCalls=1 # tail calls hold vectors where the tailcall hook runs

run() { # [OPTION OF sxsprof]... -- COMMAND...
    rm -rf "$tmp/session"
    timeout -k 5 200 "$sxsprof" run --quiet -o "$tmp/session" "$@" >"$tmp/said" 2>"$tmp/log"
    status=$?
    cat "$tmp/said" >>"$tmp/log"
    [ $status -eq 0 ] && grep -q '^vectors: [1-9][0-9]* sums, 0 computations wrong$' "$tmp/said"
}
calls_to() { "$sxsprof" report --format json --single 100000 "$tmp/session" | grep -c "$1"; }

for v in $versions; do
    for mode in count time tree trace=64; do
        run --tool "calls:$mode,backoff=off" --only 'vectors:*' -- "$runsxs" --timeout 150 "$v" vectors "rounds=100"
        check "$v: all computations with vectors are right under calls:$mode" $? "$tmp/log"
    done
    run --values 'vectors:*' -- "$runsxs" --timeout 150 "$v" vectors "rounds=100"
    check "$v: all computations with vectors are right under --values" $? "$tmp/log"
    [ "$(calls_to 'left by a tail call')" -ge 100 ]
    check "$v: the run had at least 100 methods that were left by tail calls" $? "$tmp/log"
    "$runsxs" --timeout 100 "$v" vectors "rounds=1 lines=2000" | grep '^line ' >"$tmp/wanted"
    run --values '*:*' -- "$runsxs" --timeout 150 "$v" vectors "rounds=1 lines=2000" && grep -a '^line ' "$tmp/said" >"$tmp/lines" &&
        [ "$(wc -l <"$tmp/wanted")" -eq 2000 ] && cmp "$tmp/wanted" "$tmp/lines" >>"$tmp/log" 2>&1
    check "$v: 2,000 printed lines are the same when the values of all functions are recorded" $? "$tmp/log"
done
finish
