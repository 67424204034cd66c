/* SPDX-License-Identifier: MIT */
#include "callback/copies.h"

#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "base/loader.h"

/* What other copies read. They find it by the second name, which therefore never changes. This copy uses the
 * first one: the loader may take the second one for that of a copy that the program is linked with. */
static int            mark;
SXS_EXPORT extern int sxsprof_is_at_work __attribute__((alias("mark")));

static _Atomic int works; /* 1: decided, and not taken back */

#define MARK "sxsprof_is_at_work"
#define SIGN "sxsprof_print_stack" /* every version of the library exports it */

/* The tables of a loaded library by which its exports are found. */
struct library_exports {
    const ElfW(Sym) *symbols;
    const char     *strings;
    const uint32_t *hash; /* DT_GNU_HASH */
    uintptr_t       bias;
};

/* Whether an address of a dynamic section is relocated depends on the loader. */
static const void *table_at(uintptr_t bias, uintptr_t address)
{
    return (const void *)(address < bias ? bias + address : address);
}

static int read_exports(const struct dl_phdr_info *info, struct library_exports *out)
{
    const ElfW(Dyn) *d = NULL;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    *out = (struct library_exports){.bias = info->dlpi_addr};
    for (; d && d->d_tag != DT_NULL; d++) {
        const void *table = table_at(info->dlpi_addr, d->d_un.d_ptr);
        if (d->d_tag == DT_SYMTAB)
            out->symbols = table;
        else if (d->d_tag == DT_STRTAB)
            out->strings = table;
        else if (d->d_tag == DT_GNU_HASH)
            out->hash = table;
    }
    return out->symbols && out->strings && out->hash;
}

static uint32_t hash_of(const char *name)
{
    uint32_t h = 5381;
    for (; *name; name++)
        h = h * 33 + (unsigned char)*name;
    return h;
}

/* Returns the address of the export @name, or NULL. */
static const void *find_export(const struct library_exports *e, const char *name)
{
    uint32_t n_buckets = e->hash[0], first = e->hash[1], n_bloom = e->hash[2], hash = hash_of(name);
    const uint32_t *buckets =
        e->hash + 4 + (size_t)n_bloom * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chains = buckets + n_buckets;
    uint32_t        i = n_buckets ? buckets[hash % n_buckets] : 0;
    for (; i >= first && i; i++) {
        const ElfW(Sym) *sym = &e->symbols[i];
        uint32_t value = chains[i - first];
        if ((value | 1) == (hash | 1) && sym->st_shndx != SHN_UNDEF &&
            strcmp(e->strings + sym->st_name, name) == 0)
            return (const void *)(e->bias + sym->st_value);
        if (value & 1)
            break;
    }
    return NULL;
}

/* The first byte of this copy; the linker defines it. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));

struct copy_search {
    int    found;
    char  *other;
    size_t size;
};

/* Looks at one loaded library. The loader's lock is held from the first to the last one, so of two copies
 * that search at once, the second one sees what the first one has decided. */
static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct copy_search    *s = arg;
    struct library_exports e;
    (void)size;
    mark = 1;
    if (info->dlpi_addr == (uintptr_t)__ehdr_start || !read_exports(info, &e) ||
        !find_export(&e, SIGN))
        return 0;
    const int *found = find_export(&e, MARK);
    if (found && !*found)
        return 0; /* it is only loaded */
    mark = 0;
    s->found = 1;
    snprintf(s->other, s->size, "%s", info->dlpi_name);
    return 1;
}

int sxs_copies_claim(char *other, size_t size)
{
    struct copy_search s = {.other = other, .size = size};
    if (works)
        return 1;
    sxs_loader_each(look_at, &s);
    works = !s.found;
    return !s.found;
}

void sxs_copies_give_up(void)
{
    works = 0;
    mark = 0;
}
