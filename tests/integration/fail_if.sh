#!/bin/bash
# SPDX-License-Identifier: MIT
# fail_if.sh - sxsprof report --fail-if on a real runtime: a program in which one method takes three quarters of the
# time, one whose calls are known, and one that throws a known number of exceptions.
. "$(dirname "$0")/lib.sh"
need_real 1
version=${VERSION:-$(echo "$versions" | tail -n 1)}
# recorded NAME APP ARGUMENTS TOOL [OPTION...]
recorded() {
    timeout -k 5 120 "$sxsprof" "$4" "${@:5}" --quiet -o "$tmp/$1" -- "$runsxs" --timeout 100 "$version" "$2" "$3" >"$tmp/log" 2>&1
    check "$1 is recorded" $? "$tmp/log"
}
# decides CLAIM STATUS PATTERN SESSION CONDITION [OPTION...]: the exit status, and a line of standard error about the condition
decides() {
    "$sxsprof" report -o "$tmp/report" --fail-if "$5" "${@:6}" "$tmp/$4" >"$tmp/out" 2>"$tmp/err"
    local status=$?
    [ $status = "$2" ] && if [ -n "$3" ]; then grep -q -e "^sxsprof: $3.*: --fail-if$" "$tmp/err"; else ! grep -q -e '--fail-if' "$tmp/err"; fi
    check "$1 (status $status)" $? "$tmp/err"
}
recorded busy shares "alpha=60 beta=20 seconds=3" sample --rate 499
decides "a method that takes most of the time is above half of it" 3 'self(Shares.Program.Alpha) is [67][0-9.]* %, more than 50 %' \
    busy 'self(Shares.Program.Alpha)>50%'
decides "and not above nine tenths" 0 '' busy 'self(Shares.Program.Alpha)>90%'
decides "total has what the method that calls it uses" 3 'total(shares:Shares.Program.Main) is [0-9.]* %, more than 80 %' busy 'total(shares:Shares.Program.Main)>80%'
decides "the caller itself uses next to nothing" 3 'self(Shares.Program.Main) is [0-9.]* %, less than 5 %' busy 'self(Shares.Program.Main)<5%'
share=$("$sxsprof" report --format json "$tmp/busy" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print("%.1f" % (100 * sum(f["self_ns"] for f in d["profile_functions"] if "Shares.Program.Alpha" in f["name"]) / d["profile"]["total_ns"]))')
decides "a bound at the measured share is not decided" 4 "self(Shares.Program.Alpha) is [0-9.]* % ([0-9.]* % to [0-9.]* % in 19 of 20 runs)" \
    busy "self(Shares.Program.Alpha)>$share%"
decides "a thread that is not there is refused" 2 '' busy 'self(Shares.Program.Alpha)>50%' --thread nobody
recorded counted calls "fib=12 threads=2" calls --only 'calls:*'
n=$("$sxsprof" report --format json "$tmp/counted" | python3 -c 'import json, sys
print(sum(f["calls"] for f in json.load(sys.stdin)["functions"] if f["name"].endswith(".Fib")))')
decides "calls are counted: at least so many" 3 "self(\*.Fib) is $n, at least $n" counted "self(*.Fib)>=$n"
decides "and not more" 0 '' counted "self(*.Fib)>$n"
recorded thrown stress "nre=20 seconds=1" exceptions
n=$("$sxsprof" report --format json "$tmp/thrown" | python3 -c 'import json, sys
print(sum(e["count"] for e in json.load(sys.stdin)["exceptions"]))')
decides "exceptions are counted: at least so many" 3 "self(\*) is $n, at least $n" thrown "self(*)>=$n"
decides "and not more" 0 '' thrown "self(*)>$n"
finish
