/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/pdb_search.h"

#include "cmd/output/must.h"
#include "cmd/symbols/worker_serve.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct sxs_file_owner own_rights;

/* Opens a file, whose reading counts as that of a file of others unless it is ours. */
static int open_counted(struct sxs_pdb_search *s, const char *path,
                        const struct sxs_file_owner *owner, bool *is_ours)
{
    const char *why;
    sxs_symbol_worker_limited(true);
    int fd = sxs_foreign_open(path, owner, NULL, &why);
    *is_ours = fd < 0 ? s->is_ours : sxs_foreign_is_ours(fd) && s->is_ours;
    sxs_symbol_worker_limited(!*is_ours);
    return fd;
}

static bool has_id(int fd, const uint8_t *id)
{
    uint8_t found[SXS_PDB_ID_SIZE];
    return sxs_pdb_read_id(fd, found) && memcmp(found, id, sizeof(found)) == 0;
}

static uint8_t *read_whole(int fd, size_t max, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size <= 0 || (uint64_t)st.st_size > max)
        return NULL;
    *size = (size_t)st.st_size;
    uint8_t *bytes = sxs_must_zeroed(*size, 1);
    if (pread(fd, bytes, *size, 0) != st.st_size) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

/* Reads the PDB at @path if it has the right ID; else remembers the path. */
static uint8_t *read_pdb(struct sxs_pdb_search *s, const char *path,
                         const struct sxs_file_owner *owner, size_t *size, const char **why)
{
    bool     is_ours;
    uint8_t *bytes = NULL;
    int      fd = open_counted(s, path, owner, &is_ours);
    if (fd < 0)
        return NULL;
    if (!has_id(fd, s->debug.id)) {
        if (!s->wrong)
            s->wrong = sxs_must(strdup(path));
    } else {
        bytes = read_whole(fd, sxs_pdb_most(is_ours), size);
        if (!bytes)
            *why = "its PDB is too large";
    }
    s->is_ours = bytes ? is_ours : s->is_ours;
    sxs_symbol_worker_limited(!s->is_ours);
    close(fd);
    return bytes;
}

/* Returns the assembly's path with the extension .pdb; owned. */
static char *path_beside(const char *assembly)
{
    const char *dot = strrchr(assembly, '.'), *slash = strrchr(assembly, '/');
    size_t      stem = dot && (!slash || dot > slash) ? (size_t)(dot - assembly) : strlen(assembly);
    char       *path = NULL;
    if (asprintf(&path, "%.*s.pdb", (int)stem, assembly) < 0)
        sxs_must(NULL);
    return path;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *back = strrchr(path, '\\');
    const char *last = !slash || (back && back > slash) ? back : slash;
    return last ? last + 1 : path;
}

/* Looks for the PDB in the folders of --symbols. Without it, a file there that has one of the two
 * names that the PDB can have is wrong. */
static uint8_t *search_symbols(struct sxs_pdb_search *s, const char *beside, size_t *size,
                               const char **why)
{
    const char *path = sxs_symbol_path_pdb(s->symbols, s->debug.id);
    if (!path)
        path = sxs_symbol_path_named(s->symbols, base_name(beside));
    if (!path)
        path = sxs_symbol_path_named(s->symbols, base_name(s->debug.path));
    return path ? read_pdb(s, path, &own_rights, size, why) : NULL;
}

uint8_t *sxs_pdb_search(struct sxs_pdb_search *s, size_t *size, const char **why)
{
    uint8_t *bytes = NULL;
    *why = s->wrong = NULL;
    s->is_ours = true;
    int fd = open_counted(s, s->assembly, s->owner, &s->is_ours);
    if (fd < 0)
        return NULL;
    if (sxs_pe_read_debug(fd, &s->debug)) {
        char *beside = path_beside(s->assembly);
        bytes = read_pdb(s, beside, s->owner, size, why);
        if (!bytes && s->debug.embedded_size)
            bytes = sxs_pe_read_embedded(fd, &s->debug, sxs_pdb_most(s->is_ours), size);
        /* a relative path would refer to another folder than at the time of the compilation */
        if (!bytes && s->debug.path[0] == '/')
            bytes = read_pdb(s, s->debug.path, s->owner, size, why);
        if (!bytes)
            bytes = search_symbols(s, beside, size, why);
        free(beside);
    }
    close(fd);
    if (bytes) {
        free(s->wrong);
        s->wrong = NULL;
    }
    return bytes;
}

/* ---- the worker ------------------------------------------------------------------------------- */

/* Returns a descriptor of a file in memory with these bytes, which nobody can change or cut, or -1. */
static int put_in_memory(const uint8_t *bytes, size_t size)
{
    int    fd = memfd_create("sxsprof pdb", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    size_t at = 0;
    while (fd >= 0 && at < size) {
        ssize_t n = write(fd, bytes + at, size - at);
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    if (fd >= 0 && (at < size || fcntl(fd, F_ADD_SEALS, SXS_PDB_SEALS) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

size_t sxs_pdb_search_answer(void *arg, const void *request, size_t size, void *answer, int *fd)
{
    const struct sxs_pdb_request *r = request;
    struct sxs_pdb_found         *out = answer;
    struct sxs_pdb_search         s = {.symbols = arg, .owner = &r->owner};
    const char                   *why;
    size_t                        n = 0;
    char *path = sxs_must(strndup((const char *)(r + 1), size - sizeof(*r)));
    memset(out, 0, sizeof(*out));
    s.assembly = path;
    uint8_t *bytes = sxs_pdb_search(&s, &n, &why);
    *fd = bytes ? put_in_memory(bytes, n) : -1;
    free(bytes);
    out->size = *fd < 0 ? 0 : n;
    out->is_ours = s.is_ours;
    if (*fd < 0 && why)
        snprintf(out->problem, sizeof(out->problem), "%s", why);
    n = s.wrong ? strnlen(s.wrong, SXS_SYMBOL_WORKER_MESSAGE / 2) : 0;
    if (n)
        memcpy(out + 1, s.wrong, n);
    free(s.wrong);
    free(path);
    return sizeof(*out) + n;
}
