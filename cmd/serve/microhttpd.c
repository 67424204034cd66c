/* SPDX-License-Identifier: MIT */
#include "cmd/serve/microhttpd.h"

#include "cmd/output/print.h"

#include "base/own_library.h"
#include "sxs_sonames.h"

#include <stdio.h>

const struct sxs_microhttpd *sxs_microhttpd_open(void)
{
    static struct sxs_microhttpd http;
    static const char *const     names[] = {SXS_LIBMICROHTTPD_SONAME};
    void                        *library = sxs_own_library_open(names, 1);
    if (!library) {
        sxs_print_to(stderr,
                     "sxsprof: serve needs the library " SXS_LIBMICROHTTPD_SONAME
                     ": %s; on Debian and "
                     "Ubuntu the package libmicrohttpd12 has it\n",
                     dlerror());
        return NULL;
    }
#define X(name)                                                                                \
    *(void **)&http.name = dlsym(library, "MHD_" #name);                                       \
    if (!http.name) {                                                                          \
        sxs_print_to(stderr,                                                                   \
                     "sxsprof: " SXS_LIBMICROHTTPD_SONAME " has no function MHD_" #name "\n"); \
        return NULL;                                                                           \
    }
    SXS_MICROHTTPD_FUNCTIONS(X)
#undef X
    return &http;
}
