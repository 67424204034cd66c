/* SPDX-License-Identifier: MIT */
/**
 * fakeclr.h - what a test can do with one simulated runtime.
 *
 * The library has the real one's hosting exports (coreclr_initialize and so on) and one more,
 * fakeclr_control(), which returns the table below. State belongs to the loaded file: load copies
 * from different paths to have several runtimes. Unless a line says otherwise, functions may be
 * called from any thread after coreclr_initialize, and not from signal handlers. IDs are handed
 * around as integers, as ICorProfilerInfo does; they live until the library is unloaded.
 */
#ifndef FAKECLR_H
#define FAKECLR_H

#include "sxs_abi.h"

/** Snapshot of what has happened so far. */
struct fakeclr_counts {
    uint64_t callbacks;         /* callbacks raised, all slots */
    uint64_t info_calls;        /* calls of Info methods, all slots */
    uint64_t info_refs;         /* references on the Info object held by others */
    uint64_t live_objects;      /* metadata, enumerator, control objects handed out, not released */
    uint64_t handles;           /* of objects: made and not destroyed */
    uint64_t foreign_ids;       /* IDs handed to Info that are not of this runtime */
    uint64_t beyond_version;    /* calls of slots this version's Info does not have */
    uint64_t faults;            /* faults in this runtime's code, handled */
    uint64_t faults_left;       /* of those: handler left by siglongjmp */
    uint64_t faults_chained;    /* signals passed on to the previous handler */
    uint64_t after_previous;    /* the previous handler returned: a real CLR would shut down */
    uint64_t activations;       /* SIGRTMIN accepted */
    uint64_t foreign_activations; /* ... on a thread that is not of this runtime */
    uint64_t gcs;               /* collections finished */
    uint64_t gc_hangs;          /* collections whose threads did not answer within 10 s */
    uint64_t modules, methods, threads, exceptions, elt_calls;
};

/** How a profiler load ended. */
enum fakeclr_load {
    FAKECLR_NOT_ASKED,   /* no environment, or profiling not enabled */
    FAKECLR_PREVENTED,   /* ProfilerCompatibilitySetting=PreventLoad */
    FAKECLR_FAILED,      /* library, class factory or Initialize failed */
    FAKECLR_CANCELLED,   /* CORPROF_E_PROFILER_CANCEL_ACTIVATION */
    FAKECLR_V2_DISABLED, /* no Callback3 and V2 profilers are disabled: released again */
    FAKECLR_ACTIVE,
    FAKECLR_DETACHED,
    FAKECLR_SHUT_DOWN,
};

/** One row of what .NET Framework's ProfilerCompatibilitySetting does to a pair of runtimes. */
struct fakeclr_compat_row {
    const char       *setting;      /* value of the variable; NULL: not set */
    const char       *first, *second; /* versions, in the order they are loaded */
    int               v4_profiler;  /* nonzero: has ICorProfilerCallback3; zero: V2-only */
    enum fakeclr_load first_ends, second_ends;
};

struct fakeclr_control {
    /** "8.0": as built. Static. */
    const char *version;

    /* -- Callbacks -- */
    /**
     * Calls the profiler's slot @name ("JITInlining") with @n integer or pointer arguments, if the
     * event mask in force asks for it, or always when @forced. Returns what the profiler returned;
     * S_FALSE: not raised; E_INVALIDARG: no such slot.
     */
    HRESULT (*raise)(const char *name, int forced, unsigned n, const uint64_t *args);
    /** Nonzero when the mask in force asks for @name. */
    int (*would_raise)(const char *name);

