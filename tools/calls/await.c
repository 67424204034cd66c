/* SPDX-License-Identifier: MIT */
/* await.c - follows object references from a state machine to the state machines that await it. */
#include "tools/calls/await.h"

#include <stdlib.h>
#include <string.h>

#include "base/session_state.h"
#include "base/hash.h"
#include "base/safe_read.h"
#include "manager/module_info.h"
#include "values/layout.h"

#define MAX_RUNTIMES 64
#define MAX_PLACES   32   /* offsets of machines in boxes: they depend on the result's size */
#define MAX_PLACE    504u /* bytes */
#define PAGE         ((uintptr_t)4095)
#define MAX_HOPS     512  /* objects that one search visits, in all */
#define MAX_LISTED   64   /* continuations of one task */
#define NO_SOURCE    UINT32_MAX /* offset differs between instantiations: not followed */
#define BUCKETS      1024u
#define STACK_BYTES  (1u << 20) /* at its first call, a machine lies in its caller's frame */
#define FIRST_ITEM   16         /* offset of the items in an array, after method table and length */

enum awaited_kind {
    BOX = 1, /* the task of an async method, with the method's machine */
    TASK,    /* another task: the result of WhenAll, or of ContinueWith */
    POINTER, /* one field leads to the next object: an Action, an await with a context */
    LIST,    /* several continuations of one task */
    MACHINE, /* a machine that is an object: in debug builds, and of async iterators */
};

/* A class that the search follows, with the offsets of its fields. Never freed. */
struct awaited_class {
    enum awaited_kind kind;
    uint32_t          next; /* offset of the reference to follow; LIST: to the array; 0: none */
    uint32_t  source;   /* BOX, MACHINE: offset of the ValueTask source in the object; 0: none */
    uint32_t  machine;  /* BOX: offset of the machine */
    int       is_value; /* BOX: 1: the machine is a struct in the box; 0: an object */
    uint32_t  size;     /* LIST: offset of the number of items */
    uint32_t  state, builder, builder_size; /* MACHINE: two offsets; size in bytes */
    uint32_t  runtime;  /* the runtime's number */
    ClassID   type;     /* BOX: the machine's class, the exact instantiation */
    ModuleID  module;   /* BOX: the module that defines the machine's class */
    mdTypeDef token;    /* BOX: the definition of the machine's class */
    _Atomic(struct sxs_called *) called; /* BOX: the machine's MoveNext; NULL: not found yet */
};

/* A hooked MoveNext. Never freed. */
struct method {
    struct method     *next;
    struct sxs_called *called;
    ClassID            cls; /* 0: several instantiations share the method */
    ModuleID           module;
    mdTypeDef          token;
};

/* A runtime whose awaits are followed. Never freed. */
struct watched_runtime {
    struct sxs_runtime *rt; /* one reference, never dropped because hooks are never removed */
    _Atomic uint32_t    places[MAX_PLACES]; /* offsets of machines in boxes; 0 ends the list */
    _Atomic uint32_t    source_state; /* offset of _continuationState in a ValueTask source */
};

static _Atomic(struct watched_runtime *) runtimes[MAX_RUNTIMES]; /* indexed by runtime number */
SXS_SESSION_KEEPS(runtimes);
static _Atomic(struct method *)  methods[BUCKETS];
SXS_SESSION_KEEPS(methods);

static struct watched_runtime *watched_of(uint32_t number)
{
    return number < MAX_RUNTIMES ? atomic_load_explicit(&runtimes[number], memory_order_acquire)
                                 : NULL;
}

void sxs_await_runtime(struct sxs_runtime *rt)
{
    uint32_t                number = sxs_runtime_number(rt);
    struct watched_runtime *w =
        number < MAX_RUNTIMES && !watched_of(number) ? calloc(1, sizeof(*w)) : NULL;
    if (!w)
        return;
    w->rt = sxs_runtime_ref(rt);
    atomic_store_explicit(&runtimes[number], w, memory_order_release);
}

/* ---- classes ----------------------------------------------------------------------------------- */

static uint32_t offset_of(const struct sxs_layout *l, const char *name)
{
    const struct sxs_field *f = sxs_layout_field(l, name);
    return f ? f->offset : 0;
}

static void add_place(struct watched_runtime *w, uint32_t place)
{
    for (unsigned i = 0; i < MAX_PLACES && place <= MAX_PLACE; i++) {
        uint32_t there = 0;
        if (atomic_compare_exchange_strong(&w->places[i], &there, place) || there == place)
            return;
    }
}

/* Fills @k for AsyncStateMachineBox`1, which is a Task, or for StateMachineBox`1 of the pooling
 * builders, which is not a Task. */
