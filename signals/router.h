/* SPDX-License-Identifier: MIT */
/** router.h - the router's state, and the functions that the files of signals/ share. Private to
 *  signals/ and its subfolders. */
#ifndef SXS_SIGNALS_ROUTER_H
#define SXS_SIGNALS_ROUTER_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>
#include <ucontext.h>

#include "signals/ranges.h"
#include "signals/signals.h"

/* Indexes of the routed signals. An index is also the number of the signal's bit in bit sets.
 * Activation is the runtimes' word for their suspension signal, SIGRTMIN. */
enum { IDX_SEGV, IDX_FPE, IDX_ILL, IDX_BUS, IDX_TRAP, IDX_ABRT, IDX_ACTIVATION, N_ROUTED };

/** routed_index - return the index of @sig, or -1 if @sig is not routed. Signal-safe.
 *  routed_signal - return the signal with index @idx. Signal-safe. */
SXS_SIGSAFE int  routed_index(int sig);
SXS_SIGSAFE int  routed_signal(int idx);

typedef void (*handler_fn)(int, siginfo_t *, void *);

/** An owner: a module that registers signal handlers as a CLR does. A new owner is filled in under
 *  the router's lock, before n_owners counts it. Its atomic members may change later. Read without
 *  a lock. */
struct signal_owner {
    _Atomic(handler_fn) handler[N_ROUTED];  /* NULL: the owner has none, or it is not known */
    _Atomic int         announced;          /* 1: all its threads are reported by own_thread() */
    _Atomic unsigned    registered;         /* bit i: has had a handler for signal i at some time */
    _Atomic(_Atomic uint64_t *) counter;    /* counts signals handed to it; NULL: own_counter */
    _Atomic uint64_t    own_counter;
    uintptr_t           text;               /* an address inside the module */
    _Atomic int         hooked;             /* 1: its calls of sigaction() etc. reach hooks.c */
    char                path[512];          /* of the module; empty if not known */
};

/** One signal that is being routed on this thread. It lies on the stack of route(). Found through
 *  the context of the signal, never through thread-local storage; signals/router.c gives the
 *  reason. */
struct route {
    siginfo_t *info;
    void      *context;
    int        sig;
    int        asking;      /* owner whose handler is running, or -1 */
    int crash_notification; /* 1: the handler runs as a crash notification, because nothing handles
                             * the signal. A decline returns to the handler */
    int        in_host;     /* 1: the host's handler is running. If it passes the signal on, the
                             * default action follows */
    void      *declined[5]; /* jump buffer (__builtin_setjmp) at which a decline continues */
};

/** The router's state of one thread. Initial-exec, so that a handler can access it without a call
 *  of the loader or malloc(). */
struct thread_state {
    uint64_t owners;  /* bit i: this thread belongs to owner i */
    uint64_t blocked; /* bit N - 1: the router has blocked signal N and must unblock it (masks.c) */
    int      gave_up; /* gave_up_mark() of this thread's last decline by sigaction(); 0: none */
    int      is_library; /* 1: a thread of the library, which runs no handler of the host */
};

/** gave_up_mark - return the number which says that @owner has declined signal @idx by registering
 *  the default action, or the action that it replaced. Never 0. */
SXS_SIGSAFE static inline int gave_up_mark(int owner, int idx)
{
    return owner * N_ROUTED + idx + 1;
}

#define HOST_KEPT 4 /* number of the latest actions that are kept for each signal */

/** The host's action for one signal, that is the action of code that is neither a runtime's nor the
 *  sampler's. Read by host_action(); written by host_keep(). */
struct host_action {
    _Atomic unsigned generation; /* the present action is kept[generation % HOST_KEPT] */
    struct sigaction kept[HOST_KEPT];
};

struct router {
    /* Guards the creation of owners; all changes of ranges, installed, flags and host; and the
     * actions that sample_signal.c stores. Taken with all signals blocked; while it is held,
     * nothing outside signals/ and the C library is called. */
    pthread_spinlock_t lock;
    int                off;              /* 1: SXSPROF_SIGNALS=off */
    int                preloaded;        /* 1: this copy is in the preloaded library */
    _Atomic int        pid;              /* process that this state belongs to; a vfork child, which
                                          * shares the memory, has another process ID */
    _Atomic int        n_owners;         /* owners[0] to owners[n_owners - 1] are complete */
    struct signal_owner owners[SXS_MAX_OWNERS];
    struct sxs_ranges  ranges;           /* code of the owners, by address */
    _Atomic unsigned   installed;        /* bit i: the router has been made the kernel's action */
    _Atomic int        flags[N_ROUTED];  /* sa_flags that the router is installed with */
    struct host_action host[N_ROUTED];   /* the action that the first runtime replaced, or that the
                                          * host has registered since */
    _Atomic int        untagged;         /* 1: a runtime's suspension signal was sent without a tag
                                          * that names the sender */
    _Atomic int        bottom[N_ROUTED]; /* the owner that registered first, if only it knows the
                                          * host's action, as the action that it replaced; else
                                          * -1 */
    _Atomic(_Atomic uint64_t *) unwanted; /* counts signals that no runtime handled; NULL:
                                           * own_unwanted */
    _Atomic uint64_t   own_unwanted;
    sxs_crash_watcher *_Atomic crashed[SXS_CRASH_WATCHERS]; /* see watch_crashes() in signals.h; unused
                                                             * ones are NULL, and come last */
};

