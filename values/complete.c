/* SPDX-License-Identifier: MIT */
/*
 * complete.c - value formatters of code that several instantiations share; an enter hook completes
 * them.
 *
 * When such a function is compiled, its runtime does not report its type arguments; only the frame
 * of a call has them. So three things are prepared at the compilation: a copy of the formatter, a
 * list of its type descriptors that depend on type parameters, and room for the names of those
 * whose names do. The first call fills the copy in: it asks the runtime for the classes of the type
 * arguments, which neither loads nor allocates anything, and looks these classes up in the table of
 * types.
 */
#include "values/complete.h"

#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "values/line.h"
#include "values/show.h"

#define ARGS_MAX  64
#define NAME_SIZE 1024u
#define WAITS_MAX 1000  /* processor pauses, while another thread completes the formatter */
#define TRIES_MAX 1000u /* calls whose type arguments were not all reported or not all known */

/* A type descriptor of the copy that a call fills in. */
struct desc_piece {
    struct sxs_type_desc *desc;
    const char           *pattern; /* the type's name with marks; NULL: use desc->variable */
    char             *name;    /* with a pattern: room for NAME_SIZE bytes */
};

enum { FREE, TAKEN, COMPLETE };

/* The prepared copy. One block of memory contains everything that its pointers point to. Never
 * freed. */
struct sxs_formatter_draft {
    _Atomic int        state; /* guards the rest. TAKEN: one thread writes. COMPLETE: final */
    uint32_t           tries, n_pieces;
    ULONG32            n_type_args, n_method_args;
    ClassID            type_args[ARGS_MAX], method_args[ARGS_MAX];
    struct sxs_formatter *whole;
    struct desc_piece    *pieces;
};

/* ---- when the function has been compiled ------------------------------------------------------ */

/* First counts the memory that is needed of each kind, then has the positions of the unused
 * memory. */
struct needs {
    struct desc_piece    *pieces;
    struct sxs_type_desc *descs;
    char             *text;
    size_t                n_pieces, n_descs, n_text;
};

static const char *pattern_of(const struct sxs_type_desc *desc)
{
    return desc->element == SXS_ELEMENT_VALUETYPE && desc->name && sxs_mark_in(desc->name)
               ? desc->name
               : NULL;
}

static void add_needs(struct needs *n, const struct sxs_type_desc *desc)
{
    for (; desc; desc = desc->of) {
        const char *pattern = pattern_of(desc);
        n->n_descs += desc->of != NULL;
        n->n_pieces += desc->variable || pattern;
        n->n_text += pattern ? strlen(pattern) + 1 + NAME_SIZE : 0;
    }
}

/* Adds a descriptor of the copy, @desc, and copies of the descriptors that it refers to. */
static void add_pieces(struct sxs_formatter_draft *d, struct needs *left,
                       struct sxs_type_desc *desc)
{
    for (;;) {
        const char *pattern = pattern_of(desc);
        if (desc->variable || pattern) {
            struct desc_piece *p = &d->pieces[d->n_pieces++];
            p->desc = desc;
            if (pattern) {
                size_t size = strlen(pattern) + 1;
                p->pattern = memcpy(left->text, pattern, size);
                p->name = left->text + size;
                left->text += size + NAME_SIZE;
            }
        }
        if (!desc->of)
            return;
        memcpy(left->descs, desc->of, sizeof(*left->descs));
        desc->of = left->descs;
        desc = left->descs++;
    }
}