static int learn_box(struct awaited_class *k, const struct sxs_layout *l, struct watched_runtime *w)
{
    const struct sxs_field *machine = sxs_layout_field(l, "StateMachine");
    char                    name[16];
    sxs_module              module = {l->rt, 0};
    if (!machine || !machine->cls ||
        sxs_class_name((sxs_class){l->rt, machine->cls}, name, sizeof(name), &module, &k->token))
        return -1;
    k->kind = BOX;
    k->next = offset_of(l, "m_continuationObject");
    k->source = offset_of(l, "_valueTaskSource");
    k->machine = machine->offset;
    k->is_value = machine->type != ELEMENT_TYPE_CLASS;
    k->type = machine->cls;
    k->module = module.id;
    if (k->is_value)
        add_place(w, k->machine);
    return 0;
}

static int learn_machine(struct awaited_class *k, const struct sxs_layout *l)
{
    const struct sxs_field *builder = sxs_layout_field(l, "<>t__builder");
    const struct sxs_field *state = sxs_layout_field(l, "<>1__state");
    if (!builder || !state || l->is_value)
        return -1;
    k->kind = MACHINE;
    k->state = state->offset;
    k->builder = builder->offset;
    k->builder_size = builder->size;
    k->source = offset_of(l, "<>v__promiseOfValueOrEnd");
    return 0;
}

static int learn_pointer(struct awaited_class *k, const struct sxs_layout *l, const char *field)
{
    k->kind = POINTER;
    k->next = offset_of(l, field);
    return k->next ? 0 : -1;
}

static int learn_tasks(struct awaited_class *k, const struct sxs_layout *l)
{
    k->kind = TASK;
    k->next = offset_of(l, "m_continuationObject");
    if (k->next)
        return 0;
    return learn_pointer(k, l, "m_action") == 0 ? 0 : learn_pointer(k, l, "m_task");
}

static int learn_list(struct awaited_class *k, const struct sxs_layout *l)
{
    k->kind = LIST;
    k->next = offset_of(l, "_items");
    k->size = offset_of(l, "_size");
    return k->next && k->size ? 0 : -1;
}

