/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/worker_limits.h"

#include "base/clock.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIMITED_BYTES ((uint64_t)160 << 20) /* for all files of others together */

static int      statm = -1;   /* has the sizes of this process */
static uint64_t used, before; /* bytes of LIMITED_BYTES; of the process at the last begin */

/* Returns the size of the address space in bytes. */
static uint64_t size_now(void)
{
    char    text[128];
    ssize_t n = pread(statm, text, sizeof(text) - 1, 0);
    text[n > 0 ? n : 0] = 0;
    return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void sxs_symbol_worker_limit_memory(bool limited)
{
#ifndef SXS_SANITIZED /* a sanitizer reserves address space without end */
    struct rlimit limit;
    uint64_t      now;
    if (!limited && !before)
        return;
    now = size_now();
    getrlimit(RLIMIT_AS, &limit);
    if (limited) {
        before = now;
        limit.rlim_cur = now + (used < LIMITED_BYTES ? LIMITED_BYTES - used : 0);
    } else {
        used += now > before ? now - before : 0;
        before = 0;
        limit.rlim_cur = RLIM_INFINITY;
    }
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_AS, &limit);
#else
    (void)limited;
    (void)size_now;
    (void)used;
#endif
}

void sxs_symbol_worker_limit_time(bool limited, uint32_t ms)
{
    static bool   is_limited;
    struct rlimit limit;
    if ((!limited && !is_limited) || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    is_limited = limited;
    uint64_t end = sxs_now_ns(CLOCK_PROCESS_CPUTIME_ID) / 1000000 + ms;
    rlim_t   seconds = (rlim_t)(end / 1000 + 1);
    limit.rlim_cur = limited && seconds < limit.rlim_max ? seconds : limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}

void sxs_symbol_worker_prepare(void)
{
    statm = open("/proc/self/statm", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    for (int fd = 0; statm >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(statm, fd);
}
