/* SPDX-License-Identifier: MIT */
/*
 * environment.c - environment variables that one guest alone sees.
 *
 * The import slots of getenv and secure_getenv in the guest's library are changed to functions
 * of this file. They find the guest by the return address. Variables that other libraries read on
 * behalf of the guest, and those it reads through `environ`, are the process's.
 */
#include "guests/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "base/imports.h"
#include "base/log.h"
#include "guests/guest.h"

static struct {
    uintptr_t           from, to; /* code of the guest's library */
    const struct guest *guest;
} libraries[GUEST_MAX];
static _Atomic unsigned n_libraries;

/* Returns the value that the guest with @caller in its code has for @name, or NULL. */
static const char *own_value(uintptr_t caller, const char *name)
{
    size_t len = strlen(name);
    for (unsigned i = 0; i < atomic_load_explicit(&n_libraries, memory_order_acquire); i++) {
        const struct guest_declaration *d = &libraries[i].guest->declared;
        if (caller < libraries[i].from || caller >= libraries[i].to)
            continue;
        for (size_t k = d->n_env; k-- > 0;) /* the last one counts */
            if (strncmp(d->env[k], name, len) == 0 && d->env[k][len] == '=')
                return d->env[k] + len + 1;
    }
    return NULL;
}

static char *get_variable(const char *name)
{
    const char *value = own_value((uintptr_t)__builtin_return_address(0), name);
    return (char *)(uintptr_t)(value ? value : sxs_env_named(name));
}

static char *get_variable_securely(const char *name)
{
    const char *value = own_value((uintptr_t)__builtin_return_address(0), name);
    return (char *)(uintptr_t)(value ? value : sxs_env_named_securely(name));
}

void guest_environment_provide(struct guest *guest)
{
    static const struct sxs_import imports[] = {
        {"getenv", (void *)(uintptr_t)get_variable},
        {"secure_getenv", (void *)(uintptr_t)get_variable_securely},
        {"__secure_getenv", (void *)(uintptr_t)get_variable_securely},
    };
    uintptr_t at = (uintptr_t)guest->get_class_object;
    unsigned  n = atomic_load(&n_libraries);
    if (!guest->declared.n_env)
        return;
    if (n == GUEST_MAX || sxs_module_range(at, &libraries[n].from, &libraries[n].to) != 0) {
        sxs_error("%s: its own environment variables cannot be provided", guest->title);
        return;
    }
    libraries[n].guest = guest;
    atomic_store_explicit(&n_libraries, n + 1, memory_order_release);
    if (!sxs_imports_replace(at, imports, ARRAY_LEN(imports)))
        sxs_warn("%s does not import getenv: it may not see its own environment variables",
                 guest->title);
}