/* Replaces each mark in a name with "?". Works in place because "?" is shorter. */
static void remove_marks(struct sxs_type_desc *desc)
{
    for (; desc; desc = (struct sxs_type_desc *)(uintptr_t)desc->of) {
        const char *from = pattern_of(desc);
        char       *to = (char *)(uintptr_t)from; /* writable: allocated for @desc */
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

static struct sxs_formatter_draft *new_draft(const struct sxs_formatter *r)
{
    size_t       params = r->n_params * sizeof(r->params[0]), size = sizeof(*r) + params;
    struct needs n = {0};
    struct sxs_formatter_draft *d;
    add_needs(&n, &r->result);
    for (uint32_t i = 0; i < r->n_params; i++)
        add_needs(&n, &r->params[i].desc);
    d = calloc(1, sizeof(*d) + size + n.n_descs * sizeof(*n.descs) +
                      n.n_pieces * sizeof(*n.pieces) + n.n_text);
    if (!d)
        return NULL;
    d->whole = (struct sxs_formatter *)(d + 1);
    n.descs = (struct sxs_type_desc *)(void *)((char *)d->whole + size);
    d->pieces = (struct desc_piece *)(n.descs + n.n_descs);
    n.text = (char *)(d->pieces + n.n_pieces);
    memcpy(d->whole, r, size);
    d->whole->by_frame = 0;
    add_pieces(d, &n, &d->whole->result);
    for (uint32_t i = 0; i < r->n_params; i++)
        add_pieces(d, &n, &d->whole->params[i].desc);
    return d;
}

void sxs_formatter_prepare(struct sxs_formatter *r)
{
    r->draft = new_draft(r);
    remove_marks(&r->result);
    for (uint32_t i = 0; i < r->n_params; i++)
        remove_marks(&r->params[i].desc);
}

/* ---- in a call -------------------------------------------------------------------------------- */

/* Asks the runtime for the classes of the type arguments. Returns -1 if the runtime did not report
 * all of them, else 0. The number of unreported arguments is 0 in @d. */
static int ask_arguments(struct sxs_formatter_draft *d, sxs_function fn, COR_PRF_FRAME_INFO frame)
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

/* Replaces each reference type among @args with System.__Canon, because shared code does not depend
 * on the reference type. Returns -1 if a type is not known, else 0. */
static int use_shared_types(const struct sxs_runtime *rt, ClassID *args, ULONG32 n)
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

/* Returns the type argument for @variable, or NULL when it is not known. */
static const struct sxs_type *argument(const struct sxs_formatter_draft *d, uint16_t variable)
{
    int      of_method = variable >> 15;
    uint32_t index = (variable & 0x7fffu) - 1;
    if (index >= (of_method ? d->n_method_args : d->n_type_args))
        return NULL;
    return sxs_types_find(d->whole->rt, (of_method ? d->method_args : d->type_args)[index]);
}

static void fill_name(const struct sxs_formatter_draft *d, struct desc_piece *p)
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
    p->desc->name = p->name;
}

static void fill_draft(struct sxs_formatter_draft *d)
{
    for (uint32_t i = 0; i < d->n_pieces; i++) {
        struct desc_piece *p = &d->pieces[i];
        if (p->pattern)
            fill_name(d, p);
        else
            sxs_type_desc_of_type(d->whole->rt, argument(d, p->desc->variable), p->desc);
    }
}

/* Fills the copy in. Returns -1 if type arguments were not reported or are not known yet. After
 * TRIES_MAX such calls, fills the copy in anyway; then these values are shown as not known from now
 * on. */
static int complete_draft(struct sxs_formatter_draft *d, sxs_function fn, COR_PRF_FRAME_INFO frame)
{
    int unknown = ask_arguments(d, fn, frame);
    unknown |= use_shared_types(fn.rt, d->type_args, d->n_type_args) |
               use_shared_types(fn.rt, d->method_args, d->n_method_args);
    if (unknown && d->tries++ < TRIES_MAX)
        return -1;
    fill_draft(d);
    return 0;
}

struct sxs_formatter *sxs_formatter_complete(struct sxs_formatter *r, sxs_function fn,
                                             COR_PRF_FRAME_INFO frame)
{
    struct sxs_formatter_draft *d = r->draft;
    int                      state = FREE;
    if (!frame || !d)
        return NULL;
    for (int i = 0; i < WAITS_MAX && atomic_load_explicit(&d->state, memory_order_acquire) == TAKEN;
         i++)
        sxs_pause();
    if (atomic_compare_exchange_strong(&d->state, &state, TAKEN)) {
        state = complete_draft(d, fn, frame) ? FREE : COMPLETE;
        atomic_store_explicit(&d->state, state, memory_order_release);
    }
    return state == COMPLETE ? d->whole : NULL;
}
