/* SPDX-License-Identifier: MIT */
/**
 * stackwalk/fast/rule_cache.h - a cache of unwind rules by address, shared by all threads.
 *
 * Most frames were seen before, so their rules are cached. The cache is direct-mapped. An entry
 * is two words: the rule, and the rule xor its key. A reader that sees the words of two
 * different writers computes a key that does not match and treats the entry as a miss. No
 * waiting, no locks. */
#ifndef SXS_STACKWALK_FAST_RULE_CACHE_H
#define SXS_STACKWALK_FAST_RULE_CACHE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "base/hash.h"
#include "stackwalk/fast/rule.h"

#define SXS_RULE_CACHE_BITS 13u /* 8,192 entries, 128 KB */

struct sxs_rule_cache {
    struct {
        _Atomic uint64_t rule, check;
    } at[1u << SXS_RULE_CACHE_BITS];
};

SXS_SIGSAFE static inline uint32_t sxs_rule_cache_slot(uint64_t key)
{
    return (uint32_t)(sxs_hash_id(key) >> (64 - SXS_RULE_CACHE_BITS));
}

/**
 * sxs_rule_cache_word - look up the rule of @key; *@word receives the rule as the word stored in
 * memory.
 * Returns 1 if @key is cached, else 0. @key must not be 0. Signal-safe. */
SXS_SIGSAFE static inline int sxs_rule_cache_word(struct sxs_rule_cache *cache, uint64_t key,
                                                  uint64_t *word)
{
    uint32_t slot = sxs_rule_cache_slot(key);
    *word = atomic_load_explicit(&cache->at[slot].rule, memory_order_relaxed);
    return (*word ^ atomic_load_explicit(&cache->at[slot].check, memory_order_relaxed)) == key;
}

/** sxs_rule_cache_get - as sxs_rule_cache_word(), but fills a struct sxs_unwind_rule. */
SXS_SIGSAFE static inline int sxs_rule_cache_get(struct sxs_rule_cache *cache, uint64_t key,
                                                 struct sxs_unwind_rule *rule)
{
    uint64_t word;
    int      is_there = sxs_rule_cache_word(cache, key, &word);
    memcpy(rule, &word, sizeof(word));
    return is_there;
}

/**
 * sxs_rule_cache_put - store the rule of @key. Replaces the entry that used the same slot.
 * Signal-safe. */
SXS_SIGSAFE static inline void sxs_rule_cache_put(struct sxs_rule_cache *cache, uint64_t key,
                                                  const struct sxs_unwind_rule *rule)
{
    uint32_t slot = sxs_rule_cache_slot(key);
    uint64_t bits;
    memcpy(&bits, rule, sizeof(bits));
    atomic_store_explicit(&cache->at[slot].rule, bits, memory_order_relaxed);
    atomic_store_explicit(&cache->at[slot].check, bits ^ key, memory_order_relaxed);
}

#endif
