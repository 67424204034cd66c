/* SPDX-License-Identifier: MIT */
/**
 * slots.h - finds the field that contains a reference of an object.
 *
 * A snapshot has the slots of the objects of each type, and, for objects with null references, the slots
 * that are null. Numbers of types in this file are those of the snapshot's file, which
 * has variants of types, too.
 */
#ifndef SXS_CMD_HEAP_SLOTS_H
#define SXS_CMD_HEAP_SLOTS_H

#include "cmd/heap/addresses.h"
#include "cmd/output/strings.h"
#include "session/read/heap_read.h"

#define SXS_HEAP_NO_INDEX UINT32_MAX

enum sxs_heap_field_kind {
    SXS_HEAP_FIELD_UNKNOWN,
    SXS_HEAP_FIELD_NAMED,   /* a field of an object */
    SXS_HEAP_FIELD_ELEMENT, /* an element of an array, or a field of it if it is a struct */
};

/** Where a reference is. */
struct sxs_heap_field {
    uint8_t  kind;  /* enum sxs_heap_field_kind */
    uint32_t name;  /* number of the string; 0: none */
    uint32_t index; /* of the element; SXS_HEAP_NO_INDEX: not known, or no element */
};

struct sxs_heap_fields;

/** sxs_heap_fields_find - return where a reference of an object is. @ref: its number, from 0, of
 *  @refs that the object has, in the order of the file. @size: the object's. @f may be NULL. */
struct sxs_heap_field sxs_heap_fields_find(const struct sxs_heap_fields *f, uint32_t object,
                                           uint32_t ref, uint32_t refs, uint64_t size);

/** sxs_heap_field_text - format a field as it stands after the type that has it: ".name",
 *  " [3]", " [*].name" (an element that is not known, or several), "" (not known). Returns @buf. */
const char *sxs_heap_field_text(const struct sxs_strings *strings, struct sxs_heap_field field,
                                char *buf, size_t size);

/* ---- while a snapshot is loaded ---- */

/** sxs_heap_fields_note - take the items of a block, if it is FIELDS, VARIANTS or PLACES. *f: NULL
 *  before the first one; owned by the caller. */
void sxs_heap_fields_note(struct sxs_heap_fields **f, struct sxs_strings *strings,
                          struct sxs_heap_reader *r);
/** sxs_heap_fields_type - return the type of which @number is a variant, or @number. @f may be
 *  NULL, here and below. */
uint32_t sxs_heap_fields_type(const struct sxs_heap_fields *f, uint32_t number);
/** sxs_heap_fields_begin - all blocks were noted: prepare for @n objects. */
void sxs_heap_fields_begin(struct sxs_heap_fields *f, uint32_t n, const struct sxs_pages *pages);
/** sxs_heap_fields_object - note the number of the type of an object. */
void sxs_heap_fields_object(struct sxs_heap_fields *f, uint32_t object, uint32_t number);
/** sxs_heap_fields_lose - note that references of an object were left out. */
void sxs_heap_fields_lose(struct sxs_heap_fields *f, uint32_t object);
/** sxs_heap_fields_end - all objects were noted. */
void sxs_heap_fields_end(struct sxs_heap_fields *f);
void sxs_heap_fields_free(struct sxs_heap_fields *f);

#endif
