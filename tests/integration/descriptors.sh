# SPDX-License-Identifier: MIT
# descriptors.sh - checks that the library writes to no file of a host that closes and reuses descriptors.
# The host closes all descriptors except pipes while its runtime is recorded, and opens its own files, which
# receive the same numbers. These files must not change, and the recording must continue.
. "$(dirname "$0")/lib.sh"
need_real 1
version=$(echo "$versions" | tail -n 1)
host=$BUILD/hosts/closefrom
export DOTNET_EnableWriteXorExecute=0 # the runtime keeps a descriptor open for W^X
export DOTNET_EnableDiagnostics_IPC=0 # and one for the diagnostics port
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

# run COMMAND...: lets COMMAND start the host, with a new folder for the files of the host
run() {
    rm -rf "$tmp/host"
    mkdir "$tmp/host"
    timeout -k 5 120 "$@" "$host" "$(realpath "$BUILD/runtimes/$version")" \
        "$(realpath "$BUILD/managed/stress/stress.dll")" "$tmp/host" >"$tmp/log" 2>&1
}
said() { grep ^host: "$tmp/log"; }
hunted() { grep '^host: .* taken over' "$tmp/log"; }
whole() { grep -q '^host: 64 of 64 files are as they were$' "$tmp/log"; }

run env && whole
status=$?
check "the host works without the library: $(said)" $status "$tmp/log"
cat >"$tmp/rules.xml" <<'END'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="stress" type="Stress.Callbacks" method="Sort"/><count/></rule>
</instrumentation>
END

# If the library opened a descriptor in the host's table for a moment, the host would close it and
# reuse its number, and the library's close() would then close the host's file.
for tool in '--tool sample' '--tool sample:cpu=997' '--tool sample:wall=199'; do
    rm -rf "$tmp/session"
    # shellcheck disable=SC2086 # an option and its value
    HOST_HUNTS=2 run "$sxsprof" run --quiet $tool -o "$tmp/session" -- && whole && hunted | grep -q ' 0 lost$'
    status=$?
    check "$tool: no descriptor of the host is closed while threads start and end: $(hunted)" $status "$tmp/log"
done

HOST_WAITS_FOR_PERF=
for tool in sample=sample:cpu=997 calls=calls:trace=64 events=events exceptions=exceptions instrument=instrument; do
    name=${tool%%=*} tool=${tool#*=}
    set -- --tool "$tool"
    [ "$name" = calls ] && set -- "$@" --only 'stress:*'
    [ "$name" = instrument ] && set -- --instrument "$tmp/rules.xml"
    rm -rf "$tmp/session"
    if [ "$name" = sample ]; then export HOST_WAITS_FOR_PERF=1; else unset HOST_WAITS_FOR_PERF; fi
    run "$sxsprof" run --quiet "$@" -o "$tmp/session" -- && whole
    status=$?
    check "$name: the files of the host are unchanged: $(said)" $status "$tmp/log"
    ! grep -q '^sxsprof' "$tmp/log" && "$sxsprof" report "$tmp/session" >"$tmp/report" 2>>"$tmp/log"
    check "$name: the library prints no message, and the session can be reported" $? "$tmp/log"
done
finish
