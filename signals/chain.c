/* SPDX-License-Identifier: MIT */
/*
 * chain.c - find handlers of runtimes and of the host that were replaced before the router could
 * see them.
 *
 * Runtimes that start at the same time hide each other, because the kernel reports only the action
 * that was registered last. But each runtime keeps the action that it replaced in a variable, and
 * the code of its handler addresses that variable relative to the instruction pointer. The
 * functions here check every such operand of the handler. An operand is accepted only if it is
 * aligned and lies in writable data of the module, and if the memory there holds a sigaction that
 * belongs to the right party. For a runtime, the sigaction must have the flags that a CLR uses and
 * a function in another runtime's module. For the host, it must look like an action that the kernel
 * returned.
 */
#include <link.h>
#include <string.h>

#include "arch/arch.h"
#include "base/loader.h"
#include "signals/router.h"

struct module_parts {
    uintptr_t            addr;                   /* an address in the module */
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

/* Returns the end of the function that starts at @fn, or @fn if it cannot be determined. The unwind
 * index is a table of function starts, sorted, and relative to the table's own address. The
 * function ends where the next one starts. The search must stop there, because the code of the next
 * function may address the variables of other signals. */
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

/* Tells whether @act looks like an action that a runtime other than @not_owner registered. Makes
 * that runtime an owner. */
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

/* The kernel's SA_RESTORER flag, which says that sa_restorer is set. Every action on x86-64 has it.
 * When glibc returns an action of the kernel, it leaves the flag and sa_restorer in it. */
#define HAS_RESTORER 0x04000000

/* Tells whether @act looks like an action that the kernel returned and that is not a runtime's: all
 * its flags exist, and its handler and its restorer lie in loaded modules. */
static int is_hosts_action(const struct sigaction *act, int not_owner)
{
    static const unsigned known = SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK |
                                  SA_RESTART | SA_NODEFER | SA_RESETHAND | HAS_RESTORER | 0xc00;
    struct loaded_module m;
    (void)not_owner;
    return is_function(act) && act->sa_sigaction != router_entry &&
           ((unsigned)act->sa_flags & ~known) == 0 && (act->sa_flags & HAS_RESTORER) &&
           module_find((uintptr_t)act->sa_restorer, &m) &&
           module_find((uintptr_t)act->sa_sigaction, &m) && !module_is_runtime(&m);
}

/* Copies what may be a sigaction from data of another module to @copy. Only the module knows what
 * lies there, so that the sanitizers' marks between its variables do not count. */
__attribute__((no_sanitize("address", "thread"))) static void read_candidate(
    struct sigaction *copy, const struct sigaction *at)
{
    volatile unsigned char       *to = (volatile unsigned char *)copy;
    const volatile unsigned char *from = (const volatile unsigned char *)at;
    for (size_t i = 0; i < sizeof(*copy); i++)
        to[i] = from[i];
}

/* Returns the first sigaction for which @is_wanted returns nonzero, in the variables that the code
 * of @handler addresses; NULL if there is none. */
static struct sigaction *find_action(int owner, handler_fn handler,
                                     int (*is_wanted)(const struct sigaction *, int))
{
    struct module_parts  m = {.addr = (uintptr_t)handler};
    const unsigned char *code = (const unsigned char *)(uintptr_t)handler;
    uintptr_t            end;
    if (!sxs_loader_each(find_parts, &m))
        return NULL;
    end = function_end(&m, (uintptr_t)handler);
    for (; (uintptr_t)code + SXS_ADDRESSING_BYTES <= end; code++) {
        uintptr_t target = sxs_addressed_variable(code);
        if (!target)
            continue;
        for (int k = 0; k < m.n_data; k++) {
            struct sigaction *act = (struct sigaction *)target, copy;
            if (target % sizeof(void *) != 0 || target < m.data_lo[k] ||
                target + sizeof(*act) > m.data_hi[k])
                continue;
            read_candidate(&copy, act);
            if (is_wanted(&copy, owner))
                return act;
        }
    }
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
