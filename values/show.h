/* SPDX-License-Identifier: MIT */
/**
 * show.h - values as text; for this folder. In hooks: no locks, no memory from anywhere.
 *
 * Values lie in values: functions here call each other up to SXS_SHOW_DEPTH levels deep, on the stack of the
 * program. What they copy lies in one space of SXS_SHOW_SPARE bytes that the outermost one sets aside; a value for which
 * there is no room left is shown as those that lie too deep, as {...}. Beside what libc takes to print a number they use
 * less than SXS_SHOW_STACK bytes of stack, whatever the value (tests/unit/test_values.c).
 */
#ifndef SXS_VALUES_SHOW_H
#define SXS_VALUES_SHOW_H

#include "values/line.h"
#include "values/formatter.h"

#define SXS_SHOW_STRING 64u  /* UTF-16 units of a string */
#define SXS_SHOW_ITEMS  8u   /* of an array */
#define SXS_SHOW_DEPTH  4u   /* values in values */
#define SXS_SHOW_VALUE  512u /* bytes of a value type */
#define SXS_SHOW_SPARE  1024u /* bytes of copies, of all levels */
#define SXS_SHOW_STACK  4096u

/** The value where the runtime has said that it is. Address 0: it has not. */
void sxs_show_at(struct sxs_line *line, const struct sxs_recipe *r, struct sxs_shape *shape,
                 COR_PRF_FUNCTION_ARGUMENT_RANGE where);

/** The value in @bytes, which hold all of it. */
void sxs_show(struct sxs_line *line, const struct sxs_recipe *r, struct sxs_shape *shape,
              const uint8_t *bytes, unsigned depth);

/** A copy of the @size bytes at @at, in the line's spare room: the caller gives it back by setting
 *  line->n_spare to what it was. NULL: they cannot be read, or there is no room; the line says so. */
const uint8_t *sxs_show_copy(struct sxs_line *line, uintptr_t at, size_t size);

/** A primitive in @bytes. */
void sxs_show_primitive(struct sxs_line *line, uint8_t element, const uint8_t *bytes);
/** A member of an enum by its name, or several, or the number. */
void sxs_show_enum(struct sxs_line *line, const struct sxs_type *t, const uint8_t *bytes);
/** One of those value types that have a form of their own: DECIMAL, DATE, TIME_SPAN, GUID. */
void sxs_show_form(struct sxs_line *line, const struct sxs_type *t, const uint8_t *bytes);
/** What a reference refers to: null, a string, an array, a boxed value, or a type's name. */
void sxs_show_object(struct sxs_line *line, const struct sxs_recipe *r, uintptr_t object,
                     unsigned depth);
/** Whether @id is an array's: read, not asked. */
int sxs_is_array_class(const struct sxs_runtime *rt, ClassID id);
/** The type of an exception, and its message. */
void sxs_show_exception(struct sxs_line *line, const struct sxs_recipe *r, uintptr_t object);
/** @n of @total values of @shape, one behind the other from @at on, in braces. */
void sxs_show_items(struct sxs_line *line, const struct sxs_recipe *r, struct sxs_shape *shape,
                    uintptr_t at, uint64_t n, unsigned depth);

#endif
