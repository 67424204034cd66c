/* SPDX-License-Identifier: MIT */
#include "control/duration_env.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/log.h"
#include "base/text/duration.h"
#include "control/session_thread.h"
#include "manager/sessions.h"

#define NS_PER_S  UINT64_C(1000000000)
#define NS_PER_MS UINT64_C(1000000)

static uint64_t ends_ns; /* CLOCK_MONOTONIC; 0: never */
static int      is_over;

/* Reads the milliseconds after the comma. Returns how long ago that was; 0 also when the clock was set back. */
static int read_since(const char *text, uint64_t *ago_ns)
{
    char              *end;
    unsigned long long since = strtoull(text, &end, 10);
    uint64_t           now_ns = sxs_now_ns(CLOCK_REALTIME);
    if (end == text || *end || *text < '0' || *text > '9')
        return -EINVAL;
    *ago_ns = since < now_ns / NS_PER_MS ? now_ns - since * NS_PER_MS : 0;
    return 0;
}

void sxs_duration_prepare(void)
{
    const char *text = sxs_env_get(SXS_ENV_DURATION);
    uint64_t    ns, ago_ns = 0;
    size_t      len = text ? strcspn(text, ",") : 0;
    if (!text)
        return;
    if (sxs_duration_read(text, len, NS_PER_S, &ns) != 0 || !ns ||
        (text[len] && read_since(text + len + 1, &ago_ns) != 0)) {
        sxs_error("SXSPROF_DURATION=%.100s: expected " SXS_DURATION_EXPECTED
                  "; going on without it",
                  text);
        return;
    }
    is_over = ago_ns >= ns;
    ends_ns = is_over ? 0 : sxs_now_ns(CLOCK_MONOTONIC) + (ns - ago_ns);
}

int sxs_duration_is_set(void)
{
    return ends_ns != 0;
}

int sxs_duration_is_over(void)
{
    return is_over;
}

void sxs_duration_start(void)
{
    struct sxs_session_state state;
    uint64_t                 now = sxs_now_ns(CLOCK_MONOTONIC);
    sxs_session_get_state(&state);
    if (!ends_ns || state.phase != SXS_SESSION_ON)
        return;
    uint64_t ms = ends_ns > now ? (ends_ns - now) / 1000000 : 0;
    sxs_session_thread_limit(state.number, ms ? ms : 1, 0);
}
