/* SPDX-License-Identifier: MIT */
#define SXS_UNWIND_OWN
#include "stackwalk/fast/unwind_library.h"

#include "base/base.h"
#include "base/own_library.h"
#include "base/session_state.h"
#include "sxs_sonames.h"

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name) /* the macros of libunwind's header give the symbol's name */

struct sxs_unwind sxs_unwind;
SXS_SESSION_KEEPS(sxs_unwind);

/* Stores the address of a function or variable in *out, which may be a pointer of any type, as
 * POSIX requires for dlsym(). Returns 1, or 0 when it is not found. */
static int find(void *library, const char *name, void **out)
{
    *out = dlsym(library, name);
    return *out != NULL;
}

/* Runs while the loader loads this library, as it would load a linked one. Later a thread may hold
 * the loader's lock and wait for the thread that asks for a stack. */
__attribute__((constructor)) static void load(void)
{
    static const char *const sonames[] = {SXS_LIBUNWIND_SONAMES};

    void *library = sxs_own_library_open(sonames, ARRAY_LEN(sonames)); /* never unloaded */
    int   usable = library != NULL;
    if (!library)
        return;
#define FIND(member, function) \
    usable = usable && find(library, NAME_OF(function), (void **)&sxs_unwind.member);
    SXS_UNWIND_FUNCTIONS(FIND)
    sxs_unwind.usable = usable;
}
