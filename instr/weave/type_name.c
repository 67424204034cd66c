/* SPDX-License-Identifier: MIT */
#include "instr/weave/type_name.h"

#include "base/text/utf8.h"

#define NAME         2048
#define NESTED_MAX   8
#define TABLE(token) ((token) >> 24)
enum { TYPE_REF = 0x01, TYPE_DEF = 0x02 };
enum { TD_VISIBILITY_MASK = 7, TD_NESTED_PUBLIC = 2 }; /* this and greater ones: nested */

/* Returns 0, or -1 when a name cannot be read. */
static int put_type_def(IMetaDataImport2 *imp, mdToken type, unsigned depth, struct sxs_text *t)
{
    WCHAR   wide[1024] = {0};
    char    name[NAME];
    ULONG   n = 0;
    DWORD   flags = 0;
    mdToken outer = 0;
    if (FAILED(imp->vtbl->GetTypeDefProps(imp, type, wide, ARRAY_LEN(wide), &n, &flags, NULL)))
        return -1;
    if ((flags & TD_VISIBILITY_MASK) >= TD_NESTED_PUBLIC && depth < NESTED_MAX) {
        if (FAILED(imp->vtbl->GetNestedClassProps(imp, type, &outer)) ||
            put_type_def(imp, outer, depth + 1, t))
            return -1;
        sxs_text_put(t, "+");
    }
    sxs_utf8_of(wide, ARRAY_LEN(wide), name, sizeof(name));
    sxs_text_put(t, name);
    return 0;
}

static void put_type_ref(IMetaDataImport2 *imp, mdToken type, unsigned depth, struct sxs_text *t)
{
    WCHAR   wide[1024] = {0};
    char    name[NAME];
    ULONG   n = 0;
    mdToken scope = 0;
    if (FAILED(imp->vtbl->GetTypeRefProps(imp, type, &scope, wide, ARRAY_LEN(wide), &n)))
        return;
    if (TABLE(scope) == TYPE_REF && depth < NESTED_MAX) {
        put_type_ref(imp, scope, depth + 1, t);
        sxs_text_put(t, "+");
    }
    sxs_utf8_of(wide, ARRAY_LEN(wide), name, sizeof(name));
    sxs_text_put(t, name);
}

void sxs_put_type_name(void *import, struct sxs_text *t, uint32_t token)
{
    if (TABLE(token) == TYPE_DEF)
        put_type_def(import, token, 0, t);
    else if (TABLE(token) == TYPE_REF)
        put_type_ref(import, token, 0, t);
}

int sxs_type_def_name(IMetaDataImport2 *imp, mdToken type, char *out, size_t size)
{
    struct sxs_text t = sxs_text_counted(out, size);
    out[0] = '\0';
    return put_type_def(imp, type, 0, &t);
}
