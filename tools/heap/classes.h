/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/classes.h - the loaded classes of a runtime that are never unloaded.
 *
 * To find a class by its token, a runtime would load it, and it crashes when it does so on a thread
 * that it does not know. So the classes are noted when they have been loaded.
 */
#ifndef SXS_TOOLS_HEAP_CLASSES_H
#define SXS_TOOLS_HEAP_CLASSES_H

#include <pthread.h>

#include "base/index.h"
#include "manager/runtime.h"

struct sxs_heap_loaded {
    ClassID   id;
    ModuleID  module;
    mdTypeDef token;
};

/** Zeroed, then sxs_heap_classes_init(). */
struct sxs_heap_classes {
    pthread_mutex_t         lock; /* a leaf lock; guards all members */
    struct sxs_heap_loaded *all;  /* owned */
    size_t                  n, max;
    struct sxs_index        by_id;    /* all */
    struct sxs_index        by_token; /* all; several classes of a generic type have one token */
    ModuleID               *modules;  /* owned */
    size_t                  n_modules, max_modules;
};

void sxs_heap_classes_init(struct sxs_heap_classes *classes);
void sxs_heap_classes_free(struct sxs_heap_classes *classes);

/** sxs_heap_classes_module, sxs_heap_classes_add - note that a module or a class was loaded. Those
 *  that may be unloaded are not noted. In a callback of the runtime. */
void sxs_heap_classes_module(struct sxs_heap_classes *classes, sxs_module module);
void sxs_heap_classes_add(struct sxs_heap_classes *classes, sxs_class cls);

/** sxs_heap_classes_module_at - return module number @at, from 0; 0: there is none. Any thread. */
ModuleID sxs_heap_classes_module_at(struct sxs_heap_classes *classes, size_t at);

/** sxs_heap_classes_each - call @fn(class, @arg) for each class with that token, until it returns
 *  nonzero. Any thread; no lock is held during the call. */
void sxs_heap_classes_each(struct sxs_heap_classes *classes, ModuleID module, mdTypeDef token,
                           int (*fn)(ClassID cls, void *arg), void *arg);

#endif