extern struct router       router;
extern SXS_TLS struct thread_state sxs_thread_state;

/* The C library's own functions, so that the router's calls are not interposed. Set by
 * router_init(). */
struct real_calls {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*pthread_kill)(pthread_t, int);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    int (*mask_signals)(int, const sigset_t *, sigset_t *);
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
};
extern struct real_calls real;

/** router_init - initialise the router's state and read SXSPROF_SIGNALS. Later calls do nothing.
 *  @preloaded: 1 if this copy is in the preloaded library.
 *  @calls: the C library's functions; copied. */
void router_init(int preloaded, const struct real_calls *calls);

/** router_lock - block all signals and take the router's lock. @saved: receives the thread's signal
 *  mask, for router_unlock(). Signal-safe, because a thread that holds the lock cannot be
 *  interrupted by a routed signal. */
void router_lock(sigset_t *saved);
void router_unlock(const sigset_t *saved);

/** is_function - tell whether @act is a handler, and not SIG_DFL or SIG_IGN. sa_handler and
 *  sa_sigaction are members of one union, so SA_SIGINFO makes no difference. Signal-safe. */
SXS_SIGSAFE static inline int is_function(const struct sigaction *act)
{
    return act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
}

/** plain_action - make the action that signal() and functions like it register.
 *  @act: receives it. Returns 0, or -1 with errno EINVAL when @handler is SIG_ERR. */
static inline int plain_action(sighandler_t handler, int flags, struct sigaction *act)
{
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return -1;
    }
    memset(act, 0, sizeof(*act));
    act->sa_handler = handler;
    act->sa_flags = flags;
    return 0;
}

/* router.c */
/** router_entry - the router's signal handler. The kernel calls it. It is also the function that
 *  runtimes get as the action that they replaced, so they call it to decline a signal. */
void router_entry(int sig, siginfo_t *info, void *context);

/* install.c */
/** router_install - make the router the kernel's action for signal @idx.
 *  @like: the action that the router stands for; its flags and mask are used.
 *  @was: receives the replaced action. Not written if the router was installed with such flags
 *        already. May be NULL.
 *  Returns 0 or -errno. To be called under the lock. */
int  router_install(int idx, const struct sigaction *like, struct sigaction *was);
/** router_install_first - like router_install(). If the router was not installed for @idx yet, the
 *  replaced action becomes the host's action. */
int  router_install_first(int idx, const struct sigaction *like);
/** router_action - return the action that sigaction() reports to runtimes as the router's. */
void router_action(int idx, struct sigaction *out);

/* host.c: all functions are signal-safe. */
/** host_action - copy the host's action @h to @out. Takes no lock and never waits for a writer. */
SXS_SIGSAFE void host_action(const struct host_action *h, struct sigaction *out);
/** host_keep - make @act the host's action @h. To be called under the lock. */
SXS_SIGSAFE void host_keep(struct host_action *h, const struct sigaction *act);
/** host_take - copy the host's action for a signal that has arrived to @out. If the action has
 *  SA_RESETHAND, replace it by the default action for later signals; takes the lock in that
 *  case. */
SXS_SIGSAFE void host_take(struct host_action *h, struct sigaction *out);
/** host_call - call the host's handler @host for signal @sig as the kernel would: with its mask,
 *  SA_NODEFER and SA_RESTART. The handler may leave by a jump. */
SXS_SIGSAFE void host_call(const struct sigaction *host, int sig, siginfo_t *info, void *context);

/* masks.c */
/** mask_add_profilers - add the signals by which profilers interrupt threads to @set: all that can
 *  be the sample signal, and SIGPROF. Signal-safe. */
