# SPDX-License-Identifier: MIT
# native_memory.sh - records native memory of real runtimes and compares it with what the app allocated.
# Estimates have to be within five standard deviations of the truth (native_memory.py).
. "$(dirname "$0")/lib.sh"
need_real 3
[ -e "$BUILD/managed/blocks/blocks.dll" ] || skip_all "$0" "the app blocks is not built"
allocator=$(realpath "$BUILD")/libsxsprof-malloc.so
preload=$(realpath "$BUILD")/libsxsprof-preload.so

# recorded OPTIONS -- COMMAND...: records COMMAND into $tmp/out. Where every allocation is recorded and the machine is
# busy, some may find no room in the file, and are counted as dropped: then the run is repeated.
recorded() {
    local n
    for n in $(seq 10); do
        rm -rf "$tmp/out"
        timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/out" "$@" >"$tmp/log" 2>&1 || return
        python3 tests/integration/native_memory.py "$tmp/out" >"$tmp/dropped" && return
    done
    cat "$tmp/dropped" >>"$tmp/log"
    return 1
}
# claims TEXT CLAIM...: checks claims about $tmp/out.
claims() {
    local text=$1
    shift
    python3 tests/integration/native_memory.py "$tmp/out" "$@" >"$tmp/claims" 2>&1
    check "$text" $? "$tmp/claims"
}
silent() { ! grep -q '^sxsprof' "$tmp/log"; } # no message of the profiler

# ---- blocks of one runtime, and of three at once ----

for v in 8 9 10; do
    recorded --tool native:interval=64k -- "$runsxs" --bridge "$v" blocks "keep:malloc:1009=60000 drop:malloc:2003=100000" && silent
    check "$v: a run with the tool native succeeds" $? "$tmp/log"
    claims "$v: what is kept and what is freed have their numbers, live or not, and their managed callers" \
        blocks:1009=60000 live:1009=60000 blocks:2003=100000 gone:2003 \
        caller:1009=Blocks.Cache.Fill caller:2003=Blocks.Loop.Pass runtime:1009=1 \
        from:1009=libsxsbridge.so from:2003=libsxsbridge.so mapped:1009=0 lost:0-0
done
recorded --tool native:interval=64k -- "$runsxs" --turns --bridge 8 blocks "keep:malloc:1009=40000 drop:malloc:2003=50000" \
    9 blocks "keep:calloc:1013=40000 drop:realloc:2011=50000" 10 blocks "keep:memalign:1019=40000 drop:malloc:2017=50000" && silent
check "8, 9 and 10 at once: a run with the tool native succeeds" $? "$tmp/log"
claims "8, 9 and 10 at once: each runtime's blocks have their number and that runtime's callers" \
    blocks:1009=40000 live:1009=40000 blocks:1013=40000 live:1013=40000 blocks:1019=40000 live:1019=40000 \
    blocks:2003=50000 gone:2003 blocks:2011=50000 gone:2011 blocks:2017=50000 gone:2017 \
    caller:1009=Blocks.Cache.Fill caller:1013=Blocks.Cache.Fill caller:1019=Blocks.Cache.Fill
recorded --tool native -- "$runsxs" --bridge 10 blocks "keep:malloc:100003=2000 drop:malloc:100019=20000" && silent &&
    python3 tests/integration/native_memory.py "$tmp/out" blocks:100003=2000 live:100003=2000 \
        caller:100003=Blocks.Cache.Fill blocks:100019=20000 gone:100019 >"$tmp/claims" 2>&1
check "with the default of interval=BYTES, too" $? "$tmp/claims"

# ---- each function ----

words="" list="" few="" few_list="" n=0
for f in malloc calloc realloc reallocarray memalign posix_memalign valloc pvalloc; do
    n=$((n + 1)) drop=$((4000 + n * 10 + 1)) keep=$((6000 + n * 10 + 1))
    words="$words drop:$f:$drop=8000 keep:$f:$keep=3000"
    if [ "$f" != pvalloc ]; then # which other allocators lack
        few="$few drop:$f:$drop=50 keep:$f:$keep=50"
        few_list="$few_list exactly:$drop=50 gone:$drop exactly:$keep=50 live:$keep=50"
    fi
    list="$list blocks:$drop=8000 gone:$drop blocks:$keep=3000 live:$keep=3000 caller:$keep=Blocks.Cache.Fill mapped:$keep=0"
