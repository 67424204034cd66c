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
#include <unistd.h>

#include "base/env.h"
#include "session/format/folder_safe.h"

static int remember(struct sxs_out_dir *out, const char *name)
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

/* Accepts an existing folder when it contains only folders of processes; any other folder is taken
 * to be the user's own. */
static int take_existing(struct sxs_out_dir *out, const char *dir, char *why, size_t size)
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
        if (!sxs_session_names_process(e->d_name)) {
            snprintf(why, size,
                     "-o %s: it has '%s' in it; expected an empty folder, an earlier session, or a "
                     "name that is free",
                     dir, e->d_name);
            ret = -1;
        } else if (remember(out, e->d_name) != 0) {
            snprintf(why, size, "-o %s: out of memory", dir);
            ret = -1;
        }
    }
    closedir(d);
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

static int open_named(struct sxs_out_dir *out, const char *dir, char *why, size_t size)
{
    if (mkdir(dir, 0700) == 0) {
        out->created = true;
    } else if (errno != EEXIST) {
        snprintf(why, size, "-o %s: %s; expected a folder that can be made there", dir,
                 strerror(errno));
        return -1;
    } else if (take_existing(out, dir, why, size) != 0 || check_safe(dir, why, size) != 0) {
        return -1;
    }
    if (!realpath(dir, out->path)) {
        snprintf(why, size, "-o %s: %s", dir, strerror(errno));
        return -1;
    }
    return 0;
}

static int open_temporary(struct sxs_out_dir *out, char *why, size_t size)
{
    const char *tmp = sxs_env_named("TMPDIR");
    char        name[PATH_MAX];
    if (!tmp || !*tmp)
        tmp = "/tmp";
    int n = snprintf(name, sizeof(name), "%s/sxsprof-XXXXXX", tmp);
    if (n >= (int)sizeof(name) || !mkdtemp(name)) { /* mkdtemp() uses mode 0700 */
        snprintf(why, size,
                 "no folder can be made in %s: %s; expected TMPDIR to name a folder that can be "
                 "written to, or -o DIR",
                 tmp, n >= (int)sizeof(name) ? "its name is too long" : strerror(errno));
        return -1;
    }
    out->created = out->temporary = true;
    if (!realpath(name, out->path)) {
        snprintf(why, size, "%s: %s", name, strerror(errno));
        rmdir(name);
        return -1;
    }
    return 0;
}

int sxs_out_dir_open(struct sxs_out_dir *out, const char *dir, char *why, size_t size)
{
    memset(out, 0, sizeof(*out));
    return dir ? open_named(out, dir, why, size) : open_temporary(out, why, size);
}

int sxs_out_dir_open_kept(struct sxs_out_dir *out, char *why, size_t size)
{
    char name[64];
    memset(out, 0, sizeof(*out));
    for (int i = 1; i < 100; i++) {
        snprintf(name, sizeof(name), i == 1 ? "sxsprof-%d" : "sxsprof-%d-%d", (int)getpid(), i);
        if (mkdir(name, 0700) != 0) {
            if (errno == EEXIST)
                continue;
            break;
        }
        out->created = true;
        if (realpath(name, out->path))
            return 0;
        rmdir(name);
        break;
    }
    if (open_temporary(out, why, size) != 0)
        return -1;
    out->temporary = false;
    return 0;
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

static void free_old(struct sxs_out_dir *out)
{
    for (size_t i = 0; i < out->n_old; i++)
        free(out->old[i]);
    free(out->old);
    out->old = NULL;
    out->n_old = 0;
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
