/* SPDX-License-Identifier: MIT */
/* imports.c - make a runtime's calls reach the hooks by changing its import slots. Used without the
 * preloaded library. */
#include <sys/mman.h>

#include "base/imports.h"
#include "signals/router.h"

#define CALLER ((uintptr_t)__builtin_return_address(0))

static int import_sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
    return hook_sigaction(CALLER, sig, act, old);
}

static int import_pthread_kill(pthread_t thread, int sig)
{
    return hook_pthread_kill(CALLER, thread, sig);
}

static void *import_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
    return hook_mmap(CALLER, addr, len, prot, flags, fd, off);
}

static int import_munmap(void *addr, size_t len)
{
    return hook_munmap(CALLER, addr, len);
}

static int import_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return hook_sigmask(CALLER, how, set, old);
}

static int import_pthread_create(pthread_t *thread, const pthread_attr_t *attr,
                                 void *(*function)(void *), void *argument)
{
    return hook_pthread_create(thread, attr, function, argument);
}

static const struct sxs_import imports[] = {
    {"sigaction", (void *)import_sigaction}, {"pthread_kill", (void *)import_pthread_kill},
    {"mmap", (void *)import_mmap},           {"mmap64", (void *)import_mmap},
    {"munmap", (void *)import_munmap},       {"pthread_sigmask", (void *)import_sigmask},
    {"pthread_create", (void *)import_pthread_create},
};

int imports_patch(uintptr_t addr)
{
    return sxs_imports_replace(addr, imports, ARRAY_LEN(imports));
}
