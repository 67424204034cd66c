/* SPDX-License-Identifier: MIT */
/*
 * chain.c - finding a runtime that registered its handlers unseen and was registered over.
 *
 * Runtimes that start at the same instant hide each other: the kernel names only the last one. But
 * each keeps the action it replaced in a variable of its own, and its handler's code names that
 * variable, relative to the instruction pointer. Every such operand in the handler's first bytes is
 * looked at; it counts only if it lies in the module's writable data, is aligned, and holds a
 * sigaction as a CLR registers it, with a function in another runtime's module.
 */
#include <link.h>
#include <string.h>

#include "signals/router.h"

#define LOOK_AHEAD 2048 /* bytes of code; the longest handler, for SIGSEGV, has some 700 */

struct data_range {
    uintptr_t addr;
    uintptr_t lo[8], hi[8];
    int       n;
    uintptr_t text_hi;
};

static int find_data(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct data_range *d = arg;
    int                here = 0;
    (void)size;
    d->n = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t         lo = info->dlpi_addr + ph->p_vaddr, hi = lo + ph->p_memsz;
        if (ph->p_type != PT_LOAD)
            continue;
        if (d->addr >= lo && d->addr < hi) {
            here = 1;
            d->text_hi = hi;
        }
        if ((ph->p_flags & PF_W) && d->n < 8) {
            d->lo[d->n] = lo;
            d->hi[d->n++] = hi;
        }
    }
    return here;
}

static int is_runtimes_action(const struct sigaction *act, int not_owner)
{
    int owner;
    if (act->sa_handler == SIG_DFL || act->sa_handler == SIG_IGN)
        return 0;
    if ((act->sa_flags & (SA_SIGINFO | SA_RESTART)) != (SA_SIGINFO | SA_RESTART))
        return 0;
    owner = owner_register((uintptr_t)act->sa_sigaction, 0);
    return owner >= 0 && owner != not_owner;
}

struct sigaction *chain_previous(int owner, handler_fn handler)
{
#if defined(__x86_64__)
    struct data_range    d = {.addr = (uintptr_t)handler};
    const unsigned char *code = (const unsigned char *)(uintptr_t)handler;
    if (!dl_iterate_phdr(find_data, &d))
        return NULL;
    for (size_t i = 0; i < LOOK_AHEAD && (uintptr_t)code + i + 7 < d.text_hi; i++) {
        int32_t   disp;
        uintptr_t target;
        if ((code[i] & 0xfb) != 0x48 || (code[i + 1] != 0x8d && code[i + 1] != 0x8b) ||
            (code[i + 2] & 0xc7) != 0x05)
            continue; /* lea or mov, 64 bits, RIP-relative */
        memcpy(&disp, code + i + 3, sizeof(disp));
        target = (uintptr_t)code + i + 7 + (uintptr_t)(intptr_t)disp;
        for (int k = 0; k < d.n; k++) {
            struct sigaction *act = (struct sigaction *)target;
            if (target % sizeof(void *) == 0 && target >= d.lo[k] &&
                target + sizeof(*act) <= d.hi[k] && is_runtimes_action(act, owner))
                return act;
        }
    }
#endif
    (void)owner;
    (void)handler;
    return NULL;
}
