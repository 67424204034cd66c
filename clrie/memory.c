/* SPDX-License-Identifier: MIT */
/* memory.c - the IMethodMalloc that plug-ins get. */
#include <stdlib.h>

#include "clrie/work.h"
#include "manager/guid.h"

struct clrie_memory {
    IMethodMalloc   face;
    atomic_uint     refs; /* of plug-ins, and one of the engine */
    pthread_mutex_t lock; /* guards what follows */
    void           *block;
    uint32_t        size;
    _Atomic int     is_left; /* 1: the engine has dropped its reference */
};

static struct clrie_memory *memory_of(IMethodMalloc *face)
{
    return container_of(face, struct clrie_memory, face);
}

static HRESULT memory_query(IMethodMalloc *self, REFIID iid, void **out)
{
    if (!out)
        return E_INVALIDARG;
    *out =
        sxs_guid_equal(iid, &IID_IUnknown) || sxs_guid_equal(iid, &IID_IMethodMalloc) ? self : NULL;
    if (!*out)
        return E_NOINTERFACE;
    self->vtbl->AddRef(self);
    return S_OK;
}

static ULONG memory_ref(IMethodMalloc *self)
{
    return atomic_fetch_add(&memory_of(self)->refs, 1) + 1;
}

static ULONG drop(struct clrie_memory *memory)
{
    ULONG left = atomic_fetch_sub(&memory->refs, 1) - 1;
    if (left)
        return left;
    pthread_mutex_destroy(&memory->lock);
    free(memory->block);
    free(memory);
    return 0;
}

static ULONG memory_unref(IMethodMalloc *self)
{
    struct clrie_memory *memory = memory_of(self);
    /* A plug-in that releases too often does not get the engine's reference. */
    if (atomic_load(&memory->refs) <= 1 && !atomic_load(&memory->is_left))
        return 1;
    return drop(memory);
}

static PVOID memory_alloc(IMethodMalloc *self, ULONG size)
{
    struct clrie_memory *memory = memory_of(self);
    void                *block = calloc(1, size ? size : 1);
    void                *old;
    if (!block)
        return NULL;
    pthread_mutex_lock(&memory->lock);
    old = memory->block;
    memory->block = block;
    memory->size = size;
    pthread_mutex_unlock(&memory->lock);
    free(old);
    return block;
}

static const IMethodMallocVtbl memory_vtbl = {memory_query, memory_ref, memory_unref, memory_alloc};

struct clrie_memory *clrie_memory_new(void)
{
    struct clrie_memory *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return NULL;
    memory->face.vtbl = &memory_vtbl;
    atomic_init(&memory->refs, 1);
    pthread_mutex_init(&memory->lock, NULL);
    return memory;
}

void clrie_memory_free(struct clrie_memory *memory)
{
    if (!memory)
        return;
    atomic_store(&memory->is_left, 1);
    drop(memory);
}

IMethodMalloc *clrie_memory_face(struct clrie_memory *memory)
{
    return &memory->face;
}

uint32_t clrie_memory_size(struct clrie_memory *memory, const void *bytes)
{
    uint32_t size = 0;
    if (!memory || !bytes)
        return 0;
    pthread_mutex_lock(&memory->lock);
    if (memory->block == bytes)
        size = memory->size;
    pthread_mutex_unlock(&memory->lock);
    return size;
}

void clrie_memory_detach(struct clrie_memory *memory, const void *bytes)
{
    if (!memory || !bytes)
        return;
    pthread_mutex_lock(&memory->lock);
    if (memory->block == bytes)
        memory->block = NULL;
    pthread_mutex_unlock(&memory->lock);
}
