/* SPDX-License-Identifier: MIT */
/* activities_endpoint.c - numbers for the names of endpoints. Signal handlers add names: a table of hashes
 * without a lock, which base/index.h is not. */
#include "sampling/activities_internal.h"

#include <string.h>

#include "base/hash.h"
#include "base/mask.h"
#include "base/session_state.h"
#include "base/text/utf8.h"
#include "sampling/cost.h"

#define MAX_ENDPOINTS 4096u
#define N_SLOTS       (2 * MAX_ENDPOINTS)
#define PROBES        32u
#define WRITING       UINT32_MAX

static struct {
    _Atomic uint64_t hash;   /* of runtime and text; 0: free */
    _Atomic uint32_t number; /* 0: there was no room for it yet; WRITING */
} slots[N_SLOTS];
static _Atomic uint32_t n_endpoints;
SXS_SESSION_RESETS(slots);
SXS_SESSION_RESETS(n_endpoints);

SXS_SIGSAFE static uint64_t hash_text(unsigned runtime, const struct sxs_activity_text *text)
{
    uint64_t hash = SXS_HASH_START ^ runtime;
    for (unsigned i = 0; i < text->n; i++)
        hash = sxs_hash_add(hash, text->units[i]);
    hash = sxs_hash_id(hash);
    return hash ? hash : 1;
}

/* Writes the text as UTF-8 to @out, or only counts its bytes if @out is NULL. A control character
 * becomes a blank. */
SXS_SIGSAFE static size_t put_utf8(char *out, const struct sxs_activity_text *text)
{
    size_t size = 0, at = 0;
    char   bytes[4];
    while (at < text->n) {
        uint32_t c = sxs_utf16_next(text->units, text->n, &at);
        size_t   n = sxs_utf8_put(bytes, sxs_is_control(c) ? ' ' : c);
        if (out)
            memcpy(out + size, bytes, n);
        size += n;
    }
    return size;
}

SXS_SIGSAFE static uint32_t write_name(const struct sxs_activities    *a,
                                       const struct sxs_activity_text *text)
{
    size_t                  size = put_utf8(NULL, text);
    uint32_t                number = sxs_recorder_name_number();
    struct sxs_record_name *r = number ? sxs_samples_reserve(a->writer, sizeof(*r) + size) : NULL;
    if (!r)
        return 0;
    r->number = number;
    r->runtime = (uint16_t)a->number;
    r->size = (uint16_t)size;
    put_utf8(r->text, text);
    sxs_samples_commit(r, SXS_RECORD_NAME);
    return number;
}

/* Returns the number in a slot, which is tried to be written if it is not yet. */
SXS_SIGSAFE static uint32_t number_in(_Atomic uint32_t *slot, const struct sxs_activities *a,
                                      const struct sxs_activity_text *text)
{
    uint32_t number = 0;
    if (atomic_compare_exchange_strong(slot, &number, WRITING)) {
        number = write_name(a, text);
        atomic_store_explicit(slot, number, memory_order_release);
    }
    return number == WRITING ? 0 : number; /* the next sample will find it */
}

SXS_SIGSAFE uint32_t sxs_activities_endpoint(const struct sxs_activities    *a,
                                             const struct sxs_activity_text *text)
{
    uint64_t hash;
    if (sxs_mask())
        return 0;
    hash = hash_text(a->number, text);
    for (unsigned i = 0; i < PROBES; i++) {
        size_t   at = (size_t)(hash + i) % N_SLOTS;
        uint64_t is = atomic_load_explicit(&slots[at].hash, memory_order_acquire);
        if (is == hash)
            return number_in(&slots[at].number, a, text);
        if (is)
            continue;
        if (atomic_load(&n_endpoints) >= MAX_ENDPOINTS)
            return 0;
        if (!atomic_compare_exchange_strong(&slots[at].hash, &is, hash))
            return 0; /* another thread adds a name there: the next sample will find it */
        atomic_fetch_add(&n_endpoints, 1);
        return number_in(&slots[at].number, a, text);
    }
    return 0;
}
