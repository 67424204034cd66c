/* SPDX-License-Identifier: MIT */
/* library_signals.c - sxs_signals() of libsxsprof.so: choose the preloaded router if there is one,
 * else this library's own. */
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>

#include "base/fork.h"
#include "base/log.h"
#include "signals/router.h"

/* The C library's internal name of sigaction(), which is not interposed. */
extern int __sigaction(int sig, const struct sigaction *act, struct sigaction *old);

static const struct sxs_signals *choose(void)
{
    static const struct real_calls calls = {__sigaction, pthread_kill, mmap, munmap,
                                            pthread_sigmask, pthread_create};
    const struct sxs_signals *(*preloaded)(void);
    *(void **)&preloaded = dlsym(RTLD_DEFAULT, SXS_SIGNALS_SYMBOL);
    if (preloaded) {
        const struct sxs_signals *theirs = preloaded();
        if (theirs && theirs->version == SXS_SIGNALS_VERSION)
            return theirs;
        sxs_error("the preloaded signal library is of another version (%u, expected %u): not used",
                  theirs ? theirs->version : 0, SXS_SIGNALS_VERSION);
    }
    router_init(0, &calls);
    return router_operations();
}

const struct sxs_signals *sxs_signals(void)
{
    static pthread_mutex_t                    choosing = PTHREAD_MUTEX_INITIALIZER;
    SXS_FORK_RESETS(choosing);
    static _Atomic(const struct sxs_signals *) chosen;
    const struct sxs_signals *now = atomic_load_explicit(&chosen, memory_order_acquire);
    if (now)
        return now;
    pthread_mutex_lock(&choosing);
    now = atomic_load(&chosen);
    if (!now) {
        now = choose();
        atomic_store_explicit(&chosen, now, memory_order_release);
    }
    pthread_mutex_unlock(&choosing);
    return now;
}
