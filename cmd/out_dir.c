/* SPDX-License-Identifier: MIT */
#include "cmd/out_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/env.h"
#include "cmd/command.h"
#include "cmd/output/segments.h"
#include "cmd/output/text.h"
#include "session/format/folder_safe.h"

static void free_old(struct sxs_out_dir *out)
{
    for (size_t i = 0; i < out->n_old; i++)
        free(out->old[i]);
    free(out->old);
    out->old = NULL;
    out->n_old = 0;
}

static int remember_name(struct sxs_out_dir *out, const char *name)
{
    char **grown = realloc(out->old, (out->n_old + 1) * sizeof(*grown));
    if (!grown)
        return -1;
    out->old = grown;
    grown[out->n_old] = strdup(name);
    if (!grown[out->n_old])
        return -1;
    out->n_old++;
    return 0;
}

/* Writes that folder @dir has a session, which one, and what to do. */
static int refuse_session(const struct sxs_out_dir *out, const char *dir, char *why, size_t size)
{
    struct sxs_session s;
    char               when[40] = "", last[160] = "";
    if (sxs_session_read(dir, &s) == 0 && s.n_processes) {
        const struct sxs_session_process *p = &s.processes[s.n_processes - 1];
        time_t                            began = (time_t)(p->started_ns / 1000000000u);
        struct tm                         tm;
        if (localtime_r(&began, &tm))
            strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
        sxs_text_clean(p->command, last, sizeof(last));
    }
    snprintf(why, size,
             "-o %s: it has a session of %zu process%s in it%s%s%s%s; expected --append to add to "
             "it, or another folder",
             dir, out->n_old, out->n_old == 1 ? "" : "es", *when ? ", the last of " : "", when,
             *last ? ": " : "", last);
    sxs_session_free(&s);
    return -1;
}

static bool is_of_segments(const char *name)
{
    return sxs_segment_name(name, NULL, NULL) || strcmp(name, SXS_SEGMENT_KEPT) == 0 ||
           name[0] == '.';
}

/* Accepts an existing folder when it is empty, or contains only what @use says; any other folder is
 * taken to be the user's own. */
