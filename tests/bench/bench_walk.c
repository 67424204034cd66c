/* SPDX-License-Identifier: MIT */
/*
 * bench_walk.c - measures the walkers on stacks of known depth: the walk alone, and a whole sample
 * (signal, handler, record in the mapped file).
 *
 * usage: SXSPROF_SIGNALS=off bench_walk FOLDER        FOLDER: empty; receives the file of samples
 * Prints lines "bench: KIND_DEPTH_WALKER_WHAT VALUE". KIND: rbp (code as a JIT compiler writes it,
 * with frame pointers and without unwind tables), tables (native code with unwind tables and without
 * frame pointers) or mixed. WHAT: ns (per frame of one walk), frames (of one walk), us (per sample) or
 * recorded (frames of one sample).
 */
#define UNW_LOCAL_ONLY
#include <fcntl.h>
#include <libunwind.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sampling/clocks.h"
#include "sampling/handler.h"
#include "sampling/sample_signal.h"
#include "sampling/stacks.h"
#include "stackwalk/fast/tables.h"
#include "stackwalk/fast/walkers.h"
#include "tests/bench/bench.h"

#define MAX          1024
#define BATCH_NS     50000.0
#define SAMPLES_SIZE (UINT64_C(1) << 30)

#if defined(__clang__)
#define WITH_RBP __attribute__((noinline))
#else
#define WITH_RBP __attribute__((noinline, optimize("no-omit-frame-pointer")))
#endif

static struct sxs_samples_writer *writer;
static uint32_t                   tid;
static uintptr_t                  stack_hi; /* the end of this thread's stack: a walk can leave the last frame */
static uintptr_t                  ips[MAX];
static char                       stack_name[32]; /* KIND_DEPTH */

/* ---- measuring ------------------------------------------------------------------------------- */

struct walk {
    enum sxs_sample_walker walker;
    ucontext_t             uc;
    size_t                 n; /* frames of the last walk */
};

static void walks(void *arg, unsigned n)
{
    struct walk           *w = arg;
    enum sxs_sample_end    end;
    struct sxs_walk_limits limits = {.stack_lo = (uintptr_t)w->uc.uc_mcontext.gregs[REG_RSP],
                                     .stack_hi = stack_hi,
                                     .max = MAX};
    while (n--)
        w->n = sxs_walkers_walk(w->walker, &w->uc, &limits, ips, &end);
}

static void backtraces(void *arg, unsigned n)
{
    struct walk *w = arg;
    while (n--)
        w->n = (size_t)unw_backtrace((void **)ips, MAX);
}

static const struct sxs_record_sample *last_sample(void)
{
    const struct sxs_thread_slot *t = sxs_threads_find(tid);
    return t ? atomic_load(&t->last) : NULL;
}

/* A signal that a thread sends to itself is delivered before the call that sends it returns. */
static void samples(void *arg, unsigned n)
{
    (void)arg;
    sxs_samples_make_room(writer);
    while (n--)
        sxs_sample_signal_send(tid, 1000);
}

/* Returns the time of one repetition in the median batch, in ns. */
static double median(void (*once)(void *arg, unsigned n), void *arg)
{
    double   times[BENCH_BATCHES], start;
    unsigned n;
    once(arg, 3);
    start = bench_now();
    once(arg, 1);
    n = 1 + (unsigned)(BATCH_NS / (bench_now() - start));
    for (int i = 0; i < BENCH_BATCHES; i++) {
        start = bench_now();
        once(arg, n);
        times[i] = (bench_now() - start) / n;
    }
    qsort(times, BENCH_BATCHES, sizeof(times[0]), bench_compare);
    return times[BENCH_BATCHES / 2];
}

static void print(const char *walker, const char *what, double value)
{
    printf("bench: %s_%s_%s %.2f\n", stack_name, walker, what, value);
}

static void print_walk(const char *name, void (*once)(void *arg, unsigned n), struct walk *w)
{
    double ns = median(once, w);
    print(name, "ns", ns / (double)w->n);
    print(name, "frames", (double)w->n);
}

static void print_samples(const char *name, enum sxs_sample_walker walker)
{
    static int installed;
    if (installed != (int)walker && sxs_handler_install(writer, walker)) {
        fprintf(stderr, "bench_walk: no handler for %s\n", name);
        exit(1);
    }
    installed = (int)walker;
    print(name, "us", median(samples, NULL) / 1000);
    print(name, "recorded", last_sample() ? last_sample()->n : 0);
}

__attribute__((noinline)) static int measure(int result)
{
    static struct walk fast = {.walker = SXS_WALKER_FAST}, unwind = {.walker = SXS_WALKER_UNWIND},
                       naive;
    getcontext(&fast.uc);
    unwind.uc = fast.uc;
    print_walk("fast", walks, &fast);
    print_walk("unwind", walks, &unwind);
    print_walk("backtrace", backtraces, &naive);
    print_samples("fast", SXS_WALKER_FAST);
    print_samples("unwind", SXS_WALKER_UNWIND);
    return result;
}

/* ---- stacks ---------------------------------------------------------------------------------- */

#define N_METHODS   64u /* different methods, so that each frame has its own rule */
#define METHOD_SIZE 64u

