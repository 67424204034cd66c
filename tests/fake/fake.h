/* SPDX-License-Identifier: MIT */
/**
 * fake.h - what the files of the simulated runtime share. One `fake` per loaded library.
 *
 * Everything an ID points to lives in one reserved address range (ids.c): whether an ID is ours is
 * a range check and a magic number, without a lock and without touching anybody else's memory.
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
#define FAKE_GO_ON ((HRESULT)0x0FACADE0) /* never a result of an Info method */

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
    _Atomic uint32_t magic; /* written last: an ID that is seen is complete */
    uint32_t kind;
};

struct fake_module {
    struct fake_id id;
    unsigned number;
    struct fake_assembly *assembly;
    _Atomic int unloaded;
    bool collectible; /* nothing of it is compiled anew */
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
    unsigned number; /* TypeDef row, unique in the runtime; instantiations share `row` */
    unsigned row;
    struct fake_module *module;
    struct fake_class *enclosing;
    struct fake_class *element; /* arrays */
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
    _Atomic uint64_t client; /* what the mapper said */
    _Atomic int hooked;
    const uint8_t *body; /* IL as in a file, with its header; NULL: none */
    unsigned body_size;
    _Atomic int version;                  /* enum fake_version, of methods with IL */
    _Atomic int compiling;                /* 1: a thread is at it or was */
    const uint8_t *_Atomic first, *_Atomic now; /* what SetILFunctionBody and a re-JIT gave; NULL: body */
    _Atomic uint64_t n_entered, n_unwound; /* hooked calls of calls.c; left without leave hook */
    unsigned n_args;
    ClassID args[4];
    unsigned sig_size;
    uint8_t sig[64];
    char name[80];
};

/* Of a method with IL: asked for anew, being asked what it shall be, in force. */
enum fake_version { FAKE_ORIGINAL, FAKE_WANTED, FAKE_ASKING, FAKE_NEW };

struct fake_object {
    struct fake_id id;
    struct fake_class *type;
};

struct fake_handle {
    struct fake_id id;
    struct fake_object *_Atomic object; /* NULL: destroyed */
};

struct fake_frame {
    struct fake_function *function; /* NULL: a run of frames of others */
    uint64_t ip, sp, fp;
    bool real; /* made by running code: others' frames lie above it */
};

enum fake_thread_state { FAKE_RUNNING = 1, FAKE_LEAVING, FAKE_GONE };

struct fake_thread {
    struct fake_id id;
    pthread_t pthread;
    _Atomic uint32_t os_id;
    _Atomic int state;
    _Atomic unsigned answered; /* activations taken */
    _Atomic int stop;
    bool joinable;
    bool cooperative;
    bool own_stack; /* the alternate stack is ours to free */
    void *alt_stack;
    sigjmp_buf *fault_exit; /* where every second fault goes, set while faulting */
    unsigned n_faults;
    uintptr_t clause_sp; /* of the frame whose filter, finally or catch block runs; 0: none */
    unsigned n_frames;
    struct fake_frame *frames; /* FAKE_MAX_FRAMES; touched by its own thread, or while suspended */
    void *(*body)(void *);
    void *arg;
};

enum fake_phase { FAKE_NONE, FAKE_STARTING, FAKE_ATTACHING, FAKE_RUN, FAKE_DETACHING, FAKE_ENDED };

struct fake_failure {
    _Atomic HRESULT hr;
    _Atomic unsigned nth; /* calls still to go; 0: always */
};

struct fake {
    int major, minor;
    int info_version, callback_version;
    bool framework; /* 2.0, 4.0 */
    bool strict, signals, verbose;
    _Atomic int initialized, shut_down;

    /* the profiler */
    void *library;
    ICorProfilerCallback11 *callback[FAKE_CALLBACK_LAST + 1]; /* [2]..[11], each one reference */
    _Atomic int phase;
    _Atomic int load_state;
    _Atomic HRESULT load_result;
    _Atomic int in_callbacks; /* threads inside the profiler: detach waits for 0 */
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
    pthread_mutex_t thread_lock, gc_lock, unload_lock;
    _Atomic int gc_running, suspended;

