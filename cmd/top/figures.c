/* SPDX-License-Identifier: MIT */
/* figures.c - the figures of the header, and numbers as text. */
#include "cmd/top/top.h"

#include <math.h>
#include <string.h>

static double rate(double n, double seconds)
{
    return seconds > 0 ? n / seconds : 0;
}

void sxs_top_figures_get(struct sxs_live *live, const struct sxs_top_system *system,
                         struct sxs_top_figures *out)
{
    const struct sxs_live_process *p = sxs_live_process(live);
    *out = (struct sxs_top_figures){
        .cpu = system->there && p->running ? system->cpu : rate(p->cpu_s.window, p->covered_s),
        .pause = rate(p->pause_s.window, p->covered_s),
        .gcs = rate(p->gcs.window, p->counted_s),
        .exceptions = rate(p->exceptions.window, p->counted_s),
        .methods = rate(p->methods.window, p->counted_s),
        .allocated = rate(p->allocated.window, p->covered_s),
        .has_pause = p->recorded & SXS_LIVE_HAS_PAUSES,
        .has_allocated = p->recorded & (SXS_LIVE_HAS_ALLOCATIONS | SXS_LIVE_HAS_HEAP),
        .heap_bytes = p->heap_bytes,
        .rss = system->rss,
        .threads = system->threads,
    };
}

const char *sxs_top_number(double n, char *buf, size_t size)
{
    if (n >= 1e9)
        snprintf(buf, size, "%.1fG", n / 1e9);
    else if (n >= 1e7)
        snprintf(buf, size, "%.1fM", n / 1e6);
    else if (n >= 1e5)
        snprintf(buf, size, "%.0fk", n / 1e3);
    else
        snprintf(buf, size, n >= 100 || fabs(n - round(n)) < 1e-9 ? "%.0f" : "%.1f", n);
    return buf;
}

const char *sxs_top_time(double s, char *buf, size_t size)
{
    if (s <= 0)
        snprintf(buf, size, "-");
    else if (s < 1e-3)
        snprintf(buf, size, "%.0f us", s * 1e6);
    else if (s < 1)
        snprintf(buf, size, s < 0.01 ? "%.2f ms" : "%.1f ms", s * 1e3);
    else if (s < 6000)
        snprintf(buf, size, s < 100 ? "%.2f s" : "%.0f s", s);
    else
        snprintf(buf, size, "%.0f min", s / 60);
    return buf;
}

const char *sxs_top_tools(unsigned recorded, char *buf, size_t size)
{
    static const struct {
        unsigned    bit;
        const char *name;
    } tools[] = {
        {SXS_LIVE_HAS_SAMPLES, "sample"},    {SXS_LIVE_HAS_COMPILATIONS, "events"},
        {SXS_LIVE_HAS_HEAP, "gc"},           {SXS_LIVE_HAS_EXCEPTIONS, "exceptions"},
        {SXS_LIVE_HAS_ALLOCATIONS, "alloc"}, {SXS_LIVE_HAS_NATIVE, "native"},
        {SXS_LIVE_HAS_LOCKS, "locks"},
    };
    size_t len = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < sizeof(tools) / sizeof(*tools) && len < size; i++)
        if (recorded & tools[i].bit)
            len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " " : "", tools[i].name);
    return buf;
}
