/* SPDX-License-Identifier: MIT */
#include "base/guarded.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The linker defines these two symbols as the ends of the section that SXS_GUARDED_ENTRY()
 * fills. */
extern const struct sxs_guarded_load __start_sxs_guarded[] __attribute__((visibility("hidden")));
extern const struct sxs_guarded_load __stop_sxs_guarded[] __attribute__((visibility("hidden")));

static _Atomic int relied;

const struct sxs_guarded_code *sxs_guarded_code(void)
{
    static const struct sxs_guarded_code code = {__start_sxs_guarded, __stop_sxs_guarded};
    return &code;
}

SXS_SIGSAFE void sxs_guarded_rely(int yes)
{
    atomic_store_explicit(&relied, yes, memory_order_release);
}

SXS_SIGSAFE int sxs_guarded_relied(void)
{
    return atomic_load_explicit(&relied, memory_order_acquire);
}

SXS_SIGSAFE int sxs_guarded_reliable(void)
{
    uint64_t blocked = 0; /* the kernel's signal set: one bit per signal */
    int      saved_errno = errno;
    long     failed;
    if (!sxs_guarded_relied())
        return 0;
    failed = syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, sizeof(blocked));
    errno = saved_errno;
    return !failed && !(blocked >> (SIGSEGV - 1) & 1) && !(blocked >> (SIGBUS - 1) & 1);
}

SXS_SIGSAFE __attribute__((noinline)) size_t sxs_guarded_copy(void *to, uintptr_t from, size_t size)
{
    return size - sxs_guarded_copy_bytes(to, from, size);
}
