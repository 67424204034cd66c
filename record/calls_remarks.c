/* SPDX-License-Identifier: MIT */
#include "record/calls_remarks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_AT offsetof(struct sxs_calls_note, text)

/* A note with all its text, or NULL. */
static const struct sxs_calls_note *note_at(const unsigned char *cells, uint64_t n_cells,
                                            sxs_calls_ref ref)
{
    const struct sxs_calls_note *n;
    uint64_t                     left = SXS_CALLS_CELLS - ref % SXS_CALLS_CELLS;
    if (ref % SXS_CALLS_CELLS == 0 || ref >= n_cells)
        return NULL;
    if (left > n_cells - ref)
        left = n_cells - ref;
    n = (const void *)(cells + (uint64_t)ref * SXS_CALLS_CELL);
    return TEXT_AT + (uint64_t)n->size <= left * SXS_CALLS_CELL ? n : NULL;
}

static int add_remark(struct sxs_calls *c, size_t *cap, const struct sxs_calls_note *n, uint32_t fn)
{
    struct sxs_calls_remark *r;
    if (c->n_remarks == *cap) {
        size_t                   more = *cap ? *cap * 2 : 64;
        struct sxs_calls_remark *list = reallocarray(c->remarks, more, sizeof(*list));
        if (!list)
            return ENOMEM;
        c->remarks = list;
        *cap = more;
    }
    r = &c->remarks[c->n_remarks];
    *r = (struct sxs_calls_remark){.kind = n->kind,
                                   .runtime = n->runtime,
                                   .fn = fn < c->n_fns ? fn : SXS_CALLS_NONE,
                                   .count = atomic_load(&n->count),
                                   .more = atomic_load(&n->more),
                                   .text = malloc((size_t)n->size + 1),
                                   .size = n->size};
    if (!r->text)
        return ENOMEM;
    memcpy(r->text, (const char *)n + TEXT_AT, n->size);
    r->text[n->size] = '\0';
    c->n_remarks++;
    return 0;
}

int sxs_calls_read_remarks(struct sxs_calls *c, const unsigned char *cells, uint64_t n_cells,
                           uint32_t *index_of, uint64_t *bad_refs, uint64_t *circles)
{
    sxs_calls_ref ref = atomic_load(&c->head.notes);
    size_t        cap = 0;
    int           err = 0;
    while (ref && !err) {
        const struct sxs_calls_note *n = note_at(cells, n_cells, ref);
        if (!n || index_of[ref] != SXS_CALLS_NONE) {
            *(n ? circles : bad_refs) += 1;
            break;
        }
        index_of[ref] = UINT32_MAX - 1;
        err = add_remark(c, &cap, n,
                         n->function && n->function < n_cells ? index_of[n->function]
                                                              : SXS_CALLS_NONE);
        ref = n->next;
    }
    return err;
}

void sxs_calls_free_remarks(struct sxs_calls *c)
{
    for (size_t i = 0; i < c->n_remarks; i++)
        free(c->remarks[i].text);
    free(c->remarks);
}
