/* SPDX-License-Identifier: MIT */
#include "tools/instrument/watch.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/proc.h"
#include "base/session_state.h"

#define MS        UINT64_C(1000000)
#define LOOK_NS   (10 * MS)  /* shortest time between two looks at a file */
#define FOLDER_NS (100 * MS) /* the same for a folder, and once more for each FEW files in it */
#define FEW       32u
#define UNCHANGED_NS (30 * MS)   /* files that have not changed for this time are read */
#define LATEST_NS (1000 * MS) /* files that change all the time are read after this time */

static struct {
    const char *path;
    int         is_folder; /* nonzero: `path` was a folder in sxs_watch() */
    uint64_t    seen;      /* state of the files that was reported last */
    uint64_t    found;     /* state of the files at the latest look */
    /* When `found` last changed; when a state other than `seen` was first found.
     * CLOCK_MONOTONIC. */
    uint64_t    found_at, changing_since;
    uint64_t    next_look; /* time of the next look */
    unsigned    n_files;   /* in the folder */
    int         gone;      /* nonzero: logged that the folder is gone */
    struct stat root;      /* of "/" in sxs_watch() */
    int         elsewhere; /* nonzero: logged that the root folder has changed */
} watch;
SXS_SESSION_RESETS(watch);

/* ---- the state of files as one number --------------------------------------------------------- */

static uint64_t mix_fact(uint64_t hash, uint64_t fact)
{
    hash = sxs_hash_id(hash ^ fact);
    return hash ^ hash >> 32;
}

static uint64_t state_of(const char *name, const struct stat *st)
{
    uint64_t hash = mix_fact(mix_fact(1, (uint64_t)st->st_dev), (uint64_t)st->st_ino);
    hash = mix_fact(mix_fact(hash, (uint64_t)st->st_size), (uint64_t)st->st_mode);
    hash = mix_fact(mix_fact(hash, (uint64_t)st->st_mtim.tv_sec), (uint64_t)st->st_mtim.tv_nsec);
    hash = mix_fact(mix_fact(hash, (uint64_t)st->st_ctim.tv_sec), (uint64_t)st->st_ctim.tv_nsec);
    for (; *name; name++)
        hash = mix_fact(hash, (unsigned char)*name);
    return hash;
}

/* Looks at the files that sxs_config_load() reads, and follows links. The state does not depend on
 * the order of the files in the folder. Returns 0, or -1 when the folder cannot be read.
 * @arg: receives the state, uint64_t. */
static int look_at_folder(void *arg)
{
    static const struct stat none;
    uint64_t                *state = arg;
    DIR                     *dir = opendir(watch.path);
    const struct dirent     *entry;
    watch.n_files = 0;
    if (!dir)
        return -1;
    *state = 0;
    while ((entry = readdir(dir)) != NULL) {
        size_t      len = strlen(entry->d_name);
        struct stat st;
        if (entry->d_name[0] == '.' || len <= 4 || strcasecmp(entry->d_name + len - 4, ".xml") != 0)
            continue;
        watch.n_files++;
        *state +=
            state_of(entry->d_name, fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 ? &st : &none);
    }
    closedir(dir);
    return 0;
}

static int is_there(const char *folder)
{
    struct stat st;
    return stat(folder, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Returns nonzero when the watched folder, or the folder of the watched file, exists. Only then do
 * the rules of a removed file go; for a removed folder the process waits until the folder is
 * back. */
static int is_folder_there(void)
{
    char        folder[PATH_MAX];
    const char *slash = strrchr(watch.path, '/');
    if (watch.is_folder)
        snprintf(folder, sizeof(folder), "%s", watch.path);
    else
        snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - watch.path) + 1 : 1,
                 slash ? watch.path : ".");
    if (is_there(folder)) {
        watch.gone = 0;
        return 1;
    }
    if (!watch.gone)
        sxs_warn("tool instrument: %.*s is gone, and looked for",
                 (int)(strlen(folder) - (!watch.is_folder && folder[1])), folder);
    watch.gone = 1;
    return 0;
}

/* Returns 0 with the present *state (0: the file does not exist), or -1 when the state is not
 * known. */
static int read_state(uint64_t *state)
{
    struct stat st;
    if (stat(watch.path, &st) == 0) {
        watch.gone = 0;
        if (watch.is_folder && S_ISDIR(st.st_mode))
            return sxs_proc_call(look_at_folder, state); /* because it opens the folder */
        *state = state_of("", &st);
        return 0;
    }
    if ((errno != ENOENT && errno != ENOTDIR) || !is_folder_there())
        return -1;
    *state = 0;
    return 0;
}

/* Returns nonzero when the process has changed its root folder by chroot(), so that the path no
 * longer names the same file. */
static int is_elsewhere(void)
{
    struct stat root;
    if (stat("/", &root) || (root.st_dev == watch.root.st_dev && root.st_ino == watch.root.st_ino))
        return 0;
    if (!watch.elsewhere)
        sxs_warn(
            "tool instrument: the process has another root folder now: %s is no longer watched",
            watch.path);
    watch.elsewhere = 1;
    return 1;
}

/* ---- changes ---------------------------------------------------------------------------------- */

void sxs_watch(const char *path)
{
    struct stat st;
    watch.path = path;
    watch.is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    if (stat("/", &watch.root) || read_state(&watch.seen))
        watch.seen = 0;
    watch.found = watch.seen;
}

int sxs_watch_is_folder_now(const char *path)
{
    struct stat st;
    return !watch.is_folder && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Records the @state of the files at the time @now. Returns 1 when the files must be read. */
static int note_state(uint64_t state, uint64_t now)
{
    if (state == watch.seen) {
        watch.found = state;
        return 0;
    }
    if (watch.found == watch.seen)
        watch.changing_since = now;
    if (state != watch.found) {
        watch.found = state;
        watch.found_at = now;
    }
    if (now - watch.found_at < UNCHANGED_NS && now - watch.changing_since < LATEST_NS)
        return 0;
    watch.seen = state;
    return 1;
}

int sxs_watch_wait(int ms)
{
    uint64_t now, state;
    poll(NULL, 0, ms);
    now = sxs_now_ns(CLOCK_MONOTONIC);
    if (now < watch.next_look || watch.elsewhere)
        return 0;
    watch.next_look =
        now + (watch.is_folder && watch.found == watch.seen ? FOLDER_NS * (1 + watch.n_files / FEW)
                                                            : LOOK_NS);
    return read_state(&state) == 0 && (state == watch.seen || !is_elsewhere()) &&
           note_state(state, now);
}
