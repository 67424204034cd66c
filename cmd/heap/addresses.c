/* SPDX-License-Identifier: MIT */
#include "cmd/heap/addresses.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"

enum { PAGE_BITS = 12, DIGIT_BITS = 16, DIGITS = 1 << DIGIT_BITS };

/* ---- sorting ---- */

struct numbered {
    uint64_t address;
    uint32_t number;
};

static bool is_sorted(const uint64_t *address, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (address[i] <= address[i - 1])
            return false;
    return true;
}

/* Sorts @from by one digit into @to. Returns false, and leaves @to alone, when all are equal. */
static bool sort_digit(const struct numbered *from, struct numbered *to, size_t n, unsigned shift,
                       size_t *counts)
{
    size_t sum = 0;
    memset(counts, 0, DIGITS * sizeof(*counts));
    for (size_t i = 0; i < n; i++)
        counts[from[i].address >> shift & (DIGITS - 1)]++;
    if (counts[from[0].address >> shift & (DIGITS - 1)] == n)
        return false;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = counts[d];
        counts[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < n; i++)
        to[counts[from[i].address >> shift & (DIGITS - 1)]++] = from[i];
    return true;
}

size_t sxs_addresses_sort(uint64_t *address, uint32_t *number, size_t n)
{
    size_t kept = 0;
    if (is_sorted(address, n))
        return n;
    struct numbered *from = sxs_must_zeroed(n, sizeof(*from)),
                    *to = sxs_must_zeroed(n, sizeof(*to));
    size_t *counts = sxs_must_zeroed(DIGITS, sizeof(*counts));
    for (size_t i = 0; i < n; i++)
        from[i] = (struct numbered){address[i], number[i]};
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (!sort_digit(from, to, n, shift, counts))
            continue;
        struct numbered *swap = from;
        from = to;
        to = swap;
    }
    for (size_t i = 0; i < n; i++) {
        if (kept && address[kept - 1] == from[i].address) {
            number[kept - 1] += from[i].number;
            continue;
        }
        address[kept] = from[i].address;
        number[kept++] = from[i].number;
    }
    free(from);
    free(to);
    free(counts);
    return kept;
}

/* ---- finding ---- */

struct sxs_page {
    uint64_t number;
    uint32_t first, n; /* positions of its addresses; n 0: the entry is free */
};

static struct sxs_page *page_of(const struct sxs_pages *p, uint64_t number)
{
    size_t at = (size_t)(sxs_table_hash_number(number) >> 32) & p->mask;
    while (p->all[at].n && p->all[at].number != number)
        at = (at + 1) & p->mask;
    return &p->all[at];
}

void sxs_pages_build(struct sxs_pages *p, const uint64_t *address, uint32_t n)
{
    size_t pages = 0, slots = 16;
    for (uint32_t i = 0; i < n; i++)
        pages += i == 0 || address[i] >> PAGE_BITS != address[i - 1] >> PAGE_BITS;
    while (slots < pages * 2)
        slots *= 2;
    p->all = sxs_must_zeroed(slots, sizeof(*p->all));
    p->mask = slots - 1;
    p->address = address;
    for (uint32_t i = 0; i < n; i++) {
        struct sxs_page *page = page_of(p, address[i] >> PAGE_BITS);
        if (!page->n)
            *page = (struct sxs_page){.number = address[i] >> PAGE_BITS, .first = i};
        page->n++;
    }
}

void sxs_pages_free(struct sxs_pages *p)
{
    free(p->all);
    memset(p, 0, sizeof(*p));
}

uint32_t sxs_pages_find(const struct sxs_pages *p, uint64_t address)
{
    const struct sxs_page *page = page_of(p, address >> PAGE_BITS);
    const uint64_t        *all = p->address + page->first;
    uint32_t               low = 0, n = page->n;
    while (n > 1) {
        uint32_t half = n / 2;
        low = all[low + half] <= address ? low + half : low;
        n -= half;
    }
    return n && all[low] == address ? page->first + low : UINT32_MAX;
}
