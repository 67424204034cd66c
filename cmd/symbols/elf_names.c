/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/elf_names.h"

#include "cmd/output/must.h"
#include "cmd/symbols/debug_file.h"
#include "cmd/symbols/worker_serve.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* how far a symbol without a size names the code after it, in bytes */
#define UNSIZED_REACH 4096

struct elf {
    struct sxs_symbol_path *symbols;
    struct sxs_file_owner   owner;
    bool                    is_ours;  /* all its files so far */
    bool                    no_debug; /* a debug file was searched for and not found */
    bool                    is_searching;
    int                     debug_fd; /* owned; the debug file to take; -1: search for one */
    Dwfl        *dwfl;   /* one per file, because files mapped at different times share addresses */
    Dwfl_Module *module; /* NULL: the file gives no names */
};

/* By number of the file. */
static struct elf *files;
static size_t      n_files, cap_files;

/* Declared here because libstdc++ has no header for C. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *size, int *status);

static struct elf *file_of(uint32_t number, struct sxs_symbol_path *symbols)
{
    while (n_files <= number) {
        SXS_GROW(files, n_files, cap_files);
        files[n_files++] = (struct elf){.symbols = symbols, .is_ours = true, .debug_fd = -1};
    }
    return &files[number];
}

/* Takes note of a file that was opened. Returns @fd. */
static int note_opened(struct elf *f, int fd)
{
    f->is_ours = f->is_ours && (fd < 0 || sxs_foreign_is_ours(fd));
    sxs_symbol_worker_limited(!f->is_ours);
    return fd;
}

/* ---- debug files ------------------------------------------------------------------------------ */

/* Finds the file that several debug files share (DWARF's supplementary file). */
static int find_alternative(struct elf *f, const char *file, Dwfl_Module *module, const char *link,
                            char **found)
{
    struct sxs_debug_wanted w = {.symbols = f->symbols, .owner = &f->owner};
    Dwarf_Addr              bias;
    const char             *name;
    const void             *id;
    Dwarf                  *dwarf = dwfl_module_getdwarf(module, &bias);
    ssize_t                 size = dwarf ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) : 0;
    (void)file;
    (void)link;
    if (size <= 0)
        return -1;
    w.file = "";
    w.id = id;
    w.id_size = (size_t)size;
    return sxs_debug_file_find(&w, found);
}

/* Callback of libdw: finds the debug file of a module, or the supplementary file of its debug file, for
 * which there is a name without a check sum. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *path, const char *link, GElf_Word crc, char **found)
{
    const unsigned char *id = NULL;
    GElf_Addr            at;
    struct elf          *f = *user;
    int                  fd;
    (void)name;
    (void)base;
    if (f->is_searching)
        return -1;
    f->is_searching = true;
    if (link && !crc) {
        fd = find_alternative(f, path, module, link, found);
    } else if (f->debug_fd >= 0) {
        fd = f->debug_fd;
        f->debug_fd = -1;
        *found = sxs_must(strdup(path));
    } else {
        int                           size = dwfl_module_build_id(module, &id, &at);
        const struct sxs_debug_wanted w = {
            path, link, crc, id, size > 0 ? (size_t)size : 0, f->symbols, &f->owner};
        fd = sxs_debug_file_find(&w, found);
        f->no_debug = fd < 0;
    }
    f->is_searching = false;
    return note_opened(f, fd);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debug_file,
};

/* ---- opening ---------------------------------------------------------------------------------- */

static bool is_build(const struct elf *f, const struct sxs_elf_request *r)
{
    const unsigned char *bits = NULL;
    GElf_Addr            at;
    int                  n = dwfl_module_build_id(f->module, &bits, &at);
    return !r->build_id_size ||
           (n == r->build_id_size && memcmp(bits, r->build_id, r->build_id_size) == 0);
}

static bool lacked_memory(void)
{
    const char *message = dwfl_errmsg(-1);
    return message && strstr(message, "out of memory");
}

/* Takes the names of an open ELF file; @fd: owned. Returns NULL, or why the file cannot be used. */
static const char *take_names(struct elf *f, const struct sxs_elf_request *r, const char *path,
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
        return lacked_memory() ? "more memory is needed than a file of others may take"
                               : "not an ELF file";
    }
    if (!is_build(f, r)) {
        f->module = NULL;
        return "another build than the one recorded";
    }
    dwfl_module_info(f->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
    *user = f;
    return NULL;
}

/* Finds a file with the recorded build-id. */
static bool open_by_id(struct elf *f, const struct sxs_elf_request *r)
{
    bool done = false;
    for (unsigned i = 0; !done && i < 2; i++) {
        char *path = NULL;
        int   fd = sxs_file_by_id(f->symbols, r->build_id, r->build_id_size, i, &path);
        done = fd >= 0 && !take_names(f, r, path, note_opened(f, fd));
        free(path);
    }
    return done;
}

/* Reads the symbols and finds the lines, because it is then that libdw searches for a debug file.
 * Returns NULL, or why there are no symbols. */
