/* SPDX-License-Identifier: MIT */
/* runs.c - whether a recorded process still runs. */
#include "cmd/live/internal.h"

#include "base/stat_field.h"
#include "cmd/confined/helper.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns when the system was started (CLOCK_REALTIME, ns), to the second; 0: not known. */
static uint64_t boot_time(void)
{
    static uint64_t known;
    char            text[65536];
    const char     *at;
    if (known)
        return known;
    int    fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    size_t n = fd >= 0 ? sxs_file_read_at(fd, text, sizeof(text) - 1, 0) : 0;
    if (fd >= 0)
        close(fd);
    text[n] = '\0';
    if ((at = strstr(text, "\nbtime ")))
        known = strtoull(at + 7, NULL, 10) * 1000000000u;
    return known;
}

bool sxs_live_process_runs(uint32_t pid, uint64_t began_realtime_ns)
{
    char text[2048];
    if (!sxs_helper_stat((pid_t)pid, text, sizeof(text)))
        return false;
    char state = sxs_stat_state(text);
    if (!state || state == 'Z' || state == 'X')
        return false;
    uint64_t ticks = sxs_stat_number(text, SXS_STAT_START);
    uint64_t started = boot_time() + ticks * (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK));
    /* A later process with the same number has begun after the session; 5 s for clocks that were
     * set. */
    return !began_realtime_ns || !boot_time() || started < began_realtime_ns + 5000000000u;
}
