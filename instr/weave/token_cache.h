/* SPDX-License-Identifier: MIT */
/**
 * token_cache.h - a cache of tokens that were found or made in modules, because a runtime finds a
 * token by a linear search.
 *
 * The cache has 512 places; a new token replaces the one at its place. Any thread. Takes a lock of
 * its own, under which no runtime is called.
 */
#ifndef SXS_INSTR_WEAVE_TOKEN_CACHE_H
#define SXS_INSTR_WEAVE_TOKEN_CACHE_H

#include "manager/runtime.h"

/** What the bytes of a key are: a signature, or the name of a type of the core library. LINES: a
 *  digest of lines of IL. Its entry is no token: it says that every name in these lines exists and
 *  may be used by all methods of the module. */
enum sxs_token_kind { SXS_TOKEN_SIGNATURE = 1, SXS_TOKEN_TYPE, SXS_TOKEN_LINES };

struct sxs_token_key {
    sxs_module          module;
    enum sxs_token_kind kind;
    const void         *bytes;
    size_t              size; /* of bytes; keys of more than 96 bytes are not kept */
};

/** sxs_token_find - return the token, or 0 when it is not in the cache. */
uint32_t sxs_token_find(const struct sxs_token_key *key);

/** sxs_token_keep - put a token into the cache. @key->bytes are copied. */
void sxs_token_keep(const struct sxs_token_key *key, uint32_t token);

/** sxs_tokens_forget - remove the tokens of @module, which is unloaded, because another module may
 *  get its id. Id 0: of all modules of the runtime. */
void sxs_tokens_forget(sxs_module module);

#endif
