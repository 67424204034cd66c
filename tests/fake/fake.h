/* SPDX-License-Identifier: MIT */
/**
 * fake.h - declarations shared by the files of the simulated runtime.
 *
 * All state is in `fake`; each loaded copy of the library has its own. Every object that an ID
 * points to lies in one reserved address range (tests/fake/ids.c). A range check and a magic number
 * therefore decide whether an ID belongs to this runtime, without a lock and without reading
 * memory outside the range.
 */
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fakeclr.h"

#ifndef FAKECLR_VERSION
#define FAKECLR_VERSION "8.0"
#endif

#define FAKE_CALLBACK_LAST 11
#define FAKE_MAX_THREADS 4096
#define FAKE_MAX_FRAMES 512
#define FAKE_MAX_ITEMS (1u << 19) /* classes, functions */
#define FAKE_CODE_SIZE (64u << 20)
#define FAKE_CHUNK 128 /* bytes of code per function */
/* Returned by fake_info_enter(): continue with the method. No Info method returns this value. */
#define FAKE_GO_ON ((HRESULT)0x0FACADE0)

enum fake_kind {
    FAKE_APPDOMAIN = 1,
    FAKE_ASSEMBLY,
    FAKE_MODULE,
    FAKE_CLASS,
    FAKE_FUNCTION,
    FAKE_THREAD,
    FAKE_OBJECT,
    FAKE_HANDLE,
};

struct fake_id {
    _Atomic uint32_t magic; /* written last: an object with its magic number is complete */
    uint32_t kind;
};

struct fake_module {
    struct fake_id id;
    unsigned number;
    struct fake_assembly *assembly;
    _Atomic int unloaded;
    bool collectible; /* in a collectible assembly: its methods are never re-JITted */
    char path[200];
};

struct fake_assembly {
    struct fake_id id;
    struct fake_module *module;
};

struct fake_appdomain {
    struct fake_id id;
};

struct fake_class {
    struct fake_id id;
    unsigned number; /* index in fake.classes, unique in the runtime */
    unsigned row;    /* TypeDef row; instantiations of a generic type share one */
    struct fake_module *module;
    struct fake_class *enclosing;
    struct fake_class *element; /* of an array type; else NULL */
    unsigned rank;
    unsigned n_args;
    ClassID args[4];
    char name[96];
};

struct fake_function {
    struct fake_id id;
    unsigned number, row;
    struct fake_module *module;
    struct fake_class *type;
    _Atomic int jitted;
    int dynamic;
    _Atomic uint32_t rejits;
    _Atomic uint64_t client; /* client ID that the FunctionID mapper returned */
    _Atomic int hooked;      /* 1: the mapper asked for hooks */
    const uint8_t *body;     /* original IL with its method header; NULL: the method has no IL */
    unsigned body_size;      /* bytes */
    _Atomic int version;     /* enum fake_version, of methods with IL */
    _Atomic int compiling;   /* 1: a thread has started or finished the first compilation */
    /* IL from SetILFunctionBody, and IL from the latest re-JIT. NULL: none, `body` is in force. */
    const uint8_t *_Atomic first, *_Atomic now;
    /* Hooked calls; and those of them that ended without a leave hook. */
    _Atomic uint64_t n_entered, n_unwound;
    unsigned n_args;
    ClassID args[4];
    unsigned sig_size;
    uint8_t sig[64];
    char name[80];
};

/* State of a method with IL. */
enum fake_version {
    FAKE_ORIGINAL, /* no re-JIT was requested, or it was reverted */
    FAKE_WANTED,   /* a re-JIT was requested; it is done at the next call */
    FAKE_ASKING,   /* the profiler is being asked for the new IL */
    FAKE_NEW       /* the re-JIT is done */
};

struct fake_object {
    struct fake_id id;
    struct fake_class *type;
    uint64_t born;            /* number of collections until then */
    _Atomic uint64_t dropped; /* the same + 1; 0: not dropped. The next collection frees it */
    struct fake_object *before; /* the object that was made before it, to which it refers; NULL: none */
};

struct fake_handle {
    struct fake_id id;
    struct fake_object *_Atomic object; /* NULL: the handle was destroyed */
};

