/* SPDX-License-Identifier: MIT */
/*
 * imports.c - change the import slots of a loaded module.
 *
 * Each imported function has one slot (R_X86_64_JUMP_SLOT or GLOB_DAT). With eager binding it holds
 * the address of the function from load time on, otherwise from the first call on. Slots are found
 * by the names of their symbols. A slot in a read-only page is made writable by mprotect() during
 * the change.
 */
#include "base/imports.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/arch.h"
#include "base/base.h"
#include "base/fork.h"
#include "base/loader.h"

/* The tables of one module that are needed to find its import slots. */
struct import_tables {
    uintptr_t         addr, bias; /* an address in the module; its load bias */
    const ElfW(Sym)  *symbols;
    const char       *strings;
    const ElfW(Rela) *rela[2];            /* DT_JMPREL and DT_RELA; NULL: none */
    size_t            n_rela[2];          /* entries of each */
    uintptr_t         relro_lo, relro_hi; /* read-only after relocation; half-open */
    uintptr_t         lo, hi;             /* of all its segments; half-open */
};

static void read_dynamic(struct import_tables *t, const ElfW(Dyn) * dyn)
{
    size_t plt_size = 0, rela_size = 0;
    for (; dyn->d_tag != DT_NULL; dyn++) {
        switch (dyn->d_tag) {
        case DT_SYMTAB: t->symbols = (const void *)dyn->d_un.d_ptr; break;
        case DT_STRTAB: t->strings = (const void *)dyn->d_un.d_ptr; break;
        case DT_JMPREL: t->rela[0] = (const void *)dyn->d_un.d_ptr; break;
        case DT_RELA: t->rela[1] = (const void *)dyn->d_un.d_ptr; break;
        case DT_PLTRELSZ: plt_size = dyn->d_un.d_val; break;
        case DT_RELASZ: rela_size = dyn->d_un.d_val; break;
        default: break;
        }
    }
    t->n_rela[0] = plt_size / sizeof(ElfW(Rela));
    t->n_rela[1] = rela_size / sizeof(ElfW(Rela));
}

static int find_tables(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct import_tables *t = arg;
    const ElfW(Dyn)  *dyn = NULL;
    uintptr_t         first = UINTPTR_MAX, last = 0;
    int               here = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uintptr_t         lo = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type == PT_LOAD) {
            here |= t->addr >= lo && t->addr < lo + ph->p_memsz;
            first = lo < first ? lo : first;
            last = lo + ph->p_memsz > last ? lo + ph->p_memsz : last;
        } else if (ph->p_type == PT_DYNAMIC) {
            dyn = (const void *)lo;
        } else if (ph->p_type == PT_GNU_RELRO) {
            t->relro_lo = lo;
            t->relro_hi = lo + ph->p_memsz;
        }
    }
    if (!here)
        return 0;
    t->bias = info->dlpi_addr;
    t->lo = first;
    t->hi = last;
    if (dyn)
        read_dynamic(t, dyn);
    return 1;
}

/* Held while a page is writable: another thread that changed a slot of the same page would make it
 * read-only again meanwhile. */
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
SXS_FORK_RESETS(writing);

/* Writes @value to @slot. Returns 1, or 0 if the page cannot be made writable. */
static int write_slot(const struct import_tables *t, void **slot, void *value)
{
    uintptr_t page = (uintptr_t)slot & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    size_t    size = (size_t)sysconf(_SC_PAGESIZE);
    int       sealed = (uintptr_t)slot >= t->relro_lo && (uintptr_t)slot < t->relro_hi;
    if (sealed && mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0)
        return 0;
    __atomic_store_n(slot, value, __ATOMIC_RELEASE);
    if (sealed)
        mprotect((void *)page, size, PROT_READ);
    return 1;
}

int sxs_imports_replace(uintptr_t addr, const struct sxs_import *imports, size_t n)
{
    struct import_tables t = {.addr = addr};
    int                  patched = 0;
    if (!sxs_loader_each(find_tables, &t) || !t.symbols || !t.strings)
        return 0;
    pthread_mutex_lock(&writing);
    for (int table = 0; table < 2; table++) {
        for (size_t i = 0; t.rela[table] && i < t.n_rela[table]; i++) {
            const ElfW(Rela) *rela = &t.rela[table][i];
            unsigned          type = (unsigned)ELF64_R_TYPE(rela->r_info);
            const char       *name = t.strings + t.symbols[ELF64_R_SYM(rela->r_info)].st_name;
            void            **slot = (void **)(t.bias + rela->r_offset);
            if (!sxs_elf_is_import(type))
                continue;
            for (size_t k = 0; k < n; k++)
                if (strcmp(name, imports[k].name) == 0 && *slot != imports[k].hook)
                    patched += write_slot(&t, slot, imports[k].hook);
        }
    }
    pthread_mutex_unlock(&writing);
    return patched;
}

int sxs_module_range(uintptr_t addr, uintptr_t *from, uintptr_t *to)
{
    struct import_tables t = {.addr = addr};
    if (!sxs_loader_each(find_tables, &t))
        return -1;
    *from = t.lo;
    *to = t.hi;
    return 0;
}
