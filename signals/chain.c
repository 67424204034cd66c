/* SPDX-License-Identifier: MIT */
/*
 * chain.c - finding a runtime that registered its handlers unseen and was registered over.
 *
 * Runtimes that start at the same instant hide each other: the kernel names only the last one. But
 * each keeps the action it replaced in a variable of its own, and its handler's code names that
 * variable, relative to the instruction pointer. Every such operand in the handler is looked at; it counts
 * only if it lies in the module's writable data, is aligned, and holds a sigaction as a CLR registers it, with
 * a function in another runtime's module; or, for a handler of the host's, as the kernel told of it.
 */
#include <link.h>
#include <string.h>

#include "base/loader.h"
#include "signals/router.h"

struct module_parts {
    uintptr_t            addr;
    uintptr_t            data_lo[8], data_hi[8]; /* writable segments */
    int                  n_data;
    const unsigned char *unwind_index; /* .eh_frame_hdr */
};

static int find_parts(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module_parts *m = arg;
    int                  here = 0;
    (void)size;
    m->n_data = 0;
    m->unwind_index = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + ph->p_vaddr, hi = lo + ph->p_memsz;
        if (ph->p_type == PT_GNU_EH_FRAME)
            m->unwind_index = (const unsigned char *)lo;
        if (ph->p_type != PT_LOAD)
            continue;
        here |= m->addr >= lo && m->addr < hi;
        if ((ph->p_flags & PF_W) && m->n_data < 8) {
            m->data_lo[m->n_data] = lo;
            m->data_hi[m->n_data++] = hi;
        }
    }
    return here;
}

/* The unwind index is a sorted table of function starts, relative to itself: the function that starts
 * at @fn ends before the next one. Reading on into a neighbour would find other signals' variables. */
static uintptr_t function_end(const struct module_parts *m, uintptr_t fn)
{
    const unsigned char *index = m->unwind_index;
    uint32_t             n, lo = 0;
    /* version 1; a 4-byte pointer; a 4-byte count; pairs of 4 bytes, relative to the index */
    if (!index || index[0] != 1 || (index[1] & 0x0f) != 0x0b || index[2] != 0x03 ||
        index[3] != 0x3b)
        return fn;
    memcpy(&n, index + 8, sizeof(n));
    for (uint32_t hi = n; lo < hi;) {
        uint32_t mid = lo + (hi - lo) / 2;
        int32_t  start;
        memcpy(&start, index + 12 + (size_t)mid * 8, sizeof(start));
        if ((uintptr_t)index + (uintptr_t)(intptr_t)start <= fn)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0 || lo >= n)
        return fn;
    int32_t next;
    memcpy(&next, index + 12 + (size_t)lo * 8, sizeof(next));
    return (uintptr_t)index + (uintptr_t)(intptr_t)next;
}

static int is_runtimes_action(const struct sigaction *act, int not_owner)
{
    int owner;
    if (!is_function(act))
        return 0;
    if ((act->sa_flags & (SA_SIGINFO | SA_RESTART)) != (SA_SIGINFO | SA_RESTART))
        return 0;
    owner = owner_register((uintptr_t)act->sa_sigaction, 0);
    return owner >= 0 && owner != not_owner;
}

/* The kernel's flag for sa_restorer, which every action on x86-64 has. Glibc hands both out as they are. */
#define HAS_RESTORER 0x04000000

/* An action that the kernel told of and that is no runtime's: flags that exist, and a handler and a restorer
 * that lie in loaded modules. */
static int is_hosts_action(const struct sigaction *act, int not_owner)
{
    static const unsigned known = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK |
                                  SA_RESTART | SA_NODEFER | SA_RESETHAND | HAS_RESTORER | 0xc00;
    struct module m;
    (void)not_owner;
    return is_function(act) && act->sa_sigaction != router_entry &&
           ((unsigned)act->sa_flags & ~known) == 0 && (act->sa_flags & HAS_RESTORER) &&
           module_find((uintptr_t)act->sa_restorer, &m) &&
           module_find((uintptr_t)act->sa_sigaction, &m) && !module_is_runtime(&m);
}

/* The first action that @is_wanted, of those in variables that @handler's code names. */
static struct sigaction *find_action(int owner, handler_fn handler,
                                     int (*is_wanted)(const struct sigaction *, int))
{
#if defined(__x86_64__)
    struct module_parts  m = {.addr = (uintptr_t)handler};
    const unsigned char *code = (const unsigned char *)(uintptr_t)handler;
    uintptr_t            end;
    if (!sxs_loader_each(find_parts, &m))
        return NULL;
    end = function_end(&m, (uintptr_t)handler);
    for (; (uintptr_t)code + 7 <= end; code++) {
        int32_t   disp;
        uintptr_t target;
        if ((code[0] & 0xfb) != 0x48 || (code[1] != 0x8d && code[1] != 0x8b) ||
            (code[2] & 0xc7) != 0x05)
            continue; /* lea or mov, 64 bits, RIP-relative */
        memcpy(&disp, code + 3, sizeof(disp));
        target = (uintptr_t)code + 7 + (uintptr_t)(intptr_t)disp;
        for (int k = 0; k < m.n_data; k++) {
            struct sigaction *act = (struct sigaction *)target;
            if (target % sizeof(void *) == 0 && target >= m.data_lo[k] &&
                target + sizeof(*act) <= m.data_hi[k] && is_wanted(act, owner))
                return act;
        }
    }
#endif
    (void)owner;
    (void)handler;
    (void)is_wanted;
    return NULL;
}

struct sigaction *chain_previous(int owner, handler_fn handler)
{
    return find_action(owner, handler, is_runtimes_action);
}

struct sigaction *chain_host(int owner, handler_fn handler)
{
    return find_action(owner, handler, is_hosts_action);
}
