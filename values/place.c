/* SPDX-License-Identifier: MIT */
/* place.c - formats values at addresses that instrumented code of a method passes. */
#include <string.h>

#include "values/formatter.h"
#include "values/show.h"

/* Fills @out with the descriptor of the exact type @cls. For references it is OBJECT, because each
 * object has its own type. */
static void desc_of(const struct sxs_runtime *rt, ClassID cls, struct sxs_type_desc *out)
{
    const struct sxs_type *t = sxs_types_find(rt, cls);
    out->rt = rt;
    if (!t) {
        out->element = sxs_is_array_class(rt, cls) ? SXS_ELEMENT_OBJECT : 0;
        out->name = "type not known";
        return;
    }
    out->element = SXS_ELEMENT_VALUETYPE;
    out->name = t->name;
    out->module = t->module;
    atomic_store(&out->type, t);
    if (t->kind == SXS_TYPE_STRING || t->kind == SXS_TYPE_REFERENCE)
        out->element = SXS_ELEMENT_OBJECT;
    else if (t->kind == SXS_TYPE_PRIMITIVE)
        out->element = t->element;
}

static void put_value(struct sxs_line *line, const struct sxs_formatter *r,
                      struct sxs_type_desc *desc, const void *at, ClassID cls)
{
    COR_PRF_FUNCTION_ARGUMENT_RANGE where = {(UINT_PTR)at, SXS_SHOW_VALUE};
    struct sxs_type_desc            exact = {0}, by_ref = {.rt = r->rt, .of = &exact};
    if (cls) {
        desc_of(r->rt, cls, &exact);
        by_ref.element = SXS_ELEMENT_BYREF;
        desc = desc->element == SXS_ELEMENT_BYREF ? &by_ref : &exact;
    }
    sxs_show_at(line, r, desc, where);
}

static void put_argument(struct sxs_line *line, struct sxs_formatter *r, uint32_t index,
                         const void *at, ClassID cls, int ended)
{
    struct sxs_param *p = &r->params[index];
    sxs_line_putf(line, "%s%.60s = ", line->text.len ? ", " : "", p->name ? p->name : "?");
    if (p->is_out && !ended)
        sxs_line_put(line, "<out>");
    else
        put_value(line, r, &p->desc, at, cls);
}

void sxs_formatter_put(struct sxs_formatter *r, uint32_t which, const void *at, ClassID cls,
                       int ended, struct sxs_line *line)
{
    uintptr_t object;
    if (line->text.cut)
        return;
    if (which == SXS_VALUE_EXCEPTION) {
        memcpy(&object, at, sizeof(object));
        sxs_show_exception(line, r, object);
    } else if (r->refused || (which != SXS_VALUE_RESULT && which >= r->n_params)) {
        if (!line->text.len)
            sxs_line_putf(line, "<?: %s>", r->refused ? r->refused : "another number of arguments");
    } else if (which == SXS_VALUE_RESULT) {
        put_value(line, r, &r->result, at, cls);
    } else {
        put_argument(line, r, which, at, cls, ended);
    }
}
