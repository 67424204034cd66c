/* SPDX-License-Identifier: MIT */
#include "cmd/report/cost_stacks.h"

#include <string.h>

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_library(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    return f->runtime == 0 && begins_with(sxs_base_name(sxs_model_text(m, f->file)), "libsxsprof");
}

/* Returns true for frames of the runtime that delivers an event, or decides to. */
static bool is_of_event(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    return f->runtime ? begins_with(sxs_model_text(m, f->name),
                                    "System.Diagnostics.Tracing.NativeRuntimeEventSource.")
                      : f->home != 0;
}

/* Returns true for managed code of the runtime that takes a lock: its caller is the function that waits. */
static bool is_of_lock(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    static const char *const names[] = {"System.Threading.Monitor.", "System.Threading.Lock.",
                                        "System.Threading.Lock+", "System.Threading.Condition."};
    for (size_t i = 0; f->runtime && i < sizeof(names) / sizeof(*names); i++)
        if (begins_with(sxs_model_text(m, f->name), names[i]))
            return true;
    return false;
}

size_t sxs_cost_stack_begin(const struct sxs_model *m, const struct sxs_named *frames, size_t n,
                            enum sxs_cost_kind kind)
{
    size_t young = 0;
    bool   by_event = kind == SXS_COST_ALLOCATION || kind == SXS_COST_LOCK;
    for (; young < n; young++) {
        const struct sxs_model_frame *f = &m->frames[frames[young].frame];
        if (!is_library(m, f) && (!by_event || !is_of_event(m, f)) &&
            (kind != SXS_COST_LOCK || !is_of_lock(m, f)))
            break;
    }
    return young < n ? young : 0;
}

/* Returns true for code of the framework: its assembly is in the runtime's folder, or is named
 * like those that Microsoft ships beside. */
static bool is_framework(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    const char *file = sxs_model_text(m, f->file), *base = sxs_base_name(file);
    const char *clr = sxs_model_text(m, m->runtimes[f->runtime - 1].path);
    size_t      dir = (size_t)(base - file);
    if (dir > 1 && (size_t)(sxs_base_name(clr) - clr) == dir && strncmp(file, clr, dir) == 0)
        return true;
    return begins_with(base, "System.") || begins_with(base, "Microsoft.") || base[0] == '\0' ||
           begins_with(sxs_model_text(m, f->name), "[stub]");
}

/* Returns true for native code that allocates for others. */
static bool is_allocator(const struct sxs_model *m, const struct sxs_model_frame *f)
{
    const char *base = sxs_base_name(sxs_model_text(m, f->file));
    return begins_with(base, "libc.so") || begins_with(base, "libc-") ||
           begins_with(base, "libstdc++.so") || begins_with(base, "libc++.so");
}

bool sxs_cost_frame_is_own(const struct sxs_model *m, uint32_t frame)
{
    const struct sxs_model_frame *f = &m->frames[frame];
    return f->runtime && !(f->flags & SXS_FRAME_TYPE) && !is_framework(m, f);
}

void sxs_cost_stack_call_site(const struct sxs_model *m, const struct sxs_named *frames, size_t n,
                              uint32_t *call_site, uint32_t *callee)
{
    uint32_t managed = UINT32_MAX, own = UINT32_MAX, native = UINT32_MAX;
    for (size_t i = 0; i < n && own == UINT32_MAX; i++) {
        const struct sxs_model_frame *f = &m->frames[frames[i].frame];
        if (!f->runtime) {
            if (native == UINT32_MAX && !is_allocator(m, f))
                native = frames[i].frame;
            continue;
        }
        managed = managed == UINT32_MAX ? frames[i].frame : managed;
        own = is_framework(m, f) ? UINT32_MAX : frames[i].frame;
    }
    *callee = n ? frames[0].frame : UINT32_MAX;
    *call_site = own != UINT32_MAX       ? own
                 : managed != UINT32_MAX ? managed
                 : native != UINT32_MAX  ? native
                                         : *callee;
}
