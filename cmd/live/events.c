/* SPDX-License-Identifier: MIT */
/* events.c - follows the file "events": exceptions by throw site, compilations, collections. */
#include "cmd/live/internal.h"

#include "cmd/output/must.h"
#include "cmd/output/names_of_values.h"

#include <errno.h>
#include <string.h>

#define TIERS      8
#define TEXT_MAX   1000u       /* bytes of a method's name that are kept */
#define CHANGES_NS 3000000000u /* how long after its end a collection's record is read again */

void sxs_live_events_open(struct sxs_live *l)
{
    char                    why[256];
    struct sxs_live_events *e = &l->events;
    if (e->open)
        return;
    int err = sxs_chunk_follow_open(&e->file, SXS_FILES_OF(l->fd), &sxs_events_kind, &e->head, why,
                                    sizeof(why));
    e->open = err == 0;
    if (sxs_live_is_damage(l, err) && l->n_problems < 2)
        sxs_lines_add(&l->problems, &l->n_problems, "%s/" SXS_EVENTS_FILE ": %s", l->folder, why);
}

static bool record_fits(const struct sxs_record *r, uint64_t need)
{
    return need <= r->size;
}

static bool take_name(struct sxs_live *l, const struct sxs_record *r)
{
    const struct sxs_event_name *v = (const void *)r;
    if (!record_fits(r, sizeof(*v)) ||
        !record_fits(r, offsetof(struct sxs_event_name, text) + (uint64_t)v->size) || !v->number)
        return false;
    sxs_live_name_add(l, &l->events.names, v->number, v->text, v->size);
    return true;
}

/* ---- exceptions ---- */

/* Returns the text beside an exception's type: the functions that threw and caught it, or its other fate. */
static uint32_t detail_of(struct sxs_live *l, const struct sxs_event_throw_site *v)
{
    static const char *const fates[] = {
#define X(name, text) text,
        SXS_EXCEPTION_FATES(X)
#undef X
    };
    struct sxs_live_events *e = &l->events;
    const char             *thrown =
        sxs_strings_text(&l->strings, sxs_live_name_of(&e->names, v->thrown));
    const char *caught =
        sxs_strings_text(&l->strings, sxs_live_name_of(&e->names, v->caught));
    char *text = NULL;
    int   n =
        asprintf(&text, "%s%s, %s%s%s", v->rethrown ? "again by " : "", thrown[0] ? thrown : "?",
                 fates[v->fate], v->fate == SXS_FATE_CAUGHT && caught[0] ? " by " : "",
                 v->fate == SXS_FATE_CAUGHT ? caught : "");
    sxs_must(n < 0 ? NULL : text);
    uint32_t string = sxs_strings_add(&l->strings, text, (size_t)n);
    free(text);
    return string;
}

static void add_exceptions(struct sxs_live *l, size_t item, uint64_t bucket, uint64_t n,
                           uint64_t ns)
{
    struct sxs_live_item *v = &l->tables[SXS_LIVE_EXCEPTION_LIST].all[item];
    v->exact = true;
    sxs_live_track_add(&v->first, bucket, (double)n);
    sxs_live_track_add(&v->second, bucket, (double)ns / 1e9);
    l->changes |= SXS_LIVE_EXCEPTIONS;
}

static bool take_throw_site(struct sxs_live *l, const struct sxs_record *r)
{
    const struct sxs_event_throw_site *v = (const void *)r;
    struct sxs_live_events            *e = &l->events;
    if (!record_fits(r, sizeof(*v)) || v->fate >= SXS_N_FATES)
        return false;
    uint32_t       type = sxs_live_name_of(&e->names, v->type);
    const uint32_t key[4] = {type, v->runtime, detail_of(l, v), v->fate * 2u + (v->rethrown != 0)};
    struct sxs_live_changing changing = {
        .offset = e->file.offset,
        .item = sxs_live_item(&l->tables[SXS_LIVE_EXCEPTION_LIST], key),
        .n = atomic_load(&v->n),
        .value = atomic_load(&v->total_ns)};
    sxs_live_see_time(l, l->events.head.started_ns, &l->events.seen_ns, atomic_load(&v->last_ns));
    sxs_live_changing_add(&e->throw_sites, &changing);
    add_exceptions(l, changing.item, l->first_look_done ? l->bucket : 0, changing.n,
                   changing.value);
    return true;
}

