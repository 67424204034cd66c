/* SPDX-License-Identifier: MIT */
/*
 * complete.c - recipes of code that several instantiations share: an enter hook completes them.
 *
 * When such a function is compiled, its runtime does not say what its type parameters stand for; the frame of a
 * call does. So the recipe is prepared then: a copy of it, a list of its shapes that depend on type parameters, and
 * room for the names of those that are named after them. The first call fills the copy in. It asks the runtime
 * which classes the arguments are, which neither loads nor allocates, and looks these up in the tables of types.
 */
#include "values/complete.h"

#include <stdlib.h>
#include <string.h>

#include "values/line.h"
#include "values/show.h"

#define ARGS_MAX  64
#define NAME_SIZE 1024u
#define WAITS_MAX 1000  /* pauses of the processor until another thread has completed the recipe */
#define TRIES_MAX 1000u /* calls of which type arguments are not told, or not known */

/* A shape of the copy that a call fills in. */
struct piece {
    struct sxs_shape *shape;
    const char       *pattern; /* its name with marks; NULL: shape->variable tells */
    char             *name;    /* room for NAME_SIZE bytes, with a pattern */
};

enum { FREE, TAKEN, COMPLETE };

/* One block of memory, with all that its pointers lead to. Never freed. */
struct sxs_recipe_draft {
    _Atomic int        state; /* guards the rest: TAKEN by one thread, then COMPLETE for good */
    uint32_t           tries, n_pieces;
    ULONG32            n_type_args, n_method_args;
    ClassID            type_args[ARGS_MAX], method_args[ARGS_MAX];
    struct sxs_recipe *whole;
    struct piece      *pieces;
};

/* ---- when the function has been compiled ------------------------------------------------------ */

/* What is needed of each kind; then, what is left of it. */
struct needs {
    struct piece     *pieces;
    struct sxs_shape *shapes;
    char             *text;
    size_t            n_pieces, n_shapes, n_text;
};

static const char *pattern_of(const struct sxs_shape *shape)
{
    return shape->element == SXS_ELEMENT_VALUETYPE && shape->name && sxs_mark_in(shape->name)
               ? shape->name
               : NULL;
}

static void add_needs(struct needs *n, const struct sxs_shape *shape)
{
    for (; shape; shape = shape->of) {
        const char *pattern = pattern_of(shape);
        n->n_shapes += shape->of != NULL;
        n->n_pieces += shape->variable || pattern;
        n->n_text += pattern ? strlen(pattern) + 1 + NAME_SIZE : 0;
    }
}

/* @shape is in the copy; what it refers to is copied too. */
static void add_pieces(struct sxs_recipe_draft *d, struct needs *left, struct sxs_shape *shape)
{
    for (;;) {
        const char *pattern = pattern_of(shape);
        if (shape->variable || pattern) {
            struct piece *p = &d->pieces[d->n_pieces++];
            p->shape = shape;
            if (pattern) {
                size_t size = strlen(pattern) + 1;
                p->pattern = memcpy(left->text, pattern, size);
                p->name = left->text + size;
                left->text += size + NAME_SIZE;
            }
        }
        if (!shape->of)
            return;
        memcpy(left->shapes, shape->of, sizeof(*left->shapes));
        shape->of = left->shapes;
        shape = left->shapes++;
    }
}

/* "?" for each mark: shorter, so in place. */
static void remove_marks(struct sxs_shape *shape)
{
    for (; shape; shape = (struct sxs_shape *)(uintptr_t)shape->of) {
        const char *from = pattern_of(shape);
        char       *to = (char *)(uintptr_t)from; /* allocated for this shape */
        while (from && *from) {
            if (sxs_mark_read(&from))
                *to++ = '?';
            else
                *to++ = *from++;
        }
        if (to)
            *to = '\0';
    }
}

static struct sxs_recipe_draft *new_draft(const struct sxs_recipe *r)
{
    size_t       params = r->n_params * sizeof(r->params[0]), size = sizeof(*r) + params;
    struct needs n = {0};
    struct sxs_recipe_draft *d;
    add_needs(&n, &r->result);
    for (uint32_t i = 0; i < r->n_params; i++)
        add_needs(&n, &r->params[i].shape);
    d = calloc(1, sizeof(*d) + size + n.n_shapes * sizeof(*n.shapes) +
                      n.n_pieces * sizeof(*n.pieces) + n.n_text);
    if (!d)
        return NULL;
    d->whole = (struct sxs_recipe *)(d + 1);
    n.shapes = (struct sxs_shape *)(void *)((char *)d->whole + size);
    d->pieces = (struct piece *)(n.shapes + n.n_shapes);
    n.text = (char *)(d->pieces + n.n_pieces);
    memcpy(d->whole, r, size);
    d->whole->by_frame = 0;
    add_pieces(d, &n, &d->whole->result);
    for (uint32_t i = 0; i < r->n_params; i++)
        add_pieces(d, &n, &d->whole->params[i].shape);
    return d;
}

