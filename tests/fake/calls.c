/* SPDX-License-Identifier: MIT */
/* calls.c - the scenario command `calls SHAPE N [THREADS]`: hooked calls in known numbers. */
#include "tests/fake/calls.h"

#define MAX_CALLERS 256

struct fake_function *fake_work[N_WORK];

static struct fake_module *module;
static struct fake_class *type;
static pthread_once_t work_once = PTHREAD_ONCE_INIT;

/* ---- shapes --------------------------------------------------------------------------------- */

FAKE_FRAME_FN void fake_call_leaf(struct fake_call *below, struct fake_function *fn)
{
    FAKE_CALL(f, fn, below);
    fake_leave(f.fn, f.sp);
}

FAKE_FRAME_FN uint64_t fake_call_fib(struct fake_call *below, unsigned long n)
{
    FAKE_CALL(f, fake_work[FIB], below);
    uint64_t sum = n < 2 ? n : fake_call_fib(&f, n - 1) + fake_call_fib(&f, n - 2);
    fake_leave(f.fn, f.sp);
    return sum;
}

static void fib(struct fake_call *below, unsigned long n) { fake_call_fib(below, n); }

static FAKE_FRAME_FN void even(struct fake_call *below, unsigned long n)
{
    FAKE_CALL(f, fake_work[n & 1 ? ODD : EVEN], below);
    if (n)
        even(&f, n - 1);
    fake_leave(f.fn, f.sp);
}

/* Tail calls: each function calls its tailcall hook before the next one is entered. All have the
 * same caller. */
static void tail(struct fake_call *below, unsigned long n)
{
    struct fake_call at = {.own = below->own - 256};
    for (unsigned long i = 0; i < n; i++) {
        fake_enter(fake_work[i & 1 ? TAIL_B : TAIL_A], below->own);
        fake_call_leaf(&at, fake_work[LEAF]);
        fake_tailcall(fake_work[i & 1 ? TAIL_B : TAIL_A], below->own);
    }
    fake_enter(fake_work[TAIL_A], below->own);
    fake_leave(fake_work[TAIL_A], below->own);
}

static FAKE_FRAME_FN void vanish(struct fake_call *below, unsigned deep)
{
    FAKE_CALL(f, fake_work[LOST], below);
    if (atomic_load(&f.fn->hooked))
        atomic_fetch_add(&f.fn->n_unwound, 1);
    if (deep)
        vanish(&f, deep - 1);
    __asm__ volatile("" ::: "memory"); /* no tail call: the frame must last during the call */
}

/* Frames that end without a leave hook. The profiler can notice it at the next call, or when the
 * caller of the frames leaves. */
static FAKE_FRAME_FN void stale(struct fake_call *below, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        FAKE_CALL(f, fake_work[OUTER], below);
        vanish(&f, 1);
        if (i & 1)
            fake_call_leaf(&f, fake_work[NEXT]);
        fake_leave(f.fn, f.sp);
    }
}

static FAKE_FRAME_FN void unmatched(struct fake_call *below, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        FAKE_CALL(f, fake_work[OUTER], below);
        fake_leave(fake_work[LOST], f.own - 64);
        fake_leave(f.fn, f.sp);
    }
}

/* Calls that are still in progress when their thread ends. */
static FAKE_FRAME_FN void ends(struct fake_call *below, unsigned long n)
{
    FAKE_CALL(f, fake_work[ENDS], below);
    if (n > 1)
        ends(&f, n - 1);
    __asm__ volatile("" ::: "memory");
}

struct fake_function *fake_call_compile(const char *name)
{
    struct fake_function *fn = fake_method_new(module, type, name, NULL, 0, 0, NULL);
    return fn && SUCCEEDED(fake_jit(fn)) ? fn : NULL;
}

/* A function is unloaded, and its FunctionID is used again for another function. */
static void unload(struct fake_call *below, unsigned long n)
{
    struct fake_function *fn = fake_call_compile("Unloaded");
    for (unsigned long i = 0; i < n && fn; i++) {
        fake_call_leaf(below, fn);
        FAKE_RAISE(FunctionUnloadStarted, (uint64_t)(uintptr_t)fn);
        fake_jit(fn);
        fake_call_leaf(below, fn);
    }
}

static FAKE_FRAME_FN void chain(struct fake_call *below, struct fake_function **fns, unsigned n)
{
    FAKE_CALL(f, fns[n - 1], below);
    if (n > 1)
        chain(&f, fns, n - 1);
    fake_leave(f.fn, f.sp);
}

/* @n new functions in groups of eight that call each other; the first of each group is called a
 * second time, alone. */
static void wide(struct fake_call *below, unsigned long n)
{
    static _Atomic unsigned number;
    struct fake_function *fns[8];
    char name[32];
    for (unsigned long i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "Wide%u", atomic_fetch_add(&number, 1));
        fns[i % 8] = fake_call_compile(name);
        if (!fns[i % 8])
            return;
        if (i % 8 == 7) {
            chain(below, fns, 8);
            chain(below, fns, 1);
        }
    }
}

