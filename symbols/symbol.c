/* SPDX-License-Identifier: MIT */
/* Names native code by the dynamic symbols that the loader knows, or by the symbol table in the
 * file. Separate debug files are not used. */
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/maps.h"
#include "base/safe_read.h"
#include "symbols/elf_symbols.h"
#include "symbols/name_internal.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/** The symbol table of one loaded file. */
struct loaded_symbols {
    struct loaded_symbols  *next;
    const struct link_map  *map;   /* borrowed from the loader; compared only */
    struct sxs_elf_symbols *table; /* owned; NULL: the file gives no names */
};

/* Reads the file of @map. @base: the address at which its first bytes are mapped. */
static struct sxs_elf_symbols *read_symbols(const struct link_map *map, uintptr_t base)
{
    Elf64_Ehdr head;
    if (sxs_safe_read(&head, base, sizeof(head)) != sizeof(head))
        return NULL;
    return sxs_elf_symbols_read(map->l_name[0] ? map->l_name : "/proc/self/exe", &head,
                                sizeof(head));
}

/** Returns the symbol table of @map, or NULL. Reads the file at the first call. */
static const struct sxs_elf_symbols *symbols_of(struct sxs_symbols    *symbols,
                                                const struct link_map *map, uintptr_t base)
{
    struct loaded_symbols *file = symbols->files;
    while (file && file->map != map)
        file = file->next;
    if (file)
        return file->table;
    file = calloc(1, sizeof(*file));
    if (!file)
        return NULL;
    file->map = map;
    file->table = read_symbols(map, base);
    file->next = symbols->files;
    symbols->files = file;
    return file->table;
}

/* Only a symbol whose range contains the address is used. The nearest symbol below would often be
 * the wrong one. */
static const char *local_symbol(struct sxs_symbols *symbols, uintptr_t ip,
                                const struct link_map *map, uintptr_t base, uintptr_t *offset)
{
    const struct sxs_elf_symbols *table = symbols_of(symbols, map, base);
    uint64_t                      start = 0;
    const char *name = table ? sxs_elf_symbols_find(table, ip - map->l_addr, &start) : NULL;
    if (name)
        *offset = ip - map->l_addr - (uintptr_t)start;
    return name;
}

/** Names code that belongs to no loaded file: a stub of a runtime, or other generated code. */
static void name_anonymous(uintptr_t ip, struct sxs_text *file, struct sxs_text *name)
{
    static const char  deleted[] = " (deleted)";
    char               path[256];
    struct sxs_mapping map;
    int                found = sxs_maps_find(ip, &map, path, sizeof(path)) == 0;

    if (found) {
        size_t len = strlen(path);
        if (len >= sizeof(deleted) && strcmp(path + len - (sizeof(deleted) - 1), deleted) == 0)
            path[len - (sizeof(deleted) - 1)] = '\0';
    }
    sxs_text_put_name(file, !found ? "[unmapped]" : path[0] ? base_name(path) : "[anon]");
    sxs_text_put(name, found ? "[stub]" : "[unknown]");
}

void sxs_symbol_name(struct sxs_symbols *symbols, uintptr_t ip, int exact, struct sxs_text *file,
                     struct sxs_text *name)
{
    uintptr_t        probe = ip - (exact ? 0 : 1);
    Dl_info          info;
    struct link_map *map = NULL;

    if (!dladdr1((void *)probe, &info, (void **)&map, RTLD_DL_LINKMAP) || !info.dli_fname || !map) {
        name_anonymous(probe, file, name);
        return;
    }
    sxs_text_put_name(file, info.dli_fname[0] ? base_name(info.dli_fname) : "[program]");

    const char *symbol = info.dli_sname;
    uintptr_t   offset = ip - (uintptr_t)info.dli_saddr;
    if (!symbol) {
        symbol = local_symbol(symbols, probe, map, (uintptr_t)info.dli_fbase, &offset);
        offset += ip - probe;
    }
    if (!symbol) {
        symbol = file->bytes;
        offset = ip - (uintptr_t)info.dli_fbase;
    }
    sxs_text_put_name(name, symbol);
    sxs_text_putf(name, "+0x%zx", offset);
}

void sxs_symbols_free(struct sxs_symbols *symbols)
{
    while (symbols->files) {
        struct loaded_symbols *file = symbols->files;
        symbols->files = file->next;
        sxs_elf_symbols_free(file->table);
        free(file);
    }
}
