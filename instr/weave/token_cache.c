/* SPDX-License-Identifier: MIT */
#include "instr/weave/token_cache.h"

#include <pthread.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/session_state.h"

#define N_PLACES 512u
#define SIZE     96u

struct cached_token {
    sxs_module module;
    uint32_t   token; /* 0: empty */
    uint16_t   kind, size;
    uint8_t    bytes[SIZE];
};

static struct cached_token places[N_PLACES]; /* guarded by lock */
static pthread_mutex_t     lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);
SXS_SESSION_KEEPS(places); /* sxs_tokens_forget() empties it */
SXS_SESSION_KEEPS(lock);

static struct cached_token *place_of(const struct sxs_token_key *key)
{
    const uint8_t *bytes = key->bytes;
    uint64_t       h = (uint64_t)key->module.id ^ (uint64_t)key->kind << 60;
    for (size_t i = 0; i < key->size; i++)
        h = sxs_hash_add(h, bytes[i]);
    return &places[(h ^ h >> 32) % N_PLACES];
}

static int is_of(const struct cached_token *p, const struct sxs_token_key *key)
{
    return p->token && p->module.rt == key->module.rt && p->module.id == key->module.id &&
           p->kind == key->kind && p->size == key->size &&
           memcmp(p->bytes, key->bytes, key->size) == 0;
}

uint32_t sxs_token_find(const struct sxs_token_key *key)
{
    struct cached_token *p;
    uint32_t             token = 0;
    if (key->size > SIZE)
        return 0;
    p = place_of(key);
    pthread_mutex_lock(&lock);
    if (is_of(p, key))
        token = p->token;
    pthread_mutex_unlock(&lock);
    return token;
}

void sxs_token_keep(const struct sxs_token_key *key, uint32_t token)
{
    struct cached_token *p;
    if (key->size > SIZE)
        return;
    p = place_of(key);
    pthread_mutex_lock(&lock);
    p->module = key->module;
    p->token = token;
    p->kind = (uint16_t)key->kind;
    p->size = (uint16_t)key->size;
    memcpy(p->bytes, key->bytes, key->size);
    pthread_mutex_unlock(&lock);
}

void sxs_tokens_forget(sxs_module module)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < N_PLACES; i++)
        if (places[i].module.rt == module.rt &&
            (!module.id || places[i].module.id == module.id))
            places[i].token = 0;
    pthread_mutex_unlock(&lock);
}
