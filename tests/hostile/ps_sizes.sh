# SPDX-License-Identifier: MIT
# ps_sizes.sh - a user maps files that are large to read: a sparse ELF of 4 GB that claims a symbol table of that size, many
# names of a large sparse runtime, headers that lie, tables without end, and as many mappings as a process may have.
. "$(dirname "$0")/lib.sh"
needs_root "$0"
own_pids
. tests/hostile/mapper.inc
lair=$(lair $attacker lair)
mkdir -p "$lair/8.0.1" && head -c 100000 /dev/zero >"$lair/8.0.1/libcoreclr.so"
runtime=$lair/8.0.1/libcoreclr.so
n=0
# plays COMMAND...: runs mapper.py as the attacker until everything is mapped; sets $pid
plays() {
    n=$((n + 1))
    hostile "$lair/ready$n" "$@"
    wait_until mapped "$lair/ready$n"
}
# A process with a runtime examines all of its libraries: the second mapper inherits nothing, so each maps both.
both() {
    plays "$@"
    kill $pid
    wait $pid 2>/dev/null
    plays map "$runtime" "$2"
}
lists() { grep -q "^ *$pid " "$tmp/out"; }
# bounded CLAIM: ps ends soon, in little memory, and lists the process
bounded() {
    cost "$sxsprof" ps
    at_most "$1" 10 262144
    lists
    check "$1: the process is listed" $? "$tmp/out"
}

both elf "$lair/symbols.so"
bounded "a sparse ELF of 4 GB with a huge symbol table"
for kind in phnum offsets loop chain dynamic; do both absurd "$lair/$kind.so" $kind; done
bounded "headers and tables that lie"
as $attacker truncate -s 511M "$lair/big"
as $attacker mkdir "$lair/links"
plays links "$lair/big" "$lair/links" 40
bounded "40 names of a sparse runtime of 511 MB"
as $attacker sh -c 'head -c 8192 /dev/zero >"$1"' sh "$lair/page.so"
plays parts "$lair/page.so" 60000
[ "$(wc -l <"/proc/$pid/maps")" -gt 60000 ]
check "a process has 60,000 mappings" $?
cost "$sxsprof" ps
at_most "60,000 mappings" 10 262144
finish
