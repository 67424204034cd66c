/* SPDX-License-Identifier: MIT */
#include "cmd/confined_verb.h"

#include "base/env.h"
#include "cmd/child.h"
#include "cmd/command.h"
#include "cmd/confined/reader.h"
#include "cmd/confined/stuck.h"
#include "cmd/output/output_file.h"
#include "cmd/output/shown.h"
#include "cmd/output/temporary.h"
#include "cmd/output/text.h"
#include "cmd/symbols/debuginfod.h"
#include "cmd/symbols/start_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (UINT64_C(1) << 20)

/* Limits. The largest need that is known is that of a heap snapshot: 4 bytes of memory for each byte
 * of its file, and 1 s for each MiB when its objects form a random graph. */
#define MEMORY        (1024 * MIB)
#define MEMORY_FACTOR 32u /* and so many bytes for each byte of input on the disk */
#define CPU_S         120u
#define CPU_S_MIB     4u /* and so many seconds for each MiB of input */

/* ---- the size of the input ------------------------------------------------------------------- */

enum { MAX_DEPTH = 3, MAX_ENTRIES = 65536 }; /* segments have folders of processes with files */

struct folder_sum {
    uint64_t bytes;
    unsigned left; /* entries that may still be counted */
};

// NOLINTNEXTLINE(misc-no-recursion): as deep as MAX_DEPTH
static void add_entry(int at, const char *name, int depth, struct folder_sum *s)
{
    struct stat st;
    int         flags = depth ? AT_SYMLINK_NOFOLLOW : 0;
    if (!s->left || fstatat(at, name, &st, flags) != 0)
        return;
    s->left--;
    if (S_ISREG(st.st_mode))
        s->bytes += (uint64_t)st.st_blocks * 512;
    if (!S_ISDIR(st.st_mode) || depth == MAX_DEPTH)
        return;
    int  fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *e; d && s->left && (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            add_entry(fd, e->d_name, depth + 1, s);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
}

/* Returns how many bytes the inputs take on the disk. */
static uint64_t input_bytes(const struct sxs_confined_verb *needs)
{
    struct folder_sum s = {.left = MAX_ENTRIES};
    for (size_t i = 0; i < SXS_CONFINED_PATHS; i++)
        if (needs->reads[i] && *needs->reads[i])
            add_entry(AT_FDCWD, *needs->reads[i], 0, &s);
    return s.bytes;
}

/* ---- paths through other processes ----------------------------------------------------------- */

/* Opens what @path leads to, if it leads through another process, and writes a path by which the child
 * finds it. Returns @path, or that path. */
static const char *open_for_child(const char *path)
{
    char *name;
    if (strncmp(path, "/proc/", 6) != 0 || path[6] < '0' || path[6] > '9')
        return path;
    int         fd = open(path, O_PATH | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 ||
        asprintf(&name, "/proc/self/fd/%d%s", fd, S_ISDIR(st.st_mode) ? "/." : "") < 0)
        return path;
    sxs_show_as(name, path);
    return name; /* until the command ends */
}

/* ---- where it writes ------------------------------------------------------------------------- */

#define MAX_WRITES (SXS_CONFINED_PATHS + 2)

struct write_paths {
    char   path[MAX_WRITES][PATH_MAX];
    size_t n;
};

/* Adds @path with its links resolved, if it exists. */
static void add_place(struct write_paths *p, const char *path)
{
    if (p->n < MAX_WRITES && realpath(path, p->path[p->n]))
        p->n++;
}

/* Adds the folder @path; the one in which it lies if it does not exist, or is no folder. */
static void add_folder(struct write_paths *p, const char *path)
{
    char        folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int         len = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    struct stat st;
    snprintf(folder, sizeof(folder), "%.*s", len, slash ? path : ".");
    add_place(p, stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? path : folder);
}

/* Adds the folder in which libdebuginfod keeps files. It makes the folder when it needs it, which it
 * cannot do in the child. */
static void add_cache(struct write_paths *p)
{
    const char *cache = sxs_env_named("DEBUGINFOD_CACHE_PATH"), *home = sxs_env_named("HOME");
    const char *xdg = sxs_env_named("XDG_CACHE_HOME");
    char        path[PATH_MAX];
    if (cache && *cache)
        snprintf(path, sizeof(path), "%s", cache);
    else if (xdg && *xdg)
        snprintf(path, sizeof(path), "%s/debuginfod_client", xdg);
    else
        snprintf(path, sizeof(path), "%s/.cache/debuginfod_client", home ? home : "");
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(path, 0700);
        *at = '/';
    }
    mkdir(path, 0700);
    add_place(p, path);
}

