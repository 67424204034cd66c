/* SPDX-License-Identifier: MIT */
/*
 * maps.c - what runtimes had mapped to run before their calls to mmap could be seen.
 *
 * A CLR puts its code below its libcoreclr.so, within 2 GiB, in pieces of a memory file of its own
 * ("/memfd:doublemapper") and in mapped images. All pieces of one memory file belong to one runtime:
 * the one whose module lies next above them. Only used when nothing was preloaded.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "signals/router.h"

static int next_module_above(uintptr_t at)
{
    int       best = -1;
    uintptr_t best_at = UINTPTR_MAX;
    int       n = atomic_load(&router.n_owners);
    for (int i = 0; i < n; i++) {
        uintptr_t text = router.owners[i].text;
        if (text > at && text - at < ((uintptr_t)2 << 30) + ((uintptr_t)64 << 20) && text < best_at) {
            best = i;
            best_at = text;
        }
    }
    return best;
}

/* Mappings seen of one memory file, and whose they are. */
struct memory_file {
    unsigned long inode;
    int           owner;
};

static int owner_of_file(struct memory_file *files, int *n, unsigned long inode, uintptr_t at)
{
    for (int i = 0; i < *n; i++)
        if (files[i].inode == inode)
            return files[i].owner;
    if (*n >= SXS_MAX_OWNERS)
        return -1;
    files[*n].inode = inode;
    files[*n].owner = next_module_above(at);
    return files[(*n)++].owner;
}

void maps_scan(void)
{
    struct memory_file files[SXS_MAX_OWNERS];
    int                n_files = 0;
    char               line[1024];
    FILE              *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return;
    while (fgets(line, sizeof(line), maps)) {
        unsigned long lo, hi, inode;
        char          perms[8], *path;
        int           at = 0, owner;
        sigset_t      saved;
        if (sscanf(line, "%lx-%lx %7s %*x %*x:%*x %lu%n", &lo, &hi, perms, &inode, &at) < 4)
            continue;
        path = line + at + strspn(line + at, " ");
        if (strncmp(path, "/memfd:doublemapper", 19) == 0)
            owner = perms[1] == 'w' ? -1 : owner_of_file(files, &n_files, inode, lo);
        else if (perms[2] == 'x' && (*path == '\n' || strstr(path, ".dll\n")))
            owner = next_module_above(lo);
        else
            continue;
        if (owner < 0)
            continue;
        router_lock(&saved); /* a call that was seen knows better, also one in this moment */
        if (owner_of_code(lo) < 0)
            sxs_ranges_add(&router.ranges, lo, hi, owner, SXS_RANGE_CODE);
        router_unlock(&saved);
    }
    fclose(maps);
}
