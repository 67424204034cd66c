/* SPDX-License-Identifier: MIT */
/**
 * signals.h - one signal router for all the runtimes of a process.
 *
 * CLRs install process-wide handlers for SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGABRT and
 * SIGRTMIN and expect to be alone. The router takes their place and hands each signal to the runtime
 * it belongs to. It lives either in the preloaded library (then it sees every registration) or in
 * libsxsprof.so (then it takes the handlers over when a runtime creates its profiler); never in both:
 * sxs_signals() names the one that works. docs/signals.md tells the whole story.
 *
 * An owner is one module that registered such handlers: a libcoreclr.so, or a NativeAOT library.
 * Owners are numbered from 0 and never go away, as runtimes never unload.
 */
#ifndef SXS_SIGNALS_H
#define SXS_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>

#include "base/base.h"

#define SXS_MAX_OWNERS       64
#define SXS_SIGNALS_VERSION  1u
#define SXS_SIGNALS_SYMBOL   "sxsprof_signals_v1"

/** What adopt() found, for the one line that says what could not be protected. */
struct sxs_adoption {
    unsigned taken;  /* bit i: this owner's handler for routed signal i is known and routed */
    unsigned hidden; /* bit i: another runtime registered over it before it could be seen */
    int      hooked; /* nonzero: this owner's later registrations and activations are seen */
};

/** Told of threads that pthread_create makes; both on the thread itself, with no lock held. */
struct sxs_thread_watch {
    /** started - before the program's function runs. @stack_lo, @stack_hi: all its frames lie between
     *  them (the guard may too); 0: not known. May do what any thread may; errno is kept. */
    void (*started)(uintptr_t stack_lo, uintptr_t stack_hi);
    /** ended - after the program's function, pthread_exit or cancellation, from a destructor of
     *  thread-specific data. Not called for threads that live when the process ends. */
    void (*ended)(void);
};

struct sxs_guarded_code; /* base/guarded.h */

/** The router's operations. Version 1; a later version only appends. */
struct sxs_signals {
    uint32_t version;
    uint32_t size;      /* sizeof(struct sxs_signals) */
    int      preloaded; /* nonzero: every registration of the process passes through the router */
    int      off;       /* nonzero: SXSPROF_SIGNALS=off; every operation does nothing */
    /**
     * adopt - take over the handlers of the module that contains @addr.
     * @out: may be NULL. Idempotent. Any thread; takes the router's lock; not signal-safe.
     * Returns the owner's number, or -ENOENT (no module there), -ENOSPC (too many), -ENOTSUP (off).
     */
    int (*adopt)(uintptr_t addr, struct sxs_adoption *out);
    /** announces - this owner's threads are reported by own_thread() from now on. */
    void (*announces)(int owner);
    /** own_thread - the calling thread belongs to @owner (or no longer does). Signal-safe. */
    void (*own_thread)(int owner, int belongs);
    /** count_into - signals handed to @owner are counted in @counter from now on (it must outlive
     *  the process's last signal; NULL goes back to the router's own). */
    void (*count_into)(int owner, _Atomic uint64_t *counter);
    /** count_unwanted_into - the same for routed signals that no runtime wanted. */
    void (*count_unwanted_into)(_Atomic uint64_t *counter);
    /** find_ip - the owner whose code (its module, or what it mapped to run) contains @ip, or -1.
     *  Lock-free; signal-safe; any thread. */
    int (*find_ip)(uintptr_t ip);
    /** path - where @owner's module was loaded from; borrowed, for ever; "" when unknown. */
    const char *(*path)(int owner);
    /**
     * watch_threads - @watch (static) is told of threads from now on; in a forked child no longer.
     * Preloaded: those of the whole process; else those that runtimes make. C11 threads and clone() by
     * hand go unseen, as do threads when more than 1,000 are just being made.
     * Once per process. Any thread; not signal-safe.
     * Returns 0, -EBUSY (there is a listener), -ENOTSUP (off), or another -errno.
     */
    int (*watch_threads)(const struct sxs_thread_watch *watch);
    /**
     * guard - from now on a SIGSEGV or SIGBUS raised by one of @code's loads (static; one table per
     * process) lets the thread go on where the load says; nobody else learns of it.
     * Idempotent. Any thread; not signal-safe.
     * Returns 1 when all such faults are certain to reach the router: it is preloaded, and in place for
     * both signals. 0 when another handler may come first. -ENOTSUP (off).
     */
    int (*guard)(const struct sxs_guarded_code *code);
    /**
     * sample_signal - the number of the signal that interrupts threads for samples: one that does
     * nothing by default, so that one pending across execve is harmless, and that the host has no
     * handler for, if there is such a one. Chosen by the first call; changed by check_samples() alone.
     * Works with SXSPROF_SIGNALS=off too. Any thread; signal-safe.
     */
    int (*sample_signal)(void);
    /**
     * handle_samples - @handler (static) gets the sample signal from now on. Those that are not its own
     * it gives to pass_on_sample(). It runs with all signals blocked but those an instruction raises; on
     * the alternate stack only if the host's own handlers do (sample_uses_stack()).
     * Not signal-safe. Returns 0 or -errno.
     */
    int (*handle_samples)(void (*handler)(int sig, siginfo_t *info, void *context));
    /**
     * check_samples - called now and then by one thread: has the host registered over the handler,
     * where that is not seen (no preload)? Returns the sample signal, another one than before if the
     * host needs that one; -EBUSY when there is no other. Not signal-safe.
     */
    int (*check_samples)(void);
    /** pass_on_sample - calls the host's own handler for @sig, if there is one, as the kernel would
     *  have. It need not return. Signal-safe. */
    void (*pass_on_sample)(int sig, siginfo_t *info, void *context);
    /** sample_uses_stack - does the handler run on threads' alternate stacks? Then a runtime that leaves
     *  its SIGSEGV handler for good leaves the sample signal blocked: unblock_samples() is to be called
     *  when a catch block begins. Signal-safe. */
    int (*sample_uses_stack)(void);
    /** unblock_samples - unblocks on this thread what the router has blocked there; not what the host has.
     *  Called by a thread that has left its SIGSEGV handler. Not signal-safe. */
    void (*unblock_samples)(void);
};

/** The router at work in this process. The first call decides; any thread; not signal-safe. */
const struct sxs_signals *sxs_signals(void);

#endif
