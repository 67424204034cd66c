/* SPDX-License-Identifier: MIT */
#define CONFIG_LIBXML_OWN
#include "instr/config/libxml.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "base/base.h"

/* The first is what the headers are of; the second came with 2.14, which removed old functions. */
static const char *const sonames[] = {"libxml2.so.2", "libxml2.so.16"};

struct config_libxml config_libxml;

static const char    *lacks = "libxml2 was not loaded";
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The address of a function or variable, as a pointer of whatever type: POSIX wants it so. */
static int find(void *library, const char *name, void **out)
{
    *out = dlsym(library, name);
    return *out ? 0 : -1;
}

/* The members of a parser's context are used by their place in it. Where the library has a function that reads
 * one of them, it has to find it in that place. */
static int has_known_layout(void *library)
{
    void *(*get_private)(xmlParserCtxtPtr ctxt);
    xmlParserCtxtPtr ctxt;
    int              same;
    if (find(library, "xmlCtxtGetPrivate", (void **)&get_private) != 0)
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

static void load(void)
{
    void *library = NULL; /* never unloaded */
    int   bad = 0;
    for (size_t i = 0; i < ARRAY_LEN(sonames) && !library; i++)
        library = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        lacks =
            "libxml2 cannot be loaded, neither libxml2.so.2 nor libxml2.so.16 (Debian: libxml2)";
        return;
    }
#define FIND(name) bad |= find(library, #name, (void **)&config_libxml.name##_);
    CONFIG_LIBXML_FUNCTIONS(FIND)
    bad |= find(library, "xmlFree", (void **)&config_libxml.free_);
    lacks = bad                          ? "libxml2 lacks a function"
            : !has_known_layout(library) ? "libxml2 is of a version that is not known"
                                         : NULL;
}

const char *config_libxml_open(void)
{
    pthread_once(&once, load);
    return lacks;
}