done
recorded --tool native:interval=64k -- "$runsxs" --bridge 10 blocks "$words" && silent
check "a run that calls each function succeeds" $? "$tmp/log"
# shellcheck disable=SC2086
claims "malloc, calloc, realloc, reallocarray, memalign, posix_memalign, valloc, pvalloc: all have their numbers" $list

# With interval=1 all allocations of some bytes are recorded.
recorded --tool native:interval=1 -- "$runsxs" --bridge 9 blocks "drop:aligned_alloc:4032=100 keep:aligned_alloc:4160=100 drop:strdup:777=100 keep:chain:5009=10 drop:chain:7013=10" && silent
check "a run with interval=1 succeeds" $? "$tmp/log"
claims "with interval=1 each allocation is recorded: of aligned_alloc, in the C library, of a chain of reallocs" \
    exactly:4032=100 gone:4032 exactly:4160=100 live:4160=100 exactly:777=200 gone:777 caller:777=Blocks.Loop.Pass \
    exactly:5009=10 gone:5009 exactly:6009=10 gone:6009 exactly:104009=10 gone:104009 exactly:105009=10 live:105009=10 \
    exactly:7013=10 exactly:107013=10 gone:107013 lost:0-0
claims "the youngest frame of strdup's block is in the C library" caller:777=Blocks.Loop.Pass mapped:777=0

# A P/Invoke of "libc" looks the function up in the C library itself.
for v in 8 9 10; do
    recorded --tool native:interval=128k -- "$runsxs" --bridge "$v" blocks "keep:pinvoke:1201=100000 drop:pinvoke:2203=200000" && silent &&
        python3 tests/integration/native_memory.py "$tmp/out" blocks:1201=100000 live:1201=100000 caller:1201=Blocks.Cache.Fill \
            blocks:2203=200000 gone:2203 caller:2203=Blocks.Loop.Pass >"$tmp/claims" 2>&1
    check "$v: P/Invokes of malloc and free in libc are recorded, with their managed callers" $? "$tmp/claims"
done

# ---- mappings ----

recorded --tool native -- "$runsxs" --bridge 8 blocks "keep:mmap:41943040=20 drop:mmap:50331648=20 keep:mremap:67108864=20 drop:mremap:75497472=20 keep:reserve:83886080=20" && silent
check "a run that maps memory succeeds" $? "$tmp/log"
claims "mmap, mremap and munmap have their numbers; address space without memory is none" \
    blocks:41943040=20 live:41943040=20 mapped:41943040=1 caller:41943040=Blocks.Cache.Fill \
    blocks:50331648=20 gone:50331648 blocks:33554432=40 live:33554432=40 \
    blocks:37748736=40 gone:37748736 none:83886080
recorded --no-preload --tool native -- "$runsxs" --bridge 8 blocks "keep:mmap:41943040=20 drop:mmap:50331648=20" && silent &&
    python3 tests/integration/native_memory.py "$tmp/out" blocks:41943040=20 live:41943040=20 \
        blocks:50331648=20 gone:50331648 caller:50331648=Blocks.Loop.Pass >"$tmp/claims" 2>&1
check "mappings are recorded without the signal library, too" $? "$tmp/claims"
rm -rf "$tmp/out"
mkdir -m 700 "$tmp/out"
(
    eval "$("$sxsprof" env --tool native -o "$tmp/out")"
    LD_PRELOAD=$allocator:$preload exec timeout -k 5 60 "$runsxs" --bridge 8 blocks "keep:mmap:41943040=20 drop:mmap:50331648=20"
) >"$tmp/log" 2>&1 && silent &&
    python3 tests/integration/native_memory.py "$tmp/out" blocks:41943040=20 live:41943040=20 \
        blocks:50331648=20 gone:50331648 caller:50331648=Blocks.Loop.Pass >"$tmp/claims" 2>&1
check "and with the two libraries preloaded in the other order" $? "$tmp/claims"

# ---- threads, fork, kill ----

