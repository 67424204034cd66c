/* SPDX-License-Identifier: MIT */
/* object.c - memory, references and faces of objects. */
#include "clrie/object/object.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork.h"

/* ---- faces of released objects ---------------------------------------------------------------- */

/* The slots take whatever arguments they are called with, and ignore them. */
static HRESULT released_query(void *self, const GUID *iid, void **out)
{
    (void)self;
    (void)iid;
    if (out)
        *out = NULL;
    return E_UNEXPECTED;
}

static ULONG released_count(void *self)
{
    (void)self;
    return 0;
}

static HRESULT released_slot(void *self)
{
    (void)self;
    return E_UNEXPECTED;
}

#define SLOTS_4  (void *)released_slot, (void *)released_slot, (void *)released_slot, (void *)released_slot
#define SLOTS_32 SLOTS_4, SLOTS_4, SLOTS_4, SLOTS_4, SLOTS_4, SLOTS_4, SLOTS_4, SLOTS_4
/* As long as the longest vtable. */
static void *const released[] = {
    (void *)released_query, (void *)released_count, (void *)released_count, SLOTS_32, SLOTS_32, SLOTS_32,
};
_Static_assert(sizeof(released) >= sizeof(ICorProfilerInfo10Vtbl), "a vtable is longer");

/* ---- memory ----------------------------------------------------------------------------------- */

/* Objects of one class, so that a stale pointer always leads to a vtable of its interface. Memory is
 * taken in pieces of PIECE bytes. */
enum { STEP = 32, N_POOLS = 64, PIECE = 16384 };

static struct {
    struct clrie_object *free; /* by next_free */
    char                *piece;
    size_t               left; /* bytes of the piece that were not used yet */
} pools[N_POOLS]; /* guarded by lock */
static unsigned        n_objects; /* guarded by lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(lock);

static struct clrie_object *take_locked(unsigned i, size_t size)
{
    struct clrie_object *object = pools[i].free;
    if (object) {
        pools[i].free = atomic_load(&object->next_free);
        return object;
    }
    if (pools[i].left < size) {
        pools[i].piece = aligned_alloc(64, PIECE); /* never freed, see object.h */
        pools[i].left = pools[i].piece ? PIECE : 0;
    }
    if (pools[i].left < size)
        return NULL;
    object = (struct clrie_object *)(void *)pools[i].piece;
    pools[i].piece += size;
    pools[i].left -= size;
    return object;
}

static struct clrie_object *allocate(const struct clrie_class *class)
{
    struct clrie_object *object;
    if (class->pool >= N_POOLS)
        return NULL;
    pthread_mutex_lock(&lock);
    object = take_locked(class->pool, (*class->size + (size_t)STEP - 1) / STEP * STEP);
    n_objects += object != NULL;
    pthread_mutex_unlock(&lock);
    return object;
}

static void give_back(struct clrie_object *object, unsigned i)
{
    pthread_mutex_lock(&lock);
    atomic_store(&object->next_free, pools[i].free);
    pools[i].free = object;
    n_objects--;
    pthread_mutex_unlock(&lock);
}

unsigned clrie_objects(void)
{
    unsigned n;
    pthread_mutex_lock(&lock);
    n = n_objects;
    pthread_mutex_unlock(&lock);
    return n;
}

/* ---- objects ---------------------------------------------------------------------------------- */

void *clrie_new(const struct clrie_class *class)
{
    struct clrie_object *object = allocate(class);
    const void         **faces;
    if (!object)
        return NULL;
    memset((void *)object, 0, *class->size);
    faces = (const void **)(object + 1);
    for (unsigned i = 0; i < class->n_faces; i++)
        faces[i] = class->faces[i].vtbl;
    atomic_init(&object->refs, 1);
    object->class = class;
    return object;
}

static void end(struct clrie_object *object)
{
    const struct clrie_class *class = object->class;
    const void              **faces = (const void **)(object + 1);
    if (class->end)
        class->end(object);
    clrie_data_free(atomic_exchange(&object->data, NULL));
    for (unsigned i = 0; i < class->n_faces; i++)
        faces[i] = released;
    object->class = NULL;
    give_back(object, class->pool);
}

/* What a plug-in sees of @refs: a reference of the engine itself counts as one. */
static ULONG visible(unsigned refs)
{
    return refs / CLRIE_HOLD + refs % CLRIE_HOLD;
}

ULONG clrie_ref(struct clrie_object *object)
{
    while (object->owner)
        object = object->owner;
    return visible(atomic_fetch_add_explicit(&object->refs, 1, memory_order_relaxed) + 1);
}

ULONG clrie_unref(struct clrie_object *object)
{
    ULONG left;
    if (!object)
        return 0;
    while (object->owner)
        object = object->owner;
    left = atomic_fetch_sub_explicit(&object->refs, 1, memory_order_acq_rel) - 1;
    if (left == 0)
        end(object);
    return visible(left);
}

static int answers(const struct clrie_face *face, const GUID *iid)
{
    for (const GUID *const *at = face->iids; *at; at++)
        if (memcmp(*at, iid, sizeof(*iid)) == 0)
            return 1;
    return 0;
}

HRESULT clrie_query(struct clrie_object *object, const GUID *iid, void **out)
{
    if (!out)
        return E_INVALIDARG;
    *out = NULL;
    if (!iid)
        return E_INVALIDARG;
    if (memcmp(iid, &IID_IUnknown, sizeof(*iid)) == 0)
        return clrie_hand_out(object, 0, out);
    for (unsigned i = 0; i < object->class->n_faces; i++)
        if (answers(&object->class->faces[i], iid))
            return clrie_hand_out(object, i, out);
    return E_NOINTERFACE;
}

struct clrie_object *clrie_object_of(const void *face, const struct clrie_class *const *classes,
                                     unsigned n)
{
    const void *vtbl = face ? *(const void *const *)face : NULL;
    for (unsigned c = 0; vtbl && c < n; c++)
        for (unsigned i = 0; i < classes[c]->n_faces; i++)
            if (classes[c]->faces[i].vtbl == vtbl)
                return (struct clrie_object *)(uintptr_t)((const void *const *)face - i) - 1;
    return NULL;
}

HRESULT clrie_hand_out(struct clrie_object *object, unsigned n, void **out)
{
    *out = object ? clrie_face(object, n) : NULL;
    if (object)
        clrie_ref(object);
    return S_OK;
}
