/* SPDX-License-Identifier: MIT */
/* Chooses which arguments and results a page contains. */
#include "cmd/report/timeline.h"

#include "cmd/output/must.h"

#include <string.h>

struct keeping {
    const struct sxs_strings *from;
    struct sxs_strings       *to;
    uint32_t                 *known; /* owned; number in from to number in to; 0: not added */
    uint64_t                  room;  /* remaining bytes */
};

/* Returns the number in the timeline; 0 when there is no value or no room for it. */
static uint32_t keep_value(struct keeping *k, uint32_t value)
{
    const char *text = sxs_strings_text(k->from, value);
    size_t      size = strlen(text);
    if (!value || k->known[value])
        return k->known[value];
    if (size > k->room)
        return 0;
    k->room -= size;
    return k->known[value] = sxs_strings_add(k->to, text, size);
}

static int longest_first(const void *a, const void *b)
{
    const struct sxs_line_call *x = *(struct sxs_line_call *const *)a;
    const struct sxs_line_call *y = *(struct sxs_line_call *const *)b;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return (x > y) - (x < y);
}

void sxs_timeline_keep_values(struct sxs_timeline *t, const struct sxs_strings *from, size_t calls)
{
    struct keeping         k = {from, &t->values, NULL, (uint64_t)calls * SXS_LINE_VALUE_BYTES};
    struct sxs_line_call **order = sxs_must_zeroed(t->n_calls, sizeof(*order));
    size_t                 n = 0;
    k.known = sxs_must_zeroed(from->n, sizeof(*k.known));
    sxs_strings_add(&t->values, "", 0);
    for (size_t i = 0; i < t->n_calls; i++)
        if (t->calls[i].arguments || t->calls[i].result)
            order[n++] = &t->calls[i];
    if (n)
        qsort(order, n, sizeof(*order), longest_first);
    for (size_t i = 0; i < n; i++) {
        struct sxs_line_call *c = order[i];
        uint32_t              arguments = keep_value(&k, c->arguments);
        uint32_t              result = keep_value(&k, c->result);
        if ((c->arguments && !arguments) || (c->result && !result)) {
            t->values_left.n++;
            if (c->duration_ns > t->values_left.longest_ns)
                t->values_left.longest_ns = c->duration_ns;
        }
        c->arguments = arguments;
        c->result = result & INT32_MAX;
    }
    free(order);
    free(k.known);
}