SXS_SIGSAFE void mask_add_profilers(sigset_t *set);
/** The changes by mask_entered() that mask_returned() undoes. */
struct mask_entry {
    uint64_t outer; /* sxs_thread_state.blocked before */
    uint64_t added; /* bit N - 1: mask_entered() has blocked signal N */
};
/** mask_entered - block the signals of profilers on this thread while signal @idx is routed, and
 *  record them in sxs_thread_state.blocked. Does nothing if the router does not run on the
 *  alternate stack for this signal. If the kernel called the router, these signals are blocked
 *  already by the mask of the router's action; if a handler of the host did, they may not be.
 *  @context: the context of the signal.
 *  @out: to be passed to mask_returned() when the router returns. Signal-safe. */
SXS_SIGSAFE void mask_entered(int idx, const void *context, struct mask_entry *out);
SXS_SIGSAFE void mask_returned(const struct mask_entry *entry);
/** mask_runtimes_block, mask_runtimes_unblock - block or unblock @set on this thread for a runtime,
 *  and the signals of profilers too. Runtimes make such calls when they enter or leave the
 *  alternate stack.
 *  @old: as for pthread_sigmask(). Return 0 or an error number. Signal-safe. */
SXS_SIGSAFE int mask_runtimes_block(const sigset_t *set, sigset_t *old);
SXS_SIGSAFE int mask_runtimes_unblock(const sigset_t *set, sigset_t *old);
/** mask_unblock_samples - implements sxs_signals.unblock_samples. */
void mask_unblock_samples(void);

/* owners.c */
/** owner_of_module - return the owner whose module contains @addr, or -1. Lock-free; signal-safe.
 *  owner_of_code - return the owner whose module, or other code, contains @addr, or -1. The
 *  same. */
SXS_SIGSAFE int owner_of_module(uintptr_t addr);
SXS_SIGSAFE int owner_of_code(uintptr_t addr);
/** owner_register - make the module that contains @addr an owner, if it is not one yet and if it is
 *  a runtime or @force is nonzero. Without preload, patch its imports.
 *  Returns the owner's number, -ENOENT (no such module) or -ENOSPC (too many owners). Takes the
 *  lock. Not signal-safe if it has to patch imports. */
int owner_register(uintptr_t addr, int force);
/** owner_adopt - implements sxs_signals.adopt: take over the handlers of the runtime at @addr, and
 *  of other runtimes that registered before the router could see it. */
int owner_adopt(uintptr_t addr, struct sxs_adoption *out);
/** owner_take_host - take over the runtime whose handler has become the host's action for @idx, if
 *  there is one: a runtime that registered before the router could see it. Called after a hook has
 *  installed the router. Not signal-safe. */
void owner_take_host(int idx);
/** owner_retake - without preload: if another handler than the router is the kernel's action for
 *  SIGRTMIN by now, put the router in front again. Called before a hooked runtime sends a
 *  suspension signal. */
void owner_retake(void);

/* hooks.c: the functions that run instead of the C library's for calls of runtimes. The preloaded
 * library calls them for all modules; patched imports call them for one runtime.
 * @caller: the return address of the call. */
int   hook_sigaction(uintptr_t caller, int sig, const struct sigaction *act, struct sigaction *old);
int   hook_pthread_kill(uintptr_t caller, pthread_t thread, int sig);
void *hook_mmap(uintptr_t caller, void *addr, size_t len, int prot, int flags, int fd, off_t off);
int   hook_sigmask(uintptr_t caller, int how, const sigset_t *set, sigset_t *old);
int   hook_munmap(uintptr_t caller, void *addr, size_t len);
/** activation_sender - return the owner that sent the suspension signal @info, or -1 if the signal
 *  does not carry a sender. Signal-safe. */
SXS_SIGSAFE int activation_sender(const siginfo_t *info);

/* threads.c */
int  hook_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
                         void *argument);
/** threads_watch - implements sxs_signals.watch_threads. */
int  threads_watch(const struct sxs_thread_watch *watch);
/** threads_watched - tell whether there is a listener for threads. If so, a sampler is at work.
 *  Signal-safe. */
SXS_SIGSAFE int threads_watched(void);
/** threads_forked - remove the listener, in a forked child. */
void threads_forked(void);

/* guard.c */
/** guard_code - implements sxs_signals.guard. */
int guard_code(const struct sxs_guarded_code *code);
/** guard_recovers - if a guarded load raised the signal, make @context continue at the address in
 *  the load's table entry. Returns 1 if so, or 0 without a change of @context. Signal-safe. */
SXS_SIGSAFE int guard_recovers(int sig, const siginfo_t *info, void *context);

/* sample_signal.c */
/** These implement sxs_signals.sample_signal, .harmless_sample, .handle_samples, .check_samples and
 *  .pass_on_sample. */
