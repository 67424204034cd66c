/* SPDX-License-Identifier: MIT */
#include "instr/weave/refused.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/session_state.h"

#define FIRST    3u /* methods that are named for one reason */
#define REASONS  64u
#define QUIET_NS UINT64_C(1000000000)

struct refused_reason {
    char     text[256];
    uint32_t n, said;   /* number of methods; number of those that the log names or has counted */
    uint64_t latest_ns; /* time of the latest method */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
static struct refused_reason
                       reasons[REASONS]; /* guarded by lock; further reasons share the last place */
static uint32_t        n_reasons;
SXS_SESSION_KEEPS(lock);
SXS_SESSION_RESETS(reasons);
SXS_SESSION_RESETS(n_reasons);

static struct refused_reason *find_locked(const char *why)
{
    struct refused_reason *r = reasons;
    while (r < reasons + n_reasons && strncmp(r->text, why, sizeof(r->text) - 1) != 0)
        r++;
    if (r < reasons + n_reasons)
        return r;
    if (n_reasons == REASONS)
        return &reasons[REASONS - 1];
    n_reasons++;
    snprintf(r->text, sizeof(r->text), "%s", n_reasons < REASONS ? why : "for other reasons");
    return r;
}

void sxs_refused(const struct sxsprof_method *method, const char *why)
{
    struct refused_reason *r;
    pthread_mutex_lock(&lock);
    r = find_locked(why);
    r->latest_ns = sxs_now_ns(CLOCK_MONOTONIC);
    if (r->n++ < FIRST) {
        r->said = r->n;
        sxs_warn("tool instrument: runtime %u (%s): %s:%s: %s", method->runtime, method->version,
                 method->assembly, method->name, why);
    }
    pthread_mutex_unlock(&lock);
}

void sxs_refused_look(int ended)
{
    uint64_t now = sxs_now_ns(CLOCK_MONOTONIC);
    pthread_mutex_lock(&lock);
    for (struct refused_reason *r = reasons; r < reasons + n_reasons; r++)
        if (r->said < r->n && (ended || now - r->latest_ns > QUIET_NS)) {
            sxs_warn("tool instrument: and %u more methods: %s", r->n - r->said, r->text);
            r->said = r->n;
        }
    pthread_mutex_unlock(&lock);
}

void sxs_refused_forget(void)
{
    n_reasons = 0;
    memset(reasons, 0, sizeof(reasons));
}
