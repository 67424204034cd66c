/* SPDX-License-Identifier: MIT */
#include "session/read/calls_read_internal.h"
#include "session/read/file_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_AT offsetof(struct sxs_calls_note, text)

/* Return the note at @ref, or NULL when its cells are not valid, which is counted. Marks its cells
 * as taken. */
static const struct sxs_calls_note *take_note(struct sxs_calls_reader *r, sxs_calls_ref ref)
{
    const struct sxs_calls_note *n = sxs_calls_cells_at(r, ref, 1);
    return n ? sxs_calls_take_cells(r, ref,
                                    (TEXT_AT + (uint64_t)n->size + SXS_CALLS_CELL - 1) / SXS_CALLS_CELL)
             : NULL;
}

static int add_note(struct sxs_calls *c, size_t *cap, const struct sxs_calls_note *n, uint32_t fn)
{
    struct sxs_calls_read_note *r, *list = sxs_list_room(c->notes, c->n_notes, cap, sizeof(*list));
    if (!list)
        return ENOMEM;
    c->notes = list;
    r = &list[c->n_notes];
    *r = (struct sxs_calls_read_note){.kind = n->kind,
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
    c->n_notes++;
    return 0;
}

int sxs_calls_read_notes(struct sxs_calls_reader *r)
{
    sxs_calls_ref ref = atomic_load(&r->c->head.notes);
    size_t        cap = 0;
    int           err = 0;
    while (ref && !err) {
        const struct sxs_calls_note *n = take_note(r, ref);
        if (!n)
            break;
        err = add_note(r->c, &cap, n,
                       n->function ? sxs_calls_index(r, n->function) : SXS_CALLS_NONE);
        ref = n->next;
    }
    return err;
}

void sxs_calls_free_notes(struct sxs_calls *c)
{
    for (size_t i = 0; i < c->n_notes; i++)
        free(c->notes[i].text);
    free(c->notes);
}
