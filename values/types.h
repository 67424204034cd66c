/* SPDX-License-Identifier: MIT */
/**
 * types.h - what is known of the loaded types of each runtime: names, fields, members of enums.
 *
 * Hooks may not ask a runtime what may load, lock or collect, so everything is asked beforehand: a type
 * when it has been loaded, a function's signature when it has been compiled. Hooks look up without
 * locks. What is known is never freed; a type that was unloaded is marked.
 */
#ifndef SXS_VALUES_TYPES_H
#define SXS_VALUES_TYPES_H

#include <stdatomic.h>

#include "instr/metadata/signature_text.h"
#include "manager/runtime.h"

struct sxs_type;

/** Of what form a value is, wherever it lies. */
struct sxs_shape {
    uint8_t                 element; /* enum sxs_element: a primitive, STRING, OBJECT (any
                                        reference), PTR, BYREF, VALUETYPE, FNPTR, TYPEDBYREF, VOID; 0: not known */
    uint16_t                variable; /* SXS_VARIABLE() of a type parameter without an argument; 0: none */
    const struct sxs_shape *of;      /* BYREF, PTR: what is there; NULL: not known */
    const char             *name;    /* VALUETYPE: its full name; not known: why */
    const struct sxs_runtime *rt;
    ModuleID                module;  /* where it was named: of two that have the name, its own counts */
    _Atomic(const struct sxs_type *) type; /* VALUETYPE: NULL until it was looked up */
};

struct sxs_member {
    const char      *name;
    uint32_t         offset;
    struct sxs_shape shape;
};

struct sxs_literal {
    const char *name;
    uint64_t    value;
};

enum sxs_type_kind { SXS_TYPE_REFERENCE, SXS_TYPE_STRUCT, SXS_TYPE_ENUM, SXS_TYPE_PRIMITIVE,
                     SXS_TYPE_STRING };

/** Value types that are shown in a form of their own. */
enum sxs_type_form { SXS_FORM_FIELDS, SXS_FORM_NULLABLE, SXS_FORM_DECIMAL, SXS_FORM_DATE,
                     SXS_FORM_TIME_SPAN, SXS_FORM_GUID, SXS_FORM_SPAN };

struct sxs_type {
    struct sxs_type          *next_id, *next_name; /* in the tables */
    const struct sxs_runtime *rt;
    ClassID                   id;
    ModuleID                  module;
    const char               *name; /* Namespace.Outer<Arg>+Inner */
    _Atomic int               gone; /* unloaded */
    enum sxs_type_kind        kind;
    enum sxs_type_form        form;
    uint8_t                   element;  /* of a primitive; underlying of an enum */
    uint8_t                   is_flags; /* enum */
    uint32_t                  size;     /* bytes, of a value */
    uint32_t                  n_members, n_literals;
    struct sxs_member         *members; /* of a value, by offset */
    struct sxs_literal       *literals;
};

/**
 * sxs_types_add - all there is to know of a loaded class, asked at its first time; its name alone, of a
 * reference type. In a callback of its runtime; takes a lock. NULL: the runtime would not say.
 */
const struct sxs_type *sxs_types_add(sxs_class cls);

/** The type of a ClassID; NULL: not known. No lock, no call: in hooks. */
const struct sxs_type *sxs_types_find(const struct sxs_runtime *rt, ClassID id);

/** The one loaded type of that full name; NULL: none, or two. As above. */
const struct sxs_type *sxs_types_named(const struct sxs_runtime *rt, const char *name);

/** The type of a VALUETYPE shape; NULL: not known, or two have its name. As above. */
const struct sxs_type *sxs_shape_type(struct sxs_shape *shape);

/** Bytes a value takes; 0: not known. As above. */
uint32_t sxs_shape_size(struct sxs_shape *shape);

/** @cls dies, or modules of @rt do: in callbacks. */
void sxs_types_forget(sxs_class cls);
void sxs_types_close(const struct sxs_runtime *rt);

/* ---- for this folder, under the lock that sxs_types_lock() takes ------------------------------- */

void sxs_types_lock(void);
void sxs_types_unlock(void);
const struct sxs_type *sxs_types_add_locked(sxs_class cls);
/** The class that stands for every reference type where code is shared; 0: not loaded. */
ClassID sxs_types_canon(const struct sxs_runtime *rt);
/** A module's metadata, borrowed until sxs_types_close(); NULL: the runtime will not. */
IMetaDataImport2 *sxs_types_import_locked(sxs_module module);

/** Against what a signature is read. */
struct sxs_generic {
    sxs_module        module;
    IMetaDataImport2 *imp;
    const ClassID    *type_args, *method_args;
    uint32_t          n_type_args, n_method_args;
    unsigned          depth;
    int              *missing; /* set when a type parameter has no argument here; may be NULL */
    int               open;    /* 1: in names, a mark stands for such a type parameter; 0: "?" does */
};

/** A type parameter as a number other than 0: the one with @index of the type, or of the method. */
#define SXS_VARIABLE(of_method, index) ((uint16_t)((index) + 1u) | ((of_method) ? 0x8000u : 0u))

/** A mark, which no name in metadata contains, into @out (SXS_MARK_SIZE bytes); terminated. */
#define SXS_MARK_SIZE 8
void sxs_mark_write(uint16_t variable, char *out);
/** Whether a mark is in @name. */
int sxs_mark_in(const char *name);
/** The type parameter whose mark begins at @*at, which is moved behind the mark. 0: no mark is there. */
uint16_t sxs_mark_read(const char **at);

/** The shape of node @at of @sig, into zeroed @out. What is not known says why in its name. */
void sxs_shape_read(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t at,
                    struct sxs_shape *out);
/** The shape of a loaded type's values: a reference, or the value itself. */
void sxs_shape_of_class(sxs_class cls, struct sxs_shape *out);
/** The same of the type @t of @rt; NULL: not known. Needs no lock: in hooks. */
void sxs_shape_of_type(const struct sxs_runtime *rt, const struct sxs_type *t, struct sxs_shape *out);

/** Its full name with @n_args arguments, into @out. */
void sxs_name_of_typedef(const struct sxs_generic *in, mdToken type, char *out, size_t size);
/** Whether values of the typedef @type are no references. */
int sxs_is_value_typedef(const struct sxs_generic *in, mdToken type);
/** Of node @at. */
void sxs_name_of_node(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t at,
                      char *out, size_t size);

/** The element whose sxs_element_name() is @name; 0: none. */
uint8_t sxs_primitive_element(const char *name);
/** Bytes of a primitive, a reference or a pointer; 0: another. */
uint32_t sxs_element_size(uint8_t element);

#endif