/* Callers that all ask to inline the same callee. Several threads compile them concurrently. */
static FAKE_FRAME_FN void inlining(struct fake_call *below, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        struct fake_function *caller = fake_call_compile("Caller");
        if (!caller)
            return;
        bool inlined = fake_inlines(caller, fake_work[LEAF]);
        FAKE_CALL(f, caller, below);
        if (!inlined)
            fake_call_leaf(&f, fake_work[LEAF]);
        fake_leave(f.fn, f.sp);
    }
}

/* Calls that go on while the profiler handles Shutdown, and afterwards. */
static void until_the_end(struct fake_call *below, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        fake_call_fib(below, 8);
    while (!atomic_load(&fake.shut_down) || atomic_load(&fake.phase) == FAKE_RUN)
        fake_call_fib(below, 4);
    for (unsigned long i = 0; i < n; i++)
        fake_call_fib(below, 8);
}

static void rejit(struct fake_call *below, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) {
        fake_call_leaf(below, fake_work[NEXT]);
        fake_rejit(module, 0x06000000u | fake_work[NEXT]->row);
        fake_call_leaf(below, fake_work[NEXT]);
    }
}

static const struct {
    const char *name;
    fake_shape *run;
} shapes[] = {
    {"fib", fib},       {"even", even},   {"tail", tail},         {"throw", fake_call_throws},
    {"stale", stale},   {"unmatched", unmatched}, {"ends", ends}, {"unload", unload},
    {"wide", wide},     {"inline", inlining},     {"rejit", rejit}, {"native", fib},
    {"on", until_the_end}, {"hop", fake_call_hop}, {"fork", fake_call_fork},
    {"late", fake_call_late},
};

/* ---- threads that run the shapes ------------------------------------------------------------ */

static void make_work(void)
{
    static const char *const names[N_WORK] = {
        "Fib", "Even", "Odd", "TailA", "TailB", "Outer", "Middle", "Inner", "Thrower", "InFinally",
        "InCatch", "InFilter", "Cctor", "Lost", "Next", "Ends", "Leaf", "Hop", "Quiet",
    };
    struct fake_module *own = fake_module_load("/fake/Calls.dll");
    struct fake_module *framework = fake_module_load("/fake/System.Private.CoreLib.dll");
    struct fake_class *own_type =
        own ? fake_class_new(own, "Fake.Calls.Work", NULL, 0, NULL) : NULL;
    struct fake_class *others =
        framework ? fake_class_new(framework, "System.Quiet", NULL, 0, NULL) : NULL;
    if (!own_type || !others)
        return;
    for (unsigned i = 0; i < N_WORK; i++) {
        bool theirs = i == QUIET;
        module = theirs ? framework : own;
        type = theirs ? others : own_type;
        fake_work[i] = fake_call_compile(names[i]);
    }
    module = own;
    type = own_type;
}

struct job {
    fake_shape *run;
    unsigned long n;
    pthread_barrier_t *together;
};

static FAKE_FRAME_FN void *caller_main(void *arg)
{
    struct job *job = arg;
    FAKE_ROOT(root);
    if (job->together)
        pthread_barrier_wait(job->together);
    job->run(&root, job->n);
    return NULL;
}

static struct job endless;
static struct fake_thread *going_on[MAX_CALLERS];
static unsigned n_going_on;

static HRESULT run_on_threads(const struct job *job, unsigned long threads)
{
    struct fake_thread *made[MAX_CALLERS];
    unsigned n = 0;
    bool forever = job->run == until_the_end;
    struct job here = *job;
    if (forever)
        endless = *job;
    for (; n < threads && n < MAX_CALLERS; n++) {
        made[n] = fake_thread_start(caller_main, forever ? &endless : &here);
        if (!made[n])
            break;
        if (forever)
            going_on[n_going_on++] = made[n];
    }
    for (unsigned i = 0; i < n && !forever; i++)
        fake_thread_stop(made[i]);
    return n == threads ? S_OK : E_OUTOFMEMORY;
}

/* Runs @job on threads unknown to this runtime: the first the profiler sees of them is a hook. */
static HRESULT run_on_native_threads(const struct job *job, unsigned long threads)
{
    pthread_t made[MAX_CALLERS];
    pthread_barrier_t together;
    struct job here = *job;
    unsigned n = 0;
    if (threads > MAX_CALLERS || pthread_barrier_init(&together, NULL, (unsigned)threads))
        return E_INVALIDARG;
    here.together = &together;
    for (; n < threads; n++)
        if (pthread_create(&made[n], NULL, caller_main, &here) != 0)
            abort(); /* the threads already started wait for this one at the barrier */
    for (unsigned i = 0; i < n; i++)
        pthread_join(made[i], NULL);
    pthread_barrier_destroy(&together);
    return S_OK;
}

HRESULT fake_calls(const char *shape, unsigned long n, unsigned long threads)
{
    struct job job = {.n = n};
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (strcmp(shape, shapes[i].name) == 0)
            job.run = shapes[i].run;
    pthread_once(&work_once, make_work);
    if (!job.run || !fake_work[N_WORK - 1])
        return E_INVALIDARG;
    if (threads && strcmp(shape, "native") == 0)
        return run_on_native_threads(&job, threads);
    if (threads)
        return run_on_threads(&job, threads);
    caller_main(&job);
    return S_OK;
}

void fake_calls_end(void)
{
    for (unsigned i = 0; i < n_going_on; i++)
        fake_thread_stop(going_on[i]);
    n_going_on = 0;
}
