/* SPDX-License-Identifier: MIT */
/* runtime_calls.c - unblock the signals of runtimes on a thread of the library, and block them. */
#include "signals/library/runtime_calls.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "base/base.h"
#include "signals/signals.h"

void sxs_runtime_calls_begin(void)
{
    static const int          faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    const struct sxs_signals *signals = sxs_signals();
    sigset_t                  set;
    if (signals->size > offsetof(struct sxs_signals, library_thread))
        signals->library_thread();
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    for (size_t i = 0; i < ARRAY_LEN(faults); i++)
        sigaddset(&set, faults[i]);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void sxs_runtime_calls_end(void)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}
