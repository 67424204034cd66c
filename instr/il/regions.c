/* SPDX-License-Identifier: MIT */
/* instr/il/regions.c - find the try blocks, filters and handlers of a body, check how they are
 * nested, and tell where control may cross their bounds. */
#include <stdlib.h>
#include <string.h>

#include "instr/il/internal.h"

#define BAD(error, insn, ...) \
    sxs_il_fail(error, SXS_IL_EINVALID, sxs_il_old_offset(insn), __VA_ARGS__)

static int region_contains(const struct sxs_il_region *r, const struct sxs_il_insn *insn)
{
    return insn->index >= r->first->index && insn->index <= r->last->index;
}

static int same_range(const struct sxs_il_region *a, const struct sxs_il_region *b)
{
    return a->first == b->first && a->last == b->last;
}

/* ---- finding regions ------------------------------------------------------------------------- */

static int add_region(struct sxs_il_regions *regions, struct sxs_il_region r,
                      struct sxs_il_error *error)
{
    if (!r.first || !r.last || !r.first->listed || !r.last->listed)
        return sxs_il_fail(error, SXS_IL_EINVALID, SXS_IL_NONE,
                           "a clause names an instruction that is not in the code");
    if (r.first->index > r.last->index)
        return BAD(error, r.first, "a clause's range ends before it begins");
    if (sxs_il_with_prefixes(r.first) != r.first || sxs_il_is_prefix(r.last))
        return BAD(error, r.first, "a clause's range divides a prefix from its instruction");
    regions->all[regions->n++] = r;
    return SXS_IL_OK;
}

static int add_clause(struct sxs_il_regions *regions, const struct sxs_il_clause *c, uint16_t number,
                      struct sxs_il_error *error)
{
    struct sxs_il_insn *handler = sxs_il_target(c->handler_first);
    int                 err;
    if (c->kind != SXS_IL_CATCH && c->kind != SXS_IL_FILTER && c->kind != SXS_IL_FINALLY &&
        c->kind != SXS_IL_FAULT)
        return sxs_il_fail(error, SXS_IL_EINVALID, SXS_IL_NONE, "no such kind of clause: %u", c->kind);
    err =
        add_region(regions,
                   (struct sxs_il_region){sxs_il_target(c->try_first),
                                          sxs_il_end_target(c->try_last), 0, number, SXS_IL_IN_TRY},
                   error);
    if (!err)
        err = add_region(regions,
                         (struct sxs_il_region){handler, sxs_il_end_target(c->handler_last), 0,
                                                number, SXS_IL_IN_HANDLER},
                         error);
    if (!err && c->kind == SXS_IL_FILTER)
        err = add_region(regions,
                         (struct sxs_il_region){sxs_il_target(c->filter_first), handler->prev, 0,
                                                number, SXS_IL_IN_FILTER},
                         error);
    return err;
}

/* Sorts outer regions first; regions with the same range by the index of their clauses. */
static int by_range(const void *va, const void *vb)
{
    const struct sxs_il_region *a = va, *b = vb;
    if (a->first->index != b->first->index)
        return a->first->index < b->first->index ? -1 : 1;
    if (a->last->index != b->last->index)
        return a->last->index > b->last->index ? -1 : 1;
    return a->clause - b->clause;
}

/* Joins the try blocks with the same range that belong to several clauses into one region. */
static int join_regions(struct sxs_il_regions *regions, struct sxs_il_error *error)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < regions->n; i++) {
        struct sxs_il_region *r = &regions->all[i], *last = n ? &regions->all[n - 1] : NULL;
        if (last && same_range(last, r)) {
            if (last->kind != SXS_IL_IN_TRY || r->kind != SXS_IL_IN_TRY)
                return BAD(error, r->first, "two clauses share a handler");
            continue;
        }
        regions->all[n++] = *r;
    }
    regions->n = n;
    return SXS_IL_OK;
}

static int nest_regions(struct sxs_il_regions *regions, struct sxs_il_error *error)
{
    uint16_t open = 0;
    for (uint32_t i = 0; i < regions->n; i++) {
        struct sxs_il_region *r = &regions->all[i];
        while (open && regions->all[open - 1].last->index < r->first->index)
            open = regions->all[open - 1].parent;
        if (open && !region_contains(&regions->all[open - 1], r->last))
            return BAD(error, r->first, "clauses overlap and are not nested");
        r->parent = open;
        open = (uint16_t)(i + 1);
    }
    return SXS_IL_OK;
}

static void number_insns(struct sxs_il_body *body, const struct sxs_il_regions *regions)
{
    for (struct sxs_il_insn *i = body->first; i; i = i->next)
        i->region = 0;
    for (uint32_t n = 0; n < regions->n; n++) {
        const struct sxs_il_region *r = &regions->all[n];
        for (struct sxs_il_insn *i = r->first;; i = i->next) {
            i->region = (uint16_t)(n + 1);
            if (i == r->last)
                break;
        }
    }
}

/* ---- clauses --------------------------------------------------------------------------------- */

static const struct sxs_il_region *region_of(const struct sxs_il_regions *regions,
                                             struct sxs_il_insn *first, struct sxs_il_insn *last)
{
    struct sxs_il_region key = {.first = sxs_il_target(first), .last = sxs_il_end_target(last)};
    uint16_t             r;
    for (r = key.first->region; r; r = regions->all[r - 1].parent)
        if (same_range(&regions->all[r - 1], &key))
            return &regions->all[r - 1];
    return NULL;
}

