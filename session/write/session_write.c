/* SPDX-License-Identifier: MIT */
/*
 * session_write.c - the census of this process, and its folder in the session.
 *
 * Other code holds pointers to the rows of the census for as long as the process lives. So the census
 * stays at one address, and what is mapped there changes: private memory while no session records
 * into a folder, the file "census" of that folder otherwise. mremap() exchanges the one for the
 * other in one step.
 */
#include "session/write/session_write.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/proc.h"
#include "base/session_state.h"
#include "base/shared_words.h"
#include "session/write/file_write.h"
#include "session/write/log_write.h"

#define PAGE     ((size_t)4096)
#define MAP_SIZE ((sizeof(struct sxs_census) + PAGE - 1) & ~(PAGE - 1))

static struct sxs_census          in_memory; /* the census if no memory can be mapped for it */
static struct sxs_census_runtime  unlisted;  /* shared row of runtimes beyond SXS_MAX_RUNTIMES */
static struct sxs_census         *census;    /* NULL before sxs_session_open() */
static struct sxs_folder          folder;    /* of this process; valid if has_folder */
static struct sxs_file            census_file;         /* valid if has_folder */
static int                        has_folder, refused; /* written before census is */
static pthread_mutex_t            open_lock = PTHREAD_MUTEX_INITIALIZER; /* guards opening */
SXS_FORK_RESETS(open_lock);
SXS_SESSION_KEEPS(in_memory);
SXS_SESSION_KEEPS(unlisted);
SXS_SESSION_KEEPS(census);
SXS_SESSION_KEEPS(folder);
SXS_SESSION_KEEPS(census_file);
SXS_SESSION_KEEPS(has_folder);
SXS_SESSION_KEEPS(refused);
SXS_SESSION_KEEPS(open_lock);

/* Keeps of a command line of @len bytes, which ends with a zero, what says which program it is: the first
 * argument, and the assembly after "dotnet". Returns the new length. */
static ssize_t mask_arguments(char *command, size_t size, ssize_t len)
{
    static const char masked[] = " (arguments masked)";
    size_t            at = strlen(command);
    const char       *name = strrchr(command, '/'), *assembly = command + at + 1;
    if (strcmp(name ? name + 1 : command, "dotnet") == 0 && (ssize_t)at + 1 < len &&
        strlen(assembly) > 4 && strcmp(assembly + strlen(assembly) - 4, ".dll") == 0)
        at += 1 + strlen(assembly);
    if ((ssize_t)at >= len)
        return len;
    memset(command + at, 0, size - at);
    if (at + sizeof(masked) > size)
        return (ssize_t)at;
    memcpy(command + at, masked, sizeof(masked));
    return (ssize_t)(at + sizeof(masked) - 1);
}

