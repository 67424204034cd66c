/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/sink.h - receives the objects and roots of one runtime and writes them to a snapshot.
 *
 * The functions that receive are called while the runtime is stopped, by one thread at a time. They
 * take no lock that a thread of the runtime may hold, and call no runtime. They may allocate: a
 * runtime stops its threads in managed code or at its borders, never inside of malloc().
 * Types and functions are kept as IDs here, and get their names when the runtime runs again.
 */
#ifndef SXS_TOOLS_HEAP_SINK_H
#define SXS_TOOLS_HEAP_SINK_H

#include "base/index.h"
#include "manager/runtime.h"
#include "session/write/heap_write.h"
#include "tools/heap/answers.h"
#include "tools/heap/offsets.h"

/** A type of objects, or a variant of one: those of its objects of which the same references are
 *  null. Its number is its index + 1. */
struct sxs_heap_class {
    ClassID  id;
    uint64_t size;        /* of its first object; of a variant: 0 */
    uint8_t  varies;      /* another object had another size */
    uint8_t  named;       /* written to the file */
    uint8_t  has_offsets; /* `offsets` was asked for */
    uint8_t  n_variants;
    uint32_t variant_of; /* number of the type; 0: it is no variant */
    uint32_t next;       /* of a type its first variant, of a variant the next one; 0: none */
    uint64_t mask;       /* of a variant: bit i: slot i of the offsets is a reference */
    struct sxs_heap_offsets *offsets; /* of a type; owned; NULL: not known */
};

/** A name that roots refer to. Its number is its index + 1. */
struct sxs_heap_named {
    uint64_t id;    /* FunctionID; of a static field: its address */
    char    *field; /* name of a static field, UTF-8, owned; NULL: it is a function */
    ClassID  cls;   /* the static field's class; 0: not found */
    uint64_t object; /* of a static field: what it refers to, or the box of its value */
    ClassID  type;   /* of that object; 0: not known */
    ClassID  guess;  /* the only class with such a field of that type; 0: none, SXS_HEAP_SEVERAL */
    uint32_t tid;    /* of a thread-static field: its thread; else 0 */
    char     thread[16]; /* that thread's name; "": not known */
};

#define SXS_HEAP_SEVERAL ((ClassID)1)

struct sxs_heap_sink {
    struct sxs_heap_file  *file; /* borrowed */
    struct sxs_runtime    *rt;   /* borrowed */
    struct sxs_heap_totals totals;
    struct sxs_heap_class *classes; /* owned */
    size_t                 n_classes, max_classes;
    struct sxs_index       class_index;
    struct sxs_heap_named *names; /* owned */
    size_t                 n_names, max_names;
    struct sxs_index       name_index; /* functions only */
    size_t                 last_class; /* index of the class that was looked up last */
    int                    bounds;     /* generations were written */
    int in_memory;                   /* 1: objects are where they are said to be, and may be read */
    struct sxs_heap_cursor   cursor; /* of an object whose references come in parts */
    uint32_t                *runs;   /* of null slots and references of it, in turn; owned */
    size_t                   n_runs;
    struct sxs_heap_answers *answers;  /* values that were asked for; owned; NULL: none */
};

/** sxs_heap_sink_begin - begin with a runtime; @sink is zeroed, and freed by sxs_heap_sink_free().
 *  */
void sxs_heap_sink_begin(struct sxs_heap_sink *sink, struct sxs_heap_file *file,
                         struct sxs_runtime *rt, enum sxs_heap_how how);
void sxs_heap_sink_free(struct sxs_heap_sink *sink);

/** sxs_heap_sink_class - return the number of a type; 0: no memory, which is noted. */
uint32_t sxs_heap_sink_class(struct sxs_heap_sink *sink, ClassID cls);

/** sxs_heap_sink_object - receive an object, with the references to others, without NULL. @size: as the
 *  runtime says it; the file has what it takes on the heap (base/object_size.h). */
void sxs_heap_sink_object(struct sxs_heap_sink *sink, uint64_t address, ClassID cls, uint64_t size,
                          const uint64_t *refs, size_t n);
/** sxs_heap_sink_more - receive further references of the object that came last. */
void sxs_heap_sink_more(struct sxs_heap_sink *sink, uint64_t address, ClassID cls, uint64_t size,
                        const uint64_t *refs, size_t n);
/** sxs_heap_sink_complete - note that all objects were received. While the runtime is stopped. */
void sxs_heap_sink_complete(struct sxs_heap_sink *sink);
/** sxs_heap_sink_root - receive a root. @function: of a root on a stack; 0: not known. */
void sxs_heap_sink_root(struct sxs_heap_sink *sink, enum sxs_heap_root_kind kind, uint32_t flags,
                        uint64_t object, uint64_t id, FunctionID function);
/** sxs_heap_sink_static - receive the static field @field (UTF-16) at the address @id. @type: of
 *  @object. Which class
 *  it is of is found out later (tools/heap/statics.h). */
void sxs_heap_sink_static(struct sxs_heap_sink *sink, int of_thread, uint64_t object, ClassID type,
                          uint64_t id, const WCHAR *field, size_t n);
/** sxs_heap_sink_slot - receive a static field of the class @cls. @field: its name, UTF-8,
 *  allocated by malloc(). Returns 1 if it is owned by the sink now, 0 if not. */
int  sxs_heap_sink_slot(struct sxs_heap_sink *sink, uint64_t object, uint64_t id, ClassID cls,
                        char *field);
/** sxs_heap_sink_thread_slot - receive the value of a thread-static field on the thread @tid.
 *  @field: its name, UTF-8, copied; @thread: the thread's name. */
void sxs_heap_sink_thread_slot(struct sxs_heap_sink *sink, uint64_t object, uint64_t id,
                               ClassID cls, const char *field, uint32_t tid, const char *thread);
void sxs_heap_sink_dependent(struct sxs_heap_sink *sink, uint64_t primary, uint64_t secondary,
                             uint64_t id);

/** sxs_heap_sink_bounds - request the generations of the runtime's heap. Called in
 *  GarbageCollectionFinished, or on a thread that the runtime does not know. */
void sxs_heap_sink_bounds(struct sxs_heap_sink *sink);

#endif