static void throw_site_again(struct sxs_live *l, struct sxs_live_changing *c)
{
    struct sxs_event_throw_site v;
    if (!sxs_chunk_follow_again(&l->events.file, c->offset, SXS_EVENT_THROW_SITE, &v, sizeof(v)))
        return;
    uint64_t n = atomic_load(&v.n), ns = atomic_load(&v.total_ns);
    if (n < c->n || ns < c->value || (n == c->n && ns == c->value))
        return;
    sxs_live_see_time(l, l->events.head.started_ns, &l->events.seen_ns, atomic_load(&v.last_ns));
    add_exceptions(l, c->item, l->bucket, n - c->n, ns - c->value);
    c->n = n;
    c->value = ns;
}

static void throw_sites_again(struct sxs_live *l, bool all)
{
    struct sxs_live_changings *c = &l->events.throw_sites;
    for (size_t i = sxs_live_changing_turn(c, all); i-- > 0; c->next++) {
        if (c->next >= c->n)
            c->next = 0;
        throw_site_again(l, &c->all[c->next]);
    }
}

/* ---- compilations ---- */

static void take_compilation(struct sxs_live *l, const struct sxs_event_span *v)
{
    struct sxs_live_events *e = &l->events;
    const char             *tier = sxs_tier_text(v->tier);
    uint64_t                bucket = sxs_live_bucket(l, v->time_ns);
    const uint32_t key[4] = {sxs_strings_add(&l->strings, tier, strlen(tier)), v->runtime, 0, 0};
    size_t         item = sxs_live_item(&l->tables[SXS_LIVE_COMPILATION_LIST], key);
    struct sxs_live_item *row = &l->tables[SXS_LIVE_COMPILATION_LIST].all[item];
    row->exact = true;
    sxs_live_track_add(&row->first, bucket, (double)v->duration_ns / 1e9);
    sxs_live_track_add(&row->second, bucket, 1);
    l->changes |= SXS_LIVE_COMPILATIONS;
    if (!e->compilations)
        e->compilations = sxs_must_zeroed(SXS_LIVE_NEWEST, sizeof(*e->compilations));
    struct sxs_live_kept_compilation *kept =
        &e->compilations[e->n_compilations++ % SXS_LIVE_NEWEST];
    free(kept->text);
    kept->text = sxs_must(strndup(v->text, v->size < TEXT_MAX ? v->size : TEXT_MAX));
    sxs_strings_clean(kept->text, strlen(kept->text));
    kept->time_ns = v->time_ns;
    kept->shown = (struct sxs_live_compilation){.duration_s = (double)v->duration_ns / 1e9,
                                                .runtime = v->runtime,
                                                .tid = v->tid,
                                                .bytes = v->a,
                                                .tier = (uint8_t)v->tier,
                                                .failed = v->failed != 0,
                                                .method = kept->text};
}

/* ---- collections ---- */

static struct sxs_live_kept_collection *keep_collection(struct sxs_live *l)
{
    struct sxs_live_events *e = &l->events;
    if (!e->collections)
        e->collections = sxs_must_zeroed(SXS_LIVE_NEWEST, sizeof(*e->collections));
    return &e->collections[e->n_collections++ % SXS_LIVE_NEWEST];
}

static bool take_collection(struct sxs_live *l, const struct sxs_record *r)
{
    struct sxs_events_collection now;
    if (!sxs_collection_read(r, &now))
        return false;
    sxs_live_see_time(l, l->events.head.started_ns, &l->events.seen_ns, now.time_ns);
    sxs_live_take_collection(l, NULL, &now);
    *keep_collection(l) =
        (struct sxs_live_kept_collection){.offset = l->events.file.offset, .now = now};
    return true;
}

/* A collection that the tool "events" has recorded: only when, which generation, and whether it was
 * induced. */
