/* SPDX-License-Identifier: MIT */
/**
 * show.h - formats values as text. Private to values/. Called in hooks: takes no lock and allocates
 * nothing.
 *
 * A value may contain values, so these functions call each other, up to SXS_SHOW_DEPTH levels deep,
 * on the stack of the program. The outermost function reserves SXS_SHOW_SPARE bytes for copies of
 * values on all levels. A value that lies too deep, or for which there is no room left, is shown as
 * {...}. The functions use less than SXS_SHOW_STACK bytes of stack for any value, in addition to
 * the stack that libc uses to print a number (tests/unit/test_values.c).
 */
#ifndef SXS_VALUES_SHOW_H
#define SXS_VALUES_SHOW_H

#include "values/line.h"
#include "values/parameters.h"

#define SXS_SHOW_STRING 64u  /* UTF-16 units shown of a string */
#define SXS_SHOW_ITEMS  8u   /* items shown of an array */
#define SXS_SHOW_DEPTH  4u   /* levels of values in values */
#define SXS_SHOW_VALUE  512u /* largest value type, in bytes */
#define SXS_SHOW_SPARE  1024u /* bytes for copies, on all levels together */
#define SXS_SHOW_STACK  4096u /* bytes of stack */

/* In the functions below, @r is the formatter and @depth the level of the value, from 0. */

/** sxs_show_at - append the value at the memory range @where, which the runtime reported. Address
 *  0: the runtime did not report it. Reads the range directly. */
void sxs_show_at(struct sxs_line *line, const struct sxs_formatter *r, struct sxs_type_desc *desc,
                 COR_PRF_FUNCTION_ARGUMENT_RANGE where);

/** sxs_show - append the value in @bytes, which must contain the whole value. */
void sxs_show(struct sxs_line *line, const struct sxs_formatter *r, struct sxs_type_desc *desc,
              const uint8_t *bytes, unsigned depth);

/** sxs_show_copy - copy the @size bytes at @at to the line's spare bytes, and return the copy. The
 *  caller releases the copy by restoring line->n_spare. Returns NULL and appends a text that says
 *  so when the memory cannot be read or there is no room. */
const uint8_t *sxs_show_copy(struct sxs_line *line, uintptr_t at, size_t size);

/** sxs_show_read - copy @size bytes of objects: from line->memory, or from their address. Returns the
 *  number of bytes copied. */
size_t sxs_show_read(const struct sxs_line *line, void *to, uintptr_t from, size_t size);

/** sxs_show_primitive - append the primitive value in @bytes. */
void sxs_show_primitive(struct sxs_line *line, uint8_t element, const uint8_t *bytes);
/** sxs_show_enum - append an enum value: the name of its member, the names of several, or the
 *  number. */
void sxs_show_enum(struct sxs_line *line, const struct sxs_type *t, const uint8_t *bytes);
/** sxs_show_form - append a value of a type with its own notation: DECIMAL, DATE, TIME_SPAN,
 *  GUID. */
void sxs_show_form(struct sxs_line *line, const struct sxs_type *t, const uint8_t *bytes);
/** sxs_show_object - append the object at @object: null, a string, an array, a boxed value, or the
 *  name of its type. */
void sxs_show_object(struct sxs_line *line, const struct sxs_formatter *r, uintptr_t object,
                     unsigned depth);
/** sxs_is_array_class - return 1 if @id is the ClassID of an array type, else 0. Reads memory of
 *  the runtime instead of calling the runtime. */
int sxs_is_array_class(const struct sxs_runtime *rt, ClassID id);
/** sxs_show_parent - read the parent class of @id, as sxs_is_array_class() does. Returns 0 or -1. */
int sxs_show_parent(ClassID id, ClassID *parent);

/** An array. */
struct sxs_array {
    ULONG                  rank;
    ULONG32                lengths[8];
    uint64_t               n;    /* items */
    uintptr_t              data; /* address of the first one */
    struct sxs_type_desc   item;
    const struct sxs_type *of;   /* type of the items; NULL: not known */
    ClassID                item_class;
    uint8_t                element; /* of the items, as the runtime says */
};
/** sxs_show_read_array - find the lengths and items of the array at @object, which is of the class
 *  @id. Returns 0 or -1. */
int sxs_show_read_array(const struct sxs_line *line, const struct sxs_formatter *r,
                        uintptr_t object, ClassID id, struct sxs_array *out);
/** sxs_show_exception - append the type of an exception and its message. */
void sxs_show_exception(struct sxs_line *line, const struct sxs_formatter *r, uintptr_t object);
/** sxs_show_items - append the @n values of type @desc that lie at @at, in braces: at most
 *  SXS_SHOW_ITEMS of them. */
void sxs_show_items(struct sxs_line *line, const struct sxs_formatter *r,
                    struct sxs_type_desc *desc, uintptr_t at, uint64_t n, unsigned depth);

#endif
