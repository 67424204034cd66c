/* SPDX-License-Identifier: MIT */
/* A libunwind cursor that can be started at any frame. */
#include <dlfcn.h>
#include <pthread.h>

#include "base/loader.h"
#include "base/maps.h"
#include "stackwalk/walk_internal.h"

/* Every call of libunwind is made with sxs_loader_hold(), because libunwind calls
 * dl_iterate_phdr() and has locks of its own (see base/loader.h). It is held for one call only,
 * never while a runtime is called. */
static int is_allowed(void)
{
    if (!sxs_unwind.usable || !sxs_loader_is_usable())
        return 0;
    sxs_loader_hold();
    return 1;
}

int sxs_native_open(struct sxs_native *native)
{
    int rc;
    if (!is_allowed())
        return -1;
    rc = unw_init_local(&native->cursor, &native->uc);
    sxs_loader_release();
    return rc == 0 ? 0 : -1;
}

/* libunwind reads memory at the register values without checking them, so they are checked here. */
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
    if (!is_allowed())
        return -1;
    int flags = exact_ip ? UNW_INIT_SIGNAL_FRAME : 0;
    int rc = unw_init_local2(&native->cursor, &native->uc, flags);
    sxs_loader_release();
    return rc == 0 ? 0 : -1;
}

int sxs_native_step(struct sxs_native *native)
{
    if (!is_allowed())
        return -1;
    int rc = unw_step(&native->cursor);
    sxs_loader_release();
    return rc > 0 ? 1 : rc == 0 ? 0 : -1;
}

int sxs_native_is_signal(struct sxs_native *native)
{
    if (!is_allowed())
        return 0;
    int rc = unw_is_signal_frame(&native->cursor);
    sxs_loader_release();
    return rc > 0;
}

static uintptr_t read_register(struct sxs_native *native, unw_regnum_t number)
{
    unw_word_t value = 0;
    return unw_get_reg(&native->cursor, number, &value) == 0 ? (uintptr_t)value : 0;
}

void sxs_native_regs(struct sxs_native *native, struct sxs_seed *out)
{
    out->rip = read_register(native, UNW_REG_IP);
    out->rsp = read_register(native, UNW_REG_SP);
    out->rbp = read_register(native, UNW_X86_64_RBP);
    out->rbx = read_register(native, UNW_X86_64_RBX);
    out->r12 = read_register(native, UNW_X86_64_R12);
    out->r13 = read_register(native, UNW_X86_64_R13);
    out->r14 = read_register(native, UNW_X86_64_R14);
    out->r15 = read_register(native, UNW_X86_64_R15);
}

int sxs_native_in_file(uintptr_t ip)
{
    Dl_info info;
    return dladdr((void *)ip, &info) != 0;
}

int sxs_native_is_code(uintptr_t ip)
{
    struct sxs_mapping map;
    return sxs_native_in_file(ip) ||
           (sxs_maps_find(ip, &map, NULL, 0) == 0 && map.permissions[2] == 'x');
}

/* In most cases this is the thread's own stack. An alternate or coroutine stack is found by its
 * mapping. The mapping may be larger than that stack, but it is readable, which is sufficient
 * here. */
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
    return sxs_maps_find(sp, &map, NULL, 0) == 0 ? map.end : 0;
}
