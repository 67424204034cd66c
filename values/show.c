/* SPDX-License-Identifier: MIT */
/* show.c - formats a value of any type. */
#include "values/show.h"

#include <string.h>

#include "base/safe_read.h"
#include "values/memory.h"

static uintptr_t read_word(const uint8_t *bytes)
{
    uintptr_t value;
    memcpy(&value, bytes, sizeof(value));
    return value;
}

static struct sxs_type_desc *target_of(const struct sxs_type_desc *desc)
{
    return (struct sxs_type_desc *)(uintptr_t)desc->of; /* not const: it caches its type */
}

/* Not inlined: reading takes some 200 bytes of stack, and the callers recurse. */
__attribute__((noinline)) size_t sxs_show_read(const struct sxs_line *line, void *to,
                                               uintptr_t from, size_t size)
{
    return line->memory ? sxs_memory_read(line->memory, to, from, size)
                        : sxs_safe_read(to, from, size);
}

const uint8_t *sxs_show_copy(struct sxs_line *line, uintptr_t at, size_t size)
{
    size_t   room = (size + 7) & ~(size_t)7;
    uint8_t *copy;
    if (room > line->n_spare) {
        sxs_line_put(line, "{...}");
        return NULL;
    }
    line->n_spare -= room;
    copy = line->spare + line->n_spare;
    if (sxs_show_read(line, copy, at, size) == size)
        return copy;
    line->n_spare += room;
    sxs_line_put(line, line->memory ? "..." : "<?: unreadable>");
    return NULL;
}

/* ---- by-ref and pointers ---------------------------------------------------------------------- */

static void show_by_ref(struct sxs_line *line, const struct sxs_formatter *r,
                        struct sxs_type_desc *desc, uintptr_t at, unsigned depth)
{
    struct sxs_type_desc *of = target_of(desc);
    uint32_t              size = of ? sxs_type_desc_size(of) : 0;
    size_t            spare = line->n_spare;
    const uint8_t    *bytes;
    if (!at) {
        sxs_line_put(line, "null");
    } else if (!of || !of->element || !size) {
        sxs_line_putf(line, "<?: %s>", of && of->name ? of->name : "type");
    } else if (size > SXS_SHOW_VALUE) {
        sxs_line_putf(line, "<?: %u bytes>", size);
    } else if (depth >= SXS_SHOW_DEPTH) {
        sxs_line_put(line, "{...}");
    } else {
        bytes = sxs_show_copy(line, at, size);
        if (bytes)
            sxs_show(line, r, of, bytes, depth + 1);
        line->n_spare = spare;
    }
}

/* ---- value types ------------------------------------------------------------------------------ */

static void show_nullable(struct sxs_line *line, const struct sxs_formatter *r,
                          const struct sxs_type *t, const uint8_t *bytes, unsigned depth)
{
    struct sxs_member *value = &t->members[1];
    if (t->n_members != 2 || value->offset + sxs_type_desc_size(&value->desc) > t->size)
        sxs_line_put(line, "<?: form>");
    else if (!bytes[t->members[0].offset])
        sxs_line_put(line, "null");
    else
        sxs_show(line, r, &value->desc, bytes + value->offset, depth);
}

static void show_chars(struct sxs_line *line, uintptr_t at, uint32_t n)
{
    size_t         want = n < SXS_SHOW_STRING ? n : SXS_SHOW_STRING, spare = line->n_spare;
    const uint8_t *units = sxs_show_copy(line, at, 2 * want);
    if (units)
        sxs_line_string(line, (const uint16_t *)(const void *)units, want, n);
    line->n_spare = spare;
}

static void show_span(struct sxs_line *line, const struct sxs_formatter *r,
                      const struct sxs_type *t, const uint8_t *bytes, unsigned depth)
{
    struct sxs_member *from = t->members, *length = from + 1;
    struct sxs_type_desc *of;
    int32_t            n;
    if (t->n_members != 2 || from->desc.element != SXS_ELEMENT_BYREF || !from->desc.of ||
        length->desc.element != SXS_ELEMENT_I4 || from->offset + 8 > t->size ||
        length->offset + 4 > t->size) {
        sxs_line_put(line, "<?: form>");
        return;
    }
    memcpy(&n, bytes + length->offset, sizeof(n));
    of = target_of(&from->desc);
    if (of->element == SXS_ELEMENT_CHAR) {
        show_chars(line, read_word(bytes + from->offset), (uint32_t)n);
        return;
    }
    sxs_line_putf(line, "[%d] ", n);
    sxs_show_items(line, r, of, read_word(bytes + from->offset), (uint32_t)n, depth);
}

static void show_members(struct sxs_line *line, const struct sxs_formatter *r,
                         const struct sxs_type *t, const uint8_t *bytes, unsigned depth)
{
    sxs_line_put(line, "{");
    for (uint32_t i = 0; i < t->n_members && !line->text.cut; i++) {
        struct sxs_member *m = &t->members[i];
        const char        *name = m->name;
        size_t             len = strlen(name);
        if (name[0] == '<' && strchr(name, '>')) { /* <Name>k__BackingField */
            name++;
            len = strcspn(name, ">");
        }
        sxs_line_putf(line, "%s%.*s = ", i ? ", " : "", (int)(len < 60 ? len : 60), name);
        if (m->desc.element && m->offset + (uint64_t)sxs_type_desc_size(&m->desc) > t->size)
            sxs_line_put(line, "<?: layout>");
        else
            sxs_show(line, r, &m->desc, bytes + m->offset, depth + 1);
    }
    sxs_line_put(line, "}");
}

