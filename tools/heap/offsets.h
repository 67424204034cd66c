/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/offsets.h - at which offsets the objects of a class have references.
 *
 * A runtime reports the references of an object without their offsets, and leaves out those that
 * are null. Its collector keeps the offsets in a descriptor in front of each method table, and
 * reports references in the order of that descriptor. Here is a copy of it. The words of
 * an object at these offsets, without those that are null, must be the references that were
 * reported, one by one; else nothing is known about that object.
 */
#ifndef SXS_TOOLS_HEAP_OFFSETS_H
#define SXS_TOOLS_HEAP_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

#include "manager/runtime.h"

#define SXS_HEAP_MASK_SLOTS 64u /* slots of an object that a mask can describe */

/** The slots of a class: places of references in an object, or in an element of an array. */
struct sxs_heap_offsets {
    uint32_t  base;     /* bytes of an object, or of an array without elements */
    uint32_t  step;     /* bytes of an element; 0: not an array */
    uint32_t  n;        /* slots of an object, or of an element */
    uint8_t   has_lead; /* 1: it is known whether there is a lead */
    uint8_t   lead;     /* 1: the first reference that is reported is to the loader of the class,
                         * which can be unloaded; it is not in a slot */
    uint32_t *of_slot;  /* of the slots from the object's address, in the order in which they are
                         * reported; of an array those of element 0. Owned */
};

/** sxs_heap_offsets_read - read the offsets of the class @cls, which has references, from the memory of
 *  the runtime. Returns NULL when it is not known. Call it while an object of the class is being
 *  reported: then the class is not unloaded. */
struct sxs_heap_offsets *sxs_heap_offsets_read(ClassID cls);
void                     sxs_heap_offsets_free(struct sxs_heap_offsets *offsets);

/** sxs_heap_offsets_fits - return whether an object of @cls with @size bytes is at @address; *slots
 *  receives the number of its slots. */
int sxs_heap_offsets_fits(const struct sxs_heap_offsets *offsets, ClassID cls, uint64_t address,
                          uint64_t size, uint64_t *slots);

/** sxs_heap_offsets_mask - compare the slots of an object that is not an array with its references.
 *  Returns 1, and bit i of *mask says whether slot i is a reference; or 0: they differ, or there
 *  are more than SXS_HEAP_MASK_SLOTS. */
int sxs_heap_offsets_mask(struct sxs_heap_offsets *offsets, uint64_t address, const uint64_t *refs,
                          size_t n, uint64_t *mask);

/** A comparison of slots and references that come in parts. */
struct sxs_heap_cursor {
    const struct sxs_heap_offsets *offsets; /* borrowed; NULL: no comparison is under way */
    uint64_t                       address, slots, next; /* next: the slot to look at next */
    uint64_t                       nulls;                /* null slots in front of `next` */
    uint64_t                       lead;                 /* references to skip */
};

/** sxs_heap_cursor_next - find the slot of the reference @ref: c->nulls slots in front of it are
 *  null, and the caller sets c->nulls to 0. Returns 0 when there is no such slot. */
int sxs_heap_cursor_next(struct sxs_heap_cursor *c, uint64_t ref);

/** sxs_heap_cursor_ended - return whether all slots after the last one are null. */
int sxs_heap_cursor_ended(struct sxs_heap_cursor *c);

#endif