static void describe_process(struct sxs_census *c)
{
    ssize_t len = sxs_proc_read("/proc/self/cmdline", c->command, sizeof(c->command) - 1);
    while (len > 0 && c->command[len - 1] == '\0')
        len--;
    c->mask = (uint16_t)sxs_mask();
    if (c->mask)
        len = mask_arguments(c->command, sizeof(c->command), len);
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
 * mapped, because a full disk would otherwise cause a SIGBUS later. NULL with a reason in @why, and
 * the negative errno value in *err. @held: receives the file, which stays open and is marked as in use. */
static struct sxs_census *make_file(struct sxs_folder *in, struct sxs_file *held, const char *dir,
                                    char *why, size_t size, int *err)
{
    unsigned char     *map;
    struct sxs_file    file;
    struct sxs_census *c;
    *err = -EACCES;
    if (sxs_folder_make(in, dir, why, size))
        return NULL;
    *err = sxs_file_create(&file, in, SXS_CENSUS_FILE, sizeof(struct sxs_census), MAP_SIZE, &map);
    if (*err) {
        snprintf(why, size, "%s", strerror(-*err));
        sxs_folder_remove(in);
        return NULL;
    }
    c = (struct sxs_census *)(void *)map;
    c->held = sxs_file_hold(&file) == 0;
    if (!c->held)
        sxs_file_close(&file);
    *held = file;
    return c;
}

static void *map_memory(void *at, size_t size)
{
    int   fixed = at ? MAP_FIXED : 0;
    void *map = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* In a forked child, replace the map of the parent's file by private memory at the same address,
 * because other code holds pointers to its rows. If no memory is available, the few events of the
 * child are counted in the parent's file. */
static void child_forked(void)
{
    if (!census || census == &in_memory)
        return;
    if (map_memory(census, MAP_SIZE))
        return;
    atomic_store(&census->has_children, 1); /* in the parent's file, of which reports say it */
    sxs_log_raw("sxsprof: no memory for a forked child: it is counted with its parent");
}

struct sxs_census *sxs_session_open(const char *dir)
{
    static struct sxs_fork_part part = {.child = child_forked};
    pthread_mutex_lock(&open_lock);
    if (!census) {
        char               why[200];
        int                err;
        struct sxs_census *c = NULL;
        if (dir && *dir)
            c = make_file(&folder, &census_file, dir, why, sizeof(why), &err);
        has_folder = c != NULL;
        refused = dir && *dir && !c;
        if (refused)
            sxs_error("SXSPROF_OUT=%s: %s; nothing is recorded, the program runs on", dir, why);
        if (!c)
            c = map_memory(NULL, MAP_SIZE);
        if (!c)
            c = &in_memory;
        describe_process(c);
        census = c;
        sxs_fork_register(&part);
        if (has_folder)
            sxs_log_file_open(&folder);
    }
    pthread_mutex_unlock(&open_lock);
    return census;
}

/* ---- the next session ------------------------------------------------------------------------ */

/* What is known about a runtime, without its counts. */
static void copy_identity(struct sxs_census_runtime *to, const struct sxs_census_runtime *from)
{
    to->number = from->number;
    to->started_ns = from->started_ns;
    memcpy(to->version, from->version, sizeof(to->version));
    memcpy(to->path, from->path, sizeof(to->path));
    atomic_store(&to->ended_ns, atomic_load(&from->ended_ns));
    atomic_store(&to->state, atomic_load(&from->state));
}

/* Fill in the census of the next session. A runtime that has ended is not part of it. */
static void fill_next(struct sxs_census *next)
{
    uint32_t n = atomic_load(&census->n_runtimes);
    next->preloaded = census->preloaded;
    next->signals_off = census->signals_off;
    for (uint32_t i = 0; i < n && i < SXS_MAX_RUNTIMES; i++) {
        const struct sxs_census_runtime *row = &census->runtimes[i];
        if (atomic_load(&row->ended_ns))
            next->runtimes[i].number = row->number;
        else
            copy_identity(&next->runtimes[i], row);
    }
    atomic_store(&next->n_runtimes, n);
    describe_process(next);
}

/* Put what is mapped at @next in place of the census. Events that are counted meanwhile are counted
 * before or after it. */
static int replace_census(struct sxs_census *next)
{
    return mremap(next, MAP_SIZE, MAP_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, census) == MAP_FAILED
               ? -errno
               : 0;
}

/* The rows of runtimes that go on get the time at which they were counted last. */
static void note_end(struct sxs_census *c)
{
    uint64_t now = sxs_now_ns(CLOCK_REALTIME), none;
    for (uint32_t i = 0; i < atomic_load(&c->n_runtimes) && i < SXS_MAX_RUNTIMES; i++) {
        none = 0;
        if (atomic_load(&c->runtimes[i].state) != SXS_STATE_NONE)
            atomic_compare_exchange_strong(&c->runtimes[i].ended_ns, &none, now);
    }
}

int sxs_session_reopen(const char *dir, char *why, size_t size)
{
    struct sxs_folder  next_folder;
    struct sxs_file    next_file;
    struct sxs_census *next;
    int                err = -ENOMEM;
    why[0] = '\0';
    if (!census || census == &in_memory) {
        snprintf(why, size, "%s", strerror(ENOMEM));
        return err;
    }
    pthread_mutex_lock(&open_lock);
    next = make_file(&next_folder, &next_file, dir, why, size, &err);
    if (next) {
        fill_next(next);
        if (has_folder)
            note_end(census);
        err = replace_census(next);
    }
    if (next && err) {
        snprintf(why, size, "%s", strerror(-err));
        munmap(next, MAP_SIZE);
        sxs_file_close(&next_file);
        sxs_folder_discard(&next_folder);
    } else if (next) {
        sxs_log_file_close();
        if (has_folder) {
            sxs_file_close(&census_file);
            sxs_folder_close(&folder);
        }
        folder = next_folder;
        census_file = next_file;
        has_folder = 1;
        refused = 0;
        sxs_log_file_open(&folder);
    }
    pthread_mutex_unlock(&open_lock);
    return err;
}

int sxs_session_close(int discard)
{
    struct sxs_census *rest = NULL;
    int                err = 0;
    pthread_mutex_lock(&open_lock);
    if (has_folder) {
        rest = map_memory(NULL, MAP_SIZE);
        err = rest ? 0 : -ENOMEM;
    }
    if (rest) {
        sxs_copy_words(rest, census, sizeof(*rest));
        note_end(census);
        err = replace_census(rest);
    }
    if (has_folder && !err) {
        has_folder = 0;
        sxs_log_file_close();
        sxs_file_close(&census_file); /* last: now everybody sees that nothing more comes */
        if (discard)
            sxs_folder_discard(&folder);
        else
            sxs_folder_close(&folder);
    }
    pthread_mutex_unlock(&open_lock);
    return err;
}

/* ---- folder and rows ------------------------------------------------------------------------- */

const struct sxs_folder *sxs_session_folder(const char *tool)
{
    if (!has_folder && tool)
        sxs_error(refused
                      ? "tool %s needs a session folder, and SXSPROF_OUT was refused"
                      : "tool %s needs a session folder: set SXSPROF_OUT, or use sxsprof record -o",
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
