/* SPDX-License-Identifier: MIT */
#include "base/find_object.h"

#include "base/session_state.h"

/* It is not linked, because the loader of an earlier glibc refuses a library that names a later
 * version, even in a weak reference. Set before any other code of the library's constructors. */
static int (*find_object)(void *address, struct dl_find_object *found);
SXS_SESSION_KEEPS(find_object);

__attribute__((constructor(101))) static void look_up_find_object(void)
{
    *(void **)&find_object = dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35");
}

SXS_SIGSAFE int sxs_find_object_exists(void)
{
    return find_object != NULL;
}

SXS_SIGSAFE int sxs_find_object(uintptr_t address, struct dl_find_object *found)
{
    return find_object ? find_object((void *)address, found) : -1;
}
