/* SPDX-License-Identifier: MIT */
/* data.c - IDataContainer: what plug-ins attach to objects. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"
#include "clrie/object/object.h"

struct clrie_data {
    struct clrie_data *next;
    GUID               component, name;
    IUnknown          *item; /* one reference */
};

/* Guards the lists of all objects. The only foreign code that is called while it is
 * held is AddRef() of an item. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);

static int is(const struct clrie_data *data, const GUID *component, const GUID *name)
{
    return memcmp(&data->component, component, sizeof(*component)) == 0 &&
           memcmp(&data->name, name, sizeof(*name)) == 0;
}

void clrie_data_free(struct clrie_data *data)
{
    while (data) {
        struct clrie_data *next = data->next;
        if (data->item)
            data->item->vtbl->Release(data->item);
        free(data);
        data = next;
    }
}

HRESULT clrie_object_SetDataItem(struct clrie_object *object, const GUID *component,
                                 const GUID *name, IUnknown *item)
{
    struct clrie_data *fresh = item ? calloc(1, sizeof(*fresh)) : NULL, *old = NULL;
    struct clrie_data *first, **at;
    if (item && !fresh)
        return E_OUTOFMEMORY;
    if (fresh) {
        *fresh = (struct clrie_data){NULL, *component, *name, item};
        item->vtbl->AddRef(item);
    }
    pthread_mutex_lock(&lock);
    first = atomic_load(&object->data);
    for (at = &first; *at; at = &(*at)->next)
        if (is(*at, component, name)) {
            old = *at;
            *at = old->next;
            old->next = NULL;
            break;
        }
    if (fresh) {
        fresh->next = first;
        first = fresh;
    }
    atomic_store(&object->data, first);
    pthread_mutex_unlock(&lock);
    clrie_data_free(old);
    return S_OK;
}

HRESULT clrie_object_GetDataItem(struct clrie_object *object, const GUID *component,
                                 const GUID *name, IUnknown **item)
{
    IUnknown *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct clrie_data *at = atomic_load(&object->data); at && !found; at = at->next)
        if (is(at, component, name))
            found = at->item;
    if (found)
        found->vtbl->AddRef(found);
    pthread_mutex_unlock(&lock);
    *item = found;
    return found ? S_OK : E_FAIL;
}