recorded --tool native:interval=64k -- "$runsxs" --bridge 9 blocks "on=8 drop:malloc:1511=40000 keep:malloc:1613=10000 drop:calloc:1721=10000" && silent
check "a run with eight threads succeeds" $? "$tmp/log"
claims "on eight threads at once, the numbers are those of all threads" \
    blocks:1511=320000 gone:1511 blocks:1613=80000 live:1613=80000 caller:1613=Blocks.Cache.Fill blocks:1721=80000 gone:1721
recorded --tool native:interval=1 -- "$runsxs" --bridge 10 blocks "keep:fork:3037=20" && silent
check "a run that forks succeeds" $? "$tmp/log"
claims "what forked children allocate and free is not recorded" exactly:3037=20 live:3037=20

rm -rf "$tmp/out" "$tmp/ready"
timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/out" --tool native:interval=64k -- "$runsxs" --bridge 10 blocks \
    "keep:malloc:1009=60000 drop:malloc:2003=100000 ready=$tmp/ready until=$tmp/never" >"$tmp/log" 2>&1 &
run=$!
wait_until [ -e "$tmp/ready" ]
check "the app is ready to be killed" $? "$tmp/log"
# The service thread names the code of the stacks.
named() {
    python3 tests/integration/native_memory.py "$tmp/out" gone:2003 caller:1009=Blocks.Cache.Fill caller:2003=Blocks.Loop.Pass >"$tmp/claims" 2>&1
}
wait_until named
kill -9 "$(basename "$tmp"/out/*)"
wait $run 2>/dev/null
claims "after kill -9 all is there that was recorded" blocks:1009=60000 live:1009=60000 blocks:2003=100000 gone:2003 \
    caller:1009=Blocks.Cache.Fill caller:2003=Blocks.Loop.Pass

# ---- with other tools, other allocators, and other programs ----

recorded --tool native:interval=64k --tool sample:cpu=997 -- "$runsxs" --bridge 8 blocks "keep:malloc:1009=60000 drop:malloc:2003=300000" && silent &&
    python3 tests/integration/native_memory.py "$tmp/out" blocks:1009=60000 live:1009=60000 blocks:2003=300000 gone:2003 \
        caller:1009=Blocks.Cache.Fill >"$tmp/claims" 2>&1
check "beside the tool sample the numbers are the same" $? "$tmp/claims"

for other in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0; do
    library=/usr/lib/x86_64-linux-gnu/$other
    [ -e "$library" ] || { n_test=$((n_test + 1)); echo "ok $n_test - $other # SKIP it is not installed"; continue; }
    LD_PRELOAD=$library recorded --tool native:interval=64k -- "$runsxs" --bridge 10 blocks \
        "keep:malloc:1009=60000 drop:calloc:2003=100000 keep:posix_memalign:3001=10000 drop:chain:5009=50" && silent &&
        python3 tests/integration/native_memory.py "$tmp/out" blocks:1009=60000 live:1009=60000 blocks:2003=100000 gone:2003 \
            blocks:3001=10000 live:3001=10000 blocks:105009=50 gone:105009 caller:1009=Blocks.Cache.Fill \
            "unmapped:${other%%.*}" >"$tmp/claims" 2>&1
    check "a host with $other: the numbers are right, and memory that it maps is not counted again" $? "$tmp/claims"
    # shellcheck disable=SC2086
    LD_PRELOAD=$library recorded --tool native:interval=1 -- "$runsxs" --bridge 10 blocks "$few" && silent &&
        python3 tests/integration/native_memory.py "$tmp/out" $few_list >"$tmp/claims" 2>&1
    check "a host with $other: what each function of the C library allocates is recorded once" $? "$tmp/claims"
done

LD_PRELOAD=$(realpath "$BUILD")/hosts/libreserve.so timeout -k 5 60 "$sxsprof" run --quiet -o "$tmp/reserve" --tool native:interval=64k \
    -- "$runsxs" --bridge 10 blocks "keep:malloc:1009=60000" >"$tmp/log" 2>&1
check "an allocator that reserves memory under its own lock works" $? "$tmp/log"
timeout -k 5 30 "$sxsprof" run --quiet --tool native -- "$BUILD/hosts/reserving" >"$tmp/log" 2>&1
check "a program with such an allocator of its own works" $? "$tmp/log"

