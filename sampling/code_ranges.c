/* SPDX-License-Identifier: MIT */
#include "sampling/code_ranges.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_CAP 64u

/* Returns the index of the first range that ends after @ip. */
static size_t first_after(const struct sxs_code_ranges *r, uintptr_t ip)
{
    size_t lo = 0, hi = r->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (r->list[mid].hi <= ip)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Returns the index after the last range that begins before @hi, from index @at on. */
static size_t end_before(const struct sxs_code_ranges *r, size_t at, uintptr_t hi)
{
    while (at < r->n && r->list[at].lo < hi)
        at++;
    return at;
}

/* Moves the ranges from index @from on to index @to. */
static void move_rest(struct sxs_code_ranges *r, size_t to, size_t from)
{
    if (r->n > from)
        memmove(&r->list[to], &r->list[from], (r->n - from) * sizeof(r->list[0]));
    r->n = r->n - from + to;
}

int sxs_code_ranges_has(const struct sxs_code_ranges *ranges, uintptr_t ip)
{
    size_t at = first_after(ranges, ip);
    return at < ranges->n && ranges->list[at].lo <= ip;
}

void sxs_code_ranges_put(struct sxs_code_ranges *ranges, struct sxs_code_range range)
{
    size_t at = first_after(ranges, range.lo), end = end_before(ranges, at, range.hi);
    if (ranges->n - (end - at) + 1 > ranges->cap) {
        size_t                 cap = ranges->cap ? ranges->cap * 2 : FIRST_CAP;
        struct sxs_code_range *more = realloc(ranges->list, cap * sizeof(*more));
        if (!more)
            return;
        ranges->list = more;
        ranges->cap = cap;
    }
    move_rest(ranges, at + 1, end);
    ranges->list[at] = range;
}

void sxs_code_ranges_cut(struct sxs_code_ranges *ranges, uintptr_t lo, uintptr_t hi)
{
    size_t at = first_after(ranges, lo), end = end_before(ranges, at, hi);
    if (end > at)
        move_rest(ranges, at, end);
}

void sxs_code_ranges_forget(struct sxs_code_ranges *ranges, const struct sxs_runtime *rt,
                            uint64_t function)
{
    size_t n = 0;
    for (size_t i = 0; i < ranges->n; i++)
        if (ranges->list[i].rt != rt || (function && ranges->list[i].function != function))
            ranges->list[n++] = ranges->list[i];
    ranges->n = n;
}
