/* SPDX-License-Identifier: MIT */
/**
 * layout.h - the instance fields of a class: names, offsets, types.
 *
 * A layout is asked of the runtime once and kept for good, by runtime and ClassID; an instantiated
 * generic has its own ClassID, and so its own exact layout.
 *
 * Built only where metadata may be asked for: in a callback of that runtime (compilation, class load,
 * exception...), or on a thread that no runtime knows. On the runtimes' own threads elsewhere, which
 * includes every enter and leave hook, GetModuleMetaData and GetClassIDInfo2 are refused
 * (CORPROF_E_UNSUPPORTED_CALL_SEQUENCE). Found anywhere: no lock, no call.
 */
#ifndef SXS_VALUES_LAYOUT_H
#define SXS_VALUES_LAYOUT_H

#include <stdatomic.h>

#include "manager/runtime.h"

struct sxs_field {
    const char    *name;      /* UTF-8, owned by the layout */
    uint32_t       offset;    /* bytes; see sxs_layout.is_value */
    uint32_t       size;      /* bytes up to the next field: what a value type takes at most */
    mdFieldDef     token;     /* in @in's module */
    uint8_t        type;      /* CorElementType; of a type parameter: that of its argument */
    ClassID        cls;       /* of a type parameter's argument, else 0 */
    ClassID        in;        /* the class that declares it */
    const uint8_t *signature; /* its blob: FIELD, modifiers, type; owned by the layout */
    uint32_t       signature_size;
};

struct sxs_layout {
    struct sxs_runtime *rt; /* borrowed: outlives its layouts */
    ClassID             id, parent;
    ModuleID            module;
    mdTypeDef           token;
    uint8_t             type;     /* CLASS, VALUETYPE (enums too), or a primitive: System.Int32 is I4 */
    int                 is_value; /* 1: offsets count from the value's first byte; 0: from the object's
                                     address, where its method table lies: their first is 8 */
    uint32_t            size;     /* bytes of a value, or of an object without what follows an array */
    uint32_t            n_args;
    const ClassID      *args;     /* of a generic type: exact, System.__Canon in shared code */
    const char         *name;     /* "Namespace.Outer`1+Inner", UTF-8 */
    _Atomic(const void *) note;   /* see sxs_layout_note() */
    uint32_t            n_fields;
    struct sxs_field    fields[]; /* inherited ones too; by offset */
};

/** The layout of @id if it was built, else NULL. Any thread, hooks and signal handlers too: lock-free. */
SXS_SIGSAFE const struct sxs_layout *sxs_layout_find(const struct sxs_runtime *rt, ClassID id);

/**
 * sxs_layout_get - the same, built when it was not yet. Borrowed; lives as long as the process.
 * NULL: an array, a class that is not loaded all the way (ask again later), or no memory. Where this
 * may be called: above. Takes a lock, inside which no runtime is called.
 */
const struct sxs_layout *sxs_layout_get(sxs_class cls);

/** "Namespace.Outer`1+Inner" of @cls, UTF-8, cut at @size - 1 bytes; its module, type token (each may be
 *  NULL). 0, or -1: an array, or refused. Where this may be called: as sxs_layout_get(). */
int sxs_class_name(sxs_class cls, char *out, size_t size, sxs_module *module, mdTypeDef *token);

/** sxs_layout_set_note - keep a word that one feature above this folder knows of a class. Returns 0, @note is then
 *  the layout's and lives as long as the process; or -1 when there is one already, @note is then still the
 *  caller's. Any thread; takes no lock. */
int sxs_layout_set_note(const struct sxs_layout *layout, void *note);

/** The note of @layout; NULL before it was set. Any thread, hooks and signal handlers too: lock-free. */
SXS_SIGSAFE const void *sxs_layout_note(const struct sxs_layout *layout);

/** @cls is unloaded: its ID may come again. Layouts that were handed out stay readable. */
void sxs_layout_forget(sxs_class cls);

/** The field of that name, declared the furthest down; NULL: there is none. Any thread. */
SXS_SIGSAFE const struct sxs_field *sxs_layout_field(const struct sxs_layout *layout,
                                                     const char              *name);

/** The element type in a field's blob, behind its modifiers, and where what follows it begins; -1: not
 *  a field's blob. Pure. */
int sxs_field_element(const uint8_t *signature, size_t size, size_t *after);

#endif
