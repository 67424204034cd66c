/* SPDX-License-Identifier: MIT */
#include "tools/exceptions/thrower.h"

#include <stddef.h>

#include "base/imports.h"

#define FRAMES_MAX     64u
#define FRAME_SIZE_MAX (64u << 10) /* bytes; frames of runtimes hold a register context or two */

/* A frame that has pushed the frame pointer: the caller's frame pointer and the return address. */
struct frame {
    const struct frame *caller;
    uintptr_t           ip;
};

SXS_SIGSAFE static const struct frame *caller_of(const struct frame *f)
{
    uintptr_t here = (uintptr_t)f, next = (uintptr_t)f->caller;
    return next > here && next - here < FRAME_SIZE_MAX && next % sizeof(uintptr_t) == 0 ? f->caller
                                                                                        : NULL;
}

SXS_SIGSAFE static int is_in(const struct sxs_runtime_code *code, uintptr_t ip)
{
    return ip >= code->from && ip < code->to;
}

struct sxs_runtime_code sxs_runtime_code_find(void)
{
    struct sxs_runtime_code own = {0, 0}, code = {0, 0};
    const struct frame     *f = __builtin_frame_address(0);
    if (sxs_module_range((uintptr_t)sxs_runtime_code_find, &own.from, &own.to) != 0)
        return code;
    for (unsigned n = 0; f && n < FRAMES_MAX && is_in(&own, f->ip); n++)
        f = caller_of(f);
    if (!f || is_in(&own, f->ip) || sxs_module_range(f->ip, &code.from, &code.to) != 0)
        return (struct sxs_runtime_code){0, 0};
    return code;
}

struct sxs_thrower sxs_thrower_find(const struct sxs_runtime_code *code)
{
    const struct frame *f = __builtin_frame_address(0);
    /* From the youngest frame on: this library, the runtime that calls it, the managed code for
     * exceptions, the runtime's throw helper, the function that threw. */
    enum { LIBRARY, RUNTIME, MANAGED, HELPER } at = LIBRARY;
    for (unsigned n = 0; code->to && f && n < FRAMES_MAX; f = caller_of(f), n++) {
        int inside = is_in(code, f->ip);
        if (at == HELPER && !inside)
            return (struct sxs_thrower){(uintptr_t)&f->ip, f->ip};
        if (inside == (at == LIBRARY || at == MANAGED))
            at++;
    }
    return (struct sxs_thrower){0, 0};
}

int sxs_thrower_is_live(const struct sxs_thrower *t, uintptr_t sp)
{
    return t->slot > sp && *(const uintptr_t *)t->slot == t->value;
}
