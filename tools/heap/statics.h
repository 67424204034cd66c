/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/statics.h - finds the classes of static fields.
 *
 * A runtime's own heap dump has the name and the address of each static field that refers to an
 * object, but not its class. The metadata of all modules say which classes have a static field of
 * that name; the runtime says where the field of each of these classes is.
 */
#ifndef SXS_TOOLS_HEAP_STATICS_H
#define SXS_TOOLS_HEAP_STATICS_H

#include "tools/heap/classes.h"
#include "tools/heap/sink.h"

/** sxs_heap_statics_find - set the classes of the static fields in @sink->names. Fields of classes
 *  that may be unloaded are not found. On a thread that no runtime knows. */
void sxs_heap_statics_find(struct sxs_heap_classes *classes, struct sxs_heap_sink *sink);

/** Where a static field that refers to an object lies. */
struct sxs_heap_slot {
    uint64_t   address; /* of a thread-static field 0: each thread has one */
    ClassID    cls;
    mdFieldDef token;
    char      *field; /* its name, owned */
};
struct sxs_heap_slots {
    struct sxs_heap_slot *all; /* owned */
    size_t                n, max;
    sxs_appdomain         domain;
};

/** sxs_heap_slots_find - list the thread-static fields of all noted classes that refer to objects,
 *  and, if @all, the other static fields that do, too. Those of value types are left out. On a
 *  thread that no runtime knows. */
void sxs_heap_slots_find(struct sxs_heap_classes *classes, struct sxs_runtime *rt, int all,
                         struct sxs_heap_slots *slots);

/** sxs_heap_slots_report - report the objects that they refer to now, while the runtime is stopped;
 *  the list is empty then. @threads: 1: those of thread-static fields, too: only in
 *  GarbageCollectionFinished, because a runtime refuses such questions elsewhere. */
void sxs_heap_slots_report(struct sxs_heap_slots *slots, struct sxs_heap_sink *sink, int threads);
void sxs_heap_slots_free(struct sxs_heap_slots *slots);

#endif
