/* SPDX-License-Identifier: MIT */
/**
 * types.h - a table of the loaded types of each runtime: names, fields, members of enums.
 *
 * Hooks must not call runtime functions that may load types, take locks or cause a collection. So
 * all information is requested before: about a type when it has been loaded, about a function's
 * signature when the function has been compiled. Hooks look types up without locks. Types are never
 * freed; a type that was unloaded is marked as gone.
 */
#ifndef SXS_VALUES_TYPES_H
#define SXS_VALUES_TYPES_H

#include <stdatomic.h>

#include "instr/metadata/signature_text.h"
#include "manager/runtime.h"

struct sxs_type;

/** A type descriptor: the type of a parameter, a result or a field. */
struct sxs_type_desc {
    uint8_t                 element; /* enum sxs_element: a primitive, STRING, OBJECT (any
                                        reference), PTR, BYREF, VALUETYPE, FNPTR, TYPEDBYREF,
                                        VOID; 0: not known */
    uint16_t                variable; /* SXS_VARIABLE() of a type parameter whose argument is not
                                         known; 0: none */
    const struct sxs_type_desc *of;       /* BYREF, PTR: type of the target; NULL: not known */
    const char             *name;    /* VALUETYPE: full name; element 0: reason */
    const struct sxs_runtime *rt;    /* borrowed */
    ModuleID                module;  /* module that uses the name; of several types with that
                                        name, the type of this module is used */
    _Atomic(const struct sxs_type *) type; /* VALUETYPE: cached result of the lookup; NULL: none */
};

/** A field of a value type. */
struct sxs_member {
    const char      *name;
    uint32_t         offset; /* bytes */
    struct sxs_type_desc desc;
};

/** A member of an enum. */
struct sxs_literal {
    const char *name;
    uint64_t    value;
};

enum sxs_type_kind { SXS_TYPE_REFERENCE, SXS_TYPE_STRUCT, SXS_TYPE_ENUM, SXS_TYPE_PRIMITIVE,
                     SXS_TYPE_STRING };

/** How values of a value type are shown: by fields, or with a notation of their own. */
enum sxs_type_form { SXS_FORM_FIELDS, SXS_FORM_NULLABLE, SXS_FORM_DECIMAL, SXS_FORM_DATE,
                     SXS_FORM_TIME_SPAN, SXS_FORM_GUID, SXS_FORM_SPAN };

/** A loaded type. Never freed. */
struct sxs_type {
    struct sxs_type          *next_id, *next_name; /* next in the hash buckets */
    const struct sxs_runtime *rt;
    ClassID                   id;
    ModuleID                  module;
    const char               *name; /* Namespace.Outer<Arg>+Inner */
    _Atomic int               gone; /* 1: unloaded */
    enum sxs_type_kind        kind;
    enum sxs_type_form        form;
    uint8_t                   element;  /* of a primitive; underlying type of an enum */
    uint8_t                   is_flags; /* 1: enum with [Flags] */
    uint32_t                  size;     /* bytes of a value */
    uint32_t                  n_members, n_literals;
    struct sxs_member         *members; /* fields of a value type, sorted by offset */
    struct sxs_literal       *literals; /* members of an enum */
};

/**
 * sxs_types_add - return the type of a loaded class. The first call asks the runtime for its
 * properties; for a reference type, only for its name. Call in a callback of its runtime; takes a
 * lock. Returns NULL when the runtime does not provide them.
 */
const struct sxs_type *sxs_types_add(sxs_class cls);

/** sxs_types_find - return the type of a ClassID, or NULL when it is not known. Takes no lock and
 *  calls no runtime: allowed in hooks. */
const struct sxs_type *sxs_types_find(const struct sxs_runtime *rt, ClassID id);

/** sxs_types_named - return the loaded type with the full name @name, or NULL when there is none or
 *  when several modules have one. Allowed in hooks. */
const struct sxs_type *sxs_types_named(const struct sxs_runtime *rt, const char *name);

/** sxs_type_desc_type - return the type of a VALUETYPE descriptor, or NULL when it is not known or
 *  its name is ambiguous. Allowed in hooks. */
const struct sxs_type *sxs_type_desc_type(struct sxs_type_desc *desc);

/** sxs_type_desc_size - return the size of a value in bytes, or 0 when it is not known. Allowed in
 *  hooks. */
uint32_t sxs_type_desc_size(struct sxs_type_desc *desc);

/** sxs_types_forget - mark the type of @cls as gone and forget its layout. Call in the callback
 *  that reports the unload of @cls. */