static int begins_with(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Records the offset of _continuationState in a ValueTask source. If the offset differs between
 * instantiations, sources are not followed. */
static void know_source(const struct sxs_layout *l, struct watched_runtime *w)
{
    uint32_t at = offset_of(l, "_continuationState"), before = 0;
    if (!atomic_compare_exchange_strong(&w->source_state, &before, at) && before != at)
        atomic_store(&w->source_state, NO_SOURCE);
}

/* Returns 1 if a class of this name may be one that the search follows. The names are those of the
 * framework's classes; a class of the program with such a name does no harm. */
static int may_matter(const char *name)
{
    const char *nested = strrchr(name, '+');
    return (nested && nested[1] == '<') || begins_with(name, "System.Threading.Tasks.") ||
           (begins_with(name, "System.Runtime.CompilerServices.") &&
            (strstr(name, "StateMachineBox`1") || strstr(name, "+ContinuationWrapper"))) ||
           strcmp(name, "System.Action") == 0 ||
           strcmp(name, "System.Collections.Generic.List`1") == 0;
}

static int learn_class(struct awaited_class *k, const struct sxs_layout *l,
                       struct watched_runtime *w)
{
    const char *name = l->name, *nested = strrchr(name, '+');
    if (nested && nested[1] == '<')
        return learn_machine(k, l);
    if (strstr(name, "StateMachineBox`1"))
        return learn_box(k, l, w);
    if (begins_with(name, "System.Threading.Tasks.Sources.ManualResetValueTaskSourceCore`1")) {
        know_source(l, w);
        return -1; /* a struct within objects, not an object */
    }
    if (begins_with(name, "System.Threading.Tasks."))
        return learn_tasks(k, l);
    if (strcmp(name, "System.Action") == 0)
        return learn_pointer(k, l, "_target");
    if (strstr(name, "+ContinuationWrapper"))
        return learn_pointer(k, l, "_continuation");
    return learn_list(k, l);
}

void sxs_await_class(sxs_class cls)
{
    struct watched_runtime  *w = watched_of(sxs_runtime_number(cls.rt));
    const struct sxs_layout *l;
    struct awaited_class     k = {0}, *kept;
    char                     name[512];
    if (!w || sxs_class_name(cls, name, sizeof(name), NULL, NULL) || !may_matter(name))
        return;
    l = sxs_layout_get(cls);
    if (!l || sxs_layout_note(l) || learn_class(&k, l, w))
        return;
    kept = malloc(sizeof(*kept));
    if (!kept)
        return;
    k.runtime = sxs_runtime_number(cls.rt);
    memcpy(kept, &k, sizeof(k));
    if (sxs_layout_set_note(l, kept))
        free(kept); /* another thread was faster and found the same */
}

void sxs_await_class_gone(sxs_class cls)
{
    sxs_layout_forget(cls);
}

/* ---- methods ----------------------------------------------------------------------------------- */

static _Atomic(struct method *) *bucket_of(ModuleID module, mdTypeDef token)
{
    return &methods[(sxs_hash_id((module >> 4) + token) >> 20) % BUCKETS];
}

/* Returns 1 if the type that defines @method has a field <>t__builder. *type receives that type. */
static int is_machine(sxs_module module, mdToken method, mdTypeDef *type)
{
    IMetaDataImport2 *imp = sxs_module_import(module);
    mdFieldDef        field = 0;
    int               is;
    if (!imp)
        return 0;
    is = SUCCEEDED(imp->vtbl->GetMethodProps(imp, method, type, NULL, 0, NULL, NULL, NULL, NULL,
                                             NULL, NULL)) &&
         SUCCEEDED(imp->vtbl->FindField(imp, *type, u"<>t__builder", NULL, 0, &field));
    imp->vtbl->Release(imp);
    return is;
}

void sxs_await_method(struct sxs_called *called, sxs_module module, mdToken method, ClassID cls)
{
    struct method           *m;
    _Atomic(struct method *) *at;
    mdTypeDef                type = 0;
    if (!is_machine(module, method, &type))
        return;
    m = malloc(sizeof(*m));
    if (!m)
        return;
    *m = (struct method){.called = called, .cls = cls, .module = module.id, .token = type};
    at = bucket_of(m->module, m->token);
    m->next = atomic_load(at);
    while (!atomic_compare_exchange_weak(at, &m->next, m))
        ;
    atomic_fetch_or_explicit(&called->off, SXS_CALLED_RESUMES, memory_order_release);
}

/* Returns the MoveNext of a box's machine, or NULL when that method is not hooked. Several
 * instantiations may share one method; a method of the exact class is preferred. */
static struct sxs_called *called_of(struct awaited_class *k)
{
    struct sxs_called *found = atomic_load_explicit(&k->called, memory_order_acquire);
    if (found)
        return found;
    for (struct method *m = atomic_load(bucket_of(k->module, k->token)); m; m = m->next) {
        if (m->module != k->module || m->token != k->token || m->called->runtime != k->runtime)
            continue;
        if (m->cls == k->type || !found)
            found = m->called;
        if (m->cls == k->type)
            break;
    }
    atomic_store_explicit(&k->called, found, memory_order_release);
    return found;
}

/* ---- objects ----------------------------------------------------------------------------------- */

/* One search for callers. */
struct caller_search {
    const struct watched_runtime *w;
    unsigned                      hops; /* objects visited so far */
};

static uintptr_t word_at(uintptr_t at)
{
    return *(const volatile uintptr_t *)at;
}

static struct awaited_class *find_class(const struct caller_search *look, uintptr_t table)
{
    const struct sxs_layout *l = sxs_layout_find(look->w->rt, table & ~(uintptr_t)7);
    return l ? (struct awaited_class *)(uintptr_t)sxs_layout_note(l) : NULL;
}

/* Returns the class of @object, or NULL when the class is not followed. @object must come from a
 * reference field of an object of a followed class. */
static struct awaited_class *find_object_class(const struct caller_search *look, uintptr_t object)
{
    return object && !(object & 7) ? find_class(look, word_at(object)) : NULL;
}

/* As find_object_class(), for an address that may not be that of an object. */
static struct awaited_class *find_class_safely(const struct caller_search *look, uintptr_t object)
{
    uintptr_t table = 0;
    if (!object || (object & 7) || sxs_safe_read(&table, object, sizeof(table)) != sizeof(table))
        return NULL;
    return find_class(look, table);
}

static uintptr_t resolve_awaiter(struct caller_search *look, uintptr_t object);

/* Returns the box to which the continuations in a list lead, or 0 when they lead to no box or to
 * several boxes. */
static uintptr_t resolve_list(struct caller_search *look, uintptr_t list,
                              const struct awaited_class *k)
{
    uintptr_t items = word_at(list + k->next), found = 0;
    uint32_t  n = *(const volatile uint32_t *)(list + k->size), room;
    if (!items || (items & 7))
        return 0;
    room = *(const volatile uint32_t *)(items + sizeof(uintptr_t)); /* an array's length */
    n = n < room ? n : room;
    for (uint32_t i = 0; i < n && i < MAX_LISTED; i++) {
        uintptr_t box = resolve_awaiter(look, word_at(items + FIRST_ITEM + i * sizeof(uintptr_t)));
        if (box && found && box != found)
            return 0;
        found = box ? box : found;
    }
    return found;
}

/* Follows the continuation @object to the box of the method that it resumes. Returns 0 when no such
 * box is known. */
static uintptr_t resolve_awaiter(struct caller_search *look, uintptr_t object)
{
    const struct awaited_class *k;
    while ((k = find_object_class(look, object)) && look->hops++ < MAX_HOPS) {
        if (k->kind == BOX)
            return object;
        if (k->kind == LIST)
            return resolve_list(look, object, k);
        if (k->kind == MACHINE || !k->next)
            return 0;
        object = word_at(object + k->next);
    }
    return 0;
}

/* Returns the box that awaits the ValueTask whose source lies at @source, or 0. */
static uintptr_t resolve_source(struct caller_search *look, uintptr_t source)
{
    uint32_t  state = atomic_load_explicit(&look->w->source_state, memory_order_relaxed);
    return state && state != NO_SOURCE ? resolve_awaiter(look, word_at(source + state)) : 0;
}

/* Returns the box that awaits the method of @box, or 0. */
static uintptr_t awaiter_of(struct caller_search *look, uintptr_t box,
                            const struct awaited_class *k)
{
    const struct awaited_class *machine;
    uintptr_t           object;
    if (!k->is_value) { /* callers do not await an iterator's own task; they await each item */
        object = word_at(box + k->machine);
        machine = find_object_class(look, object);
        if (machine && machine->kind == MACHINE && machine->source)
            return resolve_source(look, object + machine->source);
    }
    if (k->source)
        return resolve_source(look, box + k->source);
    return k->next ? resolve_awaiter(look, word_at(box + k->next)) : 0;
}

/* ---- a MoveNext -------------------------------------------------------------------------------- */

/* Returns the box that contains the machine struct at @self, or 0 when the struct does not lie in a
 * box. In that case the memory before the struct may hold anything, or may not be mapped. Reads in
 * the page of @self are safe because the struct itself is mapped. */
static uintptr_t box_around(const struct caller_search *look, uintptr_t self,
                            struct awaited_class **k)
{
    for (unsigned i = 0; i < MAX_PLACES; i++) {
        uint32_t  place = atomic_load_explicit(&look->w->places[i], memory_order_relaxed);
        if (!place)
            break;
        *k = (self & PAGE) >= place ? find_class(look, word_at(self - place))
                                    : find_class_safely(look, self - place);
        if (*k && (*k)->kind == BOX && (*k)->is_value && (*k)->machine == place)
            return self - place;
    }
    return 0;
}

/* Returns the box that the builder of the machine object @machine has made, or 0 when there is no
 * box yet. */
static uintptr_t box_of(const struct caller_search *look, uintptr_t machine,
                        const struct awaited_class *m, struct awaited_class **k)
{
    for (uint32_t at = 0; at + sizeof(uintptr_t) <= m->builder_size && at < 64; at += 8) {
        uintptr_t box = word_at(machine + m->builder + at);
        *k = find_class_safely(look, box);
        if (*k && (*k)->kind == BOX && !(*k)->is_value && word_at(box + (*k)->machine) == machine)
            return box;
    }
    return 0;
}

/* Returns 1 if the machine @self resumes after an await, else 0. *awaiter receives the box that
 * awaits it, or 0 when no such box is known. */
static int find_awaiter(struct caller_search *look, uintptr_t self, uintptr_t *awaiter)
{
    struct awaited_class *k = find_class(look, word_at(self));
    uintptr_t     box;
    if (k && k->kind == MACHINE) {
        const struct awaited_class *m = k;
        if (*(const volatile int32_t *)(self + m->state) < 0)
            return 0;
        box = box_of(look, self, m, &k);
    } else {
        box = box_around(look, self, &k);
    }
    if (!box)
        return 0;
    *awaiter = awaiter_of(look, box, k);
    return 1;
}

int sxs_await_callers(const struct sxs_called *fn, uintptr_t sp, uintptr_t self,
                      struct sxs_called **out)
{
    struct caller_search look = {watched_of(fn->runtime), 0};
    uintptr_t            box = 0;
    int                  n = 0;
    if (!look.w || self < 4096 || (self & 7) || self - sp < STACK_BYTES ||
        !find_awaiter(&look, self, &box))
        return -1;
    while (box && n < (int)SXS_AWAIT_MAX && look.hops++ < MAX_HOPS) {
        struct awaited_class *k = find_object_class(&look, box);
        struct sxs_called *called = k && k->kind == BOX ? called_of(k) : NULL;
        if (!k || k->kind != BOX)
            break;
        if (called)
            out[n++] = called;
        box = awaiter_of(&look, box, k);
    }
    return n;
}
