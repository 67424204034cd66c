/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/native.h"

#include "cmd/output/must.h"
#include "cmd/symbols/debuginfod.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* how far a symbol without a size names the code after it, in bytes */
#define UNSIZED_REACH 4096

struct native_file {
    char        *path; /* owned */
    uint8_t      build_id[20];
    size_t       build_id_size;
    bool         tried;
    const char  *problem;
    uint32_t     place;  /* in lookup.table */
    uint32_t     kept;   /* in lookup.record */
    Dwfl        *dwfl;   /* one per file, because files mapped at different times share addresses */
    Dwfl_Module *module; /* NULL: the file gives no names */
};

struct sxs_natives {
    struct sxs_lookup   lookup;
    struct native_file *files;
    size_t              n, cap;
    char               *demangled; /* owned; result of the last call */
};

/* Declared here because libstdc++ has no header for C. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);

/* Where libdw searches for files named by debuglinks, which it checks by CRC. NULL: its default,
 * .debug and /usr/lib/debug. */
static char *debug_path;

/* Callback of libdw: finds the debug file of a module. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *path, const char *link, GElf_Word crc, char **found)
{
    const unsigned char      *id = NULL;
    GElf_Addr                 at;
    const struct sxs_natives *all = *user;
    int                       size = dwfl_module_build_id(module, &id, &at);
    const char               *debug =
        size > 0 ? sxs_symbol_path_elf(all->lookup.symbols, id, (size_t)size) : NULL;
    int fd = debug ? open(debug, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) : -1;
    if (fd < 0)
        return dwfl_standard_find_debuginfo(module, user, name, base, path, link, crc, found);
    *found = strdup(debug);
    return fd;
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debug_file,
    .debuginfo_path = &debug_path,
};

struct sxs_natives *sxs_natives_new(const struct sxs_lookup *lookup)
{
    struct sxs_natives *all = sxs_must_zeroed(1, sizeof(*all));
    all->lookup = *lookup;
    debug_path = sxs_symbol_path_debuglinks(lookup->symbols);
    return all;
}

uint32_t sxs_natives_add(struct sxs_natives *all, const char *path, size_t path_size,
                         const uint8_t *build_id, size_t build_id_size)
{
    for (size_t i = 0; i < all->n; i++) {
        const struct native_file *f = &all->files[i];
        if (strlen(f->path) == path_size && memcmp(f->path, path, path_size) == 0 &&
            f->build_id_size == build_id_size &&
            memcmp(f->build_id, build_id, build_id_size) == 0)
            return (uint32_t)i;
    }
    SXS_GROW(all->files, all->n, all->cap);
    struct native_file *f = &all->files[all->n];
    memset(f, 0, sizeof(*f));
    f->path = sxs_must(strndup(path, path_size));
    f->build_id_size = build_id_size;
    memcpy(f->build_id, build_id, build_id_size);
    f->place = f->kept = SXS_NO_PLACE;
    if (all->lookup.record)
        f->kept =
            sxs_names_add_place(all->lookup.record, false, f->path, f->build_id, build_id_size);
    if (all->lookup.table)
        f->place = sxs_names_place(all->lookup.table, false, f->path, f->build_id, build_id_size);
    return (uint32_t)all->n++;
}

const char *sxs_natives_path(const struct sxs_natives *all, uint32_t file)
{
    return all->files[file].path;
}

/* Opens a regular file without blocking, because the path comes from a recording and may now name a
 * pipe. Returns a descriptor, or -1 with the reason in @why. */
static int open_file(const char *path, const char **why)
{
    struct stat st;
    int         fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        *why = "cannot be opened any more";
        return -1;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        *why = "not a regular file";
        close(fd);
        return -1;
    }
    return fd;
}

static bool same_build(const struct native_file *f)
{
    const unsigned char *bits = NULL;
    GElf_Addr            at;
    int                  n = dwfl_module_build_id(f->module, &bits, &at);
    if (f->build_id_size == 0)
        return true;
    return n == (int)f->build_id_size && memcmp(bits, f->build_id, f->build_id_size) == 0;
}

