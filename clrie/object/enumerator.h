/* SPDX-License-Identifier: MIT */
/** enumerator.h - the objects that list other objects: IEnumModuleInfo and the like. */
#ifndef SXS_CLRIE_OBJECT_ENUMERATOR_H
#define SXS_CLRIE_OBJECT_ENUMERATOR_H

#include "sxs_clrie.h"

/**
 * clrie_enumerator_new - make an enumerator.
 * @class: one of the classes with the struct `enumerator`, such as &clrie_module_list.
 * @items: @n interface pointers, in the order in which they are listed; a reference of each is taken.
 * Returns one reference, or NULL without memory. */
struct clrie_object *clrie_enumerator_new(const struct clrie_class *class, void *const *items,
                                          uint32_t n);

#endif
