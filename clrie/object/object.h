/* SPDX-License-Identifier: MIT */
/**
 * object.h - the objects that plug-ins see: COM objects with one or several interfaces.
 *
 * A class is one row of classes.tsv. The generator makes its vtables from the tables of the ABI
 * (gen_classes.py): each slot finds the object, checks the pointers that must not be NULL, and calls
 * the function clrie_STRUCT_SLOT(), which is written by hand.
 *
 * The C struct of an object begins with CLRIE_OBJECT(N). N is the number of faces: of its classes, the
 * one with the most interfaces decides. A pointer to an interface points to one of the faces, each of
 * which is a pointer to a vtable.
 *
 * A plug-in may call an object after its last Release(). Therefore the memory of objects is never
 * given back to the C library, but only used for other objects of the same class; and the faces of a
 * released object have a vtable whose slots return E_UNEXPECTED.
 */
#ifndef SXS_CLRIE_OBJECT_OBJECT_H
#define SXS_CLRIE_OBJECT_OBJECT_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "sxs_abi.h"

struct clrie_object;
struct clrie_data;

/** One face: a vtable, and the IIDs that it answers to. Constant. */
struct clrie_face {
    const void        *vtbl;
    const GUID *const *iids; /* NULL ends the list */
};

/** A class of objects. Constant; generated. */
struct clrie_class {
    const char              *name;
    uint32_t                 n_faces;
    uint32_t                 pool; /* number of the class: memory is reused for the same class only */
    const uint32_t          *size; /* of the object, in bytes */
    const struct clrie_face *faces;
    /* Releases what the object owns; NULL: nothing. Called when the last reference is gone. */
    void (*end)(struct clrie_object *object);
};

/** The beginning of every object. The faces follow. */
struct clrie_object {
    const struct clrie_class *class; /* NULL: the object was released */
    atomic_uint               refs;
    /* Another object that must live as long as this one, and that is counted instead of it, or
     * NULL: AddRef() and Release() go there. */
    struct clrie_object           *owner;
    _Atomic(struct clrie_data *)   data; /* items of IDataContainer; NULL: none (data.c) */
    _Atomic(struct clrie_object *) next_free; /* of a released object */
};

enum { CLRIE_MAX_FACES = 7 };

/** The beginning of the struct of an object with up to @n_faces faces. */
#define CLRIE_OBJECT(n_faces)   \
    struct clrie_object object; \
    const void         *face[n_faces]

/** The face of @object with number @n, in the order of classes.tsv. */
static inline void *clrie_face(struct clrie_object *object, unsigned n)
{
    return (const void **)(object + 1) + n;
}

/**
 * clrie_new - make an object with one reference. All bytes after the faces are zero.
 * Returns NULL without memory. Any thread. */
void *clrie_new(const struct clrie_class *class);

/** clrie_objects - the number of objects that are not released. Any thread. */
unsigned clrie_objects(void);

/** clrie_ref, clrie_unref - count a reference; the last clrie_unref() ends the object. They return the
 *  new count. NULL is allowed for clrie_unref(). Any thread. */
ULONG clrie_ref(struct clrie_object *object);
ULONG clrie_unref(struct clrie_object *object);

/**
 * clrie_hold, clrie_unhold - a reference of the engine itself, which a plug-in that calls Release() too
 * often does not use up. Of objects without an owner. NULL is allowed for clrie_unhold(). Any thread.
 * clrie_keep - turn a reference into one of the engine itself. clrie_unkeep - the opposite. */
enum { CLRIE_HOLD = 1 << 12 };

static inline void clrie_hold(struct clrie_object *object)
{
    atomic_fetch_add_explicit(&object->refs, CLRIE_HOLD, memory_order_relaxed);
}

static inline void clrie_keep(struct clrie_object *object)
{
    atomic_fetch_add_explicit(&object->refs, CLRIE_HOLD - 1, memory_order_relaxed);
}

static inline void clrie_unkeep(struct clrie_object *object)
{
    unsigned left = atomic_fetch_sub(&object->refs, CLRIE_HOLD - 1) - (CLRIE_HOLD - 1);
    if ((int)left < 1) /* a plug-in released it too often */
        atomic_store(&object->refs, 1);
}

static inline void clrie_unhold(struct clrie_object *object)
{
    if (!object)
        return;
    clrie_unkeep(object);
    clrie_unref(object);
}

/** clrie_release - release a reference to an object of any kind, which may be foreign. @face: a pointer
 *  to an interface; NULL is allowed. */
static inline void clrie_release(void *face)
{
    IUnknown *unknown = face;
    if (unknown)
        unknown->vtbl->Release(unknown);
}

/**
 * clrie_query - QueryInterface.
 * @out: receives the face, with a reference; NULL on failure.
 * Returns S_OK, E_NOINTERFACE, or E_INVALIDARG when @out is NULL. IUnknown is the first face. */
HRESULT clrie_query(struct clrie_object *object, const GUID *iid, void **out);

/**
 * clrie_object_of - find the object that an interface pointer from a plug-in belongs to.
 * @face: the pointer; NULL, pointers to foreign objects and to released ones are allowed, as long as
 *   they point to readable memory.
 * @n, @classes: the classes that are wanted.
 * Returns the object without a new reference, or NULL when it is no such object. */
struct clrie_object *clrie_object_of(const void *face, const struct clrie_class *const *classes,
                                     unsigned n);

/** clrie_hand_out - store face @n of @object in *out and count a reference for the receiver. NULL is
 *  stored for a NULL @object. Returns S_OK. */
HRESULT clrie_hand_out(struct clrie_object *object, unsigned n, void **out);

/** clrie_data_free - release the items of an ended object. Called by clrie_unref(). (data.c) */
void clrie_data_free(struct clrie_data *data);

/** clrie_object_SetDataItem, clrie_object_GetDataItem - IDataContainer of every object. Items are
 *  stored by component and name, with a reference; NULL removes. A missing item is E_FAIL. (data.c) */
HRESULT clrie_object_SetDataItem(struct clrie_object *object, const GUID *component,
                                 const GUID *name, IUnknown *item);
HRESULT clrie_object_GetDataItem(struct clrie_object *object, const GUID *component,
                                 const GUID *name, IUnknown **item);

#endif
