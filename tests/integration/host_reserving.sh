# SPDX-License-Identifier: MIT
# A host without a runtime whose allocator reserves address space under its own lock: nothing may allocate
# inside its mmap and sigaction.
. "$(dirname "$0")/lib.sh"
[ -n "$SAN" ] && skip_all "$0" "the host brings an allocator of its own"
"$BUILD/hosts/reserving" >"$tmp/log" 2>&1
check "alone it works: the control" $? "$tmp/log"
LD_PRELOAD=$PWD/$BUILD/libsxsprof-preload.so timeout -k 5 30 "$BUILD/hosts/reserving" >"$tmp/log" 2>&1
check "preloaded, nothing allocates inside its mmap and sigaction" $? "$tmp/log"
timeout -k 5 30 "$sxsprof" run --quiet -- "$BUILD/hosts/reserving" >"$tmp/log" 2>&1
check "nor under sxsprof run" $? "$tmp/log"
finish
