/* SPDX-License-Identifier: MIT */
/* Names native code by the dynamic symbols that the loader knows, or by the file's own symbol
 * table through libdw. */
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <link.h>
#include <string.h>

#include "base/maps.h"
#include "symbols/name_internal.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Separate debug files are not used, because libdw might request them from a server on the
 * network. */
static int no_debug_info(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
                         const char *file, const char *debuglink, GElf_Word crc, char **debuginfo)
{
    (void)mod, (void)userdata, (void)modname, (void)base, (void)file;
    (void)debuglink, (void)crc, (void)debuginfo;
    return -1;
}

static int no_other_elf(Dwfl_Module *mod, void **userdata, const char *modname, Dwarf_Addr base,
                        char **file, Elf **elf)
{
    (void)mod, (void)userdata, (void)modname, (void)base, (void)file, (void)elf;
    return -1;
}

static const Dwfl_Callbacks file_only = {
    .find_elf = no_other_elf,
    .find_debuginfo = no_debug_info,
};

/** Returns the module that contains @ip. It is reported to libdw if that was not done before. */
static Dwfl_Module *module_at(struct sxs_symbols *symbols, uintptr_t ip, const struct link_map *map)
{
    const char *path = map->l_name[0] ? map->l_name : "/proc/self/exe";

    if (!symbols->dwfl)
        symbols->dwfl = dwfl_begin(&file_only);
    if (!symbols->dwfl)
        return NULL;
    Dwfl_Module *mod = dwfl_addrmodule(symbols->dwfl, ip);
    if (mod)
        return mod;
    dwfl_report_begin_add(symbols->dwfl);
    dwfl_report_elf(symbols->dwfl, path, path, -1, map->l_addr, true);
    dwfl_report_end(symbols->dwfl, NULL, NULL);
    return dwfl_addrmodule(symbols->dwfl, ip);
}

static const char *local_symbol(struct sxs_symbols *symbols, uintptr_t ip,
                                const struct link_map *map, uintptr_t *offset)
{
    GElf_Off     off = 0;
    GElf_Sym     sym;
    Dwfl_Module *mod = module_at(symbols, ip, map);
    const char  *name = mod ? dwfl_module_addrinfo(mod, ip, &off, &sym, NULL, NULL, NULL) : NULL;

    /* Only a symbol whose range contains the address is used. The nearest symbol below would
     * often be the wrong one. */
    if (!name || !name[0] || off >= sym.st_size)
        return NULL;
    *offset = (uintptr_t)off;
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
        symbol = local_symbol(symbols, probe, map, &offset);
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
    if (symbols->dwfl)
        dwfl_end(symbols->dwfl);
    symbols->dwfl = NULL;
}
