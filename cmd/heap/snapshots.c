/* SPDX-License-Identifier: MIT */
#include "cmd/heap/snapshots.h"

#include "base/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/output/must.h"
#include "cmd/output/processes.h"
#include "session/read/heap_read.h"

struct place_list {
    struct sxs_heap_place *all;
    size_t                 n, cap;
};

/* Calls @take with the number of each snapshot in a folder. */
static void for_each(int folder_fd, void (*take)(void *arg, uint32_t number), void *arg)
{
    DIR           *dir = sxs_tree_list(folder_fd, ".");
    struct dirent *entry;
    if (!dir)
        return;
    while ((entry = readdir(dir)))
        if (sxs_heap_number_of(entry->d_name))
            take(arg, sxs_heap_number_of(entry->d_name));
    closedir(dir);
}

static void take_highest(void *arg, uint32_t number)
{
    uint32_t *highest = arg;
    if (number > *highest)
        *highest = number;
}

uint32_t sxs_heap_newest_number(int folder_fd)
{
    uint32_t highest = 0;
    for_each(folder_fd, take_highest, &highest);
    return highest;
}

struct of_process {
    struct place_list                *list;
    const struct sxs_session_process *process;
    int                               folder_fd;
};

static void take_place(void *arg, uint32_t number)
{
    const struct of_process *o = arg;
    struct sxs_heap_place    place = {o->process, number, 0};
    struct sxs_heap_reader   r;
    char                     why[256];
    if (sxs_heap_reader_open(&r, SXS_FILES_OF(o->folder_fd), number, why, sizeof(why)) == 0) {
        place.started_ns = r.head.started_realtime_ns;
        sxs_heap_reader_close(&r);
    }
    SXS_GROW(o->list->all, o->list->n, o->list->cap);
    o->list->all[o->list->n++] = place;
}

static int take_process(void *arg, const struct sxs_process_part *part)
{
    struct of_process o = {arg, part->process, part->fd};
    for_each(part->fd, take_place, &o);
    return 0;
}

static int newest_first(const void *a, const void *b)
{
    const struct sxs_heap_place *x = a, *y = b;
    if (x->started_ns != y->started_ns)
        return x->started_ns < y->started_ns ? 1 : -1;
    return (x->number < y->number) - (x->number > y->number);
}

struct sxs_heap_place *sxs_heap_places(const struct sxs_opened *v, const char *process, size_t *n)
{
    struct place_list list = {0};
    sxs_opened_take(v, process, sxs_session_file_bit(SXS_HEAP_FILE "1"), take_process, &list);
    if (list.n)
        qsort(list.all, list.n, sizeof(*list.all), newest_first);
    *n = list.n;
    return list.all;
}
