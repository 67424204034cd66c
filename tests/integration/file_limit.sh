# SPDX-License-Identifier: MIT
# file_limit.sh - checks that a program with a limit on the size of its files (RLIMIT_FSIZE) ends as without
# the library, with every tool and with limits of several sizes.
# The library must print one line for each file that reaches the limit, and must not cause SIGXFSZ, which
# would end the process.
. "$(dirname "$0")/lib.sh"
need_real 1
version=$(echo "$versions" | tail -n 1)
export DOTNET_EnableWriteXorExecute=0 # the runtime's own memory file is larger than these limits
cat >"$tmp/rules.xml" <<'END'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="calls" type="Calls.*" method="*"/><trace arguments="*"/></rule>
</instrumentation>
END

# run KIB COMMAND...: lets COMMAND start the program with a limit of KIB KiB on the size of each file
run() {
    rm -rf "$tmp/session"
    (
        ulimit -f "$1"
        shift
        exec timeout -k 5 120 "$@" "$runsxs" --timeout 100 "$version" calls \
            "fib=18 threads=4 even=101 throws=50 yields=20 steps=10 generic=40 rounds=2 storm=20"
    ) >"$tmp/log" 2>&1
}

run 4 env
check "the program runs with a limit of 4 KiB without the library" $? "$tmp/log"
for tool in sample:cpu=997 calls calls:trace=64 events exceptions instrument all; do
    case $tool in
    instrument) set -- --instrument "$tmp/rules.xml" ;;
    all) set -- --tool sample:cpu=997 --tool calls:trace=64 --tool events --tool exceptions --instrument "$tmp/rules.xml" ;;
    *) set -- --tool "$tool" ;;
    esac
    bad=
    for kib in 4 64 1100 8000; do
        run $kib "$sxsprof" run --quiet --only 'calls:*' "$@" -o "$tmp/session" --
        status=$?
        [ $status -eq 0 ] && grep -q 'result=0' "$tmp/log" ||
            { bad="$bad $kib:$status"; cat "$tmp/log" >>"$tmp/why"; }
        # at most one line for each of six files and five tools
        [ "$(grep -c '^sxsprof' "$tmp/log")" -le 11 ] || { bad="$bad $kib:lines"; cat "$tmp/log" >>"$tmp/why"; }
    done
    [ -z "$bad" ]
    check "$tool: the program ends normally with limits of 4 KiB to 8 MiB${bad:+, but not:$bad}" $? "$tmp/why"
done
grep -q '^sxsprof: .*File too large' "$tmp/log" || run 64 "$sxsprof" run --quiet --tool sample -o "$tmp/session" --
said=$(grep -m 1 'File too large' "$tmp/log")
[ -n "$said" ]
check "the library reports that a file has reached the limit: $said" $? "$tmp/log"
finish
