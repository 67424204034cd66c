/* SPDX-License-Identifier: MIT */
/** track.h - a sum since the beginning and over the window: the window is made of buckets of time. */
#ifndef SXS_CMD_LIVE_TRACK_H
#define SXS_CMD_LIVE_TRACK_H

#include "cmd/live/live.h"

#include <string.h>

/** Buckets of a window: ten, and the one that is being filled. */
#define SXS_LIVE_BUCKETS 11u

/** Zeroed it is empty. */
struct sxs_live_track {
    double   all;
    uint64_t newest;                   /* number of the newest bucket: time / length of a bucket */
    double   bucket[SXS_LIVE_BUCKETS]; /* bucket N at N % SXS_LIVE_BUCKETS */
};

/** sxs_live_track_roll - make the bucket @now the newest, unless a newer one is. */
static inline void sxs_live_track_roll(struct sxs_live_track *t, uint64_t now)
{
    if (now <= t->newest)
        return;
    if (now - t->newest >= SXS_LIVE_BUCKETS)
        memset(t->bucket, 0, sizeof(t->bucket));
    else
        for (uint64_t b = t->newest + 1; b <= now; b++)
            t->bucket[b % SXS_LIVE_BUCKETS] = 0;
    t->newest = now;
}

/** sxs_live_track_add - add @v in the bucket @at; 0: before the window. */
static inline void sxs_live_track_add(struct sxs_live_track *t, uint64_t at, double v)
{
    t->all += v;
    if (!at)
        return;
    sxs_live_track_roll(t, at);
    if (t->newest - at < SXS_LIVE_BUCKETS)
        t->bucket[at % SXS_LIVE_BUCKETS] += v;
}

/** sxs_live_track_sum - return the sums when @now is the newest bucket. */
static inline struct sxs_live_sum sxs_live_track_sum(struct sxs_live_track *t, uint64_t now)
{
    struct sxs_live_sum sum = {.all = t->all};
    sxs_live_track_roll(t, now);
    for (unsigned i = 0; i < SXS_LIVE_BUCKETS; i++)
        sum.window += t->bucket[i];
    return sum;
}

#endif
