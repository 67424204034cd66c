# SPDX-License-Identifier: MIT
# fake_native.sh - checks when the tool native records, with simulated runtimes.
. "$(dirname "$0")/lib.sh"
work='!modules 2; jit 3; threads 20; gc 2; join'
allocator=$(realpath "$BUILD")/libsxsprof-malloc.so
# Sets the environment of sxsprof env with the arguments in this shell, without preloaded libraries.
set_up() {
    rm -rf "$tmp/out"
    mkdir -m 700 "$tmp/out"
    eval "$("$sxsprof" env --no-preload -o "$tmp/out" "$@")"
    unset LD_PRELOAD
}
lines() { grep -c "$1" "$tmp/log"; } # number of lines of the log with a text

(
    set_up --tool native
    exec timeout -k 5 60 "$runsxs" --timeout 50 /st fake:8.0 "$work" "" fake:9.0 "$work" "" fake:10.0 "$work" ""
) >"$tmp/log" 2>&1
status=$?
[ $status -eq 0 ] && [ "$(lines 'tool native: libsxsprof-malloc.so is not preloaded: native memory is not recorded')" -eq 1 ]
check "three runtimes without the preloaded library: one line, and the host works" $? "$tmp/log"
(
    set_up --tool census
    SXSPROF_TOOLS='native:interval=x' exec timeout -k 5 60 "$runsxs" --timeout 50 fake:8.0 "$work" ""
) >"$tmp/log" 2>&1
status=$?
[ $status -eq 0 ] && [ "$(lines 'tool native: interval=x: expected bytes from 1 to 1g')" -eq 1 ]
check "wrong options: one line says what is expected, and the host works" $? "$tmp/log"
for value in 0 2g 1x -1 ""; do
    "$sxsprof" run --tool "native:interval=$value" -- true >"$tmp/log" 2>&1
    [ $? -eq 2 ] && grep -q 'native: interval=.*expected bytes from 1 to 1g, such as 512k' "$tmp/log"
    check "run refuses interval=$value" $? "$tmp/log"
done
cp "$sxsprof" "$tmp/sxsprof"
for library in libsxsprof.so libsxsprof-preload.so; do
    cp "$BUILD/$library" "$tmp/"
done
"$tmp/sxsprof" run --tool native -- true >"$tmp/log" 2>&1
[ $? -eq 125 ] && grep -q 'libsxsprof-malloc.so is missing; expected it there or in .*, or no tool native' "$tmp/log"
check "run says that the library is missing, and starts nothing" $? "$tmp/log"
"$tmp/sxsprof" env --tool native >"$tmp/log" 2>&1
[ $? -eq 125 ] && grep -q 'libsxsprof-malloc.so: No such file' "$tmp/log"
check "so does env" $? "$tmp/log"

# A sanitizer's own allocator has to come first.
[ -n "$SAN" ] && finish
recorded() {
    rm -rf "$tmp/out"
    timeout -k 5 60 "$sxsprof" run --quiet -o "$tmp/out" "$@" >"$tmp/log" 2>&1
}
claims() { # TEXT CLAIM...
    local text=$1
    shift
    python3 tests/integration/native_memory.py "$tmp/out" "$@" >"$tmp/claims" 2>&1
    check "$text" $? "$tmp/claims"
}
recorded --tool native:interval=1 -- "$runsxs" --timeout 50 fake:8.0 "$work" "" fake:9.0 "$work" "" && ! grep -q '^sxsprof' "$tmp/log"
check "two runtimes at once: the run succeeds" $? "$tmp/log"
claims "what the process allocates is recorded" costs:40-1000000 lost:0-0
recorded --tool native:interval=1 -- "$runsxs" --timeout 50 /st fake:8.0 "$work" "" fake:9.0 "$work" "" fake:10.0 "$work" "" &&
    ! grep -q '^sxsprof' "$tmp/log"
check "three runtimes, each of which ends before the next one starts: the run succeeds" $? "$tmp/log"
claims "recording starts again with each of them: each starts 20 threads, which allocate" costs:60-1000000 lost:0-0
recorded --pick first --tool native:interval=1 -- "$runsxs" --timeout 50 fake:8.0 "$work" "" fake:9.0 "$work" "" &&
    ! grep -q '^sxsprof' "$tmp/log"
check "with one of two runtimes picked, too" $? "$tmp/log"
LD_PRELOAD=$(realpath "$BUILD")/tests/libfailing.so recorded --tool native:interval=1 -- "$runsxs" --timeout 50 fake:8.0 "$work" "" &&
    ! grep -q 'own' "$tmp/log"
check "behind it, another library that stands before malloc() works" $? "$tmp/log"
(
    set_up --tool native:interval=1
    LD_PRELOAD=$(realpath "$BUILD")/tests/libfailing.so:$allocator exec timeout -k 5 60 "$runsxs" --timeout 50 fake:8.0 "$work" ""
) >"$tmp/log" 2>&1
check "before it, too" $? "$tmp/log"
finish
