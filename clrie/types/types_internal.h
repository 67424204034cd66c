/* SPDX-License-Identifier: MIT */
/** types_internal.h - for the files of this folder. */
#ifndef SXS_CLRIE_TYPES_TYPES_INTERNAL_H
#define SXS_CLRIE_TYPES_TYPES_INTERNAL_H

#include "clrie/types/types.h"

/** Bytes that grow. Zeroed it is empty. */
struct clrie_bytes {
    uint8_t *bytes; /* owned; NULL: empty */
    uint32_t n, room;
};

/** clrie_bytes_put - append @n bytes; @bytes may lie in @b itself. Returns S_OK or E_OUTOFMEMORY. */
HRESULT clrie_bytes_put(struct clrie_bytes *b, const void *bytes, uint32_t n);
/** clrie_bytes_put_number, _put_token - append a compressed number, or the compressed token of a
 *  type. Return S_OK, E_INVALIDARG for a number that is too large, or E_OUTOFMEMORY. */
HRESULT clrie_bytes_put_number(struct clrie_bytes *b, uint32_t number);
HRESULT clrie_bytes_put_token(struct clrie_bytes *b, mdToken token);
void    clrie_bytes_free(struct clrie_bytes *b);

/** What the outermost element of a type is, without SENTINEL, PINNED and modifiers. */
struct clrie_element {
    CorElementType element;
    uint32_t       value; /* token of a class or value type; position of a generic parameter */
};

/**
 * clrie_encode_type - append the type at *@at to @out, in the order SENTINEL, PINNED, modifiers,
 * element, and move *@at past it.
 * @out: may be NULL. Returns as clrie_type_read(). */
HRESULT clrie_encode_type(const uint8_t **at, const uint8_t *end, struct clrie_bytes *out,
                          struct clrie_element *what);

/** clrie_related_type - find the type that the composite type @bytes is made of: the element of an
 *  array, the open type of a generic instance. *@at receives its place in @bytes. */
HRESULT clrie_related_type(const uint8_t *bytes, uint32_t size, const uint8_t **at);

/** clrie_type_new - make a type. @bytes: as clrie_encode_type() wrote them; copied. One reference, or
 *  NULL without memory. */
struct clrie_type *clrie_type_new(struct clrie_types_module  *module,
                                  const struct clrie_element *what, const uint8_t *bytes,
                                  uint32_t size);

/** clrie_types_read - read @n types one after the other.
 *  @make: makes the object of a list from a type, and takes over its reference: NULL: the type
 *         itself. @class: of the list. @out: receives the list; NULL: the types are only read. */
HRESULT clrie_types_read(struct clrie_types_module *module, const uint8_t **at, const uint8_t *end,
                         uint32_t n, struct clrie_object *(*make)(struct clrie_type *type),
                         const struct clrie_class *class, struct clrie_object **out);

/** clrie_method_head - read the beginning of a method's signature, up to its result type. */
struct clrie_method_head {
    uint32_t convention, n_generics, n_parameters;
};
HRESULT clrie_method_head_read(const uint8_t **at, const uint8_t *end,
                               struct clrie_method_head *out);
/** clrie_locals_head_read - likewise of a signature of locals; @n receives their number. */
HRESULT clrie_locals_head_read(const uint8_t **at, const uint8_t *end, uint32_t *n);

/** clrie_local_new, clrie_parameter_new - take over the reference of @type. NULL without memory. */
struct clrie_object *clrie_local_new(struct clrie_type *type);
struct clrie_object *clrie_parameter_new(struct clrie_type *type);

#endif
