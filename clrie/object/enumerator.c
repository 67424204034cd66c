/* SPDX-License-Identifier: MIT */
#include "clrie/object/enumerator.h"

#include <stdlib.h>
#include <string.h>

struct clrie_enumerator {
    CLRIE_OBJECT(1);
    IUnknown **items; /* owned, with a reference of each */
    uint32_t   n, at;
};
const uint32_t clrie_enumerator_size = sizeof(struct clrie_enumerator);

struct clrie_object *clrie_enumerator_new(const struct clrie_class *class, void *const *items,
                                          uint32_t n)
{
    struct clrie_enumerator *e = clrie_new(class);
    if (!e)
        return NULL;
    e->items = calloc(n ? n : 1, sizeof(e->items[0]));
    if (!e->items) {
        clrie_unref(&e->object);
        return NULL;
    }
    for (; e->n < n; e->n++) {
        e->items[e->n] = items[e->n];
        e->items[e->n]->vtbl->AddRef(e->items[e->n]);
    }
    return &e->object;
}

void clrie_enumerator_end(struct clrie_object *object)
{
    struct clrie_enumerator *e = (struct clrie_enumerator *)object;
    for (uint32_t i = 0; i < e->n; i++)
        e->items[i]->vtbl->Release(e->items[i]);
    free(e->items);
}

HRESULT clrie_enumerator_Next(struct clrie_enumerator *self, ULONG celt, void **rgelt,
                              ULONG *pceltFetched)
{
    uint32_t n = 0;
    for (ULONG i = 0; i < celt; i++)
        rgelt[i] = NULL;
    for (; n < celt && self->at < self->n; n++, self->at++) {
        rgelt[n] = self->items[self->at];
        self->items[self->at]->vtbl->AddRef(self->items[self->at]);
    }
    *pceltFetched = n;
    return n == celt ? S_OK : S_FALSE;
}

HRESULT clrie_enumerator_Skip(struct clrie_enumerator *self, ULONG celt)
{
    uint32_t left = self->n - self->at;
    self->at = celt < left ? self->at + celt : self->n;
    return self->at < self->n ? S_OK : S_FALSE;
}

HRESULT clrie_enumerator_Reset(struct clrie_enumerator *self)
{
    self->at = 0;
    return S_OK;
}

HRESULT clrie_enumerator_Clone(struct clrie_enumerator *self, void **ppenum)
{
    struct clrie_object *clone =
        clrie_enumerator_new(self->object.class, (void *const *)self->items, self->n);
    *ppenum = clone ? clrie_face(clone, 0) : NULL;
    return clone ? S_OK : E_OUTOFMEMORY;
}

HRESULT clrie_enumerator_GetCount(struct clrie_enumerator *self, DWORD *pLength)
{
    *pLength = self->n;
    return S_OK;
}