static int is_within(const struct sxs_il_region *inner, const struct sxs_il_region *outer)
{
    return region_contains(outer, inner->first) && region_contains(outer, inner->last);
}

/* Checks that inner clauses come before outer clauses, because the runtime takes the first clause
 * that covers a place. */
static int check_order(const struct sxs_il_body *body, const struct sxs_il_regions *regions,
                       const struct sxs_il_region *tries, uint32_t number,
                       struct sxs_il_error *error)
{
    for (uint16_t p = tries->parent; p; p = regions->all[p - 1].parent) {
        if (regions->all[p - 1].kind == SXS_IL_IN_FILTER)
            return BAD(error, body->clauses[number].try_first, "a try block within a filter");
        if (regions->all[p - 1].kind == SXS_IL_IN_TRY && regions->all[p - 1].clause < number)
            return BAD(error, body->clauses[number].try_first, "an outer clause before an inner one");
    }
    return SXS_IL_OK;
}

static int check_clause(const struct sxs_il_body *body, const struct sxs_il_regions *regions,
                        uint32_t number, struct sxs_il_error *error)
{
    const struct sxs_il_clause *c = &body->clauses[number];
    const struct sxs_il_region *tries = region_of(regions, c->try_first, c->try_last);
    const struct sxs_il_region *handler = region_of(regions, c->handler_first, c->handler_last);
    const struct sxs_il_region *filter;
    if (!tries || !handler)
        return BAD(error, c->try_first, "a clause's ranges are not nested");
    if (is_within(tries, handler) || is_within(handler, tries))
        return BAD(error, c->try_first, "a try block and its handler overlap");
    if (c->kind == SXS_IL_FILTER) {
        filter = region_of(regions, c->filter_first, sxs_il_target(c->handler_first)->prev);
        if (!filter || filter->parent != handler->parent)
            return BAD(error, c->try_first, "a filter and its handler lie in different blocks");
    }
    if (tries->parent != handler->parent)
        return BAD(error, c->try_first, "a try block and its handler lie in different blocks");
    return check_order(body, regions, tries, number, error);
}

int sxs_il_find_regions(struct sxs_il_body *body, struct sxs_il_regions *regions,
                        struct sxs_il_error *error)
{
    int err = SXS_IL_OK;
    regions->n = 0;
    if (!body->n_clauses) {
        number_insns(body, regions);
        return SXS_IL_OK;
    }
    if (body->n_clauses > UINT16_MAX / 3)
        return sxs_il_fail(error, SXS_IL_ERANGE, SXS_IL_NONE, "too many clauses");
    regions->all = sxs_il_alloc(body, 3 * body->n_clauses * sizeof(regions->all[0]));
    if (!regions->all)
        return sxs_il_fail(error, SXS_IL_ENOMEM, SXS_IL_NONE, "no memory");
    for (uint32_t i = 0; !err && i < body->n_clauses; i++)
        err = add_clause(regions, &body->clauses[i], (uint16_t)i, error);
    if (err)
        return err;
    qsort(regions->all, regions->n, sizeof(regions->all[0]), by_range);
    err = join_regions(regions, error);
    if (!err)
        err = nest_regions(regions, error);
    if (err)
        return err;
    number_insns(body, regions);
    for (uint32_t i = 0; !err && i < body->n_clauses; i++)
        err = check_clause(body, regions, i, error);
    return err;
}

/* ---- control flow ---------------------------------------------------------------------------- */

static int may_leave(const struct sxs_il_body *body, const struct sxs_il_region *r)
{
    unsigned kind = body->clauses[r->clause].kind;
    return r->kind == SXS_IL_IN_TRY ||
           (r->kind == SXS_IL_IN_HANDLER && (kind == SXS_IL_CATCH || kind == SXS_IL_FILTER));
}

/* Returns 1 when @r is the try block of a catch handler, with or without a filter, that contains @a. A
 * `leave` may go from such a handler to any instruction of its try block, also into the middle. */
static int is_own_try(const struct sxs_il_body *body, const struct sxs_il_regions *regions,
                      const struct sxs_il_region *r, const struct sxs_il_insn *a)
{
    for (uint16_t n = a->region; n; n = regions->all[n - 1].parent) {
        const struct sxs_il_region *handler = &regions->all[n - 1];
        const struct sxs_il_clause *c = &body->clauses[handler->clause];
        if (handler->kind == SXS_IL_IN_HANDLER && may_leave(body, handler) &&
            r->first == sxs_il_target(c->try_first) && r->last == sxs_il_end_target(c->try_last))
            return 1;
    }
    return 0;
}

int sxs_il_may_go(const struct sxs_il_body *body, const struct sxs_il_regions *regions,
                  const struct sxs_il_insn *a, const struct sxs_il_insn *b, int leaving)
{
    const struct sxs_il_region *r;
    uint16_t                    n;
    if (a->region == b->region && !a->region)
        return 1;
    for (n = a->region; n; n = r->parent) {
        r = &regions->all[n - 1];
        if (region_contains(r, b))
            break;
        if (!leaving || !may_leave(body, r))
            return 0;
    }
    for (n = b->region; n; n = r->parent) {
        r = &regions->all[n - 1];
        if (region_contains(r, a))
            break;
        if (r->kind != SXS_IL_IN_TRY ||
            (r->first != b && !(leaving && is_own_try(body, regions, r, a))))
            return 0;
    }
    return 1;
}
