/* SPDX-License-Identifier: MIT */
#include "tools/heap/answers_find.h"
#include "tools/heap/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/plain_type.h"
#include "instr/weave/nearest.h"
#include "manager/module_info.h"
#include "values/layout.h"

#define NAME_SIZE  1024u
#define FIELDS_MAX 4096u

enum { FIELD_STATIC = 0x10, FIELD_LITERAL = 0x40 };

/* One question about a static field. */
struct field_search {
    struct sxs_heap_answers *a;
    size_t                   question;
    char                     type[NAME_SIZE]; /* plain */
    char                     field[NAME_SIZE];
    struct sxs_nearest       types, fields;
    int                      type_found, literal; /* literal: a constant has the name */
};

/* Splits "TYPE.FIELD". */
static void split(struct field_search *s, const char *text)
{
    const char *dot = strrchr(text, '.');
    char        type[NAME_SIZE];
    snprintf(s->field, sizeof(s->field), "%s", dot ? dot + 1 : text);
    snprintf(type, sizeof(type), "%.*s", dot ? (int)(dot - text) : 0, text);
    sxs_plain_type(type, s->type, sizeof(s->type));
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void add_field(struct field_search *s, sxs_class cls, mdFieldDef token)
{
    struct sxs_heap_answers *a = s->a;
    struct sxs_heap_found   *f = &a->fields[a->n_fields];
    const struct sxs_type   *t;
    char                     name[2 * NAME_SIZE];
    COR_PRF_STATIC_TYPE      kind = 0;
    if (a->n_fields == SXS_HEAP_ANSWER_FIELDS)
        return;
    *f = (struct sxs_heap_found){.question = s->question};
    f->status = sxs_info_GetStaticFieldInfo(cls.rt, cls, token, &kind);
    f->kind = kind;
    t = sxs_types_add(cls);
    if (t && strstr(t->name, "System.__Canon")) /* stands for all reference types; has no fields */
        return;
    snprintf(name, sizeof(name), "%s.%s", t ? t->name : s->type, s->field);
    f->name = strdup(name);
    if (!f->name || sxs_static_read(cls, token, &f->field) != 0) {
        sxs_static_free(&f->field);
        free(f->name);
        return;
    }
    f->n_refs = sxs_static_references(&f->field, f->refs, ARRAY_LEN(f->refs));
    if (kind & COR_PRF_FIELD_RVA_STATIC)
        f->image = sxs_heap_image_address(cls, token);
    a->n_fields++;
}

/* A property's field, "<Name>k__BackingField", has the property's name, too. */
static int is_named(const char *field, const char *name)
{
    size_t n = strlen(name);
    return strcmp(field, name) == 0 || (field[0] == '<' && strncmp(field + 1, name, n) == 0 &&
                                        strcmp(field + 1 + n, ">k__BackingField") == 0);
}

static void look_at_field(struct field_search *s, IMetaDataImport2 *imp, sxs_class cls,
                          mdFieldDef token)
{
    WCHAR           wide[512] = {0};
    char            bytes[4 * 512];
    struct sxs_text name = sxs_text_in(bytes, sizeof(bytes));
    ULONG           n = 0;
    DWORD           flags = 0;
    if (FAILED(imp->vtbl->GetFieldProps(imp, token, NULL, wide, ARRAY_LEN(wide) - 1, &n, &flags,
                                        NULL, NULL, NULL, NULL, NULL)) ||
        !(flags & FIELD_STATIC) || !n)
        return;
    sxs_text_put_utf16(&name, wide, n < ARRAY_LEN(wide) ? n - 1 : ARRAY_LEN(wide) - 1);
    if (!is_named(bytes, s->field))
        sxs_nearest_try(&s->fields, bytes);
    else if (flags & FIELD_LITERAL)
        s->literal = 1;
    else
        add_field(s, cls, token);
}

static void look_at_fields(struct field_search *s, sxs_class cls,
                           const struct sxs_heap_loaded *loaded)
{
    IMetaDataImport2 *imp = sxs_module_import((sxs_module){cls.rt, loaded->module});
    HCORENUM          all = NULL;
    mdFieldDef        tokens[64];
    ULONG             n = 0, total = 0;
    if (!imp)
        return;
    while (
        SUCCEEDED(imp->vtbl->EnumFields(imp, &all, loaded->token, tokens, ARRAY_LEN(tokens), &n)) &&
        n && (total += n) < FIELDS_MAX)
        for (ULONG i = 0; i < n && i < ARRAY_LEN(tokens); i++)
            look_at_field(s, imp, cls, tokens[i]);
    imp->vtbl->CloseEnum(imp, all);
    imp->vtbl->Release(imp);
}

/* ---- types ----------------------------------------------------------------------------------- */

static void look_at_class(struct field_search *s, const struct sxs_heap_loaded *loaded)
{
    sxs_class cls = {s->a->rt, loaded->id};
    char      full[NAME_SIZE], plain[NAME_SIZE];
    if (sxs_class_name(cls, full, sizeof(full), NULL, NULL) != 0)
        return;
    sxs_plain_type(full, plain, sizeof(plain));
    if (strcmp(plain, s->type) != 0) {
        sxs_nearest_try(&s->types, plain);
        return;
    }
    s->type_found = 1;
    look_at_fields(s, cls, loaded);
}

static void note_reason(struct field_search *s, size_t before)
{
    char            bytes[2048];
    struct sxs_text text = sxs_text_in(bytes, sizeof(bytes));
    if (s->a->n_fields > before)
        return;
    if (s->literal) {
        sxs_text_putf(&text, "%s is a constant; it has no storage", s->field);
    } else if (s->type_found) {
        sxs_text_putf(&text, "%s has no static field %s", s->type, s->field);
        sxs_nearest_put(&s->fields, &text);
    } else if (!s->type[0]) {
        sxs_text_putf(&text, "expected TYPE.FIELD");
    } else {
        sxs_text_putf(&text, "no type %s is loaded", s->type);
        sxs_nearest_put(&s->types, &text);
    }
    s->a->of[s->question].reason = strdup(bytes);
}

/* Finds the static fields of all questions, and sets the reasons of those that have none. */
static void find_all(struct sxs_heap_answers *a, struct sxs_heap_classes *classes)
{
    size_t                  n, leaving;
    struct sxs_heap_loaded *all = sxs_heap_classes_all(classes, &n, &leaving);
    struct field_search    *s = malloc(sizeof(*s));
    if (all)
        sxs_heap_classes_add_values(a->rt, all, n);
    for (size_t q = 0; q < a->request.n && s && all; q++) {
        size_t before = a->n_fields;
        if (a->request.all[q].address)
            continue;
        *s = (struct field_search){.a = a, .question = q};
        split(s, a->request.all[q].text);
        sxs_nearest_begin(&s->types, s->type);
        sxs_nearest_begin(&s->fields, s->field);
        for (size_t i = 0; i < n; i++)
            look_at_class(s, &all[i]);
        note_reason(s, before);
    }
    if (all && n > leaving)
        a->forget = malloc((n - leaving) * sizeof(*a->forget));
    for (size_t i = leaving; all && i < n && a->forget; i++)
        a->forget[a->n_forget++] = (sxs_class){a->rt, all[i].id};
    free(all);
    free(s);
}

/* ---- beginning ------------------------------------------------------------------------------- */

static void find_domain(struct sxs_heap_answers *a, struct sxs_heap_classes *classes)
{
    sxs_module   module = {a->rt, sxs_heap_classes_module_at(classes, 0)};
    sxs_assembly assembly = {0};
    DWORD        flags;
    ULONG        n;
    if (SUCCEEDED(sxs_info_GetModuleInfo2(a->rt, module, NULL, 0, &n, NULL, &assembly, &flags)))
        sxs_info_GetAssemblyInfo(a->rt, assembly, 0, &n, NULL, &a->domain, NULL);
}

struct sxs_heap_answers *sxs_heap_answers_begin(const struct sxs_heap_request *request,
                                                struct sxs_heap_classes       *classes,
                                                struct sxs_runtime            *rt)
{
    struct sxs_heap_answers *a = request->n ? calloc(1, sizeof(*a)) : NULL;
    if (!a)
        return NULL;
    a->rt = rt;
    for (size_t i = 0; i < request->n; i++)
        if (!request->all[i].runtime || request->all[i].runtime == sxs_runtime_number(rt))
            a->request.all[a->request.n++] = request->all[i];
    for (size_t i = 0; i < a->request.n; i++)
        a->of[i].now = a->request.all[i].address;
    if (!a->request.n) {
        free(a);
        return NULL;
    }
    find_domain(a, classes);
    find_all(a, classes);
    return a;
}
