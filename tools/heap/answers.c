/* SPDX-License-Identifier: MIT */
#include "tools/heap/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/object_size.h"
#include "manager/module_info.h"
#include "values/layout.h"

#define OBJECT_BYTES (16u << 10) /* of an object that was asked for */
#define OTHER_BYTES  1024u       /* of one that it refers to */
#define REFERENCES   64u         /* of one object that are followed */
#define LEVELS       3u          /* of references that are followed */

/* ---- copies ---------------------------------------------------------------------------------- */

struct references {
    ObjectID all[REFERENCES];
    size_t   n;
};

static BOOL receive_reference(ObjectID id, ObjectID *reference, void *arg)
{
    struct references *refs = arg;
    (void)id;
    if (*reference && refs->n < REFERENCES)
        refs->all[refs->n++] = *reference;
    return refs->n < REFERENCES;
}

/* Copies an object, and if @follow, what it refers to. Only while the runtime is stopped are its
 * references objects for sure. Returns 0 or -1. */
static int copy_object(struct sxs_heap_answers *a, uint64_t address, unsigned level, int follow)
{
    sxs_object        object = {a->rt, (ObjectID)address};
    struct references refs = {.n = 0};
    size_t            limit = level ? OTHER_BYTES : OBJECT_BYTES;
    SIZE_T            size = 0;
    int               err;
    if (FAILED(sxs_info_GetObjectSize2(a->rt, object, &size)) || size < sizeof(uint64_t))
        return -1;
    err = sxs_memory_add(&a->memory, address, size < limit ? size : limit, 1);
    if (err < 0)
        return -1;
    if (err == 0 && follow && level < LEVELS)
        sxs_info_EnumerateObjectReferences(a->rt, object, receive_reference, &refs);
    for (size_t i = 0; i < refs.n; i++)
        copy_object(a, refs.all[i], level + 1, follow);
    return 0;
}

static void add_value(struct sxs_heap_answers *a, uint32_t what, size_t index, uint64_t address,
                      uint32_t thread)
{
    if (a->n_values < SXS_HEAP_ANSWER_VALUES)
        a->values[a->n_values++] = (struct sxs_heap_read){
            .what = what, .index = index, .address = address, .thread = thread};
}

/* Copies the value of a static field at @address, and the objects that it refers to. */
static void copy_field(struct sxs_heap_answers *a, size_t index, uint32_t what, void *at,
                       uint32_t thread)
{
    struct sxs_heap_found *f = &a->fields[index];
    uint64_t               address = (uint64_t)(uintptr_t)at, object;
    uint32_t               size = f->field.size < OBJECT_BYTES ? f->field.size : OBJECT_BYTES;
    if (!address || !size || sxs_memory_add(&a->memory, address, size, 0) < 0)
        return;
    for (size_t i = 0; i < f->n_refs; i++)
        if (sxs_memory_read(&a->memory, &object, address + f->refs[i], sizeof(object)) && object)
            copy_object(a, object, 1, 1);
    f->n_values++;
    add_value(a, what, index, address, thread);
}

static void read_of_threads(struct sxs_heap_answers *a, size_t index)
{
    struct sxs_static_field *field = &a->fields[index].field;
    ICorProfilerThreadEnum  *each = NULL;
    ThreadID                 id;
    ULONG                    got = 0;
    a->fields[index].status = sxs_info_EnumThreads(a->rt, &each);
    if (FAILED(a->fields[index].status) || !each)
        return;
    while (each->vtbl->Next(each, 1, &id, &got) == S_OK && got == 1) {
        sxs_thread thread = {a->rt, id};
        void      *address = NULL;
        DWORD      tid = 0;
        if (SUCCEEDED(sxs_info_GetThreadInfo(a->rt, thread, &tid)) && tid &&
            SUCCEEDED(sxs_info_GetThreadStaticAddress2(a->rt, field->cls, field->token, a->domain,
                                                       thread, &address)))
            copy_field(a, index, SXS_HEAP_VALUE_THREAD_STATIC, address, tid);
    }
    each->vtbl->Release(each);
}

static void read_field(struct sxs_heap_answers *a, size_t index)
{
    struct sxs_heap_found   *f = &a->fields[index];
    struct sxs_static_field *field = &f->field;
    void                    *address = NULL;
    if (f->kind & (COR_PRF_FIELD_THREAD_STATIC | COR_PRF_FIELD_CONTEXT_STATIC)) {
        read_of_threads(a, index);
    } else if (f->kind & COR_PRF_FIELD_RVA_STATIC) {
        f->status = sxs_info_GetRVAStaticAddress(a->rt, field->cls, field->token, &address);
        if (FAILED(f->status)) /* the class of a compiler's data is never initialized */
            address = (void *)(uintptr_t)f->image;
        copy_field(a, index, SXS_HEAP_VALUE_RVA_STATIC, address, 0);
    } else if (f->kind & COR_PRF_FIELD_APP_DOMAIN_STATIC) {
        f->status = sxs_info_GetAppDomainStaticAddress(a->rt, field->cls, field->token, a->domain,
                                                       &address);
        if (SUCCEEDED(f->status))
            copy_field(a, index, SXS_HEAP_VALUE_STATIC, address, 0);
    }
}

void sxs_heap_answers_move(struct sxs_heap_answers *a, ULONG n, const ObjectID *from,
                           const ObjectID *to, const SIZE_T *sizes)
{
    for (size_t i = 0; a && i < a->request.n; i++) {
        if (!n)
            a->of[i].moved = 0;
        for (ULONG k = 0; k < n && !a->of[i].moved && a->of[i].now; k++) {
            uint64_t into = a->of[i].now - from[k];
            if (a->of[i].now < from[k] || into >= sizes[k])
                continue;
            a->of[i].now = to[k] + into;
            a->of[i].moved = 1;
        }
    }
}