static void show_value(struct sxs_line *line, const struct sxs_formatter *r,
                       const struct sxs_type *t, const uint8_t *bytes, unsigned depth)
{
    if (t->kind == SXS_TYPE_PRIMITIVE)
        sxs_show_primitive(line, t->element, bytes);
    else if (t->kind == SXS_TYPE_ENUM)
        sxs_show_enum(line, t, bytes);
    else if (t->kind != SXS_TYPE_STRUCT || !t->size || !t->members)
        sxs_line_put(line, "<?: layout>");
    else if (t->form == SXS_FORM_NULLABLE)
        show_nullable(line, r, t, bytes, depth);
    else if (t->form == SXS_FORM_SPAN)
        show_span(line, r, t, bytes, depth);
    else if (t->form != SXS_FORM_FIELDS)
        sxs_show_form(line, t, bytes);
    else if (depth >= SXS_SHOW_DEPTH)
        sxs_line_put(line, "{...}");
    else
        show_members(line, r, t, bytes, depth);
}

/* ---- any -------------------------------------------------------------------------------------- */

void sxs_show(struct sxs_line *line, const struct sxs_formatter *r, struct sxs_type_desc *desc,
              const uint8_t *bytes, unsigned depth)
{
    const struct sxs_type *t;
    switch (desc->element) {
    case SXS_ELEMENT_STRING:
    case SXS_ELEMENT_OBJECT: sxs_show_object(line, r, read_word(bytes), depth); break;
    case SXS_ELEMENT_BYREF: show_by_ref(line, r, desc, read_word(bytes), depth); break;
    case SXS_ELEMENT_PTR:
    case SXS_ELEMENT_FNPTR: sxs_show_primitive(line, SXS_ELEMENT_U, bytes); break;
    case SXS_ELEMENT_VALUETYPE:
        t = sxs_type_desc_type(desc);
        if (t)
            show_value(line, r, t, bytes, depth);
        else
            sxs_line_putf(line, "<?: %.100s>", desc->name);
        break;
    case SXS_ELEMENT_TYPEDBYREF: sxs_line_put(line, "<?: typed reference>"); break;
    case 0: sxs_line_putf(line, "<?: %.100s>", desc->name ? desc->name : "type"); break;
    default: sxs_show_primitive(line, desc->element, bytes);
    }
}

void sxs_show_at(struct sxs_line *line, const struct sxs_formatter *r, struct sxs_type_desc *desc,
                 COR_PRF_FUNCTION_ARGUMENT_RANGE where)
{
    static const uint8_t none[16];
    uint8_t              spare[SXS_SHOW_SPARE] __attribute__((aligned(8)));
    uint32_t             size = sxs_type_desc_size(desc);
    line->spare = spare;
    line->n_spare = sizeof(spare);
    if (!where.startAddress || !size) {
        if (desc->element && size)
            sxs_line_put(line, "<?: address not reported>");
        else
            sxs_show(line, r, desc, none, 0); /* appends the reason */
        return;
    }
    if (size > SXS_SHOW_VALUE || size > where.length) {
        sxs_line_putf(line, "<?: %u bytes, %u reported>", size, where.length);
        return;
    }
    sxs_show(line, r, desc, (const uint8_t *)where.startAddress, 0);
    line->n_spare = 0;
}

void sxs_show_items(struct sxs_line *line, const struct sxs_formatter *r,
                    struct sxs_type_desc *desc, uintptr_t at, uint64_t n, unsigned depth)
{
    const uint8_t *bytes = NULL;
    uint32_t       size = sxs_type_desc_size(desc);
    uint64_t       shown = n < SXS_SHOW_ITEMS ? n : SXS_SHOW_ITEMS;
    size_t         spare = line->n_spare;
    if (n && (!size || size > SXS_SHOW_VALUE)) {
        sxs_line_putf(line, "{<?: %.100s>}", desc->name ? desc->name : "type");
        return;
    }
    if (depth + 1 >= SXS_SHOW_DEPTH) {
        sxs_line_put(line, n ? "{...}" : "{}");
        return;
    }
    if (n && shown > SXS_SHOW_VALUE / size)
        shown = SXS_SHOW_VALUE / size;
    sxs_line_put(line, "{");
    if (n)
        bytes = sxs_show_copy(line, at, shown * size);
    for (uint64_t i = 0; bytes && i < shown && !line->text.cut; i++) {
        sxs_line_put(line, i ? ", " : "");
        sxs_show(line, r, desc, bytes + i * size, depth + 1);
    }
    sxs_line_put(line, bytes && n > shown ? ", ...}" : "}");
    line->n_spare = spare;
}