typedef int jit_fn(int frames, int (*then)(int));

/* push rbp; sub rsp, 16; lea rbp, [rsp + 16]; dec edi; jz then; call the next method; nop;
 * add rsp, 16; pop rbp; ret; then: call rsi; nop; add rsp, 16; pop rbp; ret */
static const uint8_t method[] = {0x55, 0x48, 0x83, 0xec, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10,
                                 0xff, 0xcf, 0x74, 0x0c, 0xe8, 0,    0,    0,    0,    0x90,
                                 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3, 0xff, 0xd6, 0x90, 0x48,
                                 0x83, 0xc4, 0x10, 0x5d, 0xc3};
/* A short method without a frame pointer: push rax; dec edi; jz then; call the next method; nop; add rsp, 8; ret;
 * then: call rsi; nop; add rsp, 8; ret */
static const uint8_t short_method[] = {0x50, 0xff, 0xcf, 0x74, 0x0b, 0xe8, 0,    0,    0,
                                       0,    0x90, 0x48, 0x83, 0xc4, 0x08, 0xc3, 0xff, 0xd6,
                                       0x90, 0x48, 0x83, 0xc4, 0x08, 0xc3};

/* Makes N_METHODS methods that call each other in a ring. Every @short_one-th of them is a short one; 0:
 * none. */
static jit_fn *write_methods(unsigned short_one)
{
    uint8_t *code = mmap(NULL, N_METHODS * METHOD_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        exit(1);
    memset(code, 0xcc, N_METHODS * METHOD_SIZE);
    for (unsigned i = 0; i < N_METHODS; i++) {
        int      is_short = short_one && i % short_one == 1;
        uint8_t *at = code + (size_t)i * METHOD_SIZE;
        uint8_t *end_of_call = at + (is_short ? 10 : 19);
        int32_t  distance =
            (int32_t)(code + (size_t)((i + 1) % N_METHODS) * METHOD_SIZE - end_of_call);
        memcpy(at, is_short ? short_method : method,
               is_short ? sizeof(short_method) : sizeof(method));
        memcpy(end_of_call - 4, &distance, sizeof(distance));
    }
    return (jit_fn *)(uintptr_t)code;
}

typedef int native_fn(int frames);

static native_fn *volatile native[3]; /* called through memory, which prevents inlining and tail calls */
static native_fn *after_native;
static jit_fn    *mixed;
static int        mixed_left;

/* The functions have work after the call, so that the compiler makes no tail call; some keep a value in
 * a register during the call. */
#define NATIVE_BODY(kept)                                                                   \
    int result = frames > 1 ? native[frames % 3](frames - 1) : after_native(0);             \
    __asm__ volatile("" : "+r"(result));                                                    \
    return result + (kept)

__attribute__((noinline)) static int native_plain(int frames)
{
    NATIVE_BODY(1);
}

__attribute__((noinline)) static int native_saving(int frames)
{
    NATIVE_BODY(frames);
}

WITH_RBP static int native_rbp(int frames)
{
    NATIVE_BODY(frames);
}

/* Ten methods call five native functions, these call ten methods, and so on. */
__attribute__((noinline)) static int mixed_native(int unused)
{
    int result = native[1](4);
    __asm__ volatile("" : "+r"(result));
    return result + unused;
}

__attribute__((noinline)) static int mixed_on(int unused)
{
    int result = mixed_left-- > 0 ? mixed(10, mixed_native) : measure(0);
    __asm__ volatile("" : "+r"(result));
    return result + unused;
}

static void stack_of(const char *kind, int depth, jit_fn *methods)
{
    snprintf(stack_name, sizeof(stack_name), "%s_%d", kind, depth);
    after_native = measure;
    native[0] = native_plain;
    native[1] = native_saving;
    native[2] = strcmp(kind, "mixed") != 0 ? native_plain : native_rbp;
    if (methods && methods == mixed) {
        after_native = mixed_on;
        mixed_left = depth / 16;
        mixed_on(0);
    } else if (methods) {
        methods(depth, measure);
    } else {
        native[0](depth);
    }
}

static void find_stack(void)
{
    pthread_attr_t attr;
    void          *lo;
    size_t         size;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return;
    if (pthread_attr_getstack(&attr, &lo, &size) == 0)
        stack_hi = (uintptr_t)lo + size;
    pthread_attr_destroy(&attr);
}

int main(int argc, char **argv)
{
    static const int depths[] = {10, 30, 100, 500};
    static struct sxs_folder folder;
    jit_fn          *methods = write_methods(0);
    mixed = write_methods(5);
    writer = argc != 2 || sxs_folder_open(&folder, argv[1]) ? NULL
                                                            : sxs_samples_create(&folder, SAMPLES_SIZE, NULL);
    if (!writer || sxs_tables_refresh() < 0) {
        fprintf(stderr, "usage: bench_walk FOLDER\n");
        return 2;
    }
    find_stack();
    tid = (uint32_t)syscall(SYS_gettid);
    sxs_threads_mark(tid, 0);
    sxs_stacks_refresh();
    for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
        stack_of("rbp", depths[i], methods);
        stack_of("tables", depths[i], NULL);
    }
    stack_of("mixed", 64, mixed);
    return 0;
}
