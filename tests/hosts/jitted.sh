# SPDX-License-Identifier: MIT
# jitted.sh - code of another JIT compiler in the process has the names that its file for perf (a map, or a jitdump) gives it,
# and its frames are walked; a file that another user may have written is not read.
. "$(dirname "$0")/../integration/lib.sh"
need_real 1
[ -e "$BUILD/managed/guest/guest.dll" ] || skip_all "$0" "the managed apps are not built"
[ -e "$BUILD/hosts/jitted" ] || skip_all "$0" "the hosts are not built"
HOSTS_RUNTIMES=$(real_versions | tail -n 1 | sed "s|^|$(realpath "$BUILD")/runtimes/|") HOSTS_GUEST=$(realpath "$BUILD")/managed/guest
HOSTS_TMP=$tmp
export HOSTS_RUNTIMES HOSTS_GUEST HOSTS_TMP

run() { # HOW
    rm -rf "$tmp/s"
    timeout -k 5 120 "$sxsprof" run --quiet --tool sample:cpu=99 -o "$tmp/s" -- "$BUILD/hosts/jitted" "$1" >"$tmp/out" 2>&1
    check "$1: the host ends as it does otherwise" $? "$tmp/out"
    "$sxsprof" report --format collapsed "$tmp/s" >"$tmp/stacks" 2>"$tmp/log"
    check "$1: the session can be read" $? "$tmp/log"
}

for how in good dump-good; do
    run $how
    python3 - "$tmp/stacks" >"$tmp/said" 2>&1 <<'P'
import sys
rows = [(line.rsplit(" ", 1)[0], int(line.rsplit(" ", 1)[1])) for line in open(sys.argv[1], encoding="utf-8")]
total = sum(n for _, n in rows)
named = sum(n for s, n in rows if "main" in s and s.find("LazyCompile:*outer /app/") < s.find("LazyCompile:*inner"))
print(total, named, [r for r in rows if "LazyCompile:*inner" in r[0]][:3])
assert not any("early" in s or "\033" in s or "all of it" in s for s, _ in rows)
assert named > 0.5 * total, rows[:20]
assert sum(n for s, n in rows if "unknown" in s) < 0.05 * total, rows[:20]
P
    check "$how: code of another compiler has its names and its callers" $? "$tmp/said"
done
for how in none link writable dump-none dump-link dump-writable dump-damaged dump-hidden; do
    run $how
    ! grep -q 'LazyCompile' "$tmp/stacks" && grep -q 'unknown' "$tmp/stacks"
    check "$how: such a file gives no names" $? "$tmp/stacks"
done
finish