struct fake_frame {
    struct fake_function *function; /* NULL: a run of native frames */
    uint64_t ip, sp, fp;
    bool real; /* a frame of machine code: native frames lie between it and the next younger one */
};

enum fake_thread_state { FAKE_RUNNING = 1, FAKE_LEAVING, FAKE_GONE };

struct fake_thread {
    struct fake_id id;
    pthread_t pthread;
    _Atomic uint32_t os_id;
    _Atomic int state;
    _Atomic unsigned answered; /* activation signals (SIGRTMIN) received */
    _Atomic int stop;
    bool joinable;
    bool cooperative;
    bool own_stack; /* not used */
    void *alt_stack; /* alternate signal stack that this runtime allocated; NULL: none */
    sigjmp_buf *fault_exit; /* jump target of every second fault; set while a fault is raised */
    unsigned n_faults;
    /* Stack pointer of the frame whose filter, finally or catch block runs; 0: none. */
    uintptr_t clause_sp;
    unsigned n_frames;
    /* FAKE_MAX_FRAMES elements. Used by the thread itself, or by others while it is suspended. */
    struct fake_frame *frames;
    void *(*body)(void *);
    void *arg;
};

enum fake_phase { FAKE_NONE, FAKE_STARTING, FAKE_ATTACHING, FAKE_RUN, FAKE_DETACHING, FAKE_ENDED };

struct fake_failure {
    _Atomic HRESULT hr;   /* S_OK: the method does not fail */
    _Atomic unsigned nth; /* the nth call from now fails (1 is the next); 0: every call fails */
};

struct fake {
    int major, minor;
    int info_version, callback_version;
    bool framework; /* simulates .NET Framework: 2.0 or 4.0 */
    bool strict, signals, verbose;
    _Atomic int initialized, shut_down;

    /* the profiler */
    void *library;
    /* [2]..[11]: the callback object by interface version, one reference each; NULL: not had. */
    ICorProfilerCallback11 *callback[FAKE_CALLBACK_LAST + 1];
    _Atomic int phase;
    _Atomic int load_state;
    _Atomic HRESULT load_result;
    _Atomic int in_callbacks; /* callbacks in progress, all threads; detach waits for 0 */
    bool notification_only, attached;
    _Atomic bool modified_il;
    _Atomic uint32_t mask_low, mask_high;

    /* hooks */
    _Atomic uintptr_t mapper, mapper2, mapper_data;
    _Atomic uintptr_t enter3, leave3, tailcall3, enter3_info, leave3_info, tailcall3_info;

    /* objects */
    ICorProfilerInfo15 info;
    _Atomic int64_t info_refs, live_objects;
    struct fake_appdomain *domain;
    _Atomic unsigned n_modules, n_classes, n_functions, n_threads, n_jitted;
    struct fake_module *_Atomic modules[1024];
    struct fake_class *_Atomic *classes;
    struct fake_function *_Atomic *functions;
    struct fake_thread *_Atomic threads[FAKE_MAX_THREADS];
    /* thread_lock: not used. gc_lock: held while threads are suspended. unload_lock: held while a
     * module is unloaded; gc_lock is taken inside it, and callbacks are raised inside both. */
    pthread_mutex_t thread_lock, gc_lock, unload_lock;
    _Atomic int gc_running, suspended;
    struct fake_object *_Atomic newest_object; /* NULL: there are none */

    /* code */
    uint8_t *code;
    int code_fd;
    _Atomic uint32_t code_ready; /* bytes that are mapped executable */
    pthread_mutex_t code_lock;   /* guards the mappings of code memory, and writes of code_ready */

