/* SPDX-License-Identifier: MIT */
#include "cmd/symbols/symbol_path.h"

#include "cmd/output/must.h"
#include "cmd/output/print.h"
#include "cmd/symbols/foreign_file.h"
#include "cmd/symbols/portable_pdb.h"
#include "cmd/symbols/worker_serve.h"

#include <argp.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fts.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILES 200000u /* examined; more than any folder of symbols has */
#define MAX_ID    64u     /* bytes of a build-id; a longer one is ignored */

enum symbol_file_kind { KIND_ELF, KIND_PDB };

struct symbol_file {
    char                 *path; /* owned */
    enum symbol_file_kind kind;
    uint8_t               id[MAX_ID];
    size_t                id_size; /* 0: a file with the extension .pdb that is no Portable PDB */
    bool                  has_symbols;
};

struct sxs_symbol_path {
    char              **dirs; /* owned; NULL-terminated */
    size_t              n_dirs, cap_dirs;
    char              **roots; /* owned; as `dirs`, absolute; NULL: not composed yet */
    bool                searched;
    size_t              examined;
    struct symbol_file *files;
    size_t              n, cap;
};

void sxs_symbols_option(const struct argp_state *state, const char *text,
                        struct sxs_symbol_path **path)
{
    struct stat st;
    int         err = stat(text, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (err)
        sxs_option_error(state,
                         "--symbols: '%s': %s; expected a folder with ELF files or Portable PDBs",
                         text, strerror(err));
    if (!*path)
        *path = sxs_must_zeroed(1, sizeof(**path));
    SXS_GROW((*path)->dirs, (*path)->n_dirs + 1, (*path)->cap_dirs);
    (*path)->dirs[(*path)->n_dirs++] = sxs_must(strdup(text));
    (*path)->dirs[(*path)->n_dirs] = NULL;
}

/* ---- the files -------------------------------------------------------------------------------- */

static struct symbol_file *add_file(struct sxs_symbol_path *p, const char *path,
                                    enum symbol_file_kind kind)
{
    SXS_GROW(p->files, p->n, p->cap);
    struct symbol_file *f = &p->files[p->n++];
    *f = (struct symbol_file){.path = sxs_must(strdup(path)), .kind = kind};
    return f;
}

static bool has_symbol_table(Elf *elf)
{
    GElf_Shdr header;
    for (Elf_Scn *s = NULL; (s = elf_nextscn(elf, s)) != NULL;)
        if (gelf_getshdr(s, &header) && header.sh_type == SHT_SYMTAB)
            return true;
    return false;
}

static void add_elf(struct sxs_symbol_path *p, const char *path, int fd)
{
    const void *id = NULL;
    /* Reads instead of mapping, so that a file that is cut meanwhile does no harm. */
    Elf    *elf = elf_begin(fd, ELF_C_READ, NULL);
    ssize_t size = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0;
    if (size > 0 && size <= (ssize_t)MAX_ID) {
        struct symbol_file *f = add_file(p, path, KIND_ELF);
        f->id_size = (size_t)size;
        memcpy(f->id, id, f->id_size);
        f->has_symbols = has_symbol_table(elf);
    }
    elf_end(elf);
}

static bool is_named_pdb(const char *path)
{
    size_t len = strlen(path);
    return len > 4 && strcmp(path + len - 4, ".pdb") == 0;
}

static void examine(struct sxs_symbol_path *p, const char *path)
{
    static const struct sxs_file_owner own_rights;
    const char *why;
    char        magic[4] = "";
    uint8_t     id[SXS_PDB_ID_SIZE];
    int         fd = sxs_foreign_open(path, &own_rights, NULL, &why);
    if (fd < 0)
        return;
    sxs_symbol_worker_limited(!sxs_foreign_is_ours(fd));
    if (pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic)) {
        if (memcmp(magic, ELFMAG, SELFMAG) == 0) {
            add_elf(p, path, fd);
        } else if (sxs_pdb_read_id(fd, id)) {
            struct symbol_file *f = add_file(p, path, KIND_PDB);
            f->id_size = sizeof(id);
            memcpy(f->id, id, sizeof(id));
        } else if (is_named_pdb(path)) {
            add_file(p, path, KIND_PDB);
        }
    }
    close(fd);
}

/* Links to files are followed, links to folders are not, because they can be circular. */
static void search(struct sxs_symbol_path *p)
{
    bool was_limited = sxs_symbol_worker_limited(false);
    p->searched = true;
    elf_version(EV_CURRENT);
    FTS *tree = fts_open(p->dirs, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    for (FTSENT *e; tree && (e = fts_read(tree)) != NULL;) {
        if (e->fts_info != FTS_F && e->fts_info != FTS_SL)
            continue;
        if (++p->examined > MAX_FILES) {
            sxs_print_to(stderr, "sxsprof: --symbols: only the first %u files are searched\n",
                         MAX_FILES);
            break;
        }
        examine(p, e->fts_path);
    }
    if (tree)
        fts_close(tree);
    sxs_symbol_worker_limited(was_limited);
}

/* ---- requests --------------------------------------------------------------------------------- */

static const struct symbol_file *find(struct sxs_symbol_path *p, enum symbol_file_kind kind,
                                      const uint8_t *id, size_t size)
{
    const struct symbol_file *found = NULL;
    if (!p || !size)
        return NULL;
    if (!p->searched)
        search(p);
    for (size_t i = 0; i < p->n; i++) {
        const struct symbol_file *f = &p->files[i];
        if (f->kind == kind && f->id_size == size && memcmp(f->id, id, size) == 0 &&
            (!found || (f->has_symbols && !found->has_symbols)))
            found = f;
    }
    return found;
}

const char *sxs_symbol_path_elf(struct sxs_symbol_path *path, const uint8_t *build_id, size_t size)
{
    const struct symbol_file *f = find(path, KIND_ELF, build_id, size);
    return f ? f->path : NULL;
}

const char *sxs_symbol_path_pdb(struct sxs_symbol_path *path, const uint8_t *id)
{
    const struct symbol_file *f = find(path, KIND_PDB, id, SXS_PDB_ID_SIZE);
    return f ? f->path : NULL;
}

const char *sxs_symbol_path_named(struct sxs_symbol_path *path, const char *name)
{
    if (path && !path->searched)
        search(path);
    for (size_t i = 0; path && i < path->n; i++) {
        const struct symbol_file *f = &path->files[i];
        const char               *slash = strrchr(f->path, '/');
        if (f->kind == KIND_PDB && strcmp(slash ? slash + 1 : f->path, name) == 0)
            return f->path;
    }
    return NULL;
}

const char *const *sxs_symbol_path_roots(struct sxs_symbol_path *path)
{
    if (path && !path->roots) {
        size_t n = 0;
        path->roots = sxs_must_zeroed(path->n_dirs + 1, sizeof(*path->roots));
        for (size_t i = 0; i < path->n_dirs; i++) {
            char *dir = realpath(path->dirs[i], NULL);
            if (dir)
                path->roots[n++] = dir;
        }
    }
    return path ? (const char *const *)path->roots : NULL;
}

void sxs_symbol_path_free(struct sxs_symbol_path *path)
{
    if (!path)
        return;
    for (size_t i = 0; i < path->n; i++)
        free(path->files[i].path);
    for (size_t i = 0; i < path->n_dirs; i++)
        free(path->dirs[i]);
    for (size_t i = 0; path->roots && path->roots[i]; i++)
        free(path->roots[i]);
    free(path->files);
    free(path->roots);
    free(path->dirs);
    free(path);
}
