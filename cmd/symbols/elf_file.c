/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/elf_file.h"

#include "arch/arch.h"
#include "cmd/confined/confined.h"
#include "cmd/symbols/elf_exports.h"
#include "cmd/symbols/file_search.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SEARCHED (UINT64_C(1) << 30) /* bytes of data of a file that are searched for texts */

/* An open file, read by libelf. It is not mapped, so that truncating the file does no harm. */
struct elf_image {
    int  fd;
    Elf *elf; /* NULL: no ELF file */
};

static int image_open(const char *path, struct elf_image *out)
{
    struct stat st;
    int         err = 0;
    out->elf = NULL;
    out->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (out->fd < 0)
        return errno;
    if (fstat(out->fd, &st) != 0 || !S_ISREG(st.st_mode))
        err = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    else if (elf_version(EV_CURRENT) != EV_NONE)
        out->elf = elf_begin(out->fd, ELF_C_READ, NULL);
    return err;
}

static void image_close(struct elf_image *im)
{
    elf_end(im->elf); /* NULL is fine */
    if (im->fd >= 0)
        close(im->fd);
}

static bool names_loader(Elf *elf)
{
    size_t    n = 0;
    GElf_Phdr ph;
    if (elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &ph); i++)
        if (ph.p_type == PT_INTERP)
            return true;
    return false;
}

int sxs_elf_read(const char *path, struct sxs_elf_file *out)
{
    struct elf_image im;
    GElf_Ehdr        eh;
    memset(out, 0, sizeof(*out));
    int err = image_open(path, &im);
    if (im.elf && elf_kind(im.elf) == ELF_K_ELF && gelf_getehdr(im.elf, &eh)) {
        out->is_elf = true;
        out->is_64 = gelf_getclass(im.elf) == ELFCLASS64;
        out->is_native = out->is_64 && eh.e_machine == SXS_ELF_MACHINE;
        out->is_shared = eh.e_type == ET_DYN;
        out->has_loader = out->is_64 && names_loader(im.elf);
    }
    image_close(&im);
    return err;
}

unsigned sxs_elf_exports_of(const char *path, const char *const *symbols)
{
    struct elf_image im;
    unsigned         found = image_open(path, &im) == 0 ? sxs_elf_exports_in(im.fd, symbols) : 0;
    image_close(&im);
    return found;
}

bool sxs_elf_exports(const char *path, const char *symbol)
{
    const char *const symbols[] = {symbol, NULL};
    return sxs_elf_exports_of(path, symbols) != 0;
}

bool sxs_elf_mentions(const char *path, const char *const *texts)
{
    struct elf_image im;
    bool             found = image_open(path, &im) == 0 && im.elf &&
                 sxs_file_search(im.fd, texts, MAX_SEARCHED, NULL, 0, NULL) == 0;
    image_close(&im);
    return found;
}

/* The loader runs no code of the file, but maps it and what it names. It gets no new rights by it. */
enum { LOADER_S = 20 };
static const struct sxs_confinement loader_limits = {
    .memory = UINT64_C(4) << 30, /* of address space: what a file claims to have counts */
    .file_size = 1,
    .cpu_s = LOADER_S,
    .capabilities = UINT64_C(1) << CAP_DAC_READ_SEARCH,
};

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
        sxs_confine_self(&loader_limits);
        alarm(LOADER_S);
        execl(SXS_ELF_LOADER, SXS_ELF_LOADER, real, (char *)NULL);
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
 * Returns true when something is missing, and adds its name to @list. */
static bool collect_missing(char *line, char *list, size_t size)
{
    char *end = strstr(line, " => not found"), *version = strstr(line, ": version `");
    if (end) {
        *end = '\0';
        append_name(list, size, line + strspn(line, "\t "), NULL);
        return true;
    }
    end = version ? strstr(version, "' not found") : NULL;
    if (!end)
        return false;
    *version = *end = '\0';
    char *library = strrchr(line, ' ');
    append_name(list, size, library ? library + 1 : line, version + strlen(": version `"));
    return true;
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
