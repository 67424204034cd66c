/* SPDX-License-Identifier: MIT */
/* sampling/cost_names.c - the texts that costs refer to. The table has pointers into the mapped
 * file, where the texts are. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/session_state.h"
#include "sampling/cost.h"
#include "sampling/costs.h"

#define MAX_NAMES 65536u
#define MAX_TEXT  4096u

static struct {
    pthread_mutex_t                lock;    /* guards all members */
    const struct sxs_record_name **records; /* owned array */
    size_t                         n, room;
    struct sxs_index               index; /* of the records, by runtime and text */
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(names.lock);
static _Atomic uint32_t n_numbers;
SXS_SESSION_RESETS(names);
SXS_SESSION_RESETS(n_numbers);

static uint32_t hash_text(unsigned runtime, const char *text, size_t size)
{
    uint64_t hash = SXS_HASH_START ^ runtime;
    for (size_t i = 0; i < size; i++)
        hash = sxs_hash_add(hash, (unsigned char)text[i]);
    return (uint32_t)(hash ^ hash >> 32);
}

/* Returns a size of at most MAX_TEXT that does not end within a character. */
static size_t cut_text(const char *text, size_t size)
{
    if (size <= MAX_TEXT)
        return size;
    size = MAX_TEXT;
    while (size && ((unsigned char)text[size] & 0xc0) == 0x80)
        size--;
    return size;
}

static int is_name(const struct sxs_record_name *name, unsigned runtime, const char *text,
                   size_t size)
{
    return name->runtime == runtime && name->size == size && memcmp(name->text, text, size) == 0;
}

SXS_SIGSAFE uint32_t sxs_recorder_name_number(void)
{
    uint32_t n = atomic_load(&n_numbers);
    while (n < MAX_NAMES && !atomic_compare_exchange_weak(&n_numbers, &n, n + 1)) {
    }
    return n < MAX_NAMES ? n + 1 : 0;
}

/* Returns the new record, or NULL when there is no room. */
static const struct sxs_record_name *write_name(uint32_t number, unsigned runtime, const char *text,
                                                size_t size)
{
    struct sxs_samples_writer *w = sxs_costs_writer();
    struct sxs_record_name    *r = w ? sxs_samples_reserve(w, sizeof(*r) + size) : NULL;
    if (!r)
        return NULL;
    r->number = number;
    r->runtime = (uint16_t)runtime;
    r->size = (uint16_t)size;
    memcpy(r->text, text, size);
    sxs_samples_commit(r, SXS_RECORD_NAME);
    return r;
}

void sxs_recorder_name_as(uint32_t number, unsigned runtime, const char *text, size_t size)
{
    if (number)
        write_name(number, runtime, text, cut_text(text, size));
}

/* Makes room for one more name. Returns 0 or -ENOMEM. */
static int reserve_locked(void)
{
    if (names.n == names.room) {
        size_t                         room = names.room ? 2 * names.room : 256;
        const struct sxs_record_name **more = reallocarray(names.records, room, sizeof(*more));
        if (!more)
            return -ENOMEM;
        names.records = more;
        names.room = room;
    }
    return sxs_index_reserve(&names.index);
}

/* Returns the number of a name, whose record is written if there is none yet; 0: there is no room. */
static uint32_t find_or_add_locked(unsigned runtime, const char *text, size_t size)
{
    const struct sxs_record_name *r;
    uint32_t                      hash = hash_text(runtime, text, size), known, number;
    size_t                        at = hash;
    if (reserve_locked() != 0)
        return 0;
    for (; (known = sxs_index_next(&names.index, hash, &at)) != 0; at++)
        if (is_name(names.records[known - 1], runtime, text, size))
            return names.records[known - 1]->number;
    number = sxs_recorder_name_number();
    r = number ? write_name(number, runtime, text, size) : NULL;
    if (!r)
        return 0;
    sxs_index_put(&names.index, at, hash, names.n);
    names.records[names.n++] = r;
    return number;
}

uint32_t sxs_recorder_name(unsigned runtime, const char *text, size_t size)
{
    uint32_t number;
    size = cut_text(text, size);
    pthread_mutex_lock(&names.lock);
    number = sxs_costs_writer() ? find_or_add_locked(runtime, text, size) : 0;
    pthread_mutex_unlock(&names.lock);
    return number;
}

void sxs_costs_forget_names(void)
{
    pthread_mutex_lock(&names.lock);
    sxs_index_free(&names.index);
    free(names.records);
    names.records = NULL;
    names.n = names.room = 0;
    pthread_mutex_unlock(&names.lock);
}
