/* SPDX-License-Identifier: MIT */
#include "session/write/session_write.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/proc.h"
#include "session/write/file_write.h"

static struct sxs_census          in_memory; /* the census when there is no file */
static struct sxs_census_runtime  unlisted;  /* shared row of runtimes beyond SXS_MAX_RUNTIMES */
static struct sxs_census         *census;    /* NULL before sxs_session_open() */
static struct sxs_folder          folder;    /* of this process; valid if has_folder */
static int                        has_folder, refused; /* written before census is */
static pthread_mutex_t            open_lock = PTHREAD_MUTEX_INITIALIZER; /* guards opening */
SXS_FORK_RESETS(open_lock);

static void describe_process(struct sxs_census *c)
{
    ssize_t len = sxs_proc_read("/proc/self/cmdline", c->command, sizeof(c->command) - 1);
    while (len > 0 && c->command[len - 1] == '\0')
        len--;
    for (ssize_t i = 0; i < len; i++)
        if ((unsigned char)c->command[i] < ' ')
            c->command[i] = ' ';
    c->started_ns = sxs_now_ns(CLOCK_REALTIME);
    c->version = SXS_CENSUS_VERSION;
    c->size = sizeof(*c);
    c->row_size = sizeof(c->runtimes[0]);
    c->pid = (uint32_t)getpid();
    memcpy(c->magic, SXS_CENSUS_MAGIC, sizeof(c->magic)); /* last: makes the file valid */
}

/* Create the process's folder and map the file "census" in it. Its blocks are reserved before it is
 * mapped, because a full disk would otherwise cause a SIGBUS later. NULL with a reason in @why. */
static struct sxs_census *make_file(const char *dir, char *why, size_t size)
{
    unsigned char  *map;
    struct sxs_file file;
    int             err;
    if (sxs_folder_make(&folder, dir, why, size))
        return NULL;
    err = sxs_file_create(&file, &folder, SXS_CENSUS_FILE, sizeof(struct sxs_census),
                          sizeof(struct sxs_census), &map);
    if (err) {
        snprintf(why, size, "%s", strerror(-err));
        sxs_folder_remove(&folder);
        return NULL;
    }
    sxs_file_close(&file);
    has_folder = 1;
    return (struct sxs_census *)(void *)map;
}

/* In a forked child, replace the map of the parent's file by private memory at the same address,
 * because other code holds pointers to its rows. If no memory is available, the few events of the
 * child are counted in the parent's file. */
static void child_forked(void)
{
    if (!census || census == &in_memory)
        return;
    if (mmap(census, sizeof(*census), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        sxs_log_raw("sxsprof: no memory for a forked child: it is counted with its parent");
}

struct sxs_census *sxs_session_open(const char *dir)
{
    static struct sxs_fork_part part = {.child = child_forked};
    pthread_mutex_lock(&open_lock);
    if (!census) {
        char               why[200];
        struct sxs_census *c = dir && *dir ? make_file(dir, why, sizeof(why)) : NULL;
        refused = dir && *dir && !c;
        if (refused)
            sxs_error("SXSPROF_OUT=%s: %s; nothing is recorded, the program runs on", dir, why);
        if (!c)
            c = &in_memory;
        describe_process(c);
        census = c;
        sxs_fork_register(&part);
    }
    pthread_mutex_unlock(&open_lock);
    return census;
}

const struct sxs_folder *sxs_session_folder(const char *tool)
{
    if (!has_folder && tool)
        sxs_error(refused ? "tool %s needs a session folder, and SXSPROF_OUT was refused"
                          : "tool %s needs a session folder: set SXSPROF_OUT, or use sxsprof run -o",
                  tool);
    return has_folder ? &folder : NULL;
}

struct sxs_census_runtime *sxs_session_row(unsigned number)
{
    struct sxs_census *c = sxs_session_open(NULL);
    uint32_t           seen = atomic_load(&c->n_runtimes);
    if (number == 0 || number > SXS_MAX_RUNTIMES) {
        atomic_fetch_add(&c->n_unlisted, 1);
        return &unlisted;
    }
    while (seen < number && !atomic_compare_exchange_weak(&c->n_runtimes, &seen, number))
        continue;
    c->runtimes[number - 1].number = number;
    return &c->runtimes[number - 1];
}
