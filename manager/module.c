/* SPDX-License-Identifier: MIT */
#include "manager/module.h"

#include <dlfcn.h>
#include <stdio.h>

void sxs_module_path(uintptr_t addr, char *out, size_t size)
{
    Dl_info where;
    if (!dladdr((void *)addr, &where) || !where.dli_fname)
        where.dli_fname = "";
    snprintf(out, size, "%s", where.dli_fname);
}

uintptr_t sxs_module_base(uintptr_t addr)
{
    Dl_info where;
    return dladdr((void *)addr, &where) ? (uintptr_t)where.dli_fbase : 0;
}