void sxs_recipe_prepare(struct sxs_recipe *r)
{
    r->draft = new_draft(r);
    remove_marks(&r->result);
    for (uint32_t i = 0; i < r->n_params; i++)
        remove_marks(&r->params[i].shape);
}

/* ---- in a call -------------------------------------------------------------------------------- */

/* -1: the runtime did not say all; what it did not say has no arguments in @d. */
static int ask(struct sxs_recipe_draft *d, sxs_function fn, COR_PRF_FRAME_INFO frame)
{
    sxs_class cls = {fn.rt, 0};
    int       err = 0;
    d->n_type_args = d->n_method_args = 0;
    if (FAILED(sxs_info_GetFunctionInfo2(fn.rt, fn, frame, &cls, NULL, NULL, ARGS_MAX,
                                         &d->n_method_args, d->method_args)) ||
        d->n_method_args > ARGS_MAX) {
        d->n_method_args = 0;
        return -1;
    }
    if (cls.id && (FAILED(sxs_info_GetClassIDInfo2(fn.rt, cls, NULL, NULL, NULL, ARGS_MAX,
                                                   &d->n_type_args, d->type_args)) ||
                   d->n_type_args > ARGS_MAX)) {
        d->n_type_args = 0;
        err = -1;
    }
    return err;
}

/* Shared code treats every reference alike: one type stands for all of them. -1: a type is not known. */
static int share(const struct sxs_runtime *rt, ClassID *args, ULONG32 n)
{
    ClassID canon = sxs_types_canon(rt);
    int     err = 0;
    for (ULONG32 i = 0; i < n && canon; i++) {
        const struct sxs_type *t = sxs_types_find(rt, args[i]);
        if (t ? t->kind == SXS_TYPE_REFERENCE || t->kind == SXS_TYPE_STRING
              : sxs_is_array_class(rt, args[i])) /* arrays are not in the table */
            args[i] = canon;
        else if (!t)
            err = -1;
    }
    return err;
}

/* NULL: the call does not say, or not known. */
static const struct sxs_type *argument(const struct sxs_recipe_draft *d, uint16_t variable)
{
    int      of_method = variable >> 15;
    uint32_t index = (variable & 0x7fffu) - 1;
    if (index >= (of_method ? d->n_method_args : d->n_type_args))
        return NULL;
    return sxs_types_find(d->whole->rt, (of_method ? d->method_args : d->type_args)[index]);
}

static void fill_name(const struct sxs_recipe_draft *d, struct piece *p)
{
    const char     *at = p->pattern;
    struct sxs_line line = sxs_line_in(p->name, NAME_SIZE);
    char            one[2] = "";
    while (*at) {
        uint16_t               variable = sxs_mark_read(&at);
        const struct sxs_type *t = variable ? argument(d, variable) : NULL;
        if (!variable)
            one[0] = *at++;
        sxs_line_put(&line, !variable ? one : t ? t->name : "?");
    }
    p->shape->name = p->name;
}

static void fill(struct sxs_recipe_draft *d)
{
    for (uint32_t i = 0; i < d->n_pieces; i++) {
        struct piece *p = &d->pieces[i];
        if (p->pattern)
            fill_name(d, p);
        else
            sxs_shape_of_type(d->whole->rt, argument(d, p->shape->variable), p->shape);
    }
}

static void wait_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    __asm__ volatile("yield");
#endif
}

/* What is not known after so many calls is shown as not known from now on. */
static int complete(struct sxs_recipe_draft *d, sxs_function fn, COR_PRF_FRAME_INFO frame)
{
    int unknown = ask(d, fn, frame);
    unknown |=
        share(fn.rt, d->type_args, d->n_type_args) | share(fn.rt, d->method_args, d->n_method_args);
    if (unknown && d->tries++ < TRIES_MAX)
        return -1;
    fill(d);
    return 0;
}

struct sxs_recipe *sxs_recipe_complete(struct sxs_recipe *r, sxs_function fn,
                                       COR_PRF_FRAME_INFO frame)
{
    struct sxs_recipe_draft *d = r->draft;
    int                      state = FREE;
    if (!frame || !d)
        return NULL;
    for (int i = 0; i < WAITS_MAX && atomic_load_explicit(&d->state, memory_order_acquire) == TAKEN;
         i++)
        wait_a_little();
    if (atomic_compare_exchange_strong(&d->state, &state, TAKEN)) {
        state = complete(d, fn, frame) ? FREE : COMPLETE;
        atomic_store_explicit(&d->state, state, memory_order_release);
    }
    return state == COMPLETE ? d->whole : NULL;
}
