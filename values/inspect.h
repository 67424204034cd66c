/* SPDX-License-Identifier: MIT */
/**
 * inspect.h - shows a whole object or the value of a static field: all fields with their offsets.
 *
 * The bytes come from copies (values/memory.h), so that the runtime may run meanwhile; the layouts
 * of classes come from the runtime. The number of lines, their length and the depth are bounded.
 * Call these functions where sxs_layout_get() is allowed, and see sxs_types_add(): value types that
 * were not added before are not shown.
 */
#ifndef SXS_VALUES_INSPECT_H
#define SXS_VALUES_INSPECT_H

#include "values/memory.h"
#include "values/parameters.h"

#define SXS_INSPECT_LINES 400u  /* of one object */
#define SXS_INSPECT_ITEMS 32u   /* of an array */
#define SXS_INSPECT_UNITS 2048u /* UTF-16 units of a string */
#define SXS_INSPECT_TEXT  8192u /* bytes of a value */
#define SXS_INSPECT_DEPTH 6u    /* levels of structs in structs */
#define SXS_INSPECT_NAME  1024u /* bytes of a type's name */

/** One line: the object or static field itself, a field of it, or an item of an array. */
struct sxs_shown_value {
    unsigned    depth;  /* 0: the object or static field itself */
    uint32_t    offset; /* bytes from its address; of depth 0: 0 */
    uint32_t    size;   /* bytes of the value; 0: not known */
    uint64_t    object; /* the object that a reference refers to; 0: null, or no reference */
    const char *name;   /* of the field, "[1,2]" of an item; UTF-8 */
    const char *owner;  /* the base class that declares the field; "": the class itself */
    const char *type;   /* declared type of a field; type of an object */
    const char *value;  /* "" if the lines below show it */
};

/** A static field. */
struct sxs_static_field {
    sxs_class            cls;
    mdFieldDef           token;
    struct sxs_type_desc desc;
    char                *owned; /* owned; part of desc */
    char                *type;  /* name of its type; owned */
    uint32_t             size;  /* bytes of its value; 0: not known */
};

struct sxs_inspection {
    struct sxs_runtime      *rt;                                  /* borrowed */
    const struct sxs_memory *memory;                              /* borrowed */
    void (*line)(void *arg, const struct sxs_shown_value *value); /* texts are borrowed */
    void                *arg;
    struct sxs_formatter format; /* set by sxs_inspect_begin() */
    unsigned             left;   /* lines that may still be written */
};

/** sxs_inspect_begin - complete @in, of which the first four members are set. */
void sxs_inspect_begin(struct sxs_inspection *in);

/** sxs_inspect_object - show the object whose bytes were at @address, and the strings, arrays and
 *  boxed values that it refers to as far as they were copied. */
void sxs_inspect_object(struct sxs_inspection *in, uint64_t address);

/** sxs_inspect_static - show the value of @field, whose bytes were at @address. */
void sxs_inspect_static(struct sxs_inspection *in, struct sxs_static_field *field,
                        uint64_t address);

/** sxs_static_read - describe the static field @token of @cls. Returns 0, or -1 when the runtime
 *  does not answer. Free it by sxs_static_free(), whatever is returned. */
int  sxs_static_read(sxs_class cls, mdFieldDef token, struct sxs_static_field *out);
void sxs_static_free(struct sxs_static_field *field);

/** sxs_static_references - list the offsets of the references in the value of a static field: at
 *  most
 *  @max. Returns their number. */
size_t sxs_static_references(const struct sxs_static_field *field, uint32_t *offsets, size_t max);

#endif
