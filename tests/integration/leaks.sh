# SPDX-License-Identifier: MIT
# leaks.sh - checks that each of the four leaks of the app "leaky" is named by one command, in each of three
# runtimes of a process.
. "$(dirname "$0")/lib.sh"
need_real 3
n=10000

timeout -k 5 170 "$sxsprof" run --quiet --tool alloc:interval=100k,live=on --tool native --tool heap:at-exit -o "$tmp/s" \
    -- "$runsxs" --timeout 160 8 leaky "requests=$n" 9 leaky "requests=$n" 10 leaky "requests=$n" >"$tmp/log" 2>&1
check "a run of three leaking programs with the tools alloc, native and heap ends with status 0" $? "$tmp/log"

# keeps CLAIM TYPE ROOT: the command names $n objects of the type in each runtime, and what keeps them.
keeps() {
    "$sxsprof" heap --type "$2" "$tmp/s" >"$tmp/text" 2>&1
    check "$1: the command ends with status 0" $? "$tmp/text"
    [ "$(grep -c "^$2: $n objects" "$tmp/text")" -eq 3 ]
    check "$1: every object is there, in each runtime" $? "$tmp/text"
    [ "$(grep -c -- "$3" "$tmp/text")" -ge 3 ]
    check "$1: what keeps them is named, in each runtime" $? "$tmp/text"
}
keeps "an event handler" Leaks.Subscriber '<- static field Leaks\.Publisher\.Changed'
keeps "a static cache" Leaks.CacheEntry '<- static field Leaks\.Cache\.entries'
keeps "a timer" Leaks.Poller '<- static field System\.Threading\.TimerQueue\.'
"$sxsprof" heap --type Leaks.Request "$tmp/s" >"$tmp/text" 2>&1
! grep -q '^Leaks\.Request: [1-9]' "$tmp/text"
check "what is not kept is not on the heap" $? "$tmp/text"

# Allocation sites. Samples are random: 30 MB are kept in all, of which one in 100 kB is recorded.
"$sxsprof" report --data live --top 20 "$tmp/s" >"$tmp/text" 2>&1
check "live: the report is written" $? "$tmp/text"
sed -n '/^what is kept/,/^top functions/p' "$tmp/text" >"$tmp/kept"
for name in Subscriber Cache Poller; do
    grep -q "Leaks\.$name" "$tmp/kept"
    check "live: the allocation sites of $name are named" $? "$tmp/text"
done
! grep -q 'Leaks\.Request' "$tmp/kept"
check "live: allocation sites of what is not kept are not named" $? "$tmp/text"

"$sxsprof" report --data native-live --top 10 "$tmp/s" >"$tmp/text" 2>&1
check "native-live: the report is written" $? "$tmp/text"
sed -n '/^what is kept/,/^top functions/p' "$tmp/text" >"$tmp/kept"
for v in 8 9 10; do
    grep -q "\[$v\.[0-9.]*\] Leaks\.NativeBuffers\.Leak(" "$tmp/kept"
    check "native-live: the managed method that leaks native memory on $v is named" $? "$tmp/text"
done
sed -n '3p;4p' "$tmp/kept" | grep -q 'Leaks\.NativeBuffers\.Leak('
check "native-live: it is the first" $? "$tmp/text"
! grep -q 'Leaks\.NativeBuffers\.Use(' "$tmp/kept"
check "native-live: the method that frees what it allocates is not named" $? "$tmp/text"
finish
