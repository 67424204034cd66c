/* SPDX-License-Identifier: MIT */
/**
 * safe_read.h - copies memory that may not be there: the one way to read what the host may unmap.
 * By guarded loads (guarded.h) where their faults are certain to be recovered from; else the kernel
 * copies, or says that it cannot.
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
 * sxs_kernel_read - copies up to @size bytes of this process from @from to @to by process_vm_readv.
 * Returns how many bytes were copied: fewer where a page is missing, 0 when nothing can be read
 * (or a seccomp filter forbids the call). Changes errno.
 * Async-signal-safe: two bare system calls, some 400 ns.
 */
SXS_SIGSAFE static inline size_t sxs_kernel_read(void *to, uintptr_t from, size_t size)
{
    /* The kernel fails a remote piece as a whole: pieces end where pages do. */
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
 * sxs_safe_read - copies up to @size bytes of this process from @from to @to.
 * Returns how many bytes were copied: fewer where a page is missing, 0 when nothing can be read.
 * Changes errno. Async-signal-safe: one system call with the preloaded router (it asks whether this
 * thread blocks SIGSEGV), two without it (sxs_kernel_read()).
 */
SXS_SIGSAFE static inline size_t sxs_safe_read(void *to, uintptr_t from, size_t size)
{
    return sxs_guarded_reliable() ? sxs_guarded_copy(to, from, size) : sxs_kernel_read(to, from, size);
}

#endif
