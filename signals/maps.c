/* SPDX-License-Identifier: MIT */
/*
 * maps.c - what runtimes had mapped to run before their calls to mmap could be seen.
 *
 * A CLR's JIT code lies in pieces of a memory file of its own ("/memfd:doublemapper") and in mapped
 * images. All pieces of one memory file belong to one runtime. Which one:
 *   1. the runtime whose module has pointers into the file in its writable data: it keeps the addresses
 *      of its write barrier and of other helpers that it copies there. No other runtime has such pointers.
 *   2. else the owner of a piece of the file that is known already: its call to mmap was seen;
 *   3. else the runtime whose module lies next above, within 2 GiB: where a CLR tries to reserve.
 * The distance alone proves nothing: with several runtimes the space below a module is taken, and the
 * kernel puts the code anywhere, often hundreds of GiB away or below another runtime's module.
 */
#include <stdio.h>
#include <string.h>

#include "manager/base/proc.h"
#include "signals/router.h"

/* Executable pieces of memory files, as far as they are kept. More are found later, by rule 2. */
#define MAX_PIECES 256

struct piece {
    uintptr_t lo, hi;
    int       file;
};

struct memory_file {
    unsigned long inode;
    unsigned      pointers[SXS_MAX_OWNERS]; /* into its pieces, in each runtime's module */
    int           known;                    /* rule 2; -1: no piece is */
    int           above;                    /* rule 3; -1: none */
};

struct scan {
    struct piece       pieces[MAX_PIECES];
    struct memory_file files[SXS_MAX_OWNERS];
    int                n_pieces, n_files;
};

struct line {
    uintptr_t     lo, hi;
    unsigned long inode;
    char          perms[8];
    const char   *path;
};

static int next_module_above(uintptr_t at)
{
    int       best = -1;
    uintptr_t best_at = UINTPTR_MAX;
    int       n = atomic_load(&router.n_owners);
    for (int i = 0; i < n; i++) {
        uintptr_t text = router.owners[i].text;
        if (text > at && text - at < ((uintptr_t)2 << 30) + ((uintptr_t)64 << 20) &&
            text < best_at) {
            best = i;
            best_at = text;
        }
    }
    return best;
}

/* An image of the framework lies in the folder of its runtime. */
static int owner_of_folder(const char *path)
{
    int n = atomic_load(&router.n_owners);
    for (int i = 0; i < n; i++) {
        const char *slash = strrchr(router.owners[i].path, '/');
        size_t      len = slash ? (size_t)(slash + 1 - router.owners[i].path) : 0;
        if (len && strncmp(path, router.owners[i].path, len) == 0 && !strchr(path + len, '/'))
            return i;
    }
    return -1;
}

/* ---- memory files ----------------------------------------------------------------------------- */

static int file_of(struct scan *s, unsigned long inode)
{
    for (int i = 0; i < s->n_files; i++)
        if (s->files[i].inode == inode)
            return i;
    if (s->n_files >= SXS_MAX_OWNERS)
        return -1;
    s->files[s->n_files] = (struct memory_file){.inode = inode, .known = -1, .above = -1};
    return s->n_files++;
}

static int is_memory_file(const struct line *at)
{
    return strncmp(at->path, "/memfd:doublemapper", 19) == 0 && at->perms[1] != 'w';
}

static void note_piece(struct scan *s, const struct line *at)
{
    int file = is_memory_file(at) ? file_of(s, at->inode) : -1;
    if (file < 0)
        return;
    if (s->files[file].known < 0)
        s->files[file].known = owner_of_code(at->lo);
    if (s->files[file].above < 0)
        s->files[file].above = next_module_above(at->lo);
    if (s->n_pieces < MAX_PIECES && at->perms[2] == 'x')
        s->pieces[s->n_pieces++] = (struct piece){at->lo, at->hi, file};
}

/* The pieces are sorted, as the kernel's list is. */
static const struct piece *piece_at(const struct scan *s, uintptr_t address)
{
    int lo = 0, hi = s->n_pieces;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (s->pieces[mid].hi <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n_pieces && s->pieces[lo].lo <= address ? &s->pieces[lo] : NULL;
}

/* A module's data is read while the runtime writes it: word by word. */
__attribute__((no_sanitize("address", "thread"))) static void count_pointers(struct scan       *s,
                                                                             const struct line *at)
{
    struct sxs_range module;
    if (at->perms[0] != 'r' || at->perms[1] != 'w' ||
        !sxs_ranges_find(&router.ranges, at->lo, &module) || module.kind != SXS_RANGE_MODULE)
        return;
    uintptr_t hi = at->hi < module.hi ? at->hi : module.hi;
    for (uintptr_t word = at->lo; word < hi; word += sizeof(word)) {
        const struct piece *piece =
            piece_at(s, __atomic_load_n((const uintptr_t *)word, __ATOMIC_RELAXED));
        if (piece)
            s->files[piece->file].pointers[module.owner]++;
    }
}

/* @certain: 1 by rule 1, else 0. */
static int owner_of_file(const struct memory_file *file, int *certain)
{
    int best = 0, others = 0;
    for (int i = 1; i < SXS_MAX_OWNERS; i++)
        if (file->pointers[i] > file->pointers[best])
            best = i;
    for (int i = 0; i < SXS_MAX_OWNERS; i++)
        others |= i != best && file->pointers[i] == file->pointers[best];
    *certain = !others;
    if (*certain)
        return best;
    return file->known >= 0 ? file->known : file->above;
}

/* ---- the kernel's list ------------------------------------------------------------------------ */

struct visit {
    struct scan *scan;
    void (*line)(struct scan *s, const struct line *at);
};

static int visit_line(char *text, void *arg)
{
    const struct visit *visit = arg;
    struct line         line;
    int                 at = 0;
    if (sscanf(text, "%lx-%lx %7s %*x %*x:%*x %lu%n", &line.lo, &line.hi, line.perms, &line.inode,
               &at) < 4)
        return 0;
    line.path = text + at + strspn(text + at, " ");
    visit->line(visit->scan, &line);
    return 0;
}

static void each_line(struct scan *s, void (*visit)(struct scan *s, const struct line *at))
{
    struct visit all = {s, visit};
    sxs_proc_lines("/proc/self/maps", visit_line, &all);
}

static int is_image(const char *path)
{
    size_t len = strlen(path);
    return len > 4 && strcmp(path + len - 4, ".dll") == 0;
}

static void own(struct scan *s, const struct line *at)
{
    sigset_t saved;
    int      owner = -1, certain = 0;
    if (is_memory_file(at)) {
        int file = file_of(s, at->inode);
        owner = file >= 0 ? owner_of_file(&s->files[file], &certain) : -1;
    } else if (at->perms[2] == 'x' && (!*at->path || is_image(at->path))) {
        owner = owner_of_folder(at->path);
        if (owner < 0)
            owner = next_module_above(at->lo);
    }
    if (owner < 0)
        return;
    router_lock(&saved); /* a call that was seen knows better, also one in this moment */
    int now = owner_of_code(at->lo);
    if (now < 0 || (certain && now != owner))
        sxs_ranges_add(&router.ranges, at->lo, at->hi, owner, SXS_RANGE_CODE);
    router_unlock(&saved);
}

void maps_scan(void)
{
    struct scan s = {.n_pieces = 0}; /* some 20 KB, on the thread that asked for a profiler */
    each_line(&s, note_piece);
    if (s.n_pieces)
        each_line(&s, count_pointers);
    each_line(&s, own);
}
