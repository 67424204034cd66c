/* SPDX-License-Identifier: MIT */
#define CONFIG_LIBXML_OWN
#include "config/libxml.h"

#include <dlfcn.h>
#include <pthread.h>

#define SONAME "libxml2.so.2"

struct config_libxml config_libxml;

static const char    *lacks = SONAME " was not loaded";
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The address of a function or variable, as a pointer of whatever type: POSIX wants it so. */
static int find(void *library, const char *name, void **out)
{
    *out = dlsym(library, name);
    return *out ? 0 : -1;
}

static void load(void)
{
    void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL); /* never unloaded */
    int   bad = 0;
    if (!library) {
        lacks = SONAME " cannot be loaded (Debian: libxml2)";
        return;
    }
#define FIND(name) bad |= find(library, #name, (void **)&config_libxml.name##_);
    CONFIG_LIBXML_FUNCTIONS(FIND)
    bad |= find(library, "xmlFree", (void **)&config_libxml.free_);
    lacks = bad ? SONAME " lacks a function" : NULL;
}

const char *config_libxml_open(void)
{
    pthread_once(&once, load);
    return lacks;
}
