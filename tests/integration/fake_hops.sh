# SPDX-License-Identifier: MIT
# fake_hops.sh - checks that the mixed and the managed stack of simulated runtimes have the same managed
# frames, also under sanitizers.
. "$(dirname "$0")/lib.sh"
preload=$([ "$SAN" = thread ] && echo --no-preload) # the preloaded mmap() goes past the thread sanitizer's
# shellcheck disable=SC2086 # an option, or none
timeout -k 5 120 "$sxsprof" run --quiet $preload -- "$runsxs" --bridge --timeout 100 fake:8.0 "!hops 30 $tmp/h" "" \
    fake:9.0 "!hops 0" "" fake:10.0 "!hops 0" "" >"$tmp/log" 2>&1
check "three simulated runtimes call each other 30 hops deep" $? "$tmp/log"
for f in mixed managed; do
    grep -c . "$tmp/h.$f" >/dev/null 2>&1 || not_ok "no $f stack" "$tmp/log"
    grep -P '\tclr[0-9]+:' "$tmp/h.$f" | cut -f2- >"$tmp/$f.clr"
done
cmp "$tmp/mixed.clr" "$tmp/managed.clr" >"$tmp/diff" 2>&1
check "the mixed and the managed stack have the same managed frames" $? "$tmp/diff"
[ "$(grep -c . "$tmp/managed.clr")" -eq 93 ] # 31 entries with three methods each
check "the stack has all 93 managed frames" $? "$tmp/managed.clr"
[ "$(cut -f3 "$tmp/managed.clr" | sort -u | grep -c .)" -eq 3 ]
check "the frames belong to three runtimes" $? "$tmp/managed.clr"
tail -n 1 "$tmp/h.mixed" | grep -q bottom && tail -n 1 "$tmp/h.managed" | grep -q bottom
check "both walks reach the bottom of the stack" $? "$tmp/h.mixed"
finish
