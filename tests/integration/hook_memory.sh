# SPDX-License-Identifier: MIT
# hook_memory.sh - checks that hooks do not allocate memory.
# A preloaded library looks for hooks on the stack at each call of the allocator.
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/calls/calls.dll" ] || skip_all "$0" "the app calls is not built"
command -v nm >/dev/null || skip_all "$0" "needs nm"
finder=$(realpath "$BUILD")/tests/libhook_memory.so
set -f

# The functions of libsxsprof.so that compiled code or a helper of the runtime calls (elt/calls_functions.h).
HOOK_FUNCTIONS=$(nm -S "$BUILD/libsxsprof.so" |
    awk '$4 ~ /^sxs_(tree|trace|time|count|values)_(enter|leave|tailcall)(_slow)?$/ { print $1 "-" $2 }' | paste -sd, -)
export HOOK_FUNCTIONS
[ "$(echo "$HOOK_FUNCTIONS" | tr , '\n' | grep -c .)" -ge 13 ]
check "libsxsprof.so has the hooks of every mode" $? /dev/null

# looked [OPTION OF sxsprof]... -- COMMAND...: records COMMAND with the library that looks for hooks preloaded
looked() {
    rm -rf "$tmp/out"
    LD_PRELOAD=$finder timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/out" "$@" >"$tmp/log" 2>&1
}
none_found() { # succeeds if the library saw calls of the allocator, and none of them from a hook
    grep -a 'hook_memory:' "$tmp/log" >"$tmp/said"
    grep -q 'hook_memory: 0 of [1-9][0-9]* calls of the allocator are made by hooks' "$tmp/said"
}

app="storm=20 throws=5 values=200 shown=2 yields=5 threads=4 generic=40 steps=10"
for v in $versions; do
    looked --tool calls:trace=64 --values '*:*' -- "$runsxs" --timeout 100 "$v" calls "$app" && none_found
    check "$v: hooks that record arguments and results of the whole framework do not allocate" $? "$tmp/said"
    # A runtime does not report threads to a profiler that start during its shutdown or later.
    looked --tool calls:tree --only '*:*' -- "$runsxs" --timeout 100 "$v" calls late=2 && none_found
    check "$v: hooks on threads that start while the runtime shuts down do not allocate" $? "$tmp/said"
    for mode in count time tree trace tree,await=logical; do
        looked --tool "calls:$mode" --only '*:*' -- "$runsxs" --timeout 100 "$v" calls "$app" && none_found
        check "$v: hooks of calls:$mode do not allocate" $? "$tmp/said"
    done
done
finish