    /* code */
    uint8_t *code;
    int code_fd;
    _Atomic uint32_t code_ready; /* bytes that are mapped executable */
    pthread_mutex_t code_lock;

    /* counts */
    _Atomic uint64_t raised[SXS_N_CALLBACK_SLOTS], called[SXS_N_INFO_SLOTS];
    struct fake_failure failures[SXS_N_INFO_SLOTS];
    struct {
        char name[48]; /* of other interfaces: "Emit.DefineTypeRefByName" */
        struct fake_failure failure;
    } other_failures[8];
    _Atomic unsigned n_other_failures;
    _Atomic uint64_t foreign_ids, beyond_version, faults, faults_left, faults_chained,
        after_previous, activations, foreign_activations, gcs, gc_hangs, exceptions, elt_calls,
        il_calls, il_calls_new, /* of methods with IL; those that ran what a profiler gave */
        handles, /* made and not destroyed */
        unloaded_ids, /* modules asked about whose unloading was announced and has ended */
        n_threads_made;

    /* event log */
    pthread_mutex_t log_lock;
    unsigned n_log;
    char log[128][200];
};

extern struct fake fake;

/* The runtime's thread object of this thread, NULL on foreign ones. Initial-exec: signal handlers
 * read it, and the lazy kind of thread-local storage allocates on first touch. */
extern __thread struct fake_thread *fake_self __attribute__((tls_model("initial-exec")));
extern __thread unsigned fake_in_callback __attribute__((tls_model("initial-exec")));

/* ids.c */
void *fake_alloc(size_t size, enum fake_kind kind); /* zeroed, never freed; aborts when full */
void fake_publish(struct fake_id *id);
/** A module's, unless it is unloaded: then counted, abort() when strict, as a CLR follows a pointer there. */
struct fake_module *fake_find_module(uint64_t id);
/** The object behind an ID of this runtime, or NULL: counted as foreign, abort() when strict. */
void *fake_find(uint64_t id, enum fake_kind kind);

