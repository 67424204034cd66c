/* SPDX-License-Identifier: MIT */
/**
 * fakeclr.h - the interface by which a test controls one simulated runtime.
 *
 * The library has the hosting exports of a real runtime (coreclr_initialize and so on) and one
 * more, fakeclr_control(), which returns the table below. Each loaded file has its own state: load
 * copies from different paths to have several runtimes. Unless a comment says otherwise, functions
 * may be called on any thread after coreclr_initialize, but not in signal handlers. IDs are
 * integers, as in ICorProfilerInfo; they are valid until the library is unloaded.
 */
#ifndef FAKECLR_H
#define FAKECLR_H

#include "sxs_abi.h"

/** Event counts since the runtime was loaded. */
struct fakeclr_counts {
    uint64_t callbacks;         /* callbacks raised, all slots */
    uint64_t info_calls;        /* calls of Info methods, all slots */
    uint64_t info_refs;         /* references to the Info object held by the profiler */
    uint64_t live_objects;      /* metadata, enumerator, control objects given out, not released */
    uint64_t handles;           /* object handles created and not destroyed */
    uint64_t foreign_ids;       /* IDs passed to Info that are not IDs of this runtime */
    uint64_t beyond_version;    /* calls of slots that this version's Info does not have */
    uint64_t faults;            /* faults in this runtime's code, handled by it */
    uint64_t faults_left;       /* those of `faults` whose handler was left by siglongjmp */
    uint64_t faults_chained;    /* signals passed on to the previous handler */
    uint64_t after_previous;    /* the previous handler returned: a real CLR would shut down */
    uint64_t activations;       /* SIGRTMIN accepted as an activation */
    uint64_t foreign_activations; /* those on a thread unknown to this runtime */
    uint64_t gcs;               /* collections finished */
    uint64_t gc_hangs;          /* suspensions in which a thread did not answer in time (gc.c) */
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

/** One case of .NET Framework's ProfilerCompatibilitySetting with a pair of runtimes. */
struct fakeclr_compat_row {
    const char       *setting;      /* value of the variable; NULL: not set */
    const char       *first, *second; /* versions, in the order they are loaded */
    int               v4_profiler;  /* nonzero: has ICorProfilerCallback3; zero: V2-only */
    enum fakeclr_load first_ends, second_ends;
};

struct fakeclr_control {
    /** The version this library was built for, for example "8.0". Static. */
    const char *version;

    /* -- Callbacks -- */
    /**
     * Calls the profiler's callback @name ("JITInlining") with @n integer or pointer arguments, if
     * the event mask in force includes it, or always when @forced. Returns the profiler's result,
     * S_FALSE if the callback was not raised, or E_INVALIDARG if there is no such callback.
     */
    HRESULT (*raise)(const char *name, int forced, unsigned n, const uint64_t *args);
    /** Returns nonzero when the event mask in force includes the callback @name. */
    int (*would_raise)(const char *name);

    /* -- Code and metadata. @enclosing and @args: ClassIDs; 0 and NULL when there are none -- */
    /** Loads a module and its assembly, with all events. Returns the ModuleID. @path is copied. */
    ModuleID (*module_load)(const char *path);
    void (*module_unload)(ModuleID module);
    /** Defines a type and raises ClassLoad events. @name: "Namespace.Type"; of a nested type only
     * its own name. */
    ClassID (*class_new)(ModuleID module, const char *name, ClassID enclosing, unsigned n_args,
                         const ClassID *args);
    ClassID (*class_array)(ClassID element, unsigned rank);
    /** Defines a method; @sig: its metadata signature, copied (64 bytes at most); NULL: void(). */
    FunctionID (*method_new)(ClassID type, const char *name, const uint8_t *sig, size_t sig_size,
                             unsigned n_args, const ClassID *args);
    /** Defines a dynamic method of @module, which has no class and no token. */
    FunctionID (*method_dynamic)(ModuleID module, const char *name, const uint8_t *sig,
                                 size_t sig_size);
    /** Compiles @function: raises JITCompilationStarted, writes machine code, raises
     * JITCompilationFinished; for a dynamic method, the DynamicMethodJITCompilation pair. */
    HRESULT (*jit)(FunctionID function);
    /** Returns the start of the machine code of @function, 0 before jit(). The code can be called
     * as uint64_t code(uint64_t fn(void *), void *arg): it runs fn(arg) above a real frame. */
    uintptr_t (*code)(FunctionID function);
    /** Runs fn(arg) above a real frame of @function and returns its result. Attaches the calling
     * thread if the runtime does not know it. */
    uint64_t (*call)(FunctionID function, uint64_t (*fn)(void *), void *arg);
    ObjectID (*object_new)(ClassID type);
    /** Lets the next collection free an object: weak handles to it are then empty. */
    void (*object_drop)(ObjectID object);