cat >"$tmp/own.c" <<'E2'
/* An allocator that the program defines itself: it never frees. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
static char memory[64 << 20];
static size_t used;
void *malloc(size_t size)
{
    size_t at = __atomic_fetch_add(&used, (size + 31) / 16 * 16, __ATOMIC_RELAXED);
    if (at + size + 16 > sizeof(memory))
        return NULL;
    memcpy(memory + at, &size, sizeof(size));
    return memory + at + 16;
}
void *calloc(size_t n, size_t size) { return malloc(n * size); }
void *realloc(void *old, size_t size)
{
    void *block = malloc(size);
    size_t was = old ? *(size_t *)((char *)old - 16) : 0;
    return block && old ? memcpy(block, old, was < size ? was : size) : block;
}
void free(void *block) { (void)block; }
void *aligned_alloc(size_t align, size_t size)
{
    char *block = malloc(size + align);
    return block ? (void *)(((uintptr_t)block + align - 1) / align * align) : NULL;
}
int posix_memalign(void **out, size_t align, size_t size) { return (*out = aligned_alloc(align, size)) ? 0 : 12; }
E2
mkdir "$tmp/host" # with what runsxs looks for beside it
for name in libsxsbridge.so runtimes managed; do
    ln -s "$(realpath "$BUILD/$name")" "$tmp/host/$name"
done
${CC:-cc} -O1 -fno-builtin -I. -rdynamic -o "$tmp/host/own" "$tmp/own.c" "$BUILD"/obj/harness/*.o -ldl -lpthread \
    -Wl,--no-as-needed -lm 2>"$tmp/log" &&
    recorded --tool native:interval=64k -- "$tmp/host/own" --bridge 10 blocks "keep:malloc:1009=1000 keep:mmap:41943040=20" &&
    grep -q 'tool native: malloc() and free() of this program are its own' "$tmp/log"
check "a host that defines malloc() itself runs, and one line says that its blocks are not recorded" $? "$tmp/log"
claims "what it maps is recorded" none:1009 blocks:41943040=20 live:41943040=20 caller:41943040=Blocks.Cache.Fill

echo 'int main(void) { return 7; }' >"$tmp/static.c"
${CC:-cc} -static -o "$tmp/static" "$tmp/static.c" 2>/dev/null
LD_PRELOAD=$preload:$allocator "$tmp/static"
[ $? -eq 7 ]
check "a static program works as before" $? /dev/null

rm -rf "$tmp/out"
mkdir -m 700 "$tmp/out"
(
    eval "$("$sxsprof" env --tool native -o "$tmp/out")"
    unset LD_PRELOAD
    exec timeout -k 5 60 "$runsxs" --bridge 8 blocks "keep:malloc:1009=10" 9 blocks "keep:malloc:1009=10"
) >"$tmp/log" 2>&1
status=$?
[ $status -eq 0 ] && [ "$(grep -c 'sxsprof.*tool native: libsxsprof-malloc.so is not preloaded' "$tmp/log")" -eq 1 ]
check "without the preloaded library one line says so, and the host works" $? "$tmp/log"

LD_PRELOAD=$preload:$allocator bash -c 'for i in 1 2 3; do x=$(printf "%s\n" b a c | sort | tr -d "\n"); done; echo $x' >"$tmp/log" 2>&1
[ "$(cat "$tmp/log")" = abc ]
check "bash and its children work with the libraries preloaded" $? "$tmp/log"
LD_PRELOAD=$preload:$allocator python3 -c '
import json, subprocess, threading, zlib
def work(): assert zlib.decompress(zlib.compress(json.dumps(list(range(50000))).encode()))
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(subprocess.check_output(["sh", "-c", "echo well"]).decode().strip())' >"$tmp/log" 2>&1
[ "$(cat "$tmp/log")" = well ]
check "python with threads and children works with the libraries preloaded" $? "$tmp/log"
LD_PRELOAD=$preload:$allocator timeout 60 "${CC:-cc}" -O1 -c -o "$tmp/own.o" "$tmp/own.c" >"$tmp/log" 2>&1 && [ ! -s "$tmp/log" ]
check "the compiler works with the libraries preloaded" $? "$tmp/log"
finish
