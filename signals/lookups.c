/* SPDX-License-Identifier: MIT */
/*
 * lookups.c - functions of the C library that managed code calls by P/Invoke.
 *
 * A runtime finds the target of a P/Invoke by dlsym() with the handle of the C library. The result is
 * the C library's own function, which no preloaded library stands before. So managed code could
 * replace the sampler's handler, and its own handler would get the samples. Therefore the import slot
 * for dlsym() of each runtime leads here: for functions that register handlers, a runtime gets the
 * functions of this file. These differ from the C library's for the sample signal only: the host's
 * action is stored, and the sampler's handler stays.
 */
#include "signals/router.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/imports.h"

/* The C library's own functions; set before a runtime gets one of those below. */
static int (*_Atomic own_sigaction)(int, const struct sigaction *, struct sigaction *);
static sighandler_t (*_Atomic own_signal)(int, sighandler_t);
static sighandler_t (*_Atomic own_sysv_signal)(int, sighandler_t);

/* A child between vfork() and exec runs in this memory, but has actions of its own. */
static int is_shared(int sig)
{
    return sample_shares(sig) && (pid_t)syscall(SYS_getpid) == atomic_load(&router.pid);
}

static int looked_up_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return is_shared(sig) ? sample_sigaction(sig, act, old) : own_sigaction(sig, act, old);
}

static sighandler_t set_handler(int sig, sighandler_t handler, int flags)
{
    struct sigaction act, old;
    if (plain_action(handler, flags, &act) != 0)
        return SIG_ERR;
    return sample_sigaction(sig, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

static sighandler_t looked_up_signal(int sig, sighandler_t handler)
{
    return is_shared(sig) ? set_handler(sig, handler, SA_RESTART) : own_signal(sig, handler);
}

static sighandler_t looked_up_sysv_signal(int sig, sighandler_t handler)
{
    return is_shared(sig) ? set_handler(sig, handler, (int)(SA_RESETHAND | SA_NODEFER))
                          : own_sysv_signal(sig, handler);
}

static int is_in_c_library(void *found)
{
    Dl_info here, library;
    return dladdr(found, &here) && dladdr((void *)real.sigaction, &library) &&
           here.dli_fbase == library.dli_fbase;
}

/* Called instead of dlsym() for a handle that dlopen() has returned. */
__attribute__((used)) static void *look_up(void *handle, const char *name)
{
    static const struct {
        const char *name;
        void       *ours;
        void       *own; /* where the C library's function is stored */
    } functions[] = {
        {"sigaction", (void *)looked_up_sigaction, &own_sigaction},
        {"__sigaction", (void *)looked_up_sigaction, &own_sigaction},
        {"signal", (void *)looked_up_signal, &own_signal},
        {"bsd_signal", (void *)looked_up_signal, &own_signal},
        {"ssignal", (void *)looked_up_signal, &own_signal},
        {"sysv_signal", (void *)looked_up_sysv_signal, &own_sysv_signal},
        {"__sysv_signal", (void *)looked_up_sysv_signal, &own_sysv_signal},
    };
    void *found = dlsym(handle, name);
    for (size_t i = 0; found && name && i < ARRAY_LEN(functions); i++)
        if (strcmp(functions[i].name, name) == 0 && is_in_c_library(found)) {
            __atomic_store_n((void **)functions[i].own, found, __ATOMIC_RELEASE);
            return functions[i].ours;
        }
    return found;
}

/* dlsym() finds out by its return address which module calls it with RTLD_DEFAULT or RTLD_NEXT, so
 * it is jumped to. Its arguments are in their registers. */
__attribute__((naked)) static void import_dlsym(void)
{
    SXS_DLSYM_BODY("look_up");
}

void lookups_patch(uintptr_t addr)
{
    static const struct sxs_import imports[] = {{"dlsym", (void *)import_dlsym}};
    uintptr_t                      lo, hi, own = (uintptr_t)import_dlsym;
    if (module_bounds(addr, &lo, &hi) && own >= lo && own < hi)
        return; /* this code is linked into the runtime, and would call itself */
    sxs_imports_replace(addr, imports, ARRAY_LEN(imports));
}
