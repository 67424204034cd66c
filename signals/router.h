/* SPDX-License-Identifier: MIT */
/** router.h - what the files of signals/ share. Not for other folders. */
#ifndef SXS_ROUTER_H
#define SXS_ROUTER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <ucontext.h>

#include "signals/ranges.h"
#include "signals/signals.h"

/* The routed signals. A row's place is the signal's bit in masks. */
enum { IDX_SEGV, IDX_FPE, IDX_ILL, IDX_BUS, IDX_TRAP, IDX_ABRT, IDX_ACTIVATION, N_ROUTED };

/** Place of @sig in the table above, or -1. */
SXS_SIGSAFE int  routed_index(int sig);
SXS_SIGSAFE int  routed_signal(int idx);

typedef void (*handler_fn)(int, siginfo_t *, void *);

/** A module that registers CLR signal handlers. Written under the router's lock, read anywhere. */
struct owner {
    _Atomic(handler_fn) handler[N_ROUTED];  /* NULL: none, or not known */
    _Atomic unsigned    hidden;             /* bits: registered, but not to be found */
    _Atomic int         announced;          /* its threads are reported by own_thread() */
    _Atomic unsigned    registered;         /* bits: had a handler at any time */
    _Atomic(_Atomic uint64_t *) counter;    /* of signals handed to it */
    _Atomic uint64_t    own_counter;
    uintptr_t           text;               /* an address inside the module */
    _Atomic int         hooked;             /* its calls to sigaction & co come to us */
    char                path[512];
};

/** One signal being routed on this thread; lives on the stack of route(). Found through the signal's own
 *  context, never through thread-local storage: see router.c. */
struct route {
    siginfo_t *info;
    void      *context;
    int        sig;
    int        asking;      /* owner whose handler is running, or -1 */
    int        last_rites;  /* nobody wants it: a decline is to return */
    int        in_host;     /* the host's handler is running; what it chains to is next */
    void      *declined[5]; /* where a decline continues (__builtin_setjmp) */
};

/** Per thread; initial-exec, so that a handler can reach it without the loader or malloc. */
struct thread_state {
    uint64_t owners;  /* bit per owner this thread belongs to */
    uint64_t blocked; /* bit N - 1: the router has blocked signal N and is to unblock it (masks.c) */
    int      gave_up; /* gave_up_mark() of the owner that last put an action back on this thread, or 0 */
};

/** @owner has put the default, or what was there before it, back for signal @idx. Never 0. */
SXS_SIGSAFE static inline int gave_up_mark(int owner, int idx)
{
    return owner * N_ROUTED + idx + 1;
}

#define HOST_KEPT 4

/** The action of the host for one signal: the program's, not a runtime's. Read through host_action(). */
struct host_action {
    _Atomic unsigned generation; /* the action in force is kept[generation % HOST_KEPT] */
    struct sigaction kept[HOST_KEPT];
};

struct router {
    pthread_spinlock_t lock; /* taken with all signals blocked; no call out of this folder inside */
    int                off;
    int                preloaded;
    _Atomic int        pid; /* of the process this state belongs to: a vfork child shares it */
    _Atomic int        n_owners;
    struct owner       owners[SXS_MAX_OWNERS];
    struct sxs_ranges  ranges;
    _Atomic unsigned   installed;        /* bits: the kernel's action is the router */
    int                flags[N_ROUTED];  /* sa_flags the router is installed with */
    struct host_action host[N_ROUTED];   /* who was there before, or came later without being a CLR */
    _Atomic int        untagged;         /* a suspension signal was sent that does not name its sender */
    _Atomic int        bottom[N_ROUTED]; /* >= 0: host is known only to this owner, as its previous */
    _Atomic(_Atomic uint64_t *) unwanted;
    _Atomic uint64_t   own_unwanted;
};

extern struct router       router;
extern SXS_TLS struct thread_state sxs_thread_state;

/* The C library's own functions, past any interposition. Set by router_init(). */
struct real_calls {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*pthread_kill)(pthread_t, int);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    int (*mask_signals)(int, const sigset_t *, sigset_t *);
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
};
extern struct real_calls real;

/** Reads SXSPROF_SIGNALS, notes the pid. Idempotent. @preloaded: this copy is the preloaded one. */
void router_init(int preloaded, const struct real_calls *calls);

/** Takes the router's lock with all signals blocked; @saved is for router_unlock(). Signal-safe: nobody
 *  that holds it can be interrupted by a routed signal. */
