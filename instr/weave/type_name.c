/* SPDX-License-Identifier: MIT */
#include "instr/weave/type_name.h"

#include "symbols/type_name.h"

static const struct sxs_type_style style = {.nested = "+"};

void sxs_put_type_name(void *import, struct sxs_text *t, uint32_t token)
{
    struct sxs_type_source from = sxs_types_of_import(import);
    if (token >> 24 == SXS_TABLE_TYPE_DEF || token >> 24 == SXS_TABLE_TYPE_REF)
        sxs_type_put(t, &from, &style, token);
}

int sxs_type_def_name(IMetaDataImport2 *imp, mdToken type, char *out, size_t size)
{
    struct sxs_text        t = sxs_text_counted(out, size);
    struct sxs_type_source from = sxs_types_of_import(imp);
    return sxs_type_put(&t, &from, &style, type);
}
