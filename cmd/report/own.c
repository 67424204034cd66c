/* SPDX-License-Identifier: MIT */
#include "cmd/report/own.h"

#include <string.h>

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *base_name(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    return sxs_base_name(sxs_model_text(m, f->file));
}

static bool is_preloaded(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    return begins_with(base_name(m, f), "libsxsprof-preload.so") ||
           begins_with(base_name(m, f), "libsxsprof-malloc.so");
}

static bool is_library(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    return f->runtime == 0 &&
           (begins_with(base_name(m, f), "libsxsprof.so") ||
            begins_with(base_name(m, f), "libsxsprof-clrie.so") || is_preloaded(m, f));
}

/* Returns true when the code that this function of the library calls can be the program's:
 * functions that the program may call itself (sxsprof_...), functions interposed before the C
 * library's, in either library, and the signal router, which calls the program's handlers. */
static bool passes_on(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    const char *name = sxs_model_text(m, f->name);
    return begins_with(name, "hook_") || begins_with(name, "sxsprof_") ||
           begins_with(name, "router_") || is_preloaded(m, f);
}

static bool is_of_runtime(const struct sxs_model_frame *f)
{
    return f->runtime != 0 || f->home != 0;
}

/* Returns true for the functions in which a provider's EventSource reacts to a session that was
 * enabled: it describes its events. */
static bool begins_session(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    const char *name = sxs_model_text(m, f->name);
    return f->runtime != 0 &&
           (begins_with(name, "System.Diagnostics.Tracing.EventSource.DoCommand(") ||
            begins_with(name, "System.Diagnostics.Tracing.EventPipeEventProvider.Callback("));
}

/* Returns true for the functions of the C library and its loader that call the library when it is
 * loaded, when a thread ends and when the process ends. */
static bool begins_or_ends(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    static const char *const callers[] = {"_dl_init",      "call_init",           "_dl_fini",
                                          "_dl_call_fini", "__run_exit_handlers", "__cxa_finalize",
                                          "__nptl_deallocate_tsd"};
    const char              *name = sxs_model_text(m, f->name);
    if (f->runtime != 0 || f->home != 0)
        return false;
    for (size_t i = 0; i < sizeof(callers) / sizeof(callers[0]); i++)
        if (begins_with(name, callers[i]))
            return true;
    return begins_with(base_name(m, f), "ld-linux");
}

/* Returns true when a call from @caller into the library is work of the library alone. */
static bool enters_library(const struct sxs_model *m, const struct sxs_model_frame *caller)
{
    return is_of_runtime(caller) || begins_or_ends(m, caller);
}

size_t sxs_own_frames(const struct sxs_model *m, const struct sxs_named *frames, size_t n,
                      bool starts_sessions)
{
    size_t leaf = 0; /* number of the library's frames at the young end */
    while (leaf < n && is_library(m, &m->frames[frames[leaf].frame]))
        leaf++;
    for (size_t i = n; i-- > leaf;) {
        const struct sxs_model_frame *f = &m->frames[frames[i].frame];
        if (starts_sessions && begins_session(m, f))
            return i + 1;
        if (i + 1 < n && is_library(m, f) && !passes_on(m, f) &&
            enters_library(m, &m->frames[frames[i + 1].frame]))
            return i + 1;
    }
    return leaf;
}

uint32_t sxs_own_frame(struct sxs_model *m)
{
    uint32_t               name = sxs_strings_add(&m->strings, SXS_OWN_NAME, strlen(SXS_OWN_NAME));
    struct sxs_model_frame f = {.name = name, .file = name, .flags = SXS_FRAME_OWN};
    return sxs_model_frame(m, &f);
}

bool sxs_own_thread(const char *name)
{
    return begins_with(name, "sxsprof");
}
