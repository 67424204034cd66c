/* SPDX-License-Identifier: MIT */
/* sampling/cost_names.c - the texts that costs refer to. The table has pointers into the mapped
 * file, where the texts are. */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fork.h"
#include "base/session_state.h"
#include "sampling/cost.h"
#include "sampling/costs.h"

#define MAX_NAMES 65536u
#define N_SLOTS   (2 * MAX_NAMES)
#define MAX_TEXT  4096u

static struct {
    pthread_mutex_t               lock; /* guards all members */
    const struct sxs_record_name *slots[N_SLOTS];
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};
SXS_FORK_RESETS(names.lock);
static _Atomic uint32_t n_numbers;
SXS_SESSION_RESETS(names);
SXS_SESSION_RESETS(n_numbers);

static uint32_t hash_text(unsigned runtime, const char *text, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ runtime;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
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

/* Writes the record of a new name into @slot. Returns its number, or 0 when there is no room. */
static uint32_t add_name_locked(const struct sxs_record_name **slot, unsigned runtime,
                                const char *text, size_t size)
{
    uint32_t                      number = sxs_recorder_name_number();
    const struct sxs_record_name *r = number ? write_name(number, runtime, text, size) : NULL;
    *slot = r;
    return r ? number : 0;
}

static uint32_t find_or_add_locked(unsigned runtime, const char *text, size_t size)
{
    uint32_t at = hash_text(runtime, text, size) % N_SLOTS;
    while (names.slots[at] && !is_name(names.slots[at], runtime, text, size))
        at = (at + 1) % N_SLOTS;
    if (names.slots[at])
        return names.slots[at]->number;
    return add_name_locked(&names.slots[at], runtime, text, size);
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
