/* SPDX-License-Identifier: MIT */
/**
 * link.h - the engine of the CLR Instrumentation Engine's plug-ins is in a library of its own,
 * libsxsprof-clrie.so, which is loaded when plug-ins are wanted. This is what the two libraries give each other.
 *
 * libsxsprof-clrie.so exports one function, sxsprof_clrie_v1(). It gets the addresses of the functions that
 * needs.h lists, and returns a struct clrie_offers. It does not name libsxsprof.so as a library that it needs,
 * because the loader would take any loaded library with this soname for it, such as another copy.
 */
#ifndef SXS_CLRIE_LINK_LINK_H
#define SXS_CLRIE_LINK_LINK_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "clrie/link/needs.h"
#include "sxs_abi.h"

#define CLRIE_LIBRARY "libsxsprof-clrie.so"
#define CLRIE_ENTRY   "sxsprof_clrie_v1"

/* What both libraries must agree on: the version, and the functions in their order. */
#define CLRIE_NAME_OF(name) " " #name
#define CLRIE_AGREED        SXS_VERSION CLRIE_NEEDS(CLRIE_NAME_OF)

#define CLRIE_ONE(name) +1
enum { CLRIE_N_NEEDS = 0 CLRIE_NEEDS(CLRIE_ONE) };

/** Who calls the raw profiler that a plug-in has added. */
struct clrie_hook_user {
    void *arg;
    void (*removed)(void *arg); /* the plug-in has called RemoveRawProfilerHook() */
    void (*drop)(void *arg);    /* the engine has ended, or has called removed(): forget @arg */
};

/** What libsxsprof.so calls in libsxsprof-clrie.so. Constant; never unloaded. clrie/engine.h, clrie/log/log.h and
 *  clrie/object/strings.h describe the functions, whose names there have the prefixes in the comments. No function
 *  may be called in a signal handler; each may be called on any thread. */
struct clrie_offers {
    HRESULT (*get_class_object)(const GUID *clsid, const GUID *iid, void **out); /* clrie_ */
    void (*first_body)(IUnknown *callback, ModuleID module, mdMethodDef token,
                       const uint8_t **bytes, uint32_t *size);               /* clrie_engine_ */
    IUnknown *(*hook)(IUnknown *callback);                                   /* clrie_engine_ */
    int (*use_hook)(IUnknown *callback, const struct clrie_hook_user *user); /* clrie_engine_ */
    HRESULT (*log_instance)(IProfilerManagerLogging **out);                  /* clrie_ */
    void (*string_free)(BSTR string);                                        /* clrie_ */
    /* The locks that are initialized again in a forked child (base/fork.h). */
    pthread_mutex_t *const *locks, *const *locks_end;
};

/** The type of sxsprof_clrie_v1().
 *  @agreed: CLRIE_AGREED of the caller.
 *  @needs: CLRIE_N_NEEDS addresses, in the order of needs.h; copied.
 *  Returns NULL, and uses nothing, when the library belongs to another version of the caller. */
typedef const struct clrie_offers *clrie_entry(const char *agreed, const void *const *needs);

/**
 * clrie_link - load libsxsprof-clrie.so at the first call, from the folder of this library, or of the file that a
 * link to this library leads to.
 * Returns what it offers, or NULL when it cannot be loaded; the first call that fails prints why, in one line. It is
 * never unloaded. Any thread; takes the loader's lock; not signal-safe.
 */
const struct clrie_offers *clrie_link(void);

#endif
