/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/native.h"

#include "cmd/output/must.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
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
    Dwfl        *dwfl;   /* one per file, because files mapped at different times share addresses */
    Dwfl_Module *module; /* NULL: the file gives no names */
};

struct sxs_natives {
    struct native_file *files;
    size_t              n, cap;
    char               *demangled; /* owned; result of the last call */
};

/* Declared here because libstdc++ has no header for C. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);

static char *debug_path; /* NULL: the default of libdw, .debug and /usr/lib/debug */

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .debuginfo_path = &debug_path,
};

struct sxs_natives *sxs_natives_new(void)
{
    return sxs_must_zeroed(1, sizeof(struct sxs_natives));
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
    return (uint32_t)all->n++;
}

const char *sxs_natives_path(const struct sxs_natives *all, uint32_t file)
{
    return all->files[file].path;
}

/* Opens a regular file without blocking, because the path comes from a recording and may now name a
 * pipe. */
static int open_file(struct native_file *f)
{
    struct stat st;
    if (f->path[0] != '/') {
        int of_kernel = f->path[0] == '[' || strncmp(f->path, "linux-vdso", 10) == 0;
        f->problem = of_kernel ? NULL : "not an absolute path";
        return -1;
    }
    int fd = open(f->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        f->problem = "cannot be opened any more";
        return -1;
    }
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        f->problem = "not a regular file";
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

static void open_names(struct native_file *f)
{
    f->tried = true;
    int fd = open_file(f);
    if (fd < 0)
        return;
    f->dwfl = dwfl_begin(&callbacks);
    if (!f->dwfl) {
        close(fd);
        f->problem = "libdw cannot begin";
        return;
    }
    dwfl_report_begin(f->dwfl);
    /* With base 0 and the file's own p_vaddr, addresses are those of the file. libdw takes
     * ownership of the descriptor. */
    f->module = dwfl_report_elf(f->dwfl, f->path, f->path, fd, 0, true);
    dwfl_report_end(f->dwfl, NULL, NULL);
    if (!f->module) {
        close(fd);
        f->problem = "not an ELF file";
    } else if (!same_build(f)) {
        f->module = NULL;
        f->problem = "another build than the one recorded";
    }
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

void sxs_natives_name(struct sxs_natives *all, uint32_t file, uint64_t address,
                      struct sxs_native_name *out)
{
    struct native_file *f = &all->files[file];
    GElf_Off            offset = 0;
    GElf_Sym            sym;
    *out = (struct sxs_native_name){"?", "", 0, 0};
    if (!f->tried)
        open_names(f);
    if (!f->module)
        return;
    const char *symbol =
        dwfl_module_addrinfo(f->module, address, &offset, &sym, NULL, NULL, NULL);
    /* In a stripped file the nearest symbol belongs to another function: no name is better than a
     * wrong name. */
    if (!symbol || (sym.st_size ? offset >= sym.st_size : offset > UNSIZED_REACH))
        return;
    out->symbol = demangle(all, symbol);
    Dwfl_Line *line = dwfl_module_getsrc(f->module, address - offset);
    int        number = 0;
    const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (source) {
        out->source = source;
        out->line = number > 0 ? (uint32_t)number : 0;
        out->at_line = line_at(f->module, address, source);
    }
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
