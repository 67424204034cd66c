/* SPDX-License-Identifier: MIT */
/* activities_read.c - follows the references from the runtime's own thread to the current Activity and to its
 * ids. In signal handlers: guarded loads, no lock, no call of the runtime.
 *
 * While the runtime's threads run, no object moves. So the reader looks at the count of stops
 * before and after it has read, and gives up when it has changed or a stop is not over. */
#include "sampling/activities_internal.h"

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
#define OWN_PARENTS 16u /* of which one may be that of a request */
#define MAX_TAGS    32u

#define MAX_WANTED 4u

struct activity_look {
    struct sxs_activities *a;
    int                    reliable;
    int                    failed; /* 1: memory could not be read, or was not what was expected */
    /* Classes that activities_learn.c should look at, if the runtime was not stopped meanwhile. */
    unsigned  n_wanted;
    uintptr_t wanted[MAX_WANTED];
};

SXS_SIGSAFE int sxs_activities_bytes(int reliable, void *to, uintptr_t from, size_t size)
{
    return (reliable ? sxs_guarded_copy(to, from, size) : sxs_kernel_read(to, from, size)) == size;
}

SXS_SIGSAFE static int read_bytes(struct activity_look *l, void *to, uintptr_t from, size_t size)
{
    if (l->failed || !from || !sxs_activities_bytes(l->reliable, to, from, size))
        l->failed = 1;
    return !l->failed;
}

SXS_SIGSAFE static uintptr_t read_word(struct activity_look *l, uintptr_t from)
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

/* Returns the role of an object; NULL: its class is not known yet, or cannot be read. */
SXS_SIGSAFE static const struct sxs_role *look_up_role(struct activity_look *l, uintptr_t object)
{
    uintptr_t              id = read_word(l, object);
    struct sxs_seen_class *c = l->failed ? NULL : find_class(l->a, id);
    if (c && atomic_load_explicit(&c->id, memory_order_relaxed) == id &&
        atomic_load_explicit(&c->known, memory_order_acquire))
        return &c->role;
    if (!l->failed && l->n_wanted < MAX_WANTED)
        l->wanted[l->n_wanted++] = id;
    return NULL;
}

/* Returns the role of an object that must be of this kind; NULL: it is not, and the look has
 * failed. */
SXS_SIGSAFE static const struct sxs_role *expect_role(struct activity_look *l, uintptr_t object,
                                                      enum sxs_role_kind kind)
{
    const struct sxs_role *role = look_up_role(l, object);
    if (role && role->kind == kind)
        return role;
    l->failed = 1;
    return NULL;
}