    /* counts */
    _Atomic uint64_t raised[SXS_N_CALLBACK_SLOTS], called[SXS_N_INFO_SLOTS];
    _Atomic uint64_t arguments[SXS_N_INFO_SLOTS][16]; /* of the latest call; the first 8 bytes */
    struct fake_failure failures[SXS_N_INFO_SLOTS];
    struct {
        char name[48]; /* a method of another interface: "Emit.DefineTypeRefByName" */
        struct fake_failure failure;
    } other_failures[8];
    _Atomic unsigned n_other_failures;
    _Atomic uint64_t foreign_ids, beyond_version, faults, faults_left, faults_chained,
        after_previous, activations, foreign_activations, gcs, gc_hangs, exceptions, elt_calls,
        il_calls, il_calls_new, /* calls of methods with IL; those that ran IL from the profiler */
        handles,                /* object handles created and not destroyed */
        unloaded_ids, /* uses of a ModuleID after ModuleUnloadStarted for it had returned */
        n_threads_made;

    /* event log */
    pthread_mutex_t log_lock; /* guards n_log, log and the writes to standard error */
    unsigned n_log;
    char log[128][200];
};

extern struct fake fake;

/* This runtime's thread object of the calling thread; NULL on a thread unknown to this runtime.
 * The model is initial-exec because signal handlers read it: other thread-local storage may be
 * allocated at its first use. */
extern __thread struct fake_thread *fake_self __attribute__((tls_model("initial-exec")));
extern __thread unsigned fake_in_callback __attribute__((tls_model("initial-exec")));

/* ids.c */
/** Allocates @size bytes, zeroed and never freed. @kind 0: not an object with an ID. Calls abort()
 *  when the address range is full. */
void *fake_alloc(size_t size, enum fake_kind kind);
/** Marks an object as complete: from now on fake_find() finds it. */
void fake_publish(struct fake_id *id);
/**
 * Finds a module by its ID. Returns NULL for an ID of another runtime, see fake_find(), and for an
 * unloaded module. The use of an unloaded module is counted, and calls abort() in strict mode,
 * because a real CLR follows the ID as a pointer.
 */
struct fake_module *fake_find_module(uint64_t id);
/** Returns the object that an ID of this runtime stands for. For any other ID: counts it as
 *  foreign, calls abort() in strict mode, and returns NULL. */
void *fake_find(uint64_t id, enum fake_kind kind);

/* text.c */
void fake_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** Copies text to @out as UTF-16, cut to @cch characters. *needed (may be NULL) receives the length
 *  in characters, with the terminator. @out may be NULL. */
void fake_wide(const char *text, WCHAR *out, ULONG cch, ULONG *needed);
bool fake_guid_parse(const char *text, GUID *out);

/* version.c */
void fake_version_init(void);
/** Writes the version as the runtime reports it: "v4.0.30319", "8.0.0". */
void fake_version_text(char *out, size_t size);

/* profiler_load.c */
void fake_profiler_startup(void);
HRESULT fake_profiler_attach(const char *path, const GUID *clsid, void *data, unsigned size);
HRESULT fake_create_instance(const char *path, const GUID *clsid, IUnknown *outer, const GUID *iid,
                             void **out);
/** Ends profiling: waits for callbacks in progress, releases all references, closes the library. */
void fake_profiler_terminate(enum fakeclr_load state);
HRESULT fake_profiler_detach(void);

/* compat.c */
enum fake_compat { FAKE_DISABLE_V2, FAKE_ENABLE_V2, FAKE_PREVENT_LOAD };
enum fake_compat fake_compat_setting(void);
const struct fakeclr_compat_row *fake_compat_table(size_t *n);

