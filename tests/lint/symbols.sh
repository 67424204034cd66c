#!/bin/sh
# SPDX-License-Identifier: MIT
# symbols.sh - checks that each of the four libraries exports the symbols of its list and no others.
# Status 1 if not; 77 when the libraries are not built.
set -u
cd "$(dirname "$0")/../.." || exit 1
: "${BUILD:=build}"
bad=0

check() { # library names...
    library=$BUILD/$1
    shift
    [ -e "$library" ] || { echo "$library is not built"; exit 77; }
    expected=$(printf '%s\n' "$@" | sort)
    # Names of type A are version names of a version script, not symbols.
    got=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
    [ "$got" = "$expected" ] && return
    bad=1
    for name in $got; do
        echo "$expected" | grep -qxF "$name" || echo "$library exports $name, which is not on the list"
    done
    for name in $expected; do
        echo "$got" | grep -qxF "$name" || echo "$library does not export $name"
    done
}

check libsxsprof.so DllGetClassObject DllCanUnloadNow sxsprof_print_stack sxsprof_force_gc sxsprof_is_at_work \
    GetInstrumentationEngineLogger InstrumentationEngineFreeString
# shellcheck disable=SC2046
called=$(nm -u $(sh tests/lint/folders.sh clrie | sed "s,.*,$BUILD/obj/&/*.o,") 2>/dev/null | awk 'NF == 2 { print $2 }')
check libsxsprof-clrie.so sxsprof_clrie_v1
check libsxsprof-preload.so sxsprof_signals_v1 sigaction signal bsd_signal ssignal sysv_signal __sysv_signal \
    sigset sigignore siginterrupt pthread_kill pthread_sigmask pthread_create mmap mmap64 munmap
check libsxsprof-malloc.so sxsprof_allocator_v1 malloc calloc realloc reallocarray memalign aligned_alloc \
    posix_memalign valloc pvalloc free free_sized free_aligned_sized cfree mallocx rallocx xallocx dallocx sdallocx \
    mmap mmap64 munmap mremap dlsym $(sed -n "s,^    OPERATOR(\(_Z[A-Za-z0-9_]*\).*,\1,p" allocator/operators.c)
# What the library gives to the engine's library is what the engine's code calls.
for name in $(sed -n 's/^ *X(\([a-z0-9_]*\)).*/\1/p' clrie/link/needs.h); do
    echo "$called" | grep -qxF "$name" || { echo "clrie/link/needs.h: nobody needs $name"; bad=1; }
done
exit $bad
