/* SPDX-License-Identifier: MIT */
#include "tools/heap/offsets.h"

#include <stdlib.h>

#include "base/guarded.h"
#include "base/safe_read.h"

#define MAX_SLOTS  4096u /* of an object or an element */
#define MAX_SERIES 1024u
#define WORD       8u
#define MARKS      UINT64_C(7) /* low bits of an object's first word, which the collector uses */

#define HAS_COMPONENTS UINT32_C(0x80000000)

/*
 * A method table begins with its flags (4 bytes; bit 31: objects have components, bits 0 to 15:
 * bytes of one) and the bytes of an object without components (4 bytes). In front of it is the
 * descriptor, which grows downwards: the number of series (8 bytes), then the series.
 *
 * Number > 0: each series has an offset (8 bytes, in front of the number) and a size (8 bytes, in
 * front of the offset): slots begin at that offset of an object, and take that size + the object's
 * size bytes. Number < 0: an array of value types. There is one offset, that of the first slot,
 * and in front of it are the parts of a pattern that is repeated up to the end of the array: slots
 * (4 bytes), and bytes after them that are not slots (4 bytes).
 */
struct descriptor {
    uint64_t                 table; /* address of the method table */
    struct sxs_heap_offsets *offsets;
    int64_t                  count;
};

static int read_word(uint64_t at, uint64_t *out)
{
    return sxs_safe_read(out, (uintptr_t)at, sizeof(*out)) == sizeof(*out) ? 0 : -1;
}

static int add_slot(struct sxs_heap_offsets *s, uint64_t offset)
{
    uint32_t end = s->step ? s->of_slot[0] + s->step : s->base;
    if (s->n == MAX_SLOTS || offset % WORD || offset < WORD || (s->n && offset + WORD > end))
        return -1;
    s->of_slot[s->n++] = (uint32_t)offset;
    return 0;
}

static int read_series(struct descriptor *d)
{
    struct sxs_heap_offsets *s = d->offsets;
    for (int64_t i = 0; i < d->count; i++) {
        uint64_t at = d->table - WORD - 16 * (uint64_t)(i + 1), size, offset;
        if (read_word(at, &size) || read_word(at + WORD, &offset))
            return -1;
        if (s->step) /* an array of references: the first is all there is to know */
            return d->count == 1 && s->step == WORD && size == 0 - (uint64_t)s->base
                       ? add_slot(s, offset)
                       : -1;
        size += s->base;
        if (size > s->base || offset > s->base - size)
            return -1;
        for (uint64_t k = 0; k < size; k += WORD)
            if (add_slot(s, offset + k) != 0)
                return -1;
    }
    return 0;
}

static int read_pattern(struct descriptor *d)
{
    struct sxs_heap_offsets *s = d->offsets;
    uint64_t                 at = d->table - 2 * WORD, offset, part, first;
    if (!s->step || read_word(at, &offset))
        return -1;
    first = offset;
    for (int64_t i = 0; i > d->count; i--) {
        at -= WORD;
        if (read_word(at, &part))
            return -1;
        for (uint32_t k = 0; k < (uint32_t)part; k++, offset += WORD)
            if (add_slot(s, offset) != 0)
                return -1;
        offset += part >> 32;
    }
    return offset == first + s->step ? 0 : -1;
}

struct sxs_heap_offsets *sxs_heap_offsets_read(ClassID cls)
{
    struct descriptor d = {.table = cls};
    uint64_t          head, count;
    int               err = -1;
    if (cls % WORD || read_word(cls, &head) || read_word(cls - WORD, &count))
        return NULL;
    d.count = (int64_t)count;
    d.offsets = calloc(1, sizeof(*d.offsets));
    if (d.offsets)
        d.offsets->of_slot = calloc(MAX_SLOTS, sizeof(*d.offsets->of_slot));
    if (d.offsets && d.offsets->of_slot) {
        d.offsets->base = (uint32_t)(head >> 32);
        d.offsets->step = (uint32_t)head & HAS_COMPONENTS ? (uint32_t)head & 0xffffu : 0;
        if (d.count > 0 && d.count < (int64_t)MAX_SERIES)
            err = read_series(&d);
        else if (d.count < 0 && d.count > -(int64_t)MAX_SERIES)
            err = read_pattern(&d);
    }
    if (err || !d.offsets->n) {
        sxs_heap_offsets_free(d.offsets);
        return NULL;
    }
    uint32_t *fitted = realloc(d.offsets->of_slot, d.offsets->n * sizeof(*fitted));
    if (fitted)
        d.offsets->of_slot = fitted;
    return d.offsets;
}

void sxs_heap_offsets_free(struct sxs_heap_offsets *offsets)
{
    if (offsets)
        free(offsets->of_slot);
    free(offsets);
}

/* ---- objects --------------------------------------------------------------------------------- */

int sxs_heap_offsets_fits(const struct sxs_heap_offsets *offsets, ClassID cls, uint64_t address,
                          uint64_t size, uint64_t *slots)
{
    uintptr_t table, length;
    SXS_GUARDED_LOAD(table, address, 0, gone);
    if ((table & ~MARKS) != cls)
        return 0;
    *slots = offsets->n;
    if (!offsets->step)
        return size == offsets->base;
    SXS_GUARDED_LOAD(length, address, 8, gone);
    length = (uint32_t)length;
    *slots = length * offsets->n;
    return size == offsets->base + length * offsets->step;
gone:
    return 0;
}

static int compare(const struct sxs_heap_offsets *s, uint64_t address, const uint64_t *refs,
                   size_t n, uint64_t *mask)
{
    size_t at = 0;
    *mask = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uintptr_t word;
        SXS_GUARDED_LOAD(word, address + s->of_slot[i], 0, gone);
        if (!word)
            continue;
        if (at == n || refs[at] != word)
            return 0;
        at++;
        *mask |= UINT64_C(1) << i;
    }
    return at == n;
gone:
    return 0;
}

int sxs_heap_offsets_mask(struct sxs_heap_offsets *offsets, uint64_t address, const uint64_t *refs,
                          size_t n, uint64_t *mask)
{
    if (!n || offsets->n > SXS_HEAP_MASK_SLOTS)
        return 0;
    for (uint8_t lead = 0; lead < 2; lead++) {
        if ((offsets->has_lead && lead != offsets->lead) ||
            !compare(offsets, address, refs + lead, n - lead, mask))
            continue;
        if (n > lead) { /* without a reference in a slot both may fit */
            offsets->has_lead = 1;
            offsets->lead = lead;
        }
        return n > lead;
    }
    return 0;
}

int sxs_heap_cursor_next(struct sxs_heap_cursor *c, uint64_t ref)
{
    const struct sxs_heap_offsets *s = c->offsets;
    for (; c->next < c->slots; c->next++, c->nulls++) {
        uint64_t  element = c->next / s->n;
        uintptr_t word;
        SXS_GUARDED_LOAD(word, c->address + s->of_slot[c->next % s->n] + element * s->step, 0,
                         gone);
        if (!word)
            continue;
        if (word != ref)
            return 0;
        c->next++;
        return 1;
    }
gone:
    return 0;
}

int sxs_heap_cursor_ended(struct sxs_heap_cursor *c)
{
    return !sxs_heap_cursor_next(c, 0) && c->next == c->slots;
}
