/* SPDX-License-Identifier: MIT */
/* crowd.c - hooked calls between runtimes, in a forked child, and in destructors of thread data. */
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/bridge/bridge.h"
#include "tests/fake/calls.h"

/* ---- calls between runtimes ----------------------------------------------------------------- */

static void (*bridge_hop)(int, int, long);

/* Makes two calls in this runtime, then calls into the next runtime through the bridge. */
static FAKE_FRAME_FN void arrive(struct fake_call *below, int depth, int max)
{
    FAKE_CALL(f, fake_work[HOP], below);
    fake_call_leaf(&f, fake_work[LEAF]);
    if (depth < max)
        bridge_hop(depth, max, 0);
    if (depth % 3 == 0)
        fake_call_throws(&f, 3);
    fake_leave(f.fn, f.sp);
}

static FAKE_FRAME_FN void entry(int depth, int max, long arg)
{
    (void)arg;
    FAKE_ROOT(root);
    fake_thread_attach();
    arrive(&root, depth, max);
}

static void *hopper(void *arg)
{
    entry(0, (int)(uintptr_t)arg, 0);
    return NULL;
}

/* Every app must run this shape. Threads of the app that joined the bridge first call all other
 * apps, @n calls deep. */
void fake_call_hop(struct fake_call *below, unsigned long n)
{
    enum { THREADS = 4 };
    void *bridge = dlopen("libsxsbridge.so", RTLD_NOW | RTLD_NOLOAD);
    int (*join)(sxsbridge_entry) = NULL;
    int (*leave)(void) = NULL;
    struct fake_thread *threads[THREADS];
    (void)below;
    if (!bridge) {
        fprintf(stderr, "fakeclr: calls hop: the bridge is not loaded (runsxs --bridge)\n");
        abort();
    }
    *(void **)&join = dlsym(bridge, "sxsbridge_join");
    *(void **)&leave = dlsym(bridge, "sxsbridge_leave");
    *(void **)&bridge_hop = dlsym(bridge, "sxsbridge_hop");
    if (join(entry) == 0) {
        for (unsigned i = 0; i < THREADS; i++)
            threads[i] = fake_thread_start(hopper, (void *)(uintptr_t)n);
        for (unsigned i = 0; i < THREADS; i++)
            if (threads[i])
                fake_thread_stop(threads[i]);
    }
    leave();
}

/* ---- calls in a forked child ---------------------------------------------------------------- */

/* The calls, compilations and exceptions of the child are not counted. The child must only reach
 * its end; the alarm ends it if it hangs. */
static _Noreturn void live_as_child(struct fake_call *below, struct fake_function *fn)
{
    alarm(30);
    fake_call_fib(below, 8);
    fake_call_leaf(below, fn);
    struct fake_function *own = fake_call_compile("Child");
    if (own)
        fake_call_leaf(below, own);
    fake_call_throws(below, 3);
    fake_leave(fn, below->own);
    _exit(own ? 0 : 1);
}

FAKE_FRAME_FN void fake_call_fork(struct fake_call *below, unsigned long n)
{
    struct fake_function *fn = fake_call_compile("Forks");
    for (unsigned long i = 0; i < n && fn; i++) {
        int status = 0;
        FAKE_CALL(f, fn, below);
        pid_t child = fork();
        if (child == 0)
            live_as_child(&f, fn);
        struct fake_function *after = fake_call_compile("After");
        if (after)
            fake_call_leaf(&f, after);
        if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) {
            fprintf(stderr, "fakeclr: a forked child ended with status 0x%x\n", status);
            abort();
        }
        fake_leave(f.fn, f.sp);
    }
}

/* ---- calls at the end of a thread ----------------------------------------------------------- */

static pthread_key_t at_end;
static pthread_once_t at_end_once = PTHREAD_ONCE_INIT;

/* Destructor of thread data. In the first of its two rounds the thread data of the profiler may
 * already be destroyed; in the second round it is. There are at most four rounds. The thread
 * sanitizer needs the last one, and the profiler library the one after this destructor's second. */
static FAKE_FRAME_FN void call_at_end(void *arg)
{
    uintptr_t left = (uintptr_t)arg;
    FAKE_ROOT(root);
    fake_call_fib(&root, 3);
    if (left > 1)
        pthread_setspecific(at_end, (void *)(left - 1));
}

static void make_key(void)
{
    if (pthread_key_create(&at_end, call_at_end) != 0)
        abort();
}

void fake_call_late(struct fake_call *below, unsigned long n)
{
    pthread_once(&at_end_once, make_key);
    fake_call_fib(below, n);
    pthread_setspecific(at_end, (void *)2);
}
