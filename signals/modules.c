/* SPDX-License-Identifier: MIT */
/*
 * modules.c - find the module that contains an address, and tell whether the module is a runtime.
 *
 * Called when a module registers a signal handler. sigaction() may be called anywhere: by a host in
 * a signal handler, or while its allocator's lock is held. So the functions here take no lock and
 * allocate nothing: _dl_find_object() is lock-free, and symbols are looked up in the module's own
 * hash table.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/find_object.h"
#include "base/loader.h"
#include "signals/router.h"

/* Callback of dl_iterate_phdr() for older versions of glibc. */
static int find_by_headers(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loaded_module *m = arg;
    int                   here = 0;
    (void)size;
    m->lo = UINTPTR_MAX;
    m->hi = 0;
    m->dynamic = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t lo = info->dlpi_addr + ph->p_vaddr, hi = lo + ph->p_memsz;
        if (ph->p_type == PT_DYNAMIC)
            m->dynamic = (const void *)lo;
        if (ph->p_type != PT_LOAD)
            continue;
        m->lo = lo < m->lo ? lo : m->lo;
        m->hi = hi > m->hi ? hi : m->hi;
        here |= m->addr >= lo && m->addr < hi;
    }
    if (!here)
        return 0;
    strncpy(m->path, info->dlpi_name ? info->dlpi_name : "", sizeof(m->path) - 1);
    return 1;
}

SXS_SIGSAFE int module_find(uintptr_t addr, struct loaded_module *m)
{
    struct dl_find_object found;
    memset(m, 0, sizeof(*m));
    m->addr = addr;
    if (!sxs_find_object_exists())
        return sxs_loader_each(find_by_headers, m);
    if (sxs_find_object(addr, &found) != 0)
        return 0;
    m->lo = (uintptr_t)found.dlfo_map_start;
    m->hi = (uintptr_t)found.dlfo_map_end;
    m->dynamic = found.dlfo_link_map->l_ld;
    strncpy(m->path, found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "",
            sizeof(m->path) - 1);
    return 1;
}

SXS_SIGSAFE int module_bounds(uintptr_t addr, uintptr_t *lo, uintptr_t *hi)
{
    struct dl_find_object found;
    if (sxs_find_object(addr, &found) != 0)
        return 0;
    *lo = (uintptr_t)found.dlfo_map_start;
    *hi = (uintptr_t)found.dlfo_map_end;
    return 1;
}

/* ---- exported symbols ------------------------------------------------------------------------ */

struct module_exports {
    const ElfW(Sym) * symbols;
    const char     *strings;
    const uint32_t *gnu_hash, *hash;
};

SXS_SIGSAFE static void find_exports(const struct loaded_module *m, struct module_exports *e)
{
    memset(e, 0, sizeof(*e));
    for (const ElfW(Dyn) *dyn = m->dynamic; dyn && dyn->d_tag != DT_NULL; dyn++) {
        const void *at = (const void *)dyn->d_un.d_ptr; /* made absolute by the loader */
        if ((uintptr_t)at < m->lo || (uintptr_t)at >= m->hi)
            continue;
        switch (dyn->d_tag) {
        case DT_SYMTAB: e->symbols = at; break;
        case DT_STRTAB: e->strings = at; break;
        case DT_GNU_HASH: e->gnu_hash = at; break;
        case DT_HASH: e->hash = at; break;
        default: break;
        }
    }
}

SXS_SIGSAFE static int is_named(const struct module_exports *e, uint32_t symbol, const char *name)
{
    return e->symbols[symbol].st_shndx != SHN_UNDEF &&
           strcmp(e->strings + e->symbols[symbol].st_name, name) == 0;
}

/* Looks @name up in DT_GNU_HASH. The table has four words (number of buckets, first symbol, words
 * of the Bloom filter, shift), then the filter, the buckets and the chains. */
SXS_SIGSAFE static int in_gnu_hash(const struct module_exports *e, const char *name)
{
    const uint32_t *h = e->gnu_hash;
    uint32_t        n_buckets = h[0], first = h[1], n_filter = h[2];
    const uint32_t *buckets = h + 4 + (size_t)n_filter * (sizeof(ElfW(Addr)) / sizeof(*h));
    const uint32_t *chains = buckets + n_buckets;
    uint32_t        value = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        value = value * 33 + *c;
    if (!n_buckets)
        return 0;
    for (uint32_t at = buckets[value % n_buckets]; at >= first && at != 0; at++) {
        if ((chains[at - first] | 1) == (value | 1) && is_named(e, at, name))
            return 1;
        if (chains[at - first] & 1) /* the last symbol of the chain */
            break;
    }
    return 0;
}

SXS_SIGSAFE static int exports_name(const struct module_exports *e, const char *name)
{
    if (e->gnu_hash)
        return in_gnu_hash(e, name);
    for (uint32_t i = 0; e->hash && i < e->hash[1]; i++) /* hash[1]: the number of symbols */
        if (is_named(e, i, name))
            return 1;
    return 0;
}

/* Each libcoreclr.so, single-file host and NativeAOT library exports at least one of these
 * symbols. */
SXS_SIGSAFE int module_is_runtime(const struct loaded_module *m)
{
    static const char *const marks[] = {"coreclr_initialize", "DotNetRuntimeInfo",
                                        "DotNetRuntimeDebugHeader"};
    struct module_exports    e;
    find_exports(m, &e);
    if (!e.symbols || !e.strings)
        return 0;
    for (unsigned i = 0; i < ARRAY_LEN(marks); i++)
        if (exports_name(&e, marks[i]))
            return 1;
    return 0;
}
