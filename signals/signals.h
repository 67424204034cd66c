/* SPDX-License-Identifier: MIT */
/**
 * signals.h - the interface of the signal router, which serves all runtimes of a process.
 *
 * Each CLR installs process-wide handlers for SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGABRT and
 * SIGRTMIN and assumes that it is the only runtime in the process. The router is installed instead
 * of these handlers and calls the handler of the runtime that a signal belongs to. The router at
 * work is either the copy in the preloaded library, which sees every registration of a handler, or
 * the copy in libsxsprof.so, which takes the handlers over when a runtime creates its profiler.
 * Only one copy is at work in a process; sxs_signals() returns it. The page
 * docs/internals/signals.md has the details.
 *
 * An owner is a module that registered such handlers: a libcoreclr.so, a single-file host or a
 * NativeAOT library. Owners are numbered from 0. They are never removed, because runtimes never
 * unload.
 */
#ifndef SXS_SIGNALS_SIGNALS_H
#define SXS_SIGNALS_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>

#include "base/base.h"

/** The signals that the router serves, except SIGRTMIN, which is no constant. */
#define SXS_FAULT_SIGNALS SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGABRT

#define SXS_MAX_OWNERS       64
#define SXS_SIGNALS_VERSION  1u
#define SXS_SIGNALS_SYMBOL   "sxsprof_signals_v1"

/** The result of adopt(), from which the caller logs the signals that could not be protected. */
struct sxs_adoption {
    unsigned taken;  /* bit i: this owner's handler for routed signal i is known and routed */
    unsigned hidden; /* bit i: no handler of this owner for routed signal i is known. A runtime that
                      * registered over it hides it, or there is none */
    int      hooked; /* nonzero: the router sees this owner's later registrations and activations */
};

/** A listener for the start and end of threads that pthread_create() makes. Both functions are
 *  called on the thread concerned, with no lock held. */
struct sxs_thread_watch {
    /** started - called before the thread's start routine runs.
     *  @stack_lo, @stack_hi: all frames of the thread lie between these addresses; the guard area
     *  may lie between them, too. Both are 0 if the stack is not known.
     *  May do anything that is allowed on an ordinary thread. errno is kept. */
    void (*started)(uintptr_t stack_lo, uintptr_t stack_hi);
    /** ended - called after the start routine has returned, or after pthread_exit() or
     *  cancellation, from a destructor of thread-specific data. Not called for threads that still
     *  run when the process ends. */
    void (*ended)(void);
};

struct sxs_guarded_code; /* base/guarded.h */

#define SXS_CRASH_WATCHERS 4

/** A function that is called when the process is about to end by @sig. @ip, @sp: address of the
 *  interrupted instruction and stack pointer of the thread that crashed, which calls it. */
typedef void sxs_crash_watcher(int sig, uintptr_t ip, uintptr_t sp);

