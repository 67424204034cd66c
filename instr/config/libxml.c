/* SPDX-License-Identifier: MIT */
#define CONFIG_LIBXML_OWN
#include "instr/config/libxml.h"

#include <dlfcn.h>
#include <pthread.h>

#include "base/session_state.h"
#include "base/base.h"
#include "base/own_library.h"
#include "sxs_sonames.h"

/* The headers are those of the first. libxml2 2.14 has another soname than earlier versions,
 * because it removed old functions. */
static const char *const sonames[] = {SXS_LIBXML2_SONAMES};

struct config_libxml config_libxml;
SXS_SESSION_KEEPS(config_libxml);

static const char    *lacks = "libxml2 was not loaded";
SXS_SESSION_KEEPS(lacks);
static pthread_once_t once = PTHREAD_ONCE_INIT;
SXS_SESSION_KEEPS(once);

/* Stores the address of a function or variable in *out, which may be a pointer of any type, as
 * POSIX requires for dlsym(). Returns 0, or -1 when it is not found. */
static int find_symbol(void *library, const char *name, void **out)
{
    *out = dlsym(library, name);
    return *out ? 0 : -1;
}

/* Is the layout of a parser context that of the headers? The other files access its members
 * directly. If the library has xmlCtxtGetPrivate(), checks that this function reads the member
 * where the headers have it; otherwise assumes that the layout is known. */
static int has_known_layout(void *library)
{
    void *(*get_private)(xmlParserCtxtPtr ctxt);
    xmlParserCtxtPtr ctxt;
    int              same;
    if (find_symbol(library, "xmlCtxtGetPrivate", (void **)&get_private) != 0)
        return 1;
    ctxt = config_libxml.xmlNewParserCtxt_();
    if (!ctxt)
        return 1;
    ctxt->_private = &same;
    same = get_private(ctxt) == &same;
    ctxt->_private = NULL;
    config_libxml.xmlFreeParserCtxt_(ctxt);
    return same;
}

static void load_library(void)
{
    void *library = sxs_own_library_open(sonames, ARRAY_LEN(sonames)); /* never unloaded */
    int   bad = 0;
    if (!library) {
        lacks = "libxml2 cannot be loaded: no " SXS_LIBXML2_SONAME " (Debian: libxml2)";
        return;
    }
#define FIND(name) bad |= find_symbol(library, #name, (void **)&config_libxml.name##_);
    CONFIG_LIBXML_FUNCTIONS(FIND)
    bad |= find_symbol(library, "xmlFree", (void **)&config_libxml.free_);
    lacks = bad                          ? "libxml2 lacks a function"
            : !has_known_layout(library) ? "libxml2 is of a version that is not known"
                                         : NULL;
}

const char *config_libxml_open(void)
{
    pthread_once(&once, load_library);
    return lacks;
}