    /* -- Threads -- */
    /** Starts a pthread of this runtime. It raises ThreadCreated and ThreadAssignedToOSThread, runs
     * body(arg) (NULL: loops without a safepoint until thread_stop()), raises ThreadDestroyed.
     * Returns 0 on failure. */
    ThreadID (*thread_start)(void *(*body)(void *), void *arg);
    /** Ends the loop of a thread and joins the thread. */
    void (*thread_stop)(ThreadID thread);
    /** Attaches the calling thread. Returns its ID, the same one if it is already attached. */
    ThreadID (*thread_attach)(void);
    void (*thread_detach)(void);
    void (*thread_name)(ThreadID thread, const char *name);

    /* -- Simulated frames of the calling thread, which is attached if necessary -- */
    /** Pushes a frame younger than all others. @function 0: a run of native frames. @ip 0: an
     * address in the code of @function is chosen. */
    void (*push_frame)(FunctionID function, uint64_t ip, uint64_t sp, uint64_t fp);
    void (*pop_frame)(void);
    /** @on nonzero: the calling thread is in cooperative mode, so stack walks use their seed. */
    void (*set_cooperative)(int on);

    /* -- Sequences of events -- */
    void (*throw_exception)(FunctionID thrower, FunctionID catcher);
    /** Runs a collection: suspends every other thread with SIGRTMIN. Returns 0, or ETIMEDOUT if a
     * thread did not answer in time. */
    int (*gc)(unsigned generation);
    /** Calls the enter hook, then the leave or tailcall hook, of @function with the client ID from
     * the mapper. Returns the number of hooks called. */
    unsigned (*elt)(FunctionID function, int tailcall);
    /** Raises @n real faults in this runtime's code: in turn two null references and two divisions
     * by zero. */
    void (*faults)(unsigned n);

    /* -- Failures on demand -- */
    /** Makes the Info method @method fail with @hr: on its @nth call from now (1 is the next), or
     * on every call when @nth is 0. @hr S_OK ends the failure. Returns E_INVALIDARG if there is no
     * such method. Allowed before coreclr_initialize. */
    HRESULT (*fail_call)(const char *method, HRESULT hr, unsigned nth);

    /* -- Loading -- */
    /** Returns how the load of the profiler ended. */
    enum fakeclr_load (*load_state)(void);
    HRESULT (*load_result)(void);
    /** Loads the profiler @path and attaches it: calls InitializeForAttach with a copy of @data
     * (@size bytes). */
    HRESULT (*attach)(const char *path, const GUID *clsid, void *data, unsigned size);
    /** Asks the class factory of @path for an instance. *out receives a new reference or NULL. */
    HRESULT (*create_instance)(const char *path, const GUID *clsid, IUnknown *outer,
                               const GUID *iid, void **out);
    /** Returns the table of ProfilerCompatibilitySetting outcomes, @n rows. Static. */
    const struct fakeclr_compat_row *(*compat_table)(size_t *n);

    /* -- Records of past events -- */
    void (*counts)(struct fakeclr_counts *out);
    uint64_t (*raised)(const char *callback);    /* how often the callback was raised */
    uint64_t (*called)(const char *info_method); /* how often the method was called */
    /** Returns the first 8 bytes of argument @n, 0 to 15, of the latest call of the method. */
    uint64_t (*argument)(const char *info_method, unsigned n);
    void (*mask)(uint32_t *low, uint32_t *high);
    /** Returns line @i of the event log, 0 the oldest; NULL past the end. Valid until the library
     * is unloaded. */
    const char *(*log_line)(unsigned i);
    /** Returns the Info object; a borrowed reference. */
    IUnknown *(*info)(void);
};

/**
 * fakeclr_control - return the table of control functions, which is static.
 *
 * May be called before coreclr_initialize.
 *
 * Wherever a profiler path is expected, "@program:SYMBOL" means the host program itself: it must
 * export SYMBOL (link with -rdynamic), which has the type of DllGetClassObject. "@program" alone
 * means the symbol DllGetClassObject.
 */
__attribute__((visibility("default"))) const struct fakeclr_control *fakeclr_control(void);

#endif
