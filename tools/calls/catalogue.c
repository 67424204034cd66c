/* SPDX-License-Identifier: MIT */
#include "tools/calls/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "base/session_state.h"
#include "base/text/utf8.h"
#include "manager/module_info.h"
#include "symbols/type_name.h"
#include "tools/calls/not_instrumented.h"

#define NAME_MAX_UTF16 1024
#define BATCH          64u
#define NOTE_MAX       (48u << 10) /* bytes of a note; a note lies within one 64 KiB chunk */

enum { MD_ABSTRACT = 0x400, MD_PINVOKE = 0x2000 };                    /* CorMethodAttr */
enum { MI_CODE_TYPE = 3, MI_RUNTIME = 3, MI_INTERNAL_CALL = 0x1000 }; /* CorMethodImpl */

/* Collects methods for the next note. */
struct catalogue_writer {
    IMetaDataImport2                 *imp; /* borrowed */
    const struct sxs_selected_module *known;
    uint32_t                          runtime;
    size_t                            head, size; /* bytes of the path with its zero; of all text */
    uint64_t                          n;          /* methods in text */
    char                              text[NOTE_MAX];
};

static void flush_text(struct catalogue_writer *w)
{
    struct sxs_calls_note *note;
    if (w->n) {
        note = sxs_gaps_note(SXS_CALLS_NOTE_METHODS, w->runtime, w->text, w->size);
        if (note)
            atomic_store(&note->count, w->n);
    }
    w->n = 0;
    w->size = w->head;
}

static void put_method(struct catalogue_writer *w, mdToken token, enum sxs_calls_method what,
                       const char *name)
{
    size_t size = strlen(name) + 1;
SXS_SESSION_KEEPS(w);
    if (w->size + 5 + size > sizeof(w->text))
        flush_text(w);
    memcpy(w->text + w->size, &token, 4);
    w->text[w->size + 4] = (char)what;
    memcpy(w->text + w->size + 5, name, size);
    w->size += 5 + size;
    w->n++;
}

/* Writes the name of @type as "Namespace.Outer+Inner", without the `N suffix of generic types.
 * Returns the length, or 0 on failure. */
static size_t put_type(IMetaDataImport2 *imp, mdTypeDef type, char *out, size_t size)
{
    static const struct sxs_type_style style = {.without_arity = 1};
    struct sxs_type_source             from = sxs_types_of_import(imp);
    struct sxs_text                    t = sxs_text_counted(out, size);
    return sxs_type_put(&t, &from, &style, type) == 0 && !t.cut ? t.len : 0;
}

static enum sxs_calls_method kind_of(const struct catalogue_writer *w, mdToken method, DWORD attr,
                                     DWORD impl, ULONG rva)
{
    if (attr & MD_ABSTRACT)
        return SXS_CALLS_METHOD_ABSTRACT;
    if (attr & MD_PINVOKE)
        return SXS_CALLS_METHOD_NATIVE;
    if (w->known->is_core &&
        sxs_import_has_attribute(w->imp, method,
                                 u"System.Runtime.CompilerServices.IntrinsicAttribute"))
        return SXS_CALLS_METHOD_INTRINSIC;
    if ((impl & MI_CODE_TYPE) == MI_RUNTIME || (impl & MI_INTERNAL_CALL) || !rva)
        return SXS_CALLS_METHOD_RUNTIME;
    return SXS_CALLS_METHOD_CODE;
}

/* Adds the selected methods of @type. @name: a buffer of @size bytes that begins with the name of
 * @type, @at bytes. */
static void put_methods(struct catalogue_writer *w, mdTypeDef type, char *name, size_t at,
                        size_t size)
{
    HCORENUM    all = NULL;
    mdMethodDef methods[BATCH];
    ULONG       n = 0;
    name[at++] = '.';
    while (SUCCEEDED(w->imp->vtbl->EnumMethods(w->imp, &all, type, methods, BATCH, &n)) && n) {
        for (ULONG i = 0; i < n; i++) {
            WCHAR wide[NAME_MAX_UTF16];
            ULONG len = 0, rva = 0;
            DWORD attr = 0, impl = 0;
            if (FAILED(w->imp->vtbl->GetMethodProps(w->imp, methods[i], NULL, wide, NAME_MAX_UTF16,
                                                    &len, &attr, NULL, NULL, &rva, &impl)))
                continue;
            sxs_utf8_of(wide, len < NAME_MAX_UTF16 ? len : NAME_MAX_UTF16, name + at, size - at);
            if (sxs_select_method(w->known, name))
                put_method(w, methods[i], kind_of(w, methods[i], attr, impl, rva), name);
        }
    }
    w->imp->vtbl->CloseEnum(w->imp, all);
}

static void put_types(struct catalogue_writer *w)
{
    HCORENUM  all = NULL;
    mdTypeDef types[BATCH];
    ULONG     n = 0;
    char      name[4096];
    while (SUCCEEDED(w->imp->vtbl->EnumTypeDefs(w->imp, &all, types, BATCH, &n)) && n) {
        for (ULONG i = 0; i < n; i++) {
            size_t at = put_type(w->imp, types[i], name, sizeof(name) / 2);
            if (at && sxs_select_type(w->known, name))
                put_methods(w, types[i], name, at, sizeof(name));
        }
    }
    w->imp->vtbl->CloseEnum(w->imp, all);
}

void sxs_catalogue(sxs_module module, const struct sxs_selected_module *known)
{
    static struct catalogue_writer w; /* large, hence static: one thread at a time comes here */
    w.imp = sxs_module_import(module);
    if (!w.imp)
        return;
    w.known = known;
    w.runtime = sxs_runtime_number(module.rt);
    w.n = 0;
    w.head = w.size = (size_t)snprintf(w.text, sizeof(w.text), "%s", known->path) + 1;
    put_types(&w);
    flush_text(&w);
    w.imp->vtbl->Release(w.imp);
}
