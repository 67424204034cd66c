/* SPDX-License-Identifier: MIT */
/* prepare.c - finds the runtimes and apps of a command, and copies runtimes that are used twice. */
#include "harness/run.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/argument_list.h"
#include "harness/private_copy.h"
#include "harness/self.h"

/* Sets the app's path and folder. A bare name is one of the apps built with the harness. */
static int find_app(struct app_run *run, char *why, size_t why_size)
{
    char        own[PATH_MAX];
    const char *path = run->name;
    const char *dot = strrchr(path, '.');

    if (run->place.simulated) {
        run->app = strdup(path);
        return run->app ? 0 : -1;
    }
    if (!strchr(path, '/') && (!dot || strcmp(dot, ".dll") != 0)) {
        int len = snprintf(own, sizeof(own), "%s/managed/%s/%s.dll", sxs_self_dir(), path, path);
        if (len < 0 || (size_t)len >= sizeof(own))
            return -1;
        path = own;
    }
    run->app = realpath(path, NULL);
    if (!run->app) {
        snprintf(why, why_size,
                 "no app '%s': expected the path of a dll, or a name with %s/managed/"
                 "NAME/NAME.dll",
                 run->name, sxs_self_dir());
        return -1;
    }
    run->app_dir = strdup(run->app);
    if (!run->app_dir)
        return -1;
    *strrchr(run->app_dir, '/') = '\0';
    return 0;
}

int sxs_runs_prepare(struct app_runs *out, const struct sxs_options *options, char *why,
                     size_t why_size)
{
    snprintf(why, why_size, "no memory");
    out->all = calloc(options->n_jobs, sizeof(*out->all));
    if (!out->all)
        return -1;
    out->len = options->n_jobs;
    for (size_t i = 0; i < out->len; i++) {
        const struct app_job *job = &options->jobs[i];
        struct app_run       *run = &out->all[i];
        run->index = i;
        run->name = job->app;
        if (sxs_place_find(job->version, &run->place, why, why_size) ||
            find_app(run, why, why_size))
            return -1;
        const char *wrong = sxs_argument_list_split(job->args, &run->args, &run->n_args);
        if (wrong) {
            snprintf(why, why_size, "the arguments of %s have %s: %s", job->app, wrong, job->args);
            return -1;
        }
    }
    return 0;
}

/* Compares device and inode of the library, as the dynamic loader does. */
static bool same_library(const char *a_dir, const char *b_dir)
{
    char        a[PATH_MAX], b[PATH_MAX];
    struct stat a_stat, b_stat;

    snprintf(a, sizeof(a), "%s/libcoreclr.so", a_dir);
    snprintf(b, sizeof(b), "%s/libcoreclr.so", b_dir);
    return stat(a, &a_stat) == 0 && stat(b, &b_stat) == 0 && a_stat.st_dev == b_stat.st_dev &&
           a_stat.st_ino == b_stat.st_ino;
}

int sxs_runs_separate(struct app_runs *runs, char *why, size_t why_size)
{
    for (size_t i = 1; i < runs->len; i++) {
        struct found_runtime *place = &runs->all[i].place;
        bool              twice = false;
        for (size_t j = 0; j < i; j++)
            twice = twice || same_library(place->dir, runs->all[j].place.dir);
        if (!twice)
            continue;
        char *copy = sxs_private_copy(place->dir, i, why, why_size);
        if (!copy)
            return -1;
        free(place->dir);
        place->dir = copy;
    }
    return 0;
}

void sxs_runs_free(struct app_runs *runs)
{
    for (size_t i = 0; i < runs->len; i++) {
        struct app_run *run = &runs->all[i];
        sxs_place_free(&run->place);
        free(run->app);
        free(run->app_dir);
        sxs_argument_list_free(run->args);
    }
    free(runs->all);
    runs->all = NULL;
    runs->len = 0;
}