/* text.c */
void fake_log(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** Copies text to @out as UTF-16, cut to @cch; *needed: characters with the terminator. */
void fake_wide(const char *text, WCHAR *out, ULONG cch, ULONG *needed);
bool fake_guid_parse(const char *text, GUID *out);

/* version.c */
void fake_version_init(void);
/** "v4.0.30319", "8.0.0" */
void fake_version_text(char *out, size_t size);

/* profiler_load.c */
void fake_profiler_startup(void);
HRESULT fake_profiler_attach(const char *path, const GUID *clsid, void *data, unsigned size);
HRESULT fake_create_instance(const char *path, const GUID *clsid, IUnknown *outer, const GUID *iid,
                             void **out);
/** Ends it: waits for callbacks, releases every reference, unloads the library. */
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
int fake_slot_by_name(const char *name); /* callback slot, -1: none */

/* info.c */
HRESULT fake_info_enter(ICorProfilerInfo15 *self, unsigned slot, const char *name);
int fake_info_slot(const char *name); /* -1: none */
void fake_info_init(void);

/* metadata.c */
HRESULT fake_metadata_open(struct fake_module *module, const GUID *iid, IUnknown **out);

/* enums.c */
HRESULT fake_enum_open(const GUID *iid, const void *items, size_t item_size, size_t n, void **out);

/* metadata_write.c */
/** A token of @table for these bytes, the same for the same ones; 0: no more room. */
mdToken fake_token(struct fake_module *module, unsigned table, mdToken scope, const void *bytes,
                   size_t size);
/** The same, 0 when it has not been made. */
mdToken fake_token_find(struct fake_module *module, unsigned table, mdToken scope,
                        const void *bytes, size_t size);
/** What a made token stands for; NULL: none. Lives as long as the runtime. */
const uint8_t *fake_token_bytes(struct fake_module *module, mdToken token, ULONG *size);
/** What it was made in: the type of a member, the assembly of a type. 0: none. */
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
/** Asked for by RequestReJIT: methods with IL when they are called next, others at once. */
HRESULT fake_rejit_request(struct fake_module *module, mdMethodDef token);
void fake_rejit_revert(struct fake_function *function);

/* il.c */
/** A method with IL: `int32 NAME(int32)` returns its argument, which is 64 bits wide here. */
struct fake_function *fake_il_method_new(struct fake_module *module, struct fake_class *type,
                                         const char *name);
/** Calls it: compiles it, or anew, when it must be, then runs its IL. False: that cannot be run. */
bool fake_il_call(struct fake_function *function, uint64_t argument, uint64_t *result);

/* runtime_info.c: what IL may do about the runtime it runs in */
/** RuntimeEnvironment.GetRuntimeInterfaceAsIntPtr. *out: a reference. False: it throws. */
bool fake_runtime_interface(const GUID *clsid, const GUID *riid, void **out);
/** Is the MemberRef @token TYPE::NAME? */
bool fake_is_member(struct fake_module *module, mdToken token, const char *type, const char *name);
/** What `new Guid(string)` makes of a string's token; NULL: it throws. Never freed. */
const GUID *fake_guid_of(struct fake_module *module, mdToken text);

/* il_work.c: `work SHAPE N [THREADS]` */
HRESULT fake_il_work(const char *shape, unsigned long n, unsigned long threads);

/* control.c: whether NAME, which is no Info method, is to fail now, with *hr */
bool fake_fails(const char *name, HRESULT *hr);

/* heap.c */
struct fake_module *fake_module_load(const char *path);
/** The same in two steps, for modules that have types when they are announced. NULL: no more room. */
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
struct fake_function *fake_function_at(uint64_t ip); /* lock-free; signal-safe */
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
uint64_t fake_frame_body(uint64_t (*fn)(void *), void *arg); /* what compiled code calls */

/* events.c */
void fake_throw(struct fake_function *thrower, struct fake_function *catcher);
unsigned fake_elt(struct fake_function *function, bool tailcall);

/* hooked.c */
/** Asks the mapper: does compiled code of @function call hooks, and with what? */
bool fake_map(struct fake_function *function, uint64_t *client);
/** The same for code that is being compiled, which keeps the answer. */
void fake_hook_compiled(struct fake_function *function);
/** Whether the profiler lets @callee be inlined. */
bool fake_inlines(const struct fake_function *caller, const struct fake_function *callee);
/** Compiled code of @function calls its hook, if it has one. @sp: of its caller. abort() when a
 *  register has changed. Any thread. */
void fake_enter(struct fake_function *function, uintptr_t sp);
void fake_leave(struct fake_function *function, uintptr_t sp);
void fake_tailcall(struct fake_function *function, uintptr_t sp);
/** At the end, every function's calls are appended to @path. */
void fake_known_to(const char *path);
void fake_known_write(void);

/* calls.c */
/** `calls SHAPE N [THREADS]` */
HRESULT fake_calls(const char *shape, unsigned long n, unsigned long threads);
/** Calls that shall go on after the profiler's end do so, to theirs. */
void fake_calls_end(void);

/* signals.c */
void fake_signals_install(void);
void fake_faults(unsigned n);

/* scenario.c */
HRESULT fake_scenario_run(const char *text, unsigned *exit_code);

/* control.c */
void fake_counts(struct fakeclr_counts *out);

/* vtables.c: E_NOTIMPL for every method that no file here defines */
extern const ICorProfilerInfo15Vtbl fake_vtbl;
extern const IMetaDataImport2Vtbl meta_vtbl;
extern const char *const fake_slot_names[SXS_N_INFO_SLOTS]; /* [3] and up */
#define FAKE_SERVES_INFO
#define FAKE_SERVES_META
#include "sxs_fake_info.inc"

#endif
