/* SPDX-License-Identifier: MIT */
#include "cmd/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#define OWN_LOADER  "/lib64/ld-linux-x86-64.so.2"
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#define OWN_LOADER  "/lib/ld-linux-aarch64.so.1"
#else
#error "name this processor's ELF machine and dynamic loader"
#endif

/* A whole file in memory. It is copied, not mapped, so that truncating the file does no harm. */
struct image {
    unsigned char *bytes; /* owned */
    size_t         size;
};

#define MAX_IMAGE ((off_t)256 << 20) /* larger than any library; limits memory */

static int image_read(const char *path, struct image *out, size_t limit)
{
    struct stat st;
    int         err = 0;
    int         fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    out->bytes = NULL;
    out->size = 0;
    if (fd < 0)
        return errno;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_IMAGE) {
        err = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        goto done;
    }
    size_t want = (size_t)st.st_size < limit ? (size_t)st.st_size : limit;
    out->bytes = malloc(want + 1);
    if (!out->bytes) {
        err = ENOMEM;
        goto done;
    }
    while (out->size < want) {
        ssize_t n = read(fd, out->bytes + out->size, want - out->size);
        if (n <= 0)
            break;
        out->size += (size_t)n;
    }
done:
    close(fd);
    return err;
}

/* Copies @size bytes at offset @at to @to; returns false when the file ends before them. */
static bool image_get(const struct image *im, uint64_t at, void *to, size_t size)
{
    if (at > im->size || size > im->size - at)
        return false;
    memcpy(to, im->bytes + at, size);
    return true;
}

static bool names_loader(const struct image *im, const Elf64_Ehdr *eh)
{
    for (uint64_t i = 0; i < eh->e_phnum; i++) {
        Elf64_Phdr ph;
        if (!image_get(im, eh->e_phoff + i * sizeof(ph), &ph, sizeof(ph)))
            return false;
        if (ph.p_type == PT_INTERP)
            return true;
    }
    return false;
}

int sxs_elf_read(const char *path, struct sxs_elf_file *out)
{
    struct image im;
    Elf64_Ehdr   eh;
    memset(out, 0, sizeof(*out));
    int err = image_read(path, &im, 65536); /* program headers are at the beginning of the file */
    if (!err && image_get(&im, 0, &eh, sizeof(eh)) && memcmp(eh.e_ident, ELFMAG, SELFMAG) == 0) {
        out->is_elf = true;
        out->is_64 = eh.e_ident[EI_CLASS] == ELFCLASS64;
        out->is_native = out->is_64 && eh.e_machine == OWN_MACHINE;
        out->is_shared = eh.e_type == ET_DYN;
        out->has_loader = out->is_64 && names_loader(&im, &eh);
    }
    free(im.bytes);
    return err;
}

static bool table_defines(const struct image *im, const Elf64_Shdr *syms, const Elf64_Shdr *strs,
                          const char *symbol)
{
    size_t len = strlen(symbol) + 1;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= syms->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym sym;
        if (!image_get(im, syms->sh_offset + at, &sym, sizeof(sym)))
            return false;
        uint64_t name = strs->sh_offset + sym.st_name;
        if (sym.st_shndx != SHN_UNDEF && name <= im->size && len <= im->size - name &&
            memcmp(im->bytes + name, symbol, len) == 0)
            return true;
    }
    return false;
}

bool sxs_elf_exports(const char *path, const char *symbol)
{
    struct image im;
    Elf64_Ehdr   eh;
    bool         found = false;
    int          err = image_read(path, &im, SIZE_MAX);
    if (err || !image_get(&im, 0, &eh, sizeof(eh)))
        goto done;
    for (uint64_t i = 0; i < eh.e_shnum && !found; i++) {
        Elf64_Shdr syms, strs;
        if (image_get(&im, eh.e_shoff + i * sizeof(syms), &syms, sizeof(syms)) &&
            syms.sh_type == SHT_DYNSYM &&
            image_get(&im, eh.e_shoff + (uint64_t)syms.sh_link * sizeof(strs), &strs, sizeof(strs)))
            found = table_defines(&im, &syms, &strs, symbol);
    }
done:
    free(im.bytes);
    return found;
}

