# SPDX-License-Identifier: MIT
# late_libraries.sh - libraries that are used right after dlopen(), and unloaded soon: their frames have names,
# and stacks go on after them.
. "$(dirname "$0")/lib.sh"
need_real 1
[ -e "$BUILD/managed/blocks/blocks.dll" ] || skip_all "$0" "the app blocks is not built"
case $(getconf GNU_LIBC_VERSION) in *" 2.34") skip_all "$0" "glibc 2.34 has no _dl_find_object()" ;; esac
runtime=$(realpath "$BUILD/runtimes/$(real_versions | tail -n 1)")
blocks=$(realpath "$BUILD/managed/blocks/blocks.dll")

# Functions without frame pointers, so that stacks need the unwind table. All libraries have the same size and come to
# the same place if each is closed before the next one is loaded. Each has a function of a name of its own.
cat >"$tmp/spin.c" <<'C'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
static long now(void) /* CPU time: on a busy machine a thread may get none for long */
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
__attribute__((noinline)) static void INNER(long *sum, long until)
{
    long words[8] = {0};
    while (now() < until) {
        void *volatile block;
        for (int i = 0; i < 10000; i++)
            words[i & 7] += (long)(i * sink);
        block = malloc(3001);
        free(block);
    }
    *sum += words[sink & 7];
}
__attribute__((noinline)) static void late_middle(long *sum, long until)
{
    long words[4] = {1, 2, 3, 4};
    INNER(words, until);
    *sum += words[0] + words[1];
}
void late_spin(long ns)
{
    long sum = 0;
    late_middle(&sum, now() + ns);
    sink += (unsigned long)sum;
}
C
libraries=
for i in 1 2 3 4 5 6; do
    ${CC:-cc} -O2 -fPIC -shared -fomit-frame-pointer -fno-optimize-sibling-calls -DINNER=inner_$i -o "$tmp/late_$i.so" "$tmp/spin.c" ||
        skip_all "$0" "cannot compile"
    libraries="$libraries $tmp/late_$i.so"
done
${CC:-cc} -O1 -D_GNU_SOURCE -I. -o "$tmp/host" tests/integration/late_host.c -ldl -lpthread 2>"$tmp/log"
check "the host is compiled" $? "$tmp/log"

# good DATA: each library has stacks of its own name in the report, all of them go on to main(), and no frame is unknown.
good() {
    "$sxsprof" report --data "$1" --format collapsed "$tmp/out" >"$tmp/stacks" 2>>"$tmp/log" && python3 - "$tmp/stacks" >>"$tmp/log" <<'P'
import re, sys
names, cut, unknown = {}, [], []
for line in open(sys.argv[1]):
    stack = line.rsplit(" ", 1)[0]
    frames = stack.split(";")
    inner = re.search(r"inner_(\d)", stack)
    if "[unknown]" in stack:
        unknown.append(stack)
    if not inner:
        continue
    names[inner[1]] = 1
    for name in ("late_middle", "late_spin", "main"):
        if not any(name in f for f in frames):
            cut.append(stack)
            break
print("libraries with a name:", " ".join(sorted(names)))
for what, stacks in ("unknown", unknown), ("cut", cut):
    print(len(stacks), what, *stacks[:2], sep="\n  ")
sys.exit(len(names) != 6 or bool(cut) or bool(unknown))
P
}

for how in keep close; do
    for tool in sample:cpu=997 native:interval=16k; do
        case $tool in native*) data=native ;; *) data=samples ;; esac
        rm -rf "$tmp/out" "$tmp/sync"
        mkdir "$tmp/sync"
        # shellcheck disable=SC2086
        timeout -k 5 120 "$sxsprof" run --quiet -o "$tmp/out" --tool $tool -- "$tmp/host" "$runtime" "$blocks" "$tmp/sync" 30 $how $libraries \
            >"$tmp/log" 2>&1 && good $data
        check "tool ${tool%%:*}, libraries that the program will $how: frames right after dlopen() have names and callers" $? "$tmp/log"
    done
done
finish
