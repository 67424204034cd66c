/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/cfi_cursor.h - private to cfi.c: reads numbers from .eh_frame and never beyond
 * its end. Signal-safe. */
#ifndef SXS_STACKWALK_FAST_CFI_CURSOR_H
#define SXS_STACKWALK_FAST_CFI_CURSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"

struct cfi_cursor {
    const uint8_t *at, *end;
    int            failed; /* sticky: after the first failure all reads return 0 */
};

SXS_SIGSAFE static inline uint64_t read_fixed(struct cfi_cursor *c, size_t size)
{
    uint64_t v = 0;
    if (c->failed || (size_t)(c->end - c->at) < size)
        return c->failed = 1, 0;
    memcpy(&v, c->at, size);
    c->at += size;
    return v;
}

SXS_SIGSAFE static inline uint8_t read_byte(struct cfi_cursor *c)
{
    if (c->failed || c->at == c->end)
        return c->failed = 1, 0;
    return *c->at++;
}

SXS_SIGSAFE static inline uint64_t read_uleb(struct cfi_cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    for (;;) {
        uint8_t b = read_byte(c);
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
        if (!(b & 0x80) || c->failed)
            return v;
    }
}

SXS_SIGSAFE static inline int64_t read_sleb(struct cfi_cursor *c)
{
    uint64_t v = 0;
    unsigned shift = 0;
    for (;;) {
        uint8_t b = read_byte(c);
        if (shift < 64)
            v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
        if (!(b & 0x80) || c->failed) {
            if (shift < 64 && (b & 0x40))
                v |= ~UINT64_C(0) << shift;
            return (int64_t)v;
        }
    }
}

/* Returns a cursor over the next @size bytes of @c and advances @c past them. */
SXS_SIGSAFE static inline struct cfi_cursor read_block(struct cfi_cursor *c, uint64_t size)
{
    struct cfi_cursor part = {c->at, c->at, 1};
    if (c->failed || size > (uint64_t)(c->end - c->at)) {
        c->failed = 1;
        return part;
    }
    part = (struct cfi_cursor){c->at, c->at + size, 0};
    c->at += size;
    return part;
}

enum { PE_OMIT = 0xff, PE_PCREL = 0x10 };

/* Reads a pointer in encoding @how (DW_EH_PE_*), which lies at @place in the process. Only absolute
 * and pc-relative bases are supported: others do not occur in .eh_frame's code ranges. */
SXS_SIGSAFE static inline uintptr_t read_encoded(struct cfi_cursor *c, uint8_t how, uintptr_t place)
{
    uintptr_t base = 0, v;
    if ((how & 0x70) == PE_PCREL)
        base = place;
    else if (how & 0x70)
        c->failed = 1;
    switch (how & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c: v = read_fixed(c, 8); break;
    case 0x01: v = read_uleb(c); break;
    case 0x02: v = read_fixed(c, 2); break;
    case 0x03: v = read_fixed(c, 4); break;
    case 0x09: v = (uintptr_t)read_sleb(c); break;
    case 0x0a: v = (uintptr_t)(int16_t)read_fixed(c, 2); break;
    case 0x0b: v = (uintptr_t)(int32_t)read_fixed(c, 4); break;
    default: c->failed = 1; return 0;
    }
    return base + v;
}

#endif