bool sxs_elf_mentions(const char *path, const char *const *texts)
{
    struct image im;
    bool         found = false;
    if (image_read(path, &im, SIZE_MAX) == 0 && im.bytes)
        for (; *texts && !found; texts++)
            found = memmem(im.bytes, im.size, *texts, strlen(*texts)) != NULL;
    free(im.bytes);
    return found;
}

/* Runs the dynamic loader so that it lists the libraries that @path needs, as ldd does. The loader's
 * option --list ends without a message when a library is missing. Returns the loader's output and
 * its PID, or NULL. */
static FILE *start_loader(const char *path, pid_t *child)
{
    int  io[2];
    char real[PATH_MAX]; /* absolute, because the loader searches for a name that has no slash */
    if (!realpath(path, real) || pipe2(io, O_CLOEXEC) != 0)
        return NULL;
    *child = fork();
    if (*child == 0) {
        dup2(io[1], STDOUT_FILENO);
        dup2(io[1], STDERR_FILENO);
        unsetenv("LD_PRELOAD"); /* problems of LD_PRELOAD are reported by sxs_doctor_preload() */
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        execl(OWN_LOADER, OWN_LOADER, real, (char *)NULL);
        _exit(127);
    }
    close(io[1]);
    FILE *from = *child > 0 ? fdopen(io[0], "r") : NULL;
    if (!from)
        close(io[0]);
    return from;
}

/* Returns true when the loader could be run. */
static bool end_loader(FILE *from, pid_t child)
{
    int status = 0;
    if (from)
        fclose(from);
    return from && waitpid(child, &status, 0) == child && WEXITSTATUS(status) != 127;
}

static void append_name(char *list, size_t size, const char *name, const char *version)
{
    size_t at = strlen(list);
    snprintf(list + at, size - at, "%s%s%s%s", at ? ", " : "", name,
             version ? " with version " : "", version ? version : "");
}

/* Handles one line of the loader's output:
 *     "\tname => not found", or
 *     "file: library: version `NAME' not found (required by file)".
 * Returns 1 when something is missing, which is added to @list. */
static int collect_missing(char *line, char *list, size_t size)
{
    char *end = strstr(line, " => not found"), *version = strstr(line, ": version `");
    if (end) {
        *end = '\0';
        append_name(list, size, line + strspn(line, "\t "), NULL);
        return 1;
    }
    end = version ? strstr(version, "' not found") : NULL;
    if (!end)
        return 0;
    *version = *end = '\0';
    char *library = strrchr(line, ' ');
    append_name(list, size, library ? library + 1 : line, version + strlen(": version `"));
    return 1;
}

int sxs_elf_missing(const char *path, char *list, size_t size)
{
    char  line[4096];
    pid_t child = -1;
    int   n = 0;
    FILE *from = start_loader(path, &child);
    list[0] = '\0';
    while (from && fgets(line, sizeof(line), from))
        n += collect_missing(line, list, size);
    return end_loader(from, child) || n ? n : -1;
}

bool sxs_elf_needed_mention(const char *path, const char *const *texts)
{
    char  line[4096];
    pid_t child = -1;
    bool  found = false;
    FILE *from = start_loader(path, &child);
    while (from && fgets(line, sizeof(line), from)) { /* "\t[name => ]path (address)" */
        char *arrow = strstr(line, " => ");
        char *library = arrow ? arrow + 4 : line + strspn(line, "\t ");
        char *end = strrchr(library, '(');
        if (!end || end == library || found)
            continue;
        end[-1] = '\0';
        found = sxs_elf_mentions(library, texts);
    }
    end_loader(from, child);
    return found;
}