void router_lock(sigset_t *saved);
void router_unlock(const sigset_t *saved);

/** Is that action a function, rather than the default or to be ignored? sa_handler and sa_sigaction are
 *  one member, so SA_SIGINFO makes no difference. Signal-safe. */
SXS_SIGSAFE static inline int is_function(const struct sigaction *act)
{
    return act->sa_handler != SIG_DFL && act->sa_handler != SIG_IGN;
}

/* router.c */
/** The function the kernel calls, and what runtimes are told was there before them. */
void router_entry(int sig, siginfo_t *info, void *context);

/* install.c */
/** Makes the router the kernel's action for signal @idx. @like: the action it stands in for (flags
 *  and mask are taken from it). @was: receives the action it replaced, if it was not installed yet with
 *  such flags; may be NULL. Under the lock. Returns 0 or -errno. */
int  router_install(int idx, const struct sigaction *like, struct sigaction *was);
/** The same; an action that is replaced for the first time becomes the host's. */
int  router_install_first(int idx, const struct sigaction *like);
/** The action that stands for the router in what sigaction() tells runtimes. */
void router_action(int idx, struct sigaction *out);

/* host.c: all signal-safe. */
/** Copies the host's action for signal @idx. Takes no lock and never waits for a writer. */
SXS_SIGSAFE void host_action(int idx, struct sigaction *out);
/** Makes @act the host's action for signal @idx. Under the lock. */
SXS_SIGSAFE void host_keep(int idx, const struct sigaction *act);
/** The host's action for a signal that has arrived: one with SA_RESETHAND is taken once, and is the
 *  default afterwards. Takes the lock in that case. */
SXS_SIGSAFE void host_take(int idx, struct sigaction *out);
/** Calls the host's handler @host for @r as the kernel would: with its mask, SA_NODEFER and SA_RESTART. */
SXS_SIGSAFE void host_call(const struct sigaction *host, const struct route *r);

/* masks.c */
/** Adds the signals that profilers interrupt threads by: the sampler's, and SIGPROF. Signal-safe. */
SXS_SIGSAFE void mask_add_profilers(sigset_t *set);
/** What mask_entered() is to undo when the router returns. */
struct mask_entry {
    uint64_t outer; /* what was noted before */
    uint64_t added; /* bit N - 1: it has blocked signal N itself */
};
/** Blocks the signals of profilers on this thread while signal @idx is routed, @context being the signal's,
 *  if the router runs on the alternate stack for it, and notes them. Where the kernel called the router, it has
 *  blocked them already; where a handler of the host's did, nobody has. @out: for mask_returned() if the router
 *  returns. Signal-safe. */
SXS_SIGSAFE void mask_entered(int idx, const void *context, struct mask_entry *out);
SXS_SIGSAFE void mask_returned(const struct mask_entry *entry);
/** A runtime blocks or unblocks @set on this thread, as it does when it enters or leaves the alternate stack: the signals of
 *  profilers go with it. @old: as of pthread_sigmask. Return 0 or an error number. Signal-safe. */
SXS_SIGSAFE int mask_runtimes_block(const sigset_t *set, sigset_t *old);
SXS_SIGSAFE int mask_runtimes_unblock(const sigset_t *set, sigset_t *old);
/** What sxs_signals.unblock_samples does. */
void mask_unblock_samples(void);

/* owners.c */
/** Owner whose module contains @addr, or -1. Lock-free, signal-safe. */
SXS_SIGSAFE int owner_of_module(uintptr_t addr);
SXS_SIGSAFE int owner_of_code(uintptr_t addr);
/** Registers the module that contains @addr if it looks like a runtime (or @force). Takes the lock. */
int owner_register(uintptr_t addr, int force);
/** Takes handlers over from the kernel's actions, for a runtime that registered unseen. */
int owner_adopt(uintptr_t addr, struct sxs_adoption *out);
/** After router_install() in a hook: the action it replaced may be a runtime's that is not known yet. */
void owner_take_host(int idx);
/** Not preloaded: takes over from a runtime that has registered unseen since. Before a known one sends. */
void owner_retake(void);

/* hooks.c: what runtimes' calls come to, through the preloaded library or their patched imports.
 * @caller: the return address. */
