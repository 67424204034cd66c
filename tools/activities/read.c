/* SPDX-License-Identifier: MIT */
/* read.c - follows the references from the runtime's own thread to the current Activity and to its
 * ids. In signal handlers: guarded loads, no lock, no call of the runtime.
 *
 * While the runtime's threads run, no object moves. So the reader looks at the count of stops before
 * and after it has read, and gives up when the count has changed or is odd. */
#include "tools/activities/activities_internal.h"

#include <string.h>

#include "base/guarded.h"
#include "base/hash.h"
#include "base/safe_read.h"

#define POINTER     sizeof(uintptr_t)
#define LENGTH_AT   8u /* of a string and of an array: 32 bits */
#define CHARS_AT    12u
#define ITEMS_AT    16u
#define MAX_ENTRIES 256u
#define MAX_PARENTS 64u
#define MAX_TAGS    32u

struct look {
    struct sxs_activities *a;
    int                    reliable;
    int                    failed; /* 1: memory could not be read, or was not what was expected */
};

SXS_SIGSAFE int sxs_activities_bytes(int reliable, void *to, uintptr_t from, size_t size)
{
    return (reliable ? sxs_guarded_copy(to, from, size) : sxs_kernel_read(to, from, size)) == size;
}

SXS_SIGSAFE static int read_bytes(struct look *l, void *to, uintptr_t from, size_t size)
{
    if (l->failed || !from || !sxs_activities_bytes(l->reliable, to, from, size))
        l->failed = 1;
    return !l->failed;
}

SXS_SIGSAFE static uintptr_t read_word(struct look *l, uintptr_t from)
{
    uintptr_t word = 0;
    return read_bytes(l, &word, from, sizeof(word)) ? word : 0;
}

/* ---- classes --------------------------------------------------------------------------------- */

SXS_SIGSAFE static struct sxs_seen_class *find_class(struct sxs_activities *a, uintptr_t id)
{
    size_t at = (size_t)(sxs_hash_id(id) >> 32);
    for (size_t i = 0; i < SXS_SEEN_PROBES; i++) {
        struct sxs_seen_class *c = &a->seen[(at + i) % SXS_SEEN_CLASSES];
        uintptr_t              is = atomic_load_explicit(&c->id, memory_order_acquire);
        if (is == id || !is)
            return c;
    }
    return NULL;
}

/* Returns the shape of an object; NULL, and the look has failed, if its class is not known yet.
 * *wanted receives such a class. */
SXS_SIGSAFE static const struct sxs_shape *shape_of(struct look *l, uintptr_t object,
                                                    uintptr_t *wanted)
{
    uintptr_t              id = read_word(l, object);
    struct sxs_seen_class *c = l->failed ? NULL : find_class(l->a, id);
    if (c && atomic_load_explicit(&c->id, memory_order_relaxed) == id &&
        atomic_load_explicit(&c->known, memory_order_acquire))
        return &c->shape;
    *wanted = l->failed ? 0 : id;
    l->failed = 1;
    return NULL;
}

