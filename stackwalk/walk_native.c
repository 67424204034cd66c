/* SPDX-License-Identifier: MIT */
/* libunwind behind a cursor that can be set down in any frame. */
#include <dlfcn.h>
#include <pthread.h>

#include "stackwalk/maps_internal.h"
#include "stackwalk/walk_internal.h"

int sxs_native_open(struct sxs_native *native)
{
    return unw_init_local(&native->cursor, &native->uc) == 0 ? 0 : -1;
}

/* libunwind reads where the registers point without looking first. */
int sxs_native_seed(struct sxs_native *native, const struct sxs_seed *seed, int exact_ip,
                    uintptr_t stack_end)
{
    struct sxs_seed safe = *seed;

    if (stack_end < sizeof(uintptr_t) || seed->rsp > stack_end - sizeof(uintptr_t) ||
        seed->rsp % sizeof(uintptr_t) != 0)
        return -1;
    if (!sxs_seed_rbp_on_stack(seed, stack_end))
        safe.rbp = seed->rsp;
    sxs_seed_to_unwind(&safe, &native->uc);
    int flags = exact_ip ? UNW_INIT_SIGNAL_FRAME : 0;
    return unw_init_local2(&native->cursor, &native->uc, flags) == 0 ? 0 : -1;
}

int sxs_native_step(struct sxs_native *native)
{
    int rc = unw_step(&native->cursor);
    return rc > 0 ? 1 : rc == 0 ? 0 : -1;
}

int sxs_native_is_signal(struct sxs_native *native)
{
    return unw_is_signal_frame(&native->cursor) > 0;
}

static uintptr_t reg(struct sxs_native *native, unw_regnum_t number)
{
    unw_word_t value = 0;
    return unw_get_reg(&native->cursor, number, &value) == 0 ? (uintptr_t)value : 0;
}

void sxs_native_regs(struct sxs_native *native, struct sxs_seed *out)
{
    out->rip = reg(native, UNW_REG_IP);
    out->rsp = reg(native, UNW_REG_SP);
    out->rbp = reg(native, UNW_X86_64_RBP);
    out->rbx = reg(native, UNW_X86_64_RBX);
    out->r12 = reg(native, UNW_X86_64_R12);
    out->r13 = reg(native, UNW_X86_64_R13);
    out->r14 = reg(native, UNW_X86_64_R14);
    out->r15 = reg(native, UNW_X86_64_R15);
}

int sxs_native_in_file(uintptr_t ip)
{
    Dl_info info;
    return dladdr((void *)ip, &info) != 0;
}

int sxs_native_is_code(uintptr_t ip)
{
    struct sxs_mapping map;
    return sxs_native_in_file(ip) || (sxs_maps_find(ip, &map) == 0 && map.executable);
}

/* The thread's own stack is the usual answer; an alternate or a coroutine's stack is found by its
 * mapping, which may be larger than the stack but is readable, and that is what matters here. */
uintptr_t sxs_native_stack_end(uintptr_t sp)
{
    pthread_attr_t attr;
    void          *base = NULL;
    size_t         size = 0;

    if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        if (pthread_attr_getstack(&attr, &base, &size) != 0)
            size = 0;
        pthread_attr_destroy(&attr);
        if (sp - (uintptr_t)base < size)
            return (uintptr_t)base + size;
    }
    struct sxs_mapping map;
    return sxs_maps_find(sp, &map) == 0 ? map.end : 0;
}
