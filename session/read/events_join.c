/* SPDX-License-Identifier: MIT */
/* Joins the events of several files of one process, and leaves out events outside of a period. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/read/events_read.h"
#include "base/sum.h"

enum { LEAST_THROW_SITES = 4096 }; /* throw sites that are kept before equal ones are joined */

/* Makes room for @more elements of @size bytes after the @n in *@list. Returns 0 or ENOMEM. */
static int reserve(void *list, size_t n, size_t *cap, size_t more, size_t size)
{
    void **at = list;
    size_t wanted = n + more + 1;
    if (wanted <= *cap)
        return 0;
    wanted += n / 2; /* of many files, the list must not grow for each */
    void *grown = reallocarray(*at, wanted, size);
    if (!grown)
        return ENOMEM;
    *at = grown;
    *cap = wanted;
    return 0;
}

static int reserve_all(struct sxs_events_data *to, const struct sxs_events_data *from)
{
    return reserve(&to->throw_sites, to->n_throw_sites, &to->cap_throw_sites, from->n_throw_sites,
                   sizeof(*to->throw_sites)) ||
                   reserve(&to->exceptions, to->n_exceptions, &to->cap_exceptions,
                           from->n_exceptions, sizeof(*to->exceptions)) ||
                   reserve(&to->spans, to->n_spans, &to->cap_spans, from->n_spans,
                           sizeof(*to->spans)) ||
                   reserve(&to->collections, to->n_collections, &to->cap_collections,
                           from->n_collections, sizeof(*to->collections)) ||
                   reserve(&to->texts, to->n_texts, &to->cap_texts, from->n_texts + from->n_names,
                           sizeof(*to->texts))
               ? ENOMEM
               : 0;
}

/* Copies @n elements; memcpy() takes no NULL. */
static void append(void *list, size_t *n_list, const void *from, size_t n, size_t size)
{
    if (n)
        memcpy((char *)list + *n_list * size, from, n * size);
    *n_list += n;
}

static void join_heads(struct sxs_events_header *to, const struct sxs_events_header *from)
{
    to->tools |= from->tools;
    atomic_fetch_add(&to->lost, atomic_load(&from->lost));
    atomic_fetch_add(&to->exceptions_lost, atomic_load(&from->exceptions_lost));
    atomic_store(&to->ended_ns, atomic_load(&from->ended_ns));
}

int sxs_events_join(struct sxs_events_data *into, struct sxs_events_data *from)
{
    if (reserve_all(into, from) != 0 ||
        sxs_thread_names_join(&into->thread_names, &from->thread_names) != 0) {
        sxs_events_free(from);
        return ENOMEM;
    }
    append(into->throw_sites, &into->n_throw_sites, from->throw_sites, from->n_throw_sites,
           sizeof(*into->throw_sites));
    append(into->exceptions, &into->n_exceptions, from->exceptions, from->n_exceptions,
           sizeof(*into->exceptions));
    append(into->spans, &into->n_spans, from->spans, from->n_spans, sizeof(*into->spans));
    append(into->collections, &into->n_collections, from->collections, from->n_collections,
           sizeof(*into->collections));
    append(into->texts, &into->n_texts, from->texts, from->n_texts, sizeof(*into->texts));
    append(into->texts, &into->n_texts, from->names, from->n_names, sizeof(*into->texts));
    from->n_texts = from->n_names = 0; /* they belong to the other now */
    join_heads(&into->head, &from->head);
    sxs_events_free(from);
    if (into->n_throw_sites > 2 * into->n_joined_throw_sites + LEAST_THROW_SITES) {
        sxs_events_order(into); /* equal throw sites become one */
        into->n_joined_throw_sites = into->n_throw_sites;
    }
    return 0;
}

void sxs_events_joined(struct sxs_events_data *e)
{
    sxs_thread_names_joined(&e->thread_names);
    sxs_events_order(e);
}

/* ---- periods --------------------------------------------------------------------------------- */

static bool is_of(const struct sxs_events_data *e, const struct sxs_period *p, uint64_t time_ns)
{
    return sxs_period_has(p, e->head.started_realtime_ns + (time_ns - e->head.started_ns));
}

/* Counts the exceptions that are left for their throw sites, and removes those without. */
static void count_again(struct sxs_events_data *e)
{
    size_t kept = 0;
    for (size_t i = 0; i < e->n_throw_sites; i++)
        e->throw_sites[i].n = e->throw_sites[i].total_ns = 0;
    if (e->n_throw_sites)
        qsort(e->throw_sites, e->n_throw_sites, sizeof(*e->throw_sites), sxs_throw_site_order);
    for (size_t i = 0; i < e->n_exceptions && e->n_throw_sites; i++) {
        const struct sxs_events_exception *v = &e->exceptions[i];
        struct sxs_events_throw_site      *s = sxs_throw_site_of(e, v);
        if (!s || !v->landed)
            continue;
        s->n++;
        sxs_sum_add(&s->total_ns, v->duration_ns);
    }
    for (size_t i = 0; i < e->n_throw_sites; i++)
        if (e->throw_sites[i].n)
            e->throw_sites[kept++] = e->throw_sites[i];
    e->n_throw_sites = kept;
}

/* Keeps the elements of a list of which the time is of the period. */
#define KEEP(list, n)                                 \
    do {                                              \
        size_t kept_ = 0;                             \
        for (size_t i_ = 0; i_ < (n); i_++)           \
            if (is_of(e, period, (list)[i_].time_ns)) \
                (list)[kept_++] = (list)[i_];         \
        (n) = kept_;                                  \
    } while (0)

void sxs_events_cut(struct sxs_events_data *e, const struct sxs_period *period)
{
    if (sxs_period_is_all(period))
        return;
    KEEP(e->exceptions, e->n_exceptions);
    KEEP(e->spans, e->n_spans);
    KEEP(e->collections, e->n_collections);
    count_again(e);
    sxs_events_order(e);
}