/* Asks learn.c for a class. The caller is sure that it is one. */
SXS_SIGSAFE static void want_class(struct sxs_activities *a, uintptr_t id)
{
    struct sxs_seen_class *c = find_class(a, id);
    uintptr_t              none = 0;
    if (c)
        atomic_compare_exchange_strong(&c->id, &none, id);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Reads a string of at most @max units; a longer one is cut. Returns its length. */
SXS_SIGSAFE static unsigned read_text(struct look *l, uintptr_t text, uint16_t *out, unsigned max)
{
    uint32_t n = 0;
    if (read_word(l, text) != l->a->string)
        l->failed = 1;
    read_bytes(l, &n, text + LENGTH_AT, sizeof(n));
    n = n < max ? n : max;
    if (n)
        read_bytes(l, out, text + CHARS_AT, n * sizeof(*out));
    return l->failed ? 0 : n;
}

SXS_SIGSAFE static int digit_of(uint16_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads an id of @size bytes, written as hexadecimal digits. */
SXS_SIGSAFE static void read_id(struct look *l, uintptr_t text, uint8_t *out, unsigned size)
{
    uint16_t digits[33];
    if (read_text(l, text, digits, 2 * size + 1) != 2 * size)
        l->failed = 1;
    for (unsigned i = 0; i < size && !l->failed; i++) {
        int high = digit_of(digits[2 * i]), low = digit_of(digits[2 * i + 1]);
        l->failed |= high < 0 || low < 0;
        out[i] = (uint8_t)(high * 16 + low);
    }
}

/* ---- the value of an AsyncLocal -------------------------------------------------------------- */

SXS_SIGSAFE static uintptr_t find_in_array(struct look *l, uintptr_t array, uint32_t stride,
                                           uintptr_t key)
{
    uint32_t  n = 0;
    uintptr_t pair[2] = {0, 0};
    if (!array)
        return 0;
    read_bytes(l, &n, array + LENGTH_AT, sizeof(n));
    l->failed |= n > MAX_ENTRIES;
    for (uint32_t i = 0; i < n && !l->failed; i++)
        if (read_bytes(l, pair, array + ITEMS_AT + (uintptr_t)i * stride, sizeof(pair)) &&
            pair[0] == key)
            return pair[1];
    return 0;
}

SXS_SIGSAFE static uintptr_t find_value(struct look *l, uintptr_t map, uintptr_t key,
                                        uintptr_t *wanted)
{
    const struct sxs_shape *shape = shape_of(l, map, wanted);
    if (!shape)
        return 0;
    if (shape->kind == SXS_SHAPE_ARRAY)
        return find_in_array(l, read_word(l, map + shape->array.array), shape->array.stride, key);
    if (shape->kind == SXS_SHAPE_PAIRS) {
        for (unsigned i = 0; i < shape->pairs.n; i++)
            if (read_word(l, map + shape->pairs.key[i]) == key)
                return read_word(l, map + shape->pairs.value[i]);
    } else if (shape->kind != SXS_SHAPE_EMPTY) {
        l->failed = 1;
    }
    return 0;
}

/* Returns the thread's Activity; 0: none, or the look has failed. Follows the runtime's thread,
 * Thread, ExecutionContext, the map of values. */
SXS_SIGSAFE static uintptr_t find_activity(struct look *l, uintptr_t native, uintptr_t *wanted)
{
    const struct sxs_activities *a = l->a;
    uintptr_t key = read_word(l, a->key_at), handle = read_word(l, native + a->handle_at);
    uintptr_t thread = handle ? read_word(l, handle) : 0, context, map;
    if (l->failed || !key || !thread)
        return 0; /* nothing has ever been current, in the process or on this thread */
    if (read_word(l, thread) != a->thread || read_word(l, thread + a->native_at) != native)
        l->failed = 1;
    context = read_word(l, thread + a->context_at);
    if (l->failed || !context)
        return 0;
    if (read_word(l, context) != a->context)
        l->failed = 1;
    map = read_word(l, context + a->values_at);
    return map && !l->failed ? find_value(l, map, key, wanted) : 0;
}

/* ---- the name of the endpoint ---------------------------------------------------------------- */

SXS_SIGSAFE static int is_text(struct look *l, uintptr_t text, const char *expected, unsigned n)
{
    uint16_t units[16];
    if (read_text(l, text, units, n + 1) != n)
        return 0;
    for (unsigned i = 0; i < n; i++)
        if (units[i] != (uint16_t)expected[i])
            return 0;
    return 1;
}

/* Reads the tag "http.route", else "url.path". Returns the length; 0: there is neither. */
SXS_SIGSAFE static unsigned read_route(struct look *l, uintptr_t tags,
                                       struct sxs_activity_text *out, uintptr_t *wanted)
{
    const struct sxs_shape *shape = shape_of(l, tags, wanted);
    uintptr_t               tag, path = 0;
    if (!shape || shape->kind != SXS_SHAPE_TAGS)
        return 0;
    tag = read_word(l, tags + shape->tags_first);
    for (unsigned i = 0; i < MAX_TAGS && tag && !l->failed; i++) {
        uintptr_t key, value;
        shape = shape_of(l, tag, wanted);
        if (!shape || shape->kind != SXS_SHAPE_TAG)
            return 0;
        key = read_word(l, tag + shape->tag.key);
        value = read_word(l, tag + shape->tag.value);
        if (value && is_text(l, key, "http.route", 10))
            return out->n = read_text(l, value, out->units, SXS_ACTIVITY_UNITS);
        if (value && is_text(l, key, "url.path", 8))
            path = value;
        tag = read_word(l, tag + shape->tag.next);
    }
    return out->n = path ? read_text(l, path, out->units, SXS_ACTIVITY_UNITS) : 0;
}

/* Reads the name of the oldest activity above @activity in this process. A name that cannot be read
 * is left out. */
SXS_SIGSAFE static void read_endpoint(const struct look *like, uintptr_t activity,
                                      struct sxs_activity_text *out, uintptr_t *wanted)
{
    struct look             l = *like;
    const struct sxs_shape *shape;
    uintptr_t               parent = activity, text;
    out->n = 0;
    for (unsigned i = 0; parent && i < MAX_PARENTS; i++) {
        activity = parent;
        shape = shape_of(&l, activity, wanted);
        if (!shape || shape->kind != SXS_SHAPE_ACTIVITY)
            return;
        parent = shape->activity.parent ? read_word(&l, activity + shape->activity.parent) : 0;
    }
    text = shape->activity.tags ? read_word(&l, activity + shape->activity.tags) : 0;
    if (text && read_route(&l, text, out, wanted))
        return;
    l.failed = 0;
    text = shape->activity.display ? read_word(&l, activity + shape->activity.display) : 0;
    if (!text && shape->activity.operation)
        text = read_word(&l, activity + shape->activity.operation);
    if (text)
        out->n = read_text(&l, text, out->units, SXS_ACTIVITY_UNITS);
}

/* ---- all of it ------------------------------------------------------------------------------- */

SXS_SIGSAFE static enum sxs_found read_activity(struct look *l, uintptr_t native,
                                                struct sxs_sample_context *out,
                                                struct sxs_activity_text  *endpoint,
                                                uintptr_t                 *wanted)
{
    uintptr_t               activity = find_activity(l, native, wanted), trace, span;
    const struct sxs_shape *shape = activity ? shape_of(l, activity, wanted) : NULL;
    if (l->failed)
        return SXS_FOUND_UNKNOWN;
    if (!activity)
        return SXS_FOUND_NONE;
    if (shape->kind != SXS_SHAPE_ACTIVITY)
        return SXS_FOUND_UNKNOWN;
    trace = read_word(l, activity + shape->activity.trace);
    span = read_word(l, activity + shape->activity.span);
    if (!l->failed && (!trace || !span))
        return SXS_FOUND_NONE; /* ids of another format than that of W3C */
    read_id(l, trace, out->trace, sizeof(out->trace));
    read_id(l, span, out->span, sizeof(out->span));
    if (l->failed)
        return SXS_FOUND_UNKNOWN;
    read_endpoint(l, activity, endpoint, wanted);
    return SXS_FOUND_ONE;
}

SXS_SIGSAFE enum sxs_found sxs_activities_read(struct sxs_activities *a, uintptr_t native,
                                               struct sxs_sample_context *out,
                                               struct sxs_activity_text  *endpoint)
{
    struct look    l = {.a = a, .reliable = sxs_guarded_reliable()};
    uint32_t       stops = atomic_load_explicit(&a->stops, memory_order_acquire);
    uintptr_t      wanted = 0;
    enum sxs_found found;
    if (stops & 1)
        return SXS_FOUND_UNKNOWN;
    found = read_activity(&l, native, out, endpoint, &wanted);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&a->stops, memory_order_relaxed) != stops)
        return SXS_FOUND_UNKNOWN;
    if (wanted)
        want_class(a, wanted);
    return found;
}
