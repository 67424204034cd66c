/* SPDX-License-Identifier: MIT */
#include "rejit/methods/compiles.h"

#include <stdlib.h>

#include "base/timed_wait.h"

void sxs_compiles_init(struct sxs_compiles *c, int needed)
{
    *c = (struct sxs_compiles){.needed = needed};
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
}

static int is_own_thread(const struct sxs_compile *one)
{
    return pthread_equal(one->thread, pthread_self());
}

/* Returns an unused entry of c->reserved, or NULL when all are in use. */
static struct sxs_compile *take_reserved_locked(struct sxs_compiles *c)
{
    for (unsigned i = 0; i < SXS_COMPILES_RESERVED; i++)
        if (!(c->reserved_used & 1u << i)) {
            c->reserved_used |= 1u << i;
            return &c->reserved[i];
        }
    return NULL;
}

/* Removes the compilation at *@at. */
static struct sxs_compile **drop_locked(struct sxs_compiles *c, struct sxs_compile **at)
{
    struct sxs_compile *one = *at;
    *at = one->next;
    if (one >= c->reserved && one < c->reserved + SXS_COMPILES_RESERVED)
        c->reserved_used &= ~(1u << (one - c->reserved));
    else
        free(one);
    return at;
}

void sxs_compiles_begin(struct sxs_compiles *c, FunctionID fn, int unasked)
{
    uintptr_t           sp = (uintptr_t)__builtin_frame_address(0);
    struct sxs_compile *one;
    if (!c->needed)
        return;
    /* NULL: the compilation is not listed, so it is not allowed to inline; but see below. */
    one = malloc(sizeof(*one));
    pthread_mutex_lock(&c->lock);
    /* Compilations of this thread at the same depth of the stack, or deeper, were left by an
     * exception: the stack grows downwards. */
    for (struct sxs_compile **at = &c->all; *at;)
        at = is_own_thread(*at) && (*at)->sp <= sp ? drop_locked(c, at) : &(*at)->next;
    while (unasked && c->asking)
        pthread_cond_wait(&c->changed, &c->lock);
    if (!one && unasked) /* must be listed, because it inlines without asking */
        one = take_reserved_locked(c);
    if (one && (unasked || !c->held)) {
        *one = (struct sxs_compile){c->all, pthread_self(), fn, sp, unasked};
        c->all = one;
        one = NULL;
    }
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    free(one);
}

void sxs_compiles_end(struct sxs_compiles *c, FunctionID fn)
{
    const struct sxs_compile *ended;
    if (!c->needed)
        return;
    pthread_mutex_lock(&c->lock);
    for (ended = c->all; ended && !(is_own_thread(ended) && ended->fn == fn);)
        ended = ended->next;
    if (ended) { /* drop it, and the compilations that began within it */
        uintptr_t sp = ended->sp;
        for (struct sxs_compile **at = &c->all; *at;)
            at = is_own_thread(*at) && (*at)->sp <= sp ? drop_locked(c, at) : &(*at)->next;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
}

/* The runtime checks whether the method has new IL before it raises JITInlining. A compilation that
 * began before a request, or while one was being made, may have checked too early. Such
 * compilations are no longer in the list, so they are not allowed to inline. */
int sxs_compiles_may_inline(struct sxs_compiles *c)
{
    int may = 0;
    if (!c->needed)
        return 1;
    pthread_mutex_lock(&c->lock);
    for (struct sxs_compile *one = c->all; one && !c->held; one = one->next)
        if (is_own_thread(one)) { /* mark all of this thread's: the one that asks is not known */
            one->inlines = 1;
            may = 1;
        }
    pthread_mutex_unlock(&c->lock);
    return may;
}

static unsigned inlining_locked(const struct sxs_compiles *c)
{
    unsigned n = 0;
    for (const struct sxs_compile *one = c->all; one; one = one->next)
        n += one->inlines != 0;
    return n;
}

unsigned sxs_compiles_hold(struct sxs_compiles *c, unsigned ms, int last)
{
    uint64_t until;
    unsigned left;
    if (!c->needed)
        return 0;
    until = sxs_now_ns(CLOCK_MONOTONIC) + ms * UINT64_C(1000000);
    pthread_mutex_lock(&c->lock);
    c->held = 1;
    while ((left = inlining_locked(c)) != 0)
        if (sxs_cond_wait_until(&c->changed, &c->lock, until))
            break;
    if (last)
        left = 0;
    c->asking = !left;
    while (!left && c->all)
        drop_locked(c, &c->all);
    pthread_mutex_unlock(&c->lock);
    return left;
}

void sxs_compiles_release(struct sxs_compiles *c)
{
    if (!c->needed)
        return;
    pthread_mutex_lock(&c->lock);
    c->held = c->asking = 0;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}