void sxs_types_forget(sxs_class cls);
/** sxs_types_leave - forget each type of @rt for which @is_leaving returns nonzero. Not in hooks. */
void sxs_types_leave(struct sxs_runtime *rt, int (*is_leaving)(sxs_class cls));
/** sxs_types_close - release the metadata of all modules of @rt. Call in the callback that reports
 *  the unload of a module, or when @rt ends. */
void sxs_types_close(const struct sxs_runtime *rt);

/* ---- private to values/; call with the lock of sxs_types_lock() held unless noted ------------- */

/** The lock guards additions to the table. It is held while runtimes are asked for metadata. */
void sxs_types_lock(void);
void sxs_types_unlock(void);
const struct sxs_type *sxs_types_add_locked(sxs_class cls);
/** sxs_types_canon - return System.__Canon, the class that represents every reference type in
 *  shared generic code, or 0 when it is not loaded. Needs no lock: allowed in hooks. */
ClassID sxs_types_canon(const struct sxs_runtime *rt);
/** sxs_types_import_locked - return the metadata of a module, borrowed until sxs_types_close(), or
 *  NULL when the runtime does not provide it. */
IMetaDataImport2 *sxs_types_import_locked(sxs_module module);

/** The context in which a signature is read. */
struct sxs_generic {
    sxs_module        module; /* whose metadata the signature's tokens refer to */
    IMetaDataImport2 *imp;    /* its metadata, borrowed */
    const ClassID    *type_args, *method_args; /* generic arguments, borrowed */
    uint32_t          n_type_args, n_method_args;
    unsigned          depth;   /* levels of recursion so far */
    int              *missing; /* set to 1 if a type parameter has no argument here; may be NULL */
    int               open;    /* 1: such a type parameter has a mark in names; 0: "?" */
};

/** Number of a type parameter, never 0: the parameter @index of the type, or of the method. */
#define SXS_VARIABLE(of_method, index) ((uint16_t)((index) + 1u) | ((of_method) ? 0x8000u : 0u))

/* A mark is a text in a type's name that represents a type parameter. Metadata names cannot contain
 * it. The functions for marks need no lock. */

/** sxs_mark_write - write the mark of @variable to @out (SXS_MARK_SIZE bytes), with a zero. */
#define SXS_MARK_SIZE 8
void sxs_mark_write(uint16_t variable, char *out);
/** sxs_mark_in - return 1 if @name has a mark, else 0. */
int sxs_mark_in(const char *name);
/** sxs_mark_read - return the type parameter whose mark begins at *@at, and move *@at past the
 *  mark. Returns 0 and leaves *@at when no mark begins there; UINT16_MAX when the mark is cut
 *  off. */
uint16_t sxs_mark_read(const char **at);

/** sxs_type_desc_read - fill @out, which must be zeroed, with the type descriptor of node @at of
 *  @sig.
 *  If the type is not known, the name in @out says why. */
void sxs_type_desc_read(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t at,
                        struct sxs_type_desc *out);
/** sxs_type_desc_of_class - fill @out with the descriptor of a loaded type: a reference or a value
 *  type. */
void sxs_type_desc_of_class(sxs_class cls, struct sxs_type_desc *out);
/** sxs_type_desc_of_type - the same for the type @t of @rt; NULL: not known. Needs no lock: allowed
 *  in hooks. */
void sxs_type_desc_of_type(const struct sxs_runtime *rt, const struct sxs_type *t,
                           struct sxs_type_desc *out);

/** sxs_name_of_typedef - write the full name of a type, with the type arguments of @in, to @out. */
void sxs_name_of_typedef(const struct sxs_generic *in, mdToken type, char *out, size_t size);
/** sxs_is_value_typedef - return 1 if the typedef @type derives directly from System.ValueType. */
int sxs_is_value_typedef(const struct sxs_generic *in, mdToken type);
/** sxs_name_of_node - write the full name of the type at node @at of @sig to @out. */
void sxs_name_of_node(const struct sxs_generic *in, const struct sxs_sig *sig, uint32_t at,
                      char *out, size_t size);

/** sxs_primitive_element - return the element whose sxs_element_name() is @name; 0: none. Needs no
 *  lock. */
uint8_t sxs_primitive_element(const char *name);
/** sxs_element_size - return the bytes of a primitive, a reference or a pointer; 0: another
 *  element. Needs no lock: allowed in hooks. */
uint32_t sxs_element_size(uint8_t element);

#endif
