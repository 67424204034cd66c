/* SPDX-License-Identifier: MIT */
#include "symbols/type_name.h"

#include "base/text/utf8.h"

enum { TD_VISIBILITY_MASK = 7, TD_NESTED_PUBLIC = 2 }; /* >= TD_NESTED_PUBLIC: nested */

/* Reads the name into @wide, which has room for @cap units. Returns its length; 0: none. */
static size_t read_name(IMetaDataImport2 *imp, uint32_t token, struct sxs_type_part *part,
                        WCHAR *wide, ULONG cap)
{
    ULONG   n = 0;
    DWORD   flags = 0;
    mdToken outer = 0, extends = 0;
    if (!imp)
        return 0;
    if (token >> 24 == SXS_TABLE_TYPE_REF) {
        if (FAILED(imp->vtbl->GetTypeRefProps(imp, token, &outer, wide, cap, &n)))
            return 0;
    } else {
        if (FAILED(imp->vtbl->GetTypeDefProps(imp, token, wide, cap, &n, &flags, &extends)))
            return 0;
        if ((flags & TD_VISIBILITY_MASK) < TD_NESTED_PUBLIC ||
            FAILED(imp->vtbl->GetNestedClassProps(imp, token, &outer)))
            outer = 0;
    }
    part->outer = outer;
    part->space = "";
    part->name = part->text;
    return sxs_utf16_len(wide, n < cap ? n : cap);
}

static int read_raw(const void *context, uint32_t token, struct sxs_type_part *part)
{
    WCHAR  wide[1024];
    size_t n =
        read_name((IMetaDataImport2 *)(uintptr_t)context, token, part, wide, ARRAY_LEN(wide));
    if (n)
        sxs_utf8_of(wide, n, part->text, sizeof(part->text));
    return n ? 0 : -1;
}

static int read_to_show(const void *context, uint32_t token, struct sxs_type_part *part)
{
    WCHAR  wide[1024];
    size_t n =
        read_name((IMetaDataImport2 *)(uintptr_t)context, token, part, wide, ARRAY_LEN(wide));
    if (n)
        sxs_utf8_line(wide, n, '?', part->text, sizeof(part->text), NULL);
    return n ? 0 : -1;
}

struct sxs_type_source sxs_types_of_import(IMetaDataImport2 *imp)
{
    return (struct sxs_type_source){read_raw, imp};
}

struct sxs_type_source sxs_types_to_show(IMetaDataImport2 *imp)
{
    return (struct sxs_type_source){read_to_show, imp};
}
