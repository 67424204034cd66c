# SPDX-License-Identifier: MIT
# A host that closes all descriptors but pipes while its runtime is being recorded, and opens files that get their
# numbers: none of its files is touched, and the recording goes on as if nothing had happened.
. "$(dirname "$0")/lib.sh"
need_real 1
version=$(echo "$versions" | tail -n 1)
host=$BUILD/hosts/closefrom
export DOTNET_EnableWriteXorExecute=0 # the runtime itself needs a descriptor for that
export DOTNET_EnableDiagnostics_IPC=0 # and one for this
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1

# run COMMAND...: the host, started by COMMAND, with a folder of its own for its files
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
check "without the library: $(said)" $status "$tmp/log"
cat >"$tmp/rules.xml" <<'END'
<instrumentation xmlns="urn:sxsprof:instrumentation:1">
  <rule name="all"><match assembly="stress" type="Stress.Callbacks" method="Sort"/><count/></rule>
</instrumentation>
END

# A descriptor that the library opened in the host's table for a moment would be closed by the host, and its number be a
# file of the host's when the library closes it.
for tool in '--tool sample' '--tool sample:cpu=997' '--tool sample:wall=199'; do
    rm -rf "$tmp/session"
    # shellcheck disable=SC2086 # an option and its value
    HOST_HUNTS=2 run "$sxsprof" run --quiet $tool -o "$tmp/session" -- && whole && hunted | grep -q ' 0 lost$'
    status=$?
    check "$tool: none of the host's descriptors is closed while threads come and go: $(hunted)" $status "$tmp/log"
done

HOST_WAITS_FOR_PERF=
for tool in sample=sample:cpu=997 calls=calls:trace=64 events=events exceptions=exceptions instrument=instrument; do
    name=${tool%%=*} tool=${tool#*=}
    set -- --tool "$tool"
    [ "$name" = calls ] && set -- "$@" --calls 'stress:*'
    [ "$name" = instrument ] && set -- --instrument "$tmp/rules.xml"
    rm -rf "$tmp/session"
    if [ "$name" = sample ]; then export HOST_WAITS_FOR_PERF=1; else unset HOST_WAITS_FOR_PERF; fi
    run "$sxsprof" run --quiet "$@" -o "$tmp/session" -- && whole
    status=$?
    check "$name: $(said)" $status "$tmp/log"
    ! grep -q '^sxsprof' "$tmp/log" && "$sxsprof" report "$tmp/session" >"$tmp/report" 2>>"$tmp/log"
    check "$name: nothing is said, and the session is whole" $? "$tmp/log"
done
finish
