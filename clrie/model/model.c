/* SPDX-License-Identifier: MIT */
/* model.c - the lists of the objects of one runtime. */
#include <stdlib.h>
#include <string.h>

#include "clrie/model/model_internal.h"
#include "clrie/object/enumerator.h"

/* ---- objects by ID ---------------------------------------------------------------------------- */

/* The row with @id, or the row before which it belongs. */
static uint32_t place_of(const struct clrie_ids *ids, uint64_t id)
{
    uint32_t low = 0, high = ids->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ids->rows[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct clrie_object *clrie_ids_find(const struct clrie_ids *ids, uint64_t id)
{
    uint32_t at = place_of(ids, id);
    return at < ids->n && ids->rows[at].id == id ? ids->rows[at].object : NULL;
}

/* Takes over the reference of @object. Returns 0, or -1 without memory. */
static int insert_id(struct clrie_ids *ids, uint64_t id, struct clrie_object *object)
{
    uint32_t at = place_of(ids, id);
    if (ids->n == ids->room) {
        uint32_t         room = ids->room ? 2 * ids->room : 16;
        struct clrie_id *rows = realloc(ids->rows, room * sizeof(*rows));
        if (!rows)
            return -1;
        ids->rows = rows;
        ids->room = room;
    }
    memmove(&ids->rows[at + 1], &ids->rows[at], (ids->n - at) * sizeof(ids->rows[0]));
    ids->rows[at] = (struct clrie_id){id, object};
    ids->n++;
    return 0;
}

/* Returns the reference of the list. */
static struct clrie_object *remove_id(struct clrie_ids *ids, uint64_t id)
{
    uint32_t             at = place_of(ids, id);
    struct clrie_object *object = NULL;
    if (at == ids->n || ids->rows[at].id != id)
        return NULL;
    object = ids->rows[at].object;
    ids->n--;
    memmove(&ids->rows[at], &ids->rows[at + 1], (ids->n - at) * sizeof(ids->rows[0]));
    return object;
}

static struct clrie_ids *ids_of(struct clrie_model *model, enum clrie_kind kind)
{
    return kind == CLRIE_DOMAINS      ? &model->domain_ids
           : kind == CLRIE_ASSEMBLIES ? &model->assembly_ids
                                      : &model->module_ids;
}

/* ---- the model -------------------------------------------------------------------------------- */

struct clrie_model *clrie_model_ref(struct clrie_model *model)
{
    atomic_fetch_add_explicit(&model->refs, 1, memory_order_relaxed);
    return model;
}

void clrie_model_unref(struct clrie_model *model)
{
    if (!model || atomic_fetch_sub_explicit(&model->refs, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&model->lock);
    free(model);
}

ICorProfilerInfo10 *clrie_model_info(struct clrie_model *model)
{
    struct clrie_model_host *host = atomic_load(&model->host);
    return host ? host->info : NULL;
}

struct clrie_model *clrie_model_new(struct clrie_model_host *host)
{
    struct clrie_model *model = calloc(1, sizeof(*model));
    if (!model)
        return NULL;
    atomic_init(&model->host, host);
    atomic_init(&model->refs, 1);
    pthread_mutex_init(&model->lock, NULL);
    model->domains = clrie_domains_new(model);
    if (model->domains) {
        clrie_keep((struct clrie_object *)model->domains);
        return model;
    }
    clrie_model_unref(model);
    return NULL;
}

static void release_all(struct clrie_model *model, enum clrie_kind kind)
{
    struct clrie_ids taken;
    pthread_mutex_lock(&model->lock);
    taken = *ids_of(model, kind);
    *ids_of(model, kind) = (struct clrie_ids){NULL, 0, 0};
    pthread_mutex_unlock(&model->lock);
    for (uint32_t i = 0; i < taken.n; i++) {
        if (kind == CLRIE_MODULES)
            clrie_module_unload((struct clrie_module *)taken.rows[i].object);
        clrie_unhold(taken.rows[i].object);
    }
    free(taken.rows);
}

void clrie_model_free(struct clrie_model *model)
{
    if (!model)
        return;
    release_all(model, CLRIE_MODULES);
    release_all(model, CLRIE_ASSEMBLIES);
    release_all(model, CLRIE_DOMAINS);
    atomic_store(&model->host, NULL);
    clrie_unhold((struct clrie_object *)model->domains);
    clrie_model_unref(model);
}

struct clrie_domains *clrie_model_domains(struct clrie_model *model)
{
    return model->domains;
}

/* ---- lists ------------------------------------------------------------------------------------ */

struct clrie_object *clrie_model_find(struct clrie_model *model, enum clrie_kind kind, uint64_t id)
{
    struct clrie_object *object;
    pthread_mutex_lock(&model->lock);
    object = clrie_ids_find(ids_of(model, kind), id);
    if (object)
        clrie_ref(object);
    pthread_mutex_unlock(&model->lock);
    return object;
}

HRESULT clrie_model_hand_out(struct clrie_model *model, enum clrie_kind kind, uint64_t id,
                             void **out)
{
    struct clrie_object *object = clrie_model_find(model, kind, id);
    *out = object ? clrie_face(object, 0) : NULL;
    return object ? S_OK : E_FAIL;
}

static const struct clrie_class *class_of(enum clrie_kind kind)
{
    return kind == CLRIE_DOMAINS      ? &clrie_domain_list
           : kind == CLRIE_ASSEMBLIES ? &clrie_assembly_list
                                      : &clrie_module_list;
}

/* Copies the faces of the wanted objects to *@faces, with a reference of each. */
static HRESULT copy_faces(struct clrie_model *model, enum clrie_kind                      kind,
                          int (*wanted)(struct clrie_object *, const void *), const void *what,
                          void ***faces, uint32_t *n)
{
    struct clrie_ids *ids = ids_of(model, kind);
    *n = 0;
    pthread_mutex_lock(&model->lock);
    *faces = calloc(ids->n ? ids->n : 1, sizeof(**faces));
    for (uint32_t i = 0; *faces && i < ids->n; i++)
        if (!wanted || wanted(ids->rows[i].object, what)) {
            clrie_ref(ids->rows[i].object);
            (*faces)[(*n)++] = clrie_face(ids->rows[i].object, 0);
        }
    pthread_mutex_unlock(&model->lock);
    return *faces ? S_OK : E_OUTOFMEMORY;
}

HRESULT clrie_model_list(struct clrie_model *model, enum clrie_kind                      kind,
                         int (*wanted)(struct clrie_object *, const void *), const void *what,
                         uint32_t *count, void **out)
{
    void   **faces;
    uint32_t n;
    HRESULT  hr = copy_faces(model, kind, wanted, what, &faces, &n);
    if (out)
        *out = NULL;
    if (FAILED(hr))
        return hr;
    if (count)
        *count = n;
    if (out) {
        struct clrie_object *list = clrie_enumerator_new(class_of(kind), faces, n);
        *out = list ? clrie_face(list, 0) : NULL;
        hr = list ? S_OK : E_OUTOFMEMORY;
    }
    for (uint32_t i = 0; i < n; i++)
        ((IUnknown *)faces[i])->vtbl->Release(faces[i]);
    free(faces);
    return hr;
}

void clrie_model_read_mvids(struct clrie_model *model)
{
    void   **faces;
    uint32_t n;
    if (FAILED(copy_faces(model, CLRIE_MODULES, NULL, NULL, &faces, &n)))
        return;
    for (uint32_t i = 0; i < n; i++) {
        IModuleInfo *face = faces[i];
        GUID         mvid;
        face->vtbl->GetMVID(face, &mvid);
        face->vtbl->Release(face);
    }
    free(faces);
}

/* Adds an object that was made without the lock, unless another thread has added one meanwhile.
 * Returns the object of the list, borrowed. */
static struct clrie_object *add(struct clrie_model *model, enum clrie_kind kind, uint64_t id,
                                struct clrie_object *fresh, int *is_added)
{
    struct clrie_object *object, *unused = NULL;
    *is_added = 0;
    if (!fresh)
        return NULL;
    pthread_mutex_lock(&model->lock);
    object = clrie_ids_find(ids_of(model, kind), id);
    if (!object && insert_id(ids_of(model, kind), id, fresh) == 0) {
        object = fresh;
        clrie_keep(fresh);
        *is_added = 1;
    } else {
        unused = fresh;
    }
    pthread_mutex_unlock(&model->lock);
    clrie_unref(unused);
    return object;
}

/* The object of the list, borrowed, or NULL. */
static struct clrie_object *known(struct clrie_model *model, enum clrie_kind kind, uint64_t id)
{
    struct clrie_object *object;
    if (!model)
        return NULL;
    pthread_mutex_lock(&model->lock);
    object = clrie_ids_find(ids_of(model, kind), id);
    pthread_mutex_unlock(&model->lock);
    return object;
}

static struct clrie_object *make(struct clrie_model *model, enum clrie_kind kind, uint64_t id)
{
    switch (kind) {
    case CLRIE_DOMAINS: return (struct clrie_object *)clrie_domain_new(model, id);
    case CLRIE_ASSEMBLIES: return (struct clrie_object *)clrie_assembly_new(model, id);
    case CLRIE_MODULES: return (struct clrie_object *)clrie_module_new(model, id);
    }
    return NULL;
}

/* The object of the list, made and added if it was unknown (*@is_added). Borrowed, or NULL. */
static struct clrie_object *find_or_add(struct clrie_model *model, enum clrie_kind kind,
                                        uint64_t id, int *is_added)
{
    struct clrie_object *object = known(model, kind, id);
    *is_added = 0;
    if (!object && model)
        object = add(model, kind, id, make(model, kind, id), is_added);
    return object;
}

static struct clrie_object *take_out(struct clrie_model *model, enum clrie_kind kind, uint64_t id)
{
    struct clrie_object *object;
    if (!model)
        return NULL;
    pthread_mutex_lock(&model->lock);
    object = remove_id(ids_of(model, kind), id);
    if (object)
        clrie_unkeep(object); /* for the caller */
    pthread_mutex_unlock(&model->lock);
    return object;
}

struct clrie_domain *clrie_model_domain(struct clrie_model *model, AppDomainID id)
{
    int is_added;
    return (struct clrie_domain *)find_or_add(model, CLRIE_DOMAINS, id, &is_added);
}

struct clrie_domain *clrie_model_domain_remove(struct clrie_model *model, AppDomainID id)
{
    return (struct clrie_domain *)take_out(model, CLRIE_DOMAINS, id);
}

struct clrie_assembly *clrie_model_assembly(struct clrie_model *model, AssemblyID id)
{
    int is_added;
    return (struct clrie_assembly *)find_or_add(model, CLRIE_ASSEMBLIES, id, &is_added);
}

struct clrie_assembly *clrie_model_assembly_remove(struct clrie_model *model, AssemblyID id)
{
    return (struct clrie_assembly *)take_out(model, CLRIE_ASSEMBLIES, id);
}

struct clrie_module *clrie_model_module(struct clrie_model *model, ModuleID id)
{
    return (struct clrie_module *)known(model, CLRIE_MODULES, id);
}

struct clrie_module *clrie_model_module_add(struct clrie_model *model, ModuleID id)
{
    int                  is_added;
    struct clrie_module *module =
        (struct clrie_module *)find_or_add(model, CLRIE_MODULES, id, &is_added);
    if (module && is_added)
        clrie_assembly_add_module(module->assembly, module);
    return module;
}

struct clrie_module *clrie_model_module_remove(struct clrie_model *model, ModuleID id)
{
    struct clrie_module *module = (struct clrie_module *)take_out(model, CLRIE_MODULES, id);
    if (module)
        clrie_module_unload(module);
    return module;
}
