/* SPDX-License-Identifier: MIT */
#include "guests/thread_state.h"

#include <pthread.h>
#include <sys/mman.h>

#include "guests/guest.h"

SXS_TLS struct guest_thread *guest_thread;

static _Atomic(struct guest_thread *) threads; /* a list that only grows */
static pthread_key_t                  at_end;
static pthread_once_t                 once = PTHREAD_ONCE_INIT;

/* The end of a thread: another thread may use its block. */
static void thread_ended(void *block)
{
    struct guest_thread *t = block;
    guest_thread = NULL;
    atomic_store_explicit(&t->in_use, 0, memory_order_release);
}

static void make_key(void)
{
    pthread_key_create(&at_end, thread_ended);
}

static struct guest_thread *take_unused(void)
{
    for (struct guest_thread *t = atomic_load(&threads); t; t = t->next) {
        int unused = 0;
        if (atomic_compare_exchange_strong(&t->in_use, &unused, 1))
            return t;
    }
    return NULL;
}

/* Blocks are mapped, because malloc() may be what the thread was in when a runtime called. */
struct guest_thread *guest_thread_block(void)
{
    struct guest_thread *t = guest_thread;
    if (t)
        return t;
    pthread_once(&once, make_key);
    t = take_unused();
    if (!t) {
        t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (t == MAP_FAILED)
            return NULL;
        atomic_store(&t->in_use, 1);
        t->next = atomic_load(&threads);
        while (!atomic_compare_exchange_weak(&threads, &t->next, t))
            continue;
    }
    pthread_setspecific(at_end, t);
    guest_thread = t;
    return t;
}

static inline uint64_t get(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void guest_thread_add(struct guest_instance *g, struct guest_counters *c)
{
    uint64_t calls = get(&c->calls);
    atomic_fetch_add_explicit(&g->row->callbacks, calls - get(&c->added), memory_order_relaxed);
    atomic_store_explicit(&c->added, calls, memory_order_relaxed);
    atomic_fetch_add_explicit(&g->row->ns, atomic_exchange(&c->ns, 0), memory_order_relaxed);
}

unsigned guest_threads_inside(const struct guest_instance *g, int own)
{
    unsigned n = 0;
    for (struct guest_thread *t = atomic_load(&threads); t; t = t->next)
        if (own || t != guest_thread)
            n += atomic_load_explicit(&t->of[g->number].inside, memory_order_acquire) +
                 (atomic_load_explicit(&t->current, memory_order_acquire) == g);
    return n;
}

/* Another thread may be counting meanwhile: what it adds after its counter was read stays with it. */
void guest_threads_sum(struct guest_instance *g)
{
    for (struct guest_thread *t = atomic_load(&threads); t; t = t->next)
        if (get(&t->of[g->number].calls) != get(&t->of[g->number].added))
            guest_thread_add(g, &t->of[g->number]);
}

SXS_SIGSAFE const struct guest_instance *guest_current(void)
{
    const struct guest_thread *t = guest_thread;
    return t ? atomic_load_explicit(&t->current, memory_order_relaxed) : NULL;
}
