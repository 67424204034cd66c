# SPDX-License-Identifier: MIT
# fake_tools.sh - runs every tool on simulated runtimes of three versions at once: alone, all together, and beside guest
# profilers. A build with sanitizers looks for races and wrong memory in them.
. "$(dirname "$0")/lib.sh"
# The preloaded mmap() goes past the thread sanitizer's, and sanitizers have a malloc() of their own.
# Without the preload, signals of runtimes that start at the same instant are not protected: a collection then waits in
# vain for a thread to be suspended, and the program fails.
default_preload=$([ "$SAN" = thread ] && echo --no-preload)
[ "$SAN" = thread ] && export FAKECLR_SIGNALS=off
work='!modules 3; jit 40; threads 3; gc 3; throw 2; objects 200; elt 50; jit 20; gc 1; join'
tools=$("$sxsprof" run --tool none -- true 2>&1 | sed -n 's/.*(known: \(.*\)).*/\1/p' | tr -d ,)
[ "$(echo "$tools" | wc -w)" -ge 12 ]
check "the tools are known" $? /dev/null
[ -z "$SAN" ] || tools=$(echo " $tools " | sed 's/ native / /')

# run_tools NAME OPTIONS...: the program must end as without tools, and no sanitizer may report anything.
run_tools() {
    local name=$1
    shift
    rm -rf "$tmp/s"
    # shellcheck disable=SC2086 # several words, or none
    timeout -k 5 120 "$sxsprof" run --quiet $default_preload "$@" -o "$tmp/s" -- "$runsxs" --timeout 100 \
        fake:3.1 "$work" "" fake:8.0 "$work" "" fake:10.0 "$work" "" >"$tmp/log" 2>&1 && ! grep -q Sanitizer "$tmp/log" &&
        [ "$(grep -c 'result=0' "$tmp/log")" = 3 ] && "$sxsprof" report "$tmp/s" >"$tmp/text" 2>>"$tmp/log"
    check "$name on three simulated runtimes at once: they end as without, and the session can be reported" $? "$tmp/log"
}
all=
for tool in $tools; do
    run_tools "$tool" --tool "$tool"
    case $tool in
    wait) ;; # not beside samples of CPU time
    *) all="$all --tool $tool" ;;
    esac
done
# shellcheck disable=SC2086 # several words
run_tools "all tools together" $all

# Beside a guest profiler that counts, and a plug-in of the instrumentation engine.
guest="{5E5C0001-0000-4000-8000-00000CE45050}=$PWD/$BUILD/guests/libcensus.so"
ln -s "$PWD/$BUILD/clrie/libbaseline.so" "$tmp/"
cat >"$tmp/baseline.xml" <<'X'
<InstrumentationEngineConfiguration><InstrumentationMethod>
<Name>baseline</Name><Description>a plug-in of the tests</Description><Module>libbaseline.so</Module>
<ClassGuid>{5E5C0015-0000-4000-8000-000000000001}</ClassGuid>
</InstrumentationMethod></InstrumentationEngineConfiguration>
X
# shellcheck disable=SC2086 # several words
run_tools "all tools, a guest and a plug-in" $all --guest "$guest" --method "$tmp/baseline.xml"
finish
