/* SPDX-License-Identifier: MIT */
/* threads.c - the threads of the runtime: real pthreads, each with an alternate signal stack. */
#include "tests/fake/fake.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ALT_STACK_SIZE (64 * 1024)

void fake_nap(unsigned microseconds)
{
    struct timespec t = {.tv_sec = microseconds / 1000000};
    t.tv_nsec = microseconds % 1000000 * 1000;
    nanosleep(&t, NULL);
}

/* A thread that already has an alternate stack keeps it: the first runtime decides its size. */
static void alt_stack_set(struct fake_thread *thread)
{
    stack_t now;
    if (!fake.signals || sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    void *at = mmap(NULL, ALT_STACK_SIZE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (at == MAP_FAILED)
        return;
    stack_t own = {.ss_sp = at, .ss_size = ALT_STACK_SIZE};
    if (sigaltstack(&own, NULL) != 0) {
        munmap(at, ALT_STACK_SIZE);
        return;
    }
    thread->alt_stack = at;
}

static void alt_stack_drop(struct fake_thread *thread)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (!thread->alt_stack)
        return;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == thread->alt_stack)
        sigaltstack(&none, NULL);
    munmap(thread->alt_stack, ALT_STACK_SIZE);
    thread->alt_stack = NULL;
}

static struct fake_thread *thread_new(void)
{
    unsigned n = atomic_fetch_add(&fake.n_threads, 1);
    if (n >= FAKE_MAX_THREADS) {
        atomic_fetch_sub(&fake.n_threads, 1);
        return NULL;
    }
    struct fake_thread *thread = fake_alloc(sizeof(*thread), FAKE_THREAD);
    thread->frames = fake_alloc(FAKE_MAX_FRAMES * sizeof(struct fake_frame), 0);
    fake_publish(&thread->id);
    atomic_store(&fake.threads[n], thread);
    return thread;
}

/* Called on the thread itself. */
static void thread_begin(struct fake_thread *thread)
{
    thread->pthread = pthread_self();
    atomic_store(&thread->os_id, (uint32_t)syscall(SYS_gettid));
    alt_stack_set(thread);
    fake_self = thread;
    atomic_store(&thread->state, FAKE_RUNNING);
    atomic_fetch_add(&fake.n_threads_made, 1);
    uint64_t id = (uint64_t)(uintptr_t)thread;
    FAKE_RAISE(ThreadCreated, id);
    FAKE_RAISE(ThreadAssignedToOSThread, id, atomic_load(&thread->os_id));
}

/* A collection in progress may still send this thread a signal, so the thread ends after it. */
static void thread_end(struct fake_thread *thread)
{
    atomic_store(&thread->state, FAKE_LEAVING);
    while (atomic_load(&fake.gc_running))
        fake_nap(200);
    FAKE_RAISE(ThreadDestroyed, (uint64_t)(uintptr_t)thread);
    fake_self = NULL;
    alt_stack_drop(thread);
    atomic_store(&thread->state, FAKE_GONE);
}

struct fake_thread *fake_thread_attach(void)
{
    if (!fake_self) {
        struct fake_thread *thread = thread_new();
        if (thread)
            thread_begin(thread);
    }
    return fake_self;
}

void fake_thread_detach(void)
{
    if (fake_self)
        thread_end(fake_self);
}

/* Loops without a safepoint: a collection waits until the thread answers the activation signal. The
 * nap limits the load on the machine. */
static void loop(struct fake_thread *thread)
{
    volatile unsigned spin = 0;
    while (!atomic_load(&thread->stop)) {
        for (spin = 0; spin < 2000; spin++)
            ;
        fake_nap(200);
        while (atomic_load(&fake.suspended) && !atomic_load(&thread->stop))
            fake_nap(200);
    }
}

static void *thread_main(void *arg)
{
    struct fake_thread *thread = arg;
    void *result = NULL;
    thread_begin(thread);
    if (thread->body)
        result = thread->body(thread->arg);
    else
        loop(thread);
    if (fake_self)
        thread_end(fake_self);
    return result;
}

struct fake_thread *fake_thread_start(void *(*body)(void *), void *arg)
{
    struct fake_thread *thread = thread_new();
    if (!thread)
        return NULL;
    thread->body = body;
    thread->arg = arg;
    pthread_t made;
    if (pthread_create(&made, NULL, thread_main, thread) != 0) {
        atomic_store(&thread->state, FAKE_GONE);
        return NULL;
    }
    while (!atomic_load(&thread->state)) /* the thread sets its `pthread` before its state */
        fake_nap(50);
    thread->joinable = true;
    return thread;
}

void fake_thread_stop(struct fake_thread *thread)
{
    atomic_store(&thread->stop, 1);
    if (thread->joinable)
        pthread_join(thread->pthread, NULL);
    thread->joinable = false;
}