int   hook_sigaction(uintptr_t caller, int sig, const struct sigaction *act, struct sigaction *old);
int   hook_pthread_kill(uintptr_t caller, pthread_t thread, int sig);
void *hook_mmap(uintptr_t caller, void *addr, size_t len, int prot, int flags, int fd, off_t off);
int   hook_sigmask(uintptr_t caller, int how, const sigset_t *set, sigset_t *old);
int   hook_munmap(uintptr_t caller, void *addr, size_t len);
/** The value an activation carries when its sender is known; -1 when @value carries none. */
SXS_SIGSAFE int activation_sender(const siginfo_t *info);

/* threads.c */
int  hook_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
                         void *argument);
int  threads_watch(const struct sxs_thread_watch *watch);
/** Does anybody listen? The sampler does. Signal-safe. */
SXS_SIGSAFE int threads_watched(void);
/** In a forked child: nobody listens. */
void threads_forked(void);

/* guard.c */
/** What sxs_signals.guard does. */
int guard_code(const struct sxs_guarded_code *code);
/** If a guarded load raised this signal: makes @context go on where that load says. Returns 1, else 0
 *  (nothing was changed). Signal-safe. */
SXS_SIGSAFE int guard_recovers(int sig, const siginfo_t *info, void *context);

/* sample_signal.c */
/** What sxs_signals.sample_signal, .handle_samples, .check_samples and .pass_on_sample do. */
SXS_SIGSAFE int  sample_signal(void);
int              sample_handle(handler_fn handler);
int              sample_check(void);
SXS_SIGSAFE void sample_pass_on(int sig, siginfo_t *info, void *context);
/** Is the sampler's handler installed for @sig, in front of the host's? Signal-safe. */
SXS_SIGSAFE int sample_shares(int sig);
/** Does the sampler's handler run on the alternate stack? Signal-safe. */
SXS_SIGSAFE int sample_on_stack(void);
/** Adds every signal that may come to be the sample signal: sample_check() can move from one to another. */
SXS_SIGSAFE void sample_add_signals(sigset_t *set);
/** A registration for a signal that sample_shares(): changes, and tells, the host's action alone. */
int sample_sigaction(int sig, const struct sigaction *act, struct sigaction *old);

/* library.c */
/** The operations of this copy; router_init() first. */
const struct sxs_signals *router_operations(void);

/* imports.c */
/** Points the import table of the module at @addr to the hooks. Returns how many were patched. */
int imports_patch(uintptr_t addr);

/* modules.c */
/** A loaded module. */
struct module {
    uintptr_t   addr;   /* asked for */
    uintptr_t   lo, hi; /* everything that the loader mapped of it */
    const void *dynamic; /* its dynamic section; NULL: none */
    char        path[512];
};
/** The module that contains @addr. Returns 1 if there is one, else 0. Signal-safe; takes no lock. */
SXS_SIGSAFE int module_find(uintptr_t addr, struct module *m);
/** The addresses that the module around @addr takes up. Returns 0 when there is none, or before glibc 2.35.
 *  Signal-safe, in handlers too. */
SXS_SIGSAFE int module_bounds(uintptr_t addr, uintptr_t *lo, uintptr_t *hi);
/** Does it export what runtimes export? Signal-safe. */
SXS_SIGSAFE int module_is_runtime(const struct module *m);

/* reserved.c */
/** Notes that code at @caller, of an unknown module, reserved [lo, hi). Signal-safe; takes no lock. */
SXS_SIGSAFE void reserved_note(uintptr_t caller, uintptr_t lo, uintptr_t hi);
/** [lo, hi) is unmapped: notes of what lies in it are dropped. Signal-safe; takes no lock. */
SXS_SIGSAFE void reserved_forget(uintptr_t lo, uintptr_t hi);
/** Are there notes? Signal-safe. */
SXS_SIGSAFE int reserved_any(void);
/** What code of @m reserved becomes code of @owner. Under the router's lock. */
void reserved_give(const struct module *m, int owner);
/** Were there more reservations than notes? Then those of a runtime may be missing. */
int reserved_lost(void);

/* maps.c */
/** Gives executable mappings found in /proc/self/maps to the owners they belong to. */
void maps_scan(void);

/* chain.c */
/** Finds, in the code of @handler for @sig, the variable in which its module keeps the action that
 *  was there before. Returns its address, or NULL. */
struct sigaction *chain_previous(int owner, handler_fn handler);
/** The same for a runtime that registered over a handler that is no runtime's. */
struct sigaction *chain_host(int owner, handler_fn handler);

#endif