static void find_places(const struct sxs_confined_verb *needs, struct write_paths *p)
{
    p->n = 0;
    if (!needs->no_packs)
        add_place(p, sxs_temporary_folder()); /* packed sessions are unpacked there */
    for (size_t i = 0; i < SXS_CONFINED_PATHS; i++)
        if (needs->writes[i])
            add_folder(p, needs->writes[i]);
    if (needs->network && sxs_debuginfod_enabled())
        add_cache(p);
}

/* ---- the child ------------------------------------------------------------------------------- */

struct work {
    int (*call)(void *arg);
    void                           *arg;
    const struct sxs_confined_verb *needs;
    struct sxs_confinement          limits;
    struct write_paths              places;
};

static int confine_and_work(void *arg)
{
    static const char         *below[MAX_WRITES + 1];
    struct work               *w = arg;
    struct sxs_confined_reader reader = {.writes = below,
                                         .network = w->needs->network,
                                         .start = w->needs->names ? sxs_symbol_start_names : NULL,
                                         .start_arg = w->needs->symbols};
    for (; reader.n_writes < w->places.n; reader.n_writes++)
        below[reader.n_writes] = w->places.path[reader.n_writes];
    if (sxs_output_place())
        below[reader.n_writes++] = sxs_output_place();
    if (w->needs->asks)
        sxs_helper_start(w->needs->answer, w->needs->answer_arg); /* without: it gets no answers */
    sxs_confine_reader(&w->limits, &reader);
    return w->call(w->arg);
}

/* For how long the child may do nothing. */
struct patience {
    struct sxs_stuck seen;
    unsigned         stuck_ms;
};

static bool gives_up(void *arg, pid_t child)
{
    struct patience *p = arg;
    return sxs_stuck_for(&p->seen, child, p->stuck_ms);
}

/* Says what ended the child. Returns an exit status. */
static int explain_end(int status, const struct sxs_confinement *limits, uint64_t bytes)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    switch (WTERMSIG(status)) {
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
    case SIGPIPE: sxs_child_exit_like(status); /* does not return */
    case SIGXCPU:
        sxs_complain("what follows is missing: reading used more than %u s of CPU time, the limit "
                     "for %s of input; SXSPROF_CONFINE=off lifts it",
                     limits->cpu_s, SXS_BYTES(bytes));
        break;
    default:
        sxs_complain("what follows is missing: reading was ended by signal %d (%s); expected files "
                     "that are not damaged, and enough memory",
                     WTERMSIG(status), strsignal(WTERMSIG(status)));
    }
    return SXS_EXIT_PROBLEM;
}

int sxs_confined_verb(const struct sxs_confined_verb *needs, int (*work)(void *arg), void *arg)
{
    static struct work w;
    int                status = 0;
    if (sxs_confined_is_off() || sxs_confined_is_reader())
        return work(arg);
    uint64_t bytes = input_bytes(needs);
    w = (struct work){.call = work, .arg = arg, .needs = needs};
    w.limits = (struct sxs_confinement){
        .data = needs->endless ? 0 : MEMORY + MEMORY_FACTOR * bytes,
        .cpu_s = needs->endless ? 0 : CPU_S + CPU_S_MIB * (unsigned)(bytes / MIB),
    };
    find_places(needs, &w.places);
    for (size_t i = 0; i < SXS_CONFINED_PATHS; i++)
        if (needs->reads[i] && *needs->reads[i])
            *needs->reads[i] = open_for_child(*needs->reads[i]);
    struct patience               patience = {.stuck_ms = needs->stuck_ms};
    const struct sxs_child_limit  own = {gives_up, &patience};
    const struct sxs_child_limit *limit = needs->limit      ? needs->limit
                                          : needs->stuck_ms ? &own
                                                            : NULL;
    int err = sxs_output_prepare(needs->output, needs->is_private ? 0600 : 0666);
    if (!err)
        err = sxs_child_work(confine_and_work, &w, limit, &status);
    int unnamed = sxs_output_finish();
    if (needs->lost && (err || !WIFEXITED(status)))
        needs->lost();
    if (err == ETIMEDOUT) {
        sxs_complain("what follows is missing: reading was given up, because a file does not "
                     "answer; expected a file system that does");
        return SXS_EXIT_PROBLEM;
    }
    if (err) {
        sxs_complain(
            "no child process for reading files can be made: %s; SXSPROF_CONFINE=off reads "
            "them without one",
            strerror(err));
        return SXS_EXIT_FAILED;
    }
    int result = explain_end(status, &w.limits, bytes);
    if (!unnamed)
        return result;
    sxs_complain("%s: %s", needs->output, strerror(unnamed));
    return result == SXS_EXIT_OK ? SXS_EXIT_PROBLEM : result;
}
