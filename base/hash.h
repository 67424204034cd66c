/* SPDX-License-Identifier: MIT */
/** base/hash.h - hash values of texts and IDs, for the library's hash tables. They
 * do not protect against deliberate collisions; in the command, cmd/output/table_hash.h does. */
#ifndef SXS_BASE_HASH_H
#define SXS_BASE_HASH_H

#include <stdint.h>

#include "base/base.h"

/** The value to start with (FNV-1a). */
#define SXS_HASH_START UINT64_C(0xcbf29ce484222325)

/** sxs_hash_add - return @hash, extended by @value: a byte, or another hash value. Any thread;
 *  signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_hash_add(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x100000001b3);
}

/** sxs_hash_text - return @hash, extended by the bytes of @text. Any thread; signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++)
        hash = sxs_hash_add(hash, (unsigned char)*text);
    return hash;
}

/** sxs_hash_text_other - return a second hash value of @text, by another function. Two texts that have the same value of
 *  this function and the same value of sxs_hash_text() are taken for the same text. Any thread; signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_hash_text_other(const char *text)
{
    uint64_t hash = 1;
    for (; *text; text++) {
        hash = (hash + (unsigned char)*text) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

/** sxs_hash_id - return the hash value of a runtime's ID, an address or a small number. Use its high
 *  bits: they depend on all bits of @id. Any thread; signal-safe. */
SXS_SIGSAFE static inline uint64_t sxs_hash_id(uint64_t id)
{
    return id * UINT64_C(0x9e3779b97f4a7c15);
}

#endif
