/* SPDX-License-Identifier: MIT */
/**
 * token_cache.h - tokens that modules were found to have, or were given: a runtime looks for them
 * one by one.
 *
 * A few hundred places, of which the latest keeps each. Any thread; a lock inside, under which no
 * runtime is called.
 */
#ifndef SXS_REWRITE_TOKEN_CACHE_H
#define SXS_REWRITE_TOKEN_CACHE_H

#include "manager/runtime.h"

/** What a token stands for: bytes of a signature, or the name of a type of the core library. LINES: not a
 *  token, but that lines of IL (a digest of them) name what there is, for all of the module to use. */
enum sxs_token_kind { SXS_TOKEN_SIGNATURE = 1, SXS_TOKEN_TYPE, SXS_TOKEN_LINES };

struct sxs_token_key {
    sxs_module          module;
    enum sxs_token_kind kind;
    const void         *bytes;
    size_t              size; /* larger ones are not kept */
};

/** The token, or 0: not known. */
uint32_t sxs_token_known(const struct sxs_token_key *key);

void sxs_token_keep(const struct sxs_token_key *key, uint32_t token);

/** sxs_tokens_forget - the module is unloaded (id 0: all of the runtime's): its id may be another's
 *  soon. */
void sxs_tokens_forget(sxs_module module);

#endif