SXS_SIGSAFE int  sample_signal(void);
int              sample_harmless(void);
int              sample_handle(handler_fn handler);
int              sample_check(void);
SXS_SIGSAFE void sample_pass_on(int sig, siginfo_t *info, void *context);
/** sample_shares - tell whether the sampler's handler is installed for @sig instead of the host's.
 *  Signal-safe. */
SXS_SIGSAFE int sample_shares(int sig);
/** sample_on_stack - tell whether the sampler's handler runs on the alternate stack.
 *  Signal-safe. */
SXS_SIGSAFE int sample_on_stack(void);
/** sample_add_signals - add all signals that can be the sample signal to @set, because
 *  sample_check() may move from one to another. Signal-safe. */
SXS_SIGSAFE void sample_add_signals(sigset_t *set);
/** sample_sigaction - sigaction() of the host for a signal for which sample_shares() is true: set
 *  and return the host's action. The sampler's handler stays installed. */
int sample_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* library.c */
/** router_operations - return the operations of this copy. To be called after router_init(). */
const struct sxs_signals *router_operations(void);

/* imports.c */
/** imports_patch - make the imports of the module at @addr point to the hooks. Returns the number
 *  of patched slots. Not signal-safe (dl_iterate_phdr). */
int imports_patch(uintptr_t addr);

/* lookups.c */
/** lookups_patch - make the calls of dlsym() by the module at @addr reach this file, which keeps the
 *  sampler's handler in place when managed code registers one by P/Invoke. Not signal-safe
 *  (dl_iterate_phdr). */
void lookups_patch(uintptr_t addr);

/* modules.c */
/** A loaded module. */
struct loaded_module {
    uintptr_t   addr;    /* the address that was looked up */
    uintptr_t   lo, hi;  /* all addresses that the loader mapped for the module; half-open */
    const void *dynamic; /* its dynamic section; NULL: none */
    char        path[512];
};
/** module_find - find the module that contains @addr. Returns 1 if there is one, else 0.
 *  Signal-safe; takes no lock. (Before glibc 2.35 it takes the loader's lock, and is not
 *  signal-safe.) */
SXS_SIGSAFE int module_find(uintptr_t addr, struct loaded_module *m);
/** module_bounds - get the addresses of the module that contains @addr; half-open. Returns 1 if
 *  there is a module, else 0; always 0 before glibc 2.35. Signal-safe. */
SXS_SIGSAFE int module_bounds(uintptr_t addr, uintptr_t *lo, uintptr_t *hi);
/** module_is_runtime - tell whether @m exports a symbol that identifies a runtime. Signal-safe. */
SXS_SIGSAFE int module_is_runtime(const struct loaded_module *m);

/* reserved.c */
/** reserved_note - record that code at @caller, in a module that is no owner, reserved [lo, hi).
 *  Signal-safe; takes no lock. */
SXS_SIGSAFE void reserved_note(uintptr_t caller, uintptr_t lo, uintptr_t hi);
/** reserved_forget - drop the recorded reservations that lie inside [lo, hi), which is being
 *  unmapped. Signal-safe; takes no lock. */
SXS_SIGSAFE void reserved_forget(uintptr_t lo, uintptr_t hi);
/** reserved_any - tell whether any reservation is recorded. Signal-safe. */
SXS_SIGSAFE int reserved_any(void);
/** reserved_give - make the reservations by code of @m code ranges of @owner. To be called under
 *  the router's lock. */
void reserved_give(const struct loaded_module *m, int owner);
/** reserved_lost - tell whether there were more reservations than can be recorded. If so, a
 *  reservation of a runtime may be missing. */
int reserved_lost(void);

/* maps.c */
/** maps_scan - read /proc/self/maps and record executable mappings as code of their owners. Not
 *  signal-safe. */
void maps_scan(void);

/* terminate.c */
/** terminate_sigaction - sigaction() for SIGTERM. Records the action that a runtime replaces, and
 *  installs no handler of a runtime that has ended. Signal-safe. */
SXS_SIGSAFE int terminate_sigaction(uintptr_t caller, const struct sigaction *act,
                                    struct sigaction *old);
/** terminate_ended - implements sxs_signals.ended. */
void terminate_ended(int owner);

/* chain.c */
/** chain_previous - find the variable in which @owner keeps the action that its handler replaced,
 *  by the code of @handler. Only actions of other runtimes are found.
 *  Returns the address of the variable, or NULL. Not signal-safe. */
struct sigaction *chain_previous(int owner, handler_fn handler);
/** chain_host - like chain_previous(), but only actions of the host are found. */
struct sigaction *chain_host(int owner, handler_fn handler);

#endif
