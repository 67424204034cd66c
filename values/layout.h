/* SPDX-License-Identifier: MIT */
/**
 * layout.h - the instance fields of a class: names, offsets, types.
 *
 * A layout is requested from the runtime once and never freed. Its key is the runtime and the
 * ClassID. Each instantiation of a generic type has its own ClassID, and therefore its own exact
 * layout.
 *
 * A layout can be built only where the runtime provides metadata: in a callback of that runtime
 * (compilation, class load, exception...), or on a thread that no runtime knows. Elsewhere on the
 * runtimes' own threads, which includes every enter and leave hook, a runtime refuses
 * GetModuleMetaData and GetClassIDInfo2 (CORPROF_E_UNSUPPORTED_CALL_SEQUENCE). A layout can be
 * looked up anywhere: the lookup takes no lock and calls no runtime.
 */
#ifndef SXS_VALUES_LAYOUT_H
#define SXS_VALUES_LAYOUT_H

#include <stdatomic.h>

#include "manager/runtime.h"

struct sxs_field {
    const char    *name;      /* UTF-8, owned by the layout */
    uint32_t       offset;    /* bytes; see sxs_layout.is_value */
    uint32_t       size;      /* bytes up to the next field: upper limit of the field's size */
    mdFieldDef     token;     /* in the module of the class `in` */
    uint8_t        type;      /* CorElementType; for a type parameter: that of the type argument */
    ClassID        cls;       /* for a type parameter: the type argument; else 0 */
    ClassID        in;        /* the class that declares the field */
    const uint8_t *signature; /* blob: FIELD, modifiers, type; owned by the layout */
    uint32_t       signature_size;
};

struct sxs_layout {
    struct sxs_runtime *rt; /* borrowed: outlives its layouts */
    ClassID             id, parent;
    ModuleID            module;
    mdTypeDef           token;
    uint8_t             type;     /* CLASS, VALUETYPE (also enums) or a primitive (Int32: I4) */
    int                 is_value; /* 1: offsets count from the value's first byte. 0: from the
                                     object's address, where the pointer to its method table lies;
                                     the first field is at 8 */
    uint32_t            size;     /* bytes of a value, or of an object without an array's items */
    uint32_t            n_args;
    const ClassID      *args;     /* type arguments: exact; System.__Canon in shared code */
    const char         *name;     /* "Namespace.Outer`1+Inner", UTF-8 */
    _Atomic(const void *) note;   /* see sxs_layout_note() */
    uint32_t            n_fields;
    struct sxs_field    fields[]; /* including inherited fields; sorted by offset */
};

/** sxs_layout_find - return the layout of @id if it was built, else NULL. Any thread; lock-free,
 *  also allowed in hooks and signal handlers. */
SXS_SIGSAFE const struct sxs_layout *sxs_layout_find(const struct sxs_runtime *rt, ClassID id);

/**
 * sxs_layout_get - return the layout of @cls; build it if needed. Borrowed; lives as long as the
 * process. Returns NULL for an array, for a class that is not fully loaded (try again later), or
 * when there is no memory. The head of this file says where this may be called. Takes a lock, but
 * calls no runtime while holding it.
 */
const struct sxs_layout *sxs_layout_get(sxs_class cls);

/** sxs_class_name - write the name of @cls as "Namespace.Outer`1+Inner", UTF-8, cut at @size - 1
 *  bytes.
 *  @module, @token: receive its module and type token; each may be NULL.
 *  Returns 0, or -1 for an array or when the runtime refuses. Allowed where sxs_layout_get() is. */
int sxs_class_name(sxs_class cls, char *out, size_t size, sxs_module *module, mdTypeDef *token);

/** sxs_layout_set_note - attach a note to a class, for one feature above this folder. Returns 0:
 *  @note is now owned by the layout and lives as long as the process. Returns -1 when there is a
 *  note already: the caller still owns @note. Any thread; takes no lock. */
int sxs_layout_set_note(const struct sxs_layout *layout, void *note);

/** sxs_layout_note - return the note of @layout, or NULL when none was set. Any thread; lock-free,
 *  also allowed in hooks and signal handlers. */
SXS_SIGSAFE const void *sxs_layout_note(const struct sxs_layout *layout);

/** sxs_layout_forget - forget the layout of @cls, which is unloaded: the runtime may reuse its ID.
 *  Layouts that callers already have stay readable. */
void sxs_layout_forget(sxs_class cls);

/** sxs_layout_field - return the field @name, or NULL when there is none. Of several fields of that
 *  name, returns the one that the class itself declares, else the one with the lowest offset. Any
 *  thread. */
SXS_SIGSAFE const struct sxs_field *sxs_layout_field(const struct sxs_layout *layout,
                                                     const char              *name);

/** sxs_field_element - return the element type of a field's signature blob, or -1 when it is not a
 *  field's blob. *after receives the offset of the byte after the element type. Pure. */
int sxs_field_element(const uint8_t *signature, size_t size, size_t *after);

#endif
