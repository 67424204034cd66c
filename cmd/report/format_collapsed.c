/* SPDX-License-Identifier: MIT */
/* Format collapsed: one line "thread;frame;...;frame weight" per distinct stack, oldest frame
 * first. Overloads have equal text in this format, so nodes of the model are joined by text first. Lines
 * are written one by one, because all of them together can be much larger than the session: a line is
 * as long as its stack is deep. */
#include "cmd/report/format.h"

#include "base/index.h"
#include "cmd/output/must.h"
#include "cmd/output/table_hash.h"

#include <string.h>

/* Bytes of a line without its weight. Of a longer one, the oldest frames are left out, as those of a
 * stack of more than SXS_MAX_STACK frames are. */
#define MAX_LINE 32768u

/* A stack: the path from a thread to a frame, by text. */
struct stack {
    uint32_t parent; /* index; SXS_NO_NODE: this is a thread */
    uint32_t text;   /* number in `texts` */
    uint32_t thread; /* text of the thread */
    uint64_t weight;
};

struct collapsed {
    const struct sxs_model *m;
    struct sxs_strings      texts;
    struct stack           *all; /* owned; a parent is before its children */
    size_t                  n, cap;
    struct sxs_index        index;           /* of `all` */
    uint32_t               *texts_of_frames; /* owned; number + 1; 0: not known yet */
};

/* ---- joining --------------------------------------------------------------------------------- */

/* Adds a name. ';' separates frames, so it is replaced; names contain no line breaks, which
 * separate stacks. */
static uint32_t add_text(struct collapsed *c, char *text)
{
    for (char *p = text; (p = strchr(p, ';')) != NULL;)
        *p = ':';
    return sxs_strings_add(&c->texts, text, strlen(text));
}

/* Returns the text of a frame, or of the thread when the node is its root. */
static uint32_t text_of(struct collapsed *c, const struct sxs_model_node *n)
{
    static char text[70000]; /* a name has at most 65535 bytes */
    if (n->parent == SXS_NO_NODE) {
        sxs_thread_text(c->m, n->thread, text, sizeof(text));
        return add_text(c, text);
    }
    uint32_t *known = &c->texts_of_frames[n->frame];
    if (!*known) {
        sxs_frame_text(c->m, n->frame, SXS_STYLE_SHORT, text, sizeof(text));
        *known = add_text(c, text) + 1;
    }
    return *known - 1;
}

/* Returns the index of a stack, added when new. */
static uint32_t add_stack(struct collapsed *c, uint32_t parent, uint32_t text)
{
    const uint32_t key[] = {parent, text};
    uint32_t       hash = (uint32_t)sxs_table_hash(key, sizeof(key), 1), number;
    size_t         at = hash;
    if (sxs_index_reserve(&c->index) != 0)
        sxs_must(NULL);
    for (; (number = sxs_index_next(&c->index, hash, &at)) != 0; at++)
        if (c->all[number - 1].parent == parent && c->all[number - 1].text == text)
            return number - 1;
    SXS_GROW(c->all, c->n, c->cap);
    c->all[c->n] =
        (struct stack){parent, text, parent == SXS_NO_NODE ? text : c->all[parent].thread, 0};
    sxs_index_put(&c->index, at, hash, c->n);
    return (uint32_t)c->n++;
}

/* Adds all nodes of the model. A node's weight is the time in ns for which the stack's samples stand, or
 * that calls spent in the function itself; the number of calls when they were not timed. Samples are
 * not counted, because they stand for different times: a thread that waits has one sample for a tenth
 * of a second. */
static void join_nodes(struct collapsed *c)
{
    const struct sxs_model *m = c->m;
    uint32_t               *stack_of = sxs_must_zeroed(m->n_nodes, sizeof(*stack_of));
    c->texts_of_frames = sxs_must_zeroed(m->n_frames, sizeof(*c->texts_of_frames));
    for (size_t i = 0; i < m->n_nodes; i++) {
        const struct sxs_model_node *n = &m->nodes[i]; /* its parent was added before */
        uint32_t parent = n->parent == SXS_NO_NODE ? SXS_NO_NODE : stack_of[n->parent];
        stack_of[i] = add_stack(c, parent, text_of(c, n));
        c->all[stack_of[i]].weight += n->self_ns;
    }
    free(stack_of);
    free(c->texts_of_frames);
    sxs_index_free(&c->index);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int by_parent(const void *a, const void *b, void *arg)
{
    const struct collapsed *c = arg;
    const struct stack     *x = &c->all[*(const uint32_t *)a], *y = &c->all[*(const uint32_t *)b];
    if (x->parent != y->parent) /* threads first: SXS_NO_NODE + 1 is 0 */
        return x->parent + 1 < y->parent + 1 ? -1 : 1;
    return strcmp(sxs_strings_text(&c->texts, x->text), sxs_strings_text(&c->texts, y->text));
}

static void write_line(const struct collapsed *c, uint32_t stack, FILE *to)
{
    uint32_t frames[SXS_MAX_STACK];
    size_t   n = 0, size = 0;
    for (uint32_t i = stack; c->all[i].parent != SXS_NO_NODE; i = c->all[i].parent) {
        size += strlen(sxs_strings_text(&c->texts, c->all[i].text)) + 1;
        if (n == SXS_MAX_STACK || (n && size > MAX_LINE))
            break;
        frames[n++] = c->all[i].text;
    }
    fputs_unlocked(sxs_strings_text(&c->texts, c->all[stack].thread), to);
    while (n-- > 0) {
        putc_unlocked(';', to);
        fputs_unlocked(sxs_strings_text(&c->texts, frames[n]), to);
    }
    fprintf(to, " %llu\n", (unsigned long long)c->all[stack].weight);
}

/* Writes a stack before those that begin with it, and those by name. The list of what is left to
 * write replaces recursion, so that a deep tree cannot overflow the program's stack. */
static void write_stacks(struct collapsed *c, FILE *to)
{
    uint32_t *order =
        sxs_must_zeroed(c->n, sizeof(*order)); /* children of one parent are together */
    uint32_t *begin = sxs_must_zeroed(c->n + 2, sizeof(*begin)); /* by parent + 1: index in order */
    uint32_t *todo = sxs_must_zeroed(c->n, sizeof(*todo));
    size_t    n = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        order[i] = i;
        begin[c->all[i].parent + 1]++; /* SXS_NO_NODE + 1 is 0 */
    }
    for (uint32_t i = 0, sum = 0; i < c->n + 2; i++) {
        uint32_t here = begin[i];
        begin[i] = sum;
        sum += here;
    }
    if (c->n)
        qsort_r(order, c->n, sizeof(*order), by_parent, c);
    for (uint32_t i = begin[1]; i-- > begin[0];)
        todo[n++] = order[i];
    while (n) {
        uint32_t at = todo[--n];
        if (c->all[at].weight)
            write_line(c, at, to);
        for (uint32_t i = begin[at + 2]; i-- > begin[at + 1];)
            todo[n++] = order[i];
    }
    free(order);
    free(begin);
    free(todo);
}

static int write_collapsed(const struct sxs_model *m, const struct sxs_report_options *o, FILE *to)
{
    struct collapsed c = {.m = m};
    (void)o;
    join_nodes(&c);
    write_stacks(&c, to);
    free(c.all);
    sxs_strings_free(&c.texts);
    return 0;
}

const struct sxs_profile_format sxs_format_collapsed = {"collapsed", 0, write_collapsed};