static const char *find_symbols(struct elf *f)
{
    Dwarf_Addr bias;
    int        n = dwfl_module_getsymtab(f->module);
    bool       lacked = n < 0 && lacked_memory();
    dwfl_module_getdwarf(f->module, &bias);
    return lacked ? "more memory is needed than a file of others may take" : NULL;
}

static void begin(struct elf *f)
{
    if (f->dwfl)
        dwfl_end(f->dwfl);
    f->module = NULL;
    f->no_debug = false;
    f->dwfl = dwfl_begin(&callbacks);
}

/* Opens the files of a request. @fd: owned; what came with it, or -1. */
static const char *open_names(struct elf *f, const struct sxs_elf_request *r, const char *path,
                              int fd)
{
    const char *why = NULL;
    begin(f);
    if (!f->dwfl) {
        if (fd >= 0)
            close(fd);
        return "libdw cannot begin";
    }
    if (fd >= 0 && !r->has_debug)
        return take_names(f, r, path, note_opened(f, fd));
    f->debug_fd = fd;
    sxs_symbol_worker_limited(true);
    fd = r->by_id ? -1 : sxs_foreign_open(path, &f->owner, NULL, &why);
    note_opened(f, fd);
    if (fd >= 0)
        why = take_names(f, r, path, fd);
    return f->module || open_by_id(f, r) ? NULL : why;
}

static size_t answer_open(struct elf *f, const struct sxs_elf_request *r, const char *path, int fd,
                          struct sxs_elf_opened *out)
{
    const unsigned char *id = NULL;
    GElf_Addr            at;
    memset(out, 0, sizeof(*out));
    f->owner = r->owner;
    const char *why = open_names(f, r, path, fd);
    if (f->module && !why)
        why = find_symbols(f);
    int size = f->module ? dwfl_module_build_id(f->module, &id, &at) : 0;
    if (size > 0 && (size_t)size <= sizeof(out->build_id)) {
        out->build_id_size = (uint8_t)size;
        memcpy(out->build_id, id, (size_t)size);
    }
    out->is_ours = f->is_ours;
    out->is_usable = f->module != NULL;
    out->no_debug = f->no_debug;
    snprintf(out->problem, sizeof(out->problem), "%s", why ? why : "");
    return sizeof(*out);
}

/* ---- names ------------------------------------------------------------------------------------ */

/* Returns the line of @address if it is in @source, else 0: the address can be in inlined code from
 * another file. */
static uint32_t line_at(Dwfl_Module *module, GElf_Addr address, const char *source)
{
    Dwfl_Line  *line = dwfl_module_getsrc(module, address);
    int         number = 0;
    const char *there = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    return there && number > 0 && strcmp(there, source) == 0 ? (uint32_t)number : 0;
}

/* Adds a text to the answer. Returns its size. */
static uint32_t put(char *to, const char *text)
{
    size_t n = strnlen(text, SXS_ELF_TEXT);
    memcpy(to, text, n);
    return (uint32_t)n;
}

static uint32_t put_symbol(char *to, const char *symbol)
{
    int      status = -1;
    char    *plain = strncmp(symbol, "_Z", 2) == 0 && strlen(symbol) < SXS_ELF_TEXT
                         ? __cxa_demangle(symbol, NULL, NULL, &status)
                         : NULL;
    uint32_t n = put(to, plain ? plain : symbol);
    free(plain);
    return n;
}

static size_t answer_name(const struct elf *f, uint64_t address, struct sxs_elf_named *out)
{
    GElf_Off offset = 0;
    GElf_Sym sym;
    char    *text = (char *)(out + 1);
    memset(out, 0, sizeof(*out));
    const char *symbol =
        f->module ? dwfl_module_addrinfo(f->module, address, &offset, &sym, NULL, NULL, NULL)
                  : NULL;
    /* In a stripped file the nearest symbol belongs to another function: no name is better than a
     * wrong name. */
    if (!symbol || (sym.st_size ? offset >= sym.st_size : offset > UNSIZED_REACH))
        return sizeof(*out);
    out->symbol_size = put_symbol(text, symbol);
    Dwfl_Line  *line = dwfl_module_getsrc(f->module, address - offset);
    int         number = 0;
    const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
    if (source) {
        out->source_size = put(text + out->symbol_size, source);
        out->line = number > 0 ? (uint32_t)number : 0;
        out->at_line = line_at(f->module, address, source);
    }
    return sizeof(*out) + out->symbol_size + out->source_size;
}

size_t sxs_elf_names_answer(void *arg, const void *request, size_t size, void *answer, int *fd)
{
    const struct sxs_elf_request *r = request;
    struct elf                   *f = file_of(r->file, arg);
    int                           came = *fd;
    *fd = -1;
    if (!r->is_open)
        return answer_name(f, r->address, answer);
    char  *path = sxs_must(strndup((const char *)(r + 1), size - sizeof(*r)));
    size_t n = answer_open(f, r, path, came, answer);
    free(path);
    return n;
}
