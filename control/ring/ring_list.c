/* SPDX-License-Identifier: MIT */
#include "control/ring/ring_list.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)
#define LONGEST  (INT64_C(100) * 366 * 86400) /* seconds: the age of a segment at most */

int sxs_ring_list_add(struct sxs_ring_list *list, const struct sxs_ring_segment *segment)
{
    if (list->n == list->room) {
        size_t                   room = list->room ? list->room * 2 : 64;
        struct sxs_ring_segment *more = realloc(list->items, room * sizeof(*more));
        if (!more)
            return -1;
        list->items = more;
        list->room = room;
    }
    list->items[list->n++] = *segment;
    list->bytes += segment->bytes;
    return 0;
}

void sxs_ring_list_drop(struct sxs_ring_list *list, size_t at)
{
    list->bytes -= list->items[at].bytes;
    list->n--;
    memmove(&list->items[at], &list->items[at + 1], (list->n - at) * sizeof(list->items[0]));
}

void sxs_ring_list_free(struct sxs_ring_list *list)
{
    free(list->items);
    memset(list, 0, sizeof(*list));
}

int sxs_ring_is_too_much(const struct sxs_ring_list *list, const struct sxs_ring_limits *limits,
                         int64_t now_ns, uint64_t other_bytes)
{
    if (!list->n)
        return 0;
    if (limits->keep_ns && list->items[0].until_ns < now_ns - (int64_t)limits->keep_ns)
        return 1;
    return limits->keep_bytes && list->bytes + other_bytes > limits->keep_bytes;
}

int sxs_ring_overlaps(int64_t from_ns, int64_t until_ns, int64_t event_ns)
{
    return until_ns >= event_ns - SXS_RING_AROUND_NS && from_ns <= event_ns + SXS_RING_AROUND_NS;
}

void sxs_ring_times_of_name(struct sxs_ring_segment *segment, uint64_t began_s, uint64_t now_s,
                            int64_t now_ns, uint64_t every_ns)
{
    int64_t age = now_s > began_s ? (int64_t)(now_s - began_s) : 0;
    if (age > LONGEST)
        age = LONGEST;
    segment->from_ns = now_ns - age * NS_PER_S;
    segment->until_ns = segment->from_ns + (int64_t)every_ns;
    if (segment->until_ns > now_ns)
        segment->until_ns = now_ns;
}
