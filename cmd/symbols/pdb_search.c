/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/pdb_search.h"

#include "cmd/output/must.h"
#include "cmd/symbols/pe_debug.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct search {
    struct sxs_pe_debug debug;
    char               *wrong; /* owned; the first file that was another PDB */
};

static uint8_t *read_whole(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 || st.st_size > SXS_MAX_PDB)
        return NULL;
    *size = (size_t)st.st_size;
    uint8_t *bytes = sxs_must_zeroed(*size, 1);
    if (pread(fd, bytes, *size, 0) != st.st_size) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

/* Opens the PDB at @path if it has the right ID; else remembers the path. */
static struct sxs_pdb *open_pdb(struct search *s, const char *path)
{
    size_t size = 0;
    int    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return NULL;
    uint8_t        *bytes = read_whole(fd, &size);
    bool            was_read = bytes != NULL;
    struct sxs_pdb *pdb = sxs_pdb_take(bytes, size, s->debug.id);
    close(fd);
    if (!pdb && was_read && !s->wrong)
        s->wrong = sxs_must(strdup(path));
    return pdb;
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
static struct sxs_pdb *search_symbols(struct search *s, struct sxs_symbol_path *symbols,
                                      const char *beside)
{
    const char *path = sxs_symbol_path_pdb(symbols, s->debug.id);
    if (!path)
        path = sxs_symbol_path_named(symbols, base_name(beside));
    if (!path)
        path = sxs_symbol_path_named(symbols, base_name(s->debug.path));
    return path ? open_pdb(s, path) : NULL;
}

struct sxs_pdb *sxs_pdb_search(const char *assembly, struct sxs_symbol_path *symbols, char **wrong)
{
    struct search s = {0};
    size_t        size = 0;
    if (wrong)
        *wrong = NULL;
    if (!sxs_pe_read_debug(assembly, &s.debug))
        return NULL;
    char           *beside = path_beside(assembly);
    struct sxs_pdb *pdb = open_pdb(&s, beside);
    if (!pdb && s.debug.embedded_size) {
        uint8_t *bytes = sxs_pe_read_embedded(assembly, &s.debug, &size);
        pdb = sxs_pdb_take(bytes, size, s.debug.id);
    }
    /* a relative path would refer to another folder than at the time of the compilation */
    if (!pdb && s.debug.path[0] == '/')
        pdb = open_pdb(&s, s.debug.path);
    if (!pdb)
        pdb = search_symbols(&s, symbols, beside);
    free(beside);
    if (!pdb && wrong)
        *wrong = s.wrong;
    else
        free(s.wrong);
    return pdb;
}