static void add_object(struct sxs_heap_answers *a, size_t question)
{
    uint64_t address = a->of[question].now;
    SIZE_T   size = 0;
    size_t   n = a->n_values;
    sxs_info_GetObjectSize2(a->rt, (sxs_object){a->rt, (ObjectID)address}, &size);
    add_value(a, SXS_HEAP_VALUE_OBJECT, question, address, 0);
    if (a->n_values > n)
        a->values[n].size = sxs_object_padded(size);
}

void sxs_heap_answers_read(struct sxs_heap_answers *a, int stopped)
{
    for (size_t i = 0; a && i < a->request.n; i++) {
        if (!a->of[i].seen || a->of[i].read || copy_object(a, a->of[i].now, 0, stopped) != 0)
            continue;
        a->of[i].read = 1;
        add_object(a, i);
    }
    if (!a || !stopped || a->fields_read)
        return;
    a->fields_read = 1;
    for (size_t i = 0; i < a->n_fields; i++)
        read_field(a, i);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_line(void *arg, const struct sxs_shown_value *v)
{
    struct sxs_heap_answers *a = arg;
    struct sxs_heap_value    line = {.depth = v->depth,
                                     .address = a->address + v->offset,
                                     .offset = v->offset,
                                     .size = v->size,
                                     .object = v->object,
                                     .name = v->name,
                                     .owner = v->owner,
                                     .type = v->type,
                                     .value = v->value};
    if (v->depth == 0) {
        line.what = a->what;
        line.name = a->name;
        line.offset = a->thread;
        if (a->size)
            line.size = a->size;
    }
    sxs_heap_value(a->file, &line);
}

static void write_none(struct sxs_heap_answers *a, enum sxs_heap_value_what what, uint64_t address,
                       const char *name, const char *reason)
{
    sxs_heap_value(a->file, &(struct sxs_heap_value){.what = what,
                                                     .address = address,
                                                     .name = name,
                                                     .owner = "",
                                                     .type = "",
                                                     .value = reason});
}

static void write_values(struct sxs_heap_answers *a, struct sxs_inspection *in)
{
    for (size_t i = 0; i < a->n_values; i++) {
        const struct sxs_heap_read *value = &a->values[i];
        char                        name[32];
        a->what = value->what;
        a->address = value->address;
        a->thread = value->thread;
        a->size = value->size;
        if (value->what == SXS_HEAP_VALUE_OBJECT) {
            snprintf(name, sizeof(name), "0x%llx",
                     (unsigned long long)a->request.all[value->index].address);
            a->name = name;
            sxs_inspect_object(in, value->address);
        } else {
            a->name = a->fields[value->index].name;
            sxs_inspect_static(in, &a->fields[value->index].field, value->address);
        }
    }
}

static const char *reason_of_field(const struct sxs_heap_found *f, char *text, size_t size)
{
    if (!f->field.size)
        return "its type is not known";
    if (f->kind & (COR_PRF_FIELD_THREAD_STATIC | COR_PRF_FIELD_CONTEXT_STATIC))
        return "no thread has a value";
    /* A runtime looks at the generic type without arguments, which is never initialized. */
    if (f->status == CORPROF_E_DATAINCOMPLETE && strchr(f->name, '>'))
        return "the runtime does not tell where static fields of generic types are";
    if (f->status == CORPROF_E_DATAINCOMPLETE)
        return "its class was not initialized yet";
    snprintf(text, size, "the runtime does not tell where it is (%s)",
             FAILED(f->status) ? sxs_hresult_name(f->status) : "no kind of field");
    return text;
}

/* Says why what was asked for has no value. */
static void write_reasons(struct sxs_heap_answers *a)
{
    char text[256];
    for (size_t i = 0; i < a->request.n; i++) {
        const struct sxs_heap_question *q = &a->request.all[i];
        snprintf(text, sizeof(text), "0x%llx", (unsigned long long)q->address);
        if (q->address && !a->of[i].seen)
            write_none(a, SXS_HEAP_VALUE_UNKNOWN, q->address, text, "no object begins there");
        else if (q->address && !a->of[i].read)
            write_none(a, SXS_HEAP_VALUE_NONE, q->address, text, "it cannot be read");
        else if (a->of[i].reason)
            write_none(a, SXS_HEAP_VALUE_UNKNOWN, 0, q->text, a->of[i].reason);
    }
    for (size_t i = 0; i < a->n_fields; i++)
        if (!a->fields[i].n_values)
            write_none(a, SXS_HEAP_VALUE_NONE, 0, a->fields[i].name,
                       reason_of_field(&a->fields[i], text, sizeof(text)));
}

static void free_answers(struct sxs_heap_answers *a)
{
    for (size_t i = 0; i < a->n_forget; i++) /* their IDs may be used again */
        sxs_types_forget(a->forget[i]);
    sxs_types_close(a->rt);
    for (size_t i = 0; i < a->n_fields; i++) {
        sxs_static_free(&a->fields[i].field);
        free(a->fields[i].name);
    }
    for (size_t i = 0; i < a->request.n; i++)
        free(a->of[i].reason);
    sxs_memory_free(&a->memory);
    free(a->forget);
    free(a);
}

void sxs_heap_answers_write(struct sxs_heap_answers *a, struct sxs_heap_file *file)
{
    struct sxs_inspection *in = a ? calloc(1, sizeof(*in)) : NULL;
    if (in) {
        in->rt = a->rt;
        in->memory = &a->memory;
        in->line = write_line;
        in->arg = a;
        a->file = file;
        sxs_inspect_begin(in);
        write_values(a, in);
        write_reasons(a);
    }
    free(in);
    if (a)
        free_answers(a);
}