/** The router's operations. This is version 1; later versions only append members. */
struct sxs_signals {
    uint32_t version;
    uint32_t size;      /* sizeof(struct sxs_signals) */
    int      preloaded; /* nonzero: every registration in the process goes through the router */
    int      off;       /* nonzero: SXSPROF_SIGNALS=off. No signal is routed; adopt(), guard() and
                         * watch_threads() return -ENOTSUP */
    /**
     * adopt - take over the handlers of the module that contains @addr.
     * @out: receives the result; may be NULL.
     * Returns the owner's number, or -ENOENT (no module there), -ENOSPC (too many owners), -ENOTSUP
     * (off). Idempotent. Any thread; takes the router's lock; not signal-safe.
     */
    int (*adopt)(uintptr_t addr, struct sxs_adoption *out);
    /** announces - declare that all threads of @owner are reported by own_thread() from now on. */
    void (*announces)(int owner);
    /** own_thread - set whether the calling thread belongs to @owner. @belongs: nonzero if it does.
     *  Signal-safe. */
    void (*own_thread)(int owner, int belongs);
    /** count_into - count the signals that are handed to @owner in @counter from now on.
     *  @counter: borrowed; must stay valid until the last signal of the process. Signals counted so
     *  far are added to it. NULL: use the router's own counter again. */
    void (*count_into)(int owner, _Atomic uint64_t *counter);
    /** count_unwanted_into - like count_into(), for routed signals that no runtime handled. */
    void (*count_unwanted_into)(_Atomic uint64_t *counter);
    /** find_ip - return the owner whose code contains @ip, or -1. The code of an owner is its
     *  module and the executable memory that the module mapped. Lock-free; signal-safe; any
     *  thread. */
    int (*find_ip)(uintptr_t ip);
    /** path - return the path of @owner's module, or "" if it is not known. The string is borrowed
     *  and valid until the process ends. */
    const char *(*path)(int owner);
    /**
     * watch_threads - call @watch for each thread that starts or ends from now on. In a forked
     * child @watch is not called any more.
     * @watch: static.
     * If preloaded, all threads of the process are reported that pthread_create() makes; else those
     * that runtimes make by it. Not reported are C11 threads, threads made by clone() directly, and
     * some threads while about 1,000 threads are being created at once.
     * Returns 0, -EBUSY (there is a listener already), -ENOTSUP (off), or another -errno, after which
     * it may be called again. It succeeds once per process. Any thread; not signal-safe.
     */
    int (*watch_threads)(const struct sxs_thread_watch *watch);
    /**
     * guard - recover from SIGSEGV and SIGBUS raised by the guarded loads of @code from now on: the
     * thread continues at the address in the load's table entry, and no other handler is called.
     * @code: static; only the first table of the process is used.
     * Returns 1 if all such faults are certain to reach the router, because it is preloaded and is
     * the kernel's action for both signals; 0 if another handler may be called first; -ENOTSUP
     * (off). Idempotent. Any thread; not signal-safe.
     */
    int (*guard)(const struct sxs_guarded_code *code);
    /**
     * sample_signal - return the number of the sample signal, by which the sampler interrupts
     * threads. The host has no handler for the signal, if there is such a signal. The default
     * action of the signal may be to end the process: what the sampler sends must carry SI_TIMER,
     * so that it does not stay pending across execve; else see harmless_sample().
     * The first call chooses the signal; only check_samples() and harmless_sample() change it.
     * Works with SXSPROF_SIGNALS=off too. Any thread; signal-safe.
     */
    int (*sample_signal)(void);
    /**
     * handle_samples - install @handler for the sample signal.
     * @handler: static code; NULL: give the signal back to the host: its own action is in force
     * again, and the next call of sample_signal() may choose another signal. @handler must call pass_on_sample() for
     * signals that the sampler did not send.
     * Runs with all signals blocked except those that an instruction raises. Runs on the alternate
     * stack only if a handler of the host does (sample_uses_stack()).
     * Returns 0 or -errno. Not signal-safe.
     */
    int (*handle_samples)(void (*handler)(int sig, siginfo_t *info, void *context));
    /**
     * check_samples - check whether the host has registered a handler for the sample signal, and
     * move to another signal if so and one is free. One thread calls this function from time to
     * time.
     * Returns the sample signal, which may have changed, or -EBUSY if the host's handler has
     * replaced the sampler's, which happens without preload, and there is no other signal. Not
     * signal-safe.
     */
    int (*check_samples)(void);
    /** pass_on_sample - call the host's own handler for @sig, if there is one, as the kernel would
     *  have called it. The host's handler may leave by a jump, so this function may not return.
     *  Signal-safe. */
    void (*pass_on_sample)(int sig, siginfo_t *info, void *context);
    /** sample_uses_stack - tell whether the sampler's handler runs on alternate stacks. If so, a
     *  runtime that leaves its SIGSEGV handler by a jump leaves the sample signal blocked, and the
     *  sampler must call unblock_samples() when a catch block begins. Signal-safe. */
    int (*sample_uses_stack)(void);
    /** unblock_samples - unblock the signals that the router has blocked on the calling thread;
     *  signals that the host has blocked stay blocked. Called by a thread that has left its SIGSEGV
     *  handler. Not signal-safe. */
    void (*unblock_samples)(void);
    /**
     * watch_crashes - call @crashed when the process is about to end by a routed signal that nobody
     * handles, before a runtime writes its crash dump. When several threads crash at the same time,
     * the first one makes the only call, and the others wait for its end.
     * @crashed: static code; async-signal-safe. Called for the rest of the process's life. A function
     * that is given twice is called once. Any thread. Returns 0, or -ENOSPC when there are
     * SXS_CRASH_WATCHERS others.
     */
    int (*watch_crashes)(sxs_crash_watcher *crashed);
    /**
     * library_thread - say that the calling thread is one of the library's own, on which no handler
     * of the host shall run. The kernel may choose it for a routed signal that was sent to the
     * process, because signals of runtimes are not blocked there. Such a signal is blocked on this
     * thread then, and sent to the process again. Its si_pid and si_uid are those of this process
     * if kill() sent it; otherwise it arrives unchanged. Signal-safe.
     */
    void (*library_thread)(void);
    /**
     * harmless_sample - choose a sample signal whose default action is to do nothing, because one
     * may stay pending across execve, until handle_samples(NULL) is called. If another one had been
     * chosen, @handler of handle_samples() stays installed for that, too.
     * Returns the sample signal. Any thread, one at a time; not signal-safe.
     */
    int (*harmless_sample)(void);
    /**
     * ended - say that the runtime @owner has ended, while the process may go on. If there are other
     * runtimes, SIGTERM goes to them from now on, or to the action that the first of them replaced.
     * -1: nothing is done. Any thread; takes the router's lock; not signal-safe.
     */
    void (*ended)(int owner);
};

/** sxs_signals - return the operations of the router at work in this process. The first call
 *  chooses the router. Any thread; not signal-safe. */
const struct sxs_signals *sxs_signals(void);

#endif
