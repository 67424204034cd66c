/* SPDX-License-Identifier: MIT */
/**
 * guest.h - guests: other profiler libraries that run inside this one, each as if it were alone.
 *
 * A guest is declared once in a process (struct guest). On each runtime that it is meant for it has
 * one instance (struct guest_instance): the callback object that its class factory made, and the
 * ICorProfilerInfo that it was given. To the manager an instance is the subscription of a tool.
 */
#ifndef SXS_GUESTS_GUEST_H
#define SXS_GUESTS_GUEST_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "guests/config/declaration.h"
#include "manager/runtime_internal.h"
#include "session/format/guests.h"
#include "sxs_abi.h"

/** A declared guest. Lives as long as the process. */
struct guest {
    struct guest_declaration declared;
    unsigned                 number;    /* 0, 1, 2... in order of priority */
    char                     title[160]; /* for messages: "guest libname.so", with its class if
                                         * another guest has a library of that name */
    struct sxs_tool          tool;      /* what the manager sees */
    /* Not NULL: the guest is the profiler that a plug-in of this guest, the engine for plug-ins, adds
     * with AddRawProfilerHook(); see hook.h. */
    const struct guest *hook_of;
    /* Not NULL: the body that the guest has changed in the first compilation, see first_body() in
     * manager/tool.h. @callback: its callback object. */
    void (*first_body)(IUnknown *callback, ModuleID module, mdMethodDef method,
                       const uint8_t **bytes, uint32_t *size);

    pthread_mutex_t lock;   /* guards what follows; held while the library is loaded */
    int             loaded; /* 0: not tried; 1: loaded; -1: failed */
    void           *library;
    HRESULT (*get_class_object)(const GUID *clsid, const GUID *iid, void **out);
    char     why[400]; /* why it was not loaded */
    unsigned n_active; /* runtimes on which Initialize has succeeded */
    /* Rows of runtimes on which it has failed while it had no other: "refused" when one follows. */
    struct sxs_guest_row *failed[8];
    unsigned              n_failed;
};

/** One guest on one runtime. */
struct guest_instance {
    ICorProfilerInfo15 info; /* the object that the guest holds as its ICorProfilerInfo */
    atomic_uint        refs; /* of the object above by the guest, and one of the manager */
    struct guest      *guest;
    struct sxs_runtime *rt;   /* one reference until guest_disconnect() */
    struct sxs_sub    *sub;   /* the subscription; lives as long as the runtime */
    ICorProfilerInfo15 *real; /* the runtime's Info; one reference; NULL after guest_disconnect() */
    unsigned real_slots, real_version; /* its vtable slots and its version */

    ICorProfilerCallback11 *callback; /* the guest's object; has only the slots of `version` */
    unsigned                version;  /* highest version of ICorProfilerCallback it has: 1 to 11 */
    unsigned                number;   /* index of its counters in struct guest_thread */
    _Atomic int             state;    /* enum sxs_guest_state */
    int                     notification_only; /* 1: LoadAsNotificationOnly() said so */
    int                     initializing; /* 1 during Initialize; written by that thread */
    _Atomic int             is_released; /* 1: the manager has dropped its reference */
    _Atomic int             ending;    /* 1: a thread ends the instance, see guest_claim_end() */
    _Atomic int             detaching; /* 1: it has asked to be detached */
    struct guest_instance  *next_detached; /* see detach.c */
    /* 1: it has set a method's IL, hooks, or COR_PRF_ENABLE_REJIT: a runtime keeps it */
    _Atomic int             cannot_detach;
    uint32_t                low, high; /* its event mask, as the guest sees it; under mask_lock */
    pthread_mutex_t         mask_lock;
    struct sxs_guest_row   *row; /* its counters in the session; never NULL */
};

/** The vtable of the Info of guests (generated). */
extern const ICorProfilerInfo15Vtbl *const guest_info_table;

/** For each version of ICorProfilerCallback the handlers of its events, and its IID. Generated;
 *  index 0 is not used. */
extern const struct sxs_events guest_events[12];
extern const GUID *const       guest_callback_iids[12];

/** Deliver one event to several guests of a runtime. Generated. */
extern const struct sxs_group_events guest_group_events;

static inline struct guest_instance *guest_of_info(ICorProfilerInfo15 *info)
{
    return container_of(info, struct guest_instance, info);
}

/* ---- life (instance.c) ------------------------------------------------------------------------ */

/** guest_start - make the guest's instance on a runtime that is being initialized, and call its
 *  Initialize. The start() of a guest's tool: see manager/tool.h. Returns S_FALSE when the guest
 *  stays off for this runtime; that was logged, and is in the session. */
HRESULT guest_start(struct sxs_sub *sub, const char *options);
void    guest_stop(struct sxs_sub *sub, int detached);
void    guest_release(struct sxs_sub *sub);

/** guest_info_unref - drop one reference of the instance. The last one frees it. */
unsigned guest_info_unref(struct guest_instance *g);

/** guest_disconnect - drop the references to the runtime and its Info, once. The instance itself
 *  lives on while the guest holds its Info. Call it after guest_end(). Without it the runtime and
 *  the instance would keep each other for ever. */
void guest_disconnect(struct guest_instance *g);

/** guest_end - end the instance: no event reaches the guest any more, calls of its Info fail, see
 *  guest_info_begin(). Waits until no thread is inside the guest, at most @wait_ms.
 *  Returns 1 when no thread is inside; 0 when the time was over. */
int guest_end(struct guest_instance *g, enum sxs_guest_state state, unsigned wait_ms);

/** guest_claim_end - decide which thread ends the instance, because its runtime can shut down while
 *  it is being detached. Returns 1 on the first call, then 0. */
int guest_claim_end(struct guest_instance *g);

/** guest_let_go - release the guest's callback object, once. */
void guest_let_go(struct guest_instance *g);

/* ---- loading (load.c) ------------------------------------------------------------------------- */

/** guest_create - load the guest's library if it is not loaded, and make a callback object.
 *  @callback, @version: receive the object (one reference) and its highest ICorProfilerCallback.
 *  @why, @size: receives what went wrong, zero-terminated; it is cut after @size bytes.
 *  Returns S_OK or a failure. */
HRESULT guest_create(struct guest *guest, ICorProfilerCallback11 **callback, unsigned *version,
                     char *why, size_t size);

/** guest_is_permitted - apply the setting ProfAPI_ProfilerCompatibilitySetting. Without it, .NET
 *  Framework 4 refuses a profiler without ICorProfilerCallback3; later runtimes accept it.
 *  @version: the guest's highest ICorProfilerCallback. @attached: the runtime was attached to.
 *  Returns NULL, or a static text that says why the guest may not be used. */
const char *guest_is_permitted(const struct sxs_runtime *rt, unsigned version, int attached);

/* ---- calls of the Info (info.c) --------------------------------------------------------------- */

/** guest_info_begin - begin a call of the guest on its Info.
 *  @slot: the vtable slot. @out: receives the runtime's Info.
 *  Returns S_OK; E_NOTIMPL when the runtime lacks the slot; CORPROF_E_PROFILER_DETACHING when the
 *  guest is being detached, or was; CORPROF_E_RUNTIME_UNINITIALIZED when its Initialize has failed
 *  or its runtime has ended. */
HRESULT guest_info_begin(struct guest_instance *g, unsigned slot, ICorProfilerInfo15 **out);

/** guest_info_end - count the call's result and return it. */
HRESULT guest_info_end(struct guest_instance *g, HRESULT hr);

#endif
