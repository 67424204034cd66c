/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/classes.h - the loaded classes of a runtime.
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

/** A class that may be unloaded. */
struct sxs_heap_leaving {
    struct sxs_heap_loaded loaded;
    AssemblyID             assembly; /* of its module */
    int                    generic;  /* 1: it has type arguments, of any assembly */
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
    struct sxs_heap_leaving *leaving; /* classes that may be unloaded; owned */
    size_t                   n_leaving, max_leaving;
};

void sxs_heap_classes_init(struct sxs_heap_classes *classes);
void sxs_heap_classes_free(struct sxs_heap_classes *classes);

/** sxs_heap_classes_module, sxs_heap_classes_add - note that a module or a class was loaded. Modules
 *  that may be unloaded are not noted, and their classes apart. In a callback of the runtime. */
void sxs_heap_classes_module(struct sxs_heap_classes *classes, sxs_module module);
void sxs_heap_classes_add(struct sxs_heap_classes *classes, sxs_class cls);

/** sxs_heap_classes_module_at - return module number @at, from 0; 0: there is none. Any thread. */
ModuleID sxs_heap_classes_module_at(struct sxs_heap_classes *classes, size_t at);

/** sxs_heap_classes_each - call @fn(class, @arg) for each class with that token, until it returns
 *  nonzero. Any thread; no lock is held during the call. */
void sxs_heap_classes_each(struct sxs_heap_classes *classes, ModuleID module, mdTypeDef token,
                           int (*fn)(ClassID cls, void *arg), void *arg);

/** sxs_heap_classes_all - list all classes, those that may be unloaded last. @n: receives their
 *  number; @leaving: the index of the first one of these. Returns an owned list; NULL: none, or no
 *  memory. Any thread; to use those that may be unloaded, hold the lock that an unload waits for.
 *  */
struct sxs_heap_loaded *sxs_heap_classes_all(struct sxs_heap_classes *classes, size_t *n,
                                             size_t *leaving);

/** sxs_heap_classes_add_values - add the value types among the @n classes @all, and System.__Canon,
 *  to the table of values/types.h. In a callback of the runtime, or on a thread that no runtime knows. */
void sxs_heap_classes_add_values(struct sxs_runtime *rt, const struct sxs_heap_loaded *all,
                                 size_t n);

/** sxs_heap_classes_unloading - forget the classes of @assembly, and generic ones that may have type
 *  arguments of it. In a callback of the runtime, before the assembly is unloaded. */
void sxs_heap_classes_unloading(struct sxs_heap_classes *classes, AssemblyID assembly);

#endif
