/* SPDX-License-Identifier: MIT */
#include "tools/events_file/names.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/session_state.h"
#include "manager/watch.h"
#include "tools/events_file/events_file.h"
#include "tools/events_file/seen_set.h"
#include "symbols/names.h"

enum { OF_CLASS, OF_FUNCTION };

/* ---- IDs -------------------------------------------------------------------------------------- */

#define SLOT_BITS 14u
#define SLOTS     (1u << SLOT_BITS) /* 512 KiB, touched as needed */

/* A slot of the cache, a sequence lock without waiting: a thread that finds @turn odd (a write is
 * in progress) or changed does not use the slot. */
struct slot {
    _Atomic uint32_t turn;
    _Atomic uint32_t number;
    _Atomic uint64_t id;
    _Atomic uint64_t owner; /* runtime, kind and generation; 0: empty */
};

/* A slot of an earlier session is invalid, too, because `generation` has changed. */
static struct slot      slots[SLOTS];
static _Atomic uint32_t generation = 1; /* incremented by each unload: older slots are invalid */
SXS_SESSION_KEEPS(slots);
SXS_SESSION_KEEPS(generation);

static uint64_t owner_of(unsigned runtime, int kind, uint32_t now)
{
    return (uint64_t)now << 32 | (uint64_t)runtime << 1 | (uint64_t)kind;
}

static struct slot *slot_of(uint64_t id, unsigned runtime)
{
    return &slots[sxs_hash_id((id >> 3) + runtime) >> (64 - SLOT_BITS)];
}

static uint32_t find_name(const struct slot *s, uint64_t id, uint64_t owner)
{
    uint32_t turn = atomic_load_explicit(&s->turn, memory_order_acquire);
    uint64_t its_id = atomic_load(&s->id), its_owner = atomic_load(&s->owner);
    uint32_t number = atomic_load(&s->number);
    return !(turn & 1) && its_id == id && its_owner == owner && atomic_load(&s->turn) == turn ? number
                                                                                              : 0;
}

static void keep_name(struct slot *s, uint64_t id, uint64_t owner, uint32_t number)
{
    uint32_t turn = atomic_load(&s->turn);
    if ((turn & 1) || !atomic_compare_exchange_strong(&s->turn, &turn, turn + 1))
        return; /* another thread writes; the next lookup of @id names it again */
    atomic_store(&s->id, id);
    atomic_store(&s->owner, owner);
    atomic_store(&s->number, number);
    atomic_store(&s->turn, turn + 2);
}

void sxs_names_unloading(void)
{
    atomic_fetch_add(&generation, 1);
}

/* ---- texts ------------------------------------------------------------------------------------ */

static struct sxs_seen_set texts; /* keys: runtime and two 64-bit hashes; the text is in the file */
SXS_SESSION_KEEPS(texts); /* sxs_names_forget() empties it */

/* ---- names that are waited for ----------------------------------------------------------------- */

/* Classes whose exceptions a condition waits for. Further ones are not reported. */
static struct watched_name {
    _Atomic uint32_t is_taken;
    _Atomic uint32_t number; /* of the name; 0: not complete yet */
    char             text[SXS_WATCH_TYPE];
} watched[32];
SXS_SESSION_KEEPS(watched); /* sxs_names_forget() empties it */

const char *sxs_names_watched(uint32_t number)
{
    for (size_t i = 0; number && i < ARRAY_LEN(watched); i++) {
        if (!atomic_load_explicit(&watched[i].is_taken, memory_order_relaxed))
            return NULL;
        if (atomic_load_explicit(&watched[i].number, memory_order_acquire) == number)
            return watched[i].text;
    }
    return NULL;
}

static void watch_name(uint32_t number, const char *text)
{
    if (!sxs_watch_type(text) || sxs_names_watched(number))
        return;
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        uint32_t none = 0;
        if (!atomic_compare_exchange_strong(&watched[i].is_taken, &none, 1))
            continue;
        snprintf(watched[i].text, sizeof(watched[i].text), "%.*s", (int)sizeof(watched[i].text) - 1,
                 text);
        atomic_store_explicit(&watched[i].number, number, memory_order_release);
        return;
    }
}

void sxs_names_forget(void)
{
    for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
        atomic_store(&watched[i].number, 0);
        atomic_store(&watched[i].is_taken, 0);
    }
    sxs_names_unloading();
    sxs_seen_set_clear(&texts);
}

uint32_t sxs_names_intern(unsigned runtime, const char *text, sxs_name_writer *write,
                          const struct sxs_runtime *rt)
{
    struct sxs_seen_key     key = {runtime, sxs_hash_text(SXS_HASH_START, text),
                                   sxs_hash_text_other(text)};
    struct sxs_seen_entry  *e;
    uint32_t                number;
    e = sxs_seen_set_find(&texts, &key);
    if (e)
        return e->number;
    if (sxs_seen_set_is_full(&texts))
        return 0; /* else every further exception would write its name again */
    number = write(rt, text);
    if (number)
        sxs_seen_set_add(&texts, &key, number, NULL);
    return number;
}

/* Returns the number of the name of an ID, or 0. Makes a namer for each call instead of sharing one
 * under a lock: a thread that waits for the lock could block a collection for which the thread that
 * holds the lock waits. */
static uint32_t number_of(struct sxs_runtime *rt, uint64_t id, int kind)
{
    unsigned          runtime = sxs_runtime_number(rt);
    uint64_t          owner = owner_of(runtime, kind, atomic_load(&generation)); /* before naming */
    struct slot      *slot = slot_of(id, runtime);
    uint32_t          number = find_name(slot, id, owner);
    struct sxs_namer *namer;
    char              text[1024];
    if (number)
        return number;
    namer = sxs_namer_new();
    if (!namer)
        return 0;
    if (kind == OF_CLASS)
        sxs_namer_class(namer, (sxs_class){rt, id}, text, sizeof(text));
    else
        sxs_namer_function(namer, (sxs_function){rt, id}, text, sizeof(text));
    sxs_namer_free(namer);
    number = sxs_names_intern(runtime, text, sxs_events_add_name, rt);
    if (number && kind == OF_CLASS)
        watch_name(number, text);
    if (number)
        keep_name(slot, id, owner, number);
    return number;
}

uint32_t sxs_names_class(sxs_class cls)
{
    return number_of(cls.rt, cls.id, OF_CLASS);
}

uint32_t sxs_names_function(sxs_function fn)
{
    return number_of(fn.rt, fn.id, OF_FUNCTION);
}
