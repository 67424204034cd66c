/* SPDX-License-Identifier: MIT */
/**
 * tools/heap/answers.h - reads the values that were requested (tools/heap/ask.h) of one runtime.
 *
 * Static fields are looked up before the runtime is stopped, because their types and names come
 * from metadata. While it is stopped, the bytes of the objects and fields are copied, and of what
 * they refer to; an object is read only if the snapshot has it. Layouts and texts follow when the
 * runtime runs again.
 */
#ifndef SXS_TOOLS_HEAP_ANSWERS_H
#define SXS_TOOLS_HEAP_ANSWERS_H

#include "session/write/heap_write.h"
#include "tools/heap/ask.h"
#include "tools/heap/classes.h"
#include "values/inspect.h"

#define SXS_HEAP_ANSWER_FIELDS 64u  /* static fields, of all classes of generic types */
#define SXS_HEAP_ANSWER_VALUES 256u /* values: thread statics have one for each thread */

/** A static field that was found. */
struct sxs_heap_found {
    size_t                  question; /* index */
    struct sxs_static_field field;
    uint32_t                kind;     /* COR_PRF_STATIC_TYPE */
    char                   *name;     /* TYPE.FIELD, with type arguments; owned */
    uint32_t                refs[64]; /* offsets of references in the value */
    size_t                  n_refs;
    unsigned                n_values; /* that were read */
    HRESULT                 status;   /* of the last failure */
    uint64_t                image;    /* RVA: address in the image of the module; 0: not known */
};

/** A value whose bytes were copied. */
struct sxs_heap_read {
    uint32_t what;  /* enum sxs_heap_value_what */
    size_t   index; /* of the question (OBJECT), or of the field */
    uint64_t address;
    uint64_t size;   /* bytes; of an object */
    uint32_t thread; /* THREAD_STATIC */
};

/** Zeroed it has no questions. One thread at a time. */
struct sxs_heap_answers {
    struct sxs_runtime     *rt;      /* borrowed; NULL: nothing is asked */
    struct sxs_heap_request request; /* those that are for this runtime */
    struct {
        uint64_t now;    /* where the object is: the collection for the snapshot moves objects */
        int      moved;  /* 1: the collection under way has moved it */
        int      seen;   /* 1: the snapshot has the object */
        int      read;   /* 1: its bytes were copied */
        char    *reason; /* why a static field was not found; owned */
    } of[SXS_HEAP_ASK_LINES]; /* by question */
    struct sxs_heap_found fields[SXS_HEAP_ANSWER_FIELDS];
    size_t                n_fields;
    int                   fields_read; /* 1: they were all looked at */
    struct sxs_heap_read  values[SXS_HEAP_ANSWER_VALUES];
    size_t                n_values;
    sxs_appdomain         domain;
    sxs_class            *forget; /* classes that may be unloaded, whose types were added; owned */
    size_t                n_forget;
    struct sxs_memory     memory;
    struct sxs_heap_file *file; /* while answers are written */
    uint64_t              address, size;
    const char           *name;
    uint32_t              what, thread;
};

/** sxs_heap_answers_see - note that the snapshot has an object at @address. */
static inline void sxs_heap_answers_see(struct sxs_heap_answers *a, uint64_t address)
{
    for (size_t i = 0; a && i < a->request.n; i++)
        if (a->of[i].now == address && address)
            a->of[i].seen = 1;
}

/** sxs_heap_answers_wait - return whether something can be copied that was not copied yet. */
static inline int sxs_heap_answers_wait(const struct sxs_heap_answers *a)
{
    int wait = a && !a->fields_read;
    for (size_t i = 0; a && i < a->request.n; i++)
        wait |= a->of[i].seen && !a->of[i].read;
    return wait;
}

/** sxs_heap_answers_move - note that a collection has begun (@n 0), or that it has moved objects:
 *  @n ranges of @sizes bytes. @a may be NULL. */
void sxs_heap_answers_move(struct sxs_heap_answers *a, ULONG n, const ObjectID *from,
                           const ObjectID *to, const SIZE_T *sizes);

/** sxs_heap_answers_read - copy the bytes of what was asked for. While the runtime is stopped
 *  (@stopped 1), in a callback in which objects may be inspected; or only those of objects that do
 *  not move (@stopped 0). @a may be NULL. */
void sxs_heap_answers_read(struct sxs_heap_answers *a, int stopped);

/** sxs_heap_answers_write - write the answers, and free @a, which may be NULL. On a thread that no
 *  runtime knows, or in a callback. */
void sxs_heap_answers_write(struct sxs_heap_answers *a, struct sxs_heap_file *file);

#endif