static int take_existing(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use, char *why,
                         size_t size)
{
    int  ret = 0;
    DIR *d = opendir(dir);
    if (!d) {
        snprintf(why, size, "-o %s: %s; expected a folder, or a name that is free", dir,
                 strerror(errno));
        return -1;
    }
    for (struct dirent *e; ret == 0 && (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (use == SXS_OUT_SEGMENTS && is_of_segments(e->d_name))
            continue;
        if (use == SXS_OUT_SEGMENTS || !sxs_session_names_process(e->d_name)) {
            snprintf(why, size,
                     "-o %s: it has '%s' in it; expected an empty folder, %s, or a name that is free",
                     dir, e->d_name,
                     use == SXS_OUT_SEGMENTS ? "one of segments" : "an earlier session (with --append)");
            ret = -1;
        } else if (remember_name(out, e->d_name) != 0) {
            snprintf(why, size, "-o %s: out of memory", dir);
            ret = -1;
        }
    }
    closedir(d);
    if (ret == 0 && out->n_old && use != SXS_OUT_APPEND)
        ret = refuse_session(out, dir, why, size);
    if (ret == 0 && faccessat(AT_FDCWD, dir, W_OK | X_OK, AT_EACCESS) != 0) {
        snprintf(why, size, "-o %s: %s; expected a folder that can be written to", dir,
                 strerror(errno));
        ret = -1;
    }
    return ret;
}

/* Refuses a folder that the profiler library would refuse, because then nothing would be
 * recorded. */
static int check_safe(const char *dir, char *why, size_t size)
{
    struct stat st;
    char        reason[160];
    if (stat(dir, &st) == 0 && sxs_folder_refused(&st, reason, sizeof(reason))) {
        snprintf(why, size, "-o %s: %s; expected a folder of your own, or a name that is free", dir,
                 reason);
        return -1;
    }
    return 0;
}

static int open_named(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use, char *why,
                      size_t size)
{
    if (mkdir(dir, 0700) == 0) {
        out->created = true;
    } else if (errno != EEXIST) {
        snprintf(why, size, "-o %s: %s; expected a folder that can be made there", dir,
                 strerror(errno));
        return -1;
    } else if (take_existing(out, dir, use, why, size) != 0 || check_safe(dir, why, size) != 0) {
        return -1;
    }
    if (!realpath(dir, out->path)) {
        snprintf(why, size, "-o %s: %s", dir, strerror(errno));
        return -1;
    }
    return 0;
}

int sxs_out_dir_open(struct sxs_out_dir *out, const char *dir, enum sxs_out_use use, char *why,
                     size_t size)
{
    memset(out, 0, sizeof(*out));
    if (open_named(out, dir, use, why, size) == 0)
        return SXS_EXIT_OK;
    free_old(out);
    return SXS_EXIT_USAGE;
}

void sxs_out_dir_for_segments(struct sxs_out_dir *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    out->segments_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Makes a new private folder in @parent. Returns 0 or an errno value. */
static int make_in(struct sxs_out_dir *out, const char *parent)
{
    char name[PATH_MAX];
    int  n = snprintf(name, sizeof(name), "%s/sxsprof-XXXXXX", parent);
    if (n >= (int)sizeof(name))
        return ENAMETOOLONG;
    if (!mkdtemp(name)) /* uses mode 0700 */
        return errno;
    if (!realpath(name, out->path)) {
        int err = errno;
        rmdir(name);
        return err;
    }
    return 0;
}

int sxs_out_dir_make(struct sxs_out_dir *out, bool keep, char *why, size_t size)
{
    const char *tmp = sxs_env_named("TMPDIR");
    int         err;
    if (!tmp || !*tmp)
        tmp = "/tmp";
    memset(out, 0, sizeof(*out));
    out->temporary = !keep;
    out->unnamed = keep;
    if (keep && make_in(out, ".") == 0) {
        out->created = true;
        return SXS_EXIT_OK;
    }
    err = make_in(out, tmp);
    out->created = !err;
    if (!err)
        return SXS_EXIT_OK;
    snprintf(why, size,
             "no folder can be made in %s: %s; expected TMPDIR to name a folder that can be "
             "written to, or -o DIR",
             tmp, strerror(err));
    return SXS_EXIT_FAILED;
}

const char *sxs_out_dir_name(struct sxs_out_dir *out, pid_t pid)
{
    char named[PATH_MAX + 32];
    int  parent = (int)(strrchr(out->path, '/') - out->path);
    for (int i = 1; out->unnamed && i < 100; i++) {
        int n = snprintf(named, sizeof(named), i == 1 ? "%.*s/sxsprof-%d" : "%.*s/sxsprof-%d-%d",
                         parent, out->path, (int)pid, i);
        if (n >= PATH_MAX)
            break;
        if (mkdir(named, 0700) == 0) {
            rmdir(out->path);
            memcpy(out->path, named, (size_t)n + 1);
            out->unnamed = false;
        } else if (errno != EEXIST) {
            break;
        }
    }
    return out->path;
}

static bool is_old(const struct sxs_out_dir *out, const char *folder)
{
    for (size_t i = 0; i < out->n_old; i++)
        if (strcmp(out->old[i], folder) == 0)
            return true;
    return false;
}

void sxs_out_dir_keep_new(const struct sxs_out_dir *out, struct sxs_session *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_processes; i++)
        if (is_old(out, s->processes[i].folder))
            free(s->processes[i].runtimes);
        else
            s->processes[kept++] = s->processes[i];
    s->n_processes = kept;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    remove(path);
    return 0; /* continue with the other files, even after an error */
}

void sxs_out_dir_abandon(struct sxs_out_dir *out)
{
    if (out->created)
        rmdir(out->path);
    free_old(out);
}

void sxs_out_dir_close(struct sxs_out_dir *out)
{
    if (out->temporary)
        nftw(out->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free_old(out);
}
