# SPDX-License-Identifier: MIT
# host_reserving.sh - checks that the preloaded mmap and sigaction do not allocate memory.
# The host has no runtime. Its allocator reserves address space under its own lock, so an allocation inside
# mmap or sigaction would be a deadlock.
. "$(dirname "$0")/lib.sh"
[ -n "$SAN" ] && skip_all "$0" "the host brings an allocator of its own"
"$BUILD/hosts/reserving" >"$tmp/log" 2>&1
check "the control: the host works without the library" $? "$tmp/log"
LD_PRELOAD=$PWD/$BUILD/libsxsprof-preload.so timeout -k 5 30 "$BUILD/hosts/reserving" >"$tmp/log" 2>&1
check "with the preload library, nothing is allocated inside mmap and sigaction" $? "$tmp/log"
timeout -k 5 30 "$sxsprof" run --quiet -- "$BUILD/hosts/reserving" >"$tmp/log" 2>&1
check "under sxsprof run, nothing is allocated inside mmap and sigaction" $? "$tmp/log"
finish
