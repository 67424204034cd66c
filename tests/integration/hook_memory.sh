# SPDX-License-Identifier: MIT
# Hooks allocate nothing: a library that is preloaded looks, at each call of the allocator, whether a hook is on the stack.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"
command -v nm >/dev/null || skip_all "$0" "needs nm"
finder=$(realpath "$BUILD")/tests/libhook_memory.so
set -f

# What compiled code or a runtime's helper calls in libsxsprof.so (calls/count.h).
HOOK_FUNCTIONS=$(nm -S "$BUILD/libsxsprof.so" |
    awk '$4 ~ /^sxs_(tree|trace|time|count|values)_(enter|leave|tailcall)(_slow)?$/ { print $1 "-" $2 }' | paste -sd, -)
export HOOK_FUNCTIONS
[ "$(echo "$HOOK_FUNCTIONS" | tr , '\n' | grep -c .)" -ge 13 ]
check "the hooks of every mode are known" $? /dev/null

# looked NAME options of sxsprof -- command: runs it under the library that looks.
looked() {
    rm -rf "$tmp/out"
    LD_PRELOAD=$finder timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/out" "$@" >"$tmp/log" 2>&1
}
none_found() { # what was looked for was looked for at all, and not found
    grep -a 'hook_memory:' "$tmp/log" >"$tmp/said"
    grep -q 'hook_memory: 0 of [1-9][0-9]* calls of the allocator are made by hooks' "$tmp/said"
}

app="storm=20 throws=5 values=200 shown=2 yields=5 threads=4 generic=40 steps=10"
for v in $versions; do
    looked --tool calls:trace=64 --values '*:*' -- "$runsxs" --timeout 100 "$v" calls "$app" && none_found
    check "$v: none in hooks that record arguments and results of the whole framework" $? "$tmp/said"
    # Threads that start while the runtime shuts down, or after that, are not announced to a profiler.
    looked --tool calls:tree --calls '*:*' -- "$runsxs" --timeout 100 "$v" calls late=2 && none_found
    check "$v: none in hooks on threads that start while the runtime shuts down" $? "$tmp/said"
    for mode in count time tree trace tree,await=logical; do
        looked --tool "calls:$mode" --calls '*:*' -- "$runsxs" --timeout 100 "$v" calls "$app" && none_found
        check "$v: none in hooks of calls:$mode" $? "$tmp/said"
    done
done
finish
