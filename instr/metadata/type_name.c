/* SPDX-License-Identifier: MIT */
#include "instr/metadata/type_name.h"

#include <stdio.h>
#include <string.h>

#define NESTED_MAX 16
#define ARITY_MAX  64

/* Removes the suffix "`N" of the part's name. Returns N, or 0 if there is no suffix. */
static uint32_t strip_arity(struct sxs_type_part *part)
{
    size_t   len = strlen(part->name), end = len;
    uint32_t arity = 0;
    while (end > 0 && part->name[end - 1] >= '0' && part->name[end - 1] <= '9')
        end--;
    if (end == len || !end || part->name[end - 1] != '`' || end > sizeof(part->text))
        return 0;
    for (size_t i = end; i < len && arity < ARITY_MAX; i++)
        arity = arity * 10 + (uint32_t)(part->name[i] - '0');
    memmove(part->text, part->name, end - 1);
    part->text[end - 1] = '\0';
    part->name = part->text;
    return arity;
}

struct name_printer {
    struct sxs_text              *t;
    const struct sxs_type_source *from;
    const struct sxs_type_style  *style;
    void (*put)(struct sxs_text *t, const char *name);
};

static int put_nested(const struct name_printer *p, uint32_t token, unsigned depth)
{
    struct sxs_type_part part;
    uint32_t             arity;
    if (p->from->read(p->from->context, token, &part) != 0) {
        if (!p->style->numbers)
            return -1;
        snprintf(part.text, sizeof(part.text), "[type 0x%08x]", token);
        part.outer = 0;
        part.space = "";
        part.name = part.text;
    }
    if ((part.outer >> 24 == SXS_TABLE_TYPE_DEF || part.outer >> 24 == SXS_TABLE_TYPE_REF) &&
        depth + 1 < NESTED_MAX) {
        if (put_nested(p, part.outer, depth + 1) != 0)
            return -1;
        sxs_text_put(p->t, p->style->nested ? p->style->nested : "+");
    } else if (p->style->begin && token >> 24 == SXS_TABLE_TYPE_REF) {
        p->style->begin(p->from->context, p->t, part.outer);
    }
    arity = p->style->without_arity ? strip_arity(&part) : 0;
    if (*part.space) {
        p->put(p->t, part.space);
        sxs_text_put(p->t, ".");
    }
    p->put(p->t, part.name);
    if (p->style->after)
        p->style->after(p->style->context, p->t, arity);
    return 0;
}

int sxs_type_put(struct sxs_text *t, const struct sxs_type_source *from,
                 const struct sxs_type_style *style, uint32_t token)
{
    struct name_printer p = {t, from, style, style->put ? style->put : sxs_text_put};
    return put_nested(&p, token, 0);
}

static int read_part(const void *context, uint32_t token, struct sxs_type_part *part)
{
    const struct sxs_metadata *md = context;
    uint32_t                   row = token & 0xffffff;
    int                        is_ref = token >> 24 == SXS_TABLE_TYPE_REF;
    enum sxs_table             table = is_ref ? SXS_TABLE_TYPE_REF : SXS_TABLE_TYPE_DEF;
    part->outer =
        is_ref ? sxs_md_cell(md, table, row, SXS_TYPE_REF_SCOPE) : sxs_md_enclosing(md, token);
    part->space = sxs_md_string(
        md, sxs_md_cell(md, table, row, is_ref ? SXS_TYPE_REF_NAMESPACE : SXS_TYPE_DEF_NAMESPACE));
    part->name = sxs_md_string(
        md, sxs_md_cell(md, table, row, is_ref ? SXS_TYPE_REF_NAME : SXS_TYPE_DEF_NAME));
    return 0;
}

struct sxs_type_source sxs_types_of_file(const struct sxs_metadata *md)
{
    return (struct sxs_type_source){read_part, md};
}
