/* SPDX-License-Identifier: MIT */
/*
 * maps.c - find the code that runtimes mapped before the router could see their calls of mmap().
 *
 * A CLR's JIT code lies in pieces of a memory file of its own ("/memfd:doublemapper"); other code
 * of a CLR lies in mapped images. All pieces of one memory file belong to the same runtime, which
 * is found by these rules:
 *   1. The runtime whose module has the most pointers into the file in its writable data. A CLR
 *      keeps the addresses of its write barrier and of other helpers that it copies to the file. No
 *      other runtime has such pointers.
 *   2. Else the owner of a piece of the file whose mapping the router has seen.
 *   3. Else the runtime whose module is the next one above the piece, within about 2 GiB, because a
 *      CLR tries to reserve space there.
 * Distance alone proves nothing: with several runtimes the space below a module is in use, and the
 * kernel puts the code anywhere, often hundreds of GiB away or below the module of another runtime.
 */
#include <string.h>

#include "base/maps.h"
#include "signals/router.h"

/* The executable pieces of memory files that are recorded for rule 1. Pieces beyond this number get
 * their owner with their file. */
#define MAX_PIECES 256

struct map_piece {
    uintptr_t lo, hi; /* addresses, half-open */
    int       file;   /* index in struct maps_scan */
};

struct memory_file {
    unsigned long inode;
    unsigned      pointers[SXS_MAX_OWNERS]; /* rule 1: pointers into its pieces, by owner */
    int           known;                    /* rule 2: the owner; -1: none */
    int           above;                    /* rule 3: the owner; -1: none */
};

/* The result of the first two passes over /proc/self/maps. */
struct maps_scan {
    struct map_piece   pieces[MAX_PIECES];
    struct memory_file files[SXS_MAX_OWNERS];
    int                n_pieces, n_files;
};

/* Rule 3. Returns the owner, or -1. Allows 64 MiB more than 2 GiB. */
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

/* Returns the owner whose module is in the same folder as the file @path, or -1. The framework's
 * images are in the folder of their runtime. */
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

/* ---- memory files ---------------------------------------------------------------------------- */

/* Returns the index of the memory file @inode, which is added if it is new, or -1 if there is no
 * room. */
static int file_of(struct maps_scan *s, unsigned long inode)
{
    for (int i = 0; i < s->n_files; i++)
        if (s->files[i].inode == inode)
            return i;
    if (s->n_files >= SXS_MAX_OWNERS)
        return -1;
    s->files[s->n_files] = (struct memory_file){.inode = inode, .known = -1, .above = -1};
    return s->n_files++;
}

static int is_memory_file(const struct sxs_mapping *at)
{
    return strncmp(at->path, "/memfd:doublemapper", 19) == 0 && at->permissions[1] != 'w';
}

static void note_piece(struct maps_scan *s, const struct sxs_mapping *at)
{
    int file = is_memory_file(at) ? file_of(s, at->inode) : -1;
    if (file < 0)
        return;
    if (s->files[file].known < 0)
        s->files[file].known = owner_of_code(at->start);
    if (s->files[file].above < 0)
        s->files[file].above = next_module_above(at->start);
    if (s->n_pieces < MAX_PIECES && at->permissions[2] == 'x')
        s->pieces[s->n_pieces++] = (struct map_piece){at->start, at->end, file};
}

/* Returns the piece that contains @address, or NULL. The pieces are sorted, because the kernel's
 * list is. */
static const struct map_piece *piece_at(const struct maps_scan *s, uintptr_t address)
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

/* Counts pointers into memory files if @at is writable data of an owner's module. Reads the data
 * one word at a time by atomic loads, because the runtime may write it meanwhile. */
__attribute__((no_sanitize("address", "thread"))) static void count_pointers(
    struct maps_scan *s, const struct sxs_mapping *at)
{
    struct sxs_range module;
    if (at->permissions[0] != 'r' || at->permissions[1] != 'w' ||
        !sxs_ranges_find(&router.ranges, at->start, &module) || module.kind != SXS_RANGE_MODULE)
        return;
    uintptr_t hi = at->end < module.hi ? at->end : module.hi;
    for (uintptr_t word = at->start; word < hi; word += sizeof(word)) {
        const struct map_piece *piece =
            piece_at(s, __atomic_load_n((const uintptr_t *)word, __ATOMIC_RELAXED));
        if (piece)
            s->files[piece->file].pointers[module.owner]++;
    }
}

/* Returns the owner of @file by the three rules, or -1. @certain: receives 1 if rule 1 applied,
 * else 0. */
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

/* ---- the kernel's list ----------------------------------------------------------------------- */

struct scan_visit {
    struct maps_scan *scan;
    void (*mapping)(struct maps_scan *s, const struct sxs_mapping *at);
};

static int visit_mapping(const struct sxs_mapping *m, void *arg)
{
    const struct scan_visit *visit = arg;
    visit->mapping(visit->scan, m);
    return 0;
}

static void each_mapping(struct maps_scan *s,
                         void (*visit)(struct maps_scan *, const struct sxs_mapping *))
{
    struct scan_visit all = {s, visit};
    sxs_maps_each(visit_mapping, &all);
}

static int is_image(const char *path)
{
    size_t len = strlen(path);
    return len > 4 && strcmp(path + len - 4, ".dll") == 0;
}

/* Records the mapping @at as code of its owner. */
static void set_owner(struct maps_scan *s, const struct sxs_mapping *at)
{
    sigset_t saved;
    int      owner = -1, certain = 0;
    if (is_memory_file(at)) {
        int file = file_of(s, at->inode);
        owner = file >= 0 ? owner_of_file(&s->files[file], &certain) : -1;
    } else if (at->permissions[2] == 'x' && (!*at->path || is_image(at->path))) {
        owner = owner_of_folder(at->path);
        if (owner < 0)
            owner = next_module_above(at->start);
    }
    if (owner < 0)
        return;
    /* A mapping that the router has seen keeps its owner unless rule 1 applied, so the index is
     * read under the lock: a hook may have recorded the mapping just now. */
    router_lock(&saved);
    int now = owner_of_code(at->start);
    if (now < 0 || (certain && now != owner))
        sxs_ranges_add(&router.ranges, at->start, at->end, owner, SXS_RANGE_CODE);
    router_unlock(&saved);
}

void maps_scan(void)
{
    struct maps_scan s = {.n_pieces = 0}; /* about 20 KB, on the thread that creates a profiler */
    each_mapping(&s, note_piece);
    if (s.n_pieces)
        each_mapping(&s, count_pointers);
    each_mapping(&s, set_owner);
}