    /* -- Code and metadata. @enclosing and @args: ClassIDs; 0 and NULL when there are none -- */
    /** Loads a module (and its assembly) with all events. Returns the ModuleID. @path is copied. */
    ModuleID (*module_load)(const char *path);
    void (*module_unload)(ModuleID module);
    /** Defines "Namespace.Type" (for a nested type: its own name) and raises ClassLoad events. */
    ClassID (*class_new)(ModuleID module, const char *name, ClassID enclosing, unsigned n_args,
                         const ClassID *args);
    ClassID (*class_array)(ClassID element, unsigned rank);
    /** Defines a method; @sig: its metadata signature, copied (64 bytes at most); NULL: void(). */
    FunctionID (*method_new)(ClassID type, const char *name, const uint8_t *sig, size_t sig_size,
                             unsigned n_args, const ClassID *args);
    /** A dynamic method of @module: no class, no token. */
    FunctionID (*method_dynamic)(ModuleID module, const char *name, const uint8_t *sig,
                                 size_t sig_size);
    /** Compiles it: JITCompilationStarted, code in memory, Finished (or the DynamicMethod pair). */
    HRESULT (*jit)(FunctionID function);
    /** Start of its machine code, 0 before jit(). Callable as
     * uint64_t code(uint64_t fn(void *), void *arg): runs fn(arg) above a real frame of it. */
    uintptr_t (*code)(FunctionID function);
    /** fn(arg) above a real frame of @function; attaches the calling thread when it is foreign. */
    uint64_t (*call)(FunctionID function, uint64_t (*fn)(void *), void *arg);
    ObjectID (*object_new)(ClassID type);

    /* -- Threads -- */
    /** A pthread of this runtime: ThreadCreated and ThreadAssignedToOSThread on it, then body(arg)
     * (NULL: loops without a safepoint until thread_stop()), then ThreadDestroyed. 0: failed. */
    ThreadID (*thread_start)(void *(*body)(void *), void *arg);
    /** Ends the loop, joins. */
    void (*thread_stop)(ThreadID thread);
    ThreadID (*thread_attach)(void); /* the calling thread; attached already: the same ID */
    void (*thread_detach)(void);
    void (*thread_name)(ThreadID thread, const char *name);

    /* -- Simulated frames of the calling thread, which is attached when it is foreign -- */
    /** Youngest last. @function 0: a run of frames of others. ip 0: somewhere in its code. */
    void (*push_frame)(FunctionID function, uint64_t ip, uint64_t sp, uint64_t fp);
    void (*pop_frame)(void);
    /** Nonzero: the thread counts as cooperative, so seeds are honoured. */
    void (*set_cooperative)(int on);

    /* -- Events with a procedure -- */
    void (*throw_exception)(FunctionID thrower, FunctionID catcher);
    /** Suspends every other thread with SIGRTMIN. 0; ETIMEDOUT after 10 s without an answer. */
    int (*gc)(unsigned generation);
    /** Enter and leave hooks for @function, its ID mapped as asked; returns hooks called. */
    unsigned (*elt)(FunctionID function, int tailcall);
    /** @n real faults in this runtime's code: two null references, two divisions by zero, ... */
    void (*faults)(unsigned n);

    /* -- Failures on demand -- */
    /** Info method @method fails with @hr: on its @nth call from now (1 is the next), or always
     * when 0. hr S_OK ends it. E_INVALIDARG: no such method. Allowed before coreclr_initialize. */
    HRESULT (*fail_call)(const char *method, HRESULT hr, unsigned nth);

    /* -- Loading -- */
    /** What became of the profiler. */
    enum fakeclr_load (*load_state)(void);
    HRESULT (*load_result)(void);
    /** Loads @path and attaches: InitializeForAttach with a copy of @data. */
    HRESULT (*attach)(const char *path, const GUID *clsid, void *data, unsigned size);
    /** Asks the class factory of @path for an instance. *out: NULL or a reference. */
    HRESULT (*create_instance)(const char *path, const GUID *clsid, IUnknown *outer,
                               const GUID *iid, void **out);
    /** Walkable table of ProfilerCompatibilitySetting outcomes; static. */
    const struct fakeclr_compat_row *(*compat_table)(size_t *n);

    /* -- What happened -- */
    void (*counts)(struct fakeclr_counts *out);
    uint64_t (*raised)(const char *callback); /* times raised */
    uint64_t (*called)(const char *info_method); /* times called */
    void (*mask)(uint32_t *low, uint32_t *high);
    /** Line @i of the event log, 0 the oldest; NULL past the end. Static for the library's life. */
    const char *(*log_line)(unsigned i);
    /** The Info object itself; a borrowed reference. */
    IUnknown *(*info)(void);
};

/**
 * Callable before coreclr_initialize. Static.
 *
 * A profiler path of "@program:SYMBOL" means the host program: SYMBOL has DllGetClassObject's type
 * and is exported by it (link with -rdynamic); "@program" alone means DllGetClassObject.
 */
__attribute__((visibility("default"))) const struct fakeclr_control *fakeclr_control(void);

#endif
