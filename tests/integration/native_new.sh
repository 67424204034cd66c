# SPDX-License-Identifier: MIT
# native_new.sh - records what native code allocates by the operators of C++, with several allocators.
. "$(dirname "$0")/lib.sh"
need_real 1
[ -e "$BUILD/managed/blocks/blocks.dll" ] || skip_all "$0" "the app blocks is not built"
compiler=${CXX:-c++}
command -v "$compiler" >/dev/null || skip_all "$0" "there is no compiler for C++"
here=tests/integration
runtime=$(realpath "$BUILD/runtimes/$(real_versions | tail -n 1)")
blocks=$(realpath "$BUILD/managed/blocks/blocks.dll")

${CC:-cc} -O1 -D_GNU_SOURCE -I. -c -o "$tmp/host.o" $here/native_new_host.c 2>"$tmp/log" &&
    "$compiler" -std=c++17 -O1 -fno-builtin -fPIC -c -o "$tmp/news.o" $here/native_new.cpp 2>>"$tmp/log" &&
    "$compiler" -shared -o "$tmp/libnews.so" "$tmp/news.o" 2>>"$tmp/log" &&
    "$compiler" -o "$tmp/program" "$tmp/host.o" "$tmp/news.o" -ldl -lpthread 2>>"$tmp/log" &&
    ${CC:-cc} -o "$tmp/host" "$tmp/host.o" -ldl -lpthread 2>>"$tmp/log"
check "a program in C++, and one in C with a library in C++, are compiled" $? "$tmp/log"

# recorded PROGRAM [LIBRARY]: records a host into $tmp/out, with every allocation; repeats it if costs were dropped
# because the machine is busy.
recorded() {
    local n program=$1
    shift
    for n in $(seq 10); do
        rm -rf "$tmp/out" "$tmp/sync"
        mkdir "$tmp/sync"
        timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/out" --tool native:interval=1 -- "$program" "$runtime" "$blocks" "$tmp/sync" "$@" \
            >"$tmp/log" 2>&1 && ! grep -q '^sxsprof' "$tmp/log" || return
        python3 $here/native_memory.py "$tmp/out" >"$tmp/dropped" && return
    done
    cat "$tmp/dropped" >>"$tmp/log"
    return 1
}
every=
for at in 100001 100003 100005 100007 100009 100011 256000 256512 257024; do
    gone=$((at < 200000 ? at + 1 : at + 256))
    every="$every exactly:$at=40 live:$at=40 exactly:$gone=40 gone:$gone"
done
jemalloc="exactly:200001=40 live:200001=40 exactly:200002=40 gone:200002 exactly:200003=40 gone:200003
    exactly:200004=40 gone:200004 exactly:200005=40 gone:200005 exactly:200006=40 gone:200006"

try() { # claim program [library]: records and compares with what was allocated
    local claim=$1 more=
    shift
    case $claim in *jemalloc*) more=$jemalloc ;; esac
    # shellcheck disable=SC2086
    recorded "$@" && python3 $here/native_memory.py "$tmp/out" $every $more >>"$tmp/log" 2>&1
    check "$claim" $? "$tmp/log"
}

for other in "" libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0; do
    library=${other:+/usr/lib/x86_64-linux-gnu/$other}
    if [ -n "$other" ] && [ ! -e "$library" ]; then
        ok "$other # SKIP it is not installed"
        continue
    fi
    with=${other:-the C library}
    export LD_PRELOAD="$library"
    try "$with: what a program allocates by each operator new is recorded once, and released by each operator delete" "$tmp/program"
    try "$with: the same in a library that a program in C loads while it runs" "$tmp/host" "$tmp/libnews.so"
    unset LD_PRELOAD
done
library=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2
if [ -e "$library" ]; then
    "$compiler" -o "$tmp/linked" "$tmp/host.o" "$tmp/news.o" -Wl,--no-as-needed "$library" -ldl -lpthread 2>"$tmp/log"
    check "a program is linked with jemalloc" $? "$tmp/log"
    try "a program that is linked with jemalloc: the same" "$tmp/linked"
else
    ok "a program that is linked with jemalloc # SKIP it is not installed"
fi
finish