/* raise.c */
bool fake_wants(unsigned slot);
HRESULT fake_raise(unsigned slot, bool forced, unsigned n, const uint64_t *args);
#define FAKE_RAISE(name, ...)                                                        \
    fake_raise(SXS_SLOT_##name, false,                                               \
               sizeof((uint64_t[]){0, ##__VA_ARGS__}) / sizeof(uint64_t) - 1,        \
               (uint64_t[]){0, ##__VA_ARGS__} + 1)
int fake_slot_by_name(const char *name); /* callback slot; -1: no such callback */

/* info.c */
/** Called first by every Info method. Returns FAKE_GO_ON, or the result the method must return. */
HRESULT fake_info_enter(ICorProfilerInfo15 *self, unsigned slot, const char *name);
/** Called before it by every Info method for each of its arguments: records the first 8 bytes. */
void fake_info_argument(unsigned slot, unsigned n, const void *value, size_t size);
int fake_info_slot(const char *name); /* -1: no such method */
void fake_info_init(void);

/* metadata.c */
HRESULT fake_metadata_open(struct fake_module *module, const GUID *iid, IUnknown **out);

/* enums.c */
HRESULT fake_enum_open(const GUID *iid, const void *items, size_t item_size, size_t n, void **out);

/* metadata_write.c */
/** Returns the token of @table for these bytes; makes one if there is none. Equal bytes have the
 *  same token. Returns 0 when the table is full. Any thread. */
mdToken fake_token(struct fake_module *module, unsigned table, mdToken scope, const void *bytes,
                   size_t size);
/** Returns the token of @table for these bytes, or 0 if none was made. */
mdToken fake_token_find(struct fake_module *module, unsigned table, mdToken scope,
                        const void *bytes, size_t size);
/** Returns the bytes of a token that fake_token() made; NULL if it made no such token. The bytes
 *  are valid as long as the runtime. */
const uint8_t *fake_token_bytes(struct fake_module *module, mdToken token, ULONG *size);
/** Returns the scope of a token that fake_token() made: the type of a member, the assembly of a
 *  type. 0: none. */
mdToken fake_token_scope(struct fake_module *module, mdToken token);
extern const IMetaDataEmit2Vtbl fake_emit_vtbl;
extern const IMetaDataAssemblyEmitVtbl fake_assembly_emit_vtbl;
extern const IMetaDataAssemblyImportVtbl fake_assembly_import_vtbl;

/* metadata.c */
struct fake_metadata {
    IMetaDataImport2 com;
    IMetaDataAssemblyImport assemblies;
    IMetaDataEmit2 emit;
    IMetaDataAssemblyEmit emit_assemblies;
    _Atomic unsigned refs;
    struct fake_module *module;
};

/* rejit.c */
HRESULT fake_rejit(struct fake_module *module, mdMethodDef token);
/** Serves RequestReJIT. A method with IL is recompiled at its next call, any other at once. */
HRESULT fake_rejit_request(struct fake_module *module, mdMethodDef token);
void fake_rejit_revert(struct fake_function *function);

/* il.c */
/** Makes a method with IL: `int32 NAME(int32)` returns its argument. The simulated argument has 64
 *  bits. Returns NULL when there is no room. */
struct fake_function *fake_il_method_new(struct fake_module *module, struct fake_class *type,
                                         const char *name);
/** Calls a method with IL: compiles or recompiles it if necessary, then interprets its IL. Returns
 *  false when the interpreter cannot run the IL. Any thread. */
bool fake_il_call(struct fake_function *function, uint64_t argument, uint64_t *result);

/* runtime_info.c: methods that IL may call to inspect its runtime */
/** Simulates RuntimeEnvironment.GetRuntimeInterfaceAsIntPtr. *out receives a new reference. Returns
 *  false where the real method throws. */
bool fake_runtime_interface(const GUID *clsid, const GUID *riid, void **out);
/** Returns true if the MemberRef @token names TYPE::NAME. */
bool fake_is_member(struct fake_module *module, mdToken token, const char *type, const char *name);
/** Simulates `new Guid(string)`; @text: the string's token. Returns a GUID that is never freed, or
 *  NULL where the constructor throws. */
const GUID *fake_guid_of(struct fake_module *module, mdToken text);

/* il_work.c: `work SHAPE N [THREADS]` */
HRESULT fake_il_work(const char *shape, unsigned long n, unsigned long threads);

/* control.c */
/** Returns true if NAME, which is not an Info method, must fail now; *hr receives the result. */
bool fake_fails(const char *name, HRESULT *hr);

/* heap.c */
struct fake_module *fake_module_load(const char *path);
/** fake_module_load() in two steps, for modules that need types before the profiler learns of them:
 *  fake_module_new() raises no events; it returns NULL when there is no room. */
struct fake_module *fake_module_new(const char *path);
void fake_module_announce(struct fake_module *module);
void fake_module_unload(struct fake_module *module);
struct fake_class *fake_class_new(struct fake_module *module, const char *name,
                                  struct fake_class *enclosing, unsigned n_args,
                                  const ClassID *args);
struct fake_class *fake_class_array(struct fake_class *element, unsigned rank);
struct fake_function *fake_method_new(struct fake_module *module, struct fake_class *type,
                                      const char *name, const uint8_t *sig, size_t sig_size,
                                      unsigned n_args, const ClassID *args);
struct fake_class *fake_class_by_token(struct fake_module *module, mdToken token);
struct fake_function *fake_function_by_token(struct fake_module *module, mdToken token);
struct fake_object *fake_object_new(struct fake_class *type);

/* code.c */
void fake_code_init(void);
HRESULT fake_jit(struct fake_function *function);
uint8_t *fake_code_of(const struct fake_function *function);
/** Returns the compiled function whose code contains @ip, or NULL. Lock-free; signal-safe. */
struct fake_function *fake_function_at(uint64_t ip);
enum { FAKE_ENTRY_CALL = 0, FAKE_RETURN_AT = 16, FAKE_ENTRY_NULL = 0x20, FAKE_ENTRY_DIVIDE = 0x40 };

/* hops.c */
HRESULT fake_hops(struct fake_module *module, struct fake_class *type, unsigned long n,
                  const char *out);

/* threads.c */
struct fake_thread *fake_thread_attach(void);
void fake_thread_detach(void);
struct fake_thread *fake_thread_start(void *(*body)(void *), void *arg);
void fake_thread_stop(struct fake_thread *thread);
void fake_nap(unsigned microseconds);

/* gc.c */
int fake_gc(unsigned generation);
int fake_suspend(COR_PRF_SUSPEND_REASON reason);
void fake_resume(void);

/* frames.c */
void fake_push_frame(struct fake_function *function, uint64_t ip, uint64_t sp, uint64_t fp);
void fake_pop_frame(void);
uint64_t fake_frame_body(uint64_t (*fn)(void *), void *arg); /* called by compiled code only */

/* events.c */
void fake_throw(struct fake_function *thrower, struct fake_function *catcher);
unsigned fake_elt(struct fake_function *function, bool tailcall);

/* hooked.c */
/** Asks the profiler's mapper about @function. Returns true if its code must call hooks; *client
 *  receives the client ID to pass to them. */
bool fake_map(struct fake_function *function, uint64_t *client);
/** Called when @function is compiled: asks the mapper and stores the answer in @function. */
void fake_hook_compiled(struct fake_function *function);
/** Raises JITInlining. Returns true if the profiler allows @callee to be inlined into @caller. */
bool fake_inlines(const struct fake_function *caller, const struct fake_function *callee);
/** These call a hook as compiled code of @function does, if @function is hooked. @sp: the stack
 *  pointer of the caller of @function. They call abort() when the hook has changed a register.
 *  Any thread. */
void fake_enter(struct fake_function *function, uintptr_t sp);
void fake_leave(struct fake_function *function, uintptr_t sp);
void fake_tailcall(struct fake_function *function, uintptr_t sp);
/** Sets the file to which fake_known_write() appends the number of hooked calls of each function
 *  when the runtime shuts down. */
void fake_known_to(const char *path);
void fake_known_write(void);

/* calls.c */
/** Runs the scenario command `calls SHAPE N [THREADS]`. */
HRESULT fake_calls(const char *shape, unsigned long n, unsigned long threads);
/** Waits for the threads of `calls on`, which go on after the profiler was shut down. */
void fake_calls_end(void);

/* signals.c */
void fake_signals_install(void);
void fake_faults(unsigned n);

/* scenario.c */
HRESULT fake_scenario_run(const char *text, unsigned *exit_code);

/* control.c */
void fake_counts(struct fakeclr_counts *out);

/* vtables.c: methods that no file in tests/fake/ defines return E_NOTIMPL */
extern const ICorProfilerInfo15Vtbl fake_vtbl;
extern const IMetaDataImport2Vtbl meta_vtbl;
extern const char *const fake_slot_names[SXS_N_INFO_SLOTS]; /* valid from [3] */
#define FAKE_SERVES_INFO
#define FAKE_SERVES_META
#include "sxs_fake_info.inc"

#endif