static void take_event_of_collection(struct sxs_live *l, const struct sxs_event_span *v)
{
    if (l->events.head.tools & SXS_EVENTS_OF_COLLECTIONS)
        return;
    *keep_collection(l) = (struct sxs_live_kept_collection){
        .now = {.time_ns = v->time_ns,
                .end_ns = v->time_ns + v->duration_ns,
                .tid = v->tid,
                .runtime = v->runtime,
                .generation = v->a < 3 ? (uint8_t)v->a : SXS_GC_UNKNOWN,
                .reason = v->b ? SXS_GC_INDUCED : SXS_GC_UNKNOWN,
                .type = SXS_GC_UNKNOWN}};
    l->changes |= SXS_LIVE_COLLECTIONS;
}

static void collections_again(struct sxs_live *l)
{
    struct sxs_live_events *e = &l->events;
    union {
        struct sxs_record           head;
        struct sxs_event_collection whole;
    } record;
    uint64_t now_ns = l->clock_ns;
    uint64_t first = e->n_collections > SXS_LIVE_NEWEST ? e->n_collections - SXS_LIVE_NEWEST : 0;
    for (uint64_t i = first; i < e->n_collections; i++) {
        struct sxs_live_kept_collection *k = &e->collections[i % SXS_LIVE_NEWEST];
        struct sxs_events_collection     now;
        if (!k->offset || (k->now.end_ns && k->now.end_ns + CHANGES_NS < k->looked_ns) ||
            !sxs_chunk_follow_again(&e->file, k->offset, SXS_EVENT_COLLECTION, &record,
                                    sizeof(record)) ||
            !sxs_collection_read(&record.head, &now))
            continue;
        k->looked_ns = now_ns;
        if (now.known == k->now.known && now.end_ns == k->now.end_ns &&
            now.pause_ns == k->now.pause_ns)
            continue;
        sxs_live_take_collection(l, &k->now, &now);
        k->now = now;
    }
}

/* ---- the file ---- */

static bool take_span(struct sxs_live *l, const struct sxs_record *r)
{
    const struct sxs_event_span *v = (const void *)r;
    if (!record_fits(r, sizeof(*v)) ||
        !record_fits(r, offsetof(struct sxs_event_span, text) + (uint64_t)v->size) ||
        v->kind >= SXS_N_EVENT_KINDS || v->tier >= TIERS)
        return false;
    sxs_live_see_time(l, l->events.head.started_ns, &l->events.seen_ns, v->time_ns);
    if (v->kind == SXS_KIND_JIT)
        take_compilation(l, v);
    else if (v->kind == SXS_KIND_GC)
        take_event_of_collection(l, v);
    else if (v->kind == SXS_KIND_SUSPENSION && !l->samples.head.mode &&
             !(l->events.head.tools & SXS_EVENTS_OF_COLLECTIONS))
        sxs_live_add_pause(l, v->runtime, v->time_ns, (double)v->duration_ns);
    return true;
}

static bool take_record(const struct sxs_record *record, uint16_t type, void *live)
{
    switch (type) {
    case SXS_EVENT_NAME: return take_name(live, record);
    case SXS_EVENT_THROW_SITE: return take_throw_site(live, record);
    case SXS_EVENT_EXCEPTION: return true;
    case SXS_EVENT_SPAN: return take_span(live, record);
    case SXS_EVENT_COLLECTION: return take_collection(live, record);
    default: return false;
    }
}

void sxs_live_events_look(struct sxs_live *l, bool all)
{
    struct sxs_live_events *e = &l->events;
    if (!e->open)
        return;
    sxs_chunk_follow_head(&e->file, &e->head);
    throw_sites_again(l, all);
    collections_again(l);
    sxs_chunk_follow_look(&e->file, l->max_bytes);
    while (sxs_chunk_follow_next(&e->file, SXS_EVENT_RECORD_LAST, take_record, l))
        ;
    l->behind |= sxs_chunk_follow_left(&e->file) > 0;
}

void sxs_live_events_close(struct sxs_live *l)
{
    struct sxs_live_events *e = &l->events;
    if (e->open)
        sxs_chunk_follow_close(&e->file);
    for (size_t i = 0; e->compilations && i < SXS_LIVE_NEWEST; i++)
        free(e->compilations[i].text);
    free(e->compilations);
    free(e->collections);
    sxs_live_names_free(&e->names);
    free(e->throw_sites.all);
}
