/* SPDX-License-Identifier: MIT */
/** payload.h - reads the data of a runtime's event: values that follow one another without padding,
 *  little-endian, as this machine has them. */
#ifndef SXS_BASE_PAYLOAD_H
#define SXS_BASE_PAYLOAD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** What is left of the data. Zeroed: none. */
struct sxs_payload {
    const unsigned char *at; /* borrowed */
    size_t               left;
    int                  is_cut; /* 1: a value was asked for that is not there */
};

/** sxs_payload_take - return the next value, of @size bytes: 1 to 8. If it is not there, 0, and so are
 *  all that follow. */
static inline uint64_t sxs_payload_take(struct sxs_payload *p, size_t size)
{
    uint64_t value = 0;
    if (p->left < size) {
        p->is_cut = 1;
        p->left = 0;
        return 0;
    }
    memcpy(&value, p->at, size);
    p->at += size;
    p->left -= size;
    return value;
}

/** sxs_payload_skip - leave out @size bytes. */
static inline void sxs_payload_skip(struct sxs_payload *p, size_t size)
{
    if (p->left < size) {
        p->is_cut = 1;
        p->left = 0;
        return;
    }
    p->at += size;
    p->left -= size;
}

#endif