/* Asks activities_learn.c for a class. The caller is sure that it is one. */
SXS_SIGSAFE static void want_class(struct sxs_activities *a, uintptr_t id)
{
    struct sxs_seen_class *c = find_class(a, id);
    uintptr_t              none = 0;
    if (c)
        atomic_compare_exchange_strong(&c->id, &none, id);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Reads a string of at most @max units; a longer one is cut. Returns its length. */
SXS_SIGSAFE static unsigned read_text(struct activity_look *l, uintptr_t text, uint16_t *out,
                                      unsigned max)
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
SXS_SIGSAFE static void read_id(struct activity_look *l, uintptr_t text, uint8_t *out,
                                unsigned size)
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

/* What is searched for in a map. */
struct map_search {
    uintptr_t key; /* 0: the classes of all values are looked up, so that they get known */
    uintptr_t value;
};

/* Returns 1 when the search is over. */
SXS_SIGSAFE static int take_pair(struct activity_look *l, struct map_search *s, uintptr_t key,
                                 uintptr_t value)
{
    if (!s->key && value)
        look_up_role(l, value);
    if (!s->key || key != s->key)
        return 0;
    s->value = value;
    return 1;
}

SXS_SIGSAFE static void search_array(struct activity_look *l, struct map_search *s, uintptr_t array,
                                     uint32_t stride)
{
    uint32_t  n = 0;
    uintptr_t pair[2] = {0, 0};
    if (!array)
        return;
    read_bytes(l, &n, array + LENGTH_AT, sizeof(n));
    l->failed |= n > MAX_ENTRIES;
    for (uint32_t i = 0; i < n && !l->failed; i++)
        if (read_bytes(l, pair, array + ITEMS_AT + (uintptr_t)i * stride, sizeof(pair)) &&
            take_pair(l, s, pair[0], pair[1]))
            return;
}

SXS_SIGSAFE static void search_map(struct activity_look *l, struct map_search *s, uintptr_t map)
{
    const struct sxs_role *role = look_up_role(l, map);
    enum sxs_role_kind     kind = role ? role->kind : SXS_ROLE_OTHER;
    if (kind == SXS_ROLE_ARRAY)
        search_array(l, s, read_word(l, map + role->array.array), role->array.stride);
    for (unsigned i = 0; kind == SXS_ROLE_PAIRS && i < role->pairs.n && !l->failed; i++)
        if (take_pair(l, s, read_word(l, map + role->pairs.key[i]),
                      read_word(l, map + role->pairs.value[i])))
            return;
    l->failed |= kind != SXS_ROLE_ARRAY && kind != SXS_ROLE_PAIRS && kind != SXS_ROLE_EMPTY;
}

/* Returns the map of values of the calling thread; 0: it has none, or the look has failed. Follows
 * the runtime's thread, Thread, ExecutionContext. */
SXS_SIGSAFE static uintptr_t find_map(struct activity_look *l, uintptr_t native)
{
    const struct sxs_activities *a = l->a;
    uintptr_t                    handle = read_word(l, native + a->handle_at), thread, context;
    const struct sxs_role       *role;
    thread = handle ? read_word(l, handle) : 0;
    if (l->failed || !thread)
        return 0; /* nothing has ever been current on this thread */
    if (read_word(l, thread) != a->thread || read_word(l, thread + a->native_at) != native)
        l->failed = 1;
    context = read_word(l, thread + a->context_at);
    if (l->failed || !context)
        return 0;
    role = expect_role(l, context, SXS_ROLE_CONTEXT);
    return role ? read_word(l, context + role->values) : 0;
}

/* Returns the thread's Activity; 0: none, or the look has failed. */
SXS_SIGSAFE static uintptr_t find_activity(struct activity_look *l, uintptr_t native)
{
    struct map_search s = {0, 0};
    int               knows = atomic_load_explicit(&l->a->learned, memory_order_acquire);
    uintptr_t         map = find_map(l, native);
    if (knows == SXS_LEARNED_ALL)
        s.key = read_word(l, l->a->key_at);
    if (!map || l->failed)
        return 0;
    search_map(l, &s, map);
    l->failed |= !s.key; /* it may have one */
    return l->failed ? 0 : s.value;
}

/* ---- the name of the endpoint ---------------------------------------------------------------- */

SXS_SIGSAFE static int is_text(struct activity_look *l, uintptr_t text, const char *expected,
                               unsigned n)
{
    uint16_t units[16];
    if (read_text(l, text, units, n + 1) != n)
        return 0;
    for (unsigned i = 0; i < n; i++)
        if (units[i] != (uint16_t)expected[i])
            return 0;
    return 1;
}

/* Returns 1 if the route is filled in with names of methods or pages: one for many endpoints. */
SXS_SIGSAFE static int is_conventional(const struct sxs_activity_text *t)
{
    static const char *const parts[] = {"{controller", "{action", "{page"};
    for (unsigned i = 0; i < t->n; i++)
        for (size_t p = 0; p < ARRAY_LEN(parts); p++) {
            unsigned n = 0;
            while (parts[p][n] && i + n < t->n && t->units[i + n] == (uint16_t)parts[p][n])
                n++;
            if (!parts[p][n])
                return 1;
        }
    return 0;
}

/* Routes are declared with and without the first slash. All names get it. */
SXS_SIGSAFE static void begin_with_slash(struct sxs_activity_text *t)
{
    if (t->n && (t->units[0] == '/' || t->units[0] == '~'))
        return;
    t->n = t->n < SXS_ACTIVITY_UNITS ? t->n + 1 : SXS_ACTIVITY_UNITS;
    for (unsigned i = t->n - 1; i > 0; i--)
        t->units[i] = t->units[i - 1];
    t->units[0] = '/';
}

/* Reads the tag "http.route", else "url.path". Returns the length; 0: there is neither. */
SXS_SIGSAFE static unsigned read_route(struct activity_look *l, uintptr_t tags,
                                       struct sxs_activity_text *out)
{
    const struct sxs_role *role = expect_role(l, tags, SXS_ROLE_TAGS);
    uintptr_t              tag = role ? read_word(l, tags + role->tags_first) : 0, path = 0;
    for (unsigned i = 0; i < MAX_TAGS && tag && !l->failed; i++) {
        uintptr_t key, value;
        role = expect_role(l, tag, SXS_ROLE_TAG);
        if (!role)
            return 0;
        key = read_word(l, tag + role->tag.key);
        value = read_word(l, tag + role->tag.value);
        if (value && is_text(l, key, "http.route", 10)) {
            out->source = SXS_ENDPOINT_ROUTE;
            out->n = read_text(l, value, out->units, SXS_ACTIVITY_UNITS);
            begin_with_slash(out);
            return out->n;
        }
        if (value && is_text(l, key, "url.path", 8))
            path = value;
        tag = read_word(l, tag + role->tag.next);
    }
    out->n = path ? read_text(l, path, out->units, SXS_ACTIVITY_UNITS) : 0;
    out->source = SXS_ENDPOINT_PATH;
    sxs_activities_fold(out);
    return out->n;
}

/* Reads the text of a pattern that belongs to one endpoint alone. Returns 1 if there is one. */
SXS_SIGSAFE static int read_pattern(struct activity_look *l, uintptr_t pattern,
                                    struct sxs_activity_text *out)
{
    const struct sxs_role *role = expect_role(l, pattern, SXS_ROLE_PATTERN);
    uintptr_t              text = role ? read_word(l, pattern + role->raw) : 0;
    if (!text)
        return 0;
    out->n = read_text(l, text, out->units, SXS_ACTIVITY_UNITS);
    if (l->failed || is_conventional(out))
        return 0;
    begin_with_slash(out);
    return 1;
}

/* Reads the route of an endpoint, or its display name when it has none, or one for many. Returns 1
 * if there is one. */
SXS_SIGSAFE static int read_route_of(struct activity_look *l, uintptr_t endpoint,
                                     struct sxs_activity_text *out)
{
    const struct sxs_role *role = expect_role(l, endpoint, SXS_ROLE_ENDPOINT);
    uintptr_t              pattern, text;
    if (!role)
        return 0;
    pattern = role->endpoint.pattern ? read_word(l, endpoint + role->endpoint.pattern) : 0;
    if (pattern && read_pattern(l, pattern, out))
        return 1;
    text = l->failed ? 0 : read_word(l, endpoint + role->endpoint.display);
    out->n = text ? read_text(l, text, out->units, SXS_ACTIVITY_UNITS) : 0;
    return !l->failed && out->n;
}

/* Reads the name of the endpoint from the request itself. Returns 1 if it has got one. */
SXS_SIGSAFE static int read_request(struct activity_look *l, const struct sxs_activity_stack *stack,
                                    const uintptr_t *activities, unsigned n,
                                    struct sxs_activity_text *out)
{
    struct sxs_found_request request;
    if (!sxs_activities_request(l->a, stack, activities, n, &request))
        return 0;
    if (request.endpoint && read_route_of(l, request.endpoint, out)) {
        out->source = SXS_ENDPOINT_ROUTE;
        return 1;
    }
    l->failed = 0;
    out->n = 0;
    if (request.base && !request.endpoint)
        out->n = read_text(l, request.base, out->units, SXS_ACTIVITY_UNITS);
    if (request.path && !request.endpoint)
        out->n += read_text(l, request.path, out->units + out->n, SXS_ACTIVITY_UNITS - out->n);
    out->source = SXS_ENDPOINT_PATH;
    sxs_activities_fold(out);
    return out->n != 0;
}

/* Reads the name of an activity, which has no parent. A name that cannot be read is left
 * out: out->n is 0. */
SXS_SIGSAFE static void read_name(struct activity_look *l, const struct sxs_role *role,
                                  uintptr_t activity, struct sxs_activity_text *out)
{
    uintptr_t text = role->activity.tags ? read_word(l, activity + role->activity.tags) : 0;
    unsigned  n_wanted = l->n_wanted;
    if ((text && read_route(l, text, out)) || l->n_wanted != n_wanted)
        return; /* there may be a better name, as soon as the class of the tags is known */
    l->failed = 0;
    text = role->activity.display ? read_word(l, activity + role->activity.display) : 0;
    if (!text && role->activity.operation)
        text = read_word(l, activity + role->activity.operation);
    if (text)
        out->n = read_text(l, text, out->units, SXS_ACTIVITY_UNITS);
}

/* Reads the name of the endpoint: of the route of the request, else what the oldest activity above
 * @activity in this process says. */
SXS_SIGSAFE static void read_endpoint(struct activity_look *l, uintptr_t activity,
                                      const struct sxs_activity_stack *stack,
                                      struct sxs_activity_text        *out)
{
    const struct sxs_role *role = NULL;
    struct sxs_activity_text path;
    uintptr_t                all[OWN_PARENTS], parent = activity;
    unsigned                 n = 0;
    for (unsigned i = 0; parent && i < MAX_PARENTS; i++) {
        activity = parent;
        if (n < OWN_PARENTS)
            all[n++] = activity;
        role = expect_role(l, activity, SXS_ROLE_ACTIVITY);
        if (!role)
            return;
        parent = role->activity.parent ? read_word(l, activity + role->activity.parent) : 0;
    }
    if (!role)
        return;
    path.n = 0;
    if (stack && read_request(l, stack, all, n, out)) {
        if (out->source == SXS_ENDPOINT_ROUTE)
            return;
        path = *out;
    }
    *out = (struct sxs_activity_text){.n = 0};
    l->failed = 0;
    read_name(l, role, activity, out);
    if (path.n && out->source < SXS_ENDPOINT_ROUTE)
        *out = path;
}

/* ---- all of it ------------------------------------------------------------------------------- */

SXS_SIGSAFE static enum sxs_activity_found read_activity(struct activity_look *l, uintptr_t native,
                                                         const struct sxs_activity_stack *stack,
                                                         struct sxs_sample_context       *out,
                                                         struct sxs_activity_text        *endpoint)
{
    uintptr_t              activity = find_activity(l, native), trace, span;
    const struct sxs_role *role = activity ? expect_role(l, activity, SXS_ROLE_ACTIVITY) : NULL;
    uint64_t               number;
    if (l->failed)
        return SXS_FOUND_UNKNOWN;
    if (!role)
        return SXS_FOUND_NONE;
    trace = read_word(l, activity + role->activity.trace);
    span = read_word(l, activity + role->activity.span);
    if (!l->failed && (!trace || !span))
        return SXS_FOUND_NONE; /* ids of another format than that of W3C */
    read_id(l, trace, out->trace, sizeof(out->trace));
    read_id(l, span, out->span, sizeof(out->span));
    if (l->failed)
        return SXS_FOUND_UNKNOWN;
    memcpy(&number, out->span, sizeof(number));
    endpoint->is_known = stack && stack->known && stack->known == number;
    if (endpoint->is_known)
        endpoint->source = SXS_ENDPOINT_ROUTE;
    else
        read_endpoint(l, activity, stack && stack->skipped != number ? stack : NULL, endpoint);
    return SXS_FOUND_ONE;
}

SXS_SIGSAFE enum sxs_activity_found sxs_activities_read(struct sxs_activities *a, uintptr_t native,
                                                        const struct sxs_activity_stack *stack,
                                                        struct sxs_sample_context       *out,
                                                        struct sxs_activity_text        *endpoint)
{
    struct activity_look    l = {.a = a, .reliable = sxs_guarded_reliable()};
    uint32_t                n_stops;
    enum sxs_activity_found found;
    if (!sxs_activities_running_since(a, &n_stops))
        return SXS_FOUND_UNKNOWN;
    *endpoint = (struct sxs_activity_text){.n = 0};
    found = read_activity(&l, native, stack, out, endpoint);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&a->n_stops, memory_order_relaxed) != n_stops)
        return SXS_FOUND_UNKNOWN;
    for (unsigned i = 0; i < l.n_wanted; i++)
        want_class(a, l.wanted[i]);
    return found;
}
