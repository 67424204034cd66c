# SPDX-License-Identifier: MIT
# unloads.sh - loads and unloads a thousand assemblies, times SCALE, while exceptions are thrown.
# No exception may be lost, and the recorded file must not grow with the number of assemblies.
. "$(dirname "$0")/lib.sh"
need_real 3
: "${SCALE:=1}"
unloaded=$((1000 * SCALE))
[ -e "$BUILD/managed/unloads/unloads.dll" ] || skip_all "$0" "the app unloads is not built"

run() { # SESSION OPTIONS... -- COMMAND: $status is 0 when the run succeeds and the app prints its last line
    out=$1
    shift
    rm -rf "${tmp:?}/$out"
    timeout -k 5 300 "$sxsprof" run --quiet -o "$tmp/$out" "$@" >"$tmp/log" 2>&1
    status=$?
    [ $status -eq 0 ] && grep -q '^unloads: thrown [0-9]* assemblies [0-9]* gone$' "$tmp/log" || status=1
}
folder() { find "$tmp/$1" -name "$2"; }
exceptions_of() { # SESSION: print the number of counted exceptions and the number of throw sites
    "$sxsprof" report --format json "$tmp/$1" | python3 -c '
import json, sys
x = json.load(sys.stdin)["exceptions"]
print(sum(e["count"] for e in x), len(x))'
}

for v in $versions; do
    run few --tool exceptions -- "$runsxs" --timeout 250 "$v" unloads "contexts=50 dynamic=50 threads=2"
    few=$status
    run many --tool exceptions -- "$runsxs" --timeout 250 "$v" unloads "contexts=$((500 * SCALE)) dynamic=$((500 * SCALE)) threads=2"
    [ $few$status -eq 00 ]
    check "$v: $unloaded assemblies are unloaded while exceptions are thrown" $? "$tmp/log"
    thrown=$(sed -n 's/^unloads: thrown \([0-9]*\) .*/\1/p' "$tmp/log")
    said=$(exceptions_of many)
    [ "$said" = "$thrown 2" ]
    check "$v: all exceptions are counted, at two throw sites (thrown: $thrown; counted, throw sites: $said)" $?
    [ "$(stat -c %s "$(folder few events)")" -eq "$(stat -c %s "$(folder many events)")" ]
    check "$v: the recorded file is not larger than that of a run with 100 assemblies" $?
done

# All methods get new IL, also the methods that the JIT makes compiled code call.
cat >"$tmp/all.xml" <<'E2'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="*" type="*" method="*"/><count/></rule>
</instrumentation>
E2
for v in $versions; do
    run all --instrument "$tmp/all.xml" -- "$runsxs" --timeout 250 "$v" unloads "contexts=$((200 * SCALE)) dynamic=$((300 * SCALE)) threads=2"
    check "$v: assemblies are unloaded while exceptions are thrown, with a rule for all methods" $status "$tmp/log"
done

# A rule that traces values is added after half of the assemblies were unloaded. The library must not ask the
# runtime for classes of the unloaded assemblies.
rule() { # METHOD ACTION: print an instrumentation file with one rule
    echo "<instrumentation xmlns='urn:sxsprof:instrumentation:1'><rule name='r'><match assembly='unloads' type='Unloads.Plugin' method='$1'/>$2</rule></instrumentation>"
}
for v in $versions; do
    rule None "<count/>" >"$tmp/rules.xml"
    rule Run "<trace arguments='*'/>" >"$tmp/rules.xml.next"
    run late --instrument "$tmp/rules.xml" -- "$runsxs" --timeout 250 "$v" unloads "contexts=$((300 * SCALE)) threads=1 edit=$tmp/rules.xml"
    check "$v: the library does not ask about classes that were unloaded before the trace rule was added" $status "$tmp/log"
done
finish