/* Takes the names of an open ELF file; @fd: owned. Returns NULL, or why the file cannot be used. */
static const char *take_names(struct sxs_natives *all, struct native_file *f, const char *path,
                              int fd)
{
    void **user;
    dwfl_report_begin(f->dwfl);
    /* With base 0 and the file's own p_vaddr, addresses are those of the file. libdw takes
     * ownership of the descriptor. */
    f->module = dwfl_report_elf(f->dwfl, path, path, fd, 0, true);
    dwfl_report_end(f->dwfl, NULL, NULL);
    if (!f->module) {
        close(fd);
        return "not an ELF file";
    }
    if (!same_build(f)) {
        f->module = NULL;
        return "another build than the one recorded";
    }
    dwfl_module_info(f->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    *user = all;
    return NULL;
}

/* Finds a file with the recorded build-id: in the folders of --symbols, in /usr/lib/debug, or on a
 * server. Returns false when there is none. */
static bool open_by_id(struct sxs_natives *all, struct native_file *f)
{
    char        path[sizeof("/usr/lib/debug/.build-id/xx/.debug") + 2 * sizeof(f->build_id)];
    int         n = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", f->build_id[0]);
    const char *why, *found;
    if (!f->build_id_size)
        return false;
    found = sxs_symbol_path_elf(all->lookup.symbols, f->build_id, f->build_id_size);
    int fd = found ? open_file(found, &why) : -1;
    if (fd >= 0 && !take_names(all, f, found, fd))
        return true;
    for (size_t i = 1; i < f->build_id_size; i++)
        n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", f->build_id[i]);
    snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
    fd = open_file(path, &why);
    if (fd >= 0 && !take_names(all, f, path, fd))
        return true;
    fd = sxs_debuginfod_find(f->dwfl, f->build_id, f->build_id_size);
    return fd >= 0 && !take_names(all, f, f->path, fd);
}

static void open_names(struct sxs_natives *all, struct native_file *f)
{
    bool is_packed = all->lookup.table != NULL;
    f->tried = true;
    if (is_packed)
        f->problem = sxs_names_problem(all->lookup.table, f->place);
    if (f->path[0] != '/') {
        bool of_kernel = f->path[0] == '[' || strncmp(f->path, "linux-vdso", 10) == 0;
        f->problem = of_kernel ? NULL : "not an absolute path";
        return;
    }
    f->dwfl = dwfl_begin(&callbacks);
    if (!f->dwfl) {
        f->problem = "libdw cannot begin";
        return;
    }
    sxs_debuginfod_watch(f->dwfl, f->path);
    int fd = is_packed ? -1 : open_file(f->path, &f->problem);
    if (fd >= 0)
        f->problem = take_names(all, f, f->path, fd);
    if (!f->module && open_by_id(all, f))
        f->problem = NULL;
}

static const char *demangle(struct sxs_natives *all, const char *symbol)
{
    int status = -1;
    free(all->demangled);
    all->demangled = NULL;
    if (strncmp(symbol, "_Z", 2) == 0)
        all->demangled = __cxa_demangle(symbol, NULL, NULL, &status);
    return all->demangled ? all->demangled : symbol;
}

/* Returns the line of @address if it is in @source, else 0: the address can be in inlined code from
 * another file. */
static uint32_t line_at(Dwfl_Module *module, GElf_Addr address, const char *source)
{
    Dwfl_Line  *line = dwfl_module_getsrc(module, address);
    int         number = 0;
    const char *there = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    return there && number > 0 && strcmp(there, source) == 0 ? (uint32_t)number : 0;
}

/* Looks up a name in the ELF file and its debug file. */
static void name_from_file(struct sxs_natives *all, struct native_file *f, uint64_t address,
                           struct sxs_native_name *out)
{
    GElf_Off offset = 0;
    GElf_Sym sym;
    if (!f->module)
        return;
    sxs_debuginfod_watch(f->dwfl, f->path);
    const char *symbol =
        dwfl_module_addrinfo(f->module, address, &offset, &sym, NULL, NULL, NULL);
    /* In a stripped file the nearest symbol belongs to another function: no name is better than a
     * wrong name. */
    if (!symbol || (sym.st_size ? offset >= sym.st_size : offset > UNSIZED_REACH))
        return;
    out->symbol = demangle(all, symbol);
    Dwfl_Line  *line = dwfl_module_getsrc(f->module, address - offset);
    int         number = 0;
    const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (source) {
        out->source = source;
        out->line = number > 0 ? (uint32_t)number : 0;
        out->at_line = line_at(f->module, address, source);
    }
}

static void keep(struct sxs_names *record, const struct native_file *f, uint64_t address,
                 const struct sxs_native_name *name)
{
    struct sxs_names_row row = {name->symbol, name->source, name->line, name->at_line};
    if (strcmp(name->symbol, "?") != 0)
        sxs_names_add(record, f->kept, address, &row);
    if (f->problem)
        sxs_names_set_problem(record, f->kept, f->problem);
}

void sxs_natives_name(struct sxs_natives *all, uint32_t file, uint64_t address,
                      struct sxs_native_name *out)
{
    struct native_file  *f = &all->files[file];
    struct sxs_names_row row;
    *out = (struct sxs_native_name){"?", "", 0, 0};
    if (all->lookup.table && sxs_names_find(all->lookup.table, f->place, address, &row)) {
        *out = (struct sxs_native_name){row.symbol, row.source, row.line, row.at_line};
    } else {
        if (!f->tried)
            open_names(all, f);
        name_from_file(all, f, address, out);
        sxs_debuginfod_done();
    }
    if (all->lookup.record)
        keep(all->lookup.record, f, address, out);
}

const char *sxs_natives_problem(const struct sxs_natives *all, uint32_t file, bool *end)
{
    *end = file >= all->n;
    return *end ? NULL : all->files[file].problem;
}

void sxs_natives_free(struct sxs_natives *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++) {
        if (all->files[i].dwfl)
            dwfl_end(all->files[i].dwfl);
        free(all->files[i].path);
    }
    free(all->files);
    free(all->demangled);
    free(all);
}
