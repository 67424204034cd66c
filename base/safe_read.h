/* SPDX-License-Identifier: MIT */
/**
 * safe_read.h - copy memory that the host may unmap at any time.
 *
 * The copy is made by guarded loads (base/guarded.h) if their faults are certain to reach the
 * router; else by the system call process_vm_readv, which fails instead of faulting.
 */
#ifndef SXS_BASE_SAFE_READ_H
#define SXS_BASE_SAFE_READ_H

#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/base.h"
#include "base/guarded.h"

/**
 * sxs_kernel_read - copy up to @size bytes of this process from @from to @to by process_vm_readv.
 * Returns the number of bytes copied: fewer than @size if a page is missing, 0 if nothing can be
 * read or a seccomp filter forbids the call. May change errno.
 * Any thread. Async-signal-safe: two bare system calls, about 400 ns.
 */
SXS_SIGSAFE static inline size_t sxs_kernel_read(void *to, uintptr_t from, size_t size)
{
    /* If a page is missing, the kernel copies nothing of the iovec element that contains the page.
     * So each element ends at the end of a page. */
    struct iovec local = {to, size}, remote[9];
    size_t       n = 0, planned = 0;
    while (planned < size && n < ARRAY_LEN(remote)) {
        size_t piece = 4096 - ((from + planned) & 4095);
        if (n == ARRAY_LEN(remote) - 1 || piece > size - planned)
            piece = size - planned;
        remote[n].iov_base = (void *)(from + planned);
        remote[n].iov_len = piece;
        planned += piece;
        n++;
    }
    long got =
        syscall(SYS_process_vm_readv, (pid_t)syscall(SYS_getpid), &local, 1UL, remote, n, 0UL);
    return got > 0 ? (size_t)got : 0;
}

/**
 * sxs_safe_read - copy up to @size bytes of this process from @from to @to.
 * Returns the number of bytes copied: fewer than @size if a page is missing, 0 if nothing can be
 * read. May change errno. Any thread. Async-signal-safe: one system call with the preloaded router
 * (to check whether this thread blocks SIGSEGV or SIGBUS), two without it (sxs_kernel_read()).
 */
SXS_SIGSAFE static inline size_t sxs_safe_read(void *to, uintptr_t from, size_t size)
{
    return sxs_guarded_reliable() ? sxs_guarded_copy(to, from, size) : sxs_kernel_read(to, from, size);
}

#endif
